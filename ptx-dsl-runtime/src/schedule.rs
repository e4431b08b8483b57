//! Who runs next, and when asynchronous operations complete. Same scheduler, seed and input: same run.

mod replay;
mod round_robin;
mod seeded;

pub use replay::Replay;
pub use round_robin::RoundRobin;
pub use seeded::Seeded;

/// What is to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Which resident cluster has its turn; in round-robin order.
    Cluster,
    /// Which group of threads of the cluster; in round-robin order.
    Cohort,
    /// 0: fragments of a warp that are behind go first, so that they meet again.
    Converge,
    /// How long a turn is, 0 is the longest.
    Quantum,
    /// How late an asynchronous operation completes, 0 is the latest.
    Delay,
    /// Which pending cluster `clusterlaunchcontrol.try_cancel` cancels; in order.
    Pending,
    /// Does an instruction wait that may wait or not (`tcgen05.dealloc.cta_group::2`)? 0: it does not.
    Block,
}

/// Takes the decisions a launch leaves open.
pub trait Scheduler {
    /// One of `n` alternatives, a number below `n`; `n` is at least 2.
    fn choose(&mut self, what: Choice, n: usize) -> usize;
}
