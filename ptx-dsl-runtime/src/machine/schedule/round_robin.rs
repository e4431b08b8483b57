//! Round-robin order, the default.

use super::{Choice, Scheduler};

/// The scheduler that always chooses the first alternative: round-robin order, with long turns.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin;

impl Scheduler for RoundRobin {
    fn choose(&mut self, _: Choice, _: usize) -> usize {
        0
    }
}
