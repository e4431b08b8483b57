//! Explores many schedules of one launch, and shrinks the schedule of a fault by bisection.

use std::mem::discriminant;

use crate::fault::Fault;
use crate::host::{Host, Schedule};
use crate::launch::Error;
use crate::monitor::Monitor;

/// The most runs to find a shorter schedule with the same fault.
const ATTEMPTS: usize = 40;
/// The most decisions that a report spells out.
const SPELLED: usize = 32;

/// A host that explores many schedules: see [`Host::explore`].
#[derive(Debug)]
pub struct Explore<M> {
    host: Host<M>,
    first: u64,
    schedules: u64,
}

impl<M: Monitor> Host<M> {
    /// Tries `n` schedules: seeds from [`Host::seed`]'s on, or from 0. In those of even seeds every instruction waits that
    /// may wait or not (`tcgen05.dealloc.cta_group::2`), so the first schedule has all of these waits.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch(_: &Host, _: &mut [u32]) -> Result<Report, Error> { Ok(Report::default()) }
    /// let reports = Host::new().explore(64).run(|host| {
    ///     let mut result = vec![0; 256];
    ///     launch(host, &mut result)
    /// })?;
    /// assert_eq!(reports.len(), 64);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explore(&self, n: u64) -> Explore<M> {
        let first = if let Schedule::Seed(seed) = self.schedule { seed } else { 0 };
        Explore { host: self.clone(), first, schedules: n }
    }
}

impl<M: Monitor> Explore<M> {
    /// Calls `launch` with a host for each schedule, always in the same order. Each call must do the same: make or reset its
    /// buffers, and launch. Returns what the calls returned.
    ///
    /// The first fault ends the exploration. It is then reported with the shortest prefix of its decisions found that, continued
    /// in round-robin order, leads to the same fault at the same statement. `Fault::schedule` has these decisions;
    /// `Fault::replay` has the seed and, if they are few, the decisions.
    pub fn run<T>(&self, mut launch: impl FnMut(&Host<M>) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let mut results = Vec::new();
        for i in 0..self.schedules {
            let seed = self.first.wrapping_add(i);
            match launch(&self.host.clone().seed(seed).record()) {
                Ok(result) => results.push(result),
                Err(Error::Fault(fault)) => return Err(Error::Fault(self.shortest(seed, fault, &mut launch))),
                Err(other) => return Err(other),
            }
        }
        Ok(results)
    }

    fn shortest<T>(
        &self,
        seed: u64,
        found: Box<Fault>,
        launch: &mut impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Box<Fault> {
        let mut best = found;
        best.schedule = trimmed(std::mem::take(&mut best.schedule));
        let mut attempts = 0;
        let mut same = |best: &mut Box<Fault>, decisions: Vec<u32>| {
            attempts += 1;
            if attempts > ATTEMPTS {
                return false;
            }
            let Err(Error::Fault(fault)) = launch(&self.host.clone().replay(decisions.clone()).record()) else {
                return false;
            };
            let same = discriminant(&fault.kind) == discriminant(&best.kind) && fault.at == best.at;
            if same {
                **best = Fault { schedule: trimmed(decisions), ..*fault };
            }
            same
        };
        // bisection over the length of the prefix: `high` decisions are enough, fewer than `low` are not
        let all = best.schedule.clone();
        let (mut low, mut high, mut n) = (0, all.len(), 0);
        while n < high {
            if same(&mut best, all[..n].to_vec()) {
                high = n;
            } else {
                low = n + 1;
                n = (2 * n).max(1);
            }
        }
        while low < high {
            let middle = low.midpoint(high);
            if same(&mut best, all[..middle].to_vec()) { high = middle } else { low = middle + 1 }
        }
        // then zero the decisions that do not matter
        for i in 0..best.schedule.len().min(SPELLED) {
            if best.schedule.get(i).is_some_and(|&d| d != 0) {
                let mut fewer = best.schedule.clone();
                fewer[i] = 0;
                same(&mut best, fewer);
            }
        }
        let host = M::HOST;
        let mut replay = format!("`{host}.seed({seed})`");
        if best.schedule.is_empty() {
            replay += &format!(", or just `{host}`");
        } else if best.schedule.len() <= SPELLED {
            replay += &format!(", or the shorter `{host}.replay(vec!{:?})`", best.schedule);
        }
        best.replay = Some(replay);
        best
    }
}

/// Removes trailing zeros, which are the default decision.
fn trimmed(mut decisions: Vec<u32>) -> Vec<u32> {
    decisions.truncate(decisions.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1));
    decisions
}
