//! What `tcgen05` instructions owe: PTX ISA 9.7.16.

use super::Flow;
use super::cfg::NONE;
use super::dataflow::{Bits, Meet, simple};
use super::granularity::is;
use super::ssa::Value;
use crate::errors::flow as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::Instr;
use ptx_dsl_table::list::List;

fn op(i: &Instr, base: &str) -> bool {
    is(i.entry.opcode, base)
}

fn wait_ld(i: &Instr) -> bool {
    op(i, "tcgen05.wait") && i.spelling.contains("wait::ld")
}

pub(super) fn check(flow: &Flow, out: &mut Vec<Diagnostic>) {
    // Most kernels have none of it.
    if !flow.cfg.has("tcgen05.") {
        return;
    }
    loads(flow, out);
    allocation(flow, out);
    permit(flow, out);
    rendezvous(flow, out);
}

/// A `mov` that is not in the text.
fn moved(i: &Instr) -> bool {
    i.index == u32::MAX && i.entry.opcode == "mov" && i.pred.is_none()
}

/// The registers of `tcgen05.ld` are there after `tcgen05.wait::ld` (9.7.16.8.1).
fn loads(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut bit = vec![NONE; flow.cfg.instrs.len()];
    let mut n = 0;
    flow.walk(
        |_| {},
        |at, i| {
            if op(i, "tcgen05.ld") {
                bit[at as usize] = n;
                n += 1;
            }
        },
    );
    if n == 0 {
        return;
    }
    let step = |at: u32, i: &Instr, set: &mut Bits, every: bool| {
        if wait_ld(i) || i.entry.opcode == "call" {
            set.clear();
        } else if bit[at as usize] != NONE {
            set.put(bit[at as usize] as usize, !every || i.pred.is_none());
        }
    };
    let any = simple(&flow.cfg, n as usize, Meet::Any, &mut |at, i, s| step(at, i, s, false));
    let every = simple(&flow.cfg, n as usize, Meet::Every, &mut |at, i, s| step(at, i, s, true));
    let mut said = Bits::none(n as usize);
    for &b in &flow.cfg.rpo {
        let (mut any, mut every) = (any[b as usize].clone(), every[b as usize].clone());
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            // What a call gives back goes through moves that nobody wrote: they read nothing.
            let uses = if moved(i) { &[] } else { flow.ssa.uses(at) };
            for (var, v) in uses {
                let mut from = flow.ssa.origin[*v as usize];
                while let Some(maker) = flow.ssa.maker(from).filter(|m| moved(flow.cfg.instrs[*m as usize]))
                    && let Some((_, source)) = flow.ssa.uses(maker).first()
                {
                    from = flow.ssa.origin[*source as usize];
                }
                let Value::Def { instr, .. } = flow.ssa.values[from as usize] else { continue };
                let k = bit[instr as usize] as usize;
                if bit[instr as usize] == NONE || !any.has(k) || said.has(k) {
                    continue;
                }
                said.set(k);
                let load = flow.cfg.instrs[instr as usize];
                out.push(errors::load_not_awaited(flow.place(i, *var), flow.name(*var), load.span, every.has(k)));
            }
            step(at, i, &mut any, false);
            step(at, i, &mut every, true);
        }
    }
}

/// What is allocated is deallocated before the kernel ends (9.7.16.7.1).
fn allocation(flow: &Flow, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut allocs = Vec::new();
    let mut frees = Vec::new();
    let block_of = std::cell::Cell::new(0);
    flow.walk(
        |b| block_of.set(b),
        |at, i| {
            if op(i, "tcgen05.alloc") {
                allocs.push((block_of.get(), at, i));
            } else if op(i, "tcgen05.dealloc") {
                frees.push((block_of.get(), at));
            }
        },
    );
    let Some(&(_, _, first)) = allocs.first() else { return };
    if frees.is_empty() {
        out.push(errors::never_freed(first.span, true));
        return;
    }
    // From where can a `dealloc` still come? Blocks backwards from them.
    let mut reach = vec![false; flow.cfg.blocks.len()];
    let mut stack = frees.iter().map(|f| f.0).list();
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut reach[b as usize], true) {
            stack.extend(flow.cfg.blocks[b as usize].pred.iter().map(|p| p.0));
        }
    }
    for &(b, at, i) in &allocs {
        let later = frees.iter().any(|f| f.0 == b && f.1 > at);
        if !later && !flow.cfg.blocks[b as usize].succ.iter().any(|e| reach[e.to as usize]) {
            // Another warp may be the one that deallocates.
            out.push(errors::never_freed(i.span, false));
            return;
        }
    }
    let step = |i: &Instr, set: &mut Bits| {
        if op(i, "tcgen05.alloc") && i.pred.is_none() {
            set.set(0);
        } else if op(i, "tcgen05.dealloc") {
            set.unset(0);
        }
    };
    let held = simple(&flow.cfg, 1, Meet::Every, &mut |_, i, s| step(i, s));
    let one_warp = flow.function.reqntid.is_some_and(|d| d.iter().map(|n| u64::from(*n)).product::<u64>() <= 32);
    for (b, _) in &flow.cfg.blocks[flow.cfg.exit as usize].pred {
        let mut set = held[*b as usize].clone();
        for at in flow.cfg.range(*b) {
            step(flow.cfg.instrs[at as usize], &mut set);
        }
        let last = flow.cfg.range(*b).next_back().map(|at| flow.cfg.instrs[at as usize]);
        if set.has(0) && last.is_none_or(|i| i.entry.opcode != "trap") {
            let leaves = last.filter(|i| matches!(i.entry.opcode, "ret" | "exit"));
            let span = leaves.map_or(first.span, |i| i.span);
            out.push(errors::left_allocated(span, first.span, one_warp));
            return;
        }
    }
}

/// After `relinquish_alloc_permit` the CTA allocates no more (9.7.16.7.1).
fn permit(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let gives = flow.cfg.find(&|i| op(i, "tcgen05.relinquish_alloc_permit"));
    let Some(gives) = gives else { return };
    let step = |i: &Instr, set: &mut Bits, every: bool| {
        if op(i, "tcgen05.relinquish_alloc_permit") && !(every && i.pred.is_some()) {
            set.set(0);
        }
    };
    let any = simple(&flow.cfg, 1, Meet::Any, &mut |_, i, s| step(i, s, false));
    let every = simple(&flow.cfg, 1, Meet::Every, &mut |_, i, s| step(i, s, true));
    for &b in &flow.cfg.rpo {
        let (mut any, mut every) = (any[b as usize].clone(), every[b as usize].clone());
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if op(i, "tcgen05.alloc") && any.has(0) {
                out.push(errors::alloc_after_relinquish(i.span, gives.span, every.has(0)));
                return;
            }
            step(i, &mut any, false);
            step(i, &mut every, true);
        }
    }
}

/// `dealloc` of a pair may or may not wait for the peer: Table 48 of 9.7.16.5.
fn rendezvous(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let step = |i: &Instr, set: &mut Bits| {
        let meets =
            matches!(i.entry.opcode, "barrier.cluster.wait" | "mbarrier.try_wait" | "mbarrier.test_wait" | "call");
        if meets {
            set.set(0);
        }
    };
    let any = simple(&flow.cfg, 1, Meet::Any, &mut |_, i, s| step(i, s));
    if !flow.function.entry {
        return;
    }
    for &b in &flow.cfg.rpo {
        let mut any = any[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if op(i, "tcgen05.dealloc") && i.has(".cta_group::2") && !any.has(0) {
                out.push(errors::dealloc_without_rendezvous(i.span));
                return;
            }
            step(i, &mut any);
        }
    }
}
