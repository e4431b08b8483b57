//! Vector clocks: which events of other threads have happened before.
//!
//! Time is counted per actor ([`actor`](super::actor)). An entry says that the events of some lanes of a warp before some time are known.
//! Threads that synchronise together share a clock, so it is small: one entry for each warp of their CTA.

use super::actor::{Actor, cluster_of, cta_of};
use std::rc::Rc;

/// The events of these lanes before this time are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    actor: Actor,
    time: u32,
    lanes: u32,
}

/// A vector clock, with the frontiers that proxy fences have reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    known: Frontier,
    /// The frontiers that proxy fences separate from now; they are handed on with the clock.
    fenced: Fences,
}

/// The frontiers that proxy fences separate from now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fences {
    /// The frontier of each [`Bridge`].
    all: [Option<Rc<Frontier>>; 8],
    /// Whether any bridge has a frontier.
    any: bool,
}

impl Fences {
    #[inline]
    fn get(&self, bridge: Bridge) -> Option<&Rc<Frontier>> {
        self.all[bridge as usize].as_ref()
    }

    /// The frontier of a bridge, made if need be.
    fn of(&mut self, bridge: Bridge) -> &mut Rc<Frontier> {
        self.any = true;
        self.all[bridge as usize].get_or_insert_default()
    }

    fn join_one(&mut self, bridge: Bridge, other: Option<&Rc<Frontier>>) {
        if let Some(other) = other {
            self.any = true;
            join_frontier(&mut self.all[bridge as usize], other);
        }
    }

    #[inline]
    fn join(&mut self, other: &Fences) {
        if other.any {
            self.join_all(other);
        }
    }

    #[inline(never)]
    fn join_all(&mut self, other: &Fences) {
        self.any = true;
        for (own, other) in self.all.iter_mut().zip(&other.all) {
            if let Some(other) = other {
                join_frontier(own, other);
            }
        }
    }

    /// Whether each frontier includes that of the other fences.
    fn includes(&self, other: &Fences) -> bool {
        let includes = |(own, other): (&Option<Rc<Frontier>>, &Option<Rc<Frontier>>)| match (own, other) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(other)) => Rc::ptr_eq(own, other) || own.includes(other),
        };
        !other.any || self.all.iter().zip(&other.all).all(includes)
    }

    #[inline]
    fn clear(&mut self) {
        if self.any {
            *self = Fences::default();
        }
    }
}

/// The accesses that a proxy fence orders: accesses of the generic proxy with later ones of another proxy. `tcgen05.fence` is a
/// bridge too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bridge {
    /// Accesses of the async proxy to shared memory.
    AsyncShared,
    /// Accesses of the async proxy to global memory.
    AsyncGlobal,
    /// Accesses of the tensormap proxy, as soon as it acquires them.
    TensormapReleased,
    /// Accesses of the tensormap proxy.
    Tensormap,
    /// Accesses of the async proxy to shared memory, as soon as it acquires them.
    AsyncReleased,
    /// `mbarrier.init`, with the operations on the object.
    MbarrierInit,
    /// `tcgen05` operations before `tcgen05.fence::before_thread_sync`, for whoever executes `::after_thread_sync`.
    TensorReleased,
    /// Accesses that come before the next `tcgen05` operation.
    Tensor,
}

impl Clock {
    /// Are the events of all these lanes of an actor at this time known?
    #[inline]
    pub fn knows(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        self.known.knows(actor, lanes, time)
    }

    /// Is a proxy fence between these events and now?
    pub fn is_fenced(&self, bridge: Bridge, actor: Actor, lanes: u32, time: u32) -> bool {
        self.fenced.get(bridge).is_some_and(|fenced| fenced.knows(actor, lanes, time))
    }

    /// Is any event of a CTA known?
    pub fn has_met(&self, cta: u32) -> bool {
        let entries = &self.known.entries;
        let at = entries.partition_point(|e| cta_of(e.actor) < cta);
        entries.get(at).is_some_and(|e| cta_of(e.actor) == cta) || cluster_of(cta << 9) < self.known.floor
    }

    /// The events of these lanes before this time become known.
    pub fn learn(&mut self, actor: Actor, lanes: u32, time: u32) {
        self.known.learn(actor, lanes, time);
    }

    /// Joins another clock into this one.
    pub fn join(&mut self, other: &Clock) {
        self.known.join(&other.known);
        self.fenced.join(&other.fenced);
    }

    /// Whether the clock includes the other one. May be false for clusters that have ended.
    pub fn includes(&self, other: &Clock) -> bool {
        self.known.includes(&other.known) && self.fenced.includes(&other.fenced)
    }

    /// Clears the clock. Keeps the memory.
    pub fn clear(&mut self) {
        self.known.clear();
        self.fenced.clear();
    }

    /// Lanes of a warp, with events of their own, execute a proxy fence.
    pub fn fence(&mut self, bridge: Bridge, own: impl IntoIterator<Item = (Actor, u32, u32)>) {
        let mut now = self.known.clone();
        own.into_iter().for_each(|(actor, lanes, time)| now.learn(actor, lanes, time));
        *self.fenced.of(bridge) = Rc::new(now);
    }

    /// Adds events to those after a fence.
    pub fn add(&mut self, bridge: Bridge, events: impl IntoIterator<Item = (Actor, u32, u32)>) {
        let frontier = Rc::make_mut(self.fenced.of(bridge));
        events.into_iter().for_each(|(actor, lanes, time)| frontier.learn(actor, lanes, time));
    }

    /// Has anything that a bridge hands on, which the other one has not?
    pub fn has_news(&self, bridge: Bridge, other: &Clock) -> bool {
        match (self.fenced.get(bridge), other.fenced.get(bridge)) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(own), Some(other)) => !Rc::ptr_eq(own, other) && own != other,
        }
    }

    /// Takes over what a bridge of another clock hands on, and nothing else.
    pub fn carry(&mut self, bridge: Bridge, other: &Clock) {
        self.fenced.join_one(bridge, other.fenced.get(bridge));
    }

    /// Acquires what others have released to a proxy.
    pub fn acquire(&mut self, released: Bridge, to: Bridge) {
        let released = self.fenced.get(released).cloned();
        self.fenced.join_one(to, released.as_ref());
    }
}

fn join_frontier(own: &mut Option<Rc<Frontier>>, other: &Rc<Frontier>) {
    match own {
        None => *own = Some(other.clone()),
        Some(own) if Rc::ptr_eq(own, other) => {}
        Some(own) => Rc::make_mut(own).join(other),
    }
}

/// Events. Entries are sorted by actor; those of one actor have different times and lanes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Frontier {
    entries: Vec<Entry>,
    /// All events of clusters below this one count as known.
    floor: u32,
}

/// The number of entries above which those of ended clusters are removed.
const MANY: usize = 8192;

impl Frontier {
    /// The place of the first entry of an actor.
    #[inline]
    fn first(&self, actor: Actor) -> usize {
        let place = self.entries.first().map_or(0, |first| actor.wrapping_sub(first.actor) as usize);
        // the first entries are often those of the warps of a CTA, one each
        let is_of = |at: usize| self.entries.get(at).is_some_and(|e| e.actor == actor);
        if is_of(place) && !is_of(place.wrapping_sub(1)) {
            return place;
        }
        self.entries.partition_point(|e| e.actor < actor)
    }

    fn range(&self, actor: Actor) -> std::ops::Range<usize> {
        let from = self.first(actor);
        let len = self.entries[from..].iter().take_while(|e| e.actor == actor).count();
        from..from + len
    }

    fn knows(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        if cluster_of(actor) < self.floor {
            return true;
        }
        let mut unknown = lanes;
        let from = self.first(actor);
        for e in self.entries[from..].iter().take_while(|e| e.actor == actor) {
            unknown &= if e.time > time { !e.lanes } else { u32::MAX };
        }
        unknown == 0
    }

    fn learn(&mut self, actor: Actor, lanes: u32, time: u32) {
        let range = self.range(actor);
        if let [e] = &mut self.entries[range.clone()]
            && e.lanes & !lanes == 0
            && e.time <= time
        {
            (e.lanes, e.time) = (lanes, time);
            return;
        }
        let later = self.entries[range.clone()].iter().filter(|e| e.time > time).fold(0, |m, e| m | e.lanes);
        let lanes = lanes & !later;
        if lanes == 0 {
            return;
        }
        let (mut at, mut end, mut found) = (range.start, range.end, false);
        while at < end {
            let e = &mut self.entries[at];
            if e.time == time {
                e.lanes |= lanes;
                found = true;
            } else {
                e.lanes &= !lanes;
            }
            if e.lanes == 0 {
                self.entries.remove(at);
                end -= 1;
            } else {
                at += 1;
            }
        }
        if !found {
            self.entries.insert(end, Entry { actor, time, lanes });
        }
        self.forget();
    }

    fn join(&mut self, other: &Frontier) {
        self.floor = self.floor.max(other.floor);
        if self.entries.is_empty() {
            return self.entries.extend_from_slice(&other.entries);
        }
        let joined = self.join_in_place(&other.entries);
        if joined < other.entries.len() {
            self.merge(&other.entries[joined..]);
            self.forget();
        }
    }

    /// Whether the frontier includes all entries of the other one, or later ones.
    fn includes(&self, other: &Frontier) -> bool {
        if self.floor < other.floor {
            return false;
        }
        if are_alike(&self.entries, &other.entries) {
            return self.entries.iter().zip(&other.entries).all(|(own, other)| own.time >= other.time);
        }
        let (mut own, mut others) = (&self.entries[..], &other.entries[..]);
        while let Some(first) = others.first() {
            own = &own[own.iter().take_while(|e| e.actor < first.actor).count()..];
            let (a, b) = (of_actor(own, first.actor), of_actor(others, first.actor));
            let has = |e: &Entry| own[..a].iter().filter(|o| o.time >= e.time).fold(e.lanes, |m, o| m & !o.lanes) == 0;
            if own[..a] != others[..b] && !others[..b].iter().all(has) {
                return false;
            }
            (own, others) = (&own[a..], &others[b..]);
        }
        true
    }

    /// Joins the entries of actors that have one entry of the same lanes in both, or the same entries, up to the first other actor: how
    /// many.
    #[inline]
    fn join_in_place(&mut self, other: &[Entry]) -> usize {
        let alike = self.join_alike(other);
        let (mut at, mut joined) = (alike, alike);
        while let Some(new) = other.get(joined) {
            while self.entries.get(at).is_some_and(|e| e.actor < new.actor) {
                at += 1;
            }
            let (own, others) = (&mut self.entries[at..], &other[joined..]);
            let (m, n) = (of_actor(own, new.actor), of_actor(others, new.actor));
            match &mut own[..m] {
                [own] if n == 1 && own.lanes == new.lanes => own.time = own.time.max(new.time),
                own if *own == others[..n] => {}
                _ => break,
            }
            (at, joined) = (at + m, joined + n);
        }
        joined
    }

    /// Joins entries up to the first difference in actors or lanes: most clocks of a CTA have none.
    #[inline]
    fn join_alike(&mut self, other: &[Entry]) -> usize {
        if are_alike(&self.entries, other) {
            self.entries.iter_mut().zip(other).for_each(|(own, new)| own.time = own.time.max(new.time));
            return other.len();
        }
        let (mut joined, mut last) = (0, None);
        for (own, new) in self.entries.iter_mut().zip(other) {
            if own.actor != new.actor || own.lanes != new.lanes || last == Some(new.actor) {
                break;
            }
            own.time = own.time.max(new.time);
            (joined, last) = (joined + 1, Some(new.actor));
        }
        let goes_on = |entries: &[Entry]| entries.get(joined).is_some_and(|e| last == Some(e.actor));
        joined - usize::from(goes_on(&self.entries) || goes_on(other))
    }

    /// Joins entries, and makes a list of its own for that.
    fn merge(&mut self, other: &[Entry]) {
        let mut merged = Vec::with_capacity(self.entries.len().max(other.len()));
        let (mut a, mut b) = (&self.entries[..], other);
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            let actor = x.actor.min(y.actor);
            let (m, n) = (of_actor(a, actor), of_actor(b, actor));
            merge_actor(&mut merged, &a[..m], &b[..n]);
            (a, b) = (&a[m..], &b[n..]);
        }
        merged.extend_from_slice(a);
        merged.extend_from_slice(b);
        self.entries = merged;
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.floor = 0;
    }

    /// Keeps the clock small: the oldest clusters count as known. A race with one of them is then not found.
    fn forget(&mut self) {
        if self.entries.len() > MANY {
            let middle = cluster_of(self.entries[MANY / 2].actor);
            self.floor = self.floor.max(middle);
            self.entries.retain(|e| cluster_of(e.actor) >= middle);
        }
    }
}

/// Whether these entries are of the same actors and lanes, one of each actor. Without a branch for each, which is faster.
#[inline]
fn are_alike(a: &[Entry], b: &[Entry]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut before = None;
    let differ = a.iter().zip(b).fold(0, |differ, (x, y)| {
        let twice = before.replace(x.actor) == Some(x.actor);
        differ | (x.actor ^ y.actor) | (x.lanes ^ y.lanes) | u32::from(twice)
    });
    differ == 0
}

/// The number of entries at the start that are of an actor.
fn of_actor(entries: &[Entry], actor: Actor) -> usize {
    entries.iter().take_while(|e| e.actor == actor).count()
}

/// The entries of one actor: for each lane the later time.
fn merge_actor(merged: &mut Vec<Entry>, a: &[Entry], b: &[Entry]) {
    if b.is_empty() || a == b {
        return merged.extend_from_slice(a);
    }
    if a.is_empty() {
        return merged.extend_from_slice(b);
    }
    let mut all: Vec<Entry> = a.iter().chain(b).copied().collect();
    all.sort_unstable_by_key(|e| std::cmp::Reverse(e.time));
    let from = merged.len();
    let mut taken = 0;
    for e in all {
        let lanes = e.lanes & !taken;
        taken |= lanes;
        match merged[from..].last_mut() {
            Some(last) if last.time == e.time => last.lanes |= lanes,
            _ if lanes != 0 => merged.push(Entry { lanes, ..e }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learnt_is_known() {
        let mut c = Clock::default();
        assert!(!c.knows(3, 1, 0));
        c.learn(3, 0b11, 5);
        assert!(c.knows(3, 0b11, 4) && !c.knows(3, 0b11, 5) && !c.knows(3, 0b111, 4));
        c.learn(3, 0b01, 7);
        assert!(c.knows(3, 0b01, 6) && !c.knows(3, 0b10, 6) && c.knows(3, 0b11, 4));
        c.learn(3, u32::MAX, 9);
        assert!(c.knows(3, u32::MAX, 8) && c.known.entries.len() == 1);
    }

    #[test]
    fn joining_takes_the_later_time_of_each_lane() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.learn(1, 0b01, 4);
        a.learn(1, 0b10, 6);
        b.learn(1, 0b11, 5);
        b.learn(0, 1, 1);
        a.join(&b);
        assert!(a.knows(1, 0b11, 4) && a.knows(1, 0b10, 5) && !a.knows(1, 0b01, 5) && a.knows(0, 1, 0));
        let c = a.clone();
        a.join(&c);
        assert_eq!(a, c);
    }

    /// Actors with one entry, with several, and without any, the same lanes or others: each lane has the later time.
    #[test]
    fn joins_in_place_and_otherwise_say_the_same() {
        const ACTORS: u32 = 5;
        let mut state = 7u32;
        let mut draw = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        let lanes = [u32::MAX, 1, 2, 3, 0xFFFF, 0xFFFF_0000];
        for round in 0..20_000 {
            let few = round % 2 == 0;
            // by actor and lane: events before this time are known
            let mut times = [[[0; 32]; ACTORS as usize]; 2];
            let mut frontiers = [Frontier::default(), Frontier::default()];
            for (frontier, times) in frontiers.iter_mut().zip(&mut times) {
                for _ in 0..draw(8) {
                    let (actor, time) = (draw(ACTORS), 1 + draw(6));
                    let lanes = if few { u32::MAX } else { lanes[draw(6) as usize] };
                    frontier.learn(actor, lanes, time);
                    let all = times[actor as usize].iter_mut().zip(0..);
                    all.filter(|(_, l)| lanes >> l & 1 != 0).for_each(|(old, _)| *old = time.max(*old));
                }
            }
            let [mut own, other] = frontiers;
            let later = |of: usize| {
                times[0].iter().flatten().zip(times[1].iter().flatten()).all(|(a, b)| [a, b][of] >= [b, a][of])
            };
            assert_eq!((own.includes(&other), other.includes(&own)), (later(0), later(1)), "{own:?} {other:?}");
            let mut merged = own.clone();
            merged.merge(&other.entries);
            own.join(&other);
            for (actor, lane) in (0..ACTORS).flat_map(|actor| (0..32).map(move |lane| (actor, lane))) {
                let time = times[0][actor as usize][lane].max(times[1][actor as usize][lane]);
                for joined in [&own, &merged] {
                    assert!(time == 0 || joined.knows(actor, 1 << lane, time - 1), "{joined:?}");
                    assert!(!joined.knows(actor, 1 << lane, time), "{joined:?}");
                }
            }
            for joined in [&own, &merged] {
                let order = |e: &[Entry]| e[0].actor < e[1].actor || e[0].actor == e[1].actor && e[0].time != e[1].time;
                assert!(joined.entries.windows(2).all(order) && joined.entries.iter().all(|e| e.lanes != 0));
            }
        }
    }

    #[test]
    fn a_proxy_fence_covers_what_is_known_then() {
        let (shared, global) = (Bridge::AsyncShared, Bridge::AsyncGlobal);
        let mut a = Clock::default();
        a.learn(1, 1, 4);
        a.fence(shared, [(2, 1, 3)]);
        a.learn(1, 1, 9);
        assert!(a.is_fenced(shared, 1, 1, 3) && !a.is_fenced(shared, 1, 1, 4) && a.knows(1, 1, 8));
        assert!(a.is_fenced(shared, 2, 1, 2) && !a.is_fenced(shared, 2, 1, 3) && !a.is_fenced(global, 1, 1, 3));
        // others learn of it
        let mut b = Clock::default();
        b.learn(3, 1, 5);
        b.fence(shared, [(3, 1, 5)]);
        b.join(&a);
        assert!(b.is_fenced(shared, 1, 1, 3) && b.is_fenced(shared, 3, 1, 4) && !b.is_fenced(shared, 1, 1, 4));
    }

    #[test]
    fn tensor_maps_are_released_and_acquired() {
        let mut a = Clock::default();
        a.fence(Bridge::TensormapReleased, [(1, 1, 7)]);
        assert!(!a.is_fenced(Bridge::Tensormap, 1, 1, 6));
        a.acquire(Bridge::TensormapReleased, Bridge::Tensormap);
        assert!(a.is_fenced(Bridge::Tensormap, 1, 1, 6) && !a.is_fenced(Bridge::Tensormap, 1, 1, 7));
    }

    #[test]
    fn events_of_tensor_memory_are_carried_alone() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.learn(1, 1, 4);
        a.add(Bridge::TensorReleased, [(2, 1, 3)]);
        assert!(a.has_news(Bridge::TensorReleased, &b) && !b.has_news(Bridge::TensorReleased, &a));
        b.carry(Bridge::TensorReleased, &a);
        assert!(b.is_fenced(Bridge::TensorReleased, 2, 1, 2) && !b.is_fenced(Bridge::TensorReleased, 2, 1, 3));
        assert!(!b.knows(1, 1, 3) && !b.knows(2, 1, 2) && !a.has_news(Bridge::TensorReleased, &b));
        // what a thread adds later comes on top
        b.add(Bridge::TensorReleased, [(3, 1, 1)]);
        assert!(b.is_fenced(Bridge::TensorReleased, 2, 1, 2) && b.is_fenced(Bridge::TensorReleased, 3, 1, 0));
    }

    #[test]
    fn clocks_stay_small() {
        let mut c = Clock::default();
        for cluster in 0..20_000 {
            c.learn(cluster << 13, 1, 1);
        }
        assert!(c.known.entries.len() <= MANY && c.knows(19_999 << 13, 1, 0) && c.knows(0, 1, 0));
    }
}
