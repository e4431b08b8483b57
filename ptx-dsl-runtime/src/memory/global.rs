//! Global memory as one host thread sees it, with a cache of the segment that each access of the kernel hit last.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU8;

use crate::fault::FaultKind;
use crate::memory::address::{AddrSpace, Place, decode_common, global_address};
use crate::memory::atomic_bytes;
use crate::memory::bounds::offset_in;
use crate::memory::little_endian;
use crate::memory::segment::{Bytes, Segment, ThreadSegment};
use crate::memory::visited::Visited;

/// Entries of the access cache. Accesses of a kernel are numbered; numbers that are equal modulo this share an entry.
const ENTRIES: usize = 32;

/// The bytes of a segment.
#[derive(Clone, Copy)]
struct Span {
    at: NonNull<u8>,
    len: usize,
    /// Writable bytes: all or none.
    writable: usize,
    /// The offset of the first byte in the segment.
    start: u64,
}

impl Span {
    const EMPTY: Self = Span { at: NonNull::dangling(), len: 0, writable: 0, start: 0 };

    fn read_only(b: &[u8], start: u64) -> Self {
        Span { at: NonNull::from(b).cast(), len: b.len(), writable: 0, start }
    }

    fn writable(b: &mut [u8], start: u64) -> Self {
        let len = b.len();
        Span { at: NonNull::from(b).cast(), len, writable: len, start }
    }
}

/// An entry of the access cache: a segment and the address of its first byte.
#[derive(Clone, Copy)]
struct Cached {
    start: u64,
    span: Span,
}

/// All global memory of a launch, as one host thread sees it.
///
/// While it lives, the spans and their copies in `cache` are the only way to their bytes. It lends bytes only while it is
/// borrowed itself, and mutably only while it is borrowed mutably: as if the spans were the slices that they are made of.
pub(crate) struct Global<'a> {
    segments: Vec<Span>,
    cache: [Cell<Cached>; ENTRIES],
    /// The bytes of each segment that several host threads write; empty on one thread. The segment itself is then empty, so the
    /// fast path, which looks there first, needs no test.
    concurrent: Vec<&'a [AtomicU8]>,
    /// The number of segments, from each one on, that are the replicas of one multicast object.
    replicas: Vec<usize>,
    /// The parts that copies have read.
    visited: Visited,
    of: PhantomData<&'a mut [u8]>,
}

impl<'a> Global<'a> {
    /// Global memory for a launch on one host thread.
    pub fn new(segments: Vec<Segment<'a>>) -> Self {
        let replicas = segments.iter().map(|s| s.replicas).collect();
        let spans = segments.into_iter().map(|s| match s.bytes {
            Bytes::ReadOnly(b) => Span::read_only(b, s.start),
            Bytes::Writable(b) => Span::writable(b, s.start),
        });
        Self::of(spans.collect(), Vec::new(), replicas)
    }

    /// Global memory for one of several host threads.
    pub fn for_thread(segments: &[ThreadSegment<'a>]) -> Self {
        let spans = segments.iter().map(|s| Span::read_only(s.read_only, s.start)).collect();
        let concurrent = segments.iter().map(|s| s.concurrent).collect();
        Self::of(spans, concurrent, segments.iter().map(|s| s.replicas).collect())
    }

    fn of(segments: Vec<Span>, concurrent: Vec<&'a [AtomicU8]>, replicas: Vec<usize>) -> Self {
        let cache = std::array::from_fn(|_| Cell::new(Cached { start: 0, span: Span::EMPTY }));
        Global { segments, cache, concurrent, replicas, visited: Visited::default(), of: PhantomData }
    }

    /// Whether other host threads access global memory.
    #[inline(always)]
    pub fn is_concurrent(&self) -> bool {
        !self.concurrent.is_empty()
    }

    /// Bytes that several host threads access.
    #[inline]
    pub fn concurrent(&self, segment: usize, offset: u64, bytes: usize) -> Option<&'a [AtomicU8]> {
        let shared = self.concurrent.get(segment)?;
        let from = self.at(segment, offset) as usize;
        shared.get(from..from.checked_add(bytes)?)
    }

    /// All bytes of a segment that several host threads access; none for other segments.
    #[inline]
    pub fn concurrent_segment(&self, segment: usize) -> &'a [AtomicU8] {
        self.concurrent.get(segment).copied().unwrap_or_default()
    }

    /// The offset of the first byte of a segment.
    #[inline(always)]
    pub fn start(&self, segment: usize) -> u64 {
        self.segments.get(segment).map_or(0, |s| s.start)
    }

    /// The index of the byte at an offset. It wraps before the first byte, and is then after all others.
    #[inline(always)]
    fn at(&self, segment: usize, offset: u64) -> u64 {
        offset.wrapping_sub(self.start(segment))
    }

    /// The bytes of a segment, and the index of the byte at an offset.
    #[inline(always)]
    pub fn bytes_at(&self, segment: usize, offset: u64) -> (&[u8], usize) {
        (self.bytes(segment), self.at(segment, offset) as usize)
    }

    /// The bytes of a segment, to write, and the index of the byte at an offset; `None` if the segment is read-only.
    #[inline(always)]
    pub fn bytes_at_mut(&mut self, segment: usize, offset: u64) -> Option<(&mut [u8], usize)> {
        let at = self.at(segment, offset) as usize;
        Some((self.bytes_mut(segment)?, at))
    }

    /// The bytes of a segment.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn bytes(&self, segment: usize) -> &[u8] {
        let s = self.segments.get(segment).copied().unwrap_or(Span::EMPTY);
        // SAFETY: a span is a slice that lives for `'a`; nothing writes to it while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(s.at.as_ptr(), s.len) }
    }

    /// The bytes of a segment, to write; `None` if the segment is read-only.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn bytes_mut(&mut self, segment: usize) -> Option<&mut [u8]> {
        let s = self.segments.get(segment).filter(|s| s.writable != 0)?;
        // SAFETY: made of a mutable slice that lives for `'a`; `self` is borrowed mutably.
        Some(unsafe { std::slice::from_raw_parts_mut(s.at.as_ptr(), s.writable) })
    }

    /// Whether the kernel cannot write to the segment.
    pub fn is_read_only(&self, segment: usize) -> bool {
        self.concurrent.is_empty() && self.segments.get(segment).is_some_and(|s| s.writable == 0)
    }

    /// `n` bytes at an address, if they are in the cached segment of access `site`.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn cached(&self, site: usize, addr: u64, n: usize) -> Option<&[u8]> {
        let Cached { start, span } = self.cache[site % ENTRIES].get();
        let at = offset_in(addr.wrapping_sub(start), span.len, n)?;
        // SAFETY: as in `bytes`; and all `n` bytes are inside.
        Some(unsafe { std::slice::from_raw_parts(span.at.as_ptr().add(at), n) })
    }

    /// `n` bytes at an address, to write, if they are in the cached segment of access `site`.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn cached_mut(&mut self, site: usize, addr: u64, n: usize) -> Option<&mut [u8]> {
        let Cached { start, span } = self.cache[site % ENTRIES].get();
        let at = offset_in(addr.wrapping_sub(start), span.writable, n)?;
        // SAFETY: as in `bytes_mut`; and all `n` bytes are inside.
        Some(unsafe { std::slice::from_raw_parts_mut(span.at.as_ptr().add(at), n) })
    }

    /// The bytes from an address on, which is in the cached segment of access `site`.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn cached_from(&self, site: usize, addr: u64) -> Option<&[u8]> {
        let Cached { start, span } = self.cache[site % ENTRIES].get();
        let at = offset_in(addr.wrapping_sub(start), span.len, 0)?;
        // SAFETY: as in `bytes`; `at` is at most the length.
        Some(unsafe { std::slice::from_raw_parts(span.at.as_ptr().add(at), span.len - at) })
    }

    /// The bytes from an address on, to write, if it is in the cached segment of access `site`.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn cached_from_mut(&mut self, site: usize, addr: u64) -> Option<&mut [u8]> {
        let Cached { start, span } = self.cache[site % ENTRIES].get();
        let at = offset_in(addr.wrapping_sub(start), span.writable, 0)?;
        // SAFETY: as in `bytes_mut`; `at` is at most the length.
        Some(unsafe { std::slice::from_raw_parts_mut(span.at.as_ptr().add(at), span.writable - at) })
    }

    /// Is the address in the cached segment of access `site`?
    #[inline(always)]
    pub fn is_cached(&self, site: usize, addr: u64) -> bool {
        let Cached { start, span } = self.cache[site % ENTRIES].get();
        addr.wrapping_sub(start) < span.len as u64
    }

    /// Caches the segment of this address for access `site`.
    #[inline(never)]
    pub fn cache_segment(&self, site: usize, addr: u64) {
        if let Some(Place::Global { segment, offset }) = decode_common(AddrSpace::Global, addr, 0)
            && let Some(&span) = self.segments.get(segment)
        {
            self.cache[site % ENTRIES].set(Cached { start: addr - offset + span.start, span });
        }
    }

    #[inline(always)]
    pub fn load(&self, segment: usize, offset: u64, addr: u64, bytes: u32) -> Result<[u64; 4], FaultKind> {
        match little_endian::load(self.bytes(segment), self.at(segment, offset), bytes) {
            Some(v) => Ok(v),
            None => match self.concurrent(segment, offset, bytes as usize) {
                Some(s) => Ok(atomic_bytes::load_wide(s)),
                None => Err(self.outside(segment, addr, bytes)),
            },
        }
    }

    #[inline(always)]
    pub fn store(&mut self, segment: usize, offset: u64, addr: u64, bytes: u32, v: [u64; 4]) -> Result<(), FaultKind> {
        let at = self.at(segment, offset);
        if let Some(b) = self.bytes_mut(segment)
            && little_endian::store(b, at, bytes, v).is_some()
        {
            return Ok(());
        }
        if let Some(s) = self.concurrent(segment, offset, bytes as usize) {
            atomic_bytes::store_wide(s, v);
            return Ok(());
        }
        let outside = little_endian::load(self.bytes(segment), at, bytes).is_none();
        Err(if outside { self.outside(segment, addr, bytes) } else { FaultKind::ReadOnly { space: "global", addr } })
    }

    /// Copies bytes from a place on. `false`, with nothing done, if they are not all in its segment.
    pub fn copy_out(&self, segment: usize, offset: u64, to: &mut [u8]) -> bool {
        let (bytes, at) = (self.bytes(segment), self.at(segment, offset));
        let size = if let Some(from) = part(bytes, at, to.len()) {
            to.copy_from_slice(from);
            bytes.len()
        } else if let Some(from) = self.concurrent(segment, offset, to.len()) {
            atomic_bytes::copy_in(from, to);
            self.concurrent_segment(segment).len()
        } else {
            return false;
        };
        self.visited.visit(segment, at as usize, size);
        true
    }

    /// Whether copies have read parts of memory that none had read before, since the last question.
    pub fn reads_new_parts(&self) -> bool {
        self.visited.take_new()
    }

    /// Copies bytes to a place. `false`, with nothing done, if they are not all in its segment, or if that is read-only.
    pub fn copy_in(&mut self, segment: usize, offset: u64, from: &[u8]) -> bool {
        let at = self.at(segment, offset);
        if let Some(to) = self.bytes_mut(segment).and_then(|b| part_mut(b, at, from.len())) {
            to.copy_from_slice(from);
            return true;
        }
        match self.concurrent(segment, offset, from.len()) {
            Some(to) => atomic_bytes::copy_out(from, to),
            None => return false,
        }
        true
    }

    /// Whether the segment holds these bytes.
    pub fn holds(&self, segment: usize, offset: u64, bytes: u64) -> bool {
        self.at(segment, offset).checked_add(bytes).is_some_and(|end| end <= self.len(segment))
    }

    /// A fault if an access to these bytes would fail.
    pub fn check(&self, segment: usize, offset: u64, bytes: u64, write: bool) -> Result<(), FaultKind> {
        let addr = global_address(segment as u64, offset);
        if !self.holds(segment, offset, bytes) {
            return Err(self.outside(segment, addr, bytes.min(u32::MAX.into()) as u32));
        }
        let read_only = self.segments.get(segment).is_some_and(|s| s.len > s.writable);
        if write && read_only { Err(FaultKind::ReadOnly { space: "global", addr }) } else { Ok(()) }
    }

    #[cold]
    fn outside(&self, segment: usize, addr: u64, bytes: u32) -> FaultKind {
        FaultKind::OutOfBounds { space: "global", addr, bytes, size: self.len(segment) }
    }

    /// Bytes of a segment.
    #[cold]
    pub fn len(&self, segment: usize) -> u64 {
        self.bytes(segment).len().max(self.concurrent.get(segment).map_or(0, |s| s.len())) as u64
    }

    /// The segments of the replicas of the multicast object whose first one this is; none if it is other memory.
    pub fn replicas(&self, segment: u64) -> std::ops::Range<u64> {
        segment..segment + usize::try_from(segment).map_or(0, |at| self.replicas.get(at).copied().unwrap_or(0)) as u64
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The bytes of a segment that the kernel can write, where no other host thread does.
    pub fn writable(&self, segment: usize) -> &[u8] {
        if self.segments.get(segment).is_some_and(|s| s.writable > 0) { self.bytes(segment) } else { &[] }
    }
}

fn part(bytes: &[u8], offset: u64, len: usize) -> Option<&[u8]> {
    let from = usize::try_from(offset).ok()?;
    bytes.get(from..from.checked_add(len)?)
}

fn part_mut(bytes: &mut [u8], offset: u64, len: usize) -> Option<&mut [u8]> {
    let from = usize::try_from(offset).ok()?;
    bytes.get_mut(from..from.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::memory::address::global_address as at;

    // small enough for Miri, which checks the aliasing of the pointers
    #[test]
    fn the_cache_is_the_same_memory() {
        let (source, mut result) = ([1, 2, 3, 4, 5], [0; 8]);
        let segments = vec![Segment::EMPTY, Segment::read_only(&source), Segment::writable(&mut result)];
        let mut global = Global::new(segments);
        assert_eq!((global.cached(0, at(1, 0), 1), global.cached(0, 0, 0)), (None, Some(&[][..])));
        global.cache_segment(0, at(1, 3));
        global.cache_segment(1, at(2, 0));
        for round in 0..3 {
            let (a, b) = (global.cached(0, at(1, 1), 4), global.bytes(1));
            assert_eq!((a, b.len()), (Some(&[2, 3, 4, 5][..]), 5));
            global.cached_mut(1, at(2, 2), 2).unwrap().fill(round + 1);
            global.bytes_mut(2).unwrap()[7] = round;
            global.store(2, 0, at(2, 0), 1, [9, 0, 0, 0]).unwrap();
            assert_eq!(
                global.cached(ENTRIES + 1, at(2, 0), 8),
                Some(&[9, 0, round + 1, round + 1, 0, 0, 0, round][..])
            );
        }
        // outside, in another segment, or read-only
        for (addr, n) in [(at(2, 8), 1), (at(2, 7), 2), (at(2, 0), 9), (at(2, 0) - 1, 1), (at(1, 0), 1), (u64::MAX, 2)]
        {
            assert!(global.cached(1, addr, n).is_none() && global.cached_mut(1, addr, n).is_none(), "{addr:#x} {n}");
        }
        assert!(global.cached(0, at(1, 0), 5).is_some() && global.cached_mut(0, at(1, 0), 1).is_none());
        global.cache_segment(1, at(3, 0));
        assert!(global.cached(1, at(3, 0), 1).is_none(), "there is no such segment");
        assert_eq!(result[..4], [9, 0, 3, 3]);
    }
}
