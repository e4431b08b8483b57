//! Explores many schedules of one launch.

mod check;
mod recorder;
mod shard;
mod shorten;

use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::api::host::Host;
use crate::api::launch::Error;
use crate::fault::Fault;
use crate::machine::schedule::Schedule;
use crate::machine::schedule::ScheduleSource;
use crate::machine::steps::{Explorer, SharedExplorer};
use crate::observe::checked::Checked;
use crate::observe::explore::dpor::Exhaustive;
use crate::observe::explore::pct::Priorities;
use crate::observe::explore::repeat::Repeat;
use check::Panics;
use recorder::Recorder;
use shard::Shard;

/// How schedules are chosen.
#[derive(Debug, Clone, Copy)]
enum ExploreMode {
    /// Pseudo-random ones, by seed.
    Seeds,
    /// All that differ in the order of dependent steps.
    Exhaustive,
    /// Random priorities, for bugs of this depth.
    Priorities(usize),
}

/// Why an exploration failed, and the schedule of the run that did.
struct Failed {
    error: Error,
    schedule: Option<Schedule>,
}

impl From<Error> for Box<Failed> {
    fn from(error: Error) -> Self {
        Box::new(Failed { error, schedule: None })
    }
}

/// A host that explores many schedules: see [`Host::explore`].
#[derive(Debug)]
pub struct Explore<M> {
    host: Host<M>,
    first: u64,
    schedules: u64,
    mode: ExploreMode,
    place: &'static Location<'static>,
}

/// The outcome of an exploration: the results of its runs, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored<T> {
    results: Vec<T>,
    complete: bool,
    runs: u64,
}

impl<T> Explored<T> {
    /// Each run was another schedule, and there are more.
    fn sampled(results: Vec<T>) -> Self {
        Explored { runs: results.len() as u64, results, complete: false }
    }

    /// Has an [exhaustive](Explore::exhaustive) exploration run all schedules? Others never do.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// How many schedules have run.
    pub fn schedules(&self) -> usize {
        self.results.len()
    }

    /// How many times the kernel has run. An [exhaustive](Explore::exhaustive) exploration stops some runs when it finds that they do what
    /// an earlier schedule did; these have no result, but count for the limit.
    pub fn runs(&self) -> u64 {
        self.runs
    }
}

impl<T> Deref for Explored<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.results
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for Explored<T> {
    fn eq(&self, results: &Vec<T>) -> bool {
        self.results == *results
    }
}

impl<T> IntoIterator for Explored<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.results.into_iter()
    }
}

impl<M> Host<M> {
    /// Tries `n` schedules: seeds from that of [`Host::seed`] on, or from 0. With an even seed, every instruction that may wait or not
    /// (`tcgen05.dealloc.cta_group::2`) does wait, so seed 0 has all of these waits.
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
    ///
    /// [`Explore::pct`] and [`Explore::exhaustive`] choose schedules in other ways. With the environment variable `PTX_DSL_SHARD=2/8` a
    /// process runs every eighth schedule, starting with the second; an exhaustive exploration, which cannot be divided, runs in one of the
    /// eight processes. `PTX_DSL_SCHEDULE` is the text of a [`Schedule`] to run instead of all others.
    #[track_caller]
    pub fn explore(&self, n: u64) -> Explore<M> {
        let first = if let ScheduleSource::Seed(seed) = self.options.schedule { seed } else { 0 };
        Explore { host: self.clone(), first, schedules: n, mode: ExploreMode::Seeds, place: Location::caller() }
    }

    /// Runs one schedule, given as text, as in the report of an exploration.
    ///
    /// # Errors
    /// [`Error::Schedule`] if the text is not a schedule of this version.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().schedule("seed17")?;
    /// # let _ = host;
    /// # Ok::<(), ptx_dsl_runtime::Error>(())
    /// ```
    pub fn schedule(self, text: &str) -> Result<Self, Error> {
        let schedule = text.parse().map_err(|problem| Error::Schedule { text: text.into(), problem })?;
        Ok(self.scheduled(schedule))
    }

    fn scheduled(self, schedule: Schedule) -> Self {
        match schedule {
            Schedule::Seed(seed) => self.seed(seed),
            Schedule::Turns(decisions) => self.replay(decisions),
            Schedule::Steps(decisions) => self.stepwise(shared(&share(Repeat::new(decisions)))),
        }
    }

    fn stepwise(mut self, explorer: SharedExplorer) -> Self {
        self.options.schedule = ScheduleSource::Steps(explorer);
        self
    }
}

impl Explore<Checked> {
    /// Runs all schedules; of those that differ only in the order of independent steps, one (dynamic partial-order reduction). It runs at
    /// most the number given to [`Host::explore`], which counts runs that turn out to repeat others. Steps are operations that other
    /// threads can see: synchronisation, strong and atomic accesses, and completions of asynchronous operations. Weak accesses are ordered
    /// by these, or the checked host finds a race.
    ///
    /// A loop around a test or a load that returns to it with nothing changed counts as waiting. `try_wait` may also return false. The
    /// lanes of a warp run in one order, and pending clusters are cancelled in order; they start in any order
    /// ([`Host::start_in_order`]).
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch<M>(_: &Host<M>) -> Result<Report, Error> { Ok(Report::default()) }
    /// let explored = Host::checked().explore(10_000).exhaustive().run(|host| launch(host))?;
    /// assert!(explored.is_complete());
    /// println!("{} schedules", explored.schedules());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn exhaustive(mut self) -> Self {
        self.mode = ExploreMode::Exhaustive;
        self
    }
}

impl Explore<Checked> {
    /// Explores with weak memory: see [`Host::weak`].
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch<M>(_: &Host<M>) -> Result<Report, Error> { Ok(Report::default()) }
    /// Host::checked().explore(10_000).exhaustive().weak().run(|host| launch(host))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn weak(mut self) -> Self {
        self.host = self.host.weak();
        self
    }
}

impl<M> Explore<M> {
    /// Gives threads random priorities, which change at `depth - 1` random steps (PCT). A bug that needs `depth` orderings of steps
    /// is found with a probability of at least 1 / (n k^(depth - 1)) in each run, for n warps and asynchronous operations that make
    /// k steps together. Most bugs have a depth of 1 to 3.
    pub fn pct(mut self, depth: usize) -> Self {
        self.mode = ExploreMode::Priorities(depth);
        self
    }

    /// Calls `launch` with a host for each schedule, always in the same order. Each call must do the same: make or reset its
    /// buffers, and launch. Returns what the calls returned.
    ///
    /// The first fault ends the exploration. It is reported with a shorter schedule that leads to the same fault at the same
    /// statement, if one is found: fewer decisions, or fewer changes from one warp to another ([`Fault::steps`]).
    /// [`Fault::schedule`] has the decisions, [`Fault::replay`] says how to repeat them.
    pub fn run<T>(&self, launch: impl FnMut(&Host<M>) -> Result<T, Error>) -> Result<Explored<T>, Error> {
        self.explore(launch).map_err(|failed| failed.error)
    }

    fn explore<T>(&self, launch: impl FnMut(&Host<M>) -> Result<T, Error>) -> Result<Explored<T>, Box<Failed>> {
        let shard = Shard::of_environment()?;
        if let Ok(text) = std::env::var("PTX_DSL_SCHEDULE") {
            return self.repeat(&text, launch);
        }
        match self.mode {
            ExploreMode::Seeds => self.seeds(shard, launch),
            ExploreMode::Exhaustive => self.exhaust(shard, launch),
            ExploreMode::Priorities(depth) => self.priorities(shard, depth, launch),
        }
    }

    fn repeat<T>(
        &self,
        text: &str,
        mut launch: impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Result<Explored<T>, Box<Failed>> {
        let host = self.host.clone().schedule(text)?;
        let result = launch(&host)?;
        Ok(Explored::sampled(vec![result]))
    }

    fn seeds<T>(
        &self,
        shard: Shard,
        mut launch: impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Result<Explored<T>, Box<Failed>> {
        let mut results = Vec::new();
        for i in (0..self.schedules).filter(|i| shard.has(*i)) {
            let seed = self.first.wrapping_add(i);
            let panics = Panics::watch(|| Schedule::Seed(seed));
            let result = launch(&self.host.clone().seed(seed).record());
            drop(panics);
            match result {
                Ok(result) => results.push(result),
                Err(error) => {
                    let error = match error {
                        Error::Fault(fault) => Error::Fault(self.shortest(seed, fault, &mut launch)),
                        other => other,
                    };
                    return Err(Box::new(Failed { error, schedule: Some(Schedule::Seed(seed)) }));
                }
            }
        }
        Ok(Explored::sampled(results))
    }

    fn shortest<T>(
        &self,
        seed: u64,
        found: Box<Fault>,
        launch: &mut impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Box<Fault> {
        let mut best =
            shorten::prefix(found, &mut |decisions| fault(launch(&self.host.clone().replay(decisions).record())));
        let (host, text) = (self.host.options.expression, Schedule::Turns(best.schedule.clone()).to_string());
        let mut replay = format!("`{host}.seed({seed})`");
        if best.schedule.is_empty() {
            replay += &format!(", or just `{host}`");
        } else if text.len() <= 100 {
            replay += &format!(", or the shorter `{host}.schedule(\"{text}\")?`");
        }
        best.replay = Some(replay);
        best
    }

    fn exhaust<T>(
        &self,
        shard: Shard,
        mut launch: impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Result<Explored<T>, Box<Failed>> {
        let explorer = share(Recorder::new(Exhaustive::default()));
        let mut results = Vec::new();
        let mut more = shard.has_place(self.place);
        let mut complete = more;
        let mut runs = 0;
        while more {
            if runs >= self.schedules {
                complete = false;
                break;
            }
            runs += 1;
            lock(&explorer).explorer.start();
            let result = self.one(&explorer, &mut launch)?;
            let mut explorer = lock(&explorer);
            if !explorer.explorer.was_redundant() {
                results.push(result);
            }
            more = explorer.explorer.advance();
        }
        complete &= !lock(&explorer).explorer.differs();
        Ok(Explored { results, complete, runs })
    }

    fn priorities<T>(
        &self,
        shard: Shard,
        depth: usize,
        mut launch: impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Result<Explored<T>, Box<Failed>> {
        let explorer = share(Recorder::new(Priorities::new(depth)));
        let mut results = Vec::new();
        for i in 0..self.schedules {
            // the first run measures how many steps there are
            if i > 0 && !shard.has(i) {
                continue;
            }
            lock(&explorer).explorer.start(self.first.wrapping_add(i));
            let result = self.one(&explorer, &mut launch)?;
            lock(&explorer).explorer.measure();
            if shard.has(i) {
                results.push(result);
            }
        }
        Ok(Explored::sampled(results))
    }

    /// One schedule, step by step.
    fn one<T, E: Explorer + 'static>(
        &self,
        explorer: &Arc<Mutex<Recorder<E>>>,
        launch: &mut impl FnMut(&Host<M>) -> Result<T, Error>,
    ) -> Result<T, Box<Failed>> {
        lock(explorer).decisions.clear();
        let panics = Panics::watch(|| Schedule::Steps(lock(explorer).decisions.clone()));
        let result = launch(&self.host.clone().stepwise(shared(explorer)));
        drop(panics);
        result.map_err(|error| {
            let decisions = lock(explorer).decisions.clone();
            match error {
                Error::Fault(found) => {
                    let best = self.fewest(Box::new(Fault { schedule: decisions, ..*found }), launch);
                    let schedule = Some(Schedule::Steps(best.schedule.clone()));
                    Box::new(Failed { error: Error::Fault(best), schedule })
                }
                error => Box::new(Failed { error, schedule: Some(Schedule::Steps(decisions)) }),
            }
        })
    }

    /// Finds the same fault with few changes of processes.
    fn fewest<T>(&self, found: Box<Fault>, launch: &mut impl FnMut(&Host<M>) -> Result<T, Error>) -> Box<Fault> {
        let mut again = |decisions| fault(launch(&self.host.clone().scheduled(Schedule::Steps(decisions))));
        let mut best = shorten::steps(found, &mut again);
        if best.schedule.is_empty() {
            // nobody has to be in a certain order
            best.steps.clear();
        }
        let text = Schedule::Steps(best.schedule.clone());
        best.replay = Some(format!("`{}.schedule(\"{text}\")?`", self.host.options.expression));
        best
    }
}

fn fault<T>(result: Result<T, Error>) -> Option<Box<Fault>> {
    match result {
        Err(Error::Fault(fault)) => Some(fault),
        _ => None,
    }
}

fn share<E>(explorer: E) -> Arc<Mutex<E>> {
    Arc::new(Mutex::new(explorer))
}

fn shared<E: Explorer + 'static>(explorer: &Arc<Mutex<E>>) -> SharedExplorer {
    SharedExplorer::new(explorer.clone())
}

fn lock<E>(explorer: &Arc<Mutex<E>>) -> MutexGuard<'_, E> {
    explorer.lock().unwrap_or_else(PoisonError::into_inner)
}
