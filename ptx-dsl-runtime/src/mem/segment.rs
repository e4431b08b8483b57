//! Segments of global memory: each buffer of the caller is one.
//!
//! One host thread uses the buffers as slices ([`Global::new`](crate::mem::global::Global::new)). Several threads share them:
//! read-only ones as slices, writable ones as atomic bytes (`mem/atomic_bytes.rs`).

use std::sync::atomic::AtomicU8;

use crate::mem::atomic_bytes;

/// A buffer.
pub(crate) enum Segment<'a> {
    ReadOnly(&'a [u8]),
    Buffer(&'a mut [u8]),
}

impl Segment<'_> {
    /// No memory at all.
    pub const EMPTY: Self = Segment::ReadOnly(&[]);
}

/// A segment as each host thread sees it: one of the two is empty.
#[derive(Clone, Copy)]
pub(crate) struct ThreadSegment<'a> {
    pub read_only: &'a [u8],
    pub concurrent: &'a [AtomicU8],
}

/// Calls `work` with segments that several threads can share. A writable buffer that is not aligned to [`atomic_bytes::ALIGN`] is
/// copied, and copied back at the end.
pub(crate) fn share<R>(mut segments: Vec<Segment<'_>>, work: impl FnOnce(&[ThreadSegment<'_>]) -> R) -> R {
    let mut copies: Vec<Option<Vec<u128>>> = segments.iter().map(copy).collect();
    let shared: Vec<ThreadSegment<'_>> = (segments.iter_mut().zip(&mut copies))
        .map(|(segment, copy)| match (segment, copy) {
            (Segment::ReadOnly(b), _) => ThreadSegment { read_only: b, concurrent: &[] },
            (Segment::Buffer(b), Some(copy)) => {
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(copy);
                ThreadSegment { read_only: &[], concurrent: atomic_bytes::share(&mut bytes[..b.len()]) }
            }
            (Segment::Buffer(b), None) => ThreadSegment { read_only: &[], concurrent: atomic_bytes::share(b) },
        })
        .collect();
    let result = work(&shared);
    for (segment, copy) in segments.iter_mut().zip(&copies) {
        if let (Segment::Buffer(b), Some(copy)) = (segment, copy) {
            let n = b.len();
            b.copy_from_slice(&bytemuck::cast_slice(copy)[..n]);
        }
    }
    result
}

/// An aligned copy of a writable buffer that is not aligned.
fn copy(segment: &Segment<'_>) -> Option<Vec<u128>> {
    let Segment::Buffer(bytes) = segment else { return None };
    if bytes.as_ptr().addr().is_multiple_of(atomic_bytes::ALIGN) {
        return None;
    }
    let mut copy = vec![0u128; bytes.len().div_ceil(atomic_bytes::ALIGN)];
    bytemuck::cast_slice_mut(&mut copy)[..bytes.len()].copy_from_slice(bytes);
    Some(copy)
}
