//! Accesses of neighbouring warps of a CTA in one instruction.

use super::Checked;
use super::operations::View;
use super::shadow::{Record, ShadowedMemory};
use super::threads::Warp;
use super::what::RecordKind;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Who};
use crate::observe::probe::Pieces;

impl Checked {
    /// Weak accesses by all lanes. False if there is more to it than that nothing is wrong: then each warp comes by itself.
    pub(super) fn all_warps(&mut self, a: &Access, pieces: &Pieces) -> bool {
        let memory = match a.place {
            Place::Shared { rank, .. } if rank == a.who.rank => ShadowedMemory::Shared { slot: a.who.slot, rank },
            Place::Global { segment, .. } => ShadowedMemory::Global { segment },
            Place::Param { .. } => return true,
            _ => return false,
        };
        if self.weak.is_some() || a.write && !self.messages.is_empty() || !self.all_inside(a, pieces) {
            return false;
        }
        let from = match a.place {
            Place::Shared { offset, .. } => offset.into(),
            Place::Global { offset, .. } => offset,
            _ => return false,
        };
        let count = pieces.count * pieces.lanes / 32;
        let Some(warps) = self.threads.all_access(a.who, count) else { return false };
        let Some(&Warp { id: actor, time, .. }) = warps.first() else { return false };
        let what = if a.write { RecordKind::Store } else { RecordKind::Load };
        let new = Record { actor, time, lanes: u32::MAX, site: a.who.site, bytes: 0, strong: None, what };
        // whoever reads shared memory needs a write before
        let reads = matches!(memory, ShadowedMemory::Shared { .. }) && !a.write;
        let (lanes, operations) = (u32::MAX, &self.operations);
        let view = View { warp: &warps[0], lanes, operations, bridge: None, reads: false, content: None };
        let shadow = self.shadows.of(memory);
        shadow.pieces((from, a.bytes), pieces, reads, new, (warps, view))
    }

    /// Weak loads from shared memory by all lanes, in several statements. False as above.
    pub(super) fn all_warps_of_chain(&mut self, a: &Access, pieces: &Pieces, others: &[(u32, i32)]) -> bool {
        let Place::Shared { rank, offset } = a.place else { return false };
        if self.weak.is_some() || rank != a.who.rank || !self.all_inside(a, pieces) {
            return false;
        }
        let is_inside = |&(site, distance): &(u32, i32)| {
            let place = Place::Shared { rank, offset: offset.wrapping_add_signed(distance) };
            self.all_inside(&Access { place, who: Who { site, ..a.who }, ..*a }, pieces)
        };
        if !others.iter().all(is_inside) {
            return false;
        }
        let Some(warps) = self.threads.all_access(a.who, pieces.count * pieces.lanes / 32) else { return false };
        let Some(warp) = warps.first() else { return false };
        let Warp { id: actor, time, .. } = *warp;
        let (site, what) = (a.who.site, RecordKind::Load);
        let new = Record { actor, time, lanes: u32::MAX, site, bytes: 0, strong: None, what };
        let memory = ShadowedMemory::Shared { slot: a.who.slot, rank };
        self.shadows.of(memory).chain((offset.into(), a.bytes), pieces, new, others, warp)
    }
}
