//! Observations of other threads from which a thread has learnt nothing, because the synchronisation is too weak.

use super::actor::Actor;
use super::clock::Clock;
use super::threads::Threads;
use crate::fault::TooWeak;
use crate::observe::monitor::Who;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::rc::Rc;

/// The events that a thread has observed.
#[derive(Debug, Clone)]
pub(super) enum Events {
    /// The events in a clock of others.
    Known(Rc<Clock>),
    /// The events of lanes of a warp before a time.
    Of { warp: Actor, lanes: u32, before: u32 },
}

impl Events {
    /// Whether these events are among the observed ones.
    fn have(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        match *self {
            Events::Known(ref clock) => clock.knows(actor, lanes, time),
            Events::Of { warp, lanes: of, before } => warp == actor && lanes & !of == 0 && time < before,
        }
    }

    /// The warp whose events they are, if they are those of one warp.
    fn warp(&self) -> Option<Actor> {
        match *self {
            Events::Known(_) => None,
            Events::Of { warp, .. } => Some(warp),
        }
    }

    /// Whether this event is among the observed ones, or the warp knows of it by now. A warp that has learnt of it only later is
    /// not told apart.
    fn may_have(&self, threads: &Threads, event: MissEvent) -> bool {
        let MissEvent { actor, lanes, time } = event;
        let knows = |warp: Actor| threads.warp_of(warp).is_some_and(|warp| warp.any_knows(actor, lanes, time));
        self.have(actor, lanes, time) || self.warp().is_some_and(knows)
    }

    /// A key that is equal for events of the same lanes, and for events that others knew together: one takes over the other.
    fn source(&self) -> (usize, u32, u32) {
        match *self {
            Events::Known(ref clock) => (Rc::as_ptr(clock).addr(), 0, 0),
            Events::Of { warp, lanes, .. } => (0, warp, lanes),
        }
    }

    /// Takes over later events of the same lanes. True if it has all of the others.
    fn take_over(&mut self, other: &Events) -> bool {
        match (self, other) {
            (Events::Known(own), Events::Known(other)) => Rc::ptr_eq(own, other),
            (Events::Of { warp, lanes, before }, Events::Of { warp: of, lanes: these, before: until }) => {
                let same = warp == of && lanes == these;
                *before = if same { *until.max(before) } else { *before };
                same
            }
            _ => false,
        }
    }
}

/// An observation that does not synchronise.
#[derive(Debug)]
pub(super) struct Miss {
    /// The observer: slot, rank, warp.
    warp: (u32, u32, u32),
    events: Events,
    pub why: TooWeak,
    pub from: u32,
    pub to: u32,
}

impl Miss {
    /// Whether this event is among the observed ones, or the warp knows of it by now.
    pub fn may_have(&self, threads: &Threads, event: MissEvent) -> bool {
        self.events.may_have(threads, event)
    }
}

/// The number of misses that are kept.
const MISSES: usize = 64;

/// The last of them.
#[derive(Debug)]
pub(super) struct Misses {
    all: Vec<Miss>,
    /// The place of the next one.
    next: usize,
    /// The key of each place, which says the observations that it may take over.
    keys: [u32; MISSES],
}

impl Default for Misses {
    fn default() -> Misses {
        Misses { all: Vec::new(), next: 0, keys: [0; MISSES] }
    }
}

impl Misses {
    /// Keeps an observation that does not synchronise, for the report of a race. `from` is the statement of the other thread.
    pub fn remember(&mut self, who: Who, events: Events, why: TooWeak, from: u32) {
        let warp = (who.slot, who.rank, who.warp);
        let key = FxBuildHasher.hash_one((warp, who.site, from, events.source())) as u32;
        if self.has_key(key) {
            let is_of_same = |m: &Miss| m.warp == warp && m.to == who.site && m.from == from;
            if let Some(m) =
                self.all.iter_mut().find_map(|m| (is_of_same(m) && m.events.take_over(&events)).then_some(m))
            {
                m.why = why;
                return;
            }
        }
        let miss = Miss { warp, events, why, from, to: who.site };
        match self.all.get_mut(self.next) {
            Some(oldest) => *oldest = miss,
            None => self.all.push(miss),
        }
        self.keys[self.next] = key;
        self.next = (self.next + 1) % MISSES;
    }

    /// A thread executes a fence of acquire semantics: the loads before it are strong enough.
    pub fn acquire(&mut self, who: Who) {
        let observer = (who.slot, who.rank, who.warp);
        let relaxed = self.all.iter_mut().filter(|m| m.warp == observer && m.why == TooWeak::Relaxed);
        relaxed.for_each(|m| m.why = TooWeak::RelaxedStore);
    }

    /// Whether any place has this key. Without a branch for each, which is faster.
    #[inline]
    fn has_key(&self, key: u32) -> bool {
        self.keys.iter().fold(false, |any, k| any | (*k == key))
    }

    /// The last one of an observer (slot, rank, warp) that has these events.
    pub fn last(&self, observer: (u32, u32, u32), actor: Actor, lanes: u32, time: u32) -> Option<&Miss> {
        self.latest_first().find(|m| m.warp == observer && m.events.have(actor, lanes, time))
    }

    /// The last observation that would order these events with the observer, if everything on the way were strong enough. Threads of a CTA
    /// tell each other what they know by barriers: the thread that polls need not be the one that loads, and the thread that sets a flag
    /// not the one that has stored. The way may lead through another thread that has observed others, as at a barrier of the grid.
    pub fn on_the_way(&self, threads: &Threads, observer: (u32, u32, u32), event: MissEvent) -> Option<&Miss> {
        let of_cta = |(slot, rank, _): (u32, u32, u32)| {
            self.latest_first().filter(move |m| (m.warp.0, m.warp.1) == (slot, rank))
        };
        self.last(observer, event.actor, event.lanes, event.time)
            .or_else(|| of_cta(observer).find(|m| m.events.may_have(threads, event)))
            .or_else(|| {
                of_cta(observer).find(|m| {
                    let between = m.events.warp().and_then(|warp| threads.resident(warp));
                    between.is_some_and(|warp| of_cta(warp).any(|m| m.events.may_have(threads, event)))
                })
            })
    }

    /// The misses of a CTA, the latest first.
    pub fn of_cta(&self, who: Who) -> impl Iterator<Item = &Miss> {
        self.latest_first().filter(move |m| (m.warp.0, m.warp.1) == (who.slot, who.rank))
    }

    fn latest_first(&self) -> impl Iterator<Item = &Miss> {
        let (newer, older) = self.all.split_at(self.next.min(self.all.len()));
        newer.iter().rev().chain(older.iter().rev())
    }
}

/// An access of lanes of a warp, or of an asynchronous operation, at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct MissEvent {
    pub actor: Actor,
    pub lanes: u32,
    pub time: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_test_support::random::Random;
    use std::collections::VecDeque;

    /// The observations that are kept, from the oldest to the latest, by the definition.
    fn expected(all: &mut VecDeque<(Who, Events, u32)>, (who, events, from): (Who, Events, u32)) {
        if all.iter_mut().any(|m| (m.0, m.2) == (who, from) && m.1.take_over(&events)) {
            return;
        }
        if all.len() == MISSES {
            all.pop_front();
        }
        all.push_back((who, events, from));
    }

    #[test]
    fn the_last_ones_are_kept() {
        let (r, mut misses, mut all) = (&mut Random::new(3), Misses::default(), VecDeque::new());
        let clocks: Vec<Rc<Clock>> = (0..4)
            .map(|actor| {
                let mut clock = Clock::default();
                clock.learn(actor, u32::MAX, 1000);
                Rc::new(clock)
            })
            .collect();
        for time in 0..20_000 {
            let who = Who { site: r.below(2), slot: 0, rank: 0, warp: r.below(4), lanes: 1 };
            let events = match r.below(8) {
                0 => Events::Known(clocks[r.below(4) as usize].clone()),
                _ => Events::Of { warp: r.below(4), lanes: 1 << r.below(3), before: time + r.below(9) },
            };
            let from = r.below(2);
            misses.remember(who, events.clone(), TooWeak::RelaxedLoad, from);
            expected(&mut all, (who, events, from));
            let (actor, lanes, at) = (r.below(4), 1 << r.below(3), r.below(time + 9));
            let found = misses.last((0, 0, who.warp), actor, lanes, at).map(|m| (m.from, m.to));
            let last = all.iter().rev().find(|m| m.0.warp == who.warp && m.1.have(actor, lanes, at));
            assert_eq!(found, last.map(|m| (m.2, m.0.site)), "at {time}");
        }
        assert_eq!(all.len(), MISSES);
    }
}
