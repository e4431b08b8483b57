//! The clocks of the lanes of a warp, which are the same until they synchronise separately.

use crate::observe::checked::actor::{self, Actor, includes};
use crate::observe::checked::clock::{Bridge, Clock};
use crate::observe::monitor::{Order, ProxyFence, Scope};
use std::rc::{Rc, Weak};

/// Clocks that fences have made visible, one for each scope.
pub(in crate::observe::checked) type Fenced = Vec<(Scope, Rc<Clock>)>;

/// A clock that a relaxed load has observed.
#[derive(Debug, Clone)]
struct Observed {
    /// The warp that has published it, if it is one.
    from: Option<Actor>,
    clock: Rc<Clock>,
}

/// Lanes that know the same.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneGroup {
    pub(super) lanes: u32,
    pub(super) known: Rc<Clock>,
    /// The clocks that a later strong store publishes (a release pattern that begins with a fence).
    pub(super) fenced: Fenced,
    /// The clocks of relaxed loads that a later fence acquires (an acquire pattern that ends with a fence).
    observed: Vec<Observed>,
    /// The clock that the lanes have learnt last, so that a thread that polls need not compare it again. It is not kept alive, and
    /// a change makes another clock of it.
    learnt: Weak<Clock>,
}

impl LaneGroup {
    /// Do its lanes know what this clock knows?
    fn has_learnt(&mut self, clock: &Rc<Clock>) -> bool {
        if std::ptr::eq(self.learnt.as_ptr(), Rc::as_ptr(clock)) {
            return true;
        }
        let knows = self.known.includes(clock);
        if knows {
            self.learnt = Rc::downgrade(clock);
        }
        knows
    }

    /// Do its lanes know the same as those of another one?
    fn knows_the_same(&self, other: &LaneGroup) -> bool {
        Rc::ptr_eq(&self.known, &other.known)
            && self.fenced.len() == other.fenced.len()
            && self.fenced.iter().zip(&other.fenced).all(|(a, b)| a.0 == b.0 && Rc::ptr_eq(&a.1, &b.1))
            && self.observed.is_empty()
            && other.observed.is_empty()
    }
}

/// A wait of lanes for their own operations before a time.
#[derive(Debug, Clone, Copy)]
struct Wait {
    actor: Actor,
    lanes: u32,
    time: u32,
}

/// A warp.
#[derive(Debug, Clone)]
pub(in crate::observe::checked) struct Warp {
    pub id: Actor,
    /// The epoch of the warp's next event.
    pub time: u32,
    /// The lanes that exist.
    pub(super) exist: u32,
    /// All events of the CTA before this time are known to all lanes.
    pub(super) floor: u32,
    /// The clocks of its groups have the events before this time.
    pub(super) told: u32,
    /// The warps of its CTA.
    neighbours: u32,
    /// The operations for which lanes have waited.
    waits: Vec<Wait>,
    /// The clock of all waits, relaxed synchronisation included.
    pub(super) met: Clock,
    /// Whether the warp has accessed memory at this time.
    used: bool,
    /// Do all lanes know the same?
    pub(super) whole: bool,
    /// Nobody in it has learnt anything since its start, but from barriers of all threads of the CTA.
    pub(super) plain: bool,
    pub(super) groups: Vec<LaneGroup>,
}

/// The clocks that lanes of a warp publish.
#[derive(Debug, Clone, Default)]
pub(in crate::observe::checked) struct Published {
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
pub(in crate::observe::checked) fn join_fenced(to: &mut Fenced, from: &Fenced) {
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
    pub(super) fn new(id: Actor, exist: u32, neighbours: u32, known: &Rc<Clock>) -> Warp {
        Warp {
            id,
            time: 0,
            exist,
            floor: 0,
            told: 0,
            neighbours,
            waits: Vec::new(),
            met: Clock::default(),
            used: false,
            whole: true,
            plain: true,
            groups: vec![LaneGroup { lanes: exist, known: known.clone(), ..LaneGroup::default() }],
        }
    }

    /// Makes the warp a new one, and keeps its memory.
    pub(super) fn start(&mut self, id: Actor, exist: u32, neighbours: u32, known: &Rc<Clock>) {
        (self.id, self.time, self.exist, self.floor, self.told, self.neighbours) = (id, 0, exist, 0, 0, neighbours);
        (self.used, self.whole) = (false, true);
        if std::mem::replace(&mut self.plain, true) && self.groups.first().is_some_and(|group| group.lanes == exist) {
            return;
        }
        self.waits.clear();
        self.met.clear();
        self.groups.truncate(1);
        if let Some(group) = self.groups.first_mut() {
            group.lanes = exist;
            if !Rc::ptr_eq(&group.known, known) {
                group.known = known.clone();
            }
            group.fenced.clear();
            group.observed.clear();
            group.learnt = Weak::new();
        }
    }

    /// Does nobody in it know more than barriers of the CTA say, and this clock?
    pub(super) fn knows_only(&self, known: &Rc<Clock>) -> bool {
        let [group] = &self.groups[..] else { return false };
        let plain = group.fenced.is_empty() && group.observed.is_empty() && self.waits.is_empty();
        plain && Rc::ptr_eq(&group.known, known)
    }

    /// Adds what the barriers of the CTA say to the clocks, for those who do not know of them.
    pub(super) fn report_clocks(&mut self) {
        if self.told < self.floor {
            self.told = self.floor;
            let (first, floor) = (self.id & !31, self.floor);
            for g in &mut self.groups {
                let clock = Rc::make_mut(&mut g.known);
                (first..first + self.neighbours).for_each(|warp| clock.learn(warp, u32::MAX, floor));
            }
        }
    }

    /// Records that the warp accesses memory; returns the time of the event.
    #[inline]
    pub fn event(&mut self) -> u32 {
        self.used = true;
        self.time
    }

    #[inline]
    fn group(&self, lane: u32) -> &LaneGroup {
        self.groups.iter().find(|g| g.lanes >> lane & 1 != 0).unwrap_or(&self.groups[0])
    }

    /// Does a lane know the events of lanes of an actor at a time?
    #[inline]
    pub fn knows(&self, lane: u32, actor: Actor, lanes: u32, time: u32) -> bool {
        self.knows_by_barrier(actor, time) || self.group(lane).known.knows(actor, lanes, time)
    }

    /// All events of the CTA before this time are known to all its threads.
    #[inline]
    pub fn floor(&self) -> u32 {
        self.floor
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

    /// Whether these lanes have waited for this operation of their own.
    pub fn has_waited(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        actor::is_work_of(actor, self.id)
            && self.waits.iter().any(|w| w.actor == actor && lanes & !w.lanes == 0 && time < w.time)
    }

    /// Records that these lanes have waited for others, with or without their memory accesses. `tcgen05.fence` makes do with that
    /// (9.7.16.6.3).
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

    /// Executes `tcgen05.fence` for these lanes.
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

    /// Whether the warp has waited for others, after a proxy fence that comes after these events.
    pub fn has_met_fenced(&self, bridge: Bridge, actor: Actor, lanes: u32, time: u32) -> bool {
        self.met.is_fenced(bridge, actor, lanes, time)
    }

    /// Records that these lanes have waited for their own operations before this time.
    pub fn wait(&mut self, actor: Actor, lanes: u32, time: u32) {
        self.waits.iter_mut().filter(|w| w.actor == actor).for_each(|w| w.lanes &= !lanes);
        self.waits.retain(|w| w.lanes != 0);
        match self.waits.iter_mut().find(|w| w.actor == actor && w.time == time) {
            Some(same) => same.lanes |= lanes,
            None => self.waits.push(Wait { actor, lanes, time }),
        }
    }

    /// The events that only these lanes know: their own events until now, and the operations for which they have waited.
    pub(super) fn own(&self, lanes: u32) -> impl Iterator<Item = (Actor, u32, u32)> + '_ {
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
    pub(super) fn end_event(&mut self) {
        self.time += u32::from(self.used);
        self.used = false;
    }

    /// The clocks of these lanes, with their own events until now.
    pub fn publish(&mut self, lanes: u32) -> Published {
        self.report_clocks();
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

    /// Adds what these lanes publish to a clock.
    pub fn publish_to(&mut self, lanes: u32, clock: &mut Clock) {
        self.report_clocks();
        self.end_event();
        self.groups.iter().filter(|g| g.lanes & lanes != 0).for_each(|g| clock.join(&g.known));
        self.own(lanes).for_each(|(actor, lanes, time)| clock.learn(actor, lanes, time));
    }

    /// Makes groups of these lanes alone, and calls `f` with each.
    fn for_lanes(&mut self, lanes: u32, mut f: impl FnMut(&mut LaneGroup)) {
        if let [all] = &mut self.groups[..]
            && all.lanes & !lanes == 0
        {
            return f(all);
        }
        let mut parted = Vec::new();
        for g in &mut self.groups {
            let inside = g.lanes & lanes;
            if inside == 0 {
                continue;
            }
            if inside == g.lanes {
                f(g);
            } else {
                let mut new = LaneGroup { lanes: inside, ..g.clone() };
                g.lanes &= !inside;
                f(&mut new);
                parted.push(new);
            }
        }
        self.groups.append(&mut parted);
        self.regroup(lanes);
    }

    /// Joins the groups of these lanes, which have changed, with those that know the same. No two others do.
    fn regroup(&mut self, changed: u32) {
        let mut at = 0;
        while let Some(g) = self.groups.get(at) {
            let others = self.groups.iter().filter(|o| g.lanes & changed != 0 && g.knows_the_same(o));
            let same = others.fold(g.lanes, |m, o| m | o.lanes);
            if same != g.lanes {
                self.groups[at].lanes = same;
                self.groups.retain(|o| o.lanes & same == 0 || o.lanes == same);
                at = self.groups.iter().position(|o| o.lanes == same).unwrap_or(at);
            }
            at += 1;
        }
        self.whole = self.groups.len() == 1;
    }

    /// Replaces the clocks of these lanes by this one, which includes them.
    pub fn replace(&mut self, lanes: u32, known: &Rc<Clock>, fenced: &Fenced) {
        self.for_lanes(lanes, |g| {
            g.known = known.clone();
            g.fenced.clone_from(fenced);
        });
    }

    /// Joins `clock` into the clocks of these lanes.
    pub fn learn(&mut self, lanes: u32, clock: &Rc<Clock>) {
        // a thread that polls learns nothing new most of the time
        let mut groups = self.groups.iter_mut().filter(|g| g.lanes & lanes != 0);
        if groups.all(|g| g.has_learnt(clock)) {
            return;
        }
        self.for_lanes(lanes, |g| {
            if !Rc::ptr_eq(&g.known, clock) {
                Rc::make_mut(&mut g.known).join(clock);
            }
        });
    }

    /// Records that these lanes have observed `clock`, published by a warp, and know it after a fence whose scope includes that
    /// warp. `None`: after any fence.
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

    /// Executes a proxy fence for these lanes.
    pub fn fence_proxies(&mut self, lanes: u32, fence: ProxyFence) {
        self.report_clocks();
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

    /// Executes a fence for these lanes.
    pub fn fence(&mut self, lanes: u32, order: Order) {
        if order.acquires() {
            let id = self.id;
            let is_included = |o: &Observed| o.from.is_none_or(|from| includes(order.scope, from, id));
            self.for_lanes(lanes, |g| {
                for observed in g.observed.extract_if(.., |o| is_included(o)) {
                    Rc::make_mut(&mut g.known).join(&observed.clock);
                }
            });
        }
        if order.releases() {
            let now = Rc::new(self.publish(lanes).known);
            self.for_lanes(lanes, |g| {
                g.fenced.retain(|(scope, _)| *scope > order.scope);
                g.fenced.push((order.scope, now.clone()));
            });
        }
    }
}
