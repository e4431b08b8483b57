//! The clocks that barriers hand from thread to thread.

use super::clock::Clock;
use super::misses::{Events, Misses};
use super::threads::{Published, Threads, Warp, join_fenced};
use crate::fault::TooWeak;
use crate::observe::monitor::Who;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// One generation of a barrier.
#[derive(Debug, Default)]
struct Generation {
    /// The clocks that threads which do not wait have published.
    published: Option<Published>,
    /// Warps and lanes.
    waiting: Vec<(u32, u32)>,
    parts: Parts,
    /// Whether the generation is in `Barriers::used`.
    used: bool,
}

/// Parts of warps that have arrived: rank, warp, statement, and whether that is aligned.
type Parts = Vec<(u32, u32, u32, bool)>;

/// The barrier of a cluster.
#[derive(Debug, Default)]
struct ClusterBarrier {
    published: Published,
    /// The clock of all arrivals, relaxed ones included.
    met: Clock,
    /// The clock of the relaxed arrivals, and the statement of the last of them.
    relaxed: Option<(Clock, u32)>,
    /// The last complete phase.
    done: Option<CompletedBarrier>,
    /// Lanes that have arrived in the current phase, by rank and warp. Other lanes of the warp may still have to wait for the last one.
    arrived: FxHashMap<(u32, u32), u32>,
    /// Waiting for the phase that is not complete.
    waiting: Vec<Who>,
    parts: Parts,
}

/// The clocks that a complete phase of the barrier of a cluster publishes.
#[derive(Debug)]
struct CompletedBarrier {
    released: Rc<Clock>,
    met: Rc<Clock>,
    relaxed: Option<(Rc<Clock>, u32)>,
}

impl CompletedBarrier {
    /// A thread has waited for it.
    fn seen(&self, who: Who, warp: &mut Warp, misses: &mut Misses) {
        warp.learn(who.lanes, &self.released);
        warp.meet(who.lanes, &self.met);
        if let Some((clock, from)) = &self.relaxed {
            misses.remember(who, Events::Known(clock.clone()), TooWeak::RelaxedArrival, *from);
        }
    }
}

/// The barriers of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    /// The generations of the barriers of CTAs, by slot, rank (16), number (16).
    cta: Vec<Generation>,
    /// The generations that are not new.
    used: Vec<usize>,
    /// The arrivals at `bar.warp.sync`, by slot, rank, warp and members.
    warps: FxHashMap<(u32, u32, u32, u32), Published>,
    /// The barrier of the cluster in each slot.
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

    /// Records lanes of a warp that arrive at barrier `id`, or at that of the cluster. Returns the statement at which other lanes of the
    /// warp have arrived, if that is another one and one of the two is aligned.
    pub fn divergent_arrival(&mut self, who: Who, id: Option<u32>, aligned: bool) -> Option<u32> {
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
            let (relaxed, site) = barrier.relaxed.get_or_insert_default();
            relaxed.join(&published.known);
            *site = who.site;
        }
    }

    pub fn cluster_wait(&mut self, who: Who, threads: &mut Threads, misses: &mut Misses) {
        let barrier = self.cluster.entry(who.slot).or_default();
        let arrived = barrier.arrived.get(&(who.rank, who.warp)).is_some_and(|lanes| lanes & who.lanes != 0);
        if arrived {
            barrier.waiting.push(who);
        } else if let (Some(done), Some(warp)) = (&barrier.done, threads.of(who)) {
            done.seen(who, warp, misses);
        }
    }

    pub fn cluster_complete(&mut self, slot: u32, threads: &mut Threads, misses: &mut Misses) {
        let barrier = self.cluster.entry(slot).or_default();
        let Published { mut known, fenced } = std::mem::take(&mut barrier.published);
        // relaxed arrivals after a fence, and relaxed waits before one, synchronise too
        fenced.iter().for_each(|(_, clock)| known.join(clock));
        let relaxed = barrier.relaxed.take().map(|(clock, site)| (Rc::new(clock), site));
        let done =
            CompletedBarrier { released: Rc::new(known), met: Rc::new(std::mem::take(&mut barrier.met)), relaxed };
        for who in barrier.waiting.drain(..) {
            if let Some(warp) = threads.of(who) {
                done.seen(who, warp, misses);
            }
        }
        barrier.done = Some(done);
        barrier.parts.clear();
        barrier.arrived.clear();
    }
}
