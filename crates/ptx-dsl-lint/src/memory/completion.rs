//! Operations that are used before they are complete: bulk stores after a wait for their source only (PTX ISA 9.7.9.25.6), matrices
//! that no thread waits for (9.7.16.6.4), memory of the preceding grid (9.7.13.13).

use crate::errors::completion as errors;
use crate::kernel::Kernel;
use crate::pending::{Groups, begin_pending, for_each_pending, is_pending};
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::provenance::{AddressBase, in_space};
use ptx_dsl_analysis::region::{MAX_REGIONS, Region};
use ptx_dsl_isa::hir::{Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::memory::Access;
use ptx_dsl_isa::isa::{Control, Fence, Group, Step, Tensor};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::meaning::order::Scope;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{PARAM, SHARED, q};
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Class;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.cfg.any(&|i| matches!(i.entry.effects.group, Group::Bulk(_))) {
        stores(kernel);
    }
    if flow.cfg.any(&|i| i.entry.effects.tensor == Tensor::Mma)
        && flow.cfg.any(&|i| i.entry.effects.tensor == Tensor::Load)
        && flow.function.entry
        && !flow.calls
    {
        results(kernel);
    }
    if flow.cfg.has(op::griddepcontrol) && flow.function.entry && !flow.calls {
        grid(kernel);
    }
}

/// Does it publish completion to other threads of the device, by a store or an atomic operation on a flag?
fn publishes(kernel: &Kernel, at: u32, i: &Instr, fenced: bool) -> bool {
    let access = value_access(i);
    let atomic = access.is_atomic();
    if i.has_any(SHARED) || !access.stores() {
        return false;
    }
    let order = i.order();
    let releases = order.releases() && order.scope >= Scope::Gpu;
    let strong = fenced && order.is_strong() && (atomic || !order.releases());
    (releases || strong) && (!atomic || on_flag(kernel, at, i))
}

/// Is an atomic operation one on a flag? Compilers also accumulate data by atomic operations with a release: in floating
/// point, or each lane in a place of its own.
fn on_flag(kernel: &Kernel, at: u32, i: &Instr) -> bool {
    let integer = i.types.iter().all(|t| matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed));
    let one_place = match i.address().map(|a| &a.value) {
        Some(Operand::Address(Base::Reg(r), _)) => {
            kernel.lanes.uniformity(kernel.flow.ssa.read(at, *r, 0)) >= Uniformity::Warp
        }
        _ => true,
    };
    integer && one_place
}

/// After `cp.async.bulk.wait_group.read` the source may be reused, but the destination may not be written yet.
fn stores(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut groups = Groups { copies: Vec::new() };
    let mut target: Vec<Option<Region>> = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.has(q::bulk_group) && i.operand("srcMem").is_some() && groups.copies.len() < MAX_REGIONS {
            groups.copies.push(at);
            target.push(kernel.region_of(at, "dstMem", i.constant("size").unwrap_or(0)));
        }
    }
    if !target.is_empty() {
        early(kernel, &groups, &target);
    }
}

fn early(kernel: &Kernel, groups: &Groups, target: &[Option<Region>]) {
    let flow = kernel.flow;
    // The bit after the groups: a device-scope fence since.
    let fence = groups.bits();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let effects = i.entry.effects;
        match effects.group {
            Group::Bulk(Step::Commit) => groups.commit(set),
            Group::Bulk(Step::Wait) if !i.has(q::read) => {
                groups.wait(set, i.constant("N").unwrap_or(0) as usize, false);
            }
            _ if effects.control == Control::Call => groups.wait(set, 0, true),
            _ if effects.fence != Fence::None => {
                if i.has_any(&[q::gl, q::gpu, q::sys]) && !i.has(q::acquire) {
                    set.set(fence);
                }
            }
            _ => {
                if let Some(k) = groups.copy(at) {
                    groups.start(set, k);
                    set.unset(fence);
                }
            }
        }
    };
    let mut reported = false;
    for_each_instr(&flow.cfg, groups.bits() + 1, &step, &mut |_, at, i, set| {
        if reported {
            return;
        }
        if let Some((arg, false)) = plain_access(i)
            && let Some(here) = kernel.region(at, arg, i.bytes())
        {
            for (k, t) in target.iter().enumerate() {
                if let Some(t) = t
                    && t.space == Space::Global
                    && groups.open(set, k).is_some()
                    && t.overlaps(flow, &here)
                {
                    reported = true;
                    kernel.report(errors::destination_read(arg.span, flow.instr(groups.copies[k]).span));
                    return;
                }
            }
        }
        if publishes(kernel, at, i, set.has(fence))
            && let Some((k, _)) = groups.first_open(set)
        {
            reported = true;
            kernel.report(errors::published_early(i.span, flow.instr(groups.copies[k]).span));
        }
    });
}

/// Reads of MMA results in a kernel without any mbarrier wait.
fn results(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.cfg.any(&ptx_dsl_analysis::accesses::mbarrier_wait) {
        return;
    }
    let first = flow.cfg.find(&|i| i.entry.effects.tensor == Tensor::Mma);
    let committed = flow.cfg.any(&|i| i.entry.effects.tensor == Tensor::Commit);
    let Some(first) = first else { return };
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if i.entry.effects.tensor == Tensor::Mma {
            begin_pending(set, 0);
        }
    };
    let mut reported = false;
    for_each_pending(flow, 1, &step, &mut |_, _, i, set| {
        if !reported && i.entry.effects.tensor == Tensor::Load && is_pending(set, 0) {
            reported = true;
            kernel.report(errors::result_not_awaited(i.span, first.span, committed));
        }
    });
}

/// Global memory that is accessed before `griddepcontrol.wait` and after it, or read before it only. Writes of the preceding grid
/// are visible after the wait.
fn grid(kernel: &Kernel) {
    let flow = kernel.flow;
    let Some(wait) = flow.cfg.find(&waits) else {
        never_waits(kernel);
        return;
    };
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if waits(i) {
            set.set(0);
        }
    };
    let mut before: Vec<(AddressBase, Span)> = Vec::new();
    let mut after: Vec<AddressBase> = Vec::new();
    // Reads before, and whether there are any after.
    let mut first: Option<Span> = None;
    let mut reads = false;
    for_each_instr(&flow.cfg, 1, &step, &mut |_, at, i, set| {
        let behind = set.has(0);
        if behind {
            reads |= may_read(i);
        } else if first.is_none()
            && i.opcode == op::ld
            && (i.has(q::global) || !in_space(i))
            && !i.has(q::nc)
            && let Some(arg) = i.operand("a")
        {
            first = Some(arg.span);
        }
        if let Some((arg, _)) = plain_access(i)
            && let Some(r) = kernel.region(at, arg, i.bytes())
            && r.space == Space::Global
            && !i.has(q::nc)
            && r.base != AddressBase::None
        {
            if behind {
                after.push(r.base);
            } else if before.len() < MAX_REGIONS {
                before.push((r.base, arg.span));
            }
        }
    });
    for (base, span) in &before {
        if after.contains(base) {
            kernel.report(errors::before_the_grid(*span, wait.span, true));
            return;
        }
    }
    if let (Some(span), false) = (first, reads) {
        kernel.report(errors::before_the_grid(span, wait.span, false));
    }
}

/// A kernel that lets the next grid start before its last access to global memory, as in a chain of dependent launches, and never waits for
/// the grid before it. The first kernel of a chain need not.
fn never_waits(kernel: &Kernel) {
    let flow = kernel.flow;
    let global = |at: u32, i: &Instr| {
        may_read(i)
            || matches!(plain_access(i), Some((arg, true))
                if kernel.region(at, arg, i.bytes()).is_none_or(|r| r.space == Space::Global) && !i.has_any(SHARED))
            || i.has(q::bulk_group) && i.operand("srcMem").is_some()
    };
    let Some((launches, at, i)) = flow.walk().find(|(_, _, i)| i.opcode == op::griddepcontrol && !waits(i)) else {
        return;
    };
    let follows = flow.cfg.reachable_from(flow.cfg.blocks[launches as usize].succ.iter().map(|e| e.to));
    let behind = |b: u32, n: u32| follows[b as usize] || b == launches && n > at;
    let read = flow.walk().find(|(_, _, i)| may_read(i) && !i.has(q::nc)).map(|(_, _, i)| i.span);
    if let Some(read) = read
        && flow.walk().any(|(b, n, i)| behind(b, n) && global(n, i))
    {
        kernel.report(errors::never_waits_for_the_grid(i.span, read));
    }
}

/// May it read global memory?
fn may_read(i: &Instr) -> bool {
    let elsewhere = i.has_any(SHARED) || i.has_any(PARAM) || i.has_any(&[q::_const, q::local]);
    let load = matches!(plain_access(i), Some((_, false)));
    i.entry.effects.memory.is_atomic() || (i.accesses(Access::Read) && !(load && elsewhere))
}

fn waits(i: &Instr) -> bool {
    i.opcode == op::griddepcontrol && i.has(q::wait)
}
