//! Transfer functions of the uniformity analysis: the fact about a result from the facts about the operands.

use crate::compare::{Compare, holds};
use crate::flow::Flow;
use crate::lanes::facts::{LaneFact, Lanes, PredicateFact, UNKNOWN, Uniformity, uniformity_of};
use crate::lanes::numbers::{Numbers, Shape, Special, operation};
use crate::ssa::{UNDEF, Val, Value};
use crate::threads::{Set, THREADS, by_warp_set};
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::{Class, Ty};

/// The evaluation of one value: the analysis so far, and the facts about all values.
pub struct Eval<'e, 'h> {
    pub lanes: &'e mut Lanes,
    pub flow: &'e Flow<'h>,
    pub shape: &'e Shape,
    pub facts: &'e [LaneFact],
}

impl<'e> Eval<'e, '_> {
    /// The fact about one value, from those about its operands.
    pub fn eval(&mut self, joins: &[bool], v: Val, value: &Value) -> LaneFact {
        let (flow, facts) = (self.flow, self.facts);
        match value {
            Value::Undef | Value::Param => LaneFact::Is(Uniformity::None),
            Value::Phi { block, args } => {
                let mut out = LaneFact::Bottom;
                for a in args {
                    out = self.join(out, facts[*a as usize], joins[*block as usize]);
                }
                out
            }
            Value::Def { instr, var, old } => {
                let i = flow.instr(*instr);
                for (_, u) in flow.ssa.uses(*instr) {
                    if facts[*u as usize] == LaneFact::Bottom {
                        return LaneFact::Bottom;
                    }
                }
                let new = self.result(v, *instr, i, *var);
                match old {
                    None => new,
                    Some(o) => {
                        let divergent = match flow.guard(*instr) {
                            Some((p, _)) => uniformity_of(facts[p as usize], &self.lanes.same) < Uniformity::Warp,
                            None => true,
                        };
                        self.join(new, facts[*o as usize], divergent)
                    }
                }
            }
        }
    }

    fn join(&mut self, a: LaneFact, b: LaneFact, divergent: bool) -> LaneFact {
        match (a, b) {
            (LaneFact::Bottom, x) | (x, LaneFact::Bottom) => x,
            (a, b) if a == b => a,
            _ if divergent => LaneFact::Is(Uniformity::None),
            (a, b) => LaneFact::Is(
                uniformity_of(a, &self.lanes.same).min(uniformity_of(b, &self.lanes.same)).min(Uniformity::Warp),
            ),
        }
    }

    /// The fact about an operand.
    fn operand(&mut self, at: u32, o: &Operand) -> LaneFact {
        let (flow, facts) = (self.flow, self.facts);
        match o {
            Operand::Imm(n) => LaneFact::Const(*n),
            Operand::Reg(r, lane) => facts[flow.ssa.read(at, *r, *lane) as usize],
            Operand::NotReg(r) => {
                let f = facts[flow.ssa.read(at, *r, 0) as usize];
                match f {
                    LaneFact::Const(n) => LaneFact::Const(u64::from(n == 0)),
                    f => LaneFact::Pred(self.lanes.pred(f).negated()),
                }
            }
            Operand::VarAddr(..) | Operand::FuncAddr(_) | Operand::Rust(_) => LaneFact::Is(Uniformity::Cta),
            Operand::Sreg(special::warp_sz) => LaneFact::Const(32),
            Operand::Sreg(register) => self.special(*register),
            _ => LaneFact::Is(Uniformity::None),
        }
    }

    fn special(&mut self, register: SpecialRegister) -> LaneFact {
        if let Some((_, fact)) = self.lanes.special.iter().find(|(known, _)| *known == register) {
            return *fact;
        }
        let fact = match self.shape.table(register) {
            Some(Special::Fact(f)) => f,
            Some(Special::Table(t)) if self.lanes.needs_tables => self.lanes.table(t),
            _ => LaneFact::Is(Uniformity::None),
        };
        self.lanes.special.push((register, fact));
        fact
    }

    fn result(&mut self, v: Val, at: u32, i: &Instr, var: u32) -> LaneFact {
        let (flow, facts) = (self.flow, self.facts);
        let arg = |name: &str| i.value(name);
        // A pure function of uniform values is uniform.
        let mut least = Uniformity::Cta;
        for (_, u) in flow.ssa.uses(at) {
            least = least.min(uniformity_of(facts[*u as usize], &self.lanes.same));
        }
        for a in &i.operands {
            if let Operand::Sreg(_) = a.value {
                let f = self.operand(at, &a.value);
                least = least.min(uniformity_of(f, &self.lanes.same));
            }
        }
        match i.opcode {
            op::setp if self.lanes.feeds_guard[v as usize] => {
                self.compare(at, i, v, var).unwrap_or(LaneFact::Is(least))
            }
            op::mov | op::cvt => match arg("a") {
                Some(a) if keeps(i) => self.operand(at, a),
                _ => LaneFact::Is(least),
            },
            op::not if i.has(q::pred) => {
                let Some(a) = arg("a") else { return LaneFact::Is(least) };
                match self.operand(at, a) {
                    LaneFact::Const(n) => LaneFact::Const(u64::from(n == 0)),
                    f => LaneFact::Pred(self.lanes.pred(f).negated()),
                }
            }
            op::and | op::or if i.has(q::pred) => {
                let (Some(a), Some(b)) = (arg("a"), arg("b")) else { return LaneFact::Is(least) };
                let (a, b) = (self.operand(at, a), self.operand(at, b));
                let (p, q) = (self.lanes.pred(a), self.lanes.pred(b));
                self.combine(p, q, i.opcode == op::and, least)
            }
            op::elect_sync => {
                if let Some(Arg { value: Operand::Pair(_, p), .. }) = i.operands.first()
                    && let Operand::Reg(r, _) = &**p
                    && flow.ssa.var(*r, 0) == var
                {
                    return LaneFact::Pred(PredicateFact { elected: [v, UNDEF], not_elected: [UNDEF, v], ..UNKNOWN });
                }
                // All lanes get the same elected lane.
                LaneFact::Is(Uniformity::Warp)
            }
            op::shfl_sync => self.shuffle(at, i),
            op::vote_sync | op::redux_sync => match arg("membermask") {
                Some(Operand::Imm(m)) if m & 0xFFFF_FFFF == 0xFFFF_FFFF => LaneFact::Is(Uniformity::Warp),
                _ => LaneFact::Is(Uniformity::None),
            },
            op::barrier_red | op::bar_red | op::barrier_cta_red | op::bar_cta_red => LaneFact::Is(Uniformity::Warp),
            op::ld => {
                let fixed = i.has_any(&[q::param, q::param_entry, q::_const]);
                // `.param` variables also hold arguments and results of calls.
                let mut entry = flow.function.entry;
                for a in &i.operands {
                    if let Operand::Address(Base::Var(v), _) = a.value {
                        entry &= matches!(flow.module.vars.get(v.0 as usize), Some(v) if v.space != Space::ParamFunc);
                    }
                }
                if fixed && (entry || i.has(q::_const)) {
                    return LaneFact::Is(least);
                }
                // The lanes of a warp load together, and threads of other warps may write in between two of its loads.
                let shared = i.has_any(&[q::shared, q::shared_cta, q::shared_cluster]);
                LaneFact::Is(if shared { least.min(Uniformity::Warp) } else { Uniformity::None })
            }
            op::add
            | op::sub
            | op::mul
            | op::mad
            | op::shl
            | op::shr
            | op::and
            | op::or
            | op::xor
            | op::min
            | op::max
            | op::rem
            | op::div
                if self.lanes.feeds_guard[v as usize] =>
            {
                self.arithmetic(at, i, v).unwrap_or(LaneFact::Is(least))
            }
            _ if pure(i) => LaneFact::Is(least),
            _ => LaneFact::Is(Uniformity::None),
        }
    }

    /// `shfl.sync.idx` with a constant lane broadcasts its value to the warp.
    fn shuffle(&mut self, at: u32, i: &Instr) -> LaneFact {
        let (Some(Operand::Imm(lane)), Some(Operand::Imm(31)), Some(Operand::Imm(mask))) =
            (i.value("b"), i.value("c"), i.value("membermask"))
        else {
            return LaneFact::Is(Uniformity::None);
        };
        // The lanes outside of the mask may not execute it.
        if !i.has(q::idx) || mask >> (lane & 31) & 1 == 0 {
            return LaneFact::Is(Uniformity::None);
        }
        let Some(a) = i.value("a") else { return LaneFact::Is(Uniformity::Warp) };
        match self.operand(at, a) {
            LaneFact::Bottom => LaneFact::Bottom,
            LaneFact::Const(n) => LaneFact::Const(n),
            LaneFact::Is(Uniformity::Cta) => LaneFact::Is(Uniformity::Cta),
            LaneFact::Table(k) if (k as usize) < self.lanes.tables.len() => {
                let of = &self.lanes.tables[k as usize];
                let lane = *lane as usize & 31;
                let out = (0..THREADS).map(|t| of[t / 32 * 32 + lane]).collect();
                self.lanes.table(out)
            }
            _ => LaneFact::Is(Uniformity::Warp),
        }
    }

    fn combine(&mut self, p: PredicateFact, q: PredicateFact, and: bool, least: Uniformity) -> LaneFact {
        // A true conjunction implies its parts, a false one implies nothing; a disjunction the other way round.
        let side = usize::from(!and);
        let pick = |a: [Val; 2], b: [Val; 2]| {
            let mut out = [UNDEF; 2];
            out[side] = if a[side] == UNDEF { b[side] } else { a[side] };
            out
        };
        LaneFact::Pred(PredicateFact {
            yes: self.lanes.both(p.yes, q.yes, and),
            no: self.lanes.both(p.no, q.no, !and),
            elected: pick(p.elected, q.elected),
            not_elected: pick(p.not_elected, q.not_elected),
            uniformity: p.uniformity.min(q.uniformity).max(least),
        })
    }

    /// The value `v` of the predicate `var` after `setp` on values that are known for each thread.
    fn compare(&mut self, at: u32, i: &Instr, v: Val, var: u32) -> Option<LaneFact> {
        let flow = self.flow;
        // The second predicate of `p|q` is left unknown.
        match &i.operands.first()?.value {
            Operand::Reg(r, _) if flow.ssa.var(*r, 0) == var => {}
            _ => return None,
        }
        let ty = *i.types.last()?;
        if !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || ty.bits() > 64 {
            return None;
        }
        let a = self.operand(at, i.value("a")?);
        let b = self.operand(at, i.value("b")?);
        let op = comparison(i)?;
        let boolean = boolean(i);
        let signed = ty.class() == Class::Signed;
        if let (LaneFact::Const(x), LaneFact::Const(y), None) = (a, b, boolean) {
            return Some(LaneFact::Const(u64::from(holds(op, signed, ty.bits(), x, y))));
        }
        if ty.bits() != 32 {
            return None;
        }
        let known = |f: LaneFact| matches!(f, LaneFact::Const(_) | LaneFact::Table(_));
        if !known(a) || !known(b) {
            return None;
        }
        let c = match boolean {
            None => LaneFact::Bottom,
            Some(_) => self.operand(at, &i.operand("c")?.value),
        };
        if let Some((from, fact)) = &self.lanes.known[v as usize]
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
        let p = PredicateFact {
            yes: self.lanes.set(yes),
            no: self.lanes.set(no),
            uniformity: if whole { Uniformity::Warp } else { Uniformity::None },
            ..UNKNOWN
        };
        let fact = match boolean {
            None => LaneFact::Pred(p),
            Some(q::xor) => return None,
            Some(op) => {
                let q = self.lanes.pred(c);
                self.combine(p, q, op == q::and, Uniformity::None)
            }
        };
        self.lanes.known[v as usize] = Some(([a, b, c], fact));
        Some(fact)
    }

    /// The threads for which a comparison holds.
    fn threads_where(&self, a: LaneFact, b: LaneFact, op: Compare, signed: bool) -> Set {
        let (x, y) = (self.numbers(a), self.numbers(b));
        // Compares equal neighbours only once.
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

    fn numbers(&self, f: LaneFact) -> Numbers<'_> {
        match f {
            LaneFact::Const(n) => Numbers::One(n as u32),
            LaneFact::Table(k) if (k as usize) < self.lanes.tables.len() => {
                Numbers::Each(&self.lanes.tables[k as usize])
            }
            _ => Numbers::One(0),
        }
    }

    fn arithmetic(&mut self, at: u32, i: &Instr, v: Val) -> Option<LaneFact> {
        let ty = *i.types.last()?;
        let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
        if !integer || ty.bits() != 32 || i.types.len() != 1 {
            return None;
        }
        if i.has_any(&[q::wide, q::hi, q::cc, q::sat, q::relu]) {
            return None;
        }
        let a = self.operand(at, &i.operand("a")?.value);
        let b = self.operand(at, &i.operand("b")?.value);
        let c = match i.operand("c") {
            Some(c) => self.operand(at, &c.value),
            None => LaneFact::Const(0),
        };
        let known = |f: LaneFact| matches!(f, LaneFact::Const(_) | LaneFact::Table(_));
        if !known(a) || !known(b) || !known(c) {
            return None;
        }
        let signed = ty.class() == Class::Signed;
        // The function is selected outside of the loop.
        let of = operation(i.opcode, signed)?;
        if let (LaneFact::Const(x), LaneFact::Const(y), LaneFact::Const(z)) = (a, b, c) {
            return Some(LaneFact::Const(u64::from(of(x as u32, y as u32, z as u32)?)));
        }
        if let Some((from, fact)) = &self.lanes.known[v as usize]
            && *from == [a, b, c]
        {
            return Some(*fact);
        }
        let (x, y, z) = (self.numbers(a), self.numbers(b), self.numbers(c));
        let out = (0..THREADS).map(|t| of(x.at(t), y.at(t), z.at(t))).collect::<Option<_>>()?;
        let fact = self.lanes.table(out);
        self.lanes.known[v as usize] = Some(([a, b, c], fact));
        Some(fact)
    }
}

/// `.CmpOp`
pub fn comparison(i: &Instr) -> Option<Compare> {
    i.quals.iter().find_map(|q| Compare::of(*q))
}

/// `.BoolOp`
pub fn boolean(i: &Instr) -> Option<Qualifier> {
    i.first_of(&[q::and, q::or, q::xor])
}

/// Is it a `mov` or `cvt` that keeps the value?
pub fn keeps(i: &Instr) -> bool {
    let mut all = i.operands.len() == 2;
    for t in &i.types {
        all &= plain(*t);
    }
    all
}

/// Types whose `mov` or `cvt` keeps a 32-bit value.
fn plain(ty: Ty) -> bool {
    ty.bits() == 32 && matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || ty == Ty::Pred
}

/// Does the result follow from the operands alone?
fn pure(i: &Instr) -> bool {
    i.entry.host == ptx_dsl_isa::isa::Host::Lane || matches!(i.opcode, op::cvta | op::mapa | op::selp | op::isspacep)
}
