//! `tcgen05.commit` and `tcgen05.fence` (PTX ISA 9.7.16.11, 9.7.16.12).

use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::semantics::{active, shared_object};

/// `tcgen05.commit [mbar]{, ctaMask}`: an arrive-on of 1 when all earlier operations of the thread are complete.
///
/// `.sync_restrict::shared::read::mma::a` allows the arrival as soon as A has been read; the host arrives later, as it may.
pub fn tcgen05_commit(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    let space = if q.has(q::shared_cluster) { AddrSpace::SharedCluster } else { AddrSpace::Generic };
    let mask_bits = if q.has(q::multicast_cluster_32b) {
        32
    } else if q.has(q::multicast_cluster) || q.has(q::multicast_cluster_16b) {
        16
    } else {
        0
    };
    for l in active(x.mask) {
        let addr = s.first().map_or(0, |v| v[l]);
        let (rank, offset) = shared_object(x, space, addr, 8, l, "the mbarrier object")?;
        let to = if mask_bits > 0 {
            let mask = s.get(1).map_or(0, |v| v[l]) & ((1 << mask_bits) - 1);
            let size = x.ids().cluster_size();
            let ranks: Vec<u32> = active(mask as u32).map(|r| r as u32).collect();
            if let Some(&rank) = ranks.iter().find(|&&r| r >= size) {
                return Err(x.fault(FaultKind::NoSuchRank { rank, size }, l as u32));
            }
            ranks.into_iter().map(|r| (r, offset)).collect()
        } else {
            vec![(rank, offset)]
        };
        x.tensor().commit(q.has(q::cta_group_2), l as u32, to)?;
    }
    Ok(())
}

/// `tcgen05.fence::before_thread_sync`, `tcgen05.fence::after_thread_sync`: operations before the one come before operations
/// after the other, where their instructions form a pipeline (9.7.16.6.3).
pub fn tcgen05_fence(x: &mut Ctx<'_>, q: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    x.tensor().fence(q.has(q::before_thread_sync))
}

semantics! {
    warp "tcgen05.commit" => tcgen05_commit,
    warp "tcgen05.fence" => tcgen05_fence,
}
