//! Accesses of a whole warp at once: rows of consecutive elements, and lane by lane without a function call. Each of these
//! says `false` (or leaves lanes over) where something is not plainly right; the general way, which reports it, comes next.

use crate::lanes::Word;
use crate::machine::Ctx;
use crate::mem::address::{AddrSpace, RANK_SHIFT, SEGMENT_SHIFT, SHARED, WINDOW_SHIFT};
use crate::mem::ahead::ahead;
use crate::mem::range::{aligned, part_mut, row};
use crate::{Lanes, Monitor};

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
            _ => None,
        }
    }

    #[inline(always)]
    fn own_shared(&self) -> &[u8] {
        &self.shared
    }

    #[inline(always)]
    fn own_shared_mut(&mut self) -> &mut [u8] {
        &mut self.shared
    }

    /// The bytes from an address on in each row, to load elements from, if all of them are there.
    #[inline(always)]
    pub fn stretch<T: Word, const NB: usize, const LEN: usize>(
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
            if may_be_in_common(space) && LEN >= 64 {
                ahead(memory, at, LEN);
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
            _ => false,
        }
    }

    /// Rows of consecutive elements.
    #[inline(always)]
    pub fn store_rows<T: Word, const NB: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        self.store_own_rows(space, m, base, v)
            || may_be_in_common(space) && self.store_rows_in_common(space, m, base, v)
    }

    #[inline(always)]
    fn store_own_rows<T: Word, const NB: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        let (p, level) = (32 / NB, self.level);
        for (j, v) in v.chunks_exact(p).enumerate() {
            let lanes = m >> (j * p);
            let Some((memory, at)) = self.memory_mut(space, base[j]) else { return false };
            if !aligned(base[j], T::BYTES) {
                return false;
            }
            if m == u32::MAX {
                let Some(s) = part_mut(memory, at, p * T::BYTES) else { return false };
                T::store_row(v, s);
            } else {
                let Some(memory) = memory.get_mut(at..) else { return false };
                if !T::store_some(level, memory, lanes, v) {
                    return false;
                }
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
