//! The source of the schedule of a launch.

use super::{Replay, RoundRobin, Scheduler, Seeded};
use crate::machine::steps::SharedExplorer;

/// The source of the scheduling decisions of a launch.
#[derive(Debug, Clone)]
pub(crate) enum ScheduleSource {
    /// Nobody: the first alternative is always taken.
    RoundRobin,
    /// A pseudo-random scheduler with this seed.
    Seed(u64),
    /// A recording.
    Replay(Vec<u32>),
    /// Step by step, as the explorer says.
    Steps(SharedExplorer),
}

impl ScheduleSource {
    /// The scheduler of one host thread.
    pub(crate) fn scheduler(&self) -> Box<dyn Scheduler> {
        match self {
            // those that run step by step have an explorer
            ScheduleSource::RoundRobin | ScheduleSource::Steps(_) => Box::new(RoundRobin),
            ScheduleSource::Seed(n) => Box::new(Seeded::new(*n)),
            ScheduleSource::Replay(v) => Box::new(Replay::new(v.clone())),
        }
    }

    /// The explorer that takes the decisions, if launches run step by step.
    pub(crate) fn explorer(&self) -> Option<SharedExplorer> {
        match self {
            ScheduleSource::Steps(explorer) => Some(explorer.clone()),
            ScheduleSource::RoundRobin | ScheduleSource::Seed(_) | ScheduleSource::Replay(_) => None,
        }
    }
}
