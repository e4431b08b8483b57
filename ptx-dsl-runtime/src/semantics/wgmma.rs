//! `wgmma`: products of a warpgroup, with matrices in shared memory (PTX ISA 9.7.15).
//!
//! Each warp computes 16 of the 64 rows, when it issues the operation: from then to the wait neither the matrices nor the registers may
//! change, so nobody can tell. What is still in flight is in `sync::wgmma::Groups`.

mod operands;
mod product;
mod undefined;

use super::active;
use super::matrix::arithmetic::Machine;
use super::matrix::sparse::Metadata;
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::kernel::flow::Wait;
use crate::machine::Ctx;
use crate::machine::copy::JobAccess;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::qual::Q;
use crate::observe::monitor::{Agent, By, Groups as Waited, Order, Place, Sync};
use crate::observe::probe::layout::name_matrix;
use crate::semantics::Blocks;
use crate::sync::wgmma::{Descriptors, Groups, Pending};
use operands::WgmmaOperands;
#[cfg(test)]
pub(crate) use operands::descriptor;
use product::WgmmaProduct;

/// `wgmma.mma_async d, a, b-desc, scale-d, ...`, and from code generation the old `d` and the sets of registers that it holds.
pub fn wgmma_mma_async(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    multiply(x, q, s, d, false)
}

/// `wgmma.mma_async.sp d, a, b-desc, sp-meta, sp-sel, scale-d, ...`: as [`wgmma_mma_async`].
pub fn wgmma_mma_async_sp(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    multiply(x, q, s, d, true)
}

fn multiply(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>], sparse: bool) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("wgmma.mma_async")? {
        return Ok(Flow::Wait(wait));
    }
    warpgroup(x)?;
    let operands = WgmmaOperands::new(q, sparse, s, d.len()).map_err(|kind| x.fault(kind, 0))?;
    if !groups(x).fenced {
        return Err(x.fault(
            FaultKind::undefined(
                "this warp has not executed `wgmma.fence` before its first `wgmma.mma_async`",
                "9.7.15.7.1",
                "execute `wgmma.fence.sync.aligned` before it: it orders accesses to registers",
            ),
            0,
        ));
    }
    same_descriptors(x, &operands)?;
    let product = WgmmaProduct::new(q, sparse, d.len());
    x.scheduling.works(product.work());
    if x.monitor.is_on() {
        report(x, &product, &operands, d.len())?;
    }
    let rank = x.rank();
    let (warp, machine) = (x.warp as usize % 4, Machine::of(x));
    let done = x.window(rank).and_then(|shared| {
        let metadata = operands.metadata.map(|(register, selector)| Metadata {
            register,
            selector,
            // an H200 takes both kinds
            ordered: false,
            section: "9.7.15.6.1",
        });
        product.run(&operands, metadata, (shared, warp, machine), d)
    });
    done.map_err(|kind| x.fault(name_matrix(kind, product.matrices(&operands, warp)), 0))?;
    let site = x.site;
    groups(x).issue(site, operands.held, operands.descriptors);
    Ok(Flow::Next)
}

/// The four warps of the group must be there.
fn warpgroup(x: &Ctx<'_>) -> Result<(), Box<Fault>> {
    let first = x.warp as usize & !3;
    let lives = |warp: usize| x.cta().live.get(warp).is_some_and(|live| *live == u32::MAX);
    if let Some(absent) = (first..first + 4).find(|warp| !lives(*warp)) {
        let what =
            format!("warp {absent} of the warpgroup {first} to {} is absent, not whole, or has exited", first + 3);
        let help = "run `wgmma` with all 128 threads of a warpgroup: four warps, the first a multiple of 4";
        return Err(x.fault(FaultKind::undefined(what, "9.7.15", help), 0));
    }
    Ok(())
}

/// The other warps of the group must have given the same operation the same descriptors.
fn same_descriptors(x: &mut Ctx<'_>, operands: &WgmmaOperands<'_>) -> Result<(), Box<Fault>> {
    let operation = groups(x).issued();
    let first = x.warp as usize & !3;
    let all = &x.cta().wgmma;
    let theirs = |warp: usize| Some((warp, all.get(warp)?.descriptors(operation)?));
    let differs = |theirs: &(usize, Descriptors)| theirs.1 != operands.descriptors;
    let Some((warp, theirs)) = (first..first + 4).filter_map(theirs).find(differs) else { return Ok(()) };
    let name = |descriptor: Option<u64>| descriptor.map_or("in registers".into(), |d| format!("{d:#x}"));
    let matrix = usize::from(theirs[0] == operands.descriptors[0]);
    let (of, ours, theirs) = (["A", "B"][matrix], name(operands.descriptors[matrix]), name(theirs[matrix]));
    let what =
        format!("the descriptor of {of} differs between warps of the warpgroup: {ours}, but warp {warp} has {theirs}");
    let help = "give all threads of the warpgroup the same descriptor, for example computed from `%tid.x / 128`";
    Err(x.fault(FaultKind::undefined(what, "9.7.15.5.1.2", help), 0))
}

/// The operations that the current warp has in flight.
fn groups<'x>(x: &'x mut Ctx<'_>) -> &'x mut Groups {
    let warp = x.warp as usize;
    let all = &mut x.cta_mut().wgmma;
    if all.len() <= warp {
        all.resize_with(warp + 1, Groups::default);
    }
    &mut all[warp]
}

/// Whether a warp of the current warpgroup lives and has committed fewer groups.
fn lacks_groups(x: &Ctx<'_>, groups: u64) -> bool {
    x.cta().warpgroup_missing(x.warp, x.warp + 1, groups).next().is_some()
}

/// Tells the monitor what the operation reads of shared memory.
fn report(
    x: &mut Ctx<'_>,
    product: &WgmmaProduct,
    operands: &WgmmaOperands<'_>,
    registers: usize,
) -> Result<(), Box<Fault>> {
    let (rank, size) = (x.rank(), x.cta().shared.len().max(x.memory.shared.len()));
    let by = By::Agent(Agent::Warpgroup(groups(x).committed()));
    let matrices: Vec<_> = product.matrices(operands, x.warp as usize % 4).collect();
    let mut pieces: Vec<u32> = matrices.iter().flat_map(|matrix| matrix.each().map(|(_, _, at)| at)).collect();
    pieces.sort_unstable();
    for piece in pieces.chunk_by(|a, b| a.abs_diff(*b) <= 16) {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else { continue };
        // the operation itself reports what is outside
        let end = (*last as usize + 16).min(size);
        if *first as usize >= end {
            continue;
        }
        let read = JobAccess::of_copy(Place::Shared { rank, offset: *first }, end as u32 - first, false);
        x.async_unit().report_agent(read, by, Order::default(), 0).map_err(|kind| x.fault(kind, 0))?;
    }
    if std::mem::take(&mut x.findings.in_operand) {
        undefined::follow(x, product, operands, registers);
    }
    let told = matrices.iter().try_for_each(|matrix| x.report().matrix(matrix, rank, 0));
    told.map_err(|kind| x.fault(kind, 0))
}

/// `wgmma.fence`. With an operand it is a check of code generation: the next statement touches these sets of registers.
pub fn wgmma_fence(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    let Some(sets) = s.first() else {
        groups(x).fenced = true;
        return Ok(());
    };
    let Some(lane) = active(x.mask).next() else { return Ok(()) };
    let Some((pending, site)) = groups(x).pending(sets[lane]) else { return Ok(()) };
    let (why, help) = match pending {
        Pending::Uncommitted => (
            "which is in no group".to_string(),
            "execute `wgmma.commit_group.sync.aligned` after it, then `wgmma.wait_group.sync.aligned 0`",
        ),
        Pending::Group { newer: 0 } => (
            "which no `wgmma.wait_group` has waited for".to_string(),
            "execute `wgmma.wait_group.sync.aligned 0` first",
        ),
        Pending::Group { newer } => (
            format!("which is complete only after a `wgmma.wait_group` of at most {newer}"),
            "wait with a smaller number: it counts the newest groups that may still be in flight",
        ),
    };
    let operation = x.geometry.statement(site, "a `wgmma.mma_async`");
    let what = format!("touches a register that belongs to {operation}, in flight, {why}");
    let (kind, lane) = (FaultKind::HeldRegister { what, help }, lane as u32);
    // a monitor may want to see more
    x.found(kind, lane).map_err(|kind| x.fault(kind, lane))
}

/// `wgmma.commit_group`: the operations since the last one are a group.
pub fn wgmma_commit_group(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("wgmma.commit_group")? {
        return Ok(Flow::Wait(wait));
    }
    groups(x).commit();
    x.notify_waiters();
    Ok(Flow::Next)
}

/// `wgmma.wait_group N`: all groups but the newest N are complete. An operation belongs to the warpgroup, so all its warps must have issued
/// them.
pub fn wgmma_wait_group(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("wgmma.wait_group")? {
        return Ok(Flow::Wait(wait));
    }
    let newest = s.first().map_or(0, |n| n[0]);
    let wanted = groups(x).committed().saturating_sub(newest);
    if lacks_groups(x, wanted) {
        return Ok(Flow::Wait(Wait::Warpgroup { groups: wanted }));
    }
    groups(x).wait(newest);
    x.report_sync(Sync::Groups { of: Waited::Warpgroup, before: wanted }, x.mask)?;
    Ok(Flow::Next)
}

semantics! {
    block "wgmma.commit_group" => wgmma_commit_group,
    warp "wgmma.fence" => wgmma_fence,
    registers "wgmma.mma_async" => wgmma_mma_async,
    registers "wgmma.mma_async.sp" => wgmma_mma_async_sp,
    block "wgmma.wait_group" => wgmma_wait_group,
}
