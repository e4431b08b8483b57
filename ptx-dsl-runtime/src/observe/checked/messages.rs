//! The clocks that strong accesses hand from thread to thread through memory.

mod places;
mod stores;
#[cfg(test)]
mod tests;

use super::actor::{Actor, cta_of, includes};
use super::clock::Clock;
use super::misses::Events;
use super::shadow::ShadowedMemory;
use super::threads::{Fenced, Warp};
use crate::fault::TooWeak;
use crate::observe::monitor::{Access, Order, Scope};
use places::{MessagePlace, Places};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The lanes that store, and the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Issuer {
    pub warp: Actor,
    pub lanes: u32,
    pub time: u32,
    pub site: u32,
}

impl Issuer {
    pub fn of(warp: &Warp, access: &Access) -> Issuer {
        Issuer { warp: warp.id, lanes: access.who.lanes, time: warp.time, site: access.who.site }
    }

    /// The events that a load from this store, which has released nothing, by a thread of another warp does not learn: those of the
    /// store's lanes until then.
    pub fn missed(&self, by: Actor) -> Option<(Events, TooWeak)> {
        let events = Events::Of { warp: self.warp, lanes: self.lanes, before: self.time + 1 };
        (self.warp != by).then_some((events, TooWeak::RelaxedStore))
    }
}

/// The clocks that strong stores to a place have published.
#[derive(Debug, Clone)]
pub(super) struct Message {
    /// The clocks of release patterns: scope, clock, issuer.
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

    /// The events that a strong load of `scope` by a thread of `warp` observes.
    pub fn seen(&self, warp: Actor, scope: Scope) -> Vec<Seen> {
        let site = self.last.site;
        let mut all = Vec::new();
        for (published, clock, issuer) in &self.released {
            let why = if !includes(*published, *issuer, warp) {
                Some(TooWeak::ReleaseScope)
            } else if !includes(scope, *issuer, warp) {
                Some(TooWeak::AcquireScope)
            } else {
                None
            };
            let what = match why {
                None => Observed::Released { clock: clock.clone(), issuer: *issuer },
                Some(why) => Observed::Missed { events: Events::Known(clock.clone()), why },
            };
            all.push(Seen { what, site });
        }
        if self.relaxed
            && let Some((events, why)) = self.last.missed(warp)
        {
            all.push(Seen { what: Observed::Missed { events, why }, site });
        }
        all
    }
}

/// The events that a load observes of a message.
#[derive(Debug)]
pub(super) struct Seen {
    pub what: Observed,
    /// The statement of the store.
    pub site: u32,
}

/// A part of a message.
#[derive(Debug)]
pub(super) enum Observed {
    /// The clock that this warp has released to whoever acquires it.
    Released { clock: Rc<Clock>, issuer: Actor },
    /// Events that do not synchronise, and why.
    Missed { events: Events, why: TooWeak },
}

/// The content of a place.
pub(super) enum Found<'m> {
    /// A store that released nothing.
    Relaxed(Issuer),
    Message(&'m Message),
}

/// The messages in memory.
///
/// Most have released nothing, and are at a multiple of four: these are kept by place. A table has the others.
#[derive(Debug, Default)]
pub(super) struct Messages {
    table: FxHashMap<MessageKey, Message>,
    /// The places of shared memory, by slot and CTA rank, of which there are 16.
    shared: Vec<Places>,
    /// The places of each segment.
    global: Vec<Places>,
    /// The number of messages that are kept by place.
    relaxed: usize,
}

/// A memory and an offset.
type MessageKey = (ShadowedMemory, u64);

impl Messages {
    pub fn start(&mut self, slot: u32) {
        let mut is_in_table = false;
        for places in self.shared.iter_mut().skip(slot as usize * 16).take(16) {
            self.relaxed -= places.relaxed();
            is_in_table |= places.has_table();
            places.clear();
        }
        if is_in_table {
            self.table.retain(|(memory, _), _| !matches!(memory, ShadowedMemory::Shared { slot: s, .. } if *s == slot));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.relaxed == 0 && self.table.is_empty()
    }

    /// Whether there may be a message in these bytes.
    pub fn may_be_in(&self, memory: ShadowedMemory, from: u64, len: u64) -> bool {
        self.places(memory).is_some_and(|places| places.may_be_in(from, len))
    }

    /// The message at a place.
    #[inline]
    pub fn at(&self, key: MessageKey) -> Option<Found<'_>> {
        match self.place(key) {
            MessagePlace::Empty => None,
            MessagePlace::Table => self.table.get(&key).map(Found::Message),
            MessagePlace::Relaxed(issuer) => is_aligned(key.1).then_some(Found::Relaxed(issuer)),
        }
    }

    /// A weak store ends what was there.
    #[inline]
    pub fn overwrite(&mut self, key: MessageKey) {
        match self.place(key) {
            MessagePlace::Relaxed(_) if is_aligned(key.1) => self.change(key.0, |places| places.set_empty(key.1)),
            MessagePlace::Table => {
                self.table.remove(&key);
            }
            MessagePlace::Relaxed(_) | MessagePlace::Empty => {}
        }
    }

    /// A strong store. An atomic one continues the chain of those before it.
    #[inline]
    pub fn send(&mut self, key: MessageKey, issuer: Issuer, clocks: Fenced, order: Order) {
        // counters are many, and most publish nothing
        if order.atomic && clocks.is_empty() && self.at(key).is_none() {
            return;
        }
        let is_relaxed = clocks.is_empty() && is_aligned(key.1);
        if is_relaxed && self.change(key.0, |places| places.store(key.1, &issuer)) {
            return;
        }
        if let MessagePlace::Relaxed(earlier) = self.place(key) {
            self.table.insert((key.0, key.1 & !3), Message::new(earlier));
        }
        self.change(key.0, |places| places.set_table(key.1));
        self.table.entry(key).or_insert_with(|| Message::new(issuer)).publish(issuer, clocks, order.atomic);
    }

    #[inline]
    fn places(&self, memory: ShadowedMemory) -> Option<&Places> {
        match memory {
            ShadowedMemory::Shared { slot, rank } => self.shared.get((slot * 16 + rank) as usize),
            ShadowedMemory::Global { segment } => self.global.get(segment),
        }
    }

    #[inline]
    fn place(&self, key: MessageKey) -> MessagePlace {
        self.places(key.0).map_or(MessagePlace::Empty, |places| places.get(key.1))
    }

    /// Changes the places of a memory.
    #[inline]
    fn change<T>(&mut self, memory: ShadowedMemory, f: impl FnOnce(&mut Places) -> T) -> T {
        let (all, number) = match memory {
            ShadowedMemory::Shared { slot, rank } => (&mut self.shared, (slot * 16 + rank) as usize),
            ShadowedMemory::Global { segment } => (&mut self.global, segment),
        };
        if all.len() <= number {
            all.resize_with(number + 1, Places::default);
        }
        let places = &mut all[number];
        let before = places.relaxed();
        let changed = f(places);
        self.relaxed = self.relaxed - before + places.relaxed();
        changed
    }
}

/// Whether a place can be kept without the table.
fn is_aligned(offset: u64) -> bool {
    offset.is_multiple_of(4)
}
