//! Operands that asynchronous copies have in common: places in shared and global memory, mbarrier objects, masks of CTAs.

use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::machine::spaces::{GlobalPlace, SharedPlace};
use crate::memory::address::{AddrSpace, Place};
use crate::numerics::qual::{Q, q};
use crate::semantics::{active, place, shared_object};

/// The state space of a shared address that the manual leaves open: a generic address has a window.
pub fn any_shared(addr: u64) -> AddrSpace {
    if addr >> 32 == 0 { AddrSpace::SharedCluster } else { AddrSpace::Generic }
}

/// A place in shared memory with this many bytes after it.
pub fn shared_in(
    x: &Ctx<'_>,
    space: AddrSpace,
    addr: u64,
    bytes: u32,
    align: u32,
    lane: usize,
    what: &str,
) -> Result<SharedPlace, Box<Fault>> {
    let (rank, offset) = shared_object(x, space, addr, align, lane, what)?;
    let size = x.window(rank).map_err(|kind| x.fault(kind, lane as u32))?.len() as u64;
    if u64::from(offset) + u64::from(bytes) > size {
        return Err(x.fault(FaultKind::OutOfBounds { space: "shared", addr, bytes, size }, lane as u32));
    }
    Ok(SharedPlace { rank, offset })
}

/// A place in the shared memory of the executing CTA, with this many bytes after it.
pub fn shared(
    x: &Ctx<'_>,
    addr: u64,
    bytes: u32,
    align: u32,
    lane: usize,
    what: &str,
) -> Result<SharedPlace, Box<Fault>> {
    shared_in(x, AddrSpace::SharedCta, addr, bytes, align, lane, what)
}

/// A place in global memory.
pub fn global(x: &Ctx<'_>, addr: u64, align: u32, lane: usize) -> Result<GlobalPlace, Box<Fault>> {
    if !addr.is_multiple_of(align.into()) {
        return Err(x.fault(FaultKind::Misaligned { space: "global", addr, align }, lane as u32));
    }
    match place(x, AddrSpace::Global, addr, lane)? {
        Place::Global { segment, offset } => Ok(GlobalPlace { segment, offset }),
        _ => {
            let wanted = "an address of global memory".into();
            Err(x.fault(FaultKind::WrongWindow { addr, wanted }, lane as u32))
        }
    }
}

/// The mbarrier object of an operation on CTA `rank`, which must own it; with `.cta_group::2` its peer may.
pub fn mbarrier_of(x: &Ctx<'_>, q: Q, addr: u64, rank: u32, lane: usize) -> Result<SharedPlace, Box<Fault>> {
    let at = shared_in(x, any_shared(addr), addr, 8, 8, lane, "the mbarrier object")?;
    if at.rank == rank || q.has(q::cta_group_2) && at.rank == rank ^ 1 {
        return Ok(at);
    }
    let what = format!("the destination is in CTA {rank} of the cluster, but its mbarrier object in CTA {}", at.rank);
    let help = "map both addresses to the same CTA with `mapa`";
    Err(x.fault(FaultKind::undefined(what, "9.7.9.25.4.1", help), lane as u32))
}

/// The CTAs that an operation on CTA `own` writes: with `.multicast::cluster` those of the mask.
pub fn ctas(x: &Ctx<'_>, q: Q, own: u32, mask: u64, lane: usize) -> Result<Vec<u32>, Box<Fault>> {
    let bits = if q.has(q::multicast_cluster_32b) {
        32
    } else if q.has(q::multicast_cluster) || q.has(q::multicast_cluster_16b) {
        16
    } else {
        return Ok(vec![own]);
    };
    let mask = mask as u32 & (u32::MAX >> (32 - bits));
    let size = x.ids().cluster_size();
    let ranks: Vec<u32> = active(mask).map(|rank| rank as u32).collect();
    match ranks.iter().find(|rank| **rank >= size) {
        Some(&rank) => Err(x.fault(FaultKind::NoSuchRank { rank, size }, lane as u32)),
        None => Ok(ranks),
    }
}
