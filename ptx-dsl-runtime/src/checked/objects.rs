//! What barriers and mbarrier objects hand from thread to thread.

use super::actor::{self, Actor};
use super::clock::{Bridge, Clock};
use super::threads::{Published, Threads, Warp, join_fenced};
use crate::monitor::{Order, Scope, Who};
use rustc_hash::FxHashMap;
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

/// Slot, rank, offset.
type Object = (u32, u32, u32);

/// How arrivals of a phase publish what their threads know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Publishing {
    /// With release semantics, in the CTA of the object.
    Released,
    /// The same in another CTA, with a scope that includes the waiting threads.
    Remote,
    /// The same, but the scope is `.cta`.
    Narrow,
    /// Without release semantics.
    Relaxed,
}

/// What the arrivals of a phase have published.
#[derive(Debug, Default)]
struct Phase {
    released: Clock,
    remote: Option<Clock>,
    narrow: Option<Clock>,
    relaxed: Option<Clock>,
}

#[derive(Debug, Default)]
struct Mbarrier {
    /// `None` if the CTA has too many objects.
    actor: Option<Actor>,
    /// Phases that are complete, those of earlier objects at this place included.
    phases: u32,
    current: Phase,
    /// Of the last complete phase.
    done: Vec<(Rc<Clock>, Publishing)>,
    /// The last arrival.
    site: u32,
}

/// The mbarrier objects of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct Mbarriers {
    objects: FxHashMap<Object, Mbarrier>,
    /// What the threads of commits knew, and how many arrivals of each are to come: by warp, lanes, number.
    commits: FxHashMap<(Actor, u32, u64), (Clock, u32)>,
    /// Objects by slot and rank.
    numbers: FxHashMap<(u32, u32), u32>,
}

impl Mbarriers {
    pub fn start(&mut self, slot: u32) {
        self.objects.retain(|key, _| key.0 != slot);
        self.numbers.retain(|key, _| key.0 != slot);
    }

    /// An object of the CTA of this warp.
    pub fn init(&mut self, object: Object, warp: Actor) {
        let numbers = self.numbers.entry((object.0, object.1)).or_default();
        let known = self.objects.entry(object).or_insert_with(|| {
            *numbers += 1;
            Mbarrier { actor: actor::object(warp, *numbers - 1), ..Mbarrier::default() }
        });
        *known = Mbarrier { actor: known.actor, phases: known.phases + 1, ..Mbarrier::default() };
    }

    /// The current phase of an object.
    pub fn phase(&self, object: Object) -> Option<(Actor, u32)> {
        let object = self.objects.get(&object)?;
        Some((object.actor?, object.phases))
    }

    /// A commit makes known what its thread knows, when it arrives.
    pub fn commit(&mut self, commit: (Actor, u32, u64), known: Clock, arrivals: u32) {
        if arrivals > 0 {
            self.commits.insert(commit, (known, arrivals));
        }
    }

    /// It arrives on an object.
    pub fn commit_arrives(&mut self, commit: (Actor, u32, u64), object: Object) {
        let Some((known, arrivals)) = self.commits.get_mut(&commit) else { return };
        self.objects.entry(object).or_default().current.released.join(known);
        *arrivals -= 1;
        if *arrivals == 0 {
            self.commits.remove(&commit);
        }
    }

    /// Operations before this time are complete when the current phase is.
    pub fn completes(&mut self, object: Object, actor: Actor, lanes: u32, time: u32) {
        self.objects.entry(object).or_default().current.released.learn(actor, lanes, time);
    }

    /// The same of `tcgen05` operations. A commit is a `tcgen05.fence::before_thread_sync` too.
    pub fn completes_tensor(&mut self, object: Object, actor: Actor, lanes: u32, time: u32) {
        let released = &mut self.objects.entry(object).or_default().current.released;
        released.learn(actor, lanes, time);
        released.add(Bridge::TensorReleased, [(actor, lanes, time)]);
    }

    /// Threads of the CTA with this rank arrive.
    pub fn arrive(&mut self, object: Object, published: Published, order: Order, (rank, site): (u32, u32)) {
        let (own, remote) = (object.1 == rank, order.scope >= Scope::Cluster);
        let object = self.objects.entry(object).or_default();
        object.site = site;
        let phase = &mut object.current;
        let mut release = |scope: Scope, clock: &Clock| match () {
            () if own => phase.released.join(clock),
            () if remote && scope >= Scope::Cluster => phase.remote.get_or_insert_default().join(clock),
            () => phase.narrow.get_or_insert_default().join(clock),
        };
        if order.release {
            return release(order.scope, &published.known);
        }
        published.fenced.iter().for_each(|(scope, clock)| release(*scope, clock));
        phase.relaxed.get_or_insert_default().join(&published.known);
    }

    pub fn complete(&mut self, object: Object) {
        let object = self.objects.entry(object).or_default();
        let Phase { mut released, remote, narrow, relaxed } = std::mem::take(&mut object.current);
        object.phases += 1;
        if let Some(actor) = object.actor {
            released.learn(actor, 1, object.phases);
        }
        object.done = vec![(Rc::new(released), Publishing::Released)];
        let others = [(remote, Publishing::Remote), (narrow, Publishing::Narrow), (relaxed, Publishing::Relaxed)];
        object.done.extend(others.into_iter().filter_map(|(clock, how)| Some((Rc::new(clock?), how))));
    }

    /// What the last complete phase has published, and how.
    pub fn done(&self, object: Object) -> Option<Vec<(Rc<Clock>, Publishing)>> {
        self.objects.get(&object).map(|object| object.done.clone())
    }

    /// The statement of the last arrival.
    pub fn site(&self, object: Object) -> u32 {
        self.objects.get(&object).map_or(u32::MAX, |object| object.site)
    }
}
