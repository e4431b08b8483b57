//! Constant propagation for one CTA of the first cluster: values that follow from its rank, and the blocks that it can reach.

use crate::compare::holds;
use crate::flow::Flow;
use crate::lanes::{boolean, comparison, keeps, operation};
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::Class;

/// A fact about a value in the CTA.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RankFact {
    /// Bottom: no value yet.
    Bottom,
    /// The value is this number.
    Is(u64),
    /// Anything.
    Unknown,
}

/// A CTA by its rank.
pub struct Rank {
    facts: Vec<RankFact>,
}

impl Rank {
    /// Evaluates the function for the CTA of this rank.
    pub fn new(flow: &Flow, rank: u32) -> Rank {
        let mut eval = |_: Val, value: &Value, facts: &[RankFact]| match value {
            Value::Undef | Value::Param => RankFact::Unknown,
            Value::Phi { args, .. } => {
                let mut all = RankFact::Bottom;
                for a in args {
                    all = join(all, facts[*a as usize]);
                }
                all
            }
            Value::Def { instr, old, .. } => {
                let new = result(flow, rank, *instr, facts);
                let Some(old) = old else { return new };
                let old = facts[*old as usize];
                match flow.guard(*instr) {
                    Some((p, positive)) => match facts[p as usize] {
                        RankFact::Bottom => RankFact::Bottom,
                        RankFact::Is(n) if (n != 0) == positive => new,
                        RankFact::Is(_) => old,
                        RankFact::Unknown => join(new, old),
                    },
                    // A part of a register.
                    None => RankFact::Unknown,
                }
            }
        };
        let facts = flow.ssa.solve(RankFact::Bottom, &mut eval);
        Rank { facts: facts.unwrap_or_default() }
    }

    fn predicate(&self, p: Val) -> Option<bool> {
        match self.facts.get(p as usize) {
            Some(RankFact::Is(n)) => Some(*n != 0),
            _ => None,
        }
    }

    /// May the instruction execute in the CTA, as far as its guard is known?
    pub fn may_run(&self, flow: &Flow, at: u32) -> bool {
        match flow.guard(at) {
            Some((p, positive)) => self.predicate(p) != Some(!positive),
            None => true,
        }
    }

    /// By block: may the CTA reach it?
    pub fn reached(&self, flow: &Flow) -> Vec<bool> {
        let mut reached = vec![false; flow.cfg.blocks.len()];
        let mut stack = Vec::new();
        stack.extend(flow.cfg.rpo.first());
        while let Some(b) = stack.pop() {
            if std::mem::replace(&mut reached[b as usize], true) {
                continue;
            }
            let goes = match flow.cfg.branch(b).and_then(|at| flow.guard(at)) {
                Some((p, _)) => self.predicate(p),
                None => None,
            };
            for e in &flow.cfg.blocks[b as usize].succ {
                if goes.is_none() || e.when.is_none() || e.when == goes {
                    stack.push(e.to);
                }
            }
        }
        reached
    }
}

fn join(a: RankFact, b: RankFact) -> RankFact {
    match (a, b) {
        (RankFact::Bottom, x) | (x, RankFact::Bottom) => x,
        (a, b) if a == b => a,
        _ => RankFact::Unknown,
    }
}

/// A special register in the CTA. In the first cluster `%ctaid` is `%cluster_ctaid`.
fn special(flow: &Flow, rank: u32, register: SpecialRegister) -> RankFact {
    let dims = flow.function.reqnctapercluster;
    if register == special::cluster_ctarank {
        return RankFact::Is(u64::from(rank));
    }
    let Some([x, y, z]) = dims else { return RankFact::Unknown };
    let (x, y, z) = (x.max(1), y.max(1), z.max(1));
    RankFact::Is(u64::from(match register {
        special::cluster_ctaid_x | special::ctaid_x => rank % x,
        special::cluster_ctaid_y | special::ctaid_y => rank / x % y,
        special::cluster_ctaid_z | special::ctaid_z => rank / x / y,
        special::clusterid_x | special::clusterid_y | special::clusterid_z => 0,
        special::cluster_nctaid_x => x,
        special::cluster_nctaid_y => y,
        special::cluster_nctaid_z => z,
        special::cluster_nctarank => x.saturating_mul(y).saturating_mul(z),
        _ => return RankFact::Unknown,
    }))
}

/// The fact about the result of an instruction.
fn result(flow: &Flow, rank: u32, at: u32, facts: &[RankFact]) -> RankFact {
    let i = flow.instr(at);
    let of = |name: &str| match i.value(name) {
        Some(Operand::Imm(n)) => RankFact::Is(*n),
        Some(Operand::Reg(r, lane)) => facts[flow.ssa.read(at, *r, *lane) as usize],
        Some(Operand::NotReg(r)) => not(facts[flow.ssa.read(at, *r, 0) as usize]),
        Some(Operand::Sreg(register)) => special(flow, rank, *register),
        _ => RankFact::Unknown,
    };
    match i.opcode {
        op::mov | op::cvt if keeps(i) => of("a"),
        op::not if i.has(q::pred) => not(of("a")),
        op::and if i.has(q::pred) => both(of("a"), of("b"), 0),
        op::or if i.has(q::pred) => both(of("a"), of("b"), 1),
        op::setp => compare(i, &of),
        op::selp => match of("c") {
            RankFact::Is(0) => of("b"),
            RankFact::Is(_) => of("a"),
            other => other,
        },
        op => arithmetic(op, i, &of),
    }
}

fn not(f: RankFact) -> RankFact {
    match f {
        RankFact::Is(n) => RankFact::Is(u64::from(n == 0)),
        f => f,
    }
}

/// Conjunction or disjunction: one operand may decide it.
fn both(a: RankFact, b: RankFact, decides: u64) -> RankFact {
    match (a, b) {
        (RankFact::Is(n), _) | (_, RankFact::Is(n)) if n == decides => RankFact::Is(decides),
        (RankFact::Bottom, _) | (_, RankFact::Bottom) => RankFact::Bottom,
        (RankFact::Is(_), RankFact::Is(_)) => RankFact::Is(1 - decides),
        _ => RankFact::Unknown,
    }
}

/// `setp` of integers, with one destination.
fn compare(i: &Instr, of: &dyn Fn(&str) -> RankFact) -> RankFact {
    let single = matches!(i.operands.first(), Some(arg) if matches!(arg.value, Operand::Reg(..)));
    let (Some(ty), Some(op), true) = (i.types.last(), comparison(i), single) else { return RankFact::Unknown };
    if !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || ty.bits() > 64 {
        return RankFact::Unknown;
    }
    let compared = match (of("a"), of("b")) {
        (RankFact::Is(a), RankFact::Is(b)) => {
            RankFact::Is(u64::from(holds(op, ty.class() == Class::Signed, ty.bits(), a, b)))
        }
        (RankFact::Bottom, _) | (_, RankFact::Bottom) => RankFact::Bottom,
        _ => RankFact::Unknown,
    };
    match boolean(i) {
        None => compared,
        Some(q::and) => both(compared, of("c"), 0),
        Some(q::or) => both(compared, of("c"), 1),
        Some(_) => RankFact::Unknown,
    }
}

/// Integers of 32 bits.
fn arithmetic(op: Opcode, i: &Instr, of: &dyn Fn(&str) -> RankFact) -> RankFact {
    let [ty] = i.types.as_slice() else { return RankFact::Unknown };
    let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) && ty.bits() == 32;
    if !integer || i.has_any(&[q::wide, q::hi, q::cc, q::sat, q::relu]) {
        return RankFact::Unknown;
    }
    let Some(apply) = operation(op, ty.class() == Class::Signed) else { return RankFact::Unknown };
    let c = if i.operand("c").is_some() { of("c") } else { RankFact::Is(0) };
    match (of("a"), of("b"), c) {
        (RankFact::Is(a), RankFact::Is(b), RankFact::Is(c)) => match apply(a as u32, b as u32, c as u32) {
            Some(n) => RankFact::Is(u64::from(n)),
            None => RankFact::Unknown,
        },
        (RankFact::Bottom, _, _) | (_, RankFact::Bottom, _) | (_, _, RankFact::Bottom) => RankFact::Bottom,
        _ => RankFact::Unknown,
    }
}
