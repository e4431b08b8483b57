//! Segments of global memory: each buffer of the caller, or part of one, is one.
//!
//! One host thread uses the buffers as slices ([`Global::new`](crate::memory::global::Global::new)). Several threads share them:
//! read-only ones as slices, writable ones as atomic bytes (`memory/atomic_bytes.rs`).

use std::sync::atomic::AtomicU8;

use crate::memory::atomic_bytes;

/// A buffer, or a part of one.
pub(crate) struct Segment<'a> {
    pub bytes: Bytes<'a>,
    /// The offset of the first byte: a part of a buffer begins after the aligned address of the segment.
    pub start: u64,
    /// How many segments from this one on are the replicas of one multicast object; 0 for other memory.
    pub replicas: usize,
}

/// The memory of a segment.
pub(crate) enum Bytes<'a> {
    ReadOnly(&'a [u8]),
    Writable(&'a mut [u8]),
}

impl<'a> Segment<'a> {
    /// No memory at all.
    pub const EMPTY: Self = Segment::read_only(&[]);

    /// Bytes that the kernel cannot write.
    pub const fn read_only(bytes: &'a [u8]) -> Self {
        Segment { bytes: Bytes::ReadOnly(bytes), start: 0, replicas: 0 }
    }

    /// A segment of bytes that the kernel can write.
    pub const fn writable(bytes: &'a mut [u8]) -> Self {
        Segment { bytes: Bytes::Writable(bytes), start: 0, replicas: 0 }
    }

    /// The bytes from this offset on.
    pub const fn from(self, start: u64) -> Self {
        Segment { start, ..self }
    }

    /// The first of as many replicas of a multicast object.
    pub const fn first_of(self, replicas: usize) -> Self {
        Segment { replicas, ..self }
    }
}

/// A segment as each host thread sees it: one of the two memories is empty.
#[derive(Clone, Copy)]
pub(crate) struct ThreadSegment<'a> {
    pub read_only: &'a [u8],
    pub concurrent: &'a [AtomicU8],
    pub start: u64,
    pub replicas: usize,
}

/// Calls `work` with segments that several threads can share. A writable buffer whose address 0 would not be aligned to
/// [`atomic_bytes::ALIGN`] is copied, and copied back at the end.
pub(crate) fn share<R>(mut segments: Vec<Segment<'_>>, work: impl FnOnce(&[ThreadSegment<'_>]) -> R) -> R {
    let mut copies: Vec<Option<Vec<u128>>> = segments.iter().map(copy).collect();
    let shared: Vec<ThreadSegment<'_>> = (segments.iter_mut().zip(&mut copies))
        .map(|(segment, copy)| {
            let (start, skew, replicas) = (segment.start, skew(segment.start), segment.replicas);
            match (&mut segment.bytes, copy) {
                (Bytes::ReadOnly(b), _) => ThreadSegment { read_only: b, concurrent: &[], start, replicas },
                (Bytes::Writable(b), Some(copy)) => {
                    let bytes = &mut bytemuck::cast_slice_mut(copy)[skew..][..b.len()];
                    ThreadSegment { read_only: &[], concurrent: atomic_bytes::share(bytes), start, replicas }
                }
                (Bytes::Writable(b), None) => {
                    ThreadSegment { read_only: &[], concurrent: atomic_bytes::share(b), start, replicas }
                }
            }
        })
        .collect();
    let result = work(&shared);
    for (segment, copy) in segments.iter_mut().zip(&copies) {
        if let (Bytes::Writable(b), Some(copy)) = (&mut segment.bytes, copy) {
            let n = b.len();
            b.copy_from_slice(&bytemuck::cast_slice(copy)[skew(segment.start)..][..n]);
        }
    }
    result
}

/// The distance of this offset from an aligned one.
fn skew(start: u64) -> usize {
    start as usize % atomic_bytes::ALIGN
}

/// A copy of a writable buffer, if what is aligned for the kernel is not for the processor. It is.
fn copy(segment: &Segment<'_>) -> Option<Vec<u128>> {
    let (Bytes::Writable(bytes), skew) = (&segment.bytes, skew(segment.start)) else { return None };
    if bytes.as_ptr().addr() % atomic_bytes::ALIGN == skew {
        return None;
    }
    let mut copy = vec![0u128; (skew + bytes.len()).div_ceil(atomic_bytes::ALIGN)];
    bytemuck::cast_slice_mut(&mut copy)[skew..][..bytes.len()].copy_from_slice(bytes);
    Some(copy)
}
