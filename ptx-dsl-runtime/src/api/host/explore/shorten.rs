//! Shortens the schedule of a fault: to the shortest prefix of its decisions that is enough, or to few changes of processes.

use std::mem::discriminant;

use crate::fault::Fault;

/// The most runs to find a shorter prefix.
const PREFIX_RUNS: usize = 40;
/// The most runs to find fewer changes of processes.
const STEP_RUNS: usize = 400;
/// The most decisions that are tried one by one.
const FEW: usize = 32;

/// Runs decisions until a fault.
pub(super) type Again<'r> = &'r mut dyn FnMut(Vec<u32>) -> Option<Box<Fault>>;

struct Search<'r> {
    best: Box<Fault>,
    again: Again<'r>,
    runs: usize,
}

impl Search<'_> {
    /// Do these decisions lead to the same fault, which is `better`? Then they are the best.
    fn is(&mut self, decisions: Vec<u32>, better: impl Fn(&Fault, &Fault) -> bool) -> bool {
        if self.runs == 0 {
            return false;
        }
        self.runs -= 1;
        let Some(fault) = (self.again)(decisions.clone()) else { return false };
        let same = discriminant(&fault.kind) == discriminant(&self.best.kind) && fault.at == self.best.at;
        let better = same && better(&fault, &self.best);
        if better {
            *self.best = Fault { schedule: trimmed(decisions), ..*fault };
        }
        better
    }
}

/// The fault with the shortest prefix of its decisions found that, continued in round-robin order, leads to it.
pub(super) fn prefix(found: Box<Fault>, again: Again<'_>) -> Box<Fault> {
    let mut s = Search { best: found, again, runs: PREFIX_RUNS };
    s.best.schedule = trimmed(std::mem::take(&mut s.best.schedule));
    // bisection over the length of the prefix: `high` decisions are enough, fewer than `low` are not
    let all = s.best.schedule.clone();
    let (mut low, mut high, mut n) = (0, all.len(), 0);
    while n < high {
        if s.is(all[..n].to_vec(), |_, _| true) {
            high = n;
        } else {
            low = n + 1;
            n = (2 * n).max(1);
        }
    }
    while low < high {
        let middle = low.midpoint(high);
        if s.is(all[..middle].to_vec(), |_, _| true) { high = middle } else { low = middle + 1 }
    }
    // then zero the decisions that do not matter
    for i in 0..s.best.schedule.len().min(FEW) {
        if s.best.schedule.get(i).is_some_and(|&d| d != 0) {
            let mut fewer = s.best.schedule.clone();
            fewer[i] = 0;
            s.is(fewer, |_, _| true);
        }
    }
    s.best
}

/// The fault of a schedule that goes step by step, with the fewest changes of processes found.
pub(super) fn steps(found: Box<Fault>, again: Again<'_>) -> Box<Fault> {
    let mut s = Search { best: found, again, runs: STEP_RUNS };
    s.best.schedule = trimmed(std::mem::take(&mut s.best.schedule));
    let fewer = |new: &Fault, best: &Fault| new.steps.len() < best.steps.len();
    let shorter = |new: &Fault, best: &Fault| new.steps.len() <= best.steps.len();
    if s.is(Vec::new(), shorter) {
        return s.best;
    }
    // decisions that do not matter, the last ones first
    let mut changed = true;
    while changed && s.runs > STEP_RUNS / 2 {
        changed = false;
        let mut i = s.best.schedule.len();
        while i > 0 {
            i = (i - 1).min(s.best.schedule.len());
            if s.best.schedule.get(i).is_some_and(|&d| d != 0) {
                let mut zeroed = s.best.schedule.clone();
                zeroed[i] = 0;
                changed |= s.is(zeroed, shorter);
            }
        }
    }
    // schedules with a single decision
    let (length, most) = (s.best.schedule.len() + 1, s.best.schedule.iter().copied().max().unwrap_or(1));
    if s.best.schedule.iter().filter(|d| **d != 0).count() > 1 {
        for i in 0..length {
            for decision in 1..=most {
                let mut single = vec![0; i];
                single.push(decision);
                s.is(single, fewer);
            }
        }
    }
    s.best
}

/// Removes trailing zeros, which are the default decision.
fn trimmed(mut decisions: Vec<u32>) -> Vec<u32> {
    decisions.truncate(decisions.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1));
    decisions
}
