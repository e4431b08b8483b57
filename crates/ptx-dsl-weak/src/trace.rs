//! A run of one thread.

use crate::event::{Barrier, Event, Kind};

/// A run of a thread. Sets of events are masks.
#[derive(Clone, Default)]
pub struct Trace {
    pub events: Vec<Event>,
    /// The events before each event in program order; none for asynchronous operations.
    pub program_order: Vec<u64>,
    /// The events that precede the issue of each asynchronous operation.
    pub issue: Vec<u64>,
    /// The asynchronous operations that are complete before each event.
    pub complete: Vec<u64>,
    /// The reads that each event depends on.
    pub depends: Vec<u64>,
    /// Reads and writes of atomic operations.
    pub atomic: Vec<(usize, usize)>,
    /// The values that it reads and writes, by number.
    pub reads: u128,
    pub writes: u128,
    /// The registers at the end, and on which reads they depend.
    pub registers: Vec<(Option<i64>, u64)>,
}

impl Trace {
    /// The thread waits at a barrier forever.
    pub fn blocked(&self) -> bool {
        matches!(self.events.last(), Some(Event { kind: Kind::Barrier(Barrier { blocked: true, .. }), .. }))
    }

    /// Adds an event of an asynchronous operation; its index.
    pub fn push(&mut self, event: Event, issue: u64, complete: u64, depends: u64) -> usize {
        self.events.push(event);
        self.program_order.push(0);
        self.issue.push(issue);
        self.complete.push(complete);
        self.depends.push(depends);
        self.events.len() - 1
    }
}
