//! `wgmma` (PTX ISA 9.7.15.7): registers between fence, commit and wait.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::pending::{Groups, ends_thread};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::region::MAX_REGIONS;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Group, Mbarrier, Role, Step};
use ptx_dsl_isa::opcode::op;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.cfg.any(&is_mma) && !flow.calls {
        wgmma(kernel);
    }
}

fn is_mma(i: &Instr) -> bool {
    i.entry.effects.group == Group::Wgmma(Step::Start)
}

/// The registers that an MMA holds: accumulators, and a fragment of A.
fn held(flow: &Flow, i: &Instr) -> Vec<u32> {
    let mut out = Vec::new();
    for a in &i.operands {
        if a.role == Role::Dst || a.name == "a" {
            a.value.registers(&mut |r, lane| out.push(flow.ssa.var(r, lane)));
        }
    }
    out
}

/// Is it a register copy? Compilers insert these at joins, also between an MMA and its wait.
fn renames(i: &Instr) -> bool {
    moves(i) && i.operands.iter().all(|a| matches!(a.value, Operand::Reg(..)))
}

/// Is it a `mov`, also one that packs or unpacks? ptxas waits for the MMA before its instructions.
fn moves(i: &Instr) -> bool {
    i.opcode == op::mov
}

fn wgmma(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut groups = Groups { copies: Vec::new() };
    let mut vars: Vec<Vec<u32>> = Vec::new();
    for (_, at, i) in flow.walk() {
        if is_mma(i) && groups.copies.len() < MAX_REGIONS {
            groups.copies.push(at);
            vars.push(held(flow, i));
        }
    }
    let Some(first) = groups.copies.first() else { return };
    if !flow.cfg.any(&|i| i.opcode == op::wgmma_commit_group) && flow.function.entry {
        kernel.report(errors::never_committed(flow.instr(*first).span));
        return;
    }
    used(kernel, &groups, &vars);
}

fn used(kernel: &Kernel, groups: &Groups, vars: &[Vec<u32>]) {
    let flow = kernel.flow;
    // The bit after the groups: a fence was executed. Compilers move register writes across fences and ptxas repairs that, so
    // only an MMA without any earlier fence counts.
    let tail = groups.bits();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        match i.opcode {
            op::wgmma_commit_group => groups.commit(set),
            op::wgmma_wait_group => groups.wait(set, i.constant("N").unwrap_or(0) as usize, false),
            op::wgmma_fence => set.set(tail),
            _ => {}
        }
        if let Some(k) = groups.copy(at) {
            groups.start(set, k);
        }
    };
    let mut reported = Bits::none(vars.len());
    let (mut any, mut fenceless) = (false, false);
    let stages: Vec<Vec<Val>> = groups.copies.iter().map(|at| stages_of(flow, *at)).collect();
    let (mut released, mut uncommitted) = (false, false);
    for_each_instr(&flow.cfg, groups.bits() + 1, &step, &mut |b, at, i, set| {
        if is_mma(i) {
            if !fenceless && (!set.has(tail) || fences_follow(flow, b, at)) {
                fenceless = true;
                kernel.report(errors::no_wgmma_fence(i.span));
            }
        } else if !renames(i) {
            // one finding for a statement: it may both read and write registers of several MMAs
            let (mut read, mut written) = (None, None);
            for (k, vars) in vars.iter().enumerate() {
                if reported.has(k) || groups.open(set, k).is_none() {
                    continue;
                }
                let mma = flow.instr(groups.copies[k]).span;
                if let Some(var) = reads_result(flow, at, groups.copies[k]) {
                    read = read.or(Some((var, mma)));
                } else if let Some(var) = writes_one(flow, at, vars) {
                    written = written.or(Some((var, mma)));
                } else {
                    continue;
                }
                reported.set(k);
                any = true;
            }
            match (read, written) {
                (Some((var, mma)), _) => kernel.report(errors::wgmma_result_early(
                    flow.operand_span(i, var),
                    flow.register_name(var),
                    mma,
                    moves(i),
                )),
                (None, Some((var, mma))) => {
                    kernel.report(errors::wgmma_overwritten(i.span, flow.register_name(var), mma));
                }
                (None, None) => {}
            }
        }
        let mut open = (0..vars.len()).filter_map(|k| Some((k, groups.open(set, k)?)));
        if i.opcode == op::wgmma_wait_group && i.constant("N") == Some(0) && !uncommitted {
            if let Some((k, _)) = open.find(|(_, never)| *never) {
                uncommitted = true;
                kernel.report(errors::wait_for_uncommitted(i.span, flow.instr(groups.copies[k]).span));
            }
        } else if i.entry.effects.mbarrier == Mbarrier::Arrive && !released {
            let reads = |k: usize| frees_stage(flow, &stages[k], groups.copies[k], b, at);
            if let Some((k, _)) = open.find(|(k, _)| reads(*k)) {
                released = true;
                kernel.report(errors::stage_freed(i.span, i.entry.opcode, flow.instr(groups.copies[k]).span));
            }
        }
        if ends_thread(i)
            && i.pred.is_none()
            && flow.function.entry
            && !any
            && let Some((k, never)) = groups.first_open(set)
        {
            reported.set(k);
            any = true;
            kernel.report(errors::leaves_with_wgmma(i.span, flow.instr(groups.copies[k]).span, never));
        }
    });
}

/// The variable by which an instruction reads what an MMA makes.
fn reads_result(flow: &Flow, at: u32, mma: u32) -> Option<u32> {
    for (var, v) in flow.ssa.uses(at) {
        let origin = flow.origin(*v);
        for (_, made) in flow.ssa.defs(mma) {
            if *made == origin {
                return Some(*var);
            }
        }
    }
    None
}

/// The first of these variables that an instruction writes.
fn writes_one(flow: &Flow, at: u32, vars: &[u32]) -> Option<u32> {
    for (var, _) in flow.ssa.defs(at) {
        if vars.contains(var) {
            return Some(*var);
        }
    }
    None
}

/// Do all fences of the kernel come only after this MMA? Then it runs once without one.
fn fences_follow(flow: &Flow, block: u32, at: u32) -> bool {
    flow.walk()
        .filter(|(_, _, i)| i.opcode == op::wgmma_fence)
        .all(|(of, fence, _)| if of == block { fence > at } else { flow.cfg.dominates(block, of) })
}

/// The numbers of stages from which an instruction computes its addresses: registers that it multiplies by a constant.
fn stages_of(flow: &Flow, at: u32) -> Vec<Val> {
    let mut stages = Vec::new();
    let mut stack: Vec<Val> = Vec::new();
    for arg in flow.instr(at).operands.iter().filter(|a| a.role != Role::Dst && a.name != "a") {
        arg.value.registers(&mut |r, lane| stack.push(flow.ssa.read(at, r, lane)));
    }
    let mut seen: Vec<Val> = Vec::new();
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        let Some(maker) = flow.ssa.maker(v).filter(|_| !seen.contains(&v) && seen.len() < 64) else { continue };
        seen.push(v);
        let i = flow.instr(maker);
        if matches!(i.opcode, op::mad | op::mul | op::shl)
            && i.constant("b").is_some()
            && let Some(stage) = flow.source(maker, "a")
        {
            stages.push(renamed(flow, stage));
            stack.extend(flow.source(maker, "c"));
        } else if i.address().is_none() {
            flow.ssa.push_uses(maker, &mut stack);
        }
    }
    stages
}

/// The value of which this one is a copy.
fn renamed(flow: &Flow, v: Val) -> Val {
    let mut v = flow.origin(v);
    for _ in 0..8 {
        let Some(maker) = flow.ssa.maker(v).filter(|m| renames(flow.instr(*m))) else { break };
        let Some(from) = flow.source(maker, "a") else { break };
        v = flow.origin(from);
    }
    v
}

/// Does an arrival free the stage that an MMA reads: is its object computed from the same number, which changes in a loop?
fn frees_stage(flow: &Flow, stages: &[Val], mma: u32, block: u32, at: u32) -> bool {
    let of = flow.cfg.block_of(mma);
    let same_round = if of == block { mma < at } else { flow.cfg.dominates(of, block) };
    same_round
        && stages_of(flow, at).iter().any(|v| {
            let counter = match &flow.ssa.values[*v as usize] {
                Value::Phi { block, .. } => Some(*block),
                _ => None,
            };
            counter.is_some_and(|header| flow.cfg.in_loop(header) && flow.cfg.dominates(header, of))
                && stages.contains(v)
        })
}
