//! Replays recorded decisions.

use super::{Choice, Scheduler};

/// Repeats recorded decisions (`Report::schedule`), then goes on in round-robin order.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    decisions: Vec<u32>,
    next: usize,
}

impl Replay {
    /// Repeats these decisions.
    pub fn new(decisions: Vec<u32>) -> Self {
        Replay { decisions, next: 0 }
    }
}

impl Scheduler for Replay {
    fn choose(&mut self, _: Choice, n: usize) -> usize {
        let i = self.decisions.get(self.next).copied().unwrap_or(0) as usize;
        self.next += 1;
        i.min(n - 1)
    }
}
