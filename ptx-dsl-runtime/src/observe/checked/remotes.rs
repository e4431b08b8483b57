//! Accesses to the shared memory of other CTAs of a cluster: those must have started, and must stay until the access is done (9.7.9.23).

use super::actor::{Actor, COPIES, cta_of};
use super::mbarriers::{Completion, MbarrierKey};
use super::operations::Operations;
use super::shadow::Record;
use super::threads::{Threads, Warp};
use crate::observe::monitor::Who;
use rustc_hash::{FxHashMap, FxHashSet};

/// An access to the shared memory of another CTA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remote {
    pub record: Record,
    pub addr: u64,
    pub bytes: u32,
    pub done: Completion,
}

/// The last access of lanes of a warp by a statement.
type RemoteKey = (Actor, u32, u32);

/// The accesses to the CTAs of resident clusters, by slot and rank.
#[derive(Debug, Default)]
pub(super) struct Remotes {
    all: FxHashMap<(u32, u32), FxHashMap<RemoteKey, Remote>>,
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

    /// The operation of a lane on an mbarrier object of another CTA was the start of a copy, and is done when the copy is.
    pub fn starts_copy(&mut self, object: MbarrierKey, warp: Actor, who: Who, time: u32) {
        let of_cta = self.all.get_mut(&(object.0, object.1));
        if let Some(remote) = of_cta.and_then(|all| all.get_mut(&(warp, who.lanes, who.site))) {
            (remote.record.actor, remote.record.time, remote.done) = (COPIES, time, Completion::Thread);
        }
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
            !done && !remote.done.is_known(|object, phase| known(object, 1, phase))
        });
        open.sort_by_key(|remote| remote.record.site);
        open.into_iter()
    }
}
