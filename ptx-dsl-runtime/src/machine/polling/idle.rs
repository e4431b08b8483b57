//! Warps that poll, read nothing new, and so wait until what they read changes; for launches with a seed.
//!
//! A turn ends when a cohort comes back to a test with nothing changed since. If the registers that decide what its loop does are then those
//! at the end of an earlier turn, and no turn since has changed anything, the warp would do the same again. So it does not run until one of
//! the places that these turns have accessed holds another value, or, if they depend on more than these places, until anything has changed.

use std::collections::HashMap;

use super::touched::Held;
use super::{CohortKey, CohortState, key, looping};
use crate::kernel::flow::Pc;
use crate::machine::body::Body;
use crate::machine::cluster::Cohort;
use crate::machine::ctx::Ctx;
use crate::memory::address::Place;

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

    /// Whether the turn has had a test.
    fn any(&self) -> bool {
        self.count > 0
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

/// The most turns that a warp may take for a round of a loop that polls.
const TURNS: u32 = 128;

/// The last turns of a warp that may poll: they have changed nothing.
#[derive(Debug)]
struct Poll {
    /// The state at the end of one of these turns.
    anchor: CohortState,
    /// The number of these turns.
    turns: u32,
    /// The memory that they have accessed since the anchor; `None` if they depend on more.
    held: Option<Held>,
    /// The progress of the launch at the anchor.
    from: u64,
    /// The warp has come back to the anchor, and nothing of that had changed at this progress of the launch: it waits.
    waits: Option<u64>,
}

impl Poll {
    fn at(anchor: CohortState, turns: u32, progress: u64) -> Poll {
        Poll { anchor, turns, held: Some(Held::default()), from: progress, waits: None }
    }

    /// A turn is over that has changed nothing, and has accessed this memory. `state`: it has tested, and this is the state now. False if the
    /// warp does not seem to poll.
    fn goes_on(&mut self, x: &Ctx<'_>, places: Option<&[(Place, u32)]>, state: Option<CohortState>) -> bool {
        let progress = x.scheduling.progress;
        if self.waits.is_some() {
            // what it has accessed before it waited is of no account
            *self = Poll::at(self.anchor, 1, progress);
        }
        self.turns += 1;
        let adds = |held: &mut Held| places.is_some_and(|places| held.add(x, places));
        self.held.take_if(|held| !adds(held));
        let Some(state) = state else { return self.turns < TURNS };
        if self.anchor == state {
            let same = self.held.as_ref().map_or(self.from == progress, |held| held.is_unchanged(x));
            match same {
                true => (self.turns, self.waits) = (1, Some(progress)),
                false => *self = Poll::at(state, 1, progress),
            }
        } else if self.turns.is_power_of_two() {
            *self = Poll::at(state, self.turns, progress);
        }
        self.turns < TURNS
    }
}

/// Warps that poll.
#[derive(Debug, Default)]
pub(crate) struct IdlePolls(HashMap<CohortKey, Poll>);

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
}

/// The warps of a cohort, one by one.
fn warps(c: &Cohort) -> impl Iterator<Item = Cohort> {
    let c = *c;
    (c.lo..c.hi).map(move |lo| Cohort { lo, hi: lo + 1, ..c })
}

/// A turn of the current cohort begins: if it may poll, notes what it accesses.
pub(in crate::machine) fn begin_turn(x: &mut Ctx<'_>) {
    x.scheduling.touched.give_up();
    if x.scheduling.idle.is_empty() {
        return;
    }
    let (slot, cur) = (x.residents.slot, x.cur);
    let polls = |c: &Cohort| x.scheduling.idle.0.contains_key(&key(slot, c));
    // where memory is weak, a load may read an older value
    if warps(&cur).any(|c| polls(&c)) && x.report().weak().is_none() {
        x.scheduling.touched.begin();
    }
}

/// A turn of a cohort, which goes on as `c`, is over. It began with this progress.
pub(in crate::machine) fn end_turn(body: &mut dyn Body, x: &mut Ctx<'_>, c: &Cohort, began: u64) {
    let s = &mut x.scheduling;
    if s.always_first || s.steps.is_some() || s.polling.is_some() {
        return;
    }
    let (slot, progress, tests) = (x.residents.slot, s.progress, s.tests.any());
    let was_empty = s.idle.is_empty();
    if was_empty && !tests {
        return;
    }
    let (places, mut polls) = (s.touched.take(), std::mem::take(&mut s.idle));
    for c in warps(c) {
        let key = key(slot, &c);
        let state = if tests && began == progress { body.loop_state(&looping(slot, &c)) } else { None };
        let state = state.map(|state| (c.pc, c.resumed, state));
        let goes_on = began == progress && (state.is_some() || !tests);
        match polls.0.get_mut(&key) {
            Some(poll) => {
                if !(goes_on && poll.goes_on(x, places.as_deref(), state)) {
                    polls.0.remove(&key);
                }
            }
            None => {
                if let Some(state) = state {
                    polls.0.insert(key, Poll::at(state, 1, progress));
                }
            }
        }
    }
    let s = &mut x.scheduling;
    s.idle = polls;
    // stores of equal values are no change from the first poll on
    if !was_empty || !s.idle.is_empty() {
        s.probing = s.ignores_equal_stores();
    }
}

/// A turn of the current cohort ends otherwise: its warps wait, or part.
pub(in crate::machine) fn forget_current(x: &mut Ctx<'_>) {
    if !x.scheduling.idle.is_empty() {
        for c in warps(&x.cur) {
            x.scheduling.idle.0.remove(&key(x.residents.slot, &c));
        }
    }
}

/// Do all warps of a ready cohort of a slot poll, with nothing changed since they looked last?
pub(in crate::machine) fn waits_for_change(x: &mut Ctx<'_>, slot: usize, c: &Cohort) -> bool {
    if x.scheduling.idle.is_empty() {
        return false;
    }
    let here = std::mem::replace(&mut x.residents.slot, slot);
    let waits = warps(c).all(|c| warp_waits(x, slot, &c));
    x.residents.slot = here;
    waits
}

/// Whether this warp of the current slot polls, and waits for a change.
fn warp_waits(x: &mut Ctx<'_>, slot: usize, c: &Cohort) -> bool {
    let progress = x.scheduling.progress;
    let Some(poll) = x.scheduling.idle.0.get(&key(slot, c)).filter(|poll| poll.anchor.0 == c.pc) else {
        return false;
    };
    match (poll.waits, &poll.held) {
        (None, _) => return false,
        (Some(since), _) if since == progress => return true,
        (Some(_), Some(held)) if held.is_unchanged(x) => {}
        (Some(_), _) => return false,
    }
    if let Some(poll) = x.scheduling.idle.0.get_mut(&key(slot, c)) {
        poll.waits = Some(progress);
    }
    true
}

/// Can a ready cohort of a slot run, and does not wait for a change?
pub(in crate::machine) fn can_run(x: &mut Ctx<'_>, slot: usize) -> bool {
    let ready = x.residents.clusters[slot].ready.len();
    (0..ready).any(|i| {
        let c = x.residents.clusters[slot].ready[i];
        !waits_for_change(x, slot, &c)
    })
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
