//! `atom` and `red` (PTX ISA 9.7.13.5, 9.7.13.6), in lane order.

use super::ld_st::{element, get, put};
use super::{Done, active, place, space};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::memory::address::Place;
use crate::numerics::float16::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty, q};

/// `atom`: `[addr], b{, c}{, cache-policy}`; the destination is what the memory held. Lanes that have changed nothing may poll, but for
/// additions, whose fast path does not know.
#[inline]
pub fn atom(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let changed = run(x, q, s, d)?;
    if !q.has(q::add) {
        x.scheduling.attempts(changed);
    }
    Ok(())
}

/// `red`: as `atom` without a destination.
#[inline]
pub fn red(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    run(x, q, s, d).map(|_| ())
}

/// True if a lane has changed what is in memory.
#[inline]
fn run(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Result<bool, Box<Fault>> {
    let (space, ty, bytes) = (space(q), q.ty[0], element(q.ty[0]));
    let n: usize = if q.has(q::v8) {
        8
    } else if q.has(q::v4) {
        4
    } else if q.has(q::v2) || matches!(ty, Ty::B128) {
        2
    } else {
        1
    };
    let size = bytes * n as u32;
    let mut changed = false;
    for l in active(x.mask) {
        let addr = s[0][l];
        let global = match place(x, space, addr, l)? {
            Place::Global { .. } => true,
            Place::Shared { .. } => false,
            _ => {
                let wanted = "in global or shared memory, where atomic operations work".into();
                return Err(x.fault(FaultKind::WrongWindow { addr, wanted }, l as u32));
            }
        };
        let operand = |i: usize| s.get(1 + i).map_or(0, |b| b[l]);
        // atom.add.f32 flushes subnormal numbers in global memory, not in shared memory, and not with .noftz
        let how = Sum { global, ftz: global && !q.has(q::noftz) };
        let new = |old: [u64; 4]| {
            let mut new = [0; 4];
            if matches!(ty, Ty::B128) {
                // compared and stored as a whole
                let equal = (0..2).all(|i| old[i] == operand(i));
                return match (q.has(q::cas), equal) {
                    (true, true) => [operand(2), operand(3), 0, 0],
                    (true, false) => old,
                    (false, _) => [operand(0), operand(1), 0, 0],
                };
            }
            for i in 0..n {
                let c = if q.has(q::cas) { operand(n + i) } else { 0 };
                put(&mut new, i, bytes, apply(q, ty, how, get(&old, i, bytes), operand(i), c));
            }
            new
        };
        let element = if matches!(ty, Ty::B128) { 16 } else { bytes };
        let old = x.stores().update(space, addr, size, element, l as u32, new)?;
        changed |= new(old) != old;
        for (i, d) in d.iter_mut().enumerate() {
            let v = get(&old, i, bytes);
            d[l] = if ty.is_signed() { sign(ty, v) as u64 } else { zero(ty, v) };
        }
    }
    Ok(changed)
}

#[inline(always)]
fn zero(ty: Ty, v: u64) -> u64 {
    v & (u64::MAX >> (64 - element(ty) * 8))
}

#[inline(always)]
fn sign(ty: Ty, v: u64) -> i64 {
    let unused = 64 - element(ty) * 8;
    (v << unused) as i64 >> unused
}

/// The variant of a floating-point sum.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    /// Whether the element is in global memory.
    global: bool,
    ftz: bool,
}

/// The new value of an element of an asynchronous reduction: in global memory or not, flushing subnormal sums of f32 or not.
pub(super) fn reduce(q: Q, ty: Ty, (global, ftz): (bool, bool), old: u64, b: u64) -> u64 {
    zero(ty, apply(q, ty, Sum { global, ftz }, old, b, 0))
}

/// The new value of one element. Bits of the operands above the type's width are ignored.
#[inline(always)]
fn apply(q: Q, ty: Ty, how: Sum, old: u64, b: u64, c: u64) -> u64 {
    let (old, b) = (zero(ty, old), zero(ty, b));
    if q.has(q::and) {
        old & b
    } else if q.has(q::or) {
        old | b
    } else if q.has(q::xor) {
        old ^ b
    } else if q.has(q::exch) {
        b
    } else if q.has(q::cas) {
        if old == b { c } else { old }
    } else if q.has(q::inc) {
        if old >= b { 0 } else { old + 1 }
    } else if q.has(q::dec) {
        if old == 0 || old > b { b } else { old - 1 }
    } else if q.has(q::min) {
        min_max(ty, old, b, false)
    } else if q.has(q::max) {
        min_max(ty, old, b, true)
    } else {
        add(ty, how, old, b)
    }
}

#[inline(always)]
fn halves(old: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    f(old & 0xffff, b & 0xffff) | f(old >> 16 & 0xffff, b >> 16 & 0xffff) << 16
}

fn add(ty: Ty, how: Sum, old: u64, b: u64) -> u64 {
    match ty {
        Ty::F32 => u64::from(add_f32(how.ftz, old as u32, b as u32)),
        Ty::F64 => add_f64(how.global, old, b),
        Ty::F16 => add_f16(old, b),
        Ty::Bf16 => add_bf16(old, b),
        Ty::F16x2 => halves(old, b, add_f16),
        Ty::Bf16x2 => halves(old, b, add_bf16),
        _ => old.wrapping_add(b),
    }
}

fn add_f32(ftz: bool, a: u32, b: u32) -> u32 {
    let flush = |v: u32| if ftz && v & 0x7f80_0000 == 0 { v & 0x8000_0000 } else { v };
    let sum = f32::from_bits(flush(a)) + f32::from_bits(flush(b));
    if sum.is_nan() { 0x7fff_ffff } else { flush(sum.to_bits()) }
}

/// A binary64 sum propagates NaN payloads. In global memory the operand's payload wins, unchanged. In shared memory the add is
/// a software sequence: the payload in memory wins, quieted.
fn add_f64(global: bool, a: u64, b: u64) -> u64 {
    const QUIET: u64 = 1 << 51;
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    if global && (x.is_nan() || y.is_nan()) {
        if y.is_nan() { b } else { a }
    } else if x.is_nan() {
        a | QUIET
    } else if y.is_nan() {
        b | QUIET
    } else if (x + y).is_nan() {
        0xfff8_0000_0000_0000
    } else {
        (x + y).to_bits()
    }
}

// The binary32 sum of two f16 or bf16, rounded once more, is the correctly rounded sum: 24 >= 2 * 11 + 2.
fn add_f16(a: u64, b: u64) -> u64 {
    let sum = f16_to_f32(a as u16) + f16_to_f32(b as u16);
    if sum.is_nan() { 0x7fff } else { f32_to_f16(sum).into() }
}

fn add_bf16(a: u64, b: u64) -> u64 {
    let sum = bf16_to_f32(a as u16) + bf16_to_f32(b as u16);
    if sum.is_nan() { 0x7fff } else { f32_to_bf16(sum).into() }
}

fn min_max(ty: Ty, old: u64, b: u64, max: bool) -> u64 {
    match ty {
        Ty::F16 => min_max_half(0x7c00, old, b, max),
        Ty::Bf16 => min_max_half(0x7f80, old, b, max),
        Ty::F16x2 => halves(old, b, |a, b| min_max_half(0x7c00, a, b, max)),
        Ty::Bf16x2 => halves(old, b, |a, b| min_max_half(0x7f80, a, b, max)),
        _ => {
            let less = if ty.is_signed() { sign(ty, b) < sign(ty, old) } else { b < old };
            if less != max && b != old { b } else { old }
        }
    }
}

/// A number wins over a NaN, and -0 < +0, as for `min` and `max`.
fn min_max_half(infinity: u64, a: u64, b: u64, max: bool) -> u64 {
    let nan = |v: u64| v & 0x7fff > infinity;
    // maps sign and magnitude to an integer of the same order
    let key = |v: u64| if v & 0x8000 != 0 { !v as u16 } else { v as u16 | 0x8000 };
    match (nan(a), nan(b)) {
        (true, true) => 0x7fff,
        (true, false) => b,
        (false, true) => a,
        _ if (key(a) < key(b)) != max => a,
        _ => b,
    }
}

semantics! {
    warp "atom" => atom,
    warp "red" => red,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::qual::Qualifier;

    fn one(op: Qualifier, ty: Ty, old: u64, b: u64, c: u64) -> u64 {
        zero(ty, apply(Q::new(&[op], &[ty]), ty, Sum::default(), old, b, c))
    }

    #[test]
    fn integers() {
        let table = [
            (q::and, Ty::B32, 0xff0f, 0x0ff0, 0, 0x0f00),
            (q::or, Ty::B64, 1 << 40, 2, 0, 1 << 40 | 2),
            (q::xor, Ty::B32, 5, 6, 0, 3),
            (q::exch, Ty::B32, 5, 6, 0, 6),
            (q::cas, Ty::B16, 7, 0xf_0007, 9, 9),
            (q::cas, Ty::B16, 7, 8, 9, 7),
            (q::cas, Ty::B64, u64::MAX, u64::MAX, 0, 0),
            (q::add, Ty::U32, 0xffff_ffff, 2, 0, 1),
            (q::add, Ty::S32, 0xffff_ffff, 0xffff_ffff, 0, 0xffff_fffe),
            (q::add, Ty::U64, u64::MAX, 1, 0, 0),
            (q::inc, Ty::U32, 3, 5, 0, 4),
            (q::inc, Ty::U32, 5, 5, 0, 0),
            (q::inc, Ty::U32, 9, 5, 0, 0),
            (q::dec, Ty::U32, 3, 5, 0, 2),
            (q::dec, Ty::U32, 0, 5, 0, 5),
            (q::dec, Ty::U32, 6, 5, 0, 5),
            (q::min, Ty::S32, 0xffff_ffff, 1, 0, 0xffff_ffff),
            (q::min, Ty::U32, 0xffff_ffff, 1, 0, 1),
            (q::max, Ty::S32, 0xffff_ffff, 1, 0, 1),
            (q::max, Ty::U32, 0xffff_ffff, 1, 0, 0xffff_ffff),
            (q::max, Ty::S64, 1 << 63, 0, 0, 0),
            (q::min, Ty::U64, 1 << 63, 1, 0, 1),
        ];
        for (i, (op, ty, old, b, c, want)) in table.into_iter().enumerate() {
            assert_eq!(one(op, ty, old, b, c), want, "row {i}");
        }
    }

    #[test]
    fn floats() {
        assert_eq!(one(q::add, Ty::F32, 0x3f80_0000, 0x4000_0000, 0), 0x4040_0000, "1 + 2");
        assert_eq!(one(q::add, Ty::F32, 0x7f80_0000, 0xff80_0000, 0), 0x7fff_ffff, "inf - inf");
        assert_eq!(one(q::add, Ty::F64, 0x3ff0_0000_0000_0000, 0xbff0_0000_0000_0000, 0), 0, "1 - 1");
        assert_eq!(one(q::add, Ty::F64, 0x7ff0_0000_0000_0001, 0, 0), 0x7ff8_0000_0000_0001, "quieted payload");
        assert_eq!(one(q::add, Ty::F16, 0x3c00, 0x3800, 0), 0x3e00, "1 + 0.5");
        assert_eq!(one(q::add, Ty::F16, 0x7bff, 0x7bff, 0), 0x7c00, "overflow");
        assert_eq!(one(q::add, Ty::F16, 0x0001, 0x0001, 0), 0x0002, "subnormal numbers stay");
        assert_eq!(one(q::add, Ty::Bf16, 0x3f80, 0x4000, 0), 0x4040);
        assert_eq!(one(q::add, Ty::F16x2, 0x3c00_7e00, 0x4000_3c00, 0), 0x4200_7fff);
        assert_eq!(one(q::min, Ty::F16, 0x8000, 0x0000, 0), 0x8000, "-0 < +0");
        assert_eq!(one(q::max, Ty::F16, 0x8000, 0x0000, 0), 0x0000);
        assert_eq!(one(q::min, Ty::F16, 0x7e00, 0xfc00, 0), 0xfc00, "a number wins against NaN");
        assert_eq!(one(q::max, Ty::Bf16, 0x7fc0, 0xffc0, 0), 0x7fff);
        assert_eq!(one(q::max, Ty::Bf16, 0xbf80, 0xc000, 0), 0xbf80, "-1 > -2");
        assert_eq!(one(q::min, Ty::Bf16x2, 0xbf80_3f80, 0xc000_4000, 0), 0xc000_3f80);
    }

    /// Compares with the results of an H200.
    #[test]
    fn nans_of_f64_sums() {
        const MEMORY: u64 = 0xffff_ffff_ffff_ffff;
        const SIGNALLING: u64 = 0x7ff0_0000_0000_0001;
        const INF: u64 = 0x7ff0_0000_0000_0000;
        assert_eq!(add_f64(true, MEMORY, SIGNALLING), SIGNALLING);
        assert_eq!(add_f64(true, INF, 0xfff0_0000_0000_0001), 0xfff0_0000_0000_0001);
        assert_eq!(add_f64(true, 0x7ff7_ffff_ffff_ffff, 1), 0x7ff7_ffff_ffff_ffff);
        assert_eq!(add_f64(false, MEMORY, SIGNALLING), MEMORY);
        assert_eq!(add_f64(false, INF, 0xfff0_0000_0000_0001), 0xfff8_0000_0000_0001);
        assert_eq!(add_f64(true, INF, INF | 1 << 63), 0xfff8_0000_0000_0000);
    }

    #[test]
    fn global_f32_sums_flush_subnormal_numbers() {
        assert_eq!(add_f32(false, 1, 1), 2);
        assert_eq!(add_f32(true, 1, 1), 0);
        assert_eq!(add_f32(true, 0x8000_0001, 0x8000_0001), 0x8000_0000, "the sign stays");
        assert_eq!(add_f32(true, 0x0080_0001, 0x8080_0000), 0, "a subnormal result");
        assert_eq!(add_f32(false, 0x0080_0001, 0x8080_0000), 1);
    }
}
