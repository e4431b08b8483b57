//! Accesses to global memory that several threads have in common. Emitted code first looks for the memory where one thread has
//! it to itself, finds nothing there, and comes here; as there, `false` leaves it to the general way.

use std::sync::atomic::AtomicU8;

use crate::fault::Fault;
use crate::lanes::Word;
use crate::machine::Ctx;
use crate::machine::span::ONE_ROW;
use crate::mem::address::{AddrSpace, Place, SEGMENT_SHIFT, WINDOW_SHIFT, resolve};
use crate::mem::ahead::{DISTANCE, ahead};
use crate::mem::common;
use crate::monitor::{Access, Monitor};
use crate::{Lanes, lanes};

impl<M: Monitor> Ctx<'_, M> {
    /// The bytes at `addr`, if they are of this memory.
    #[inline(always)]
    fn in_common(&self, space: AddrSpace, addr: u64, align: usize, bytes: usize) -> Option<&[AtomicU8]> {
        let global = matches!(space, AddrSpace::Global | AddrSpace::Generic) && addr >> WINDOW_SHIFT == 0;
        if M::ON || !global || addr & (align as u64 - 1) != 0 {
            return None;
        }
        self.global.common((addr >> SEGMENT_SHIFT) as usize, addr & ((1 << SEGMENT_SHIFT) - 1), bytes)
    }

    /// The bytes from an address on in each row.
    pub(crate) fn stretch_in_common<T: Word, const NB: usize, const LEN: usize>(
        &self,
        space: AddrSpace,
        base: [u64; NB],
        stretch: &mut [[u8; LEN]; NB],
    ) -> bool {
        if !self.global.in_common() {
            return false;
        }
        for (to, base) in stretch.iter_mut().zip(base) {
            let Some(s) = self.in_common(space, base, T::BYTES, LEN) else { return false };
            ahead(s.as_ptr().cast(), LEN.min(ONE_ROW), DISTANCE);
            common::copy_in(s, to);
        }
        true
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn load_rows_in_common<T: Word, const NB: usize>(
        &self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        out: &mut [T; 32],
    ) -> bool {
        let p = 32 / NB;
        for (j, out) in out.chunks_exact_mut(p).enumerate() {
            let Some(s) = self.in_common(space, base[j], T::BYTES, p * T::BYTES) else { return false };
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

    #[cold]
    #[inline(never)]
    pub(crate) fn store_rows_in_common<T: Word, const NB: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        base: [u64; NB],
        v: &[T; 32],
    ) -> bool {
        if self.probing {
            return false;
        }
        let p = 32 / NB;
        for (j, v) in v.chunks_exact(p).enumerate() {
            if m == u32::MAX {
                let Some(s) = self.in_common(space, base[j], T::BYTES, p * T::BYTES) else { return false };
                store_row(v, s);
                continue;
            }
            // what the other lanes would store is not theirs to write, not even as it was
            for (l, v) in v.iter().enumerate().filter(|(l, _)| m >> (j * p + l) & 1 != 0) {
                let addr = base[j].wrapping_add((l * T::BYTES) as u64);
                let Some(s) = self.in_common(space, addr, T::BYTES, T::BYTES) else { return false };
                common::store(s, v.widen());
            }
        }
        true
    }

    /// Any addresses, `D` consecutive elements each.
    pub(crate) fn load_lanes_in_common<T: Word, const D: usize>(
        &self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        out: &mut [&mut [T; 32]; D],
    ) -> bool {
        if !self.global.in_common() {
            return false;
        }
        if let [out] = &mut out[..]
            && m == u32::MAX
            && is_rows(addr, T::BYTES as u64)
            && self.load_rows_in_common(space, m, [addr[0], addr[16]], out)
        {
            return true;
        }
        let mut ok = true;
        lanes(m, |l| match self.in_common(space, addr[l], T::BYTES * D, T::BYTES * D) {
            Some(s) => {
                for (i, s) in s.chunks_exact(T::BYTES).enumerate() {
                    out[i][l] = T::narrow(common::load(s));
                }
            }
            None => ok = false,
        });
        ok
    }

    /// `D` consecutive elements for one lane.
    pub(crate) fn load_one_in_common<T: Word, const D: usize>(&self, space: AddrSpace, addr: u64) -> Option<[T; D]> {
        let s = self.in_common(space, addr, T::BYTES * D, T::BYTES * D)?;
        let mut v = [T::default(); D];
        v.iter_mut().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| *v = T::narrow(common::load(s)));
        Some(v)
    }

    /// The same to memory.
    pub(crate) fn store_one_in_common<T: Word, const D: usize>(
        &mut self,
        space: AddrSpace,
        addr: u64,
        v: [T; D],
    ) -> bool {
        if self.probing {
            return false;
        }
        let Some(s) = self.in_common(space, addr, T::BYTES * D, T::BYTES * D) else { return false };
        v.iter().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| common::store(s, v.widen()));
        true
    }

    /// The same to memory, lane after lane. What has been stored when it fails is stored again.
    pub(crate) fn store_lanes_in_common<T: Word, const D: usize>(
        &mut self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: &[&[T; 32]; D],
    ) -> bool {
        if !self.global.in_common() || self.probing {
            return false;
        }
        if let [v] = &v[..]
            && m == u32::MAX
            && is_rows(addr, T::BYTES as u64)
            && self.store_rows_in_common(space, m, [addr[0], addr[16]], v)
        {
            return true;
        }
        let mut ok = true;
        lanes(m, |l| match self.in_common(space, addr[l], T::BYTES * D, T::BYTES * D) {
            Some(s) => {
                for (i, s) in s.chunks_exact(T::BYTES).enumerate() {
                    common::store(s, v[i][l].widen());
                }
            }
            None => ok = false,
        });
        ok
    }

    /// `red.add` and `atom.add` of 32 or 64 bits, lane after lane; gives the lanes that are left when something is not right.
    pub(crate) fn add_lanes_in_common<T: Word>(
        &mut self,
        space: AddrSpace,
        m: u32,
        addr: &Lanes,
        v: &[T; 32],
        mut old: impl FnMut(usize, u64),
    ) -> u32 {
        if !self.global.in_common() || self.probing {
            return m;
        }
        let mut rest = m;
        while rest != 0 {
            let l = rest.trailing_zeros() as usize;
            let Some(s) = self.in_common(space, addr[l], T::BYTES, T::BYTES) else { return rest };
            old(l, common::add(s, v[l].widen()));
            rest &= rest - 1;
        }
        0
    }

    /// Orders what this thread of the host has stored before what it loads from now on, for the other ones.
    #[inline]
    pub fn fence(&self) {
        if self.global.in_common() {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        }
    }

    /// Replaces `bytes` bytes by what `f` makes of them and gives what they were: in memory that threads have in common a step
    /// of its own for each element of `element` bytes. The address has to be aligned to `bytes`.
    pub fn update(
        &mut self,
        space: AddrSpace,
        addr: u64,
        bytes: u32,
        element: u32,
        lane: u32,
        f: impl Fn([u64; 4]) -> [u64; 4],
    ) -> Result<[u64; 4], Box<Fault>> {
        let old = self.read(space, addr, bytes, lane)?;
        if let Ok(place @ Place::Global { segment, offset }) = resolve(space, addr, self.cur.cta)
            && let Some(s) = self.global.common(segment, offset, bytes as usize)
        {
            if M::ON {
                let who = self.who(1 << lane);
                let access = Access { place, addr, bytes, write: true, agent: false, who };
                self.monitor.memory(access).map_err(|kind| self.fault(kind, lane))?;
            }
            let old = common::update(s, element as usize, &f);
            self.progress += (self.probing && f(old) != old) as u64;
            return Ok(old);
        }
        self.write(space, addr, bytes, f(old), lane)?;
        Ok(old)
    }
}

/// Two rows of 16 consecutive elements?
fn is_rows(addr: &Lanes, size: u64) -> bool {
    addr.chunks_exact(16).all(|row| (0..).zip(row).all(|(l, &a)| a == row[0].wrapping_add(l * size)))
}

#[inline(always)]
fn load_row<T: Word>(s: &[AtomicU8], to: &mut [T]) {
    if cfg!(target_endian = "little") {
        common::copy_in(s, bytemuck::cast_slice_mut(to));
    } else {
        to.iter_mut().zip(s.chunks_exact(T::BYTES)).for_each(|(to, s)| *to = T::narrow(common::load(s)));
    }
}

#[inline(always)]
fn store_row<T: Word>(v: &[T], s: &[AtomicU8]) {
    if cfg!(target_endian = "little") {
        common::copy_out(bytemuck::cast_slice(v), s);
    } else {
        v.iter().zip(s.chunks_exact(T::BYTES)).for_each(|(v, s)| common::store(s, v.widen()));
    }
}
