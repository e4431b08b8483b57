//! Global memory as one thread has it, and where in it accesses have been lately.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU8;

use crate::fault::FaultKind;
use crate::mem::address::SEGMENT_SHIFT;
use crate::mem::common;
use crate::mem::range::near_part;
use crate::mem::segment::{Segment, Spread};

/// Places in a kernel that remember the segment that they have reached last. Further ones share these.
const NEAR: usize = 32;

/// The bytes of a segment.
#[derive(Clone, Copy)]
struct Span {
    at: NonNull<u8>,
    len: usize,
    /// How many of them can be written: all or none.
    writable: usize,
}

impl Span {
    const EMPTY: Self = Span { at: NonNull::dangling(), len: 0, writable: 0 };

    fn read_only(b: &[u8]) -> Self {
        Span { at: NonNull::from(b).cast(), len: b.len(), writable: 0 }
    }

    fn buffer(b: &mut [u8]) -> Self {
        let len = b.len();
        Span { at: NonNull::from(b).cast(), len, writable: len }
    }
}

/// A segment, and the address that it starts at.
#[derive(Clone, Copy)]
struct Near {
    start: u64,
    span: Span,
}

/// All of global memory of a launch, as one thread has it.
///
/// The spans, and the copies of them in `near`, are the only way to their bytes as long as this lives, and give them out as long as
/// this is borrowed, to write only if it is borrowed to be changed: as if they were the slices that they are made of.
pub(crate) struct Global<'a> {
    segments: Vec<Span>,
    near: [Cell<Near>; NEAR],
    /// By segment, those that several threads work on; the segment itself is then empty, so that whoever looks there first
    /// need not ask which it is. Nothing at all on one thread.
    common: Vec<&'a [AtomicU8]>,
    of: PhantomData<&'a mut [u8]>,
}

impl<'a> Global<'a> {
    /// For the only thread.
    pub fn new(segments: Vec<Segment<'a>>) -> Self {
        let spans = segments.into_iter().map(|s| match s {
            Segment::ReadOnly(b) => Span::read_only(b),
            Segment::Buffer(b) => Span::buffer(b),
        });
        Self::of(spans.collect(), Vec::new())
    }

    /// One of the threads' views.
    pub fn part(spread: &[Spread<'a>]) -> Self {
        let spans = spread.iter().map(|s| Span::read_only(s.read_only)).collect();
        Self::of(spans, spread.iter().map(|s| s.common).collect())
    }

    fn of(segments: Vec<Span>, common: Vec<&'a [AtomicU8]>) -> Self {
        let near = std::array::from_fn(|_| Cell::new(Near { start: 0, span: Span::EMPTY }));
        Global { segments, near, common, of: PhantomData }
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
    #[allow(unsafe_code)]
    pub fn bytes(&self, segment: usize) -> &[u8] {
        let s = self.segments.get(segment).copied().unwrap_or(Span::EMPTY);
        // SAFETY: a span is a slice that lives for `'a`; nobody writes while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(s.at.as_ptr(), s.len) }
    }

    /// `None` for what must not be written.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn bytes_mut(&mut self, segment: usize) -> Option<&mut [u8]> {
        let s = self.segments.get(segment).filter(|s| s.writable != 0)?;
        // SAFETY: made of a slice that may be written, which lives for `'a`; `self` is borrowed alone.
        Some(unsafe { std::slice::from_raw_parts_mut(s.at.as_ptr(), s.writable) })
    }

    /// `n` bytes at an address, if they are in the segment that this place in the kernel has reached last.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn near(&self, place: usize, addr: u64, n: usize) -> Option<&[u8]> {
        let Near { start, span } = self.near[place % NEAR].get();
        let at = near_part(addr.wrapping_sub(start), span.len, n)?;
        // SAFETY: as in `bytes`; and all `n` are inside.
        Some(unsafe { std::slice::from_raw_parts(span.at.as_ptr().add(at), n) })
    }

    /// The same, to write.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn near_mut(&mut self, place: usize, addr: u64, n: usize) -> Option<&mut [u8]> {
        let Near { start, span } = self.near[place % NEAR].get();
        let at = near_part(addr.wrapping_sub(start), span.writable, n)?;
        // SAFETY: as in `bytes_mut`; and all `n` are inside.
        Some(unsafe { std::slice::from_raw_parts_mut(span.at.as_ptr().add(at), n) })
    }

    /// Is the address in that segment?
    #[inline(always)]
    pub fn is_near(&self, place: usize, addr: u64) -> bool {
        let Near { start, span } = self.near[place % NEAR].get();
        addr.wrapping_sub(start) < span.len as u64
    }

    /// This place in the kernel has come to an address.
    #[inline(never)]
    pub fn come_to(&self, place: usize, addr: u64) {
        if let Some(&span) = self.segments.get((addr >> SEGMENT_SHIFT) as usize) {
            self.near[place % NEAR].set(Near { start: addr >> SEGMENT_SHIFT << SEGMENT_SHIFT, span });
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
        if let Some(b) = self.bytes_mut(segment)
            && super::store(b, offset, bytes, v).is_some()
        {
            return Ok(());
        }
        if let Some(s) = self.common(segment, offset, bytes as usize) {
            common::store_wide(s, v);
            return Ok(());
        }
        let outside = super::load(self.bytes(segment), offset, bytes).is_none();
        Err(if outside { self.outside(segment, addr, bytes) } else { FaultKind::ReadOnly { space: "global", addr } })
    }

    #[cold]
    fn outside(&self, segment: usize, addr: u64, bytes: u32) -> FaultKind {
        let size = self.bytes(segment).len().max(self.common.get(segment).map_or(0, |s| s.len())) as u64;
        FaultKind::OutOfBounds { space: "global", addr, bytes, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(segment: u64, offset: u64) -> u64 {
        segment << SEGMENT_SHIFT | offset
    }

    // small enough for Miri, which looks at who may use which pointer
    #[test]
    fn near_is_the_same_memory() {
        let (source, mut result) = ([1, 2, 3, 4, 5], [0; 8]);
        let segments = vec![Segment::EMPTY, Segment::ReadOnly(&source), Segment::Buffer(&mut result)];
        let mut global = Global::new(segments);
        assert_eq!((global.near(0, at(1, 0), 1), global.near(0, 0, 0)), (None, Some(&[][..])));
        global.come_to(0, at(1, 3));
        global.come_to(1, at(2, 0));
        for round in 0..3 {
            let (a, b) = (global.near(0, at(1, 1), 4), global.bytes(1));
            assert_eq!((a, b.len()), (Some(&[2, 3, 4, 5][..]), 5));
            global.near_mut(1, at(2, 2), 2).unwrap().fill(round + 1);
            global.bytes_mut(2).unwrap()[7] = round;
            global.store(2, 0, at(2, 0), 1, [9, 0, 0, 0]).unwrap();
            assert_eq!(global.near(NEAR + 1, at(2, 0), 8), Some(&[9, 0, round + 1, round + 1, 0, 0, 0, round][..]));
        }
        // what is outside, in another segment, or not to be written
        for (addr, n) in [(at(2, 8), 1), (at(2, 7), 2), (at(2, 0), 9), (at(2, 0) - 1, 1), (at(1, 0), 1), (u64::MAX, 2)]
        {
            assert!(global.near(1, addr, n).is_none() && global.near_mut(1, addr, n).is_none(), "{addr:#x} {n}");
        }
        assert!(global.near(0, at(1, 0), 5).is_some() && global.near_mut(0, at(1, 0), 1).is_none());
        global.come_to(1, at(3, 0));
        assert!(global.near(1, at(3, 0), 1).is_none(), "there is no such segment");
        assert_eq!(result[..4], [9, 0, 3, 3]);
    }
}
