//! Which threads of a CTA make a predicate true, as far as the text says: values that are a function of `%tid` and `%laneid`
//! are worked out for every thread that a CTA can have, values that all lanes share are known as such.

use std::collections::HashMap;

use super::Flow;
use super::cfg::NONE;
use super::ssa::{UNDEF, Val, Value};
use crate::hir::{Instr, Operand};
use crate::ty::{Class, Ty};

mod numbers;
use numbers::{Compare, Numbers, Shape, Special, by_warp, by_warp_set, holds, operation};

/// A CTA has at most that many threads (PTX ISA 11.4).
pub(super) const THREADS: usize = 1024;

/// A set of threads by their linear number.
pub(super) type Set = [u64; THREADS / 64];

/// Every thread.
pub(super) const ALL: Set = [u64::MAX; THREADS / 64];

/// Who has the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shared {
    /// Nobody is known to.
    No,
    /// The lanes of a warp.
    Warp,
    /// The threads of a CTA.
    Cta,
}

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fact {
    /// Nothing came here yet.
    Bottom,
    /// This number.
    Const(u64),
    /// A number for every thread: [`Lanes::tables`].
    Table(u16),
    /// No number, but who shares it.
    Is(Shared),
    /// A predicate.
    Pred(Pred),
}

/// What is known of a predicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pred {
    /// At most these threads see it true: an index into [`Lanes::sets`]; 0 is everybody.
    pub yes: u16,
    /// At most these see it false.
    pub no: u16,
    /// True, false: only where this `elect.sync` elected the lane; [`UNDEF`] for none.
    pub elected: [Val; 2],
    /// True, false: only where this `elect.sync` did not elect the lane.
    pub passed: [Val; 2],
    /// Who shares it.
    pub shared: Shared,
}

const UNKNOWN: Pred = Pred { yes: 0, no: 0, elected: [UNDEF; 2], passed: [UNDEF; 2], shared: Shared::No };

impl Pred {
    /// `not.pred`
    fn negated(self) -> Pred {
        let swap = |x: [Val; 2]| [x[1], x[0]];
        Pred { yes: self.no, no: self.yes, elected: swap(self.elected), passed: swap(self.passed), shared: self.shared }
    }
}

/// How many threads are known to be there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threads {
    /// Exactly that many, by `.reqntid`.
    pub exact: Option<usize>,
    /// Warps are full: the kernel has instructions that need all 32 lanes.
    pub full_warps: bool,
}

impl Threads {
    /// Certainly more than one lane in each warp?
    pub(super) fn many(self) -> bool {
        self.exact.map_or(self.full_warps, |n| n > 1)
    }
}

/// The facts of a function.
pub(super) struct Lanes {
    pub facts: Vec<Fact>,
    pub tables: Vec<Vec<u32>>,
    /// By table: the lanes of each warp have the same number.
    same: Vec<bool>,
    pub sets: Vec<Set>,
    pub threads: Threads,
    /// By block: a branch whose lanes may part leads here and not yet together again.
    pub apart: Vec<bool>,
    /// Values that a guard depends on; of no others the numbers are worked out.
    wanted: Vec<bool>,
    /// The function has an instruction for which it matters who runs it.
    asked: bool,
    /// What was worked out last from which operands, by value.
    known: HashMap<Val, ([Fact; 3], Fact)>,
    /// Special registers that were asked for.
    special: Vec<(&'static str, Fact)>,
}

/// Tables and sets are few in real kernels; beyond that many nothing more is known.
const MOST: usize = 400;

impl Lanes {
    pub(super) fn new(flow: &Flow) -> Lanes {
        // At most one thread is one thread.
        let dims = flow.function.reqntid.or(flow.function.maxntid.filter(|d| *d == [1, 1, 1]));
        let mut reads_yz = false;
        let mut full_warps = false;
        for i in &flow.cfg.instrs {
            for a in &i.operands {
                reads_yz |= matches!(a.value, Operand::Sreg("%tid.y" | "%tid.z" | "%tid" | "%ntid.y" | "%ntid.z"));
                full_warps |= a.name == "membermask"
                    && i.pred.is_none()
                    && matches!(a.value, Operand::Imm(m) if m & 0xFFFF_FFFF == 0xFFFF_FFFF);
            }
            full_warps |= super::granularity::whole_warps(i);
        }
        let exact = dims.map(|[x, y, z]| (x as usize).saturating_mul(y as usize).saturating_mul(z as usize));
        let shape = Shape { dims, linear: !reads_yz };
        let mut lanes = Lanes {
            facts: Vec::new(),
            tables: Vec::new(),
            same: Vec::new(),
            sets: vec![ALL],
            threads: Threads { exact: exact.map(|n| n.min(THREADS)), full_warps },
            apart: vec![false; flow.cfg.blocks.len()],
            wanted: wanted(flow),
            asked: flow.cfg.instrs.iter().any(|i| {
                i.entry.opcode == "mbarrier.init"
                    || super::granularity::aligned(i)
                    || super::granularity::tcgen05(i).is_some()
                    || i.operand("membermask").is_some()
            }),
            known: HashMap::new(),
            special: Vec::new(),
        };
        // Values that meet where lanes came different ways are not shared. That makes more branches such ones; a few rounds
        // settle it, and if they do not, nothing counts as shared.
        let mut joins = vec![false; flow.cfg.blocks.len()];
        for round in 0..5 {
            if round == 4 {
                joins.fill(true);
            }
            let mut eval = |v: Val, value: &Value, facts: &[Fact]| lanes.eval(flow, &shape, &joins, v, value, facts);
            let solved = flow.ssa.solve(Fact::Bottom, &mut eval);
            lanes.facts = solved.unwrap_or_else(|| vec![Fact::Is(Shared::No); flow.ssa.values.len()]);
            lanes.part(flow);
            let mut more = false;
            for (b, join) in joins.iter_mut().enumerate() {
                // A join is divergent if the ways into it are apart, or it ends what is apart.
                let apart = flow.cfg.blocks[b].pred.iter().any(|p| {
                    lanes.apart[p.0 as usize] || flow.cfg.branch(p.0).is_some_and(|_| !lanes.uniform_branch(flow, p.0))
                });
                if apart && !*join && flow.cfg.blocks[b].pred.len() > 1 {
                    *join = true;
                    more = true;
                }
            }
            if !more {
                break;
            }
        }
        lanes
    }

    /// Do all lanes of a warp go the same way at the end of the block?
    fn uniform_branch(&self, flow: &Flow, b: u32) -> bool {
        let Some(i) = flow.cfg.branch(b) else { return true };
        let instr = flow.cfg.instrs[i as usize];
        let index = instr.entry.opcode == "brx.idx";
        let guard = flow.ssa.guard(i, instr).is_none_or(|(p, _)| self.shared(p) >= Shared::Warp);
        guard && (!index || flow.ssa.uses(i).iter().all(|u| self.shared(u.1) >= Shared::Warp))
    }

    /// Marks the blocks between branches that may part lanes and where these meet again.
    fn part(&mut self, flow: &Flow) {
        self.apart.fill(false);
        let n = flow.cfg.blocks.len();
        let mut budget = 64 * n + 1000;
        let mut seen = vec![NONE; n];
        for &b in &flow.cfg.rpo {
            if flow.cfg.branch(b).is_none() || self.uniform_branch(flow, b) {
                continue;
            }
            let stop = flow.cfg.ipdom[b as usize];
            let mut stack: Vec<u32> = flow.cfg.blocks[b as usize].succ.iter().map(|e| e.to).collect();
            while let Some(at) = stack.pop() {
                if at == stop || seen[at as usize] == b {
                    continue;
                }
                seen[at as usize] = b;
                self.apart[at as usize] = true;
                stack.extend(flow.cfg.blocks[at as usize].succ.iter().map(|e| e.to));
                budget = budget.saturating_sub(1);
                if budget == 0 {
                    self.apart.fill(true);
                    return;
                }
            }
        }
    }

    /// Who shares a value.
    pub(super) fn shared(&self, v: Val) -> Shared {
        match self.facts.get(v as usize) {
            Some(f) => shared(*f, &self.same),
            None => Shared::No,
        }
    }

    fn table(&mut self, t: Vec<u32>) -> Fact {
        // One number for all stays a table: it follows from the launch's shape, and nobody wrote it as a constant.
        if let Some(k) = self.tables.iter().position(|o| *o == t) {
            return Fact::Table(k as u16);
        }
        if self.tables.len() >= MOST {
            return Fact::Is(if by_warp(&t) { Shared::Warp } else { Shared::No });
        }
        self.same.push(by_warp(&t));
        self.tables.push(t);
        Fact::Table(self.tables.len() as u16 - 1)
    }

    fn set(&mut self, s: Set) -> u16 {
        match self.sets.iter().position(|o| *o == s) {
            Some(k) => k as u16,
            None if self.sets.len() >= MOST => 0,
            None => {
                self.sets.push(s);
                self.sets.len() as u16 - 1
            }
        }
    }

    fn both(&mut self, a: u16, b: u16, all: bool) -> u16 {
        let (x, y) = (self.sets[a as usize], self.sets[b as usize]);
        let mut s = x;
        for (s, y) in s.iter_mut().zip(y) {
            *s = if all { *s & y } else { *s | y };
        }
        self.set(s)
    }

    fn pred(&self, f: Fact) -> Pred {
        match f {
            Fact::Pred(p) => p,
            _ => Pred { shared: shared(f, &self.same), ..UNKNOWN },
        }
    }

    fn eval(&mut self, flow: &Flow, shape: &Shape, joins: &[bool], v: Val, value: &Value, facts: &[Fact]) -> Fact {
        match value {
            Value::Undef | Value::Param => Fact::Is(Shared::No),
            Value::Phi { block, args } => {
                let mut out = Fact::Bottom;
                for a in args {
                    out = self.join(out, facts[*a as usize], joins[*block as usize]);
                }
                out
            }
            Value::Def { instr, var, old } => {
                let i = flow.cfg.instrs[*instr as usize];
                if flow.ssa.uses(*instr).iter().any(|u| facts[u.1 as usize] == Fact::Bottom) {
                    return Fact::Bottom;
                }
                let new = self.result(flow, shape, v, *instr, i, *var, facts);
                match old {
                    None => new,
                    Some(o) => {
                        let guard =
                            flow.ssa.guard(*instr, i).map_or(Shared::No, |g| shared(facts[g.0 as usize], &self.same));
                        self.join(new, facts[*o as usize], guard < Shared::Warp)
                    }
                }
            }
        }
    }

    fn join(&mut self, a: Fact, b: Fact, apart: bool) -> Fact {
        match (a, b) {
            (Fact::Bottom, x) | (x, Fact::Bottom) => x,
            (a, b) if a == b => a,
            _ if apart => Fact::Is(Shared::No),
            (a, b) => Fact::Is(shared(a, &self.same).min(shared(b, &self.same)).min(Shared::Warp)),
        }
    }

    /// What an operand is.
    fn operand(&mut self, flow: &Flow, shape: &Shape, at: u32, o: &Operand, facts: &[Fact]) -> Fact {
        match o {
            Operand::Imm(n) => Fact::Const(*n),
            Operand::Reg(r, lane) => facts[flow.ssa.read(at, *r, *lane) as usize],
            Operand::NotReg(r) => {
                let f = facts[flow.ssa.read(at, *r, 0) as usize];
                match f {
                    Fact::Const(n) => Fact::Const(u64::from(n == 0)),
                    f => Fact::Pred(self.pred(f).negated()),
                }
            }
            Operand::VarAddr(..) | Operand::FuncAddr(_) => Fact::Is(Shared::Cta),
            Operand::Sreg("WARP_SZ") => Fact::Const(32),
            Operand::Sreg(name) => {
                if let Some(found) = self.special.iter().find(|s| s.0 == *name) {
                    return found.1;
                }
                let fact = match shape.table(name).filter(|s| self.asked || matches!(s, Special::Fact(_))) {
                    Some(Special::Fact(f)) => f,
                    Some(Special::Table(t)) => self.table(t),
                    None => Fact::Is(Shared::No),
                };
                self.special.push((name, fact));
                fact
            }
            _ => Fact::Is(Shared::No),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn result(&mut self, flow: &Flow, shape: &Shape, v: Val, at: u32, i: &Instr, var: u32, facts: &[Fact]) -> Fact {
        let arg = |name: &str| i.operand(name).map(|a| &a.value);
        // What every lane computes from shared values is shared.
        let mut least = Shared::Cta;
        for (_, u) in flow.ssa.uses(at) {
            least = least.min(shared(facts[*u as usize], &self.same));
        }
        for a in &i.operands {
            if let Operand::Sreg(_) = a.value {
                let f = self.operand(flow, shape, at, &a.value, facts);
                least = least.min(shared(f, &self.same));
            }
        }
        match i.entry.opcode {
            "setp" if self.wanted[v as usize] => {
                self.compare(flow, shape, at, i, (v, var), facts).unwrap_or(Fact::Is(least))
            }
            "mov" | "cvt" => match (arg("a"), i.operands.len()) {
                (Some(a), 2) if i.types.iter().all(|t| plain(*t)) => self.operand(flow, shape, at, a, facts),
                _ => Fact::Is(least),
            },
            "not" if i.has(".pred") => {
                let Some(a) = arg("a") else { return Fact::Is(least) };
                match self.operand(flow, shape, at, a, facts) {
                    Fact::Const(n) => Fact::Const(u64::from(n == 0)),
                    f => Fact::Pred(self.pred(f).negated()),
                }
            }
            "and" | "or" if i.has(".pred") => {
                let (Some(a), Some(b)) = (arg("a"), arg("b")) else { return Fact::Is(least) };
                let (a, b) = (self.operand(flow, shape, at, a, facts), self.operand(flow, shape, at, b, facts));
                let (p, q) = (self.pred(a), self.pred(b));
                self.combine(p, q, i.entry.opcode == "and", least)
            }
            "elect.sync" => match i.operands.first().map(|a| &a.value) {
                Some(Operand::Pair(_, p)) if matches!(&**p, Operand::Reg(r, _) if flow.ssa.var(*r, 0) == var) => {
                    Fact::Pred(Pred { elected: [v, UNDEF], passed: [UNDEF, v], ..UNKNOWN })
                }
                // The lane that was elected is the same for all.
                _ => Fact::Is(Shared::Warp),
            },
            "shfl.sync" => match (arg("b"), arg("c"), arg("membermask")) {
                // From one lane to all of the warp.
                (Some(Operand::Imm(_)), Some(Operand::Imm(31)), Some(Operand::Imm(m)))
                    if i.has(".idx") && m & 0xFFFF_FFFF == 0xFFFF_FFFF =>
                {
                    Fact::Is(Shared::Warp)
                }
                _ => Fact::Is(Shared::No),
            },
            "vote.sync" | "redux.sync" => match arg("membermask") {
                Some(Operand::Imm(m)) if m & 0xFFFF_FFFF == 0xFFFF_FFFF => Fact::Is(Shared::Warp),
                _ => Fact::Is(Shared::No),
            },
            "barrier.red" | "bar.red" | "barrier.cta.red" | "bar.cta.red" => Fact::Is(Shared::Warp),
            "ld" => {
                let fixed = [".param", ".param::entry", ".const"].iter().any(|q| i.has(q));
                let entry = flow.function.entry;
                if fixed && (entry || i.has(".const")) { Fact::Is(least) } else { Fact::Is(Shared::No) }
            }
            "add" | "sub" | "mul" | "mad" | "shl" | "shr" | "and" | "or" | "xor" | "min" | "max" | "rem" | "div"
                if self.wanted[v as usize] =>
            {
                self.arithmetic(flow, shape, at, i, v, facts).unwrap_or(Fact::Is(least))
            }
            _ if pure(i) => Fact::Is(least),
            _ => Fact::Is(Shared::No),
        }
    }

    fn combine(&mut self, p: Pred, q: Pred, and: bool, least: Shared) -> Fact {
        // A conjunction that is true says all that its parts say, and one that is false nothing; a disjunction the other way.
        let side = usize::from(!and);
        let pick = |a: [Val; 2], b: [Val; 2]| {
            let mut out = [UNDEF; 2];
            out[side] = if a[side] == UNDEF { b[side] } else { a[side] };
            out
        };
        Fact::Pred(Pred {
            yes: self.both(p.yes, q.yes, and),
            no: self.both(p.no, q.no, !and),
            elected: pick(p.elected, q.elected),
            passed: pick(p.passed, q.passed),
            shared: p.shared.min(q.shared).max(least),
        })
    }

    /// `setp` on numbers that are known for every thread.
    fn compare(
        &mut self,
        flow: &Flow,
        shape: &Shape,
        at: u32,
        i: &Instr,
        (v, var): (Val, u32),
        facts: &[Fact],
    ) -> Option<Fact> {
        // The second predicate of `p|q` is the opposite without a Boolean operator; rare, and left unknown.
        match &i.operands.first()?.value {
            Operand::Reg(r, _) if flow.ssa.var(*r, 0) == var => {}
            _ => return None,
        }
        let ty = *i.types.last()?;
        if !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || ty.bits() > 64 {
            return None;
        }
        let a = self.operand(flow, shape, at, &i.operand("a")?.value, facts);
        let b = self.operand(flow, shape, at, &i.operand("b")?.value, facts);
        let op = i.quals.iter().find_map(|q| Compare::of(q))?;
        let boolean = [".and", ".or", ".xor"].into_iter().find(|q| i.has(q));
        let signed = ty.class() == Class::Signed;
        if let (Fact::Const(x), Fact::Const(y), None) = (a, b, boolean) {
            return Some(Fact::Const(u64::from(holds(op, signed, ty.bits(), x, y))));
        }
        if ty.bits() != 32 {
            return None;
        }
        let known = |f: Fact| matches!(f, Fact::Const(_) | Fact::Table(_));
        if !known(a) || !known(b) {
            return None;
        }
        let c = match boolean {
            None => Fact::Bottom,
            Some(_) => self.operand(flow, shape, at, &i.operand("c")?.value, facts),
        };
        if let Some((from, fact)) = self.known.get(&v)
            && *from == [a, b, c]
        {
            return Some(*fact);
        }
        let yes = self.threads_where(a, b, op, signed);
        let mut no = yes;
        for w in &mut no {
            *w = !*w;
        }
        let whole = by_warp_set(&yes);
        let p = Pred {
            yes: self.set(yes),
            no: self.set(no),
            shared: if whole { Shared::Warp } else { Shared::No },
            ..UNKNOWN
        };
        let fact = match boolean {
            None => Fact::Pred(p),
            Some(".xor") => return None,
            Some(op) => {
                let q = self.pred(c);
                self.combine(p, q, op == ".and", Shared::No)
            }
        };
        self.known.insert(v, ([a, b, c], fact));
        Some(fact)
    }

    /// The threads for which two numbers compare so. Mostly one of them is a constant.
    fn threads_where(&self, a: Fact, b: Fact, op: Compare, signed: bool) -> Set {
        let (x, y) = (self.numbers(a), self.numbers(b));
        // Once for each pair of numbers in a row.
        let (mut last, mut held) = ((0, 0), holds(op, signed, 32, 0, 0));
        let mut yes: Set = [0; THREADS / 64];
        for (w, word) in yes.iter_mut().enumerate() {
            for t in 0..64 {
                let pair = (x.at(w * 64 + t), y.at(w * 64 + t));
                if pair != last {
                    last = pair;
                    held = holds(op, signed, 32, u64::from(pair.0), u64::from(pair.1));
                }
                *word |= u64::from(held) << t;
            }
        }
        yes
    }

    fn numbers(&self, f: Fact) -> Numbers<'_> {
        match f {
            Fact::Const(n) => Numbers::One(n as u32),
            Fact::Table(k) => self.tables.get(k as usize).map_or(Numbers::One(0), |t| Numbers::Each(t)),
            _ => Numbers::One(0),
        }
    }

    fn arithmetic(&mut self, flow: &Flow, shape: &Shape, at: u32, i: &Instr, v: Val, facts: &[Fact]) -> Option<Fact> {
        let ty = *i.types.last()?;
        let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
        if !integer || ty.bits() != 32 || i.types.len() != 1 {
            return None;
        }
        if [".wide", ".hi", ".cc", ".sat", ".relu"].iter().any(|q| i.has(q)) {
            return None;
        }
        let a = self.operand(flow, shape, at, &i.operand("a")?.value, facts);
        let b = self.operand(flow, shape, at, &i.operand("b")?.value, facts);
        let c = match i.operand("c") {
            Some(c) => self.operand(flow, shape, at, &c.value, facts),
            None => Fact::Const(0),
        };
        let known = |f: Fact| matches!(f, Fact::Const(_) | Fact::Table(_));
        if !known(a) || !known(b) || !known(c) {
            return None;
        }
        let signed = ty.class() == Class::Signed;
        // Chosen once, not for each thread.
        let of = operation(i.entry.opcode, signed)?;
        if let (Fact::Const(x), Fact::Const(y), Fact::Const(z)) = (a, b, c) {
            return of(x as u32, y as u32, z as u32).map(|n| Fact::Const(u64::from(n)));
        }
        if let Some((from, fact)) = self.known.get(&v)
            && *from == [a, b, c]
        {
            return Some(*fact);
        }
        let mut out = Vec::with_capacity(THREADS);
        let (x, y, z) = (self.numbers(a), self.numbers(b), self.numbers(c));
        for t in 0..THREADS {
            out.push(of(x.at(t), y.at(t), z.at(t))?);
        }
        let fact = self.table(out);
        self.known.insert(v, ([a, b, c], fact));
        Some(fact)
    }
}

const MADE_OF_NUMBERS: &[&str] = &[
    "setp", "mov", "cvt", "not", "and", "or", "xor", "add", "sub", "mul", "mad", "shl", "shr", "min", "max", "rem",
    "div",
];

/// The values from which guards are made: of those the rules want to know the numbers, if there is anything to say at all.
fn wanted(flow: &Flow) -> Vec<bool> {
    let mut wanted = vec![false; flow.ssa.values.len()];
    let mut stack = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if let Some((p, _)) = flow.ssa.guard(at, i) {
                stack.push(p);
            } else if i.entry.opcode == "brx.idx" {
                stack.extend(flow.ssa.uses(at).iter().map(|u| u.1));
            }
        },
    );
    while let Some(v) = stack.pop() {
        if !std::mem::replace(&mut wanted[v as usize], true) {
            match &flow.ssa.values[v as usize] {
                Value::Def { instr, old, .. } => {
                    // What a load's address is, for one, tells nothing about what it loads.
                    if MADE_OF_NUMBERS.contains(&flow.cfg.instrs[*instr as usize].entry.opcode) {
                        stack.extend(flow.ssa.uses(*instr).iter().map(|u| u.1));
                    }
                    stack.extend(old);
                }
                Value::Phi { args, .. } => stack.extend(args),
                Value::Undef | Value::Param => {}
            }
        }
    }
    wanted
}

/// Types whose `mov` or `cvt` keeps a number of 32 bits as it is.
fn plain(ty: Ty) -> bool {
    ty.bits() == 32 && matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || ty == Ty::Pred
}

/// Does the result follow from the operands alone?
fn pure(i: &Instr) -> bool {
    i.entry.host == crate::isa::Host::Lane || matches!(i.entry.opcode, "cvta" | "mapa" | "selp" | "isspacep")
}

fn shared(f: Fact, same: &[bool]) -> Shared {
    match f {
        Fact::Bottom | Fact::Const(_) => Shared::Cta,
        Fact::Table(k) if same.get(k as usize) == Some(&true) => Shared::Warp,
        Fact::Table(_) => Shared::No,
        Fact::Is(s) => s,
        Fact::Pred(p) => p.shared,
    }
}
