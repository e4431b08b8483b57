//! Accesses to the heap of `malloc` stay in a block that is allocated.

use super::Checked;
use super::shadow::ShadowedMemory;
use crate::fault::FaultKind;
use crate::memory::address::Place;
use crate::observe::monitor::Access;
use std::collections::BTreeMap;
use std::ops::Range;

/// The blocks that are allocated.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// The segment of the heap in global memory, once there was a block.
    segment: Option<usize>,
    /// Ends of blocks, by their starts.
    blocks: BTreeMap<u64, u64>,
}

impl Heap {
    /// Whether a place is in the heap.
    #[inline]
    pub fn has(&self, place: Place) -> bool {
        matches!(place, Place::Global { segment, .. } if self.is(segment))
    }

    /// Whether a segment of global memory is the heap.
    #[inline]
    pub fn is(&self, segment: usize) -> bool {
        self.segment == Some(segment)
    }

    /// An access of a place in the heap.
    #[cold]
    pub fn access(&self, a: &Access) -> Result<(), FaultKind> {
        let Place::Global { offset, .. } = a.place else { return Ok(()) };
        let block = self.blocks.range(..=offset).next_back();
        if block.is_some_and(|(_, end)| offset.saturating_add(u64::from(a.bytes)) <= *end) {
            return Ok(());
        }
        let what = format!(
            "access of {} bytes at {:#x}, in the `malloc` heap, outside of every allocated block",
            a.bytes, a.addr
        );
        Err(FaultKind::undefined(
            what,
            "",
            "allocate as many bytes as are accessed, and `free` them after the last access",
        ))
    }
}

impl Checked {
    /// A block is allocated, or free again. Nobody has accessed what is allocated again.
    pub(super) fn block(&mut self, segment: usize, block: Range<u64>, allocated: bool) {
        self.heap.segment = Some(segment);
        if !allocated {
            self.heap.blocks.remove(&block.start);
            return;
        }
        self.heap.blocks.insert(block.start, block.end);
        let memory = ShadowedMemory::Global { segment };
        // whole words
        self.shadows.of(memory).forget(block.start, (block.end - block.start).next_multiple_of(16));
        if let Some(weak) = &mut self.weak {
            let bytes = u32::try_from(block.end - block.start).unwrap_or(u32::MAX);
            weak.forget(memory, block.start, bytes, None);
        }
    }
}
