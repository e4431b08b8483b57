//! Undefined registers, unreachable code and constant guards, as any compiler reports them.

use crate::errors::flow as errors;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::guards::{CONSTANT, constant_guard, other_target};
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::paths::{Paths, Step};
use ptx_dsl_analysis::ssa::UNDEF;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Control, Mbarrier};
use ptx_dsl_isa::opcode::op;

pub(crate) fn check(flow: &Flow, lanes: &Lanes) -> Vec<Diagnostic> {
    let mut out = unwritten(flow, lanes);
    out.extend(unreachable(flow));
    out.extend(constant_guards(flow, lanes));
    out
}

/// Registers that are read but written on no path, or not on some feasible path. ptxas accepts them with any value.
fn unwritten(flow: &Flow, lanes: &Lanes) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut reported: Vec<u32> = Vec::new();
    for (_, at, i) in flow.walk() {
        if may_read_undefined(flow, at, i) {
            continue;
        }
        for (var, v) in flow.ssa.uses(at) {
            if flow.origin(*v) == UNDEF && !reported.contains(var) && reported.len() < 20 {
                reported.push(*var);
                out.push(errors::unwritten(flow.operand_span(i, *var), flow.register_name(*var), true));
            }
        }
    }
    // For "some path": search a feasible one.
    let candidates = maybe_undefined_uses(flow, &reported);
    if candidates.is_empty() {
        return out;
    }
    let mut paths = Paths::new(flow, lanes);
    for (var, use_at) in candidates {
        if reported.contains(&var) {
            continue;
        }
        let hit = paths.from_entry(&mut |at, _| {
            if at == use_at {
                return Step::Found;
            }
            for (written, _) in flow.ssa.defs(at) {
                if *written == var {
                    return Step::Stop;
                }
            }
            Step::Go
        });
        if hit.is_some() {
            reported.push(var);
            let i = flow.instr(use_at);
            out.push(errors::unwritten(flow.operand_span(i, var), flow.register_name(var), false));
        }
    }
    out
}

/// May the instruction read undefined registers?
fn may_read_undefined(flow: &Flow, at: u32, i: &Instr) -> bool {
    let (mut constants, mut vectors) = (false, false);
    for a in &i.operands {
        constants |= matches!(a.value, Operand::Imm(_) | Operand::Rust(_));
        vectors |= matches!(a.value, Operand::Vector(_));
    }
    let uses = flow.ssa.uses(at);
    match i.opcode {
        // `xor d, a, a` writes zero.
        op::xor | op::sub => uses.len() == 1 && i.pred.is_none() && !constants,
        // Compilers pack used and unused values together.
        op::mov if vectors => {
            for (_, v) in uses {
                if flow.origin(*v) != UNDEF {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// Uses of variables that some path leaves undefined: variable and instruction.
fn maybe_undefined_uses(flow: &Flow, reported: &[u32]) -> Vec<(u32, u32)> {
    let maybe_undefined_uses = flow.ssa.maybe_undefined();
    let mut candidates: Vec<(u32, u32)> = Vec::new();
    if maybe_undefined_uses.len() < 2 || !maybe_undefined_uses[1..].contains(&true) {
        return candidates;
    }
    for (_, at, i) in flow.walk() {
        // Compilers select, move and pack unused values. Only the arriving thread holds the mbarrier state, though the manual's
        // examples wait with it in all threads. A shuffle may read the value of the lane that has written it.
        let op = i.opcode;
        if matches!(op, op::mov | op::selp | op::call | op::bfi | op::prmt | op::shf | op::shfl | op::shfl_sync)
            || i.entry.effects.mbarrier != Mbarrier::None
        {
            continue;
        }
        for (var, v) in flow.ssa.uses(at) {
            if flow.origin(*v) == UNDEF
                || maybe_undefined_uses.get(*v as usize) != Some(&true)
                || reported.contains(var)
            {
                continue;
            }
            let mut tries = 0;
            for (other, _) in &candidates {
                tries += u32::from(other == var);
            }
            if tries < 3 && candidates.len() < 48 {
                candidates.push((*var, at));
            }
        }
    }
    candidates
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
