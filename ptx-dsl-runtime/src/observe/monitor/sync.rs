//! The synchronisations that a monitor sees.

use super::{Groups, ProxyFence};

/// A synchronisation. `rank` and `offset` are the CTA of an mbarrier object and its place in shared memory.
///
/// [Example](crate::observe::monitor#events-and-synchronisations).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sync {
    /// `griddepcontrol.wait`: waits for the grids before.
    GridWait,
    /// `griddepcontrol.launch_dependents`: the next grid may start.
    GridTrigger,
    /// `mbarrier.init`
    MbarrierInit {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// `mbarrier.inval`
    MbarrierInval {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// Arrives, and may complete the phase.
    MbarrierArrive {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// Tests or waits for the phase of this parity.
    MbarrierTest {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
        /// 0 or 1
        parity: u64,
    },
    /// A wait has seen that its phase is complete.
    MbarrierWait {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// An operation of a thread accesses an mbarrier object: any operation, also one of which another value tells more.
    Mbarrier {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
        /// Whether the current phase counts the operation, or the copy that the thread is about to start
        counts: bool,
    },
    /// A phase of an mbarrier object is complete.
    MbarrierPhase {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// `expect_tx`, alone or with an arrival: an mbarrier object is about to count these bytes.
    MbarrierExpects {
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
        /// The number of bytes
        bytes: u32,
    },
    /// `barrier`, `bar`: arrives, and waits or not.
    Barrier {
        /// The number of the barrier
        id: u32,
        /// Whether the thread waits, as it does not at `bar.arrive`
        waits: bool,
    },
    /// All threads of this barrier have arrived.
    BarrierCompletes {
        /// The number of the barrier
        id: u32,
    },
    /// `bar.warp.sync`: arrives, or goes on once all members have arrived.
    Warp {
        /// The lanes of the member mask
        members: u32,
        /// Whether the thread arrives; otherwise it goes on
        arrives: bool,
    },
    /// `barrier.cluster.arrive`
    ClusterArrive,
    /// `barrier.cluster.wait`
    ClusterWait,
    /// All threads of the cluster have arrived.
    ClusterCompletes,
    /// `fence`, `membar`
    Fence,
    /// A proxy fence.
    ProxyFence(ProxyFence),
    /// An asynchronous copy starts, which has a number and will complete bytes of this mbarrier object.
    CopyStarts {
        /// The number of the copy
        copy: u64,
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
        /// The number of bytes
        bytes: u32,
    },
    /// The asynchronous copy with this number is complete, and this mbarrier object is about to observe it.
    CopyCompletes {
        /// The number of the copy
        copy: u64,
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// An arrival on this mbarrier object will follow the `cp.async` of the lanes in this group and those before it.
    CpArrive {
        /// The number of the group of its thread
        group: u64,
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// `tcgen05.commit`, which has a number among those of its thread and will arrive on this many objects.
    Commit {
        /// The number of the commit of its thread
        commit: u64,
        /// The number of objects that the commit arrives on
        arrivals: u32,
    },
    /// The `tcgen05` operations before the commit with this number are complete, and this mbarrier object is about to observe it.
    CommitArrives {
        /// The number of the commit of its thread
        commit: u64,
        /// The CTA of the object, by its rank in the cluster
        rank: u32,
        /// The place in its shared memory
        offset: u32,
    },
    /// The last thread of a CTA of a cluster ends.
    CtaEnds,
    /// `tcgen05.wait`: the loads of the warp, or its stores, are complete.
    TensorWait {
        /// The stores
        stores: bool,
    },
    /// `tcgen05.fence::before_thread_sync`, or `::after_thread_sync`.
    TensorFence {
        /// `::before_thread_sync`
        before: bool,
    },
    /// The groups before this one are complete.
    Groups {
        /// The groups that the wait is for
        of: Groups,
        /// The first group that may be incomplete
        before: u64,
    },
    /// `alloca` or `stackrestore`: these bytes of the thread's local memory are a part of its stack that is not in use.
    Stack {
        /// The first byte
        from: u64,
        /// The byte after the last
        to: u64,
    },
}
