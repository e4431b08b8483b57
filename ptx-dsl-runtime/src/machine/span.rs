//! Accesses of a whole warp at once: rows of consecutive elements, and lane by lane without a function call. Each of these
//! says `false` (or leaves lanes over) where something is not plainly right; the general way, which reports it, comes next.

use crate::lanes::{CALLS, Word, copied};
use crate::machine::Ctx;
use crate::mem::address::{AddrSpace, RANK_SHIFT, SEGMENT_SHIFT, SHARED, SHARED_OFFSET, WINDOW_SHIFT};
use crate::mem::ahead::{DISTANCE, ahead};
use crate::mem::range::{aligned, part, part_mut, row};
use crate::{Lanes, Monitor};

/// The rank that an address of the cluster's shared memory names, and the offset there.
fn peer(space: AddrSpace, addr: u64) -> Option<(u32, usize)> {
    let window = if space == AddrSpace::Generic { SHARED << (WINDOW_SHIFT - 32) } else { 0 };
    let rank = (addr >> RANK_SHIFT & 0xff) as u32;
    (addr >> 32 == window && rank != 0).then(|| (rank - 1, (addr & SHARED_OFFSET) as usize))
}

/// What lies in memory, in order.
#[inline(always)]
fn elements<T: Word, const D: usize>(s: &[u8]) -> [T; D] {
    let mut v = [T::default(); D];
    v.iter_mut().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| *v = T::load(s));
    v
}

/// Bytes that 32 lanes load at most. A longer stretch has rows here and there, and whoever loads them looks ahead.
pub(crate) const ONE_ROW: usize = 256;

/// Known when compiling: other memory has no use for a second try.
#[inline(always)]
const fn may_be_in_common(space: AddrSpace) -> bool {
    matches!(space, AddrSpace::Global | AddrSpace::Generic)
}

impl<M: Monitor> Ctx<'_, M> {
    /// The memory that `addr` lies in, and where; `None` for whatever wants a closer look.
    #[inline(always)]
    fn memory(&self, space: AddrSpace, addr: u64) -> Option<(&[u8], usize)> {
        if M::ON {
            return None;
        }
        let global = |addr: u64| {
            (self.global.bytes((addr >> SEGMENT_SHIFT) as usize), (addr & ((1 << SEGMENT_SHIFT) - 1)) as usize)
        };
        match space {
            AddrSpace::Global => Some(global(addr)),
            AddrSpace::SharedCta | AddrSpace::SharedCluster if addr >> RANK_SHIFT == 0 => {
                Some((self.own_shared(), addr as usize))
            }
            AddrSpace::Generic if addr >> WINDOW_SHIFT == 0 => Some(global(addr)),
            AddrSpace::Generic if addr >> RANK_SHIFT == SHARED << (WINDOW_SHIFT - RANK_SHIFT) => {
                Some((self.own_shared(), (addr & ((1 << RANK_SHIFT) - 1)) as usize))
            }
            AddrSpace::SharedCluster | AddrSpace::Generic => self.peer_shared(space, addr),
            AddrSpace::Const => Some((self.info.const_image, usize::try_from(addr).ok()?)),
            AddrSpace::ParamEntry => Some((&self.params, usize::try_from(addr).ok()?)),
            _ => None,
        }
    }

    /// The same, to write.
    #[inline(always)]
    fn memory_mut(&mut self, space: AddrSpace, addr: u64) -> Option<(&mut [u8], usize)> {
        if M::ON || self.probing {
            return None;
        }
        let (segment, offset) = ((addr >> SEGMENT_SHIFT) as usize, (addr & ((1 << SEGMENT_SHIFT) - 1)) as usize);
        match space {
            AddrSpace::Global => Some((self.global.bytes_mut(segment)?, offset)),
            AddrSpace::SharedCta | AddrSpace::SharedCluster if addr >> RANK_SHIFT == 0 => {
                Some((self.own_shared_mut(), addr as usize))
            }
            AddrSpace::Generic if addr >> WINDOW_SHIFT == 0 => Some((self.global.bytes_mut(segment)?, offset)),
            AddrSpace::Generic if addr >> RANK_SHIFT == SHARED << (WINDOW_SHIFT - RANK_SHIFT) => {
                Some((self.own_shared_mut(), (addr & ((1 << RANK_SHIFT) - 1)) as usize))
            }
            AddrSpace::SharedCluster | AddrSpace::Generic => self.peer_shared_mut(space, addr),
            _ => None,
        }
    }

    /// Shared memory of the cluster, where the address names a rank.
    #[inline(never)]
    fn peer_shared(&self, space: AddrSpace, addr: u64) -> Option<(&[u8], usize)> {
        let (rank, at) = peer(space, addr)?;
        self.window(rank).ok().map(|memory| (memory, at))
    }

    /// The same, to write.
    #[inline(never)]
    fn peer_shared_mut(&mut self, space: AddrSpace, addr: u64) -> Option<(&mut [u8], usize)> {
        let (rank, at) = peer(space, addr)?;
        self.window_mut(rank).ok().map(|memory| (memory, at))
    }

    #[inline(always)]
    fn own_shared(&self) -> &[u8] {
        &self.shared
    }

    #[inline(always)]
    fn own_shared_mut(&mut self) -> &mut [u8] {
        &mut self.shared
    }

    /// The bytes from an address on in each row, to load elements from, if all of them are there. `place` is a number of the place in
    /// the kernel.
    #[inline(always)]
    pub fn stretch<T: Word, const NB: usize, const LEN: usize>(
        &self,
        place: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
    ) -> Option<[&[u8; LEN]; NB]> {
        if CALLS {
            return self.far_stretch::<T, NB, LEN>(place, space, m, base);
        }
        if space != AddrSpace::Global {
            return self.rows_at::<T, NB, LEN>(space, m, base);
        }
        self.near_rows::<T, NB, LEN>(place, base).or_else(|| self.far_stretch::<T, NB, LEN>(place, space, m, base))
    }

    /// The same as a call: very large kernels have nothing else, rustc takes time for every copy, nor have development builds.
    #[inline(never)]
    pub fn far_stretch<T: Word, const NB: usize, const LEN: usize>(
        &self,
        place: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
    ) -> Option<[&[u8; LEN]; NB]> {
        if space == AddrSpace::Global {
            if let Some(rows) = self.near_rows::<T, NB, LEN>(place, base) {
                return Some(rows);
            }
            self.global.come_to(place, base[0]);
        }
        self.rows_at::<T, NB, LEN>(space, m, base)
    }

    /// In the segment of global memory that this place has reached last.
    #[inline(always)]
    fn near_rows<T: Word, const NB: usize, const LEN: usize>(
        &self,
        place: usize,
        base: [u64; NB],
    ) -> Option<[&[u8; LEN]; NB]> {
        let mut rows = [&[0; LEN]; NB];
        if M::ON {
            return None;
        }
        for (to, base) in rows.iter_mut().zip(base) {
            let row = self.global.near(place, base, LEN).filter(|_| aligned(base, T::BYTES))?;
            if (64..=ONE_ROW).contains(&LEN) {
                ahead(row.as_ptr(), LEN, DISTANCE);
            }
            *to = row.try_into().ok()?;
        }
        Some(rows)
    }

    /// In any memory.
    #[inline(always)]
    fn rows_at<T: Word, const NB: usize, const LEN: usize>(
        &self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
    ) -> Option<[&[u8; LEN]; NB]> {
        let mut rows = [&[0; LEN]; NB];
        for (to, base) in rows.iter_mut().zip(base) {
            let (memory, at) = self.memory(space, base)?;
            if !aligned(base, T::BYTES) {
                return None;
            }
            if may_be_in_common(space) && (64..=ONE_ROW).contains(&LEN) {
                ahead(memory.as_ptr().wrapping_add(at), LEN, DISTANCE);
            }
            *to = row(memory, at, LEN, m)?.try_into().ok()?;
        }
        Some(rows)
    }

    /// Any addresses, an array of elements each.
    #[inline(always)]
    pub fn gather<T: Word, const D: usize>(
        &self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        mut out: [&mut [T; 32]; D],
    ) -> bool {
        if M::ON || m == 0 {
            return m == 0;
        }
        let first = addr[m.trailing_zeros() as usize & 31];
        let Some((memory, at)) = self.memory(space, first) else { return false };
        let base = first.wrapping_sub(at as u64);
        match &mut out[..] {
            [out] => T::gather(self.level, memory, base, first, m, addr, out),
            out => T::gather_vectors(memory, base, m, addr, out),
        }
    }

    /// Addresses of 32 bits, an element each.
    #[inline(always)]
    pub fn gather_near<T: Word>(&self, space: AddrSpace, m: u32, addr: &[u32; 32], out: &mut [T; 32]) -> bool {
        if M::ON || m == 0 {
            return m == 0;
        }
        let first = addr[m.trailing_zeros() as usize & 31];
        match self.memory(space, first as u64) {
            Some((memory, at)) if at == first as usize => T::gather_near(self.level, memory, first, m, addr, out),
            Some((memory, at)) => {
                // of another CTA: the addresses in it
                let near = addr.map(|a| a.wrapping_sub(first).wrapping_add(at as u32));
                T::gather_near(self.level, memory, at as u32, m, &near, out)
            }
            None => false,
        }
    }

    /// Rows of consecutive elements. `place` is as for [`Self::stretch`].
    #[inline(always)]
    pub fn store_rows<T: Word, const NB: usize>(
        &mut self,
        place: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if CALLS {
            return self.far_store_rows(place, space, m, base, v);
        }
        if space == AddrSpace::Global {
            return m == u32::MAX && self.store_near_rows(place, base, v)
                || self.far_store_rows(place, space, m, base, &copied(*v));
        }
        self.store_own_rows(space, m, base, v)
            || may_be_in_common(space) && self.store_rows_in_common(space, m, base, &copied(*v))
    }

    /// The same as a call.
    #[inline(never)]
    pub fn far_store_rows<T: Word, const NB: usize>(
        &mut self,
        place: usize,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if space == AddrSpace::Global {
            if m == u32::MAX && self.store_near_rows(place, base, v) {
                return true;
            }
            self.global.come_to(place, base[0]);
        }
        self.store_own_rows(space, m, base, v)
            || may_be_in_common(space) && self.store_rows_in_common(space, m, base, v)
    }

    /// Where this place has stored last.
    #[inline(always)]
    fn store_near_rows<T: Word, const NB: usize>(&mut self, place: usize, base: [u64; NB], v: &[T; 32]) -> bool {
        if M::ON || self.probing {
            return false;
        }
        let p = 32 / NB;
        v.chunks_exact(p).zip(base).all(|(v, base)| {
            let row = self.global.near_mut(place, base, p * T::BYTES).filter(|_| aligned(base, T::BYTES));
            row.is_some_and(|s| {
                T::store_row(v, s);
                true
            })
        })
    }

    /// The memory from an address on that can be written, if it is aligned for a `T`.
    #[inline(always)]
    fn behind<T: Word>(&mut self, space: AddrSpace, base: u64) -> Option<&mut [u8]> {
        let (memory, at) = self.memory_mut(space, base).filter(|_| aligned(base, T::BYTES))?;
        memory.get_mut(at..)
    }

    #[inline(always)]
    fn store_own_rows<T: Word, const NB: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if m != u32::MAX {
            return self.store_some_rows(space, m, base, &copied(*v));
        }
        let p = 32 / NB;
        for (j, v) in v.chunks_exact(p).enumerate() {
            let Some(s) = self.behind::<T>(space, base[j]).and_then(|s| part_mut(s, 0, p * T::BYTES)) else {
                return false;
            };
            T::store_row(v, s);
        }
        true
    }

    /// The same for some lanes.
    #[inline(always)]
    fn store_some_rows<T: Word, const NB: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        let (p, level) = (32 / NB, self.level);
        for (j, v) in v.chunks_exact(p).enumerate() {
            let Some(memory) = self.behind::<T>(space, base[j]) else { return false };
            if !T::store_some(level, memory, m >> (j * p), v) {
                return false;
            }
        }
        true
    }

    /// Any addresses, an array of elements each, lane after lane. What has been stored when it fails is stored again.
    #[inline(always)]
    pub fn scatter<T: Word, const D: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: [&[T; 32]; D],
    ) -> bool {
        if M::ON || m == 0 {
            return m == 0;
        }
        let (level, first) = (self.level, addr[m.trailing_zeros() as usize & 31]);
        let Some((memory, at)) = self.memory_mut(space, first) else { return false };
        let base = first.wrapping_sub(at as u64);
        match v[..] {
            [v] => T::scatter(level, memory, base, first, m, addr, v),
            _ => T::scatter_vectors(memory, base, m, addr, &v),
        }
    }

    /// `D` consecutive elements for one lane. `place` is as for [`Self::stretch`].
    #[inline(always)]
    pub fn load_one<T: Word, const D: usize>(&self, place: usize, space: AddrSpace, addr: u64) -> Option<[T; D]> {
        let n = T::BYTES * D;
        if M::ON {
            return None;
        }
        if space != AddrSpace::Global {
            let (memory, at) = self.memory(space, addr)?;
            return part(memory, at, n).filter(|_| aligned(addr, n)).map(elements);
        }
        match self.global.near(place, addr, n).filter(|_| aligned(addr, n)) {
            Some(s) => Some(elements(s)),
            None => self.far_load_one(place, addr),
        }
    }

    #[inline(never)]
    fn far_load_one<T: Word, const D: usize>(&self, place: usize, addr: u64) -> Option<[T; D]> {
        let n = T::BYTES * D;
        self.global.come_to(place, addr);
        self.global.near(place, addr, n).filter(|_| aligned(addr, n)).map(elements)
    }

    /// The same to memory.
    #[inline(always)]
    pub fn store_one<T: Word, const D: usize>(&mut self, place: usize, space: AddrSpace, addr: u64, v: [T; D]) -> bool {
        self.change_one(place, space, addr, T::BYTES * D, |s| {
            v.iter().zip(s.chunks_exact_mut(T::BYTES)).for_each(|(v, s)| v.store(s));
        })
    }

    /// `red.add` of one lane.
    #[inline(always)]
    pub fn add_one<T: Word>(&mut self, place: usize, space: AddrSpace, addr: u64, v: T) -> bool {
        self.change_one(place, space, addr, T::BYTES, |s| T::load(s).plus(v).store(s))
    }

    /// Changes `n` bytes, if they are there.
    #[inline(always)]
    fn change_one(
        &mut self,
        place: usize,
        space: AddrSpace,
        addr: u64,
        n: usize,
        change: impl FnOnce(&mut [u8]),
    ) -> bool {
        let bytes = if space != AddrSpace::Global {
            self.memory_mut(space, addr).and_then(|(memory, at)| part_mut(memory, at, n))
        } else if M::ON || self.probing {
            None
        } else {
            if !self.global.is_near(place, addr) {
                self.global.come_to(place, addr);
            }
            self.global.near_mut(place, addr, n)
        };
        bytes.filter(|_| aligned(addr, n)).map(change).is_some()
    }

    /// `red.add` and `atom.add` of 32 or 64 bits, lane after lane; gives the lanes that are left when something is not right.
    #[inline(always)]
    pub fn add_lanes<T: Word>(
        &mut self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: &[T; 32],
        old: Option<&mut [T; 32]>,
    ) -> u32 {
        if M::ON || m == 0 {
            return m;
        }
        let (level, first) = (self.level, addr[m.trailing_zeros() as usize & 31]);
        let Some((memory, at)) = self.memory_mut(space, first) else { return m };
        T::add(level, memory, first.wrapping_sub(at as u64), m, addr, v, old)
    }
}
