//! Vector clocks: which events of other threads have happened before.
//!
//! Time is counted per actor ([`actor`](super::actor)). An entry says that the events of some lanes of a warp before some time are known.
//! Threads that synchronise together share a clock, so it is small: one entry for each warp of their CTA.

mod frontier;

use super::actor::Actor;
use frontier::Frontier;
use std::rc::Rc;

/// What is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    known: Frontier,
    /// What of it a proxy fence separates from now. Whatever hands on a clock hands on these.
    fenced: Fences,
}

/// What proxy fences separate from now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fences {
    /// By [`Bridge`].
    all: [Option<Rc<Frontier>>; 8],
    /// Is there any?
    any: bool,
}

impl Fences {
    #[inline]
    fn get(&self, bridge: Bridge) -> Option<&Rc<Frontier>> {
        self.all[bridge as usize].as_ref()
    }

    /// That of a bridge, made if need be.
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

    #[inline]
    fn clear(&mut self) {
        if self.any {
            *self = Fences::default();
        }
    }
}

/// What proxy fences order: accesses of the generic proxy with later ones of another proxy. And what `tcgen05.fence` orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bridge {
    /// Those of the async proxy to shared memory.
    AsyncShared,
    /// Those of the async proxy to global memory.
    AsyncGlobal,
    /// Those of the tensormap proxy, as soon as it acquires them.
    TensormapReleased,
    /// Those of the tensormap proxy.
    Tensormap,
    /// Those of the async proxy to shared memory, as soon as it acquires them.
    AsyncReleased,
    /// `mbarrier.init`, with the operations on the object.
    MbarrierInit,
    /// `tcgen05` operations before `tcgen05.fence::before_thread_sync`, for whoever executes `::after_thread_sync`.
    TensorReleased,
    /// Those that come before the next `tcgen05` operation.
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
        self.known.has_met(cta)
    }

    /// The events of these lanes before this time become known.
    pub fn learn(&mut self, actor: Actor, lanes: u32, time: u32) {
        self.known.learn(actor, lanes, time);
    }

    /// All that `other` knows becomes known.
    pub fn join(&mut self, other: &Clock) {
        self.known.join(&other.known);
        self.fenced.join(&other.fenced);
    }

    /// Nothing is known. Keeps the memory.
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

    /// They acquire what others have released to a proxy.
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
        assert!(c.knows(3, u32::MAX, 8) && c.known.entries().count() == 1);
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
}
