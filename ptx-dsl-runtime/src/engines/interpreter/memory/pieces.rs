//! Accesses at affine addresses by all lanes of a cohort: one check, then copies of pieces of lanes in which `%tid.x` counts up.

use super::super::op::{Op, Operand};
use super::super::registers::{AffineLine, Registers, Row, Scalar};
use super::super::runner::Runner;
use super::access::{AccessKind, MemoryAccess};
use super::concurrent;
use super::scattered::{narrow, put};
use crate::memory::address::AddrSpace;
use crate::memory::prefetch::{DISTANCE, prefetch};
use crate::numerics::lanes::Word;
use crate::numerics::simd::InstructionSet;
use crate::observe::probe;
use ptx_dsl_isa::image::Register;
use std::cell::Cell;
use std::ops::Range;

/// The addresses at which the lanes of a cohort access memory, in pieces of equal stride.
#[derive(Clone, Copy)]
pub(super) struct LanePieces {
    /// The lowest address, and the number of bytes up to the end of the highest element.
    pub low: u64,
    pub len: usize,
    /// The address of the first lane, from `low` on.
    pub first: usize,
    /// The stride between the lanes of a piece: the size of an element, or 0.
    pub step: usize,
    /// Lanes of a piece: 8, 16 or 32.
    pub lanes: usize,
    /// The stride between pieces: at the next piece, the next row of threads begins, or the same row goes on.
    pub next: Next,
}

#[derive(Clone, Copy)]
pub(super) enum Next {
    /// A constant stride.
    Distance(isize),
    /// Strides within a row of threads and to the next row, which has this number of warps; and the place of the first warp in its
    /// row.
    Rows { warps: usize, within: isize, row: isize, at: usize },
}

impl LanePieces {
    /// The accesses of the first threads of the cohort, at affine addresses. `None` if they do not access consecutive elements, or one
    /// element, in pieces.
    #[inline(always)]
    pub fn new(r: &Runner<'_, '_>, &(base, x, y): &AffineLine, bytes: u32, count: usize) -> Option<LanePieces> {
        let size = i64::from(bytes);
        if (x != size && x != 0) || (base | x as u64 | y as u64) & (u64::from(bytes) - 1) != 0 {
            return None;
        }
        let (threads, nx) = (r.x.geometry.threads as usize, r.registers.shape.0 as usize);
        // addresses are far from the ends of 64 bits, and so are these sums
        const FAR: u64 = 1 << 60;
        if base >= FAR || x.unsigned_abs() >= 1 << 32 || y.unsigned_abs() >= 1 << 32 {
            return None;
        }
        let (base, first, last) = (base as i64, (r.lo * 32) as i64, (r.lo * 32 + count - 1) as i64);
        let (lanes, next, at, low, high);
        // one row of threads, or rows that follow each other
        if nx >= threads || x != 0 && y == x * nx as i64 {
            (lanes, next) = (32, Next::Distance(32 * x as isize));
            (at, low, high) = (base + x * first, base + x * first, base + x * last);
        } else if !count.is_multiple_of(32) {
            return None;
        } else {
            let row_of = |t: i64| if nx.is_power_of_two() { t >> nx.trailing_zeros() } else { t / nx as i64 };
            let (top, bottom) = (row_of(first), row_of(last));
            (lanes, next) = if nx.is_multiple_of(32) {
                let (within, row) = (32 * x as isize, y as isize - (nx as isize - 32) * x as isize);
                (32, Next::Rows { warps: nx / 32, within, row, at: r.lo })
            } else if nx == 16 || nx == 8 {
                (nx, Next::Distance(y as isize))
            } else {
                return None;
            };
            at = base + x * (first - top * nx as i64) + y * top;
            // an affine function has its extremes at the corners of the rows that the threads are in
            let (left, right) =
                if top == bottom { (first - top * nx as i64, last - top * nx as i64) } else { (0, nx as i64 - 1) };
            let (a, b) = (y * top, y * bottom);
            (low, high) = (base + x * left + a.min(b), base + x * right + a.max(b));
        }
        let len = usize::try_from(high - low).ok()? + bytes as usize;
        Some(LanePieces {
            low: u64::try_from(low).ok()?,
            len,
            first: (at - low) as usize,
            step: x as usize,
            lanes,
            next,
        })
    }

    /// LanePieces of a warp.
    #[inline(always)]
    fn per_warp(&self) -> usize {
        32 >> self.lanes.trailing_zeros()
    }

    /// The warp of a piece, and its first lane.
    #[inline(always)]
    fn part(&self, i: usize) -> (usize, usize) {
        let thread = i * self.lanes;
        (thread / 32, thread % 32)
    }

    /// Do all elements follow each other?
    #[inline(always)]
    fn is_block(&self) -> bool {
        self.step != 0 && matches!(self.next, Next::Distance(d) if d == (32 * self.step) as isize) && self.lanes == 32
    }

    /// Tells the monitor of the accesses of the first threads, whose memory is checked. Only those of a block end within a warp.
    fn report_threads(&self, r: &mut Runner<'_, '_>, access: &MemoryAccess, write: bool, count: usize) -> bool {
        let (warps, rest) = (count / 32, count % 32);
        if warps != 0 && !self.report(r, access, write, warps) {
            return false;
        }
        r.x.warp = (r.lo + warps) as u32;
        let addr = self.low + (self.first + 32 * warps * self.step) as u64;
        rest == 0 || r.x.report().row(access.space, addr, (access.bytes, self.step as u32, write), (1 << rest) - 1)
    }

    /// The accesses of whole warps for monitors, if the pieces are at one distance.
    pub fn even(&self, warps: usize) -> Option<probe::Pieces> {
        let distance = match self.next {
            Next::Distance(distance) => distance,
            // within one row of threads
            Next::Rows { warps: of_row, within, at, .. } if at % of_row + warps <= of_row => within,
            Next::Rows { warps: 1, row, .. } => row,
            Next::Rows { .. } => return None,
        };
        let (count, lanes) = ((warps * self.per_warp()) as u32, self.lanes as u32);
        Some(probe::Pieces { count, lanes, step: self.step as u32, distance: distance as i64 })
    }

    /// Tells the monitor of the accesses of whole warps.
    pub fn report(&self, r: &mut Runner<'_, '_>, access: &MemoryAccess, write: bool, warps: usize) -> bool {
        let (lo, per_warp) = (r.lo, self.per_warp());
        if let Some(pieces) = self.even(warps)
            && r.x.report().pieces(access.space, self.low + self.first as u64, (access.bytes, write), lo, &pieces)
        {
            return true;
        }
        let lanes = u32::MAX >> (32 - self.lanes);
        let mut content = true;
        self.each(lo, warps * per_warp, |i, at| {
            let (k, part) = self.part(i);
            r.x.warp = (lo + k) as u32;
            let (addr, lanes) = (self.low + at as u64, lanes << part);
            content &= r.x.report().row(access.space, addr, (access.bytes, self.step as u32, write), lanes);
        });
        content
    }

    /// Calls `f` with the place of each piece.
    #[inline(always)]
    fn each(&self, lo: usize, count: usize, mut f: impl FnMut(usize, usize)) {
        let mut at = self.first as isize;
        for i in 0..count {
            f(i, at as usize);
            at += match self.next {
                Next::Distance(d) => d,
                Next::Rows { warps, within, row, .. } => {
                    if (lo + i + 1).is_multiple_of(warps) {
                        row
                    } else {
                        within
                    }
                }
            };
        }
    }
}

/// An access compiled for one instruction set and one size of elements. Only [`find`] takes one.
pub(in super::super) struct Pieced(unsafe fn(&mut Runner<'_, '_>, &Op, &MemoryAccess, &AffineLine, usize) -> bool);

/// The wrappers for one instruction set.
macro_rules! level {
    ($(#[$attribute:meta])* $module:ident) => {
        mod $module {
            use super::*;

            $(#[$attribute])*
            pub fn load<T: Word>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: &AffineLine, count: usize) -> bool {
                load_elements::<T>(r, op, access, at, count)
            }

            $(#[$attribute])*
            pub fn store<T: Word>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: &AffineLine, count: usize) -> bool {
                store_elements::<T>(r, op, access, at, count)
            }

            pub fn find(stores: bool, bytes: u32) -> Pieced {
                Pieced(match (stores, bytes) {
                    (false, 1) => load::<u8>,
                    (false, 2) => load::<u16>,
                    (false, 4) => load::<u32>,
                    (false, _) => load::<u64>,
                    (true, 1) => store::<u8>,
                    (true, 2) => store::<u16>,
                    (true, 4) => store::<u32>,
                    (true, _) => store::<u64>,
                })
            }
                    }
    };
}
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512
);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    avx2
);
#[cfg(not(target_arch = "x86_64"))]
level!(base);

impl Pieced {
    /// The function for an access on this processor, if there are loops for it.
    pub fn find(access: &MemoryAccess, set: InstructionSet) -> Option<Pieced> {
        let (store, bytes) = (access.kind == AccessKind::Store, access.bytes);
        Some(match set {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            InstructionSet::Avx512 => avx512::find(store, bytes),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => avx2::find(store, bytes),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Base => return None,
            #[cfg(not(target_arch = "x86_64"))]
            InstructionSet::Base => base::find(store, bytes),
        })
    }

    /// The first `count` threads of the cohort load or store. False, with nothing done, if a check fails.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn run(&self, r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: &AffineLine, count: usize) -> bool {
        // SAFETY: `find` has taken the function for the instruction set of this processor.
        unsafe { (self.0)(r, op, access, at, count) }
    }
}

/// The first `count` threads of the cohort load.
#[inline(always)]
fn load_elements<T: Word>(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    address: &AffineLine,
    count: usize,
) -> bool {
    let Some(pieces) = LanePieces::new(r, address, access.bytes, count) else { return false };
    let Some(register) = op.results[0] else { return false };
    let slot = r.registers.slot(register);
    let same = slot.bits == 8 * access.bytes && T::BYTES >= 4;
    if !(count.is_multiple_of(32) || same && pieces.is_block()) {
        return false;
    }
    if r.x.monitor.is_on() {
        let inside = r.x.loads().bytes_at(access.cache, access.space, pieces.low, pieces.len).is_some();
        if !inside || !pieces.report_threads(r, access, false, count) {
            return false;
        }
    }
    if same
        && pieces.is_block()
        && let Some(shared) = r.x.loads().shared_by_threads(access.space, pieces.low, T::BYTES, pieces.len)
    {
        let rows = slot.index as usize * r.registers.warps + r.lo;
        if !r.all {
            rows_of_all(r.registers, register, r.lo..r.lo + r.n);
        }
        if T::BYTES == 4 {
            concurrent::load::<u32>(shared, &mut r.registers.words[rows..]);
        } else {
            concurrent::load::<u64>(shared, &mut r.registers.longs[rows..]);
        }
        r.registers.set_scalar(r.lo, register, Scalar::Rows);
        return true;
    }
    let Some(memory) = r.x.loads().bytes_at(access.cache, access.space, pieces.low, pieces.len) else { return false };
    if access.space == AddrSpace::Global && pieces.len <= DISTANCE {
        prefetch(memory.as_ptr(), pieces.len, DISTANCE);
    }
    if !r.all {
        rows_of_all(r.registers, register, r.lo..r.lo + r.n);
    }
    let rows = slot.index as usize * r.registers.warps + r.lo;
    let rows = rows..rows + count.div_ceil(32);
    if T::BYTES == 4 && same {
        copy_in::<u32>(&pieces, memory, &mut r.registers.words[rows], count);
    } else if T::BYTES == 8 && same {
        copy_in::<u64>(&pieces, memory, &mut r.registers.longs[rows], count);
    } else {
        let mut row = [T::default(); 32];
        pieces.each(r.lo, rows.len() * pieces.per_warp(), |i, at| {
            let (k, part) = pieces.part(i);
            for l in 0..pieces.lanes {
                row[part + l] = element(memory, at + l * pieces.step);
            }
            if part + pieces.lanes == 32 {
                put(r, register, k, &row, access);
            }
        });
    }
    r.registers.set_scalar(r.lo, register, Scalar::Rows);
    true
}

/// Gives a register rows with its values in these warps.
fn rows_of_all(registers: &Registers, register: Register, warps: Range<usize>) {
    let scalar = registers.scalar(warps.start, register);
    if scalar != Scalar::Rows {
        warps.for_each(|w| registers.spread(scalar, register, w));
    }
}

#[inline(always)]
pub(super) fn element<T: Word>(memory: &[u8], at: usize) -> T {
    memory.get(at..at + T::BYTES).map_or(T::default(), T::load)
}

/// Copies elements to the first `count` lanes of rows.
#[inline(always)]
fn copy_in<T: Word>(pieces: &LanePieces, memory: &[u8], rows: &mut [Cell<Row<T>>], count: usize) {
    if pieces.is_block() {
        let (whole, rest) = rows.split_at_mut(count / 32);
        let bytes = memory.get(..count * T::BYTES).unwrap_or_default();
        let mut bytes = bytes.chunks_exact(32 * T::BYTES);
        for (row, bytes) in whole.iter_mut().zip(&mut bytes) {
            T::load_row(bytes, &mut row.get_mut().0);
        }
        if let [row] = rest {
            T::load_row(bytes.remainder(), &mut row.get_mut().0[..count % 32]);
        }
        return;
    }
    match (pieces.lanes, pieces.step) {
        (32, 0) => join::<T, 32>(pieces, rows, |at, to| *to = [element(memory, at); 32]),
        (32, _) => join::<T, 32>(pieces, rows, |at, to| elements(memory, at, to)),
        (16, 0) => join::<T, 16>(pieces, rows, |at, to| *to = [element(memory, at); 16]),
        (16, _) => join::<T, 16>(pieces, rows, |at, to| elements(memory, at, to)),
        (_, 0) => join::<T, 8>(pieces, rows, |at, to| *to = [element(memory, at); 8]),
        (_, _) => join::<T, 8>(pieces, rows, |at, to| elements(memory, at, to)),
    }
}

/// Sets rows of pieces of `P` lanes.
#[inline(always)]
fn join<T: Word, const P: usize>(pieces: &LanePieces, rows: &mut [Cell<Row<T>>], piece: impl Fn(usize, &mut [T; P])) {
    let mut at = pieces.first as isize;
    match pieces.next {
        Next::Distance(distance) => {
            for row in rows {
                for to in row.get_mut().0.as_chunks_mut::<P>().0 {
                    piece(at as usize, to);
                    at += distance;
                }
            }
        }
        Next::Rows { warps, within, row: next, at: mut warp } => {
            for row in rows {
                row.get_mut().0.as_chunks_mut::<P>().0.iter_mut().for_each(|to| piece(at as usize, to));
                warp += 1;
                at += if warp.is_multiple_of(warps) { next } else { within };
            }
        }
    }
}

#[inline(always)]
fn elements<T: Word, const P: usize>(memory: &[u8], at: usize, to: &mut [T; P]) {
    if let Some(bytes) = memory.get(at..at + P * T::BYTES) {
        T::load_row(bytes, to);
    }
}

/// The first `count` threads of the cohort store.
#[inline(always)]
fn store_elements<T: Word>(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    address: &AffineLine,
    count: usize,
) -> bool {
    let Some(pieces) = LanePieces::new(r, address, access.bytes, count) else { return false };
    // lanes that store to one place do so in order
    if pieces.step == 0 || !count.is_multiple_of(32) && !pieces.is_block() {
        return false;
    }
    let (lo, n) = (r.lo, count.div_ceil(32));
    if r.x.monitor.is_on() {
        let inside = r.x.stores().bytes_at_mut(access.cache, access.space, pieces.low, pieces.len).is_some();
        if !inside || !pieces.report_threads(r, access, true, count) {
            return false;
        }
    }
    let (value, registers) = (r.scalar_operand(&op.sources[1]), &mut *r.registers);
    let rows = match (&op.sources[1], value) {
        (_, Some(Scalar::Uniform(v))) => Values::Uniform(T::narrow(v)),
        (Operand::Register(register), None) => Values::Rows(*register),
        (Operand::Register(register), Some(affine)) => Values::Affine(*register, affine),
        _ => return false,
    };
    if pieces.is_block()
        && !r.x.scheduling.probing
        && let Some(shared) = r.x.loads().shared_by_threads(access.space, pieces.low, T::BYTES, pieces.len)
    {
        for (k, bytes) in shared.chunks(32 * T::BYTES).enumerate() {
            concurrent::store(&rows.of(registers, lo + k), bytes);
        }
        return true;
    }
    let Some(memory) = r.x.stores().bytes_at_mut(access.cache, access.space, pieces.low, pieces.len) else {
        return false;
    };
    if !pieces.is_block() {
        let mut row = [T::default(); 32];
        pieces.each(lo, n * pieces.per_warp(), |i, at| {
            let (k, part) = pieces.part(i);
            if part == 0 {
                row = rows.of(registers, lo + k);
            }
            if let Some(bytes) = memory.get_mut(at..at + pieces.lanes * T::BYTES) {
                T::store_row(&row[part..part + pieces.lanes], bytes);
            }
        });
        return true;
    }
    if let Values::Rows(register) = rows
        && registers.slot(register).bits == 32
        && T::BYTES == 4
    {
        let from = registers.row(register, lo);
        copy_out::<u32>(&mut registers.words[from..from + n], memory);
        return true;
    }
    for (k, bytes) in memory.chunks_mut(32 * T::BYTES).enumerate() {
        let row = rows.of(registers, lo + k);
        T::store_row(&row[..bytes.len() / T::BYTES], bytes);
    }
    true
}

/// Copies the first lanes of rows to elements that follow each other.
#[inline(always)]
fn copy_out<T: Word>(rows: &mut [Cell<Row<T>>], memory: &mut [u8]) {
    let (whole, rest) = rows.split_at_mut(memory.len() / (32 * T::BYTES));
    let mut bytes = memory.chunks_exact_mut(32 * T::BYTES);
    for (row, bytes) in whole.iter_mut().zip(&mut bytes) {
        T::store_row(&row.get_mut().0, bytes);
    }
    let bytes = bytes.into_remainder();
    if let [row] = rest {
        T::store_row(&row.get_mut().0[..bytes.len() / T::BYTES], bytes);
    }
}

/// The values of a store.
enum Values<T> {
    Uniform(T),
    Rows(Register),
    Affine(Register, Scalar),
}

impl<T: Word> Values<T> {
    /// The values of a warp.
    #[inline(always)]
    fn of(&self, registers: &Registers, w: usize) -> [T; 32] {
        match *self {
            Values::Uniform(v) => [v; 32],
            Values::Rows(r) => {
                let slot = registers.slot(r);
                let at = slot.index as usize * registers.warps + w;
                match slot.bits {
                    64 => narrow(&registers.longs[at].get().0, T::narrow),
                    _ => narrow(&registers.words[at].get().0, |v| T::narrow(v.into())),
                }
            }
            Values::Affine(r, affine) => match registers.slot(r).bits {
                64 => narrow(&registers.affine_longs(affine, w).0, T::narrow),
                _ => narrow(&registers.affine_words(affine, w).0, |v| T::narrow(v.into())),
            },
        }
    }
}
