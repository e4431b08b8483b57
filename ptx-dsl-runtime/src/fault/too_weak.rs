//! The reasons why a synchronisation orders nothing, and the edits that would make it strong enough.

use std::fmt;

/// The weakness of a synchronisation: a part of it is relaxed, its scope does not include the other thread, or it is about the
/// asynchronous operations of the wrong thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TooWeak {
    /// A store that others load.
    RelaxedStore,
    /// The load of what others have released.
    RelaxedLoad,
    /// A relaxed store and a relaxed load.
    Relaxed,
    /// The scope of a release.
    ReleaseScope,
    /// The scope of an acquire.
    AcquireScope,
    /// An arrival at an mbarrier object, or at the barrier of the cluster.
    RelaxedArrival,
    /// A wait for a phase.
    RelaxedWait,
    /// The scope of an arrival at an mbarrier object of another CTA.
    ArrivalScope,
    /// The scope of a wait for arrivals from another CTA.
    WaitScope,
    /// A `tcgen05.commit` by a thread that has not issued the operation.
    OtherCommit,
    /// A wait for bulk groups by a thread that has not started the copy.
    OtherGroups,
}

impl TooWeak {
    /// Whether the weakness is about the asynchronous operations of another thread.
    pub(super) fn is_of_other_thread(self) -> bool {
        matches!(self, TooWeak::OtherCommit | TooWeak::OtherGroups)
    }

    /// The edit that makes the synchronisation strong enough.
    pub(super) fn help(self) -> &'static str {
        match self {
            TooWeak::RelaxedStore => "write `.release` at the store, or a `fence.acq_rel` before it",
            TooWeak::Relaxed => {
                "write `.release` at the store, or a `fence.acq_rel` before it; `.acquire` at the load, or such a fence after it"
            }
            TooWeak::RelaxedLoad => "write `.acquire` at the load, or a `fence.acq_rel` after it",
            TooWeak::ReleaseScope => "give the release a scope that includes both threads",
            TooWeak::AcquireScope => "give the acquire a scope that includes both threads",
            TooWeak::RelaxedArrival => "write `.release` at the arrival, or put a `fence.acq_rel.cluster` before it",
            TooWeak::RelaxedWait => "write `.acquire` at the wait, or put a `fence.acq_rel.cluster` after it",
            TooWeak::ArrivalScope => "write `.release.cluster` at the arrival",
            TooWeak::WaitScope => "write `.acquire.cluster` at the wait",
            TooWeak::OtherCommit => "let the thread that issues the operation execute the `tcgen05.commit` after it",
            TooWeak::OtherGroups => {
                "let the thread that starts the copy commit and wait for its group, and then synchronise with the others"
            }
        }
    }
}

impl fmt::Display for TooWeak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TooWeak::RelaxedStore => "the store is `.relaxed`, and no fence of release semantics precedes it",
            TooWeak::RelaxedLoad => "the load is `.relaxed`, and no fence of acquire semantics follows it",
            TooWeak::Relaxed => {
                "the store is `.relaxed`, and no fence of release semantics precedes it; \
                 the load is `.relaxed`, and no fence of acquire semantics follows it"
            }
            TooWeak::ReleaseScope => "the scope of the release does not include the thread that acquires",
            TooWeak::AcquireScope => "the scope of the acquire does not include the thread that releases",
            TooWeak::RelaxedArrival => "the arrival is `.relaxed`, and no fence of release semantics precedes it",
            TooWeak::RelaxedWait => "the wait is `.relaxed`, and no fence of acquire semantics follows it",
            TooWeak::ArrivalScope => "the scope of the arrival does not include the thread that waits",
            TooWeak::WaitScope => "the scope of the wait does not include the thread that arrives",
            TooWeak::OtherCommit => "a commit tracks only the operations that its own thread has issued",
            TooWeak::OtherGroups => "a wait for bulk groups waits only for the copies of its own thread",
        })
    }
}
