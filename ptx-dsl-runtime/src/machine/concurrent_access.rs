//! Accesses to global memory that several host threads share.
//!
//! On several threads the fast path finds empty segments and fails; the slow path tries these functions next. `false` leaves the
//! access to the general path, which diagnoses it.

use std::sync::atomic::AtomicU8;

use crate::fault::Fault;
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::{LoadUnit, StoreUnit};
use crate::machine::vector_access::ONE_ROW;
use crate::memory::address::{AddrSpace, Place, decode, decode_common};
use crate::memory::atomic_bytes;
use crate::memory::bounds::aligned;
use crate::memory::prefetch::{DISTANCE, prefetch};
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Word;
use crate::numerics::lanes::lanes;
use crate::observe::monitor::{Access, By, Proxy};

impl<'c> LoadUnit<'c, '_> {
    /// The bytes at `addr`, if they are in concurrent memory.
    #[inline(always)]
    pub(crate) fn concurrent(self, space: AddrSpace, addr: u64, align: usize, bytes: usize) -> Option<&'c [AtomicU8]> {
        if self.ctx.monitor.is_on() || addr & (align as u64 - 1) != 0 {
            return None;
        }
        match decode_common(space, addr, self.ctx.cur.cta) {
            Some(Place::Global { segment, offset }) => self.ctx.memory.global.concurrent(segment, offset, bytes),
            _ => None,
        }
    }

    /// The concurrent memory that the first lane of `m` accesses, for accesses of elements of this many bytes.
    #[inline(always)]
    fn elements(self, space: AddrSpace, m: u32, addr: &Lanes, bytes: usize) -> ConcurrentElements<'c> {
        let first = addr[m.trailing_zeros() as usize & 31];
        match decode_common(space, first, self.ctx.cur.cta) {
            Some(Place::Global { segment, offset }) if !self.ctx.monitor.is_on() => ConcurrentElements {
                memory: self.ctx.memory.global.concurrent_segment(segment),
                base: first.wrapping_sub(offset.wrapping_sub(self.ctx.memory.global.start(segment))),
                bytes,
            },
            _ => ConcurrentElements { memory: &[], base: 0, bytes },
        }
    }

    /// A first test for [`LoadUnit::concurrent`]: in a launch on one thread, one comparison.
    #[inline(always)]
    pub(crate) fn shared_by_threads(
        self,
        space: AddrSpace,
        addr: u64,
        align: usize,
        bytes: usize,
    ) -> Option<&'c [AtomicU8]> {
        if self.ctx.memory.global.is_concurrent() { self.concurrent(space, addr, align, bytes) } else { None }
    }

    /// Copies `LEN` bytes from each base address.
    pub(crate) fn stretch_concurrent<T: Word, const NB: usize, const LEN: usize>(
        self,
        space: AddrSpace,
        base: [u64; NB],
        stretch: &mut [[u8; LEN]; NB],
    ) -> bool {
        if !self.ctx.memory.global.is_concurrent() {
            return false;
        }
        for (to, base) in stretch.iter_mut().zip(base) {
            let Some(s) = self.concurrent(space, base, T::BYTES, LEN) else { return false };
            prefetch(s.as_ptr().cast(), LEN.min(ONE_ROW), DISTANCE);
            atomic_bytes::copy_in(s, to);
        }
        true
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn load_rows_concurrent<T: Word, const NB: usize>(
        self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        out: &mut [T; 32],
    ) -> bool {
        let p = 32 / NB;
        for (j, out) in out.chunks_exact_mut(p).enumerate() {
            let Some(s) = self.concurrent(space, base[j], T::BYTES, p * T::BYTES) else { return false };
            if m == u32::MAX {
                load_row(s, out);
                continue;
            }
            let mut row = [T::default(); 32];
            load_row(s, &mut row[..p]);
            for (l, (out, v)) in out.iter_mut().zip(row).enumerate() {
                *out = if m >> (j * p + l) & 1 != 0 { v } else { *out };
            }
        }
        true
    }

    /// Loads `D` consecutive elements for each lane, at any addresses.
    pub(crate) fn load_lanes_concurrent<T: Word, const D: usize>(
        self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        out: &mut [&mut [T; 32]; D],
    ) -> bool {
        if !self.ctx.memory.global.is_concurrent() {
            return false;
        }
        if let [out] = &mut out[..]
            && m == u32::MAX
            && is_rows(addr, T::BYTES as u64)
            && self.load_rows_concurrent(space, m, [addr[0], addr[16]], out)
        {
            return true;
        }
        let elements = self.elements(space, m, addr, T::BYTES * D);
        let mut ok = true;
        lanes(m, |l| match elements.at(self.ctx, space, addr[l]) {
            Some(s) => {
                for (i, s) in s.chunks_exact(T::BYTES).enumerate() {
                    out[i][l] = T::narrow(atomic_bytes::load(s));
                }
            }
            None => ok = false,
        });
        ok
    }

    /// Loads `D` consecutive elements for one lane.
    #[inline(always)]
    pub(crate) fn load_one_concurrent<T: Word, const D: usize>(self, space: AddrSpace, addr: u64) -> Option<[T; D]> {
        let s = self.concurrent(space, addr, T::BYTES * D, T::BYTES * D)?;
        let mut v = [T::default(); D];
        v.iter_mut().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| *v = T::narrow(atomic_bytes::load(s)));
        Some(v)
    }

    /// A full fence between host threads.
    #[inline]
    pub fn fence(self) {
        if self.ctx.memory.global.is_concurrent() {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        }
    }
}

impl<'c> StoreUnit<'c, '_> {
    #[cold]
    #[inline(never)]
    pub(crate) fn store_rows_concurrent<T: Word, const NB: usize>(
        self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if self.ctx.scheduling.probing {
            return false;
        }
        let p = 32 / NB;
        for (j, v) in v.chunks_exact(p).enumerate() {
            if m == u32::MAX {
                let Some(s) = self.ctx.loads().concurrent(space, base[j], T::BYTES, p * T::BYTES) else { return false };
                store_row(v, s);
                continue;
            }
            // an inactive lane's element must not be written, not even unchanged
            for (l, v) in v.iter().enumerate().filter(|(l, _)| m >> (j * p + l) & 1 != 0) {
                let addr = base[j].wrapping_add((l * T::BYTES) as u64);
                let Some(s) = self.ctx.loads().concurrent(space, addr, T::BYTES, T::BYTES) else { return false };
                atomic_bytes::store(s, v.widen());
            }
        }
        true
    }

    /// Stores `D` consecutive elements of one lane.
    #[inline(always)]
    pub(crate) fn store_one_concurrent<T: Word, const D: usize>(self, space: AddrSpace, addr: u64, v: [T; D]) -> bool {
        if self.ctx.scheduling.probing {
            return false;
        }
        let Some(s) = self.ctx.loads().concurrent(space, addr, T::BYTES * D, T::BYTES * D) else { return false };
        v.iter().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| atomic_bytes::store(s, v.widen()));
        true
    }

    /// Stores `D` consecutive elements for each lane, in lane order. If it fails, the general path stores all again.
    pub(crate) fn store_lanes_concurrent<T: Word, const D: usize>(
        self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: &[&[T; 32]; D],
    ) -> bool {
        if !self.ctx.memory.global.is_concurrent() || self.ctx.scheduling.probing {
            return false;
        }
        if let [v] = &v[..]
            && m == u32::MAX
            && is_rows(addr, T::BYTES as u64)
            && self.ctx.stores().store_rows_concurrent(space, m, [addr[0], addr[16]], v)
        {
            return true;
        }
        let elements = self.ctx.loads().elements(space, m, addr, T::BYTES * D);
        let mut ok = true;
        lanes(m, |l| match elements.at(self.ctx, space, addr[l]) {
            Some(s) => {
                for (i, s) in s.chunks_exact(T::BYTES).enumerate() {
                    atomic_bytes::store(s, v[i][l].widen());
                }
            }
            None => ok = false,
        });
        ok
    }

    /// `red.add` and `atom.add` of 32 or 64 bits, in lane order. Returns the lanes from the first bad access on.
    pub(crate) fn add_lanes_concurrent<T: Word>(
        self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: &[T; 32],
        mut old: impl FnMut(usize, u64),
    ) -> u32 {
        if !self.ctx.memory.global.is_concurrent() || self.ctx.scheduling.probing {
            return m;
        }
        let elements = self.ctx.loads().elements(space, m, addr, T::BYTES);
        let mut rest = m;
        while rest != 0 {
            let l = rest.trailing_zeros() as usize;
            let Some(s) = elements.at(self.ctx, space, addr[l]) else { return rest };
            old(l, atomic_bytes::add(s, v[l].widen()));
            rest &= rest - 1;
        }
        0
    }

    /// Applies `f` to `bytes` bytes and returns the old value. In concurrent memory each element of `element` bytes is one atomic
    /// step. The address must be aligned to `bytes`.
    pub fn update(
        self,
        space: AddrSpace,
        addr: u64,
        bytes: u32,
        element: u32,
        lane: u32,
        f: impl Fn([u64; 4]) -> [u64; 4],
    ) -> Result<[u64; 4], Box<Fault>> {
        let old = self.ctx.read(space, addr, bytes, lane)?;
        if let Some(place @ Place::Global { segment, offset }) = decode(space, addr, self.ctx.cur.cta)
            && let Some(s) = self.ctx.memory.global.concurrent(segment, offset, bytes as usize)
        {
            if self.ctx.monitor.is_on() {
                let who = self.ctx.who(1 << lane);
                let (by, proxy, order) = (By::Thread, Proxy::Generic, self.ctx.order);
                let access = Access { place, addr, bytes, write: true, same: false, by, proxy, order, who };
                self.ctx.report().access(access).map_err(|kind| self.ctx.fault(kind, lane))?;
            }
            let old = atomic_bytes::update(s, element as usize, &f);
            self.ctx.scheduling.progress += (self.ctx.scheduling.probing && f(old) != old) as u64;
            return Ok(old);
        }
        self.ctx.write(space, addr, bytes, f(old), lane)?;
        Ok(old)
    }
}

/// Elements in concurrent memory that lanes access: most are in the memory of the first.
struct ConcurrentElements<'a> {
    memory: &'a [AtomicU8],
    /// The address of the first byte.
    base: u64,
    /// Bytes of an element.
    bytes: usize,
}

impl<'a> ConcurrentElements<'a> {
    /// The element at an address, if it is aligned.
    #[inline(always)]
    fn at(&self, x: &'a Ctx<'_>, space: AddrSpace, addr: u64) -> Option<&'a [AtomicU8]> {
        let at = addr.wrapping_sub(self.base) as usize;
        match self.memory.get(at..at.wrapping_add(self.bytes)) {
            Some(element) => aligned(addr, self.bytes).then_some(element),
            None => x.loads().concurrent(space, addr, self.bytes, self.bytes),
        }
    }
}

/// Whether these are the addresses of two rows of 16 consecutive elements.
fn is_rows(addr: &Lanes, size: u64) -> bool {
    addr.chunks_exact(16).all(|row| (0..).zip(row).all(|(l, &a)| a == row[0].wrapping_add(l * size)))
}

#[inline(always)]
fn load_row<T: Word>(s: &[AtomicU8], to: &mut [T]) {
    if cfg!(target_endian = "little") {
        atomic_bytes::copy_in(s, bytemuck::cast_slice_mut(to));
    } else {
        to.iter_mut().zip(s.chunks_exact(T::BYTES)).for_each(|(to, s)| *to = T::narrow(atomic_bytes::load(s)));
    }
}

#[inline(always)]
fn store_row<T: Word>(v: &[T], s: &[AtomicU8]) {
    if cfg!(target_endian = "little") {
        atomic_bytes::copy_out(bytemuck::cast_slice(v), s);
    } else {
        v.iter().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| atomic_bytes::store(s, v.widen()));
    }
}
