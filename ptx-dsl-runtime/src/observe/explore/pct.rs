//! Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatti, "A randomized scheduler with probabilistic
//! guarantees of finding bugs", ASPLOS 2010.
//!
//! Processes have random priorities, and the one with the highest that can make a step makes it. At `depth - 1` random steps the
//! process that runs gets the lowest priority so far. A bug that needs `depth` orderings between steps is found with a probability
//! of at least 1 / (n k^(depth - 1)) in each run, with n processes that make k steps in all.

use crate::machine::schedule::{Choice, Scheduler, Seeded};
use crate::machine::steps::Explorer;
use crate::machine::steps::Made;
use crate::machine::steps::Process;
use std::collections::HashMap;

/// The priorities of a run.
pub(crate) struct Priorities {
    random: Seeded,
    depth: usize,
    /// Steps of the first run, over which changes are spread.
    length: usize,
    /// Steps at which a priority changes, and the priority that the process then gets.
    changes: Vec<(usize, u64)>,
    priorities: HashMap<Process, u64>,
    /// Steps of this run that were not idle.
    steps: usize,
}

impl Priorities {
    pub fn new(depth: usize) -> Self {
        let (changes, priorities) = (Vec::new(), HashMap::new());
        Priorities { random: Seeded::new(0), depth: depth.max(1), length: 0, changes, priorities, steps: 0 }
    }

    /// The first run is over: it says how many steps there are.
    pub fn measure(&mut self) {
        if self.length == 0 {
            self.length = self.steps;
        }
    }

    /// A run with this seed begins.
    pub fn start(&mut self, seed: u64) {
        self.random = Seeded::new(seed);
        self.steps = 0;
        self.priorities.clear();
        let (length, random) = (self.length.max(1), &mut self.random);
        // processes begin with higher priorities than these
        let lowest = (1..self.depth as u64).rev();
        self.changes = lowest.map(|priority| (random.choose(Choice::Cohort, length), priority)).collect();
    }

    /// Processes and steps of the run.
    fn priority(&mut self, process: Process) -> u64 {
        let (random, depth) = (&mut self.random, self.depth as u64);
        *self.priorities.entry(process).or_insert_with(|| depth + random.choose(Choice::Cohort, 1 << 31) as u64)
    }

    fn highest(&mut self, able: &[Process]) -> usize {
        let priorities: Vec<u64> = able.iter().map(|p| self.priority(*p)).collect();
        (0..able.len()).max_by_key(|i| priorities[*i]).unwrap_or(0)
    }
}

impl Explorer for Priorities {
    fn begin(&mut self) {}

    fn pick(&mut self, able: &[Process]) -> usize {
        let mut i = self.highest(able);
        while let Some(at) = self.changes.iter().position(|(step, _)| *step == self.steps) {
            let (_, priority) = self.changes.swap_remove(at);
            self.priorities.insert(able[i], priority);
            i = self.highest(able);
        }
        i
    }

    fn choose(&mut self, what: Choice, n: usize, _: u32) -> usize {
        let i = self.random.choose(what, 2 * n);
        // a wait seldom ends early
        if what == Choice::TimeOut { i / (2 * n - 1) } else { i % n }
    }

    fn made(&mut self, step: &Made) {
        self.steps += usize::from(!step.idle);
    }
}
