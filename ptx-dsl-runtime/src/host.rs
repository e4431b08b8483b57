//! The host: which scheduler, which monitor, how many clusters at a time.

mod explore;

pub use explore::Explore;

use std::fmt;
use std::marker::PhantomData;

use crate::monitor::{Checked, Monitor, Off};
use crate::schedule::{Replay, RoundRobin, Scheduler, Seeded};

#[derive(Debug, Clone)]
enum Schedule {
    RoundRobin,
    Seed(u64),
    Replay(Vec<u32>),
}

/// Runs kernels on this machine's processor.
pub struct Host<M = Off> {
    schedule: Schedule,
    record: bool,
    resident: usize,
    threads: usize,
    monitor: PhantomData<fn() -> M>,
}

// derived, these would ask the same of the monitor, of which there is none here

impl<M> Clone for Host<M> {
    fn clone(&self) -> Self {
        Host { schedule: self.schedule.clone(), ..*self }
    }
}

impl<M> fmt::Debug for Host<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { schedule, record, resident, threads, monitor: _ } = self;
        let mut s = f.debug_struct("Host");
        s.field("schedule", schedule).field("record", record).field("resident", resident).field("threads", threads);
        s.finish()
    }
}

impl Host {
    /// Plain: faults that cost nothing to notice.
    pub fn new() -> Self {
        Host::with_monitor()
    }

    /// Reports more, at a price: see [`Checked`].
    pub fn checked() -> Host<Checked> {
        Host::with_monitor()
    }
}

impl Default for Host {
    fn default() -> Self {
        Host::new()
    }
}

impl<M: Monitor> Host<M> {
    /// A host with a monitor of your own; each launch makes a new one.
    pub fn with_monitor() -> Self {
        Host { schedule: Schedule::RoundRobin, record: false, resident: 16, threads: 1, monitor: PhantomData }
    }

    /// Pseudo-random scheduling from this seed instead of round-robin. With an even seed every instruction waits that may
    /// wait or not.
    pub fn seed(mut self, seed: u64) -> Self {
        self.schedule = Schedule::Seed(seed);
        self
    }

    /// Repeats the decisions of [`Report::schedule`].
    pub fn replay(mut self, schedule: Vec<u32>) -> Self {
        self.schedule = Schedule::Replay(schedule);
        self
    }

    /// Records the decisions in [`Report::schedule`].
    pub fn record(mut self) -> Self {
        self.record = true;
        self
    }

    /// Runs the clusters of a grid on `n` threads of this machine's processor: 1 unless said otherwise, 0 for as many as it
    /// has. The calling thread is one of them.
    ///
    /// A cluster runs on one thread from its beginning to its end. A kernel without data races computes the same however many
    /// there are; which of several faults is reported, and in what order, may differ. A seed, a recording and a replay are about
    /// the order of one thread's decisions, so with them a launch has one thread, as it has with a monitor that has to see
    /// all of it ([`Monitor::PER_THREAD`]). `%clock` and its like count the turns of the own thread.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::new().threads(4);
    /// # let _ = host;
    /// ```
    pub fn threads(mut self, n: usize) -> Self {
        self.threads = if n == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { n };
        self
    }

    /// Threads a launch has at most.
    pub(crate) fn workers(&self) -> usize {
        if self.takes_the_first() && M::PER_THREAD { self.threads } else { 1 }
    }

    /// How many clusters are on the machine at the same time (16 by default); the others are pending, and what cluster
    /// launch control can cancel. With several threads each has its share, rounded up.
    pub fn resident_clusters(mut self, n: usize) -> Self {
        self.resident = n.max(1);
        self
    }

    pub(crate) fn scheduler(&self) -> Box<dyn Scheduler> {
        match &self.schedule {
            Schedule::RoundRobin => Box::new(RoundRobin),
            Schedule::Seed(n) => Box::new(Seeded::new(*n)),
            Schedule::Replay(v) => Box::new(Replay::new(v.clone())),
        }
    }

    /// Are all choices the first one, and not recorded?
    pub(crate) fn takes_the_first(&self) -> bool {
        matches!(self.schedule, Schedule::RoundRobin) && !self.record
    }

    pub(crate) fn replay_hint(&self) -> Option<String> {
        match &self.schedule {
            Schedule::RoundRobin => None,
            Schedule::Seed(n) => Some(format!("`Host::new().seed({n})`")),
            Schedule::Replay(_) => Some("`Host::new().replay(..)` with the same decisions".into()),
        }
    }

    pub(crate) fn resident(&self) -> usize {
        self.resident
    }

    pub(crate) fn records(&self) -> bool {
        self.record
    }
}

/// What a launch did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Clusters that ran.
    pub clusters_launched: u64,
    /// Clusters cancelled by cluster launch control, which did not run.
    pub clusters_cancelled: u64,
    /// Regions run, counted per warp.
    pub turns: u64,
    /// The scheduler's decisions, if [`Host::record`] was asked for.
    pub schedule: Vec<u32>,
}
