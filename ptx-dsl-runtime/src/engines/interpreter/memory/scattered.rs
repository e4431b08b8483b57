//! Accesses of each warp at any addresses.

use super::super::op::{Op, Operand, WarpFunction};
use super::super::registers::{Row, widened};
use super::super::runner::Runner;
use super::access::{AccessKind, MemoryAccess, extended};
use crate::engines::warp_access;
use crate::memory::scattered::Scattered;
use crate::memory::scattered::follow;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Word;
use crate::numerics::simd::InstructionSet;
use crate::observe::probe::Pieces;
use crate::semantics::Done;
use ptx_dsl_isa::image::Register;

/// An access compiled for one instruction set and one size of elements. Only [`Each::find`] takes one.
pub(in super::super) struct Each(unsafe fn(&mut Runner<'_, '_>, &Op, &MemoryAccess, WarpFunction) -> Done);

/// The wrappers for one instruction set.
macro_rules! level {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        fn $name<T: Scattered>(
            r: &mut Runner<'_, '_>,
            op: &Op,
            access: &MemoryAccess,
            f: WarpFunction,
        ) -> Done {
            run::<T>(r, op, access, f)
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

impl Each {
    /// The function for an access on this processor, if there are loops for it.
    pub fn find(access: &MemoryAccess, set: InstructionSet) -> Option<Each> {
        macro_rules! sizes {
            ($level:ident) => {
                match access.bytes {
                    1 => Each($level::<u8>),
                    2 => Each($level::<u16>),
                    4 => Each($level::<u32>),
                    _ => Each($level::<u64>),
                }
            };
        }
        Some(match set {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            InstructionSet::Avx512 => sizes!(avx512),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => sizes!(avx2),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Base => return None,
            #[cfg(not(target_arch = "x86_64"))]
            InstructionSet::Base => sizes!(base),
        })
    }

    /// Accesses memory warp by warp.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn run(&self, r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, f: WarpFunction) -> Done {
        // SAFETY: `find` has taken the function for the instruction set of this processor.
        unsafe { (self.0)(r, op, access, f) }
    }
}

#[inline(always)]
fn run<T: Scattered>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, f: WarpFunction) -> Done {
    match (access.kind, access.count) {
        (AccessKind::Load, 1) => load::<T, 1>(r, op, access),
        (AccessKind::Load, 2) => load::<T, 2>(r, op, access),
        (AccessKind::Load, _) => load::<T, 4>(r, op, access),
        (AccessKind::Store, 1) => store::<T, 1>(r, op, access),
        (AccessKind::Store, 2) => store::<T, 2>(r, op, access),
        (AccessKind::Store, _) => store::<T, 4>(r, op, access),
        (AccessKind::Add, _) if T::BYTES >= 4 => add::<T>(r, op, access),
        (AccessKind::Add, _) => {
            r.x.watched = r.x.monitor.is_on();
            r.warp_by_warp(op, f)
        }
    }
}

#[inline(always)]
fn load<T: Scattered, const D: usize>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess) -> Done {
    let address = &op.sources[0];
    let near = if D == 1 { word_place(r, address, 0) } else { None };
    let blocks = if T::BYTES == 4 { near.and_then(|near| AddressBlocks::of(r, op, near)) } else { None };
    // a monitor sees addresses of 64 bits
    let near = near.filter(|_| !r.x.monitor.is_on());
    let far = match op.results[..] {
        [Some(register)] => Far::of::<T>(r, address, register).map(|far| (far, register)),
        _ => None,
    };
    let mut k = 0;
    while k < r.n {
        if let Some(blocks) = &blocks {
            k += blocks.load(r, access, k);
        }
        let m = r.masks.get(k).copied().unwrap_or(0);
        if k >= r.n || m == 0 {
            k += 1;
            continue;
        }
        r.enter(k, m);
        if let Some((far, register)) = &far {
            spread(r, *register, k);
            far.load::<T>(r, op, access, k)?;
            k += 1;
            continue;
        }
        let mut out = [[T::default(); 32]; D];
        if let Some(near) = near {
            let row = r.registers.words[near + k].get();
            warp_access::load_near::<T>(r.x, &op.q, access.space, op.site, m, &row.0, &mut out[0])?;
        } else {
            let at = addresses(r, address, k);
            report_accesses(r, access, &at, m);
            warp_access::load::<T, D>(r.x, &op.q, access.space, op.site, m, &at, out.each_mut())?;
        }
        for (register, out) in op.results.iter().zip(&out) {
            if let Some(register) = *register {
                keep(r, register, k, out, access);
            }
        }
        k += 1;
    }
    r.results_are_rows(op);
    Ok(())
}

/// Accesses to words, which no monitor sees, at addresses of 64 bits in rows: right from and to the row of a register.
struct Far {
    /// The rows of the first warp: of the addresses, and of the words.
    at: usize,
    words: usize,
}

impl Far {
    /// The addresses of a load into a register, or of a store of it.
    #[inline(always)]
    fn of<T: Word>(r: &Runner<'_, '_>, address: &Operand, register: Register) -> Option<Far> {
        let Operand::Register(address) = address else { return None };
        let sizes = (r.registers.slot(*address).bits, r.registers.slot(register).bits, T::BYTES);
        let rows = r.registers.is_rows(r.lo, *address) && !r.x.monitor.is_on();
        let row = |register| r.registers.row(register, r.lo);
        (rows && sizes == (64, 32, 4)).then(|| Far { at: row(*address), words: row(register) })
    }

    /// The addresses of a store.
    #[inline(always)]
    fn of_store<T: Word>(r: &Runner<'_, '_>, op: &Op) -> Option<Far> {
        match op.sources[1] {
            Operand::Register(register) if r.registers.is_rows(r.lo, register) => {
                Far::of::<T>(r, &op.sources[0], register)
            }
            _ => None,
        }
    }

    /// Loads for warp `k`, which is the current one.
    #[inline(always)]
    fn load<T: Scattered>(&self, r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, k: usize) -> Done {
        let (m, registers) = (r.masks[k], &mut *r.registers);
        let (at, words) = (registers.longs[self.at + k].get_mut(), registers.words[self.words + k].get_mut());
        warp_access::load::<T, 1>(r.x, &op.q, access.space, op.site, m, &at.0, [bytemuck::cast_mut(&mut words.0)])
    }

    /// Stores the elements of a warp.
    #[inline(always)]
    fn store<T: Scattered>(&self, r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, k: usize) -> Done {
        let (m, registers) = (r.masks[k], &mut *r.registers);
        let (at, words) = (registers.longs[self.at + k].get_mut(), registers.words[self.words + k].get_mut());
        warp_access::store::<T, 1>(r.x, &op.q, access.space, op.site, m, &at.0, [bytemuck::cast_ref(&words.0)])
    }
}

/// A load of words at addresses in rows, into rows.
struct AddressBlocks {
    /// The rows of the first warp: of the addresses, and of the result.
    at: usize,
    to: usize,
}

impl AddressBlocks {
    /// The blocks of a load whose addresses are in the rows from `at` on.
    #[inline(always)]
    fn of(r: &Runner<'_, '_>, op: &Op, at: usize) -> Option<AddressBlocks> {
        let register = op.results[0]?;
        (r.registers.slot(register).bits == 32).then(|| AddressBlocks { at, to: r.registers.row(register, r.lo) })
    }

    /// Loads for warps from `k` on, as long as all lanes of a warp run and load words that follow each other: copies. Returns how many
    /// warps these are.
    #[inline(always)]
    fn load(&self, r: &mut Runner<'_, '_>, access: &MemoryAccess, k: usize) -> usize {
        let seen = if r.x.monitor.is_on() { self.report(r, access, k) } else { r.n };
        let mut done = k;
        while done < seen
            && let Some(first) = self.first(r, done)
        {
            let mut count = 1;
            while done + count < seen && self.is_row(r, done + count, first.wrapping_add(128 * count as u32)) {
                count += 1;
            }
            let Some(bytes) = r.x.loads().bytes_at(access.cache, access.space, first.into(), 128 * count) else {
                break;
            };
            let to = &mut r.registers.words[self.to + done..][..count];
            for (to, bytes) in to.iter_mut().zip(bytes.as_chunks::<128>().0) {
                u32::load_row(bytes, &mut to.get_mut().0);
            }
            done += count;
        }
        done - k
    }

    /// Do all lanes of a warp run, and load words that follow each other from an address on?
    #[inline(always)]
    fn is_row(&self, r: &mut Runner<'_, '_>, k: usize, first: u32) -> bool {
        follow(&r.registers.words[self.at + k].get_mut().0, first, 4) && r.masks[k] == u32::MAX
    }

    /// The first address of a warp, if all its lanes run and load words that follow each other.
    #[inline(always)]
    fn first(&self, r: &mut Runner<'_, '_>, k: usize) -> Option<u32> {
        // not a copy of the row: reading lanes of one that was just written stalls
        let at = &r.registers.words[self.at + k].get_mut().0;
        let first = at[0];
        // most rows that are none end here
        if at[31].wrapping_sub(first) != 124 || first & 3 != 0 {
            return None;
        }
        // LLVM must not know which lane it is, or it compares the others in three parts
        let first = std::hint::black_box(first);
        self.is_row(r, k, first).then_some(first)
    }

    /// Tells the monitor of such loads of warps from `k` on, if they are at one distance from each other. Returns the warp after the
    /// last that it has seen.
    #[inline(never)]
    fn report(&self, r: &mut Runner<'_, '_>, access: &MemoryAccess, k: usize) -> usize {
        let Some(first) = self.first(r, k) else { return k };
        let mut end = k + 1;
        let mut distance = 0;
        while end < r.n
            && let Some(next) = self.first(r, end)
            && let to_next = i64::from(next) - i64::from(first)
            && (end == k + 1 || to_next == distance * (end - k) as i64)
        {
            (distance, end) = (to_next / (end - k) as i64, end + 1);
        }
        let (low, high) = (distance.min(0), distance.max(0));
        let far = |distance: i64| i64::from(first) + distance * (end - k - 1) as i64;
        let (low, len) = (far(low), far(high) - far(low) + 128);
        let (Ok(low), Ok(len)) = (u64::try_from(low), usize::try_from(len)) else { return k };
        if r.x.loads().bytes_at(access.cache, access.space, low, len).is_none() {
            return k;
        }
        let pieces = Pieces { count: (end - k) as u32, lanes: 32, step: 4, distance };
        if r.x.report().pieces(access.space, first.into(), (4, false), r.lo + k, &pieces) {
            return end;
        }
        r.x.warp = (r.lo + k) as u32;
        k + usize::from(r.x.report().row(access.space, first.into(), (4, 4, false), u32::MAX))
    }
}

/// Tells the monitor of the accesses of the current warp.
#[inline(always)]
fn report_accesses(r: &mut Runner<'_, '_>, access: &MemoryAccess, at: &Lanes, m: u32) {
    if r.x.monitor.is_on() {
        let bytes = access.bytes * access.count as u32;
        r.x.watched = !r.x.report().lanes(access.space, at, bytes, access.kind != AccessKind::Load, m);
    }
}

/// The addresses of a warp.
#[inline(always)]
fn addresses(r: &Runner<'_, '_>, o: &Operand, k: usize) -> Lanes {
    if let Operand::Register(register) = o
        && r.registers.slot(*register).bits == 64
        && r.registers.is_rows(r.lo, *register)
    {
        return r.registers.longs[r.registers.row(*register, r.lo + k)].get().0;
    }
    if let Some(row) = word_row(r, o, k) {
        return widened(&row.0);
    }
    r.operand(o, k)
}

/// The row of an operand that is a plain register of 32 bits.
#[inline(always)]
fn word_row(r: &Runner<'_, '_>, o: &Operand, k: usize) -> Option<Row<u32>> {
    word_place(r, o, k).map(|at| r.registers.words[at].get())
}

/// The row of the word that the operand is, among the words of the registers.
#[inline(always)]
fn word_place(r: &Runner<'_, '_>, o: &Operand, k: usize) -> Option<usize> {
    let Operand::Register(register) = o else { return None };
    let rows = r.registers.slot(*register).bits == 32 && r.registers.is_rows(r.lo, *register);
    rows.then(|| r.registers.row(*register, r.lo + k))
}

/// Sets lanes of the result of warp `k` to loaded elements. Until all warps are done the register may be a scalar, which other warps
/// still read.
#[inline(always)]
fn keep<T: Word>(r: &Runner<'_, '_>, register: Register, k: usize, v: &[T; 32], access: &MemoryAccess) {
    spread(r, register, k);
    put(r, register, k, v, access);
}

/// Makes a row of a scalar of which some lanes are set.
#[inline(always)]
fn spread(r: &Runner<'_, '_>, register: Register, k: usize) {
    if !r.all && !r.registers.is_rows(r.lo, register) {
        r.registers.spread(r.scalar(register), register, r.lo + k);
    }
}

/// Sets lanes of a register to loaded elements.
#[inline(always)]
pub(super) fn put<T: Word>(r: &Runner<'_, '_>, register: Register, k: usize, v: &[T; 32], access: &MemoryAccess) {
    let slot = r.registers.slot(register);
    let at = slot.index as usize * r.registers.warps + r.lo + k;
    let m = if r.all { u32::MAX } else { r.masks[k] };
    if slot.bits == 64 {
        let place = &r.registers.longs[at];
        let mut row = place.get();
        for (l, (to, v)) in row.0.iter_mut().zip(v).enumerate() {
            *to = if m >> l & 1 != 0 { extended(*v, access) } else { *to };
        }
        place.set(row);
        return;
    }
    let place = &r.registers.words[at];
    let low = u32::MAX >> (32 - slot.bits.min(32));
    let mut row = place.get();
    if m == u32::MAX {
        for (to, v) in row.0.iter_mut().zip(v) {
            *to = extended(*v, access) as u32 & low;
        }
    } else {
        for (l, (to, v)) in row.0.iter_mut().zip(v).enumerate() {
            *to = if m >> l & 1 != 0 { extended(*v, access) as u32 & low } else { *to };
        }
    }
    place.set(row);
}

/// The lanes of a row, each through `f`.
#[inline(always)]
pub(super) fn narrow<S: Copy, T: Word>(row: &[S; 32], f: impl Fn(S) -> T) -> [T; 32] {
    let mut lanes = [T::default(); 32];
    for (to, v) in lanes.iter_mut().zip(row) {
        *to = f(*v);
    }
    lanes
}

/// The low bits of an operand in all lanes of warp `k`, which is the current one.
#[inline(always)]
pub(super) fn narrowed<T: Word>(r: &Runner<'_, '_>, o: &Operand, k: usize) -> [T; 32] {
    if T::BYTES <= 4
        && let Some(row) = word_row(r, o, k)
    {
        return narrow(&row.0, |v| T::narrow(v.into()));
    }
    narrow(&r.operand(o, k), T::narrow)
}

#[inline(always)]
fn store<T: Scattered, const D: usize>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess) -> Done {
    let far = if D == 1 { Far::of_store::<T>(r, op) } else { None };
    for k in 0..r.n {
        let m = r.masks[k];
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        if let Some(far) = &far {
            far.store::<T>(r, op, access, k)?;
            continue;
        }
        let at = addresses(r, &op.sources[0], k);
        report_accesses(r, access, &at, m);
        let mut v = [[T::default(); 32]; D];
        for (v, o) in v.iter_mut().zip(&op.sources[1..]) {
            *v = narrowed(r, o, k);
        }
        warp_access::store::<T, D>(r.x, &op.q, access.space, op.site, m, &at, v.each_ref())?;
    }
    Ok(())
}

/// `red.add` and `atom.add`.
#[inline(always)]
fn add<T: Scattered>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess) -> Done {
    let result = op.results.first().copied().flatten();
    let value = r.uniform(&op.sources[1]);
    // as of loads
    let near = word_place(r, &op.sources[0], 0).filter(|_| T::BYTES == 4 && result.is_none() && !r.x.monitor.is_on());
    for k in 0..r.n {
        let m = r.masks[k];
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        if let (Some(near), Some(v)) = (near, value)
            && r.x.stores().add_to_words(access.space, m, &r.registers.words[near + k].get_mut().0, v as u32)
        {
            continue;
        }
        let at = addresses(r, &op.sources[0], k);
        report_accesses(r, access, &at, m);
        let v: [T; 32] = match value {
            Some(v) => [T::narrow(v); 32],
            None => narrowed(r, &op.sources[1], k),
        };
        let mut old = [T::default(); 32];
        let wanted = result.is_some();
        let left = r.x.stores().add_lanes::<T>(access.space, m, &at, &v, wanted.then_some(&mut old));
        if left != 0 {
            r.x.site = op.site;
            warp_access::slow_add::<T>(r.x, op.q, left, &at, &v, wanted.then_some(&mut old))?;
        }
        if let Some(register) = result {
            let unsigned = MemoryAccess { signed: false, ..*access };
            keep(r, register, k, &old, &unsigned);
        }
    }
    r.results_are_rows(op);
    Ok(())
}
