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
    /// Which resident cluster runs next, in round-robin order.
    Cluster,
    /// Which cohort of the cluster runs next, in round-robin order.
    Cohort,
    /// Does only a part of a cohort run, and which? 0: all of its warps do.
    Part,
    /// 0: the fragments of a warp that are behind run first, so that they reconverge.
    Converge,
    /// The length of a turn of a cohort, or of a cluster; 0 is the longest.
    Quantum,
    /// When an asynchronous operation completes; 0 is the latest.
    Delay,
    /// When an asynchronous copy reads its source; 0: when it completes, 1: when it starts.
    Source,
    /// Which pending cluster `clusterlaunchcontrol.try_cancel` cancels; in order.
    Pending,
    /// Which pending cluster starts in a free slot; in order.
    Start,
    /// Does an instruction that may wait do so (`tcgen05.dealloc.cta_group::2`)? 0: it does not.
    Block,
    /// Does `mbarrier.try_wait` return false at once instead of waiting? 3: it does.
    TimeOut,
    /// With weak memory: the store from which a load reads, or the position of a store in coherence order; 0 is the last.
    Store,
}

/// Takes the decisions that a launch leaves open.
pub trait Scheduler {
    /// Chooses one of `n` alternatives, 0 to `n - 1`; `n` is at least 2.
    fn choose(&mut self, what: Choice, n: usize) -> usize;
}
