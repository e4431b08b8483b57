//! The events of a launch, in the order in which they happen, for monitors that want more than accesses.

use crate::kernel::flow::Wait;
use crate::observe::monitor::Who;

/// Something that has happened. Times are turns: each region that a warp runs is one.
///
/// [Example](crate::observe::monitor#events-and-synchronisations).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A cluster starts.
    ClusterStarts {
        /// The slot of the cluster among the resident ones.
        slot: u32,
        /// `%clusterid`
        id: [u32; 3],
        /// `%ctaid` by rank.
        ctas: &'e [[u32; 3]],
    },
    /// All threads of a cluster have ended.
    ClusterEnds {
        /// The slot of the cluster.
        slot: u32,
    },
    /// A pending cluster is cancelled, or none is left (`clusterlaunchcontrol.try_cancel`).
    Cancels {
        /// The thread that asked.
        who: Who,
        /// `%ctaid` of the first CTA of the cluster.
        first: Option<[u32; 3]>,
    },
    /// Neighbouring warps, from `who.warp` on, start to run.
    Runs {
        /// The first warp, and the lanes of each. There is no statement.
        who: Who,
        /// The number of warps.
        warps: u32,
    },
    /// Warps run this region next. `who` and `warps` are those of this region: warps and lanes may have diverged.
    Region {
        /// The first warp, and the lanes of the first. The statement is the first one that has a number: those that only compute
        /// have none, and without any it is `u32::MAX`.
        who: Who,
        /// The number of warps.
        warps: u32,
        /// The label of the region, or what it starts with.
        name: &'e str,
    },
    /// The warps of the last [`Event::Runs`] stop, to wait or to let others run.
    Pauses,
    /// Neighbouring warps start to wait. `who.site` is the statement.
    Waits {
        /// The first warp, and the lanes of each.
        who: Who,
        /// The number of warps.
        warps: u32,
        /// The condition that they wait for.
        wait: &'e Wait,
        /// The condition in words, with what is missing now.
        reason: &'e str,
    },
    /// Waiting warps go on.
    Resumes {
        /// The threads, as in [`Event::Waits`], without the statement.
        who: Who,
        /// The number of warps.
        warps: u32,
        /// `try_wait` returns false.
        timed_out: bool,
    },
    /// An asynchronous operation starts. `who.site` is the statement.
    Issues {
        /// The number of the operation.
        id: u64,
        /// The thread.
        who: Who,
        /// The mbarrier object on which it arrives when it completes: CTA rank and offset.
        mbarrier: Option<(u32, u32)>,
    },
    /// An asynchronous operation completes. Its effect on an mbarrier object follows.
    Completes {
        /// The number of the operation.
        id: u64,
    },
    /// A phase of an mbarrier object completes.
    Phase {
        /// Slot of the cluster.
        slot: u32,
        /// CTA rank.
        rank: u32,
        /// Offset in shared memory.
        offset: u32,
        /// The phase, modulo 2.
        phase: u64,
    },
    /// The launch is over.
    Ends {
        /// Whether the launch ends with a fault.
        failed: bool,
    },
}
