//! Unreachable code and constant guards, as any compiler reports them.

use crate::errors::flow as errors;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::guards::{CONSTANT, constant_guard, other_target};
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::opcode::op;

pub(crate) fn check(flow: &Flow, lanes: &Lanes) -> Vec<Diagnostic> {
    let mut out = unreachable(flow);
    out.extend(constant_guards(flow, lanes));
    out
}

/// The first instruction of each unreachable region. A `ret` after an endless loop is not a mistake.
fn unreachable(flow: &Flow) -> Vec<Diagnostic> {
    let mut out = Vec::new();
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
            let i = flow.instr(i);
            if before && !only_jumps(i) && i.opcode != op::brkpt {
                before = false;
                out.push(errors::unreachable(i.span));
            }
        }
    }
    out
}

/// Guards that never hold, and branches that leave code without predecessors.
fn constant_guards(flow: &Flow, lanes: &Lanes) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut reported = Vec::new();
    for (block, at, i) in flow.walk() {
        let Some((runs, why)) = constant_guard(flow, lanes, block, at) else { continue };
        if why == CONSTANT || !only_jumps(i) {
            // Generated code has guards that are always true.
            if !runs {
                out.push(errors::never_runs(i.span, i.entry.opcode, why));
            }
        } else if flow.cfg.branch(block) == Some(at)
            // A constant branch matters if it makes code unreachable.
            && let Some((_, positive)) = flow.guard(at)
            && let Some(dead) = other_target(flow, block, runs == positive)
            && flow.cfg.blocks[dead as usize].pred.len() == 1
            && let Some(first) = flow.cfg.range(dead).next()
            && !only_jumps(flow.instr(first))
            && !reported.contains(&dead)
        {
            reported.push(dead);
            let first = flow.instr(first);
            let why = "the branch before it always goes elsewhere";
            out.push(errors::never_runs(first.span, first.entry.opcode, why));
        }
    }
    out
}

fn only_jumps(i: &Instr) -> bool {
    matches!(i.entry.effects.control, Control::Branch | Control::Return | Control::Exit | Control::Trap)
}
