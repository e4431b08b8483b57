//! `tcgen05.dealloc` matches one `tcgen05.alloc` in address and size, and runs once (9.7.16.7.1).

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use crate::sync::objects::{ObjectKey, object_key};
use crate::tensor::tcgen05::columns::{Address, Root, address};
use crate::tensor::tcgen05::ops::{MOST, has_role};
use ptx_dsl_analysis::paths::{Paths, Step};
use ptx_dsl_analysis::reaching::ReachingThreads;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_isa::isa::Tensor;
use ptx_dsl_isa::qualifier::q;

/// `tcgen05.alloc`
struct Alloc {
    site: Site,
    /// Where it stores the address.
    slot: Option<ObjectKey>,
    columns: Option<u64>,
    exclusive: bool,
}

/// `tcgen05.dealloc`
struct Free {
    site: Site,
    address: Option<Address>,
    columns: Option<u64>,
    exclusive: bool,
}

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let (mut allocs, mut frees) = (Vec::new(), Vec::new());
    for (block, at, i) in flow.walk() {
        let (columns, exclusive) = (i.constant("nCols"), i.has(q::exclusive));
        let site = Site { block, at };
        if has_role(i, Tensor::Alloc) {
            let slot = i.operand("dst").and_then(|arg| object_key(&kernel.region(at, arg, 4)?));
            allocs.push(Alloc { site, slot, columns, exclusive });
        } else if has_role(i, Tensor::Dealloc) {
            frees.push(Free { site, address: address(kernel, at, "taddr"), columns, exclusive });
        }
    }
    if allocs.is_empty() || allocs.len() + frees.len() > MOST {
        return;
    }
    for free in &frees {
        other(kernel, &allocs, free);
    }
    if !by_many(kernel, &allocs, &frees) {
        twice(kernel, &allocs, &frees);
    }
}

/// The allocations whose address this may be.
fn candidates<'a>(allocs: &'a [Alloc], free: &Free) -> Vec<&'a Alloc> {
    let slot = match free.address {
        Some(Address { root: Root::Slot(slot), .. }) => Some(slot),
        _ => None,
    };
    let stored: Vec<&Alloc> = allocs.iter().filter(|a| a.slot.is_some() && a.slot == slot).collect();
    if stored.is_empty() { allocs.iter().collect() } else { stored }
}

/// Reports a deallocation that differs from what was allocated.
fn other(kernel: &Kernel, allocs: &[Alloc], free: &Free) {
    let flow = kernel.flow;
    let from = candidates(allocs, free);
    let Some(first) = from.first() else { return };
    let (here, alloc) = (flow.instr(free.site.at), flow.instr(first.site.at).span);
    if let Some(n) = free.columns
        && let Some(arg) = here.operand("nCols")
        && let Some(had) = first.columns
        && from.iter().all(|a| a.columns.is_some_and(|c| c != n))
    {
        kernel.report(errors::other_size(arg.span, n, had, alloc));
    } else if from.iter().all(|a| a.exclusive != free.exclusive) {
        kernel.report(errors::other_kind(here.span, free.exclusive, alloc));
    } else if let Some(Address { root: Root::Slot(slot), column }) = free.address
        && column != 0
        && let [only] = allocs
        && only.slot == Some(slot)
        && let Some(arg) = here.operand("taddr")
    {
        kernel.report(errors::within_an_allocation(arg.span, column, alloc));
    }
}

/// The warps that may reach a site.
fn warps(kernel: &Kernel, site: Site) -> (usize, ReachingThreads) {
    let present = kernel.threads_at(site.block, site.at);
    (present.warps(kernel.lanes.cta_size).len(), present)
}

/// Reports more deallocations than there can be allocations.
fn by_many(kernel: &Kernel, allocs: &[Alloc], frees: &[Free]) -> bool {
    let (flow, lanes) = (kernel.flow, kernel.lanes);
    if lanes.cta_size.exact.is_none() || allocs.iter().any(|a| flow.cfg.in_loop(a.site.block)) {
        return false;
    }
    let most: usize = allocs.iter().map(|a| warps(kernel, a.site).0).sum();
    let mut least = 0;
    for free in frees {
        let (n, present) = warps(kernel, free.site);
        if flow.cfg.in_loop(free.site.block)
            || !present.whole_warps(lanes.cta_size)
            || !kernel.executes_exactly(free.site)
        {
            continue;
        }
        least += n;
        if least > most {
            let alloc = flow.instr(allocs[0].site.at).span;
            kernel.report(errors::freed_by_many(flow.instr(free.site.at).span, n, least, most, alloc));
            return true;
        }
    }
    false
}

/// Reports a warp that deallocates the same twice.
fn twice(kernel: &Kernel, allocs: &[Alloc], frees: &[Free]) {
    let flow = kernel.flow;
    let mut paths = Paths::new(flow, kernel.lanes);
    for free in frees {
        let Some(freed) = free.address else { continue };
        // A register keeps its value until it is written again; a memory slot keeps the address of its only `alloc`.
        let maker = match freed.root {
            Root::Slot(slot) => {
                if allocs.iter().filter(|a| a.slot == Some(slot)).count() != 1 {
                    continue;
                }
                None
            }
            Root::Value(v) => flow.ssa.maker(v),
        };
        if matches!((freed.root, maker), (Root::Value(_), None)) {
            continue;
        }
        let hit = paths.after(free.site.block, free.site.at, None, &mut |at, i| {
            if has_role(i, Tensor::Alloc) || Some(at) == maker {
                Step::Stop
            } else if has_role(i, Tensor::Dealloc) && frees.iter().any(|f| f.site.at == at && f.address == Some(freed))
            {
                Step::Found
            } else {
                Step::Go
            }
        });
        if let Some(hit) = hit {
            kernel.report(errors::freed_twice(flow.instr(hit.at).span, flow.instr(free.site.at).span, hit.certain));
            return;
        }
    }
}
