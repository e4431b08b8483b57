//! The heap of `malloc` and `free`: which parts of its segment of global memory are allocated. The smallest free part that is large enough
//! is used; the memory is that of the launch, so that nothing outlives it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks begin at multiples of it, as on a GPU.
const UNIT: u64 = 16;
/// Unused bytes after each block, so that an access past it is not in the next one.
const GAP: u64 = 16;

/// The heap of a launch, which its threads share.
#[derive(Debug)]
pub(crate) struct Heap {
    /// The address of its first byte.
    pub start: u64,
    blocks: Mutex<HeapBlocks>,
}

/// Offsets from the start.
#[derive(Debug, Default)]
struct HeapBlocks {
    /// Allocated blocks by offset: the bytes that were asked for, and those that the block takes.
    used: BTreeMap<u64, (u64, u64)>,
    /// Sizes of free parts, by offset. No two are neighbours.
    free: BTreeMap<u64, u64>,
    /// The free blocks as size and offset.
    by_size: BTreeSet<(u64, u64)>,
}

impl Heap {
    /// A heap of which all bytes are free.
    pub fn new(start: u64, bytes: u64) -> Heap {
        let mut blocks = HeapBlocks::default();
        blocks.add(0, bytes / UNIT * UNIT);
        Heap { start, blocks: Mutex::new(blocks) }
    }

    fn blocks(&self) -> MutexGuard<'_, HeapBlocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates this many bytes: their address. `None` if there is no room. An H100 has a block for 0 bytes, too.
    pub fn allocate(&self, bytes: u64) -> Option<u64> {
        let size = bytes.checked_next_multiple_of(UNIT)?.checked_add(GAP)?;
        let mut blocks = self.blocks();
        let &(whole, at) = blocks.by_size.range((size, 0)..).next()?;
        blocks.remove(at, whole);
        blocks.add(at + size, whole - size);
        blocks.used.insert(at, (bytes, size));
        Some(self.start + at)
    }

    /// Frees the block at an address: the bytes that were asked for. `None` if no allocated block begins there.
    pub fn free(&self, address: u64) -> Option<u64> {
        let mut at = address.checked_sub(self.start)?;
        let mut blocks = self.blocks();
        let (asked, mut size) = blocks.used.remove(&at)?;
        if let Some((&before, &bytes)) = blocks.free.range(..at).next_back()
            && before + bytes == at
        {
            blocks.remove(before, bytes);
            (at, size) = (before, size + bytes);
        }
        if let Some(&bytes) = blocks.free.get(&(at + size)) {
            blocks.remove(at + size, bytes);
            size += bytes;
        }
        blocks.add(at, size);
        Some(asked)
    }
}

impl HeapBlocks {
    fn add(&mut self, at: u64, size: u64) {
        if size > 0 {
            self.free.insert(at, size);
            self.by_size.insert((size, at));
        }
    }

    fn remove(&mut self, at: u64, size: u64) {
        self.free.remove(&at);
        self.by_size.remove(&(size, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_and_are_used_again() {
        const START: u64 = 1 << 40;
        let heap = Heap::new(START, 1000);
        let allocate = |bytes| heap.allocate(bytes).map(|at| at - START);
        assert_eq!(allocate(1), Some(0));
        assert_eq!(allocate(100), Some(32));
        assert_eq!(allocate(16), Some(160));
        assert_eq!((allocate(0), allocate(0)), (Some(192), Some(208)));
        // 992 bytes in all, of which 768 are left
        assert_eq!(allocate(753), None);
        assert_eq!(allocate(752), Some(224));
        assert_eq!(allocate(1), None);
        assert_eq!(allocate(u64::MAX), None);
        // neighbours grow together
        assert_eq!(heap.free(START + 32), Some(100));
        assert_eq!(heap.free(START + 32), None, "twice");
        assert_eq!(heap.free(START + 161), None);
        assert_eq!(heap.free(4), None);
        assert_eq!(heap.free(START), Some(1));
        assert_eq!(heap.free(START + 160), Some(16));
        assert_eq!(allocate(176), Some(0));
        assert_eq!((heap.free(START + 192), heap.free(START + 208)), (Some(0), Some(0)));
        assert_eq!(heap.free(START + 224), Some(752));
        assert_eq!(heap.free(START), Some(176));
        assert_eq!(allocate(976), Some(0));
    }
}
