//! Copies that complete on mbarrier objects, and what a thread knows of them.

use super::actor::{Actor, COPIES, Work, are_neighbours};
use super::clock::{Bridge, Clock};
use super::threads::Warp;
use super::what::RecordKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The state of a copy.
#[derive(Debug, Clone, Copy)]
enum OperationState {
    InFlight,
    /// The copy completes this phase of this mbarrier object.
    Completes(Actor, u32),
    /// The objects are too many: it counts as ordered before everything.
    Forgotten,
}

/// A copy and its thread.
#[derive(Debug)]
struct ObservedCopy {
    warp: Actor,
    lane: u32,
    /// The mbarrier object that it completes, and the phase in which it has started.
    starts: Option<(Actor, u32)>,
    state: OperationState,
}

/// An event of an operation: actor, lanes, time, statement.
pub(super) type OperationEvent = (Actor, u32, u32, u32);

/// The copies of a launch.
#[derive(Debug, Default)]
pub(super) struct Operations {
    /// The copies, in the order of their times.
    all: Vec<ObservedCopy>,
    /// The time of each copy in flight, by the number that the machine gives it.
    in_flight: FxHashMap<u64, u32>,
    /// The writes of bulk copies to global memory: a hash of the bytes and places.
    contents: FxHashSet<(OperationEvent, u64)>,
    /// The last bulk copies that groups complete.
    bulk: VecDeque<Bulk>,
}

/// A bulk copy of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bulk {
    pub warp: Actor,
    pub lanes: u32,
    /// The time of its warp when it started.
    pub issued: u32,
    /// The number of its group among those of its thread.
    pub group: u32,
    /// The statement of the copy.
    pub site: u32,
}

/// The number of bulk copies that are kept for reports.
const BULK: usize = 64;

impl Operations {
    /// The time of a copy that a lane starts.
    pub fn start(&mut self, number: u64, warp: Actor, lane: u32) -> u32 {
        let all = &mut self.all;
        *self.in_flight.entry(number).or_insert_with(|| {
            all.push(ObservedCopy { warp, lane, starts: None, state: OperationState::InFlight });
            all.len() as u32 - 1
        })
    }

    /// A copy starts in a phase of its object.
    pub fn starts_in(&mut self, time: u32, phase: (Actor, u32)) {
        if let Some(copy) = self.all.get_mut(time as usize) {
            copy.starts = Some(phase);
        }
    }

    /// The phase in which a copy has started.
    pub fn start_of(&self, time: u32) -> Option<(Actor, u32)> {
        self.all.get(time as usize)?.starts
    }

    /// A copy is complete, with a phase of an object.
    pub fn complete(&mut self, number: u64, phase: Option<(Actor, u32)>) {
        let Some(copy) = self.in_flight.remove(&number).and_then(|at| self.all.get_mut(at as usize)) else { return };
        copy.state =
            phase.map_or(OperationState::Forgotten, |(object, phase)| OperationState::Completes(object, phase));
    }

    /// A bulk copy starts that its group completes.
    pub fn starts_bulk(&mut self, copy: Bulk) {
        if self.bulk.back() == Some(&copy) {
            return;
        }
        if self.bulk.len() == BULK {
            self.bulk.pop_front();
        }
        self.bulk.push_back(copy);
    }

    /// The clock that the completion of other threads' bulk copies would publish, for those copies of the CTA that these lanes of a
    /// warp know of, by groups of these works; and the statement of the last one.
    pub fn bulk_of_others(&self, warp: &Warp, lanes: u32, works: &[Work]) -> Option<(Clock, u32)> {
        let lane = lanes.trailing_zeros() & 31;
        let is_other = |copy: &&Bulk| copy.warp != warp.id || copy.lanes & lanes == 0;
        let in_cta = self.bulk.iter().filter(|copy| are_neighbours(copy.warp, warp.id)).filter(is_other);
        let is_open = |copy: &&Bulk| {
            let done = |work: &Work| warp.knows(lane, work.of(copy.warp), copy.lanes, copy.group);
            warp.knows(lane, copy.warp, copy.lanes, copy.issued) && works.iter().any(|work| !done(work))
        };
        let open: Vec<_> = in_cta.filter(is_open).collect();
        let (last, mut clock) = (open.last()?.site, Clock::default());
        for copy in open {
            works.iter().for_each(|work| clock.learn(work.of(copy.warp), copy.lanes, copy.group + 1));
        }
        Some((clock, last))
    }

    /// A bulk copy writes this.
    pub fn writes(&mut self, copy: OperationEvent, content: u64) {
        self.contents.insert((copy, content));
    }

    /// Has another copy written the same bytes to the same places? Compilers let all lanes of a warp, or two warps, store a tile.
    pub fn is_copy_of(&self, copy: OperationEvent, content: u64) -> bool {
        self.contents.contains(&(copy, content))
    }

    /// Is a copy complete, for those who know of the phases of objects? One whose object has no number is.
    pub fn is_complete(&self, time: u32, known: impl Fn(Actor, u32) -> bool) -> bool {
        match self.all.get(time as usize).map(|copy| copy.state) {
            Some(OperationState::Completes(object, phase)) => known(object, phase),
            Some(OperationState::InFlight) => false,
            Some(OperationState::Forgotten) | None => true,
        }
    }

    /// The thread of an event: warp and lanes.
    pub fn thread(&self, actor: Actor, lanes: u32, time: u32) -> (Actor, u32) {
        match self.all.get(time as usize) {
            Some(copy) if actor == COPIES => (copy.warp, 1 << (copy.lane & 31)),
            _ => (actor, lanes),
        }
    }
}

/// The view of lanes of a warp that know the same about other threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'v> {
    pub warp: &'v Warp,
    pub lanes: u32,
    pub operations: &'v Operations,
    /// The proxy fence that must be between stores and an access.
    pub bridge: Option<Bridge>,
    /// Whether the fence must also be between loads and an access that writes.
    pub reads: bool,
    /// The hash of what a bulk copy writes to global memory.
    pub content: Option<u64>,
}

impl View<'_> {
    /// Whether these events happen before the view.
    #[inline]
    pub fn knows(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        let lane = self.lanes.trailing_zeros() & 31;
        if actor == COPIES {
            return self.operations.is_complete(time, |actor, time| self.warp.knows(lane, actor, 1, time));
        }
        let own = self.lanes.is_power_of_two() && lanes & !self.lanes == 0;
        self.warp.knows(lane, actor, lanes, time) || own && self.warp.has_waited(actor, lanes, time)
    }

    /// Whether these accesses happen before the view, with the proxy fence that they need.
    #[inline]
    pub fn is_behind(&self, what: RecordKind, actor: Actor, lanes: u32, time: u32) -> bool {
        let needs_fence = what.needs_fence() || self.reads && what == RecordKind::Load;
        self.knows(actor, lanes, time) && (!needs_fence || self.bridge.is_none() || self.is_fenced(actor, lanes, time))
    }

    /// Is the proxy fence that an access needs between these events and now?
    pub fn is_fenced(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        let Some(bridge) = self.bridge else { return true };
        let lane = self.lanes.trailing_zeros() & 31;
        if actor == COPIES {
            return self.operations.is_complete(time, |actor, time| self.warp.is_fenced(lane, bridge, actor, 1, time));
        }
        self.warp.is_fenced(lane, bridge, actor, lanes, time)
    }

    /// Is a fence of this kind between these events and a synchronisation, even a relaxed one, with this warp?
    pub fn has_met_fenced(&self, bridge: Bridge, actor: Actor, lanes: u32, time: u32) -> bool {
        if actor == COPIES {
            return self.operations.is_complete(time, |actor, time| self.warp.has_met_fenced(bridge, actor, 1, time));
        }
        self.warp.has_met_fenced(bridge, actor, lanes, time)
    }
}
