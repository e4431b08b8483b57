//! Asynchronous operations of a thread: which events they have, and what orders them.

use crate::event::{Arrival, Event, Kind, Order, Proxy, Scope};
use crate::program::{Async, Await};
use crate::trace::Trace;

/// The asynchronous operations that a thread has issued. Sets of events are masks.
#[derive(Clone, Default)]
pub struct Agents {
    copies: u64,
    bulk: u64,
    bulk_reads: u64,
    loads: u64,
    stores: u64,
    /// `tcgen05.mma` and `tcgen05.cp`: those of a thread are pipelined.
    products: u64,
    /// The events that precede the next access to Tensor Memory: those before the last `tcgen05` fence or wait.
    tensor: u64,
}

impl Agents {
    /// The place whose value the operation reads.
    pub fn reads(operation: Async) -> Option<usize> {
        match operation {
            Async::Copy { from, .. } | Async::Bulk { from, .. } => Some(from),
            Async::Mma { from, .. } | Async::Tcgen05Copy { from, .. } | Async::Tcgen05Load { from, .. } => Some(from),
            Async::Store { .. } | Async::TryCancel { .. } | Async::Tcgen05Store { .. } | Async::Commit { .. } => None,
        }
    }

    /// Adds the operation's events. `own` precedes it in program order, `value` is what it reads.
    pub fn issue(&mut self, operation: Async, value: i64, own: u64, template: Event, trace: &mut Trace) {
        let access = |kind, proxy, place, value| Event { kind, proxy, place: Some(place), value, ..template.clone() };
        let copy = |trace: &mut Trace, proxy, from, to| {
            let read = trace.push(access(Kind::Read, proxy, from, value), own, 0, 0);
            let write = trace.push(access(Kind::Write, proxy, to, value), own, 1 << read, 1 << read);
            (1 << read, 1 << write)
        };
        match operation {
            Async::Copy { to, from } => {
                let (read, write) = copy(trace, Proxy::Generic, from, to);
                self.copies |= read | write;
            }
            Async::Bulk { to, from, object } => {
                let (read, write) = copy(trace, Proxy::Async, from, to);
                let fence = Event { kind: Kind::ProxyFence, proxy: Proxy::Async, ..template.clone() };
                let fence = 1 << trace.push(fence, 0, read | write, 0);
                match object {
                    Some((object, bytes)) => completes(trace, &template, object, bytes, read | write | fence),
                    None => {
                        self.bulk |= read | write | fence;
                        self.bulk_reads |= read;
                    }
                }
            }
            Async::Store { to, value, object: (object, bytes) } => {
                let write = 1 << trace.push(access(Kind::Write, Proxy::Generic, to, value), own, 0, 0);
                completes(trace, &template, object, bytes, write);
            }
            Async::TryCancel { to, object } => {
                let write = 1 << trace.push(access(Kind::Write, Proxy::Async, to, 1), own, 0, 0);
                let fence = Event { kind: Kind::ProxyFence, proxy: Proxy::Async, ..template.clone() };
                let fence = 1 << trace.push(fence, 0, write, 0);
                completes(trace, &template, object, 16, write | fence);
            }
            Async::Mma { to, from } | Async::Tcgen05Copy { to, from } => {
                let read = trace.push(access(Kind::Read, Proxy::Async, from, value), own, 0, 0);
                let write = access(Kind::Write, Proxy::Generic, to, value);
                let write = trace.push(write, self.tensor, self.products, 1 << read);
                self.products |= 1 << read | 1 << write;
            }
            Async::Tcgen05Store { to, value } => {
                let write = access(Kind::Write, Proxy::Generic, to, value);
                self.stores |= 1 << trace.push(write, self.tensor, 0, 0);
            }
            Async::Tcgen05Load { register, from } => {
                let read = access(Kind::Read, Proxy::Generic, from, value);
                let read = 1 << trace.push(read, self.tensor, 0, 0);
                self.loads |= read;
                trace.registers[register] = (Some(value), read);
            }
            Async::Commit { object } => {
                let arrival = Arrival { object, count: 1, tx: 0 };
                arrives(trace, &template, arrival, self.products);
            }
        }
    }

    /// The operations that a wait finds complete.
    pub fn complete(&self, wait: Await) -> u64 {
        match wait {
            Await::Copies => self.copies,
            Await::BulkGroups => self.bulk,
            Await::BulkGroupsRead => self.bulk_reads,
            Await::Tcgen05Loads => self.loads,
            Await::Tcgen05Stores => self.stores,
            Await::BeforeThreadSync => self.loads | self.stores | self.products,
            Await::AfterThreadSync => 0,
        }
    }

    /// Adds the events that a wait observes; `own` are the events of the thread up to the wait.
    pub fn after(&mut self, wait: Await, own: u64) {
        if matches!(wait, Await::AfterThreadSync | Await::Tcgen05Loads | Await::Tcgen05Stores) {
            self.tensor = own;
        }
    }
}

/// The implicit `mbarrier.complete_tx.release.cluster` of an operation.
fn completes(trace: &mut Trace, template: &Event, object: usize, bytes: i64, after: u64) {
    arrives(trace, template, Arrival { object, count: 0, tx: -bytes }, after);
}

fn arrives(trace: &mut Trace, template: &Event, arrival: Arrival, after: u64) {
    let kind = Kind::Arrive(arrival);
    let event = Event { kind, order: Order::Release, scope: Some(Scope::Cluster), ..template.clone() };
    trace.push(event, 0, after, 0);
}
