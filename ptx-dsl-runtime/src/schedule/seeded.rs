//! Pseudo-random decisions from a seed.

use super::{Choice, Scheduler};

/// Pseudo-random decisions from a seed (splitmix64). With an even seed every instruction waits that may wait or not.
#[derive(Debug, Clone, Copy)]
pub struct Seeded {
    state: u64,
    blocks: bool,
}

impl Seeded {
    /// The same seed gives the same decisions.
    pub fn new(seed: u64) -> Self {
        Seeded { state: seed, blocks: seed.is_multiple_of(2) }
    }
}

impl Scheduler for Seeded {
    fn choose(&mut self, what: Choice, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        if what == Choice::Block && self.blocks {
            return n.saturating_sub(1);
        }
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }
}
