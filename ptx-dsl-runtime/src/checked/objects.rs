//! What barriers and strong accesses hand from thread to thread.

use super::actor::{Actor, cta_of, includes};
use super::clock::Clock;
use super::misses::Events;
use super::shadow::Memory;
use super::threads::{Fenced, Published, Threads, Warp, join_fenced};
use crate::monitor::{Access, Order, Scope, Who};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Lanes of a warp: rank, warp, lanes.
type Lanes = (u32, u32, u32);

/// One generation of a barrier.
#[derive(Debug, Default)]
struct Generation {
    /// By threads that do not wait.
    published: Option<Published>,
    /// Warps and lanes.
    waiting: Vec<(u32, u32)>,
    parts: Parts,
    /// It is in `Barriers::used`.
    used: bool,
}

/// Parts of warps that have arrived: rank, warp, statement, and whether that is aligned.
type Parts = Vec<(u32, u32, u32, bool)>;

/// The barrier of a cluster.
#[derive(Debug, Default)]
struct ClusterBarrier {
    published: Published,
    /// By relaxed arrivals too.
    met: Clock,
    /// Of the last complete phase: what is released, and all.
    done: Option<(Rc<Clock>, Rc<Clock>)>,
    /// Lanes that have arrived in the current phase, by rank and warp. Other lanes of the warp may still have to wait for the last one.
    arrived: FxHashMap<(u32, u32), u32>,
    /// Waiting for the phase that is not complete.
    waiting: Vec<Lanes>,
    parts: Parts,
}

/// The barriers of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    /// By slot, rank (16), number (16).
    cta: Vec<Generation>,
    /// Those that are not new.
    used: Vec<usize>,
    /// Of `bar.warp.sync`, by slot, rank, warp and members.
    warps: FxHashMap<(u32, u32, u32, u32), Published>,
    /// By slot.
    cluster: FxHashMap<u32, ClusterBarrier>,
}

impl Barriers {
    pub fn start(&mut self, slot: u32) {
        let from = slot as usize * 256;
        for at in self.used.extract_if(.., |at| (from..from + 256).contains(at)) {
            self.cta[at] = Generation::default();
        }
        self.warps.retain(|key, _| key.0 != slot);
        self.cluster.remove(&slot);
    }

    fn generation(&mut self, who: Who, id: u32) -> &mut Generation {
        let at = ((who.slot * 16 + who.rank) * 16 + (id & 15)) as usize;
        if self.cta.len() <= at {
            self.cta.resize_with(at + 1, Generation::default);
        }
        if !std::mem::replace(&mut self.cta[at].used, true) {
            self.used.push(at);
        }
        &mut self.cta[at]
    }

    pub fn arrive(&mut self, id: u32, who: Who, waits: bool, threads: &mut Threads) {
        let generation = self.generation(who, id);
        if waits {
            generation.waiting.push((who.warp, who.lanes));
        } else if let Some(warp) = threads.of(who) {
            generation.published.get_or_insert_default().join(&warp.publish(who.lanes));
        }
    }

    pub fn complete(&mut self, who: Who, id: u32, threads: &mut Threads) {
        let generation = self.generation(who, id);
        let published = generation.published.take();
        generation.waiting.sort_unstable();
        threads.meet(who.slot, who.rank, &generation.waiting, published);
        generation.waiting.clear();
        generation.parts.clear();
    }

    /// Lanes of a warp arrive at barrier `id`, or at that of the cluster. If others of the warp have arrived at another statement, and
    /// one of the two is aligned: that statement.
    pub fn apart(&mut self, who: Who, id: Option<u32>, aligned: bool) -> Option<u32> {
        if who.lanes == u32::MAX {
            return None;
        }
        let parts = match id {
            Some(id) => &mut self.generation(who, id).parts,
            None => &mut self.cluster.entry(who.slot).or_default().parts,
        };
        let other = parts.iter().find(|(rank, warp, site, also)| {
            (*rank, *warp) == (who.rank, who.warp) && *site != who.site && (aligned || *also)
        });
        let other = other.map(|part| part.2);
        parts.push((who.rank, who.warp, who.site, aligned));
        other
    }

    /// `bar.warp.sync`: lanes arrive, and go on.
    pub fn warp(&mut self, who: Who, members: u32, arrives: bool, warp: &mut Warp) {
        let key = (who.slot, who.rank, who.warp, members);
        if arrives {
            let published = warp.publish(who.lanes);
            self.warps.entry(key).or_default().join(&published);
        } else if let Some(all) = self.warps.get(&key) {
            warp.replace(who.lanes, &Rc::new(all.known.clone()), &all.fenced);
        }
    }

    pub fn cluster_arrive(&mut self, who: Who, release: bool, published: Published) {
        let barrier = self.cluster.entry(who.slot).or_default();
        *barrier.arrived.entry((who.rank, who.warp)).or_default() |= who.lanes;
        barrier.met.join(&published.known);
        if release {
            barrier.published.join(&published);
        } else {
            join_fenced(&mut barrier.published.fenced, &published.fenced);
        }
    }

    pub fn cluster_wait(&mut self, who: Who, threads: &mut Threads) {
        let barrier = self.cluster.entry(who.slot).or_default();
        let arrived = barrier.arrived.get(&(who.rank, who.warp)).is_some_and(|lanes| lanes & who.lanes != 0);
        if arrived {
            barrier.waiting.push((who.rank, who.warp, who.lanes));
        } else if let (Some((done, met)), Some(warp)) = (&barrier.done, threads.of(who)) {
            warp.learn(who.lanes, done);
            warp.meet(who.lanes, met);
        }
    }

    pub fn cluster_complete(&mut self, slot: u32, threads: &mut Threads) {
        let barrier = self.cluster.entry(slot).or_default();
        let Published { mut known, fenced } = std::mem::take(&mut barrier.published);
        // relaxed arrivals after a fence, and relaxed waits before one, synchronise too
        fenced.iter().for_each(|(_, clock)| known.join(clock));
        let (done, met) = (Rc::new(known), Rc::new(std::mem::take(&mut barrier.met)));
        for (rank, warp, lanes) in barrier.waiting.drain(..) {
            if let Some(warp) = threads.warp(slot, rank, warp) {
                warp.learn(lanes, &done);
                warp.meet(lanes, &met);
            }
        }
        barrier.done = Some((done, met));
        barrier.parts.clear();
        barrier.arrived.clear();
    }
}

/// Who stores, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Issuer {
    warp: Actor,
    lanes: u32,
    time: u32,
    site: u32,
}

impl Issuer {
    pub fn of(warp: &Warp, access: &Access) -> Issuer {
        Issuer { warp: warp.id, lanes: access.who.lanes, time: warp.time, site: access.who.site }
    }

    /// Its own events until then.
    fn events(&self) -> Events {
        Events::Of { warp: self.warp, lanes: self.lanes, before: self.time + 1 }
    }
}

/// What strong stores to a place have published.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// By release patterns: scope, clock, issuer.
    released: Vec<(Scope, Rc<Clock>, Actor)>,
    last: Issuer,
    /// The last store released nothing.
    relaxed: bool,
}

impl Message {
    pub fn new(issuer: Issuer) -> Message {
        Message { released: Vec::new(), last: issuer, relaxed: true }
    }

    /// A strong store publishes this. An atomic one continues the chain of those before it.
    pub fn publish(&mut self, issuer: Issuer, clocks: Fenced, atomic: bool) {
        if !atomic {
            self.released.clear();
        }
        (self.last, self.relaxed) = (issuer, clocks.is_empty());
        for (scope, clock) in clocks {
            let same_cta = |warp: Actor| cta_of(warp) == cta_of(issuer.warp);
            let same = |m: &&mut (Scope, Rc<Clock>, Actor)| m.0 == scope && (scope >= Scope::Gpu || same_cta(m.2));
            match self.released.iter_mut().find(same) {
                Some((_, known, last)) => {
                    Rc::make_mut(known).join(&clock);
                    *last = issuer.warp;
                }
                None => self.released.push((scope, clock, issuer.warp)),
            }
        }
    }

    /// What a strong load of `scope` by a thread of `warp` sees.
    pub fn seen(&self, warp: Actor, scope: Scope) -> Vec<Seen> {
        let site = self.last.site;
        let mut all = Vec::new();
        for (published, clock, issuer) in &self.released {
            let why = if !includes(*published, *issuer, warp) {
                Some("the scope of the release does not include the thread that acquires")
            } else if !includes(scope, *issuer, warp) {
                Some("the scope of the acquire does not include the thread that releases")
            } else {
                None
            };
            let what = match why {
                None => Observed::Released { clock: clock.clone(), issuer: *issuer },
                Some(why) => Observed::Missed { events: Events::Known(clock.clone()), why },
            };
            all.push(Seen { what, site });
        }
        if self.relaxed && self.last.warp != warp {
            let why = "the store is `.relaxed`, and no fence of release semantics precedes it";
            all.push(Seen { what: Observed::Missed { events: self.last.events(), why }, site });
        }
        all
    }
}

/// What a load sees of a message.
pub(super) struct Seen {
    pub what: Observed,
    /// The statement of the store.
    pub site: u32,
}

/// A part of a message.
pub(super) enum Observed {
    /// What this warp has released to whoever acquires it.
    Released { clock: Rc<Clock>, issuer: Actor },
    /// Events that do not synchronise, and why.
    Missed { events: Events, why: &'static str },
}

/// The messages in memory.
#[derive(Debug, Default)]
pub(super) struct Messages {
    all: FxHashMap<(Memory, u64), Message>,
    /// The pieces of memory in which they are, or were.
    lines: FxHashSet<(Memory, u64)>,
    /// One of them is in shared memory.
    shared: bool,
}

/// Bytes of a piece.
const LINE: u64 = 64;

impl Messages {
    pub fn start(&mut self, slot: u32) {
        if !self.shared {
            return;
        }
        let stays = |memory: &Memory| !matches!(memory, Memory::Shared { slot: s, .. } if *s == slot);
        self.all.retain(|(memory, _), _| stays(memory));
        self.lines.retain(|(memory, _)| stays(memory));
        self.shared = self.lines.iter().any(|(memory, _)| matches!(memory, Memory::Shared { .. }));
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Is there a message in these bytes, perhaps?
    pub fn may_be_in(&self, memory: Memory, from: u64, len: u64) -> bool {
        (from / LINE..(from + len).div_ceil(LINE)).any(|line| self.lines.contains(&(memory, line)))
    }

    /// A weak store ends what was there.
    pub fn overwrite(&mut self, key: (Memory, u64)) {
        if !self.all.is_empty() {
            self.all.remove(&key);
        }
    }

    /// A strong store. An atomic one continues the chain of those before it.
    pub fn send(&mut self, key: (Memory, u64), issuer: Issuer, clocks: Fenced, order: Order) {
        let message = match self.all.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            // counters are many, and most publish nothing
            Entry::Vacant(_) if order.atomic && clocks.is_empty() => return,
            Entry::Vacant(place) => {
                self.lines.insert((key.0, key.1 / LINE));
                self.shared |= matches!(key.0, Memory::Shared { .. });
                place.insert(Message::new(issuer))
            }
        };
        message.publish(issuer, clocks, order.atomic);
    }

    /// What a strong load of `scope` by a thread of `warp` sees there.
    pub fn seen(&self, key: (Memory, u64), warp: Actor, scope: Scope) -> Vec<Seen> {
        self.all.get(&key).map_or(Vec::new(), |message| message.seen(warp, scope))
    }
}
