//! An explorer that records the decisions of another one.

use crate::machine::schedule::Choice;
use crate::machine::steps::{Explorer, Made, Process};

/// Records the decisions of a run.
pub(super) struct Recorder<E> {
    pub explorer: E,
    pub decisions: Vec<u32>,
}

impl<E: Explorer> Recorder<E> {
    pub fn new(explorer: E) -> Self {
        Recorder { explorer, decisions: Vec::new() }
    }
}

impl<E: Explorer> Explorer for Recorder<E> {
    fn begin(&mut self) {
        self.explorer.begin();
    }

    fn pick(&mut self, able: &[Process]) -> usize {
        let i = self.explorer.pick(able).min(able.len() - 1);
        if able.len() > 1 {
            self.decisions.push(i as u32);
        }
        i
    }

    fn choose(&mut self, what: Choice, n: usize, site: u32) -> usize {
        let i = self.explorer.choose(what, n, site).min(n - 1);
        self.decisions.push(i as u32);
        i
    }

    fn made(&mut self, step: &Made) {
        self.explorer.made(step);
    }
}
