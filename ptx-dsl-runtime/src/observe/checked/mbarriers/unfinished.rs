//! Phases that are complete although a copy that completes bytes of their object is not.

use super::{MbarrierKey, Mbarriers};
use crate::fault::EarlyPhase;
use crate::observe::checked::Checked;
use crate::observe::checked::actor::COPIES;
use crate::observe::checked::shadow::Record;
use crate::observe::monitor::Who;

impl Checked {
    /// `expect_tx` counts bytes in the current phase of an object.
    pub(in crate::observe::checked) fn expects(&mut self, object: MbarrierKey, bytes: u32) {
        let object = self.mbarriers.of(object);
        object.tx.expect(object.complete, bytes);
    }

    /// A copy starts that will complete bytes of an object.
    pub(in crate::observe::checked) fn copy_starts(&mut self, copy: u64, object: MbarrierKey, bytes: u32, who: Who) {
        let Some(warp) = self.threads.of(who) else { return };
        let warp = warp.id;
        let time = self.operations.start(copy, warp, who.lanes.trailing_zeros() & 31);
        if object.1 != who.rank {
            self.remotes.starts_copy(object, warp, who, time);
        }
        let object = self.mbarriers.of(object);
        object.tx.start(object.complete, bytes);
        if let Some(actor) = object.actor {
            self.operations.starts_in(time, (actor, object.complete));
        }
    }

    /// The phase that a thread has seen complete and that should have waited for a copy which it does not know to be complete: the one
    /// in which the copy has started, or the one before.
    pub(in crate::observe::checked) fn early_phase(&mut self, who: Who, copy: Record) -> Option<EarlyPhase> {
        let (actor, started) = self.operations.start_of(copy.time).filter(|_| copy.actor == COPIES)?;
        let warp = self.threads.of(who)?;
        let lane = who.lanes.trailing_zeros() & 31;
        let phase = (started.saturating_sub(1)..=started).rev().find(|phase| warp.knows(lane, actor, 1, *phase))?;
        let (offset, bytes) = self.mbarriers.bytes_of(actor, phase)?;
        let bytes = bytes.map(|bytes| (bytes.expected, bytes.started));
        Some(EarlyPhase { object: format!("mbarrier {offset:#x}"), offset, pending: phase == started, bytes })
    }
}

impl Mbarriers {
    /// The place of an object in shared memory, and the bytes of one of its phases.
    fn bytes_of(&self, actor: u32, phase: u32) -> Option<(u32, Option<super::tx::TxBytes>)> {
        let mut all = self.clusters.iter().flat_map(|cluster| &cluster.all);
        let object = all.find(|object| object.actor == Some(actor))?;
        Some((object.place.1, object.tx.at(phase, object.complete)))
    }
}
