//! Repeats recorded decisions, then goes on without a change of processes where it can.

use crate::machine::schedule::Choice;
use crate::machine::steps::Explorer;
use crate::machine::steps::Made;
use crate::machine::steps::Process;

/// Repeats decisions.
pub(crate) struct Repeat {
    decisions: Vec<u32>,
    next: usize,
}

impl Repeat {
    pub fn new(decisions: Vec<u32>) -> Self {
        Repeat { decisions, next: 0 }
    }

    fn take(&mut self, n: usize) -> usize {
        let i = self.decisions.get(self.next).copied().unwrap_or(0) as usize;
        self.next += 1;
        i.min(n - 1)
    }
}

impl Explorer for Repeat {
    fn begin(&mut self) {
        // the launches of a run share them; the next run repeats them
        if self.next >= self.decisions.len() {
            self.next = 0;
        }
    }

    fn pick(&mut self, able: &[Process]) -> usize {
        if able.len() > 1 { self.take(able.len()) } else { 0 }
    }

    fn choose(&mut self, _: Choice, n: usize, _: u32) -> usize {
        self.take(n)
    }

    fn made(&mut self, _: &Made) {}
}
