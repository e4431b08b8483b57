//! The resident clusters of one host thread: their slots, and where new clusters come from.

use std::ops::Range;

use crate::machine::cluster::{Cluster, Cta};
use crate::machine::team::Team;

/// Slots for clusters.
#[derive(Debug)]
pub(crate) struct Residents {
    /// The clusters, by slot.
    pub clusters: Vec<Cluster>,
    /// The slot of the current cluster.
    pub slot: usize,
    /// Free slots, the next one to use last.
    free: Vec<usize>,
    /// A slot has become free since the last [`Residents::admit`].
    vacant: bool,
    /// Clusters, by number in the grid, that this thread has claimed from the queue and not yet started.
    claimed: Range<u64>,
    /// Clusters started.
    pub launched: u64,
    /// Clusters cancelled by cluster launch control.
    pub cancelled: u64,
}

impl Residents {
    pub fn new(slots: usize) -> Self {
        Residents {
            clusters: (0..slots).map(|_| Cluster::default()).collect(),
            slot: 0,
            free: (0..slots).rev().collect(),
            vacant: true,
            claimed: 0..0,
            launched: 0,
            cancelled: 0,
        }
    }

    /// The current cluster.
    #[inline(always)]
    pub fn here(&self) -> &Cluster {
        &self.clusters[self.slot]
    }

    /// The current cluster, to change.
    #[inline(always)]
    pub fn here_mut(&mut self) -> &mut Cluster {
        &mut self.clusters[self.slot]
    }

    /// A CTA of the current cluster.
    #[inline(always)]
    pub fn cta(&self, rank: u32) -> &Cta {
        &self.here().ctas[rank as usize]
    }

    /// A CTA of the current cluster, to change.
    #[inline(always)]
    pub fn cta_mut(&mut self, rank: u32) -> &mut Cta {
        &mut self.here_mut().ctas[rank as usize]
    }

    /// Has a slot become free since the last call?
    pub fn take_vacant(&mut self) -> bool {
        std::mem::take(&mut self.vacant)
    }

    /// Claims a pending cluster for a free slot, the next one or the `which`-th after it: slot, and number in the grid.
    pub fn admit(&mut self, team: &Team, which: u64) -> Option<(usize, u64)> {
        let slot = *self.free.last()?;
        let n = if which == 0 { team.claim(&mut self.claimed)? } else { team.take(which)? };
        self.free.pop();
        Some((slot, n))
    }

    /// The number of free slots.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Is no cluster resident?
    pub fn all_free(&self) -> bool {
        self.free.len() == self.clusters.len()
    }

    /// The number of clusters of the grid that wait for a slot.
    pub fn pending(&self, team: &Team) -> u64 {
        team.unclaimed() + (self.claimed.end - self.claimed.start)
    }

    /// Is every slot in use?
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Claims a pending cluster for the slot of one that has ended.
    pub fn claim(&mut self, team: &Team) -> Option<u64> {
        team.claim(&mut self.claimed)
    }

    /// The cluster of this slot has ended.
    pub fn vacate(&mut self, slot: usize) {
        self.clusters[slot].resident = false;
        self.free.push(slot);
        self.vacant = true;
    }
}
