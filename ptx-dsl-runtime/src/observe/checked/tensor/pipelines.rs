//! The order of `tcgen05` operations that execute one after another without a wait for completion (9.7.16.6.2, 9.7.16.6.3).

use crate::observe::checked::actor::{Actor, Work};
use crate::observe::checked::clock::{Bridge, Clock};
use crate::observe::checked::threads::Warp;
use crate::sync::tensor_pipeline::Pipeline;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// An operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct PipelinedOperation {
    pub slot: u32,
    /// The warp of the issuing thread.
    pub warp: Actor,
    pub lanes: u32,
    /// The time of its warp when it was issued.
    pub issued: u32,
    /// Commits of its thread before it.
    pub commits: u32,
    pub pipeline: Pipeline,
}

impl PipelinedOperation {
    /// Whether an operation that a thread of `warp` issues now executes after this one. It does if the same thread has issued both,
    /// or if the fences around a synchronisation are between the two.
    fn precedes(&self, later: &PipelinedOperation, warp: &Warp, fences: bool) -> bool {
        let same_thread = (self.warp, self.lanes) == (later.warp, later.lanes);
        let ordered = || {
            warp.any_is_fenced(Bridge::Tensor, self.warp, self.lanes, self.issued)
                || !fences && warp.has_seen(self.warp, self.lanes, self.issued)
        };
        self.slot == later.slot && self.pipeline.precedes(&later.pipeline) && (same_thread || ordered())
    }

    /// The event that completes the operation.
    fn completion(&self) -> (Actor, u32, u32) {
        (Work::Tensor.of(self.warp), self.lanes, self.commits + 1)
    }
}

/// The operations that accesses may still have to be ordered with.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// The operations by number, each with the operations before it.
    operations: BTreeMap<u64, (PipelinedOperation, BTreeSet<u64>)>,
    started: u64,
    /// The operations of other threads that the commits of a thread complete: their threads, and the time before which they are.
    of_others: FxHashMap<(Actor, u32), FxHashMap<(Actor, u32), u32>>,
}

/// The number of operations that are kept without a need.
const KEPT: usize = 32;

impl Pipelines {
    /// A cluster starts in this slot.
    pub fn forget(&mut self, slot: u32) {
        let ended = |operation: &PipelinedOperation| operation.slot == slot;
        for (operation, _) in self.operations.values().filter(|(operation, _)| ended(operation)) {
            self.of_others.remove(&(operation.warp, operation.lanes));
        }
        self.operations.retain(|_, (operation, _)| !ended(operation));
    }

    /// An operation of a thread of `warp` starts: its number.
    pub fn start(&mut self, new: PipelinedOperation, warp: &Warp, fences: bool) -> u64 {
        let mut behind = BTreeSet::new();
        // the youngest first: most of the others are after it already
        for (number, (old, further)) in self.operations.iter().rev() {
            if !behind.contains(number) && old.precedes(&new, warp, fences) {
                behind.insert(*number);
                behind.extend(further);
            }
        }
        for (old, _) in behind.iter().filter_map(|number| self.operations.get(number)) {
            if (old.warp, old.lanes) != (new.warp, new.lanes) {
                let (actor, lanes, time) = old.completion();
                let known = self.of_others.entry((new.warp, new.lanes)).or_default().entry((actor, lanes)).or_default();
                *known = time.max(*known);
            }
        }
        self.started += 1;
        self.operations.insert(self.started, (new, behind));
        self.started
    }

    /// Whether operation `later` executes after operation `first`.
    pub fn is_behind(&self, later: u64, first: u64) -> bool {
        later == first || self.operations.get(&later).is_some_and(|(_, behind)| behind.contains(&first))
    }

    /// The events of other threads that a commit of this thread completes.
    pub fn completed_by(&self, thread: (Actor, u32)) -> impl Iterator<Item = (Actor, u32, u32)> + '_ {
        self.of_others.get(&thread).into_iter().flatten().map(|(&(actor, lanes), &time)| (actor, lanes, time))
    }

    /// The operations of other threads that a commit of this thread comes after, as `known` says, but does not complete.
    pub fn not_tracked(&self, thread: (Actor, u32), known: &Clock) -> impl Iterator<Item = (Actor, u32, u32)> {
        let all = self.operations.values().map(|(operation, _)| operation);
        let of_others = all.filter(move |o| (o.warp, o.lanes) != thread && known.knows(o.warp, o.lanes, o.issued));
        of_others
            .map(PipelinedOperation::completion)
            .filter(|(actor, lanes, time)| !known.knows(*actor, *lanes, time - 1))
    }

    /// Forgets operations that no access needs, once they are many.
    pub fn prune(&mut self, is_needed: impl Fn(u64) -> bool) {
        if self.operations.len() <= KEPT {
            return;
        }
        self.operations.retain(|number, _| is_needed(*number));
        let known: BTreeSet<u64> = self.operations.keys().copied().collect();
        self.operations.values_mut().for_each(|(_, behind)| behind.retain(|number| known.contains(number)));
    }
}
