//! Where a thread has observed another one and not learnt from it.

use super::actor::Actor;
use super::clock::Clock;
use crate::monitor::Who;
use std::collections::VecDeque;
use std::rc::Rc;

/// The events that a thread has observed.
#[derive(Debug, Clone)]
pub(super) enum Events {
    /// What others knew.
    Known(Rc<Clock>),
    /// Those of lanes of a warp before a time.
    Of { warp: Actor, lanes: u32, before: u32 },
}

impl Events {
    /// Are these events among them?
    fn have(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        match *self {
            Events::Known(ref clock) => clock.knows(actor, lanes, time),
            Events::Of { warp, lanes: of, before } => warp == actor && lanes & !of == 0 && time < before,
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
    pub why: &'static str,
    pub from: u32,
    pub to: u32,
}

/// The last of them.
#[derive(Debug, Default)]
pub(super) struct Misses(VecDeque<Miss>);

/// So many are kept.
const MISSES: usize = 64;

impl Misses {
    /// Keeps an observation that does not synchronise, for the report of a race. `from` is the statement of the other thread.
    pub fn remember(&mut self, who: Who, events: Events, why: &'static str, from: u32) {
        let warp = (who.slot, who.rank, who.warp);
        let is_of_same = |m: &Miss| m.warp == warp && m.to == who.site && m.from == from;
        if self.0.iter_mut().rev().any(|m| is_of_same(m) && m.events.take_over(&events)) {
            return;
        }
        if self.0.len() == MISSES {
            self.0.pop_front();
        }
        self.0.push_back(Miss { warp, events, why, from, to: who.site });
    }

    /// The last one of an observer (slot, rank, warp) that has these events.
    pub fn last(&self, observer: (u32, u32, u32), actor: Actor, lanes: u32, time: u32) -> Option<&Miss> {
        self.0.iter().rev().find(|m| m.warp == observer && m.events.have(actor, lanes, time))
    }
}
