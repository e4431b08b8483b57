//! Accesses at a base, which is the same in all lanes, and an index in each lane. No register holds their addresses.

use super::super::op::{Op, Operand};
use super::super::registers::Row;
use super::super::runner::{Masks, Runner};
use super::super::value::Value;
use super::access::{AccessKind, MemoryAccess};
use super::scattered::{narrow, put};
use super::telling;
use crate::memory::indexed::{ElementsMut, IndexedElements};
use crate::numerics::lanes::{LANE, Word};
use crate::numerics::simd::dispatch;
use ptx_dsl_isa::image::{Guard, Register};
use std::cell::Cell;

/// An address: `base + offset + scale * index`. Where that wraps around, the access does not run.
#[derive(Clone, Copy)]
pub(in super::super) struct Indexed {
    /// A register of 32 bits.
    pub index: Register,
    /// The base, which is the same in all lanes.
    pub base: Value,
    pub offset: i64,
    pub scale: u32,
    /// The bits of an address register.
    pub low: u64,
}

impl MemoryAccess {
    /// Whether the access can run at an index, with the current registers.
    pub fn is_indexed(&self, r: &Runner<'_, '_>, op: &Op, scale: u32) -> bool {
        let plain = match self.kind {
            AccessKind::Load => op.guard.is_none() && op.results[0].is_some(),
            AccessKind::Store => Stored::of(r, &op.sources[1]).is_some(),
            AccessKind::Add => {
                let counts = self.bytes >= 4 && op.results.iter().all(Option::is_none);
                counts && Stored::of(r, &op.sources[1]).is_some()
            }
        };
        plain && self.count == 1 && scale.is_multiple_of(self.bytes) && !self.is_local() && !op.is_watched()
    }
}

impl Indexed {
    /// Runs an access. False, with nothing done, if a lane is outside, or if there is more to it.
    #[inline]
    pub fn run(&self, r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess) -> bool {
        if r.x.monitor.is_on() && !self.is_unseen(r, access) {
            return false;
        }
        telling(r, |r| self.run_elements(r, op, access))
    }

    #[inline(always)]
    fn run_elements(&self, r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess) -> bool {
        macro_rules! of {
            ($t:ty) => {
                dispatch!(r.x.set, run::<$t>, (
                    r: &mut Runner<'_, '_> = r, op: &Op = op, access: &MemoryAccess = access, address: &Indexed = self
                ) -> bool)
            };
        }
        match access.bytes {
            1 => of!(u8),
            2 => of!(u16),
            4 => of!(u32),
            _ => of!(u64),
        }
    }

    /// The address of index 0.
    #[inline(always)]
    fn first(&self, r: &Runner<'_, '_>) -> u64 {
        self.base.uniform(r).wrapping_add_signed(self.offset) & self.low
    }

    /// Whether the monitor would not see the access.
    fn is_unseen(&self, r: &Runner<'_, '_>, access: &MemoryAccess) -> bool {
        access.kind == AccessKind::Load && r.x.loads().loads_unseen(access.space, self.first(r))
    }
}

/// The lanes in which an instruction with a guard takes effect. No lane is guarded before it.
fn guarded(r: &Runner<'_, '_>, guard: Guard) -> Masks {
    let mut masks = [0; 32];
    for (k, (to, m)) in masks.iter_mut().zip(&r.masks[..r.n]).enumerate() {
        let p = r.registers.mask(r.lo, guard.register, r.lo + k);
        *to = m & if guard.holds { p } else { !p };
    }
    masks
}

/// Are the indices of these lanes at most the last one?
#[inline(always)]
fn within(rows: &[Cell<Row<u32>>], masks: &[u32], last: u32) -> bool {
    let mut most = [0; 32];
    for (row, m) in rows.iter().zip(masks) {
        if *m != 0 {
            let row = row.get();
            for ((most, v), bit) in most.iter_mut().zip(&row.0).zip(LANE) {
                *most = (*most).max(if m & bit != 0 { *v } else { 0 });
            }
        }
    }
    most.iter().fold(0, |most, v| most.max(*v)) <= last
}

#[inline(always)]
fn run<T: Word>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, address: &Indexed) -> bool {
    let base = address.first(r);
    if base & (T::BYTES as u64 - 1) != 0 {
        return false;
    }
    match access.kind {
        AccessKind::Load => load::<T>(r, op, access, address, base),
        AccessKind::Store => change::<T>(r, op, access, address, base, |_, v| v),
        AccessKind::Add if T::BYTES >= 4 => change::<T>(r, op, access, address, base, T::plus),
        AccessKind::Add => false,
    }
}

/// Below this number of active lanes, each lane accesses its element separately.
const FEW: u32 = 4;

#[inline(always)]
fn load<T: Word>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, address: &Indexed, base: u64) -> bool {
    let (Some(register), index) = (op.results[0], r.registers.row(address.index, r.lo)) else { return false };
    // no closures: one that is not inlined has no vectors of 512 bits
    let Some(memory) = r.x.loads().memory_from(access.cache, access.space, base) else { return false };
    let Some(elements) = IndexedElements::<T>::new(memory, address.scale) else { return false };
    if !within(&r.registers.words[index..index + r.n], &r.masks, elements.last()) {
        return false;
    }
    r.rows_for(register);
    let Some(memory) = r.x.loads().memory_from(access.cache, access.space, base) else { return false };
    let Some(elements) = IndexedElements::<T>::new(memory, address.scale) else { return false };
    let words = T::BYTES == 4 && r.registers.slot(register).bits == 32;
    let to = r.registers.row(register, r.lo);
    for k in 0..r.n {
        let mut m = r.masks[k];
        if m == 0 {
            continue;
        }
        if words && m.count_ones() < FEW {
            while m != 0 {
                let l = m.trailing_zeros() as usize & 31;
                let v = elements.load(r.registers.words[index + k].get_mut().0[l]);
                r.registers.words[to + k].get_mut().0[l] = v.widen() as u32;
                m &= m - 1;
            }
            continue;
        }
        let mut out = [T::default(); 32];
        elements.load_row(&r.registers.words[index + k].get_mut().0, &mut out);
        put(r, register, k, &out, access);
    }
    true
}

/// The values that lanes store: one value, or the rows of a register from a place on.
#[derive(Clone, Copy)]
enum Stored {
    One(u64),
    Words(usize),
    Longs(usize),
}

impl Stored {
    #[inline(always)]
    fn of(r: &Runner<'_, '_>, o: &Operand) -> Option<Stored> {
        if let Operand::Register(register) = o
            && r.registers.is_rows(r.lo, *register)
        {
            let row = r.registers.row(*register, r.lo);
            return match r.registers.slot(*register).bits {
                1 => None,
                64 => Some(Stored::Longs(row)),
                _ => Some(Stored::Words(row)),
            };
        }
        r.uniform(o).map(Stored::One)
    }
}

#[inline(always)]
fn change<T: Word>(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    address: &Indexed,
    base: u64,
    change: impl Fn(T, T) -> T,
) -> bool {
    let (n, index) = (r.n, r.registers.row(address.index, r.lo));
    let guarded = op.guard.map(|guard| guarded(r, guard));
    if guarded.is_some_and(|masks| masks[..n].iter().all(|m| *m == 0)) {
        return true;
    }
    let Some(stored) = Stored::of(r, &op.sources[1]) else { return false };
    let Some(memory) = r.x.stores().memory_from_mut(access.cache, access.space, base) else { return false };
    let Some(mut elements) = ElementsMut::<T>::new(memory, address.scale) else { return false };
    let (words, longs) = (&mut r.registers.words, &mut r.registers.longs);
    let masks = &guarded.as_ref().unwrap_or(&r.masks)[..n];
    if !within(&words[index..index + n], masks, elements.last()) {
        return false;
    }
    for (k, m) in masks.iter().enumerate() {
        let mut m = *m;
        if m == 0 {
            continue;
        }
        if m.count_ones() < FEW {
            while m != 0 {
                let l = m.trailing_zeros() as usize & 31;
                let v = match stored {
                    Stored::One(v) => v,
                    Stored::Words(row) => words[row + k].get_mut().0[l].into(),
                    Stored::Longs(row) => longs[row + k].get_mut().0[l],
                };
                elements.change(words[index + k].get_mut().0[l], |was| change(was, T::narrow(v)));
                m &= m - 1;
            }
            continue;
        }
        let v = match stored {
            Stored::One(v) => {
                let v = T::narrow(v);
                elements.change_row(&words[index + k].get_mut().0, m, |_, was| change(was, v));
                continue;
            }
            Stored::Words(row) => narrow(&words[row + k].get().0, |v| T::narrow(v.into())),
            Stored::Longs(row) => narrow(&longs[row + k].get().0, T::narrow),
        };
        elements.change_row(&words[index + k].get_mut().0, m, |l, was| change(was, v[l]));
    }
    true
}
