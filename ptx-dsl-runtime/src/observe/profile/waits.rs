//! The waits of warps: who waits for whom, and for how many turns of the host. A turn is a region that a warp runs; the order of turns is that of the host's
//! schedule, not of a GPU.

use crate::observe::monitor::{Sync, Wait, Who};
use rustc_hash::FxHashMap;

/// An object that warps wait for, which an operation of another thread completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Object {
    /// A barrier of a CTA: slot, rank, number.
    Barrier(u32, u32, u32),
    /// The barrier of the cluster in a slot.
    Cluster(u32),
    /// An mbarrier object: slot, rank, offset.
    Mbarrier(u32, u32, u32),
}

/// A statement that a warp of a CTA executes; [`u32::MAX`] if none is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Actor {
    pub site: u32,
    pub warp: u32,
}

/// Warps that wait.
#[derive(Debug)]
struct Waiter {
    site: u32,
    since: u64,
    /// The number of completions before the wait.
    after: u64,
    objects: Vec<Object>,
}

/// The number of waits of a warp at a statement for another one, and their turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Waited {
    pub times: u64,
    pub turns: u64,
}

/// The waits of a launch.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Warps that wait, by the first one and its lanes.
    waiting: FxHashMap<(Who, u32), Waiter>,
    /// The last operation that has completed an object, with its number among all completions.
    completed: FxHashMap<Object, (u64, Actor)>,
    completions: u64,
    /// The sums, by who waited, and by who came last.
    pub all: FxHashMap<(Actor, Option<Actor>), Waited>,
}

impl Waits {
    /// A synchronisation. Those that complete something say who did it.
    pub fn sync(&mut self, what: Sync, who: Who) {
        let object = match what {
            Sync::MbarrierPhase { rank, offset } => Object::Mbarrier(who.slot, rank, offset),
            Sync::BarrierCompletes { id } => Object::Barrier(who.slot, who.rank, id),
            Sync::ClusterCompletes => Object::Cluster(who.slot),
            _ => return,
        };
        self.completions += 1;
        self.completed.insert(object, (self.completions, Actor { site: who.site, warp: who.warp }));
    }

    pub fn waits(&mut self, turn: u64, who: Who, warps: u32, wait: &Wait) {
        let objects = match wait {
            Wait::Barrier { id, .. } => vec![Object::Barrier(who.slot, who.rank, *id)],
            Wait::Cluster { .. } => vec![Object::Cluster(who.slot)],
            Wait::Phase { rank, offset, .. } => vec![Object::Mbarrier(who.slot, *rank, *offset)],
            Wait::Mbarrier(all) => {
                all.iter().map(|(rank, offset, _)| Object::Mbarrier(who.slot, *rank, *offset)).collect()
            }
            _ => Vec::new(),
        };
        let waiter = Waiter { site: who.site, since: turn, after: self.completions, objects };
        self.waiting.insert((Who { site: 0, ..who }, warps), waiter);
    }

    /// Warps go on: the statement at which they waited, and the turns of all of them together.
    pub fn resumes(&mut self, turn: u64, who: Who, warps: u32) -> Option<(u32, Waited)> {
        let waiter = self.waiting.remove(&(Who { site: 0, ..who }, warps))?;
        // what was completed before is not what ends this wait
        let by = waiter.objects.iter().filter_map(|object| self.completed.get(object));
        let by = by.filter(|(number, _)| *number > waiter.after).max_by_key(|(number, _)| *number).map(|(_, by)| *by);
        let turns = turn.saturating_sub(waiter.since);
        for warp in who.warp..who.warp + warps {
            let waited = self.all.entry((Actor { site: waiter.site, warp }, by)).or_default();
            *waited = Waited { times: waited.times + 1, turns: waited.turns + turns };
        }
        Some((waiter.site, Waited { times: warps.into(), turns: turns * u64::from(warps) }))
    }
}
