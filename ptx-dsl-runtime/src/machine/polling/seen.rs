//! The states in which cohorts were picked.

use std::collections::HashMap;

use crate::kernel::flow::Pc;

/// A cohort: slot, CTA, warps, lanes.
pub(super) type Key = (usize, u32, u32, u32, u32);

/// Where a cohort is, whether its wait is over, and a hash of the registers that decide what its loop does.
pub(super) type State = (Pc, bool, [u64; 2]);

/// A state in which a cohort was picked.
#[derive(Debug)]
pub(super) struct Seen {
    state: State,
    /// How often it came back to it.
    repeats: u32,
    /// It was picked so often, and takes the state anew at powers of two.
    picks: u64,
}

/// So often a state has to come back.
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
    pub(super) seen: HashMap<Key, Seen>,
    /// How often all waits at mbarriers have timed out.
    pub(super) timeouts: u32,
}

impl Polling {
    /// From this progress and time on.
    pub fn new(progress: u64, turns: u64) -> Polling {
        Polling { progress, changes: 0, until: turns + TURNS, seen: HashMap::new(), timeouts: 0 }
    }

    pub(super) fn repeats(&self, key: Key) -> bool {
        self.seen.get(&key).is_some_and(|seen| seen.repeats >= ENOUGH)
    }

    /// A cohort is picked in this state.
    pub(super) fn pick(&mut self, key: Key, state: State) {
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
