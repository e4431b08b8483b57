//! `wgmma` (PTX ISA 9.7.15.7): registers between fence, commit and wait. `tcgen05.ld` (9.7.16.8) before an arrival.

use super::Flow;
use super::dataflow::{Bits, Meet, simple};
use super::memory::{Groups, MOST, constant, debts, leaves, owe, owed, settle};
use super::ssa::registers;
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand};
use ptx_dsl_table::isa::Role;

pub(super) fn check(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let has = |op: &str| flow.cfg.has(op);
    if has("wgmma.mma_async") && !flow.calls {
        wgmma(flow, out);
    }
    if has("tcgen05.ld") && has("mbarrier.arrive") {
        release(flow, out);
    }
}

fn is_mma(i: &Instr) -> bool {
    i.entry.opcode.starts_with("wgmma.mma_async")
}

/// The registers that an MMA holds: accumulators, and a fragment of A.
fn held(flow: &Flow, i: &Instr) -> Vec<u32> {
    let mut out = Vec::new();
    for a in i.operands.iter().filter(|a| a.role == Role::Dst || a.name == "a") {
        registers(&a.value, &mut |r, lane| out.push(flow.ssa.var(r, lane)));
    }
    out
}

/// A register under another name: compilers put such moves where values join, also between an MMA and its wait.
fn renames(i: &Instr) -> bool {
    i.entry.opcode == "mov" && i.operands.iter().all(|a| matches!(a.value, Operand::Reg(..)))
}

fn wgmma(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut copies = Vec::new();
    let mut vars: Vec<Vec<u32>> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if is_mma(i) && copies.len() < MOST {
                copies.push(at);
                vars.push(held(flow, i));
            }
        },
    );
    let groups = Groups { copies };
    let n = groups.copies.len();
    if !flow.cfg.any(&|i| i.entry.opcode == "wgmma.commit_group") && flow.function.entry {
        out.push(errors::never_committed(flow.cfg.instrs[groups.copies[0] as usize].span));
        return;
    }
    // Behind the groups: there was a fence. Compilers move the writing of registers across it, and ptxas mends that; so only an
    // MMA with no fence at all before it counts.
    let tail = groups.bits();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        match i.entry.opcode {
            "wgmma.commit_group" => groups.commit(set),
            "wgmma.wait_group" => groups.wait(set, constant(i, "N").unwrap_or(0) as usize, false),
            "wgmma.fence" => set.set(tail),
            _ => {}
        }
        if let Some(k) = groups.copies.iter().position(|c| *c == at) {
            groups.start(set, k);
        }
    };
    let at_start = simple(&flow.cfg, groups.bits() + 1, Meet::Any, &mut |at, i, s| step(at, i, s));
    let mut said = vec![false; n];
    let mut fenceless = false;
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if is_mma(i) {
                if !set.has(tail) && !fenceless {
                    fenceless = true;
                    out.push(errors::no_wgmma_fence(i.span));
                }
            } else if !renames(i) {
                for k in 0..n {
                    if said[k] || groups.open(&set, k).is_none() {
                        continue;
                    }
                    let reads = flow.ssa.uses(at).iter().find(|(_, v)| {
                        let origin = flow.ssa.origin[*v as usize];
                        flow.ssa.defs(groups.copies[k]).iter().any(|d| d.1 == origin)
                    });
                    let writes = flow.ssa.defs(at).iter().find(|d| vars[k].contains(&d.0));
                    let mma = flow.cfg.instrs[groups.copies[k] as usize].span;
                    if let Some((var, _)) = reads {
                        said[k] = true;
                        out.push(errors::wgmma_registers(flow.place(i, *var), flow.name(*var), mma, false));
                    } else if let Some((var, _)) = writes {
                        said[k] = true;
                        out.push(errors::wgmma_registers(i.span, flow.name(*var), mma, true));
                    }
                }
            }
            if leaves(i)
                && i.pred.is_none()
                && flow.function.entry
                && let Some(k) = (0..n).find(|k| groups.open(&set, *k).is_some())
                && !said.contains(&true)
            {
                said[k] = true;
                let mma = flow.cfg.instrs[groups.copies[k] as usize];
                let never = groups.open(&set, k) == Some(true);
                out.push(errors::leaves_with(i.span, mma.span, "wgmma.mma_async", never));
            }
            step(at, i, &mut set);
        }
    }
}

/// Who arrives tells that he has read Tensor Memory; a load that is under way has not. Which mbarrier is for what is not known.
fn release(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut said = false;
    let mut step = |_: u32, i: &Instr, set: &mut Bits| {
        let op = i.entry.opcode;
        if op.starts_with("tcgen05.ld") {
            owe(set, 0);
        } else if op == "call" || (op == "tcgen05.wait" && i.spelling.starts_with("tcgen05.wait::ld")) {
            settle(set, 0);
        }
    };
    debts(flow, 1, &mut step, &mut |_, _, i, set| {
        if !said && i.entry.opcode == "mbarrier.arrive" && !i.spelling.contains("expect_tx") && owed(set, 0) {
            said = true;
            out.push(errors::arrives_while_loading(i.span));
        }
    });
}
