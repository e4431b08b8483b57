//! Conversions of one lane (manual, 9.7.9.21 `cvt` and 9.7.9.22 `cvt.pack`).

use crate::numerics::arith::float;
use crate::numerics::arith::integer::{clamp, sext, value, zext};
use crate::numerics::arith::soft::{BF16, F16, F32, F64, FloatFormat, Num, Round, TF32};
use crate::numerics::qual::{Q, Ty, q};
use crate::numerics::{float16, packed};

/// The format of a floating-point type.
const fn format(ty: Ty) -> Option<FloatFormat> {
    match ty {
        Ty::F16 => Some(F16),
        Ty::Bf16 => Some(BF16),
        Ty::F32 => Some(F32),
        Ty::F64 => Some(F64),
        Ty::Tf32 => Some(TF32),
        _ => None,
    }
}

/// `cvt`. Results are extended to 64 bits as the destination's type says.
#[inline(always)]
pub fn cvt<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    let [dst, src, ..] = q.ty;
    let at = |i: usize| s.get(i).copied().unwrap_or(0);
    let a = at(0);
    [match (format(dst), format(src)) {
        _ if packed::handles(dst, src) => packed::cvt(q, &s),
        (None, None) => {
            let v = value(src, a);
            if q.has(q::sat) { clamp(v, dst.bits(), dst.is_signed()) } else { extend(dst, v as u64) }
        }
        (Some(f), None) => from_int(q, f, value(src, a)),
        (None, Some(f)) => to_int(q, dst, f, a),
        (Some(to), Some(from)) => between(q, to, from, a),
    }]
}

/// Truncates to the width of a type and extends to 64 bits, by its sign.
#[inline(always)]
fn extend(ty: Ty, x: u64) -> u64 {
    if ty.is_signed() { sext(x, ty.bits()) as u64 } else { zext(x, ty.bits()) }
}

#[inline(always)]
fn from_int(q: Q, f: FloatFormat, v: i128) -> u64 {
    let r = match (f.exp, f.mant, Round::of(q)) {
        // The host rounds to nearest as well; from 128 bits down to 64 nothing is lost.
        (8, 23, Round::Near) => (if v < 0 { v as i64 as f32 } else { v as u64 as f32 }).to_bits() as u64,
        (11, _, Round::Near) => (if v < 0 { v as i64 as f64 } else { v as u64 as f64 }).to_bits(),
        (_, _, mode) => f.encode(Num::int(v), mode, false),
    };
    if q.has(q::sat) { saturate(f, r) } else { r }
}

/// Clamps to [0, 1]; NaN and values below 0 give +0.
#[inline(always)]
fn saturate(f: FloatFormat, r: u64) -> u64 {
    if r & f.sign() != 0 || f.is_nan(r) { 0 } else { r.min((f.bias as u64) << f.mant) }
}

/// A float operand; `.ftz` is about f32 only.
#[inline(always)]
fn operand(q: Q, f: FloatFormat, a: u64) -> u64 {
    if q.has(q::ftz) && f.mant == 23 { float::flush(f32::from_bits(a as u32)).to_bits() as u64 } else { a }
}

#[inline(always)]
fn to_f64(f: FloatFormat, a: u64) -> f64 {
    match (f.exp, f.mant) {
        (11, _) => f64::from_bits(a),
        (5, _) => float16::to_f64(Ty::F16, a),
        (_, 7) => float16::to_f64(Ty::Bf16, a),
        _ => f32::from_bits(a as u32) as f64,
    }
}

/// Rounds to an integer that f64 holds.
#[inline(always)]
fn integral(q: Q, x: f64) -> f64 {
    match Round::of(q) {
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
        _ => x.round_ties_even(),
    }
}

/// Float to integer: out-of-range values are clamped.
#[inline(always)]
fn to_int(q: Q, dst: Ty, f: FloatFormat, a: u64) -> u64 {
    let x = to_f64(f, operand(q, f, a));
    if x.is_nan() {
        // as on an H200; the manual leaves it open
        return if f.exp == 11 || dst.bits() == 64 { extend(dst, 1 << (dst.bits() - 1)) } else { 0 };
    }
    let x = integral(q, x);
    // `as` clamps, too.
    match dst {
        Ty::U8 => x as u8 as u64,
        Ty::U16 => x as u16 as u64,
        Ty::U32 => x as u32 as u64,
        Ty::S8 => x as i8 as u64,
        Ty::S16 => x as i16 as u64,
        Ty::S32 => x as i32 as u64,
        Ty::S64 => x as i64 as u64,
        _ => x as u64,
    }
}

/// Float to float: also to an integral value of the same format.
#[inline(always)]
fn between(q: Q, to: FloatFormat, from: FloatFormat, a: u64) -> u64 {
    // f32 subnormals are below all f16 numbers: they are rounded, not flushed, as on an H200
    let a = if to.exp == 5 { a } else { operand(q, from, a) };
    if let Some(r) = plain_half(q, to, from, a) {
        return r;
    }
    let x = to_f64(from, a);
    let (is_nan, of_nan) = (x.is_nan(), if q.has(q::sat) { 0 } else { nan(q, to, from, a) });
    let whole = q.has(q::rni) || q.has(q::rzi) || q.has(q::rmi) || q.has(q::rpi);
    let x = if whole { integral(q, x) } else { x };
    let mode = if whole { Round::Near } else { Round::of(q) };
    let mut r = if to.exp == 11 {
        x.to_bits()
    } else if to.mant == 23 {
        float::narrow(x, mode).to_bits() as u64
    } else {
        to.encode(F64.decode(x.to_bits()), mode, q.has(q::satfinite))
    };
    if q.has(q::ftz) && to.mant == 23 {
        r = operand(q, F32, r);
    }
    if q.has(q::relu) && r & to.sign() != 0 || q.has(q::pzo) && r == to.sign() {
        r = 0;
    }
    let r = tf32_place(to, if q.has(q::sat) { saturate(to, r) } else { r });
    if is_nan { of_nan } else { r }
}

/// `.f16` to `.f32`, and back to nearest without other qualifiers: without branches, so that LLVM vectorises it.
#[inline(always)]
fn plain_half(q: Q, to: FloatFormat, from: FloatFormat, a: u64) -> Option<u64> {
    let plain = [q::ftz, q::sat, q::satfinite, q::relu, q::pzo, q::rni, q::rzi, q::rmi, q::rpi];
    if plain.iter().any(|written| q.has(*written)) {
        return None;
    }
    match ((to.exp, to.mant), (from.exp, from.mant)) {
        ((8, 23), (5, 10)) => {
            let x = float16::f16_to_f32(a as u16);
            Some(if x.is_nan() { to.nan } else { x.to_bits().into() })
        }
        ((5, 10), (8, 23)) if Round::of(q) == Round::Near => {
            let x = f32::from_bits(a as u32);
            Some(if x.is_nan() { to.nan } else { float16::f32_to_f16(x).into() })
        }
        _ => None,
    }
}

/// The result for a NaN, as on an H100: conversions from and to f64 keep sign and payload, quieted; `.bf16` to `.f32` moves the
/// bits; all others give the canonical NaN.
#[inline(always)]
fn nan(q: Q, to: FloatFormat, from: FloatFormat, a: u64) -> u64 {
    if tf32(to) {
        // `.rna` truncates the payload (and `.satfinite` treats the rest as an overflow); other roundings give the canonical NaN
        return match (q.has(q::rna), q.has(q::satfinite)) {
            (true, true) => (a & 0xffff_e000).wrapping_sub(0x2000),
            (true, false) => a & 0xffff_e000,
            _ => 0x7fff_e000,
        };
    }
    let negative = a & from.sign() != 0;
    let payload = (a & ((1 << from.mant) - 1)) << (52 - from.mant);
    let double = (negative as u64) << 63 | 0x7ff8_0000_0000_0000 | payload;
    match (to.exp, from.exp) {
        (11, _) if from.mant == 23 && q.has(q::ftz) => 0x7fff_ffff_e000_0000,
        (11, _) => double,
        (_, 11) => (if negative { to.sign() } else { 0 }) | to.inf | (double >> (52 - to.mant)) & ((1 << to.mant) - 1),
        _ if to.mant == 23 && from.mant == 7 && !q.has(q::ftz) => a << 16,
        _ => to.nan,
    }
}

const fn tf32(f: FloatFormat) -> bool {
    f.exp == 8 && f.mant == 10
}

/// A `.tf32` lies in the high 19 bits of its register.
const fn tf32_place(f: FloatFormat, r: u64) -> u64 {
    if tf32(f) { r << 13 } else { r }
}

/// `cvt.pack`: `a` and `b`, saturated and packed, above the low bits of `c`.
#[inline(always)]
pub fn cvt_pack<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    let at = |i: usize| s.get(i).copied().unwrap_or(0);
    let (bits, signed) = match q.ty[0] {
        Ty::U16 => (16, false),
        Ty::S16 => (16, true),
        Ty::U8 => (8, false),
        Ty::S8 => (8, true),
        _ if q.has(q::u4) => (4, false),
        _ if q.has(q::s4) => (4, true),
        _ if q.has(q::u2) => (2, false),
        _ => (2, true),
    };
    let part = |x: u64| zext(clamp(value(Ty::S32, x), bits, signed), bits);
    let pair = part(at(0)) << bits | part(at(1));
    [zext(at(2) << (2 * bits) | pair, 32)]
}

semantics! {
    lane "cvt" => cvt [1 | 2 | 3 | 5],
    lane "cvt.pack" => cvt_pack [2 | 3],
}

#[cfg(test)]
mod tests;
