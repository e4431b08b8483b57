//! Allocation of Tensor Memory as a whole (PTX ISA 9.7.16.7): deallocation before exit, no allocation after the permit is
//! relinquished, the rendezvous of a CTA pair.

use crate::errors::tensor_memory as errors;
use crate::kernel::Kernel;
use crate::pending::{begin_pending, is_pending, resolve};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::dataflow::{Bits, Meet, for_each_instr, for_each_instr_some_every, forward_instrs};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::region::MAX_REGIONS;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Barrier, Control, Meeting, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

pub(crate) fn check(kernel: &Kernel) {
    // Most kernels do not use Tensor Memory.
    if !kernel.flow.cfg.any(&|i| i.entry.effects.tensor != Tensor::None) {
        return;
    }
    allocation(kernel);
    relinquished(kernel);
    rendezvous(kernel);
}

/// Tensor Memory is deallocated before the kernel ends (9.7.16.7.1).
fn allocation(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut allocs = Vec::new();
    let mut frees = Vec::new();
    for (block, at, i) in flow.walk() {
        if i.opcode == op::tcgen05_alloc {
            allocs.push((block, at));
        } else if i.opcode == op::tcgen05_dealloc {
            frees.push((block, at));
        }
    }
    let Some(&(_, first)) = allocs.first() else { return };
    let first = flow.instr(first).span;
    if frees.is_empty() {
        kernel.report(errors::never_freed(first, true));
    } else if let Some(alloc) = never_freed(flow, &allocs, &frees) {
        // Another warp may be the one that deallocates.
        kernel.report(errors::never_freed(flow.instr(alloc).span, false));
    } else {
        allocated(kernel, first);
    }
}

/// The first `alloc` that no `dealloc` can follow.
fn never_freed(flow: &Flow, allocs: &[(u32, u32)], frees: &[(u32, u32)]) -> Option<u32> {
    // The blocks that reach a `dealloc`, backwards.
    let reach = flow.cfg.blocks_reaching(frees.iter().map(|f| f.0));
    for &(b, at) in allocs {
        let mut later = false;
        for f in frees {
            later |= f.0 == b && f.1 > at;
        }
        for e in &flow.cfg.blocks[b as usize].succ {
            later |= reach[e.to as usize];
        }
        if !later {
            return Some(at);
        }
    }
    None
}

/// Exits with allocated Tensor Memory. `first` is the first `alloc`.
fn allocated(kernel: &Kernel, first: Span) {
    let flow = kernel.flow;
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if i.opcode == op::tcgen05_alloc && i.pred.is_none() {
            set.set(0);
        } else if i.opcode == op::tcgen05_dealloc {
            set.unset(0);
        }
    };
    let allocated = forward_instrs(&flow.cfg, 1, Meet::Every, &step);
    let one_warp = match flow.function.reqntid {
        Some([x, y, z]) => u64::from(x) * u64::from(y) * u64::from(z) <= 32,
        None => false,
    };
    for (b, _) in &flow.cfg.blocks[flow.cfg.exit as usize].pred {
        let mut set = allocated[*b as usize].clone();
        let mut last = None;
        for at in flow.cfg.range(*b) {
            step(at, flow.instr(at), &mut set);
            last = Some(flow.instr(at));
        }
        let span = match last {
            Some(i) => match i.entry.effects.control {
                Control::Trap => continue,
                Control::Return | Control::Exit => i.span,
                _ => first,
            },
            None => first,
        };
        if set.has(0) {
            kernel.report(errors::left_allocated(span, first, one_warp));
            return;
        }
    }
}

/// After `relinquish_alloc_permit` the CTA allocates no more (9.7.16.7.1).
fn relinquished(kernel: &Kernel) {
    let flow = kernel.flow;
    let gives = flow.cfg.find(&|i| i.opcode == op::tcgen05_relinquish_alloc_permit);
    let Some(gives) = gives else { return };
    let step = |_: u32, i: &Instr, set: &mut Bits, every: bool| {
        if i.opcode == op::tcgen05_relinquish_alloc_permit && !(every && i.pred.is_some()) {
            set.set(0);
        }
    };
    let mut reported = false;
    for_each_instr_some_every(&flow.cfg, 1, &step, &mut |_, i, any, every| {
        if !reported && any.has(0) && i.opcode == op::tcgen05_alloc {
            reported = true;
            kernel.report(errors::alloc_after_relinquish(i.span, gives.span, every.has(0)));
        }
    });
}

/// `dealloc` of a pair may or may not wait for the peer: Table 48 of 9.7.16.5.
fn rendezvous(kernel: &Kernel) {
    let flow = kernel.flow;
    let pair = |i: &Instr| i.entry.effects.tensor == Tensor::Dealloc && i.has(q::cta_group_2);
    if !flow.function.entry || !flow.cfg.any(&pair) {
        return;
    }
    let uses: Vec<Site> =
        flow.walk().filter(|(_, _, i)| uses_columns(i)).map(|(block, at, _)| Site { block, at }).collect();
    let uses = &uses[..uses.len().min(MAX_REGIONS)];
    let loops = Loops::new(&flow.cfg);
    let last = (!loops.irreducible()).then(|| meets_behind(kernel, &loops, uses));
    // The last bit: the CTAs have met on some path. Two bits for each use before it: not met since; perhaps.
    let met = 2 * uses.len();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = uses.iter().position(|u| u.at == at) {
            begin_pending(set, k);
        } else if may_meet(i) {
            set.set(met);
            (0..uses.len()).for_each(|k| resolve(set, k));
        }
    };
    let mut reported = false;
    for_each_instr(&flow.cfg, met + 1, &step, &mut |_, _, i, set| {
        let used = || last == Some(false) && (0..uses.len()).any(|k| is_pending(set, k));
        if !reported && pair(i) && (!set.has(met) || used()) {
            reported = true;
            kernel.report(errors::dealloc_without_rendezvous(i.span));
        }
    });
}

/// May the CTAs of a pair meet at the instruction?
fn may_meet(i: &Instr) -> bool {
    let effects = i.entry.effects;
    effects.barrier == Barrier::Cluster && effects.meeting == Meeting::Wait
        || mbarrier_wait(i)
        || effects.control == Control::Call
}

/// Does the instruction read or write columns of Tensor Memory?
fn uses_columns(i: &Instr) -> bool {
    matches!(i.entry.effects.tensor, Tensor::Mma | Tensor::Copy | Tensor::Store | Tensor::Load)
}

/// May some role meet the other CTA after the last use of the columns: at a cluster barrier, or at a wait outside of the loops of the
/// uses? The waits of these loops are for what comes next, not for the end.
fn meets_behind(kernel: &Kernel, loops: &Loops, uses: &[Site]) -> bool {
    let flow = kernel.flow;
    let looped = |block: u32| {
        let mut header = loops.innermost(block);
        while let Some(h) = header {
            if uses.iter().any(|u| loops.contains(h, u.block)) {
                return true;
            }
            header = loops.parent(h);
        }
        false
    };
    let after = flow.cfg.reachable_from(uses.iter().map(|u| u.block));
    let ends: Vec<u32> =
        flow.walk().filter(|(_, _, i)| i.entry.effects.tensor == Tensor::Dealloc).map(|(block, _, _)| block).collect();
    let before = flow.cfg.blocks_reaching(ends.iter().copied());
    flow.walk().any(|(block, _, i)| {
        let reached = after[block as usize] || uses.iter().any(|u| u.block == block);
        let reaches = before[block as usize] || ends.contains(&block);
        may_meet(i) && reached && reaches && !looped(block) && !ends.contains(&block)
    })
}
