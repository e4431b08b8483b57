//! What any compiler would say: registers that nobody wrote, code that nothing reaches, guards that are constant.

use super::Flow;
use super::lanes::{Fact, Lanes};
use super::ssa::UNDEF;
use crate::diag::Diagnostic;
use crate::errors::flow as errors;

pub(super) fn check(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    unwritten(flow, out);
    unreachable(flow, out);
    constant_guards(flow, lanes, out);
}

/// Registers that no path writes before they are read. ptxas takes them for anything.
fn unwritten(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut said: Vec<u32> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            // `xor d, a, a` is a way to write zero.
            let zero = matches!(i.entry.opcode, "xor" | "sub") && flow.ssa.uses(at).len() == 1 && i.pred.is_none();
            if zero && !i.operands.iter().any(|a| matches!(a.value, crate::hir::Operand::Imm(_))) {
                return;
            }
            for (var, v) in flow.ssa.uses(at) {
                if flow.ssa.origin[*v as usize] == UNDEF && !said.contains(var) && said.len() < 20 {
                    said.push(*var);
                    out.push(errors::unwritten(flow.place(i, *var), flow.name(*var)));
                }
            }
        },
    );
}

/// The first instruction of each stretch that no path leads to. What only leaves (`ret;` behind a loop) is no mistake.
fn unreachable(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut reached = vec![false; flow.cfg.blocks.len()];
    for b in &flow.cfg.rpo {
        reached[*b as usize] = true;
    }
    let mut before = true;
    for (b, is_reached) in reached.iter().enumerate() {
        if *is_reached {
            before = true;
            continue;
        }
        for i in flow.cfg.range(b as u32) {
            let op = flow.cfg.instrs[i as usize].entry.opcode;
            if before && !matches!(op, "bra" | "ret" | "exit" | "trap" | "brkpt") {
                before = false;
                out.push(errors::unreachable(flow.cfg.instrs[i as usize].span));
            }
        }
    }
}

fn constant_guards(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    flow.walk(
        |_| {},
        |at, i| {
            let Some((p, positive)) = flow.ssa.guard(at, i) else { return };
            let Fact::Const(n) = lanes.facts[p as usize] else { return };
            // A guard that is always true is how generated code spells a choice made for good.
            if (n != 0) != positive && flow.ssa.origin[p as usize] != UNDEF {
                out.push(errors::never_runs(i.span, i.entry.opcode));
            }
        },
    );
}
