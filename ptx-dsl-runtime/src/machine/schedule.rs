//! Schedulers: they choose what runs next and when asynchronous operations complete. Equal scheduler, seed and input give equal
//! runs.

mod replay;
mod round_robin;
mod seeded;
mod source;
mod text;

pub use replay::Replay;
pub use round_robin::RoundRobin;
pub use seeded::Seeded;
pub(crate) use source::ScheduleSource;
pub use text::{Schedule, ScheduleError};

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The resident cluster that runs next, in round-robin order.
    Cluster,
    /// The cohort of the cluster that runs next, in round-robin order.
    Cohort,
    /// The part of a cohort that runs. 0: all of its warps.
    Part,
    /// The fragments of a warp that run first. 0: those that are behind, so that they reconverge.
    Converge,
    /// The length of a turn of a cohort, or of a cluster; 0 is the longest.
    Quantum,
    /// The completion time of an asynchronous operation; 0 is the latest.
    Delay,
    /// The time at which an asynchronous copy reads its source. 0: when it completes, 1: when it starts.
    Source,
    /// The pending cluster that `clusterlaunchcontrol.try_cancel` cancels, in order.
    Pending,
    /// The pending cluster that starts in a free slot, in order.
    Start,
    /// Whether an instruction that may wait does so (`tcgen05.dealloc.cta_group::2`). 0: it does not.
    Block,
    /// Whether `mbarrier.try_wait` returns false at once instead of waiting. 3: it does.
    TimeOut,
    /// The store from which a load reads, or the position of a store in coherence order, with weak memory; 0 is the last.
    Store,
}

/// Takes the decisions that a launch leaves open.
pub trait Scheduler {
    /// Chooses one of `n` alternatives, 0 to `n - 1`; `n` is at least 2.
    fn choose(&mut self, what: Choice, n: usize) -> usize;
}
