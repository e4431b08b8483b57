//! Global memory of a launch: the caller's buffers, each a segment of its own.
//!
//! One thread has them as they are ([`Global::new`]). Several threads have what is only read, and all that may be written in
//! common, see `mem/common.rs`.

use std::sync::atomic::AtomicU8;

use crate::mem::common;
#[cfg(doc)]
use crate::mem::global::Global;

/// A buffer.
pub(crate) enum Segment<'a> {
    ReadOnly(&'a [u8]),
    Buffer(&'a mut [u8]),
}

impl Segment<'_> {
    /// No memory at all.
    pub const EMPTY: Self = Segment::ReadOnly(&[]);
}

/// A segment as all threads have it: one of the two is empty.
#[derive(Clone, Copy)]
pub(crate) struct Spread<'a> {
    pub read_only: &'a [u8],
    pub common: &'a [AtomicU8],
}

/// Calls `work` with what several threads can share. Buffers that do not start at a multiple of [`common::ALIGN`] are copied, and
/// back in the end.
pub(crate) fn spread<R>(mut segments: Vec<Segment<'_>>, work: impl FnOnce(&[Spread<'_>]) -> R) -> R {
    let mut copies: Vec<Option<Vec<u128>>> = segments.iter().map(copy).collect();
    let spread: Vec<Spread<'_>> = (segments.iter_mut().zip(&mut copies))
        .map(|(segment, copy)| match (segment, copy) {
            (Segment::ReadOnly(b), _) => Spread { read_only: b, common: &[] },
            (Segment::Buffer(b), Some(copy)) => {
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(copy);
                Spread { read_only: &[], common: common::share(&mut bytes[..b.len()]) }
            }
            (Segment::Buffer(b), None) => Spread { read_only: &[], common: common::share(b) },
        })
        .collect();
    let result = work(&spread);
    for (segment, copy) in segments.iter_mut().zip(&copies) {
        if let (Segment::Buffer(b), Some(copy)) = (segment, copy) {
            let n = b.len();
            b.copy_from_slice(&bytemuck::cast_slice(copy)[..n]);
        }
    }
    result
}

/// A copy that is aligned, if it can be written and is not.
fn copy(segment: &Segment<'_>) -> Option<Vec<u128>> {
    let Segment::Buffer(bytes) = segment else { return None };
    if bytes.as_ptr().addr().is_multiple_of(common::ALIGN) {
        return None;
    }
    let mut copy = vec![0u128; bytes.len().div_ceil(common::ALIGN)];
    bytemuck::cast_slice_mut(&mut copy)[..bytes.len()].copy_from_slice(bytes);
    Some(copy)
}
