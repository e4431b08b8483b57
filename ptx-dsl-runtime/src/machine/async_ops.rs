//! Asynchronous operations in flight: cluster launch control responses, tensor core operations, and the arrivals of
//! `tcgen05.commit`.
//!
//! Each has a due time that the scheduler chooses. An operation that must follow another is due no earlier and is issued after it.
//! Delivery by time, then by number, so keeps every order that the manual promises and no other.

mod cluster_launch;
mod copies;
mod delivery;
mod lane_copies;
mod tensor;
pub(crate) mod warp_copies;

use std::collections::{BTreeMap, HashMap, VecDeque};

use self::warp_copies::WarpCopies;
use crate::machine::copy::{CopyJob, Signal};
use crate::machine::tensor::TensorJob;

/// An operation in flight.
#[derive(Debug)]
struct AsyncOp {
    /// Counts the operations of a launch.
    id: u64,
    slot: usize,
    due: u64,
    work: Work,
    /// The statement and the thread that issued it.
    site: u32,
    cta: u32,
    warp: u32,
    lane: u32,
}

#[derive(Debug)]
enum Work {
    Response(Response),
    Operation(TensorOperation),
    Commit(Commit),
    Copy(AsyncCopy),
    CopiesArrive(CopiesArrive),
}

/// A response of cluster launch control to one CTA; a multicast is one for each.
#[derive(Debug)]
struct Response {
    words: [u64; 2],
    /// The number of the operation, for monitors.
    number: u64,
    rank: u32,
    /// Offset of the response in the CTA's shared memory.
    addr: u32,
    /// Offset of the mbarrier object.
    mbarrier: u32,
}

/// An operation of the tensor core.
#[derive(Debug)]
struct TensorOperation {
    job: Box<dyn TensorJob>,
    /// `.cta_group::2`
    pair: bool,
    /// The time at which the issuing thread executed `tcgen05.fence::before_thread_sync` after the operation, or a commit that
    /// tracks it.
    fenced: Option<u64>,
}

impl TensorOperation {
    /// Does the operation, issued by CTA `own`, access CTA `rank`?
    fn works_on(&self, own: u32, rank: u32) -> bool {
        if self.pair { own | 1 == rank | 1 } else { own == rank }
    }
}

/// A `tcgen05.commit` whose arrive-on is still to come. A multicast is one for each CTA.
#[derive(Debug)]
struct Commit {
    /// Rank and offset of the mbarrier object.
    to: (u32, u32),
    pair: bool,
    /// The number of the commit among those of its thread, from 1.
    number: u64,
}

/// A copy, an asynchronous store or reduction.
#[derive(Debug)]
struct AsyncCopy {
    job: Box<dyn CopyJob>,
    /// The source bytes, once the copy has read them.
    read: Option<Vec<u8>>,
    signal: Signal,
    /// The number of its bulk group among those of its thread.
    group: u64,
    /// The number of the copy, for monitors.
    number: u64,
}

/// A `cp.async.mbarrier.arrive` whose arrive-on is still to come.
#[derive(Debug)]
struct CopiesArrive {
    lanes: u32,
    /// Offset of the mbarrier object.
    offset: u32,
    /// The bound of the copies that are waited for: all with lower numbers.
    before: u64,
}

/// A logical clock of tcgen05 fences and commits: it counts them in the order of execution.
#[derive(Debug, Default)]
struct Fences {
    now: u64,
    /// The last `tcgen05.fence::after_thread_sync` of each lane, by slot, CTA and warp.
    after: HashMap<(usize, u32, u32), [u64; 32]>,
}

/// Operations in flight after which the next ones complete before their time: a kernel that never waits must not fill memory.
const MOST: usize = 2048;

/// All operations in flight.
#[derive(Debug, Default)]
pub(crate) struct AsyncOps {
    /// The operations, ordered by due time, then by number.
    list: VecDeque<AsyncOp>,
    issued: u64,
    fences: Fences,
    /// Copies so far that a monitor knows.
    copies: u64,
    /// `tcgen05.commit` so far, by thread: slot, CTA, warp, lane.
    commits: HashMap<(usize, u32, u32, u32), u64>,
    /// Groups of bulk copies that each lane of a warp has committed, by slot, CTA and warp.
    bulk_groups: BTreeMap<(usize, u32, u32), [u64; 32]>,
    /// The copies of single threads, by slot, CTA and warp.
    lane_copies: BTreeMap<(usize, u32, u32), WarpCopies>,
    lane_copies_in_flight: usize,
    /// The time at which the next copy of a single thread is due.
    next_lane_copy: u64,
    /// Does the kernel use `.cta_group::2`? Known from the first instruction that says.
    pub pairs: Option<bool>,
}

impl AsyncOps {
    /// Is nothing in flight?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.lane_copies_in_flight == 0
    }

    /// Whether no operation in flight completes at a time of its own.
    #[inline(always)]
    pub fn none_due(&self) -> bool {
        self.list.is_empty()
    }

    /// Is nothing in flight, and has no tcgen05 instruction and no asynchronous copy run?
    #[inline(always)]
    pub fn is_unused(&self) -> bool {
        self.is_empty() && self.pairs.is_none() && self.lane_copies.is_empty() && self.bulk_groups.is_empty()
    }

    /// Is an operation of this cluster in flight?
    pub fn any(&self, slot: usize) -> bool {
        self.list.iter().any(|a| a.slot == slot) || self.any_lane_copy(slot)
    }

    /// Forgets the copies of an ended cluster: its threads have no groups.
    fn forget_copies(&mut self, slot: usize) {
        self.bulk_groups.retain(|(s, ..), _| *s != slot);
        self.lane_copies.retain(|(s, ..), _| *s != slot);
    }

    fn push(&mut self, op: AsyncOp) {
        let at = self.list.partition_point(|a| (a.due, a.id) < (op.due, op.id));
        self.list.insert(at, op);
    }

    /// Takes the operation with the earliest due time of those that `wanted` selects.
    fn take_first(&mut self, wanted: impl Fn(&AsyncOp) -> bool) -> Option<AsyncOp> {
        let at = self.list.iter().position(wanted)?;
        self.list.remove(at)
    }

    /// Takes the next operation that is due at `now`.
    fn take_due(&mut self, now: u64) -> Option<AsyncOp> {
        if self.list.front()?.due <= now { self.list.pop_front() } else { None }
    }

    /// Are too many in flight?
    fn is_full(&self) -> bool {
        self.list.len() > MOST
    }
}
