//! Accesses to the shared memory of other CTAs of a cluster: those must have started, and must stay until the access is done (9.7.9.23).

use super::actor::{Actor, COPIES, cta_of};
use super::operations::Operations;
use super::shadow::Record;
use super::threads::{Threads, Warp};
use rustc_hash::{FxHashMap, FxHashSet};

/// An access to the shared memory of another CTA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remote {
    pub record: Record,
    pub addr: u64,
    pub bytes: u32,
}

/// The last access of lanes of a warp by a statement.
type Key = (Actor, u32, u32);

/// The accesses to the CTAs of resident clusters, by slot and rank.
#[derive(Debug, Default)]
pub(super) struct Remotes {
    all: FxHashMap<(u32, u32), FxHashMap<Key, Remote>>,
    /// Warps that know of the start of a CTA.
    started: FxHashSet<(Actor, u32)>,
}

impl Remotes {
    pub fn start(&mut self, slot: u32) {
        self.all.retain(|key, _| key.0 != slot);
        self.started.clear();
    }

    /// An access by a lane of a warp. False if nothing says that the CTA, of this warp, has started.
    pub fn access(&mut self, (slot, rank): (u32, u32), of: Actor, warp: &Warp, lanes: u32, remote: Remote) -> bool {
        self.all.entry((slot, rank)).or_default().insert((warp.id, lanes, remote.record.site), remote);
        let key = (warp.id, cta_of(of));
        self.started.contains(&key) || warp.has_met(lanes.trailing_zeros() & 31, key.1) && self.started.insert(key)
    }

    /// A CTA ends: an access that none of its threads knows to be done.
    pub fn end(
        &mut self,
        (slot, rank): (u32, u32),
        threads: &Threads,
        operations: &Operations,
    ) -> impl Iterator<Item = Remote> {
        let all = self.all.remove(&(slot, rank)).unwrap_or_default();
        let mut open: Vec<_> = all.into_values().collect();
        open.retain(|remote| {
            let Record { actor, lanes, time, .. } = remote.record;
            let known = |actor, lanes, time| threads.is_known_in(slot, rank, actor, lanes, time);
            let done = match actor {
                COPIES => operations.is_complete(time, |object, phase| known(object, 1, phase)),
                _ => known(actor, lanes, time),
            };
            !done
        });
        open.sort_by_key(|remote| remote.record.site);
        open.into_iter()
    }
}
