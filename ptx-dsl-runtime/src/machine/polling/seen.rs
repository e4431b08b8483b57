//! The states in which cohorts were picked.

use std::collections::HashMap;

use crate::kernel::flow::Pc;

/// A cohort: slot, CTA, warps, lanes.
pub(super) type CohortKey = (usize, u32, u32, u32, u32);

/// The state of a cohort: its region, whether its wait is over, and a hash of the registers that decide what its loop does.
pub(super) type CohortState = (Pc, bool, [u64; 2]);

/// A state in which a cohort was picked.
#[derive(Debug)]
pub(super) struct Seen {
    state: CohortState,
    /// The number of times that the cohort came back to the state.
    repeats: u32,
    /// The number of times that the cohort was picked. The state is replaced at powers of two (Brent's algorithm).
    picks: u64,
}

/// The number of repetitions of a state after which its cohort counts as polling.
const ENOUGH: u32 = 3;
/// Changes of memory after which a watch ends.
pub(super) const CHANGES: u32 = 64;
/// Regions that a watch takes.
const TURNS: u64 = 1 << 19;
/// A watch of all cohorts.
#[derive(Debug)]
pub(crate) struct Polling {
    pub(super) progress: u64,
    pub(super) changes: u32,
    pub(super) until: u64,
    pub(super) seen: HashMap<CohortKey, Seen>,
    /// The number of times that all waits at mbarriers have timed out.
    pub(super) timeouts: u32,
}

impl Polling {
    /// A watch that begins at this progress and time.
    pub fn new(progress: u64, turns: u64) -> Polling {
        Polling { progress, changes: 0, until: turns + TURNS, seen: HashMap::new(), timeouts: 0 }
    }

    pub(super) fn repeats(&self, key: CohortKey) -> bool {
        self.seen.get(&key).is_some_and(|seen| seen.repeats >= ENOUGH)
    }

    /// A cohort is picked in this state.
    pub(super) fn pick(&mut self, key: CohortKey, state: CohortState) {
        let seen = self.seen.entry(key).or_insert(Seen { state, repeats: 0, picks: 0 });
        seen.picks += 1;
        if seen.picks > 1 && seen.state == state {
            seen.repeats += 1;
        } else if seen.picks.is_power_of_two() {
            (seen.state, seen.repeats) = (state, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_comes_back_repeats() {
        let (key, state) = ((0, 0, 0, 1, 1), |pc| (pc, false, [0; 2]));
        let mut polling = Polling::new(0, 0);
        for i in 0..100 {
            polling.pick(key, state(i));
        }
        assert!(!polling.repeats(key));
        // after a prologue, a cycle of three
        for i in 0..200 {
            polling.pick(key, state(i % 3));
        }
        assert!(polling.repeats(key));
    }
}
