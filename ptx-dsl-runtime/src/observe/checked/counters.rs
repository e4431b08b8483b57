//! Atomic operations of single threads, such as the arrivals at a barrier of the grid: the report of a race names the chain of them that
//! would order the accesses if it were strong enough.
//!
//! Nothing is handed on here. The table is small, and operations replace others whose place they have.

use super::actor::Actor;
use super::misses::MissEvent;
use super::shadow::ShadowedMemory;
use super::threads::Threads;
use crate::fault::TooWeak;
use crate::observe::monitor::{Access, Who};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The places of the table.
const PLACES: usize = 256;

/// The last atomic operation of a thread on an element.
#[derive(Debug, Clone, Copy)]
struct Counter {
    key: (ShadowedMemory, u64),
    warp: Actor,
    lanes: u32,
    time: u32,
    site: u32,
    releases: bool,
    acquires: bool,
    /// The number of the operation, and of the first one of this thread on the element.
    last: u64,
    first: u64,
}

impl Counter {
    fn is_of_same(&self, other: &Counter) -> bool {
        (self.key, self.warp, self.lanes, self.site) == (other.key, other.warp, other.lanes, other.site)
    }

    /// Does the thread know of an event before the operation? What it has learnt since is not told apart.
    fn is_after(&self, threads: &Threads, event: MissEvent) -> bool {
        let MissEvent { actor, lanes, time } = event;
        let own = self.warp == actor && lanes & !self.lanes == 0 && time <= self.time;
        own || threads.warp_of(self.warp).is_some_and(|warp| warp.any_knows(actor, lanes, time))
    }

    /// Would this operation, and a later one of another thread on the same element, synchronise if they were stronger?
    fn leads_to(&self, later: &Counter) -> bool {
        self.key == later.key && self.warp != later.warp && self.first < later.last
    }
}

/// A pair of atomic operations that would synchronise if they were stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WeakPair {
    pub why: TooWeak,
    pub from: u32,
    pub to: u32,
}

/// The atomic operations so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    all: Vec<Option<Counter>>,
    /// The number of operations.
    count: u64,
}

impl Counters {
    /// An atomic operation of one thread has changed an element.
    pub fn changes(&mut self, a: &Access, key: (ShadowedMemory, u64), (warp, time): (Actor, u32), releases: bool) {
        self.count += 1;
        let (who, number) = (a.who, self.count);
        let (releases, acquires) = (releases || a.order.releases(), a.order.acquires());
        let (lanes, site) = (who.lanes, who.site);
        let new = Counter { key, warp, lanes, time, site, releases, acquires, last: number, first: number };
        if self.all.is_empty() {
            self.all = vec![None; PLACES];
        }
        let place = FxBuildHasher.hash_one((key, warp, lanes, site)) as usize % PLACES;
        let old = self.all[place].filter(|old| old.is_of_same(&new));
        self.all[place] = Some(Counter { first: old.map_or(number, |old| old.first), ..new });
    }

    /// A thread executes a fence of acquire semantics: its operations before it are strong enough.
    pub fn acquire(&mut self, warp: Actor, who: Who) {
        let own = self.all.iter_mut().flatten().filter(|c| c.warp == warp && c.lanes & who.lanes != 0);
        own.for_each(|c| c.acquires = true);
    }

    /// The last pair of operations that is too weak, of which the first one comes after an event and the second one before what is `known`.
    pub fn weak_pair(
        &self,
        threads: &Threads,
        event: MissEvent,
        known: impl Fn(MissEvent) -> bool,
    ) -> Option<WeakPair> {
        let (mut latest, mut found) = (0, None);
        for to in self.all.iter().flatten() {
            let Counter { warp: actor, lanes, time, .. } = *to;
            if to.last <= latest || !known(MissEvent { actor, lanes, time }) {
                continue;
            }
            let earlier = self.all.iter().flatten().filter(|from| from.leads_to(to) && !(from.releases && to.acquires));
            if let Some(from) = earlier.filter(|from| from.is_after(threads, event)).max_by_key(|from| from.last) {
                let why = match (from.releases, to.acquires) {
                    (false, false) => TooWeak::Relaxed,
                    (false, true) => TooWeak::RelaxedStore,
                    (true, _) => TooWeak::RelaxedLoad,
                };
                (latest, found) = (to.last, Some(WeakPair { why, from: from.site, to: to.site }));
            }
        }
        found
    }
}
