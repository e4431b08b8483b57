//! `elect.sync` elects a lane in each warp, not one thread of the CTA (PTX ISA 9.7.13.14).

use super::Flow;
use super::converge::{Places, every_lane};
use super::lanes::{Lanes, Shared};
use super::meeting::only_elected;
use super::memory::region;
use super::provenance::{Origin, Provenance};
use super::ssa::{Val, Value};
use crate::errors::completion as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand};

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact.filter(|n| *n > 32) else { return };
    if !flow.function.entry || flow.calls {
        return;
    }
    let here = std::cell::Cell::new(0);
    let mut said = false;
    flow.walk(
        |b| here.set(b),
        |at, i| {
            if said || !once(i) {
                return;
            }
            let block = here.get();
            let who = places.who(flow, lanes, block, at);
            let elected = who.elected && only_elected(flow, lanes, block, at);
            let every = every_lane(flow, lanes, &who, block, at) && !i.entry.opcode.starts_with("tcgen05");
            if who.warps(lanes.threads).len() < 2 || !(elected || every) || !same(flow, lanes, from, at, i) {
                return;
            }
            said = true;
            let warps = n.div_ceil(32).min(who.warps(lanes.threads).len());
            out.push(errors::once_for_each_warp(i.span, i.entry.opcode, warps, elected));
        },
    );
}

/// Is meant to be done once, if all its operands are the same?
fn once(i: &Instr) -> bool {
    let op = i.entry.opcode;
    let into_shared = i.operand("dstMem").is_some() && !i.has(".bulk_group") && i.operand("mbar").is_some();
    into_shared || op == "clusterlaunchcontrol.try_cancel" || (op.starts_with("tcgen05.mma") && i.has(".cta_group::1"))
}

/// Are the operands the same in all warps of the CTA?
fn same(flow: &Flow, lanes: &Lanes, from: &Provenance, at: u32, i: &Instr) -> bool {
    let place = i.operand("dstMem").or_else(|| i.operand("addr"));
    if let Some(arg) = place {
        let fixed = region(flow, from, at, arg, 1)
            .is_some_and(|r| matches!(r.base, Origin::Var(_)) && r.bytes.is_some() && !r.mapped);
        if !fixed {
            return false;
        }
    }
    let guard = flow.ssa.guard(at, i).map(|g| g.0);
    flow.ssa.uses(at).iter().filter(|u| Some(u.1) != guard).all(|u| alike(flow, lanes, u.1))
}

/// Is a value made of nothing that differs between warps?
fn alike(flow: &Flow, lanes: &Lanes, v: Val) -> bool {
    let mut seen = Vec::new();
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        let v = flow.ssa.origin.get(v as usize).copied().unwrap_or(v);
        if seen.contains(&v) || lanes.shared(v) == Shared::Cta {
            continue;
        }
        if seen.len() >= 64 {
            return false;
        }
        seen.push(v);
        match flow.ssa.values.get(v as usize) {
            Some(Value::Def { instr, old: None, .. }) => {
                let i = flow.cfg.instrs[*instr as usize];
                let special = |a: &ptx_dsl_table::hir::Arg| match a.value {
                    Operand::Sreg(name) => {
                        !["%ctaid", "%nctaid", "%cluster", "%ntid"].iter().any(|p| name.starts_with(p))
                    }
                    _ => false,
                };
                let op = i.entry.opcode;
                if i.operands.iter().any(special)
                    || matches!(
                        op,
                        "shfl.sync" | "vote.sync" | "match.sync" | "atom" | "activemask" | "elect.sync" | "call"
                    )
                {
                    return false;
                }
                stack.extend(flow.ssa.uses(*instr).iter().map(|u| u.1));
            }
            Some(Value::Phi { args, .. }) => stack.extend(args),
            _ => return false,
        }
    }
    true
}
