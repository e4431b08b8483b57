//! Variation between CTAs: which values are uniform in a CTA but differ between CTAs, and the conditions on them that control an
//! instruction. A sparse forward analysis on a lattice of four levels.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::isa::sreg::Varies;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The coordinates that a value varies with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// Uniform in the grid.
    Grid,
    /// Varies with the rank of the CTA in its cluster, uniform in the CTA.
    Rank,
    /// Varies with the CTA, uniform in it.
    Cta,
    /// Varies with the thread or with memory.
    Thread,
}

/// By value.
pub struct Ctas {
    of: Vec<Dependence>,
}

/// Conditions for an instruction to be reached: predicates with their values, numbers with whether they are zero.
pub type Conditions = Vec<(Val, bool)>;

impl Ctas {
    /// Solves for all values of the function.
    pub fn new(flow: &Flow) -> Ctas {
        let mut eval = |_: Val, value: &Value, facts: &[Dependence]| match value {
            Value::Undef => Dependence::Grid,
            Value::Param => Dependence::Thread,
            // A phi also depends on the branches above it, which are not followed.
            Value::Phi { args, .. } => match args.as_slice() {
                [] => Dependence::Grid,
                [one] => facts[*one as usize],
                _ => Dependence::Thread,
            },
            Value::Def { instr, old, .. } => {
                let i = flow.instr(*instr);
                let pure = i.entry.host == ptx_dsl_isa::isa::Host::Lane
                    || matches!(i.opcode, op::mov | op::selp | op::cvta | op::mapa);
                let fixed = i.opcode == op::ld && (i.has(q::param) || i.has(q::param_entry)) && flow.function.entry;
                if !pure && !fixed || old.is_some() {
                    return Dependence::Thread;
                }
                let mut out = Dependence::Grid;
                for (_, u) in flow.ssa.uses(*instr) {
                    out = out.max(facts[*u as usize]);
                }
                for a in &i.operands {
                    if let Operand::Sreg(register) = a.value {
                        out = out.max(match register.row().varies {
                            Varies::Never => Dependence::Grid,
                            Varies::WithRank => Dependence::Rank,
                            Varies::WithCluster | Varies::WithCta => Dependence::Cta,
                            Varies::WithWarp | Varies::WithThread | Varies::InTime => Dependence::Thread,
                        });
                    }
                }
                out
            }
        };
        let of = flow.ssa.solve(Dependence::Grid, &mut eval);
        Ctas { of: of.unwrap_or_default() }
    }

    /// The dependence of a value that varies between CTAs and is uniform in each of them.
    pub fn variation(&self, v: Val) -> Option<Dependence> {
        match self.of.get(v as usize) {
            Some(of @ (Dependence::Rank | Dependence::Cta)) => Some(*of),
            _ => None,
        }
    }

    /// The conditions on values that vary between CTAs and hold wherever the instruction executes.
    pub fn conditions(&self, flow: &Flow, block: u32, at: u32) -> Conditions {
        let mut all = split_conjunctions(flow, conditions(flow, block, at));
        all.retain(|c| self.variation(c.0).is_some());
        all
    }
}

/// Splits conjunctions, and replaces comparisons with zero by conditions on the number. An `or` of numbers is zero if both are.
fn split_conjunctions(flow: &Flow, mut stack: Conditions) -> Conditions {
    let mut out = Conditions::new();
    let mut budget = 200;
    while let Some((v, holds)) = stack.pop() {
        budget -= 1;
        if budget == 0 {
            break;
        }
        out.push((v, holds));
        let Some(m) = flow.ssa.maker(v) else { continue };
        let i = flow.instr(m);
        let mut part = |name: &str, holds: bool| {
            if let Some(v) = flow.source(m, name) {
                stack.push((flow.origin(v), holds));
            }
        };
        let predicates = i.has(q::pred);
        match i.opcode {
            op::and if predicates && holds => {
                part("a", true);
                part("b", true);
            }
            op::or if predicates != holds => {
                part("a", holds);
                part("b", holds);
            }
            op::not if predicates => part("a", !holds),
            op::mov => part("a", holds),
            op::setp if i.operands.len() == 3 && i.constant("b") == Some(0) => match (i.has(q::eq), i.has(q::ne)) {
                (true, _) => part("a", holds),
                (_, true) => part("a", !holds),
                _ => {}
            },
            _ => {}
        }
    }
    out
}

/// The conditions that the dominating branches and the guard impose on an instruction.
pub fn conditions(flow: &Flow, block: u32, at: u32) -> Conditions {
    let mut out = Vec::new();
    if let Some((p, positive)) = flow.guard(at) {
        out.push((flow.origin(p), positive));
    }
    let mut here = block;
    // A limit: conditions further up are left out.
    for _ in 0..200 {
        let up = flow.cfg.idom[here as usize];
        if up == NONE || up == here {
            break;
        }
        if let Some((only, edge)) = way_into(flow, here)
            && only == up
            && let Some(branch) = flow.cfg.branch(up)
            && let Some(when) = flow.cfg.blocks[up as usize].succ[edge as usize].when
            && let Some((p, _)) = flow.guard(branch)
        {
            out.push((flow.origin(p), when));
        }
        here = up;
    }
    out
}

/// The only entry edge of a block, back edges aside.
fn way_into(flow: &Flow, b: u32) -> Option<(u32, u32)> {
    let mut only = None;
    for p in &flow.cfg.blocks[b as usize].pred {
        if flow.cfg.dominates(b, p.0) {
            continue;
        }
        if only.is_some() {
            return None;
        }
        only = Some(*p);
    }
    only
}

/// Do the two exclude each other in one CTA?
pub fn exclusive(a: &Conditions, b: &Conditions) -> bool {
    a.iter().any(|(p, v)| b.contains(&(*p, !v)))
}
