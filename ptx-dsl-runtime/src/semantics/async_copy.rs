//! `cp.async`, its groups, and `cp.async.mbarrier.arrive` (PTX ISA 9.7.9.25.3, 9.7.13.15.15).
//!
//! Operands are checked when the copy starts. Cache hints and prefetch sizes have no effect.

use super::{Done, active, own_shared_object, place, space};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::machine::spaces::GlobalPlace;
use crate::machine::warp_copies::LaneCopy;
use crate::memory::address::{AddrSpace, Place};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};

/// The number of bytes of the source that a lane copies.
fn given(x: &Ctx<'_>, q: Q, s: &[&Lanes], bytes: u32, lane: usize) -> Result<u32, Box<Fault>> {
    let operands = s.len() - usize::from(q.has(q::L2_cache_hint));
    if operands < 4 {
        return Ok(bytes);
    }
    let value = s[3][lane] as u32;
    if q.has(q::ignore_src) {
        return Ok(if value & 1 != 0 { 0 } else { bytes });
    }
    if value <= bytes {
        return Ok(value);
    }
    let what = format!("`src-size` is {value}, more than the {bytes} bytes that are copied");
    let help = "copy `cp-size` bytes at most; the rest of the destination becomes zeros";
    Err(x.fault(FaultKind::undefined(what, "9.7.9.25.3.1", help), lane as u32))
}

/// `cp.async [dst], [src], cp-size{, src-size}{, cache-policy}`, or with a predicate `ignore-src`.
pub fn cp_async(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let [to, from, size, ..] = s else { return Ok(()) };
    let mut copies = Vec::with_capacity(32);
    for l in active(x.mask) {
        let lane = l as u32;
        let bytes = size[l] as u32;
        let given = given(x, q, s, bytes, l)?;
        let offset = own_shared_object(x, AddrSpace::SharedCta, to[l], bytes, l, "the destination of `cp.async`")?;
        x.async_unit().in_own_shared(offset, bytes, to[l], lane)?;
        let Place::Global { segment, offset: at } = place(x, AddrSpace::Global, from[l], l)? else { continue };
        let source = GlobalPlace { segment, offset: at };
        if given > 0 {
            if !from[l].is_multiple_of(bytes.max(1).into()) {
                let kind = FaultKind::Misaligned { space: "global", addr: from[l], align: bytes };
                return Err(x.fault(kind, lane));
            }
            x.async_unit().in_global(source, given.into(), false, lane)?;
        }
        copies.push(LaneCopy { lane: l as u8, bytes: bytes as u8, given: given as u8, from: source, to: offset });
    }
    x.async_unit().start_lane_copies(copies)
}

/// `cp.async.commit_group`
pub fn cp_async_commit_group(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    x.async_unit().commit_lane_copies();
    Ok(())
}

/// `cp.async.wait_group n`
pub fn cp_async_wait_group(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let lane = x.mask.trailing_zeros() as usize & 31;
    x.async_unit().wait_for_lane_copies(s.first().map_or(0, |n| n[lane]))
}

/// `cp.async.wait_all`: `commit_group` and `wait_group 0`.
pub fn cp_async_wait_all(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    x.async_unit().commit_lane_copies();
    x.async_unit().wait_for_lane_copies(0)
}

/// `cp.async.mbarrier.arrive{.noinc} [addr]`: an arrive-on of 1 when all `cp.async` that the thread has started are complete, and
/// without `.noinc` an increment of the pending count at once.
pub fn cp_async_mbarrier_arrive(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let mut rest = x.mask;
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let offset = own_shared_object(x, space(q), s[0][first], 8, first, "the mbarrier object")?;
        let lanes = active(rest).filter(|l| s[0][*l] == s[0][first]).fold(0, |m, l| m | 1 << l);
        x.async_unit().arrive_after_copies(lanes, offset, q.has(q::noinc))?;
        rest &= !lanes;
    }
    Ok(())
}

semantics! {
    warp "cp.async" => cp_async,
    warp "cp.async.commit_group" => cp_async_commit_group,
    warp "cp.async.mbarrier.arrive" => cp_async_mbarrier_arrive,
    warp "cp.async.wait_all" => cp_async_wait_all,
    warp "cp.async.wait_group" => cp_async_wait_group,
}
