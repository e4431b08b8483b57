//! The bytes of a live mbarrier object.
//!
//! Only operations on the object access them, and these do not conflict with each other, only with the initialisation. So they are kept in
//! one list, as the shadow keeps reads, and are added to the shadow when the object ends.

use super::Completion;
use crate::observe::checked::actor::{Actor, cta_of};
use crate::observe::checked::operations::View;
use crate::observe::checked::shadow::Record;
use crate::observe::checked::threads::Warp;
use crate::observe::checked::what::RecordKind;
use crate::observe::monitor::Scope;

/// All bytes of a word.
const CELL: u8 = 0b1111;

/// An operation: what differs from others.
#[derive(Debug, Clone, Copy)]
struct MbarrierOperation {
    actor: Actor,
    time: u32,
    lanes: u32,
    site: u32,
    done: Completion,
    /// Counts those that are kept, in their order.
    number: u64,
}

impl MbarrierOperation {
    /// Whether the operation is a part of the same instruction as a new one.
    #[inline]
    fn joins(&self, new: &MbarrierOperation) -> bool {
        (self.actor, self.time, self.site) == (new.actor, new.time, new.site)
    }

    /// Does a later one say all that it says?
    #[inline]
    fn is_replaced(&self, new: &MbarrierOperation) -> bool {
        self.actor == new.actor && self.lanes & !new.lanes == 0
    }

    fn record(self) -> Record {
        let MbarrierOperation { actor, time, lanes, site, .. } = self;
        Record { actor, time, lanes, site, bytes: CELL, strong: Some(Scope::Sys), what: RecordKind::Mbarrier }
    }
}

/// The accesses to the bytes of a live object.
#[derive(Debug)]
pub(in crate::observe::checked) struct ObjectBytes {
    init: Record,
    /// The operations that no other one subsumes, in no order.
    all: Vec<MbarrierOperation>,
    /// Each warp has one, by all lanes.
    whole: bool,
    /// A hint of the index of each warp's last operation, by the number of the warp.
    places: [u8; 32],
    /// The number of the last one.
    last: u64,
    /// The CTA of a warp, and what it knew by barriers: operations before that are no longer kept.
    settled: (u32, u32),
}

impl ObjectBytes {
    pub fn new(init: Record) -> ObjectBytes {
        ObjectBytes {
            init: Record { bytes: CELL, ..init },
            all: Vec::new(),
            whole: true,
            places: [0; 32],
            last: 0,
            settled: (0, 0),
        }
    }

    /// An operation on the object. If it has a race with the initialisation: that.
    #[inline]
    pub fn access(&mut self, new: &Record, view: &View<'_>, done: Completion) -> Option<Record> {
        let Record { actor, time, lanes, site, .. } = *new;
        if !view.warp.knows_by_barrier(self.init.actor, self.init.time) && !self.init.is_behind(view) {
            return Some(self.init);
        }
        self.keep(MbarrierOperation { actor, time, lanes, site, done, number: self.last + 1 }, view.warp);
        None
    }

    #[inline]
    fn keep(&mut self, new: MbarrierOperation, warp: &Warp) {
        let settled = (cta_of(warp.id), warp.floor());
        if settled != self.settled && settled.1 != 0 {
            self.settled = settled;
            self.all.retain(|old| !warp.knows_by_barrier(old.actor, old.time));
        }
        self.whole &= new.lanes == u32::MAX;
        let place = new.actor as usize % 32;
        if let Some(at) = self.first(self.places[place], new.actor) {
            if self.whole && !self.all[at].joins(&new) {
                self.places[place] = at as u8;
                (self.all[at], self.last) = (new, new.number);
                return;
            }
            if self.joins(at, &new) {
                return;
            }
        }
        if self.all.len() > Record::MOST {
            self.all.retain(|old| old.number != self.last);
        }
        self.last = new.number;
        self.all.push(new);
        self.whole = self.whole || new.lanes == u32::MAX && self.are_whole();
    }

    /// Has each warp one, by all lanes?
    fn are_whole(&self) -> bool {
        let is_only = |(at, new): (usize, &MbarrierOperation)| self.all[..at].iter().all(|old| old.actor != new.actor);
        self.all.iter().all(|new| new.lanes == u32::MAX) && self.all.iter().enumerate().all(is_only)
    }

    /// The first operation of a warp, which is at a place, perhaps.
    #[inline]
    fn first(&self, place: u8, actor: Actor) -> Option<usize> {
        let is_of = |old: &MbarrierOperation| old.actor == actor;
        if self.whole && self.all.get(usize::from(place)).is_some_and(is_of) {
            return Some(place.into());
        }
        self.all.iter().position(is_of)
    }

    /// Removes what a new operation says all of, from a place on. True if it is a part of one that is there.
    #[inline]
    fn joins(&mut self, from: usize, new: &MbarrierOperation) -> bool {
        let same = self.all[from..].iter_mut().find(|old| old.joins(new));
        let joins = same.is_some();
        if let Some(same) = same {
            let again = same.number != self.last || same.lanes == new.lanes;
            same.lanes |= new.lanes;
            same.done = same.done.max(new.done);
            if again {
                return true;
            }
        }
        let mut at = from;
        while let Some(old) = self.all.get(at) {
            if old.is_replaced(new) && !old.joins(new) {
                self.all.swap_remove(at);
            } else {
                at += 1;
            }
        }
        joins
    }

    /// Forgets phases: only synchronisation with their threads then completes the operations.
    #[cfg(test)]
    pub fn forget_phases(&mut self) {
        self.all.iter_mut().for_each(|operation| operation.done = Completion::Thread);
    }

    /// The operations that are not done for whoever knows of these phases, from the oldest to the last.
    pub fn operations(mut self, known: impl Fn(Actor, u32) -> bool) -> Vec<Record> {
        self.all.sort_unstable_by_key(|operation| operation.number);
        let is_open = |operation: &MbarrierOperation| !operation.done.is_known(&known);
        self.all.into_iter().filter(is_open).map(MbarrierOperation::record).collect()
    }
}
