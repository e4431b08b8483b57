//! Which values differ from CTA to CTA and are the same in each of them: what tells the CTAs of a grid or cluster apart.

use super::Flow;
use super::cfg::NONE;
use super::memory::constant;
use super::ssa::{Val, Value};
use ptx_dsl_table::hir::Operand;

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
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
pub(super) struct Ctas {
    of: Vec<Of>,
}

/// What must hold for a place to be reached: predicates with their values, numbers with whether they are zero.
pub(super) type Conditions = Vec<(Val, bool)>;

impl Ctas {
    pub(super) fn new(flow: &Flow) -> Ctas {
        let mut eval = |_: Val, value: &Value, facts: &[Of]| match value {
            Value::Undef => Of::Grid,
            Value::Param => Of::Thread,
            Value::Phi { args, .. } => {
                let all = args.iter().map(|a| facts[*a as usize]).max().unwrap_or(Of::Grid);
                // Which way was taken into a join is not followed.
                if args.len() > 1 { Of::Thread.max(all) } else { all }
            }
            Value::Def { instr, old, .. } => {
                let i = flow.cfg.instrs[*instr as usize];
                let pure = i.entry.host == ptx_dsl_table::isa::Host::Lane
                    || matches!(i.entry.opcode, "mov" | "selp" | "cvta" | "mapa");
                let fixed =
                    i.entry.opcode == "ld" && (i.has(".param") || i.has(".param::entry")) && flow.function.entry;
                if !pure && !fixed || old.is_some() {
                    return Of::Thread;
                }
                let mut out = Of::Grid;
                for (_, u) in flow.ssa.uses(*instr) {
                    out = out.max(facts[*u as usize]);
                }
                for a in &i.operands {
                    if let Operand::Sreg(name) = a.value {
                        out = out.max(match name {
                            "%cluster_ctarank" => Of::Rank,
                            n if n.starts_with("%cluster_ctaid") => Of::Rank,
                            n if n.starts_with("%ctaid") || n.starts_with("%clusterid") => Of::Cta,
                            n if n.starts_with("%ntid")
                                || n.starts_with("%nctaid")
                                || n.starts_with("%cluster_ncta") =>
                            {
                                Of::Grid
                            }
                            n if n.starts_with("%nclusterid") || n == "WARP_SZ" => Of::Grid,
                            _ => Of::Thread,
                        });
                    }
                }
                out
            }
        };
        let of = flow.ssa.solve(Of::Grid, &mut eval);
        Ctas { of: of.unwrap_or_else(|| vec![Of::Thread; flow.ssa.values.len()]) }
    }

    /// Does the value tell CTAs apart, and nothing else?
    pub(super) fn tells_apart(&self, v: Val) -> Option<Of> {
        self.of.get(v as usize).copied().filter(|o| matches!(o, Of::Rank | Of::Cta))
    }

    /// The predicates that tell CTAs apart and hold wherever the instruction runs.
    pub(super) fn conditions(&self, flow: &Flow, block: u32, at: u32) -> Conditions {
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
        let i = flow.cfg.instrs[m as usize];
        let mut part = |name: &str, holds: bool| {
            if let Some(Operand::Reg(r, lane)) = i.operand(name).map(|a| &a.value) {
                stack.push((flow.ssa.origin[flow.ssa.read(m, *r, *lane) as usize], holds));
            }
        };
        let predicates = i.has(".pred");
        match i.entry.opcode {
            "and" if predicates && holds => ["a", "b"].into_iter().for_each(|n| part(n, true)),
            "or" if predicates && !holds => ["a", "b"].into_iter().for_each(|n| part(n, false)),
            "or" if !predicates && holds => ["a", "b"].into_iter().for_each(|n| part(n, true)),
            "not" if predicates => part("a", !holds),
            "mov" => part("a", holds),
            "setp" if i.operands.len() == 3 && constant(i, "b") == Some(0) => match (i.has(".eq"), i.has(".ne")) {
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
fn conditions(flow: &Flow, block: u32, at: u32) -> Conditions {
    let mut out = Vec::new();
    let origin = |p: Val| flow.ssa.origin[p as usize];
    if let Some((p, positive)) = flow.ssa.guard(at, flow.cfg.instrs[at as usize]) {
        out.push((origin(p), positive));
    }
    let mut here = block;
    // Deeper nests are cut off: less is said then.
    for _ in 0..200 {
        let up = flow.cfg.idom.get(here as usize).copied().unwrap_or(NONE);
        if up == NONE || up == here {
            break;
        }
        // A loop comes back to where it began; what held there holds still.
        let mut into = flow.cfg.blocks[here as usize].pred.iter().filter(|p| !under(flow, here, p.0));
        if let (Some((only, edge)), None, Some(branch)) = (into.next(), into.next(), flow.cfg.branch(up))
            && *only == up
            && let Some(when) = flow.cfg.blocks[up as usize].succ[*edge as usize].when
            && let Some((p, _)) = flow.ssa.guard(branch, flow.cfg.instrs[branch as usize])
        {
            out.push((origin(p), when));
        }
        here = up;
    }
    out
}

/// Does every way to `b` lead over `a`?
pub(super) fn under(flow: &Flow, a: u32, b: u32) -> bool {
    let mut at = b;
    for _ in 0..200 {
        if at == a {
            return true;
        }
        let up = flow.cfg.idom.get(at as usize).copied().unwrap_or(NONE);
        if up == NONE || up == at {
            return false;
        }
        at = up;
    }
    false
}

/// Do the two never run in one CTA, each in some?
pub(super) fn apart(a: &Conditions, b: &Conditions) -> bool {
    a.iter().any(|(p, v)| b.iter().any(|(q, w)| p == q && v != w))
}
