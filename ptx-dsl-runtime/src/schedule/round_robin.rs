use super::{Choice, Scheduler};

/// Always the first: each in turn, with long turns.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin;

impl Scheduler for RoundRobin {
    fn choose(&mut self, _: Choice, _: usize) -> usize {
        0
    }
}
