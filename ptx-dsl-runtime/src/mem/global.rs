//! Global memory: the caller's buffers, each a segment of its own.
//!
//! On one thread the launch has them as slices. Several threads have what is only read as slices too, and all that may be
//! written in common, see `mem/common.rs`.

use std::sync::atomic::AtomicU8;

use crate::fault::FaultKind;
use crate::mem::common;

/// All of them are a pointer and a length, so that finding the bytes of one needs no branch.
pub(crate) enum Segment<'a> {
    /// Variables of the module.
    Module(Box<[u8]>),
    ReadOnly(&'a [u8]),
    Buffer(&'a mut [u8]),
}

impl Segment<'_> {
    /// No memory at all.
    pub const EMPTY: Self = Segment::ReadOnly(&[]);
}

/// All of global memory of a launch, as one thread has it.
pub(crate) struct Global<'a> {
    segments: Vec<Segment<'a>>,
    /// By segment, those that several threads work on; the segment itself is then empty, so that whoever looks there first
    /// need not ask which it is. Nothing at all on one thread.
    common: Vec<&'a [AtomicU8]>,
}

/// A segment as all threads have it: one of the two is empty.
#[derive(Clone, Copy)]
pub(crate) struct Spread<'a> {
    read_only: &'a [u8],
    common: &'a [AtomicU8],
}

impl<'a> Global<'a> {
    pub fn new(segments: Vec<Segment<'a>>) -> Self {
        Global { segments, common: Vec::new() }
    }

    /// One of the threads' views.
    pub fn part(spread: &[Spread<'a>]) -> Self {
        Global {
            segments: spread.iter().map(|s| Segment::ReadOnly(s.read_only)).collect(),
            common: spread.iter().map(|s| s.common).collect(),
        }
    }

    /// Calls `work` with what several threads can share. Buffers that do not start at a multiple of [`common::ALIGN`] are
    /// copied, and back in the end.
    pub fn spread<R>(mut self, work: impl FnOnce(&[Spread<'_>]) -> R) -> R {
        let mut copies: Vec<Option<Vec<u128>>> = self.segments.iter().map(copy).collect();
        let spread: Vec<Spread<'_>> = (self.segments.iter_mut().zip(&mut copies))
            .map(|(segment, copy)| match (segment, copy) {
                (Segment::ReadOnly(b), _) => Spread { read_only: b, common: &[] },
                (segment, Some(copy)) => {
                    let bytes: &mut [u8] = bytemuck::cast_slice_mut(copy);
                    Spread { read_only: &[], common: common::share(&mut bytes[..segment.len()]) }
                }
                (Segment::Buffer(b), None) => Spread { read_only: &[], common: common::share(b) },
                (Segment::Module(b), None) => Spread { read_only: &[], common: common::share(b) },
            })
            .collect();
        let result = work(&spread);
        for (segment, copy) in self.segments.iter_mut().zip(&copies) {
            if let (Segment::Buffer(b), Some(copy)) = (segment, copy) {
                let n = b.len();
                b.copy_from_slice(&bytemuck::cast_slice(copy)[..n]);
            }
        }
        result
    }

    /// Do other threads work on it?
    #[inline(always)]
    pub fn in_common(&self) -> bool {
        !self.common.is_empty()
    }

    /// Bytes that several threads work on.
    #[inline]
    pub fn common(&self, segment: usize, offset: u64, bytes: usize) -> Option<&'a [AtomicU8]> {
        let from = offset as usize;
        self.common.get(segment)?.get(from..from.checked_add(bytes)?)
    }

    #[inline(always)]
    pub fn bytes(&self, segment: usize) -> &[u8] {
        match self.segments.get(segment) {
            Some(Segment::Buffer(b)) => b,
            Some(Segment::ReadOnly(b)) => b,
            Some(Segment::Module(b)) => b,
            None => &[],
        }
    }

    /// `None` for what must not be written.
    #[inline(always)]
    pub fn bytes_mut(&mut self, segment: usize) -> Option<&mut [u8]> {
        match self.segments.get_mut(segment) {
            Some(Segment::Buffer(b)) => Some(b),
            Some(Segment::Module(b)) => Some(b),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn load(&self, segment: usize, offset: u64, addr: u64, bytes: u32) -> Result<[u64; 4], FaultKind> {
        let memory = self.bytes(segment);
        match super::load(memory, offset, bytes) {
            Some(v) => Ok(v),
            None => match self.common(segment, offset, bytes as usize) {
                Some(s) => Ok(common::load_wide(s)),
                None => Err(self.outside(segment, addr, bytes)),
            },
        }
    }

    #[inline(always)]
    pub fn store(&mut self, segment: usize, offset: u64, addr: u64, bytes: u32, v: [u64; 4]) -> Result<(), FaultKind> {
        let done = match self.segments.get_mut(segment) {
            Some(Segment::Buffer(b)) => super::store(b, offset, bytes, v),
            Some(Segment::Module(b)) => super::store(b, offset, bytes, v),
            Some(Segment::ReadOnly(b)) if offset + bytes as u64 <= b.len() as u64 => {
                return Err(FaultKind::ReadOnly { space: "global", addr });
            }
            _ => self.common(segment, offset, bytes as usize).map(|s| common::store_wide(s, v)),
        };
        done.ok_or_else(|| self.outside(segment, addr, bytes))
    }

    #[cold]
    fn outside(&self, segment: usize, addr: u64, bytes: u32) -> FaultKind {
        let size = self.bytes(segment).len().max(self.common.get(segment).map_or(0, |s| s.len())) as u64;
        FaultKind::OutOfBounds { space: "global", addr, bytes, size }
    }
}

impl Segment<'_> {
    fn len(&self) -> usize {
        match self {
            Segment::Module(b) => b.len(),
            Segment::ReadOnly(b) => b.len(),
            Segment::Buffer(b) => b.len(),
        }
    }
}

/// A copy that is aligned, if it can be written and is not.
fn copy(segment: &Segment<'_>) -> Option<Vec<u128>> {
    let bytes: &[u8] = match segment {
        Segment::ReadOnly(_) => return None,
        Segment::Buffer(b) => b,
        Segment::Module(b) => b,
    };
    if bytes.as_ptr().addr().is_multiple_of(common::ALIGN) {
        return None;
    }
    let mut copy = vec![0u128; bytes.len().div_ceil(common::ALIGN)];
    bytemuck::cast_slice_mut(&mut copy)[..bytes.len()].copy_from_slice(bytes);
    Some(copy)
}
