//! The interface of asynchronous copies: `cp.async.bulk`, `cp.async.bulk.tensor`, their reductions, `st.async`, `red.async`.
//!
//! An instruction decodes and checks its operands and passes a [`CopyJob`] to `AsyncUnit::start_copy`. The job reads its source and
//! writes its destination later, at times that the scheduler chooses.

use std::ops::Range;

use crate::fault::FaultKind;
use crate::machine::spaces::{SharedPlace, Spaces};
use crate::memory::address::Place;
use crate::observe::monitor::order::Proxy;
use crate::observe::probe::layout::SharedBox;

/// A copy in flight.
pub(crate) trait CopyJob: std::fmt::Debug {
    /// Reads the source, before the copy completes.
    fn read(&self, m: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind>;

    /// Completes it: writes the destination, from what [`CopyJob::read`] has returned or from the source as it is now.
    fn write(&self, m: &mut Spaces<'_, '_>, read: Option<Vec<u8>>) -> Result<(), FaultKind>;

    /// The shared memory that the copy reads.
    fn source(&self) -> Option<SharedRange>;

    /// The shared memory that the copy writes.
    fn destination(&self) -> Option<SharedRange>;

    /// Whether the copy changes its destination by relaxed atomic operations.
    fn reduces(&self) -> bool {
        false
    }

    /// The box of a tensor that the copy writes to shared memory, or reads there, for monitors.
    fn shared_box(&self) -> Option<SharedBox> {
        None
    }

    /// Each access that the copy makes, for monitors. A reduction of an element is one write.
    fn accesses(&self) -> Vec<JobAccess>;
}

/// Bytes of the shared memory of a CTA, from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedRange {
    pub rank: u32,
    pub bytes: Range<u32>,
}

impl SharedRange {
    pub fn new(at: SharedPlace, bytes: u32) -> Self {
        SharedRange { rank: at.rank, bytes: at.offset..at.offset.saturating_add(bytes) }
    }
}

/// An access of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobAccess {
    pub place: Place,
    pub bytes: u32,
    pub write: bool,
    pub proxy: Proxy,
}

impl JobAccess {
    /// The access of a bulk copy.
    pub fn of_copy(place: Place, bytes: u32, write: bool) -> JobAccess {
        JobAccess { place, bytes, write, proxy: Proxy::Async }
    }

    /// Adds an access of the same kind to the bytes after it in global memory. False, with nothing done, if it is another one.
    pub fn join(&mut self, next: &JobAccess) -> bool {
        let (Place::Global { segment, offset }, Place::Global { segment: of_next, offset: at }) =
            (self.place, next.place)
        else {
            return false;
        };
        let follows = segment == of_next && offset + u64::from(self.bytes) == at;
        let joins = follows && (self.write, self.proxy) == (next.write, next.proxy) && self.bytes < 1 << 30;
        if joins {
            self.bytes += next.bytes;
        }
        joins
    }
}

/// The mechanism by which the completion of a copy is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Complete-tx of this many bytes on the mbarrier object there.
    Mbarrier { at: SharedPlace, bytes: u32 },
    /// Bulk groups of the thread.
    BulkGroup,
    /// Nothing observes the completion.
    Nothing,
}
