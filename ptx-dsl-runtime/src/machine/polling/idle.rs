//! Cohorts that poll, read nothing new, and so wait until something changes; for launches with a seed.
//!
//! A turn ends when a cohort comes back to a test with nothing changed since. If the registers that decide what its loop does are
//! then those at the begin of the turn, and nothing has changed in between, the next turn would do the same. So there is none until
//! something changes.

use std::collections::HashMap;

use super::{Key, State, key, looping};
use crate::kernel::flow::Pc;
use crate::machine::body::Body;
use crate::machine::cluster::Cohort;
use crate::machine::ctx::Ctx;

/// The tests of a turn.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    /// The number of tests in the turn.
    count: u64,
    /// A test of the turn, with the progress of the launch at that test.
    anchor: Option<(Pc, u64)>,
}

impl Tests {
    pub fn clear(&mut self) {
        *self = Tests::default();
    }

    /// The cohort comes to a test. Was it there before, with this progress? Known after at most three rounds of a loop (Brent's algorithm).
    pub fn is_repeated(&mut self, pc: Pc, progress: u64) -> bool {
        self.count += 1;
        let is = self.anchor == Some((pc, progress));
        if self.count.is_power_of_two() {
            self.anchor = Some((pc, progress));
        }
        is
    }
}

/// The state in which a cohort ended its turn because it polls.
#[derive(Debug)]
struct Poll {
    state: State,
    /// The progress of the launch then, if it had read nothing new.
    waits: Option<u64>,
}

/// Cohorts that poll.
#[derive(Debug, Default)]
pub(crate) struct IdlePolls(HashMap<Key, Poll>);

impl IdlePolls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All may look again.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// The cluster of a slot is another one.
    pub fn forget_slot(&mut self, slot: usize) {
        if !self.0.is_empty() {
            self.0.retain(|(of, ..), _| *of != slot);
        }
    }

    /// Does a cohort poll, with nothing changed since it looked last?
    pub fn waits(&self, slot: usize, c: &Cohort, progress: u64) -> bool {
        let poll = if self.0.is_empty() { None } else { self.0.get(&key(slot, c)) };
        poll.is_some_and(|poll| poll.waits == Some(progress) && poll.state.0 == c.pc)
    }
}

impl Ctx<'_> {
    /// A turn of a cohort, which goes on as `c`, is over. It began with this progress.
    pub(in crate::machine) fn note_poll(&mut self, body: &mut dyn Body, c: &Cohort, began: u64) {
        let s = &mut self.scheduling;
        if s.always_first || s.steps.is_some() || s.polling.is_some() {
            return;
        }
        let (slot, progress) = (self.residents.slot, s.progress);
        let state = if s.yielded { body.loop_state(&looping(slot, c)) } else { None };
        match state {
            Some(state) => {
                let state = (c.pc, c.resumed, state);
                let was_there = s.idle.0.get(&key(slot, c)).is_some_and(|poll| poll.state == state);
                // stores count only from the first poll on
                let waits = (was_there && s.probing && began == progress).then_some(progress);
                s.idle.0.insert(key(slot, c), Poll { state, waits });
            }
            None if s.idle.is_empty() => return,
            None => drop(s.idle.0.remove(&key(slot, c))),
        }
        s.probing = s.ignores_equal_stores();
    }

    /// Can a ready cohort of a slot run, and does not wait for a change?
    pub(in crate::machine) fn can_run(&self, slot: usize) -> bool {
        let (idle, progress) = (&self.scheduling.idle, self.scheduling.progress);
        let ready = &self.residents.clusters[slot].ready;
        if idle.is_empty() { !ready.is_empty() } else { ready.iter().any(|c| !idle.waits(slot, c, progress)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_comes_back_repeats_unless_something_changes() {
        let mut tests = Tests::default();
        // a test before the loop, then two in it
        let all = [1, 2, 3, 2, 3, 2, 3, 2, 3];
        let first = all.iter().position(|pc| tests.is_repeated(*pc, 0));
        assert!(first.is_some_and(|n| n <= 6), "{first:?}");
        tests.clear();
        assert!((0..100).all(|progress| !tests.is_repeated(2, progress)));
        tests.clear();
        assert!((0..100).all(|pc| !tests.is_repeated(pc, 0)), "tests one after the other");
    }
}
