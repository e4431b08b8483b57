//! Variation between CTAs: which values are uniform in a CTA but differ between CTAs, and the conditions on them that control an
//! instruction. A sparse forward analysis on a lattice of four levels.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::isa::sreg::Varies;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// The same in all threads of the grid.
    Grid,
    /// The rank of the CTA in its cluster, and nothing that differs within a CTA.
    Rank,
    /// The number of the CTA, and nothing that differs within it.
    Cta,
    /// The thread, or memory.
    Thread,
}

/// By value.
pub struct Ctas {
    of: Vec<Dependence>,
}

/// What must hold for a place to be reached: predicates with their values, numbers with whether they are zero.
pub type Conditions = Vec<(Val, bool)>;

impl Ctas {
    /// Solves for all values of the function.
    pub fn new(flow: &Flow) -> Ctas {
        let mut eval = |_: Val, value: &Value, facts: &[Dependence]| match value {
            Value::Undef => Dependence::Grid,
            Value::Param => Dependence::Thread,
            // Which way was taken into a join is not followed.
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

    /// Does the value tell CTAs apart, and nothing else?
    pub fn tells_apart(&self, v: Val) -> Option<Dependence> {
        match self.of.get(v as usize) {
            Some(of @ (Dependence::Rank | Dependence::Cta)) => Some(*of),
            _ => None,
        }
    }

    /// The predicates that tell CTAs apart and hold wherever the instruction runs.
    pub fn conditions(&self, flow: &Flow, block: u32, at: u32) -> Conditions {
        let mut all = taken_apart(flow, conditions(flow, block, at));
        all.retain(|c| self.tells_apart(c.0).is_some());
        all
    }
}

/// Conjunctions in their parts, and comparisons with zero as what they say of the number. `or` of numbers is zero if both are.
fn taken_apart(flow: &Flow, mut stack: Conditions) -> Conditions {
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

/// What the branches that lead to an instruction, and its guard, say for certain.
pub fn conditions(flow: &Flow, block: u32, at: u32) -> Conditions {
    let mut out = Vec::new();
    if let Some((p, positive)) = flow.guard(at) {
        out.push((flow.origin(p), positive));
    }
    let mut here = block;
    // Deeper nests are cut off: less is said then.
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

/// The only way into a block. A loop comes back to where it began; what held there holds still.
fn way_into(flow: &Flow, b: u32) -> Option<(u32, u32)> {
    let mut only = None;
    for p in &flow.cfg.blocks[b as usize].pred {
        if under(flow, b, p.0) {
            continue;
        }
        if only.is_some() {
            return None;
        }
        only = Some(*p);
    }
    only
}

/// Does every way to `b` lead over `a`?
pub fn under(flow: &Flow, a: u32, b: u32) -> bool {
    let mut at = b;
    for _ in 0..200 {
        if at == a {
            return true;
        }
        let up = flow.cfg.idom[at as usize];
        if up == NONE || up == at {
            return false;
        }
        at = up;
    }
    false
}

/// Do the two never run in one CTA, each in some?
pub fn apart(a: &Conditions, b: &Conditions) -> bool {
    for (p, v) in a {
        if b.contains(&(*p, !v)) {
            return true;
        }
    }
    false
}
