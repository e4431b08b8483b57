//! Bulk copies and reductions of the async proxy, and bulk groups (PTX ISA 9.7.9.25.4, 9.7.9.25.6).
//!
//! Operands are decoded and checked when the copy starts. Cache hints and `.scope` have no effect.

pub(super) mod operands;
pub(super) mod reduction;
mod transfer;

use operands::{ctas, global, mbarrier_of, shared, shared_in};
use reduction::Reduction;
use transfer::{BetweenShared, FromGlobal, ToGlobal};

use super::{Done, active};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::machine::copy::Signal;
use crate::machine::spaces::{GlobalPlace, SharedPlace};
use crate::memory::address::AddrSpace;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};

/// Reports of the validity of bytes: `.mbarrier::report::validity`.
const REPORTS: &[crate::numerics::qual::Qualifier] = &[
    q::mbarrier_report_validity_per_16bytes_80000000,
    q::mbarrier_report_validity_per_16bytes_8000,
    q::mbarrier_report_validity_per_16bytes_80,
    q::mbarrier_report_validity_per_16bytes_8,
    q::mbarrier_report_validity_per_element_ff,
];

/// A fault if the copy has to report the validity of its bytes.
pub(super) fn no_report(x: &Ctx<'_>, q: Q, lane: u32) -> Done {
    let report = REPORTS.iter().any(|r| q.has(*r));
    let what = || "`.mbarrier::report::validity` of a copy".to_string();
    if report { Err(x.fault(FaultKind::NotYet { what: what() }, lane)) } else { Ok(()) }
}

/// The number of bytes: a multiple of 16.
fn size(x: &Ctx<'_>, size: u64, lane: u32) -> Result<u32, Box<Fault>> {
    let size = size as u32;
    if size.is_multiple_of(16) && size < 1 << 20 {
        return Ok(size);
    }
    let (what, help) = if size.is_multiple_of(16) {
        (format!("`size` is {size}, but an mbarrier object counts less than 2^20 bytes"), "copy in several pieces")
    } else {
        (format!("`size` is {size}, which is not a multiple of 16"), "copy a multiple of 16 bytes")
    };
    Err(x.fault(FaultKind::undefined(what, "9.7.9.25.4.1", help), lane))
}

/// `cp.async.bulk` in each direction.
pub fn cp_async_bulk(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    start(x, q, s, None)
}

/// `cp.reduce.async.bulk` in each direction.
pub fn cp_reduce_async_bulk(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    start(x, q, s, Some(Reduction::of(q, q.ty[0], q.has(q::bulk_group))))
}

fn start(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], reduction: Option<Reduction>) -> Done {
    for l in active(x.mask) {
        no_report(x, q, l as u32)?;
        let operand = |i: usize| s.get(i).map_or(0, |v| v[l]);
        let bytes = size(x, operand(2), l as u32)?;
        if q.has(q::bulk_group) {
            store(x, q, (operand(0), operand(1)), bytes, s.last().map_or(0, |m| m[l]), (l, reduction))?;
        } else if q.has(q::global) {
            load(x, q, &operand, bytes, l)?;
        } else {
            in_a_cluster(x, "a bulk copy from shared to shared memory", "9.7.9.25.4.1", l as u32)?;
            let from = shared(x, operand(1), bytes, 16, l, "the source of the copy")?;
            let to = shared_in(x, AddrSpace::SharedCluster, operand(0), bytes, 16, l, "the destination of the copy")?;
            let at = mbarrier_of(x, q, operand(3), to.rank, l)?;
            let job = BetweenShared { from, to, bytes, reduction };
            x.async_unit().start_copy(l as u32, Box::new(job), Signal::Mbarrier { at, bytes })?;
        }
    }
    Ok(())
}

/// A fault if an asynchronous operation writes shared memory for a thread in a launch without clusters, which an H200 ends with an illegal
/// instruction, also within one CTA (tests/hardware/cluster). Other targets were not tried.
pub(super) fn in_a_cluster(x: &Ctx<'_>, operation: &str, section: &'static str, lane: u32) -> Done {
    if x.ids().explicit_cluster() || !x.geometry.info.target.starts_with("sm_90") {
        return Ok(());
    }
    let what = format!("{operation} in a launch without clusters, an illegal instruction on `sm_90`");
    let help = "launch the kernel with clusters; `Launch::cluster(1)` or `.reqnctapercluster 1` suffices";
    Err(x.fault(FaultKind::undefined(what, section, help), lane))
}

/// Copies from shared to global memory.
fn store(
    x: &mut Ctx<'_>,
    q: Q,
    (to, from): (u64, u64),
    bytes: u32,
    mask: u64,
    (l, reduction): (usize, Option<Reduction>),
) -> Done {
    let from = shared(x, from, bytes, 16, l, "the source of the copy")?;
    let to = global(x, to, 16, l)?;
    x.async_unit().in_global(to, bytes.into(), true, l as u32)?;
    let mask = if q.has(q::cp_mask) { mask as u16 } else { u16::MAX };
    x.async_unit().start_copy(l as u32, Box::new(ToGlobal { from, to, bytes, mask, reduction }), Signal::BulkGroup)
}

/// Copies from global to the shared memory of a CTA, or of several.
fn load(x: &mut Ctx<'_>, q: Q, operand: &dyn Fn(usize) -> u64, bytes: u32, l: usize) -> Done {
    let lane = l as u32;
    let (left, right, rest) = match q.has(q::ignore_oob) {
        true => (operand(3) as u32, operand(4) as u32, 5),
        false => (0, 0, 3),
    };
    if left > 15 || right > 15 || left + right > bytes {
        let what = format!("{left} and {right} bytes of {bytes} are to be ignored");
        return Err(x.fault(FaultKind::undefined(what, "9.7.9.25.4.1", "ignore up to 15 bytes at each end"), lane));
    }
    let space = if q.has(q::shared_cluster) { AddrSpace::SharedCluster } else { AddrSpace::SharedCta };
    let to = shared_in(x, space, operand(0), bytes, 16, l, "the destination of the copy")?;
    let at = mbarrier_of(x, q, operand(rest), to.rank, l)?;
    let from = global(x, operand(1), if q.has(q::ignore_oob) { 1 } else { 16 }, l)?;
    let from: GlobalPlace = from.plus(left.into());
    let copied = bytes - left - right;
    x.async_unit().in_global(from, copied.into(), false, lane)?;
    for rank in ctas(x, q, to.rank, operand(rest + 1), l)? {
        let to = SharedPlace { rank, offset: to.offset + left };
        let signal = Signal::Mbarrier { at: SharedPlace { rank, ..at }, bytes };
        x.async_unit().start_copy(lane, Box::new(FromGlobal { from, to, bytes: copied }), signal)?;
    }
    Ok(())
}

/// `cp.async.bulk.prefetch`: a hint, which a bad address does not make a fault.
pub fn cp_async_bulk_prefetch(_: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Ok(())
}

/// `applypriority.async.bulk`: a hint.
pub fn applypriority_async_bulk(_: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Ok(())
}

/// `cp.async.bulk.commit_group`
pub fn cp_async_bulk_commit_group(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    x.async_unit().commit_bulk_groups();
    Ok(())
}

/// `cp.async.bulk.wait_group{.read} n`. With `.sync_restrict::proxy::async` it waits for all, as it may.
pub fn cp_async_bulk_wait_group(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let lane = x.mask.trailing_zeros() as usize & 31;
    x.async_unit().wait_for_bulk_groups(s.first().map_or(0, |n| n[lane]), q.has(q::read))
}

semantics! {
    warp "applypriority.async.bulk" => applypriority_async_bulk,
    warp "cp.async.bulk" => cp_async_bulk,
    warp "cp.async.bulk.commit_group" => cp_async_bulk_commit_group,
    warp "cp.async.bulk.prefetch" => cp_async_bulk_prefetch,
    warp "cp.async.bulk.wait_group" => cp_async_bulk_wait_group,
    warp "cp.reduce.async.bulk" => cp_reduce_async_bulk,
}
