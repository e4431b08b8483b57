//! The accesses to the Tensor Memory of a CTA, recorded on the checked host.

use std::ops::Range;

use super::Thread;

/// The author of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A warp of the CTA: `tcgen05.ld`, `tcgen05.st`.
    Warp(u32),
    /// An operation that a thread of the cluster issued, at that time.
    Operation { thread: Thread, pair: bool, issued: u64 },
}

/// An access to a rectangle of Tensor Memory.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub by: By,
    pub site: u32,
    pub write: bool,
    pub lanes: Range<usize>,
    pub columns: Range<usize>,
    /// When it was done.
    pub done: Option<u64>,
    /// When `tcgen05.fence::before_thread_sync` followed it.
    pub fenced: Option<u64>,
}

/// The accesses to the Tensor Memory of a CTA.
#[derive(Debug, Default)]
pub(crate) struct Accesses(pub(super) Vec<Access>);

impl Accesses {
    /// Records an access. It replaces those of the same author and kind that it covers.
    pub(super) fn record(&mut self, new: Access) {
        let inside = |a: &Range<usize>, b: &Range<usize>| b.start <= a.start && a.end <= b.end;
        self.0.retain(|a| {
            a.by != new.by || a.write != new.write || !inside(&a.lanes, &new.lanes) || !inside(&a.columns, &new.columns)
        });
        self.0.push(new);
    }
}
