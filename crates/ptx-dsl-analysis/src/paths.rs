//! Is there one way through the graph from here to there on which the predicates agree with each other? Rules that speak of
//! some path ask here, so that code which chooses twice by the same condition is not taken for a mistake.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::lanes::{LaneFact, Lanes};
use crate::ssa::{UNDEF, Val, Value, place};
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, Varies};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Class;

/// What the search does at an instruction that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Goes on.
    Go,
    /// This way ends here.
    Stop,
    /// This is what was looked for.
    Found,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The instruction that was hit.
    pub at: u32,
    /// No condition had to be guessed on the way.
    pub certain: bool,
}

/// A condition: a predicate, or what it compares; so that two comparisons of the same numbers are one condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Condition {
    Value(Val),
    /// Integers of so many bits.
    Compare(Order, u32, Key, Key),
    /// Anything else, by its qualifiers: whether its opposite is the opposite comparison is not known.
    Same(Vec<Qualifier>, Key, Key),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Value(Val),
    Number(u64),
    Special(SpecialRegister),
}

/// Conjunction, the predicates with whether each stands as it is, whether these are all.
type Parts = (bool, Vec<(Val, bool)>, bool);

/// What numbers are made from: parameters and special registers by name, else the instruction that brings them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    Instr(u32),
    Param(u32, i64),
    Special(SpecialRegister),
    /// Too much to follow.
    Unknown,
}

/// One way so far.
#[derive(Clone)]
struct PathState {
    block: u32,
    at: u32,
    /// Conditions that hold or do not.
    holds: Vec<(Condition, bool)>,
    /// Values that are a constant on this way.
    numbers: Vec<(Val, u64)>,
    /// What the conditions that were guessed are made of.
    roots: Vec<Root>,
    certain: bool,
}

/// The search, with a budget for all questions about one function together.
pub struct Paths<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    budget: usize,
    /// Values joined at the start of each block.
    phis: Vec<Vec<Val>>,
    /// What was known before at the start of each block, while one question is asked.
    seen: Vec<Vec<PathState>>,
    /// Conditions on these values are not guessed: what may depend on what is asked about.
    pub no_guess: Option<&'a dyn Fn(Val) -> bool>,
}

/// Instructions looked at for one question, and for all.
const ONE: usize = 20_000;
const ALL: usize = 200_000;

impl<'a, 'h> Paths<'a, 'h> {
    /// A search that has seen nothing yet.
    pub fn new(flow: &'a Flow<'h>, lanes: &'a Lanes) -> Paths<'a, 'h> {
        let blocks = flow.cfg.blocks.len();
        let mut phis: Vec<Vec<Val>> = vec![Vec::new(); blocks];
        for (v, value) in flow.ssa.values.iter().enumerate() {
            if let Value::Phi { block, .. } = value {
                phis[*block as usize].push(v as Val);
            }
        }
        let mut seen = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            seen.push(Vec::new());
        }
        Paths { flow, lanes, budget: ALL, phis, seen, no_guess: None }
    }

    /// From the start of the kernel.
    pub fn at_entry(&mut self, visit: &mut dyn FnMut(u32, &Instr) -> Step) -> Option<Hit> {
        let block = *self.flow.cfg.rpo.first()?;
        let at = self.flow.cfg.range(block).start;
        self.search(
            PathState { block, at, holds: Vec::new(), numbers: Vec::new(), roots: Vec::new(), certain: true },
            visit,
        )
    }

    /// From behind an instruction, where this predicate is known.
    pub fn behind(
        &mut self,
        block: u32,
        at: u32,
        known: Option<(Val, bool)>,
        visit: &mut dyn FnMut(u32, &Instr) -> Step,
    ) -> Option<Hit> {
        let mut way =
            PathState { block, at: at + 1, holds: Vec::new(), numbers: Vec::new(), roots: Vec::new(), certain: true };
        if let Some((p, is)) = known {
            self.assume(&mut way, p, is, 0);
        }
        if let Some((p, is)) = self.flow.guard(at) {
            self.assume(&mut way, p, is, 0);
        }
        self.search(way, visit)
    }

    fn search(&mut self, start: PathState, visit: &mut dyn FnMut(u32, &Instr) -> Step) -> Option<Hit> {
        let mut entered = Vec::new();
        let hit = self.follow(start, &mut entered, visit);
        for b in &entered {
            self.seen[*b as usize].clear();
        }
        hit
    }

    /// Notes the blocks whose `seen` it filled.
    fn follow(
        &mut self,
        start: PathState,
        entered: &mut Vec<u32>,
        visit: &mut dyn FnMut(u32, &Instr) -> Step,
    ) -> Option<Hit> {
        let cfg = &self.flow.cfg;
        let mut budget = ONE.min(self.budget);
        let mut stack = vec![start];
        'ways: while let Some(mut way) = stack.pop() {
            let end = cfg.range(way.block).end;
            while way.at < end {
                let at = way.at;
                let i = cfg.instrs[at as usize];
                if budget == 0 {
                    break 'ways;
                }
                budget -= 1;
                self.budget -= 1;
                match self.at(&mut way, visit(at, i)) {
                    Step::Go => {}
                    Step::Stop => continue 'ways,
                    Step::Found => return Some(Hit { at, certain: way.certain }),
                }
                // What is written anew is not what was known.
                for (_, v) in self.flow.ssa.defs(at) {
                    self.forget(&mut way, *v);
                }
                way.at += 1;
            }
            if way.block != cfg.exit {
                self.fork(&way, entered, &mut stack);
            }
        }
        None
    }

    /// What the search does at an instruction that need not run; what it says of its guard is known then.
    fn at(&self, way: &mut PathState, step: Step) -> Step {
        if step == Step::Go {
            return Step::Go;
        }
        let Some((p, is)) = self.flow.guard(way.at) else { return step };
        match (step, self.known(way, p, 0)) {
            (_, Some(value)) => {
                if value == is {
                    step
                } else {
                    Step::Go
                }
            }
            (Step::Found, None) => {
                if self.guess(&mut way.clone(), p, is) {
                    Step::Found
                } else {
                    Step::Go
                }
            }
            _ => {
                if self.guess(way, p, !is) {
                    Step::Go
                } else {
                    Step::Stop
                }
            }
        }
    }

    /// The ways on from the end of a block.
    fn fork(&mut self, way: &PathState, entered: &mut Vec<u32>, stack: &mut Vec<PathState>) {
        let cfg = &self.flow.cfg;
        let branch = cfg.branch(way.block);
        let guard = match branch {
            Some(at) => self.flow.guard(at),
            None => None,
        };
        let value = match guard {
            Some((p, _)) => self.known(way, p, 0),
            None => None,
        };
        for (n, e) in cfg.blocks[way.block as usize].succ.iter().enumerate() {
            let mut next = way.clone();
            match (guard, e.when, value) {
                (Some(_), Some(when), Some(v)) if v != when => continue,
                (Some((p, _)), Some(when), None) if !self.guess(&mut next, p, when) => continue,
                (None, _, _) if branch.is_some() => next.certain = false,
                _ => {}
            }
            self.enter(&mut next, way.block, n as u32, e.to);
            next.block = e.to;
            next.at = cfg.range(e.to).start;
            entered.push(e.to);
            let visited = &mut self.seen[e.to as usize];
            if visited.len() < 24 && !next.known_before(visited) {
                visited.push(next.clone());
                stack.push(next);
            }
        }
    }

    /// Joins of the block that is entered: constants are known by the way.
    fn enter(&self, way: &mut PathState, from: u32, edge: u32, to: u32) {
        let phis = &self.phis[to as usize];
        let pred = &self.flow.cfg.blocks[to as usize].pred;
        let pred = place(pred, (from, edge));
        let mut new = Vec::new();
        for &v in phis {
            if let Some(k) = pred
                && let Value::Phi { args, .. } = &self.flow.ssa.values[v as usize]
                && let Some(a) = args.get(k)
                && let Some(n) = self.number(way, *a, 0).or_else(|| self.known(way, *a, 0).map(u64::from))
            {
                new.push((v, n));
            }
        }
        for v in phis {
            self.forget(way, *v);
        }
        way.numbers.append(&mut new);
    }

    fn forget(&self, way: &mut PathState, v: Val) {
        if way.holds.is_empty() && way.numbers.is_empty() {
            return;
        }
        let of = |k: &Key| *k == Key::Value(v);
        way.holds.retain(|(c, _)| match c {
            Condition::Value(x) => *x != v,
            Condition::Compare(_, _, a, b) | Condition::Same(_, a, b) => !of(a) && !of(b),
        });
        way.numbers.retain(|(x, _)| *x != v);
    }

    /// May two conditions exclude each other or follow from each other, since they are made of the same numbers?
    pub fn related(&self, a: Val, b: Val) -> bool {
        let (a, b) = (self.roots(a), self.roots(b));
        a.contains(&Root::Unknown) || b.contains(&Root::Unknown) || a.iter().any(|root| b.contains(root))
    }

    fn guess(&self, way: &mut PathState, p: Val, is: bool) -> bool {
        if self.no_guess.is_some_and(|f| f(p)) {
            return false;
        }
        // Two conditions made of the same numbers may exclude each other in ways that are not seen here.
        let mut roots = self.roots(p);
        if way.roots.contains(&Root::Unknown) {
            return false;
        }
        for r in &roots {
            if way.roots.contains(r) || (*r == Root::Unknown && !way.roots.is_empty()) {
                return false;
            }
        }
        way.roots.append(&mut roots);
        way.certain = false;
        self.assume(way, p, is, 0);
        true
    }

    fn roots(&self, p: Val) -> Vec<Root> {
        let ssa = &self.flow.ssa;
        let mut out = Vec::new();
        let mut seen = Vec::new();
        let mut stack = vec![p];
        while let Some(v) = stack.pop() {
            let v = self.flow.origin(v);
            if seen.contains(&v) {
                continue;
            }
            if seen.len() >= 48 {
                return vec![Root::Unknown];
            }
            seen.push(v);
            match &ssa.values[v as usize] {
                Value::Def { instr, old, .. } => {
                    stack.extend(old);
                    if self.own_roots(*instr, &mut out) {
                        ssa.push_uses(*instr, &mut stack);
                    }
                }
                Value::Phi { args, .. } => stack.extend(args),
                Value::Param => out.push(Root::Instr(NONE - 1 - v)),
                Value::Undef => {}
            }
        }
        out
    }

    /// What an instruction brings that it does not make of registers; says whether it reads any for more than an address.
    fn own_roots(&self, at: u32, out: &mut Vec<Root>) -> bool {
        let i = self.flow.instr(at);
        if let Some(arg) = i.address() {
            out.push(match (i.opcode, &arg.value) {
                (op::ld, Operand::Address(Base::Var(var), o)) if i.has(q::param) => Root::Param(var.0, *o),
                _ => Root::Instr(at),
            });
            return false;
        }
        let before = out.len();
        for a in &i.operands {
            if let Operand::Sreg(register) = a.value {
                out.push(Root::Special(register));
            }
        }
        if out.len() == before && self.flow.ssa.uses(at).is_empty() {
            out.push(Root::Instr(at));
        }
        true
    }

    fn assume(&self, way: &mut PathState, p: Val, is: bool, depth: u32) {
        let (condition, positive) = self.condition(p, 0);
        if let Condition::Value(v) = condition
            && depth < 4
            && let Some((and, parts, _)) = self.parts(v)
            && (positive == is) == and
        {
            for (u, as_is) in parts {
                self.assume(way, u, and == as_is, depth + 1);
            }
        }
        way.holds.push((condition, is == positive));
    }

    /// The predicates that one is the conjunction (`true`) or disjunction of, each as it is or negated, and whether that is all.
    fn parts(&self, v: Val) -> Option<Parts> {
        let maker = self.flow.ssa.maker(v)?;
        let i = self.flow.instr(maker);
        let of = |o: &Operand| match o {
            Operand::Reg(r, lane) => Some((self.flow.ssa.read(maker, *r, *lane), true)),
            Operand::NotReg(r) => Some((self.flow.ssa.read(maker, *r, 0), false)),
            _ => None,
        };
        match i.opcode {
            op::and | op::or if i.has(q::pred) => {
                let mut list = Vec::new();
                for name in ["a", "b"] {
                    if let Some(o) = i.value(name) {
                        list.extend(of(o));
                    }
                }
                Some((i.opcode == op::and, list, true))
            }
            op::setp if matches!(i.operands.first()?.value, Operand::Reg(..)) && (i.has(q::and) || i.has(q::or)) => {
                Some((i.has(q::and), vec![of(i.value("c")?)?], false))
            }
            _ => None,
        }
    }

    /// What a predicate is on this way.
    fn known(&self, way: &PathState, p: Val, depth: u32) -> Option<bool> {
        if let Some(LaneFact::Const(n)) = self.lanes.facts.get(p as usize) {
            return Some(*n != 0);
        }
        if let Some(n) = self.number(way, p, depth) {
            return Some(n != 0);
        }
        let (condition, positive) = self.condition(p, 0);
        for (c, is) in way.holds.iter().rev() {
            if *c == condition {
                return Some(*is == positive);
            }
        }
        if depth >= 4 {
            return None;
        }
        let v = match condition {
            Condition::Value(v) => match self.number(way, v, depth) {
                Some(n) => return Some((n != 0) == positive),
                None => v,
            },
            // Numbers that are known on this way.
            Condition::Same(..) => return None,
            Condition::Compare(op, bits, a, b) => {
                let of = |k: &Key| match k {
                    Key::Value(v) => self.number(way, *v, depth + 1),
                    Key::Number(n) => Some(*n),
                    Key::Special(_) => None,
                };
                let unused = 64 - bits.clamp(1, 64);
                let (x, y) = (of(&a)? << unused, of(&b)? << unused);
                let is = match op {
                    Order::Equal => x == y,
                    Order::Below => x < y,
                    Order::BelowOrEqual => x <= y,
                    Order::Less => (x as i64) < y as i64,
                    _ => x as i64 <= y as i64,
                };
                return Some(is == positive);
            }
        };
        let (and, parts, all) = self.parts(v)?;
        let mut every = all;
        for (u, as_is) in parts {
            match self.known(way, u, depth + 1) {
                Some(v) if (v == as_is) != and => return Some(and != positive),
                Some(_) => {}
                None => every = false,
            }
        }
        every.then_some(and == positive)
    }

    /// A value that is a constant on this way.
    fn number(&self, way: &PathState, v: Val, depth: u32) -> Option<u64> {
        if let Some(LaneFact::Const(n)) = self.lanes.facts.get(v as usize) {
            return Some(*n);
        }
        for (known, n) in &way.numbers {
            if *known == v {
                return Some(*n);
            }
        }
        let o = self.flow.origin(v);
        if o != v {
            return self.number(way, o, depth);
        }
        if depth >= 4 {
            return None;
        }
        let Value::Def { instr, old, .. } = &self.flow.ssa.values[v as usize] else { return None };
        let i = self.flow.instr(*instr);
        let of = |name: &str| match i.value(name)? {
            Operand::Imm(n) => Some(*n),
            Operand::Reg(r, lane) => self.number(way, self.flow.ssa.read(*instr, *r, *lane), depth + 1),
            _ => None,
        };
        if let Some(old) = old {
            let (p, is) = self.flow.guard(*instr)?;
            let runs = self.known(way, p, depth + 1)? == is;
            return match i.opcode {
                _ if !runs => self.number(way, *old, depth + 1),
                op::mov => of("a"),
                _ => None,
            };
        }
        match i.opcode {
            op::mov => of("a"),
            op::add | op::sub | op::xor
                if i.types.len() == 1 && i.types[0].bits() == 32 && !i.has(q::cc) && !i.has(q::sat) =>
            {
                let (a, b) = (of("a")? as u32, of("b")? as u32);
                Some(u64::from(match i.opcode {
                    op::add => a.wrapping_add(b),
                    op::sub => a.wrapping_sub(b),
                    _ => a ^ b,
                }))
            }
            op::selp => {
                let p = self.known(way, self.flow.source(*instr, "c")?, depth + 1)?;
                of(if p { "a" } else { "b" })
            }
            _ => None,
        }
    }

    /// The condition that a predicate stands for, and whether it is that or its opposite.
    fn condition(&self, p: Val, depth: u32) -> (Condition, bool) {
        let v = self.flow.origin(p);
        let plain = (Condition::Value(v), true);
        let (Some(maker), true) = (self.flow.ssa.maker(v), depth < 8) else { return plain };
        let i = self.flow.instr(maker);
        let source = |name: &str| self.flow.source(maker, name);
        match i.opcode {
            op::not if i.has(q::pred) => match source("a") {
                Some(a) => {
                    let (c, is) = self.condition(a, depth + 1);
                    (c, !is)
                }
                None => plain,
            },
            op::mov if i.has(q::pred) => match source("a") {
                Some(a) => self.condition(a, depth + 1),
                None => plain,
            },
            op::setp => self.comparison(maker, i).unwrap_or(plain),
            _ => plain,
        }
    }

    fn comparison(&self, at: u32, i: &Instr) -> Option<(Condition, bool)> {
        let ty = i.types.last()?;
        let single = matches!(i.operands.first()?.value, Operand::Reg(..)) && i.operands.len() == 3;
        if !single {
            return None;
        }
        let bits = ty.bits();
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let key = |name: &str| {
            Some(match i.value(name)? {
                Operand::Imm(n) => Key::Number(*n & mask),
                Operand::Reg(r, lane) => {
                    let v = self.flow.ssa.read(at, *r, *lane);
                    match self.lanes.facts.get(v as usize) {
                        Some(LaneFact::Const(n)) => Key::Number(*n & mask),
                        _ => Key::Value(self.flow.origin(v)),
                    }
                }
                Operand::Sreg(register) if register.row().varies != Varies::InTime => Key::Special(*register),
                _ => return None,
            })
        };
        let (a, b) = (key("a")?, key("b")?);
        if !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || bits > 64 {
            return Some((Condition::Same(i.quals.clone(), a, b), true));
        }
        let signed = ty.class() == Class::Signed;
        for q in &i.quals {
            if let Some((op, is)) = order(*q, signed) {
                return Some((Condition::Compare(op, bits, a, b), is));
            }
        }
        None
    }
}

/// Comparisons of integers that the others are opposites of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Order {
    Equal,
    /// Signed.
    Less,
    LessOrEqual,
    /// Unsigned.
    Below,
    BelowOrEqual,
}

/// `.CmpOp` as one of a few comparisons, or the opposite of one.
fn order(qualifier: Qualifier, signed: bool) -> Option<(Order, bool)> {
    Some(match (qualifier, signed) {
        (q::eq, _) => (Order::Equal, true),
        (q::ne, _) => (Order::Equal, false),
        (q::lt, true) => (Order::Less, true),
        (q::ge, true) => (Order::Less, false),
        (q::le, true) => (Order::LessOrEqual, true),
        (q::gt, true) => (Order::LessOrEqual, false),
        (q::lt | q::lo, _) => (Order::Below, true),
        (q::ge | q::hs, _) => (Order::Below, false),
        (q::le | q::ls, _) => (Order::BelowOrEqual, true),
        (q::gt | q::hi, _) => (Order::BelowOrEqual, false),
        _ => return None,
    })
}

impl PathState {
    /// Does it know no more than one of these? Then it adds nothing.
    fn known_before(&self, visited: &[PathState]) -> bool {
        'visited: for o in visited {
            if self.certain && !o.certain {
                continue;
            }
            for h in &o.holds {
                if !self.holds.contains(h) {
                    continue 'visited;
                }
            }
            for n in &o.numbers {
                if !self.numbers.contains(n) {
                    continue 'visited;
                }
            }
            return true;
        }
        false
    }
}

/// Values that some path leaves unwritten.
pub fn maybe_undefined(flow: &Flow) -> Vec<bool> {
    let found = flow.ssa.solve(false, &mut |v, value, facts| match value {
        Value::Undef => v == UNDEF,
        Value::Param => false,
        Value::Phi { args, .. } => {
            let mut any = false;
            for a in args {
                any |= facts[*a as usize];
            }
            any
        }
        Value::Def { old, .. } => matches!(old, Some(o) if facts[*o as usize]),
    });
    found.unwrap_or_default()
}
