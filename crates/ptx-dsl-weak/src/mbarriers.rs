//! Mbarrier objects: the arrivals that each wait observes.
//!
//! Operations on one object are atomic: they have a total order, in which the object is a state machine. A wait that returns true
//! observes the arrivals of the phase that completed last.

use crate::candidate::Candidate;
use crate::error::{Error, ORDERS};
use crate::event::Kind;
use crate::relation::{Relation, bits};

/// One order of the operations on all objects.
#[derive(Clone)]
pub struct Meeting {
    /// The edges from arrivals to the waits that observe their phase.
    pub observed: Relation,
    /// The order of operations on one object.
    pub order: Relation,
}

/// All orders that the objects allow.
pub fn meetings(candidate: &Candidate) -> Result<Vec<Meeting>, Error> {
    let n = candidate.events.len();
    let before = candidate.po.or(&candidate.issue).or(&candidate.complete).closure();
    let mut ways = vec![Meeting { observed: Relation::empty(n), order: Relation::empty(n) }];
    for (object, &count) in candidate.program.mbarriers.iter().enumerate() {
        let operations = candidate.set(|event| match event.kind {
            Kind::Arrive(arrival) => arrival.object == object,
            Kind::Wait { object: of, .. } => of == object,
            _ => false,
        });
        let mut orders = Vec::new();
        let start = State { pending: count, tx: 0, phase: 0, last: 0, current: 0, left: operations, done: 0 };
        let empty = Meeting { observed: Relation::empty(n), order: Relation::empty(n) };
        Search { candidate, before: &before, count, orders: &mut orders }.all(start, empty)?;
        let joined = |way: &Meeting, order: &Meeting| Meeting {
            observed: way.observed.or(&order.observed),
            order: way.order.or(&order.order),
        };
        if ways.len() * orders.len() > ORDERS {
            return Err(Error::Orders);
        }
        ways = ways.iter().flat_map(|way| orders.iter().map(|order| joined(way, order))).collect();
    }
    Ok(ways)
}

#[derive(Clone, Copy)]
struct State {
    pending: i64,
    tx: i64,
    phase: i64,
    /// Arrivals of the last complete phase, and of the current one.
    last: u64,
    current: u64,
    left: u64,
    done: u64,
}

struct Search<'a> {
    candidate: &'a Candidate<'a>,
    before: &'a Relation,
    count: i64,
    orders: &'a mut Vec<Meeting>,
}

impl Search<'_> {
    fn all(&mut self, state: State, meeting: Meeting) -> Result<(), Error> {
        if self.orders.len() > ORDERS {
            return Err(Error::Orders);
        }
        if state.left == 0 {
            self.orders.push(meeting);
            return Ok(());
        }
        for next in bits(state.left) {
            if bits(state.left).any(|other| self.before.has(other, next)) {
                continue;
            }
            let (mut state, mut meeting) = (state, meeting.clone());
            bits(state.done).for_each(|done| meeting.order.add(done, next));
            state.left &= !(1 << next);
            state.done |= 1 << next;
            match self.candidate.events[next].kind {
                Kind::Arrive(arrival) => {
                    state.tx += arrival.tx;
                    state.pending -= arrival.count;
                    if state.pending < 0 {
                        continue;
                    }
                    state.current |= 1 << next;
                    if state.pending == 0 && state.tx == 0 {
                        let phase = state.phase + 1;
                        state = State { pending: self.count, phase, last: state.current, current: 0, ..state };
                    }
                }
                Kind::Wait { parity, .. } => {
                    if state.phase % 2 == parity {
                        continue;
                    }
                    bits(state.last).for_each(|arrival| meeting.observed.add(arrival, next));
                }
                _ => {}
            }
            self.all(state, meeting)?;
        }
        Ok(())
    }
}
