//! Vector accesses: rows of consecutive elements for a whole warp, and gathers, scatters and single elements without a call per
//! lane.
//!
//! An access that fails a check returns `false` or `None`, or the lanes that are left. The caller then takes the slow path, which
//! diagnoses it. `access` is the number of the access in the kernel, for the access cache of
//! [`Global`](crate::memory::global::Global).

use crate::machine::ctx::parts::{LoadUnit, StoreUnit};
use crate::memory::address::{AddrSpace, Place, decode, decode_common};
use crate::memory::bounds::{aligned, part, part_mut, row};
use crate::memory::prefetch::{DISTANCE, prefetch};
use crate::memory::scattered;
use crate::memory::scattered::Scattered;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{CALLS, Word, copied};

/// Consecutive elements.
#[inline(always)]
fn elements<T: Word, const D: usize>(s: &[u8]) -> [T; D] {
    let mut v = [T::default(); D];
    v.iter_mut().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| *v = T::load(s));
    v
}

/// The most bytes that 32 lanes load in one row. A longer stretch has gaps; the loads from it prefetch.
pub(crate) const ONE_ROW: usize = 256;

/// Whether this space can be memory that several host threads share: a constant in emitted code.
#[inline(always)]
const fn may_be_concurrent(space: AddrSpace) -> bool {
    matches!(space, AddrSpace::Global | AddrSpace::Generic)
}

/// Can an address of this space name the shared memory of a peer CTA? A constant in emitted code.
#[inline(always)]
const fn reaches_peers(space: AddrSpace) -> bool {
    matches!(space, AddrSpace::SharedCluster | AddrSpace::Generic)
}

impl<'c> LoadUnit<'c, '_> {
    /// The memory that `addr` is in, and the offset there; `None` for the slow path.
    #[inline(always)]
    fn bytes_of(self, space: AddrSpace, addr: u64) -> Option<(&'c [u8], usize)> {
        if self.ctx.is_watched() {
            return None;
        }
        match decode_common(space, addr, self.ctx.cur.cta) {
            Some(Place::Global { segment, offset }) => Some(self.ctx.memory.global.bytes_at(segment, offset)),
            Some(Place::Shared { offset, .. }) => Some((&self.ctx.memory.shared, offset as usize)),
            Some(Place::Const { offset }) => Some((self.ctx.geometry.info.const_image, usize::try_from(offset).ok()?)),
            Some(Place::Param { offset }) => Some((&self.ctx.memory.params, usize::try_from(offset).ok()?)),
            Some(Place::Local { .. }) => None,
            None if reaches_peers(space) => self.peer_shared(space, addr),
            None => None,
        }
    }

    /// The offset of `addr` in [`LoadUnit::own_shared`], if `n` bytes from there are inside. The caller checks alignment.
    #[inline(always)]
    pub(crate) fn offset_in_shared(self, addr: u64, n: usize) -> Option<usize> {
        let (memory, at) = self.bytes_of(AddrSpace::SharedCta, addr)?;
        part(memory, at, n).map(|_| at)
    }

    /// The shared memory of the CTA.
    #[inline(always)]
    pub(crate) fn own_shared(self) -> &'c [u8] {
        &self.ctx.memory.shared
    }

    /// `n` bytes at an address, if they are in one memory. Alignment is the caller's business.
    #[inline(always)]
    pub(crate) fn bytes_at(self, access: usize, space: AddrSpace, addr: u64, n: usize) -> Option<&'c [u8]> {
        if space == AddrSpace::Global && !self.ctx.is_watched() {
            if !self.ctx.memory.global.is_cached(access, addr) {
                self.ctx.memory.global.cache_segment(access, addr);
            }
            return self.ctx.memory.global.cached(access, addr, n);
        }
        let (memory, at) = self.bytes_of(space, addr)?;
        part(memory, at, n)
    }

    /// The memory from an address on. Alignment is the caller's business.
    #[inline(always)]
    pub(crate) fn memory_from(self, access: usize, space: AddrSpace, addr: u64) -> Option<&'c [u8]> {
        if space == AddrSpace::Global && !self.ctx.is_watched() {
            if !self.ctx.memory.global.is_cached(access, addr) {
                self.ctx.memory.global.cache_segment(access, addr);
            }
            return self.ctx.memory.global.cached_from(access, addr);
        }
        let (memory, at) = self.bytes_of(space, addr)?;
        memory.get(at..)
    }

    /// Shared memory of a CTA of the cluster, where the address names a rank.
    #[inline(never)]
    fn peer_shared(self, space: AddrSpace, addr: u64) -> Option<(&'c [u8], usize)> {
        match decode(space, addr, self.ctx.cur.cta)? {
            Place::Shared { rank, offset } => Some((self.ctx.window(rank).ok()?, offset as usize)),
            _ => None,
        }
    }

    /// `LEN` bytes from each base address: one check for all loads at constant offsets from it.
    #[inline(always)]
    pub fn stretch<T: Word, const NB: usize, const LEN: usize>(
        self,
        access: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
    ) -> Option<[&'c [u8; LEN]; NB]> {
        if CALLS {
            return self.stretch_call::<T, NB, LEN>(access, space, m, base);
        }
        if space != AddrSpace::Global {
            return self.rows_at::<T, NB, LEN>(space, m, base);
        }
        self.cached_rows::<T, NB, LEN>(access, base).or_else(|| self.stretch_call::<T, NB, LEN>(access, space, m, base))
    }

    /// [`LoadUnit::stretch`] as a call, to save compile time: in very large kernels and in development builds.
    #[inline(never)]
    pub fn stretch_call<T: Word, const NB: usize, const LEN: usize>(
        self,
        access: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
    ) -> Option<[&'c [u8; LEN]; NB]> {
        if space == AddrSpace::Global {
            if let Some(rows) = self.cached_rows::<T, NB, LEN>(access, base) {
                return Some(rows);
            }
            self.ctx.memory.global.cache_segment(access, base[0]);
        }
        self.rows_at::<T, NB, LEN>(space, m, base)
    }

    /// The rows in the cached segment of this access.
    #[inline(always)]
    fn cached_rows<T: Word, const NB: usize, const LEN: usize>(
        self,
        access: usize,
        base: [u64; NB],
    ) -> Option<[&'c [u8; LEN]; NB]> {
        let mut rows = [&[0; LEN]; NB];
        if self.ctx.is_watched() {
            return None;
        }
        for (to, base) in rows.iter_mut().zip(base) {
            let row = self.ctx.memory.global.cached(access, base, LEN).filter(|_| aligned(base, T::BYTES))?;
            if (64..=ONE_ROW).contains(&LEN) {
                prefetch(row.as_ptr(), LEN, DISTANCE);
            }
            *to = row.try_into().ok()?;
        }
        Some(rows)
    }

    /// The rows in the memory that the address decodes to.
    #[inline(always)]
    fn rows_at<T: Word, const NB: usize, const LEN: usize>(
        self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
    ) -> Option<[&'c [u8; LEN]; NB]> {
        let mut rows = [&[0; LEN]; NB];
        for (to, base) in rows.iter_mut().zip(base) {
            let (memory, at) = self.bytes_of(space, base)?;
            if !aligned(base, T::BYTES) {
                return None;
            }
            if may_be_concurrent(space) && (64..=ONE_ROW).contains(&LEN) {
                prefetch(memory.as_ptr().wrapping_add(at), LEN, DISTANCE);
            }
            *to = row(memory, at, LEN, m)?.try_into().ok()?;
        }
        Some(rows)
    }

    /// Loads `D` consecutive elements for each lane, at any addresses.
    #[inline(always)]
    pub fn gather<T: Scattered, const D: usize>(
        self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        mut out: [&mut [T; 32]; D],
    ) -> bool {
        if self.ctx.is_watched() || m == 0 {
            return m == 0;
        }
        let first = addr[m.trailing_zeros() as usize & 31];
        let Some((memory, at)) = self.bytes_of(space, first) else { return false };
        let base = first.wrapping_sub(at as u64);
        match &mut out[..] {
            [out] => T::gather(self.ctx.set, memory, base, first, m, addr, out),
            out => T::gather_vectors(memory, base, m, addr, out),
        }
    }

    /// Loads an element for each lane at addresses of 32 bits.
    #[inline(always)]
    pub fn gather_near<T: Scattered>(self, space: AddrSpace, m: u32, addr: &[u32; 32], out: &mut [T; 32]) -> bool {
        if self.ctx.is_watched() || m == 0 {
            return m == 0;
        }
        let first = addr[m.trailing_zeros() as usize & 31];
        match self.bytes_of(space, first as u64) {
            Some((memory, at)) if at == first as usize => T::gather_u32(self.ctx.set, memory, first, m, addr, out),
            Some((memory, at)) => {
                // of another CTA: offsets in its memory
                let offsets = addr.map(|a| a.wrapping_sub(first).wrapping_add(at as u32));
                T::gather_u32(self.ctx.set, memory, at as u32, m, &offsets, out)
            }
            None => false,
        }
    }

    /// Loads `D` consecutive elements for one lane.
    #[inline(always)]
    pub fn load_one<T: Word, const D: usize>(self, access: usize, space: AddrSpace, addr: u64) -> Option<[T; D]> {
        let n = T::BYTES * D;
        if self.ctx.is_watched() {
            return None;
        }
        if space != AddrSpace::Global {
            let (memory, at) = self.bytes_of(space, addr)?;
            return part(memory, at, n).filter(|_| aligned(addr, n)).map(elements);
        }
        match self.ctx.memory.global.cached(access, addr, n).filter(|_| aligned(addr, n)) {
            Some(s) => Some(elements(s)),
            None => self.load_one_call(access, addr),
        }
    }

    /// Caches the segment and tries again.
    #[inline(never)]
    fn load_one_call<T: Word, const D: usize>(self, access: usize, addr: u64) -> Option<[T; D]> {
        let n = T::BYTES * D;
        self.ctx.memory.global.cache_segment(access, addr);
        self.ctx.memory.global.cached(access, addr, n).filter(|_| aligned(addr, n)).map(elements)
    }
}

impl<'c> StoreUnit<'c, '_> {
    /// The memory that `addr` is in, to write, and the offset there; `None` for the slow path.
    #[inline(always)]
    fn bytes_of_mut(self, space: AddrSpace, addr: u64) -> Option<(&'c mut [u8], usize)> {
        if self.ctx.is_watched() || self.ctx.scheduling.probing {
            return None;
        }
        match decode_common(space, addr, self.ctx.cur.cta) {
            Some(Place::Global { segment, offset }) => self.ctx.memory.global.bytes_at_mut(segment, offset),
            Some(Place::Shared { offset, .. }) => Some((&mut self.ctx.memory.shared, offset as usize)),
            Some(_) => None,
            None if reaches_peers(space) => self.ctx.stores().peer_shared_mut(space, addr),
            None => None,
        }
    }

    /// `n` bytes at an address, to write.
    #[inline(always)]
    pub(crate) fn bytes_at_mut(self, access: usize, space: AddrSpace, addr: u64, n: usize) -> Option<&'c mut [u8]> {
        if space == AddrSpace::Global && !self.ctx.is_watched() && !self.ctx.scheduling.probing {
            if !self.ctx.memory.global.is_cached(access, addr) {
                self.ctx.memory.global.cache_segment(access, addr);
            }
            return self.ctx.memory.global.cached_mut(access, addr, n);
        }
        let (memory, at) = self.ctx.stores().bytes_of_mut(space, addr)?;
        part_mut(memory, at, n)
    }

    /// The memory from an address on, to write.
    #[inline(always)]
    pub(crate) fn memory_from_mut(self, access: usize, space: AddrSpace, addr: u64) -> Option<&'c mut [u8]> {
        if space == AddrSpace::Global && !self.ctx.is_watched() && !self.ctx.scheduling.probing {
            if !self.ctx.memory.global.is_cached(access, addr) {
                self.ctx.memory.global.cache_segment(access, addr);
            }
            return self.ctx.memory.global.cached_from_mut(access, addr);
        }
        let (memory, at) = self.ctx.stores().bytes_of_mut(space, addr)?;
        memory.get_mut(at..)
    }

    /// Shared memory of a CTA of the cluster, to write, where the address names a rank.
    #[inline(never)]
    fn peer_shared_mut(self, space: AddrSpace, addr: u64) -> Option<(&'c mut [u8], usize)> {
        match decode(space, addr, self.ctx.cur.cta)? {
            Place::Shared { rank, offset } => Some((self.ctx.window_mut(rank).ok()?, offset as usize)),
            _ => None,
        }
    }

    /// Stores rows of consecutive elements.
    #[inline(always)]
    pub fn store_rows<T: Scattered, const NB: usize>(
        self,
        access: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if CALLS {
            return self.ctx.stores().store_rows_call(access, space, m, base, v);
        }
        if space == AddrSpace::Global {
            return m == u32::MAX && self.ctx.stores().store_cached_rows(access, base, v)
                || self.ctx.stores().store_rows_call(access, space, m, base, &copied(*v));
        }
        self.ctx.stores().store_own_rows(space, m, base, v)
            || may_be_concurrent(space) && self.ctx.stores().store_rows_concurrent(space, m, base, &copied(*v))
    }

    /// [`StoreUnit::store_rows`] as a call.
    #[inline(never)]
    pub fn store_rows_call<T: Scattered, const NB: usize>(
        self,
        access: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if space == AddrSpace::Global {
            if m == u32::MAX && self.ctx.stores().store_cached_rows(access, base, v) {
                return true;
            }
            self.ctx.memory.global.cache_segment(access, base[0]);
        }
        self.ctx.stores().store_own_rows(space, m, base, v)
            || may_be_concurrent(space) && self.ctx.stores().store_rows_concurrent(space, m, base, v)
    }

    /// Stores rows to the cached segment of this access.
    #[inline(always)]
    fn store_cached_rows<T: Word, const NB: usize>(self, access: usize, base: [u64; NB], v: &[T; 32]) -> bool {
        if self.ctx.is_watched() || self.ctx.scheduling.probing {
            return false;
        }
        let p = 32 / NB;
        v.chunks_exact(p).zip(base).all(|(v, base)| {
            let row = self.ctx.memory.global.cached_mut(access, base, p * T::BYTES).filter(|_| aligned(base, T::BYTES));
            row.is_some_and(|s| {
                T::store_row(v, s);
                true
            })
        })
    }

    /// The writable memory from an address on, if that is aligned for a `T`.
    #[inline(always)]
    fn bytes_from<T: Word>(self, space: AddrSpace, base: u64) -> Option<&'c mut [u8]> {
        let (memory, at) = self.ctx.stores().bytes_of_mut(space, base).filter(|_| aligned(base, T::BYTES))?;
        memory.get_mut(at..)
    }

    /// Stores rows to the memory that the base addresses decode to.
    #[inline(always)]
    fn store_own_rows<T: Scattered, const NB: usize>(
        self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if m != u32::MAX {
            return self.ctx.stores().store_some_rows(space, m, base, &copied(*v));
        }
        let p = 32 / NB;
        for (j, v) in v.chunks_exact(p).enumerate() {
            let Some(s) = self.ctx.stores().bytes_from::<T>(space, base[j]).and_then(|s| part_mut(s, 0, p * T::BYTES))
            else {
                return false;
            };
            T::store_row(v, s);
        }
        true
    }

    /// Stores the rows of the lanes of a mask.
    #[inline(always)]
    fn store_some_rows<T: Scattered, const NB: usize>(
        self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        let (p, set) = (32 / NB, self.ctx.set);
        for (j, v) in v.chunks_exact(p).enumerate() {
            let Some(memory) = self.ctx.stores().bytes_from::<T>(space, base[j]) else { return false };
            if !T::store_some(set, memory, m >> (j * p), v) {
                return false;
            }
        }
        true
    }

    /// Stores `D` consecutive elements for each lane, at any addresses, in lane order. If it fails, the slow path stores all again.
    #[inline(always)]
    pub fn scatter<T: Scattered, const D: usize>(
        self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: [&[T; 32]; D],
    ) -> bool {
        if self.ctx.is_watched() || m == 0 {
            return m == 0;
        }
        let (set, first) = (self.ctx.set, addr[m.trailing_zeros() as usize & 31]);
        let Some((memory, at)) = self.ctx.stores().bytes_of_mut(space, first) else { return false };
        let base = first.wrapping_sub(at as u64);
        match v[..] {
            [v] => T::scatter(set, memory, base, first, m, addr, v),
            _ => T::scatter_vectors(memory, base, m, addr, &v),
        }
    }

    /// Stores `D` consecutive elements of one lane.
    #[inline(always)]
    pub fn store_one<T: Word, const D: usize>(self, access: usize, space: AddrSpace, addr: u64, v: [T; D]) -> bool {
        self.ctx.stores().change_one(access, space, addr, T::BYTES * D, |s| {
            v.iter().zip(s.chunks_exact_mut(T::BYTES)).for_each(|(v, s)| v.store(s));
        })
    }

    /// `red.add` of one lane.
    #[inline(always)]
    pub fn add_one<T: Word>(self, access: usize, space: AddrSpace, addr: u64, v: T) -> bool {
        self.ctx.stores().change_one(access, space, addr, T::BYTES, |s| T::load(s).plus(v).store(s))
    }

    /// Changes `n` bytes, if they are inside and aligned.
    #[inline(always)]
    fn change_one(self, access: usize, space: AddrSpace, addr: u64, n: usize, change: impl FnOnce(&mut [u8])) -> bool {
        let bytes = if space != AddrSpace::Global {
            self.ctx.stores().bytes_of_mut(space, addr).and_then(|(memory, at)| part_mut(memory, at, n))
        } else if self.ctx.is_watched() || self.ctx.scheduling.probing {
            None
        } else {
            if !self.ctx.memory.global.is_cached(access, addr) {
                if self.ctx.memory.global.is_concurrent() {
                    return false;
                }
                self.ctx.memory.global.cache_segment(access, addr);
            }
            self.ctx.memory.global.cached_mut(access, addr, n)
        };
        bytes.filter(|_| aligned(addr, n)).map(change).is_some()
    }

    /// `red.add` and `atom.add` of 32 or 64 bits, in lane order. Returns the lanes from the first bad access on.
    #[inline(always)]
    pub fn add_lanes<T: Scattered>(
        self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: &[T; 32],
        old: Option<&mut [T; 32]>,
    ) -> u32 {
        if self.ctx.is_watched() || m == 0 {
            return m;
        }
        let (set, first) = (self.ctx.set, addr[m.trailing_zeros() as usize & 31]);
        let Some((memory, at)) = self.ctx.stores().bytes_of_mut(space, first) else { return m };
        T::add(set, memory, first.wrapping_sub(at as u64), m, addr, v, old)
    }

    /// `red.add.u32` of one value at addresses of 32 bits. `false`, with nothing done, if one is not plainly right.
    #[inline(always)]
    pub(crate) fn add_to_words(self, space: AddrSpace, m: u32, addr: &[u32; 32], v: u32) -> bool {
        let (set, first) = (self.ctx.set, addr[m.trailing_zeros() as usize & 31]);
        match self.ctx.stores().bytes_of_mut(space, first.into()) {
            Some((memory, at)) if at == first as usize => scattered::add_to_words(set, memory, m, addr, v),
            _ => false,
        }
    }
}
