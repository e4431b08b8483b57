//! What the threads of the resident clusters know of each other.
//!
//! The lanes of a warp share what they know until they synchronise apart.

use super::actor::{self, Actor, includes};
use super::clock::{Bridge, Clock};
use crate::monitor::{Order, ProxyFence, Scope, Who};
use std::rc::Rc;

/// Clocks that fences have made visible, one for each scope.
pub(super) type Fenced = Vec<(Scope, Rc<Clock>)>;

/// What relaxed loads have observed.
#[derive(Debug, Clone)]
struct Observed {
    /// The warp that has published it, if it is one.
    from: Option<Actor>,
    clock: Rc<Clock>,
}

/// Lanes that know the same.
#[derive(Debug, Clone, Default)]
struct Group {
    lanes: u32,
    known: Rc<Clock>,
    /// What a later strong store makes visible (a release pattern that begins with a fence).
    fenced: Fenced,
    /// What a later fence makes known (an acquire pattern that ends with a fence): what relaxed loads have observed.
    observed: Vec<Observed>,
}

/// These lanes have waited for their own operations before this time.
#[derive(Debug, Clone, Copy)]
struct Wait {
    actor: Actor,
    lanes: u32,
    time: u32,
}

/// A warp.
#[derive(Debug, Clone)]
pub(super) struct Warp {
    pub id: Actor,
    /// Of its next event.
    pub time: u32,
    /// The lanes that exist.
    exist: u32,
    /// All events of the CTA before this time are known to all lanes.
    floor: u32,
    /// The operations for which lanes have waited.
    waits: Vec<Wait>,
    /// What it has waited for, relaxed synchronisation included.
    met: Clock,
    /// Has it accessed memory at this time?
    used: bool,
    groups: Vec<Group>,
}

/// What lanes of a warp publish.
#[derive(Debug, Clone, Default)]
pub(super) struct Published {
    pub known: Clock,
    pub fenced: Fenced,
}

impl Published {
    pub fn join(&mut self, other: &Published) {
        self.known.join(&other.known);
        join_fenced(&mut self.fenced, &other.fenced);
    }
}

/// Joins what fences have made visible, by scope.
pub(super) fn join_fenced(to: &mut Fenced, from: &Fenced) {
    for (scope, clock) in from {
        match to.iter_mut().find(|(s, _)| s == scope) {
            Some((_, known)) if Rc::ptr_eq(known, clock) => {}
            Some((_, known)) => Rc::make_mut(known).join(clock),
            None => to.push((*scope, clock.clone())),
        }
    }
}

/// The lanes among `of` whose events `lanes` can tell others of: all of them, if the operation is one of the whole warp.
fn shared_lanes(actor: Actor, of: u32, lanes: u32) -> u32 {
    if of & lanes != 0 && actor::is_collective(actor) { of } else { of & lanes }
}

impl Warp {
    fn new(id: Actor, exist: u32) -> Warp {
        Warp {
            id,
            time: 0,
            exist,
            floor: 0,
            waits: Vec::new(),
            met: Clock::default(),
            used: false,
            groups: vec![Group { lanes: exist, ..Group::default() }],
        }
    }

    /// It accesses memory: the time of the event.
    #[inline]
    pub fn event(&mut self) -> u32 {
        self.used = true;
        self.time
    }

    #[inline]
    fn group(&self, lane: u32) -> &Group {
        self.groups.iter().find(|g| g.lanes >> lane & 1 != 0).unwrap_or(&self.groups[0])
    }

    /// Does a lane know the events of lanes of an actor at a time?
    #[inline]
    pub fn knows(&self, lane: u32, actor: Actor, lanes: u32, time: u32) -> bool {
        self.knows_by_barrier(actor, time) || self.group(lane).known.knows(actor, lanes, time)
    }

    /// Does any lane know these events?
    pub fn any_knows(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        self.knows_by_barrier(actor, time) || self.groups.iter().any(|g| g.known.knows(actor, lanes, time))
    }

    /// Does a barrier of the CTA come after the events of a warp at a time?
    #[inline]
    pub fn knows_by_barrier(&self, actor: Actor, time: u32) -> bool {
        actor::are_neighbours(actor, self.id) && time < self.floor
    }

    /// Have these lanes waited for this operation of their own?
    pub fn has_waited(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        actor::is_work_of(actor, self.id)
            && self.waits.iter().any(|w| w.actor == actor && lanes & !w.lanes == 0 && time < w.time)
    }

    /// These lanes have waited for others, with or without their memory accesses. `tcgen05.fence` makes do with that (9.7.16.6.3).
    pub fn meet(&mut self, lanes: u32, clock: &Clock) {
        self.met.join(clock);
        let released = Bridge::TensorReleased;
        if self.groups.iter().any(|g| g.lanes & lanes != 0 && clock.has_news(released, &g.known)) {
            self.for_lanes(lanes, |g| Rc::make_mut(&mut g.known).carry(released, clock));
        }
    }

    /// Does any lane know these events, or has the warp waited for whoever made them, or for them?
    pub fn has_seen(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        self.any_knows(actor, lanes, time) || self.has_waited(actor, lanes, time) || self.met.knows(actor, lanes, time)
    }

    /// Is a fence between these events and any lane?
    pub fn any_is_fenced(&self, bridge: Bridge, actor: Actor, lanes: u32, time: u32) -> bool {
        self.groups.iter().any(|g| g.known.is_fenced(bridge, actor, lanes, time))
    }

    /// These lanes execute `tcgen05.fence`.
    pub fn fence_tensor(&mut self, lanes: u32, before: bool) {
        self.end_event();
        let own: Vec<_> = if before { self.own(lanes).collect() } else { Vec::new() };
        self.for_lanes(lanes, |g| {
            let clock = Rc::make_mut(&mut g.known);
            if before {
                let of_group =
                    |(actor, of, time): &(Actor, u32, u32)| (*actor, shared_lanes(*actor, *of, g.lanes), *time);
                clock.add(Bridge::TensorReleased, own.iter().map(of_group).filter(|own| own.1 != 0));
            } else {
                clock.acquire(Bridge::TensorReleased, Bridge::Tensor);
            }
        });
    }

    /// Does a lane know that a CTA has started?
    pub fn has_met(&self, lane: u32, cta: u32) -> bool {
        self.met.has_met(cta) || self.group(lane).known.has_met(cta)
    }

    /// Has it waited for others, behind a proxy fence that comes after these events?
    pub fn has_met_fenced(&self, bridge: Bridge, actor: Actor, lanes: u32, time: u32) -> bool {
        self.met.is_fenced(bridge, actor, lanes, time)
    }

    /// These lanes have waited for their own operations before this time.
    pub fn wait(&mut self, actor: Actor, lanes: u32, time: u32) {
        self.waits.iter_mut().filter(|w| w.actor == actor).for_each(|w| w.lanes &= !lanes);
        self.waits.retain(|w| w.lanes != 0);
        match self.waits.iter_mut().find(|w| w.actor == actor && w.time == time) {
            Some(same) => same.lanes |= lanes,
            None => self.waits.push(Wait { actor, lanes, time }),
        }
    }

    /// What only these lanes know: their own events until now, and the operations for which they have waited.
    fn own(&self, lanes: u32) -> impl Iterator<Item = (Actor, u32, u32)> + '_ {
        let waits = self.waits.iter().map(|w| (w.actor, w.lanes, w.time));
        let all = std::iter::once((self.id, u32::MAX, self.time)).chain(waits);
        all.map(move |(actor, of, time)| (actor, shared_lanes(actor, of, lanes), time))
            .filter(|(_, lanes, _)| *lanes != 0)
    }

    /// Do all these lanes know the same?
    #[inline]
    pub fn is_together(&self, lanes: u32) -> bool {
        self.groups.iter().any(|g| g.lanes & lanes == lanes)
    }

    pub fn fenced(&self, lane: u32) -> &Fenced {
        &self.group(lane).fenced
    }

    /// The events until now end.
    fn end_event(&mut self) {
        self.time += u32::from(self.used);
        self.used = false;
    }

    /// What these lanes know, and their own events until now.
    pub fn publish(&mut self, lanes: u32) -> Published {
        self.end_event();
        let mut all: Option<Published> = None;
        for g in self.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let one = Published { known: (*g.known).clone(), fenced: g.fenced.clone() };
            match &mut all {
                None => all = Some(one),
                Some(all) => all.join(&one),
            }
        }
        let mut all = all.unwrap_or_default();
        self.own(lanes).for_each(|(actor, lanes, time)| all.known.learn(actor, lanes, time));
        all
    }

    /// Makes groups of these lanes alone, and calls `f` with each.
    fn for_lanes(&mut self, lanes: u32, mut f: impl FnMut(&mut Group)) {
        let mut parted = Vec::new();
        for g in &mut self.groups {
            let inside = g.lanes & lanes;
            if inside == 0 {
                continue;
            }
            if inside == g.lanes {
                f(g);
            } else {
                let mut new = Group { lanes: inside, ..g.clone() };
                g.lanes &= !inside;
                f(&mut new);
                parted.push(new);
            }
        }
        self.groups.append(&mut parted);
        self.regroup();
    }

    /// Joins groups that know the same.
    fn regroup(&mut self) {
        let mut i = 0;
        while i < self.groups.len() {
            let (head, tail) = self.groups.split_at_mut(i + 1);
            let g = &mut head[i];
            let same = |o: &Group| {
                Rc::ptr_eq(&o.known, &g.known)
                    && o.fenced.len() == g.fenced.len()
                    && o.fenced.iter().zip(&g.fenced).all(|(a, b)| a.0 == b.0 && Rc::ptr_eq(&a.1, &b.1))
                    && o.observed.is_empty()
                    && g.observed.is_empty()
            };
            let joined = tail.iter().filter(|o| same(o)).fold(0, |m, o| m | o.lanes);
            if joined != 0 {
                g.lanes |= joined;
                self.groups.retain(|o| o.lanes & !joined != 0 || o.lanes & joined == 0);
            }
            i += 1;
        }
    }

    /// These lanes know nothing but this from now on, which includes what they knew.
    pub fn replace(&mut self, lanes: u32, known: &Rc<Clock>, fenced: &Fenced) {
        self.for_lanes(lanes, |g| {
            g.known = known.clone();
            g.fenced.clone_from(fenced);
        });
    }

    /// These lanes learn what `clock` knows.
    pub fn learn(&mut self, lanes: u32, clock: &Rc<Clock>) {
        self.for_lanes(lanes, |g| {
            if !Rc::ptr_eq(&g.known, clock) {
                Rc::make_mut(&mut g.known).join(clock);
            }
        });
    }

    /// These lanes have observed what `clock` knows, published by a warp, and know it after a fence whose scope includes that warp.
    /// `None`: after any fence.
    pub fn observe(&mut self, lanes: u32, clock: &Rc<Clock>, from: Option<Actor>) {
        self.for_lanes(lanes, |g| match g.observed.iter_mut().find(|o| o.from == from) {
            Some(o) if Rc::ptr_eq(&o.clock, clock) => {}
            Some(o) => Rc::make_mut(&mut o.clock).join(clock),
            None => g.observed.push(Observed { from, clock: clock.clone() }),
        });
    }

    /// Is a proxy fence between these events and a lane?
    pub fn is_fenced(&self, lane: u32, bridge: Bridge, actor: Actor, lanes: u32, time: u32) -> bool {
        self.group(lane).known.is_fenced(bridge, actor, lanes, time)
    }

    /// These lanes execute a proxy fence.
    pub fn fence_proxies(&mut self, lanes: u32, fence: ProxyFence) {
        self.end_event();
        let own: Vec<_> = self.own(lanes).collect();
        self.for_lanes(lanes, |g| {
            let clock = Rc::make_mut(&mut g.known);
            let own = || own.iter().map(|(actor, of, time)| (*actor, of & g.lanes, *time)).filter(|own| own.1 != 0);
            match fence {
                ProxyFence::Async { shared, global } => {
                    if shared {
                        clock.fence(Bridge::AsyncShared, own());
                    }
                    if global {
                        clock.fence(Bridge::AsyncGlobal, own());
                    }
                }
                ProxyFence::TensormapRelease => clock.fence(Bridge::TensormapReleased, own()),
                ProxyFence::TensormapAcquire => clock.acquire(Bridge::TensormapReleased, Bridge::Tensormap),
                ProxyFence::AsyncRelease => clock.fence(Bridge::AsyncReleased, own()),
                ProxyFence::AsyncAcquire => clock.fence(Bridge::AsyncShared, own()),
                ProxyFence::MbarrierInit => clock.fence(Bridge::MbarrierInit, own()),
            }
        });
        if fence == ProxyFence::AsyncAcquire {
            self.met.acquire(Bridge::AsyncReleased, Bridge::AsyncShared);
        }
    }

    /// These lanes execute a fence.
    pub fn fence(&mut self, lanes: u32, order: Order) {
        if order.acquire {
            let id = self.id;
            let is_included = |o: &Observed| o.from.is_none_or(|from| includes(order.scope, from, id));
            self.for_lanes(lanes, |g| {
                for observed in g.observed.extract_if(.., |o| is_included(o)) {
                    Rc::make_mut(&mut g.known).join(&observed.clock);
                }
            });
        }
        if order.release {
            let now = Rc::new(self.publish(lanes).known);
            self.for_lanes(lanes, |g| {
                g.fenced.retain(|(scope, _)| *scope > order.scope);
                g.fenced.push((order.scope, now.clone()));
            });
        }
    }
}

/// A resident cluster.
#[derive(Debug, Default)]
struct Cluster {
    number: u32,
    /// Threads of each CTA.
    threads: u32,
    /// Its warps so far, by rank and warp.
    warps: Vec<Warp>,
}

impl Cluster {
    /// Makes warps up to this number.
    fn grow(&mut self, to: u32) {
        for next in self.warps.len() as u32..to {
            let exist = self.threads.saturating_sub(next % 32 * 32);
            let exist = if exist >= 32 { u32::MAX } else { (1 << exist) - 1 };
            self.warps.push(Warp::new(actor::warp(self.number, next / 32, next), exist));
        }
    }
}

/// What any of these lanes of warps knows, their own events excepted. `None` if a warp is missing.
fn join_groups(warps: &[Warp], lanes: &[(u32, u32)]) -> Option<(Clock, Fenced)> {
    let mut all: Option<(Rc<Clock>, Fenced)> = None;
    for &(w, lanes) in lanes {
        for g in warps.get(w as usize)?.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let Some((known, fenced)) = &mut all else {
                all = Some((g.known.clone(), g.fenced.clone()));
                continue;
            };
            if !Rc::ptr_eq(known, &g.known) {
                Rc::make_mut(known).join(&g.known);
            }
            join_fenced(fenced, &g.fenced);
        }
    }
    let (known, fenced) = all?;
    Some((Rc::unwrap_or_clone(known), fenced))
}

/// The warps of the resident clusters.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// By slot.
    slots: Vec<Cluster>,
    /// Clusters started so far.
    clusters: u32,
    /// Of the CTAs by cluster, as in `%ctaid`.
    ctas: Vec<Vec<[u32; 3]>>,
}

impl Threads {
    /// A cluster starts.
    pub fn start(&mut self, slot: u32, ctas: &[[u32; 3]], threads: u32) {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Default::default);
        }
        let cluster = &mut self.slots[slot];
        (cluster.number, cluster.threads) = (self.clusters, threads);
        cluster.warps.clear();
        self.clusters += 1;
        self.ctas.push(ctas.to_vec());
    }

    /// A warp of a resident cluster.
    #[inline]
    pub fn warp(&mut self, slot: u32, rank: u32, warp: u32) -> Option<&mut Warp> {
        let cluster = self.slots.get_mut(slot as usize)?;
        let at = rank * 32 + warp;
        if cluster.warps.len() as u32 <= at {
            cluster.grow(at + 1);
        }
        cluster.warps.get_mut(at as usize)
    }

    /// These lanes of the warps of a CTA have met: from now on they know each other's events, and what any of them knew.
    /// `others` have only arrived.
    pub fn meet(&mut self, slot: u32, rank: u32, lanes: &[(u32, u32)], others: Option<Published>) {
        let Some(cluster) = self.slots.get_mut(slot as usize) else { return };
        let from = rank * 32;
        let to = from + cluster.threads.div_ceil(32).min(32);
        cluster.grow(to);
        let Some(warps) = cluster.warps.get_mut(from as usize..to as usize) else { return };
        let Some((mut known, mut fenced)) = join_groups(warps, lanes) else { return };
        if let Some(others) = others {
            known.join(&others.known);
            join_fenced(&mut fenced, &others.fenced);
        }
        let mut missing = [0; 32];
        missing.iter_mut().zip(&*warps).for_each(|(missing, warp)| *missing = warp.exist);
        lanes.iter().for_each(|&(w, lanes)| missing[w as usize & 31] &= !lanes);
        let all = missing == [0; 32];
        warps.iter_mut().for_each(Warp::end_event);
        let time = warps.iter().map(|w| w.time).max().unwrap_or(0);
        for &(w, lanes) in lanes {
            let warp = &mut warps[w as usize];
            if all {
                (warp.time, warp.floor) = (time, time);
            }
            warp.own(lanes).for_each(|(actor, lanes, time)| known.learn(actor, lanes, time));
        }
        let known = Rc::new(known);
        for &(w, lanes) in lanes {
            warps[w as usize].replace(lanes, &known, &fenced);
        }
    }

    /// Has a thread of a CTA waited for these events?
    pub fn is_known_in(&self, slot: u32, rank: u32, actor: Actor, lanes: u32, time: u32) -> bool {
        let Some(cluster) = self.slots.get(slot as usize) else { return true };
        let warps = cluster.warps.iter().skip(rank as usize * 32).take(32);
        let knows = |clock: &Clock| clock.knows(actor, lanes, time);
        warps.into_iter().any(|warp| knows(&warp.met) || warp.groups.iter().any(|g| knows(&g.known)))
    }

    #[inline]
    pub fn of(&mut self, who: Who) -> Option<&mut Warp> {
        self.warp(who.slot, who.rank, who.warp)
    }

    /// The warp with this number, if its cluster is resident.
    pub fn warp_of(&self, actor: Actor) -> Option<&Warp> {
        let (rank, number) = actor::place(actor);
        let cluster = self.slots.iter().find(|cluster| cluster.number == actor::cluster_of(actor))?;
        cluster.warps.get((rank * 32 + number) as usize)
    }

    /// `%ctaid`, CTA rank and warp.
    pub fn place(&self, actor: Actor) -> ([u32; 3], u32, u32) {
        let (rank, number) = actor::place(actor);
        let ctas = self.ctas.get(actor::cluster_of(actor) as usize);
        (ctas.and_then(|ctas| ctas.get(rank as usize)).copied().unwrap_or_default(), rank, number)
    }
}
