//! The mbarrier objects: what their phases hand from thread to thread.

mod bytes;
mod events;
#[cfg(test)]
mod tests;
mod tx;
mod unfinished;

use super::actor::{self, Actor};
use super::clock::{Bridge, Clock};
use super::phases::Phases;
use super::threads::Warp;
use crate::observe::monitor::{Order, Scope, Who};
use bytes::ObjectBytes;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use tx::Tx;

/// Slot, rank, offset.
pub(super) type MbarrierKey = (u32, u32, u32);

/// The semantics by which arrivals of a phase publish what their threads know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Publishing {
    /// Release semantics, in the CTA of the object.
    Released,
    /// Release semantics in another CTA, with a scope that includes the waiting threads.
    Remote,
    /// Release semantics in another CTA, with the scope `.cta`.
    Narrow,
    /// No release semantics.
    Relaxed,
    /// An arrival of a commit, which does not track these operations.
    Untracked,
}

/// The clocks that the arrivals of a phase have published.
#[derive(Debug, Default)]
struct Phase {
    released: Clock,
    remote: Option<Clock>,
    narrow: Option<Clock>,
    relaxed: Option<Clock>,
    untracked: Option<Clock>,
}

/// The event that completes an operation on an mbarrier object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Completion {
    /// Synchronisation with its thread.
    Thread,
    /// Synchronisation with its thread, or the end of the phase that counts it: the actor of the object, and the phase.
    Phase(Actor, u32),
    /// The objects are too many: it counts as done.
    Forgotten,
}

impl Completion {
    /// Does whoever knows of phases know that the operation is done?
    pub fn is_known(self, known: impl FnOnce(Actor, u32) -> bool) -> bool {
        match self {
            Completion::Thread => false,
            Completion::Phase(object, phase) => known(object, phase),
            Completion::Forgotten => true,
        }
    }
}

/// An mbarrier object, or what was one.
#[derive(Debug, Default)]
pub(super) struct Mbarrier {
    /// Rank and offset.
    place: (u32, u32),
    /// The actor of the object; `None` if the CTA has too many objects.
    actor: Option<Actor>,
    /// Phases that are complete, those of earlier objects at this place included.
    complete: u32,
    current: Phase,
    /// The clocks that the last complete phase has published; the released one is the first.
    done: Vec<(Rc<Clock>, Publishing)>,
    /// The last arrival.
    site: u32,
    /// The last commit that has not tracked the operations of other threads.
    commit_site: u32,
    /// The phases since `mbarrier.init`.
    phases: Option<Phases>,
    /// The accesses to the bytes of the object, while it is live.
    bytes: Option<ObjectBytes>,
    /// The bytes that copies announce and deliver.
    tx: Tx,
}

impl Mbarrier {
    /// The event that completes an operation that happens now, and that the current phase counts or not.
    fn completion(&self, counts: bool) -> Completion {
        match self.actor {
            _ if !counts => Completion::Thread,
            Some(actor) => Completion::Phase(actor, self.complete),
            None => Completion::Forgotten,
        }
    }

    /// Lanes of a warp arrive.
    fn arrive(&mut self, warp: &mut Warp, order: Order, who: Who) {
        if let Some(phases) = &mut self.phases {
            phases.arrive(warp, who.lanes);
        }
        let own = self.place.0 == who.rank;
        self.site = who.site;
        if order.releases() {
            return warp.publish_to(who.lanes, self.current.of(own, order, meant_scope(order)));
        }
        let published = warp.publish(who.lanes);
        published.fenced.iter().for_each(|(scope, clock)| self.current.of(own, order, *scope).join(clock));
        self.current.relaxed.get_or_insert_default().join(&published.known);
    }

    /// A phase is complete.
    fn complete(&mut self) {
        if let Some(phases) = &mut self.phases {
            phases.complete();
        }
        self.complete += 1;
        let Phase { released, remote, narrow, relaxed, untracked } = &mut self.current;
        if let Some(actor) = self.actor {
            released.learn(actor, 1, self.complete);
        }
        self.done.truncate(1);
        match self.done.first_mut().and_then(|(clock, _)| Rc::get_mut(clock)) {
            // nobody else has the clock of the phase before: its memory is that of the next one
            Some(clock) => {
                std::mem::swap(clock, released);
                released.clear();
            }
            None => self.done = vec![(Rc::new(std::mem::take(released)), Publishing::Released)],
        }
        let others = [
            (remote, Publishing::Remote),
            (narrow, Publishing::Narrow),
            (relaxed, Publishing::Relaxed),
            (untracked, Publishing::Untracked),
        ];
        self.done.extend(others.into_iter().filter_map(|(clock, how)| Some((Rc::new(clock.take()?), how))));
    }
}

/// The scope of an operation on an mbarrier object. The default is `.cta`, but compilers write none for objects of other CTAs.
fn meant_scope(order: Order) -> Scope {
    if order.scope_is_written { order.scope } else { Scope::Cluster }
}

impl Phase {
    /// The clock to which arrivals in the CTA of the object or another one publish with a scope.
    fn of(&mut self, own: bool, order: Order, scope: Scope) -> &mut Clock {
        match () {
            () if own => &mut self.released,
            () if meant_scope(order).min(scope) >= Scope::Cluster => self.remote.get_or_insert_default(),
            () => self.narrow.get_or_insert_default(),
        }
    }
}

/// The objects of a cluster.
#[derive(Debug, Default)]
struct ClusterObjects {
    all: Vec<Mbarrier>,
    /// The index of each object in `all`, by rank and offset.
    places: FxHashMap<(u32, u32), usize>,
    /// The last ones that were used, by a hash of the offset: those of a ring are neighbours.
    last: [usize; 16],
    /// The number of objects of each CTA.
    numbers: [u32; 16],
}

impl ClusterObjects {
    /// The index of an object in `all`.
    #[inline]
    fn number(&mut self, place: (u32, u32)) -> Option<usize> {
        let last = &mut self.last[place.1 as usize / 8 % 16];
        if self.all.get(*last).is_none_or(|object| object.place != place) {
            *last = *self.places.get(&place)?;
        }
        Some(*last)
    }

    #[inline]
    fn find(&mut self, place: (u32, u32)) -> Option<&mut Mbarrier> {
        self.number(place).and_then(|number| self.all.get_mut(number))
    }

    #[cold]
    fn insert(&mut self, object: Mbarrier) {
        self.places.insert(object.place, self.all.len());
        self.all.push(object);
    }
}

/// The mbarrier objects of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct Mbarriers {
    /// The objects of the cluster in each slot.
    clusters: Vec<ClusterObjects>,
    /// Commits of which arrivals are to come: by warp, lanes, number.
    commits: FxHashMap<(Actor, u32, u64), Commit>,
}

/// A `tcgen05.commit` that has not arrived on all its objects.
#[derive(Debug)]
pub(super) struct Commit {
    /// The clock of the commit's thread.
    pub known: Clock,
    /// The operations of other threads that it comes after and does not track.
    pub others: Option<Clock>,
    /// The number of arrivals that are to come.
    pub arrivals: u32,
}

impl Mbarriers {
    pub fn start(&mut self, slot: u32) {
        if let Some(cluster) = self.clusters.get_mut(slot as usize) {
            cluster.all.clear();
            cluster.places.clear();
            cluster.numbers = [0; 16];
        }
    }

    #[inline]
    fn cluster(&mut self, slot: u32) -> &mut ClusterObjects {
        let slot = slot as usize;
        if self.clusters.len() <= slot {
            self.clusters.resize_with(slot + 1, ClusterObjects::default);
        }
        &mut self.clusters[slot]
    }

    #[inline]
    fn find(&mut self, (slot, rank, offset): MbarrierKey) -> Option<&mut Mbarrier> {
        self.clusters.get_mut(slot as usize)?.find((rank, offset))
    }

    /// An object, made if need be.
    #[inline]
    fn of(&mut self, (slot, rank, offset): MbarrierKey) -> &mut Mbarrier {
        let (cluster, place) = (self.cluster(slot), (rank, offset));
        let number = cluster.number(place).unwrap_or_else(|| {
            cluster.insert(Mbarrier { place, ..Mbarrier::default() });
            cluster.all.len() - 1
        });
        &mut cluster.all[number]
    }

    /// An object of the CTA of this warp.
    fn init(&mut self, (slot, rank, offset): MbarrierKey, warp: Actor) {
        let (cluster, place) = (self.cluster(slot), (rank, offset));
        if cluster.find(place).is_none() {
            let number = &mut cluster.numbers[rank as usize & 15];
            *number += 1;
            let actor = actor::object(warp, *number - 1);
            cluster.insert(Mbarrier { place, actor, ..Mbarrier::default() });
        }
        if let Some(known) = cluster.find(place) {
            let (actor, complete, phases) = (known.actor, known.complete + 1, Some(Phases::default()));
            *known = Mbarrier { place, actor, complete, phases, ..Mbarrier::default() };
        }
    }

    /// The current phase of an object.
    pub fn phase(&mut self, object: MbarrierKey) -> Option<(Actor, u32)> {
        let object = self.find(object)?;
        Some((object.actor?, object.complete))
    }

    /// The event that completes an operation on an object that happens now, and that its current phase counts or not.
    pub fn completion(&mut self, object: MbarrierKey, counts: bool) -> Completion {
        self.find(object).map_or(Completion::Thread, |object| object.completion(counts))
    }

    /// A commit makes known what its thread knows, when it arrives.
    pub fn commit(&mut self, commit: (Actor, u32, u64), of: Commit) {
        if of.arrivals > 0 {
            self.commits.insert(commit, of);
        }
    }

    /// A commit at this statement arrives on an object.
    pub fn commit_arrives(&mut self, commit: (Actor, u32, u64), object: MbarrierKey, site: u32) {
        let Some(mut of) = self.commits.remove(&commit) else { return };
        let object = self.of(object);
        object.current.released.join(&of.known);
        if let Some(others) = &of.others {
            object.current.untracked.get_or_insert_default().join(others);
            object.commit_site = site;
        }
        of.arrivals -= 1;
        self.commit(commit, of);
    }

    /// Operations before this time are complete when the current phase is.
    pub fn completes(&mut self, object: MbarrierKey, actor: Actor, lanes: u32, time: u32) {
        self.of(object).current.released.learn(actor, lanes, time);
    }

    /// `tcgen05` operations complete with the phase. A commit is a `tcgen05.fence::before_thread_sync` too.
    pub fn completes_tensor(&mut self, object: MbarrierKey, actor: Actor, lanes: u32, time: u32) {
        let released = &mut self.of(object).current.released;
        released.learn(actor, lanes, time);
        released.add(Bridge::TensorReleased, [(actor, lanes, time)]);
    }

    /// A phase of an object is complete.
    pub fn complete(&mut self, object: MbarrierKey) {
        self.of(object).complete();
    }
}
