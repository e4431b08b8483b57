//! f16, bf16 and their pairs (manual, 9.7.4): computed in f64 and rounded once.

use super::float::{self, FloatOp};
use super::soft::{self, BF16, F16, F64, FloatFormat, Round};
use crate::numerics::float16::{bf16_to_f32, f16_to_f32};
use crate::numerics::qual::{Q, Ty, q};

/// The format of a lane, and whether there are two.
#[inline(always)]
pub const fn format(ty: Ty) -> Option<(FloatFormat, bool)> {
    match ty {
        Ty::F16 => Some((F16, false)),
        Ty::F16x2 => Some((F16, true)),
        Ty::Bf16 => Some((BF16, false)),
        Ty::Bf16x2 => Some((BF16, true)),
        _ => None,
    }
}

#[inline(always)]
fn widen(f: FloatFormat, x: u64) -> f64 {
    f64::from(if f.exp == 8 { bf16_to_f32(x as u16) } else { f16_to_f32(x as u16) })
}

/// An operand, flushed if `.ftz` says so.
#[inline(always)]
pub fn arg(q: Q, ty: Ty, x: u64) -> u64 {
    match format(ty) {
        Some((f, _)) => flush(f, q, x),
        None => x,
    }
}

/// f64 to a format, one rounding.
#[inline]
pub fn narrow(f: FloatFormat, x: f64, mode: Round) -> u64 {
    f.encode(F64.decode(x.to_bits()), mode, false)
}

#[inline(always)]
fn flush(f: FloatFormat, q: Q, x: u64) -> u64 {
    if q.has(q::ftz) && f.is_subnormal(x & 0xffff) { x & 0x8000 } else { x & 0xffff }
}

#[inline(always)]
fn finish(f: FloatFormat, q: Q, d: u64) -> u64 {
    let d = flush(f, q, d);
    let nan = f.is_nan(d);
    let one = (f.bias as u64) << f.mant;
    if q.has(q::sat) {
        return if nan || d & 0x8000 != 0 { 0 } else { d.min(one) };
    }
    if q.has(q::relu) && !nan && d & 0x8000 != 0 {
        return 0;
    }
    if nan { f.nan } else { d }
}

/// `f` on the one value, or on each of the two.
#[inline(always)]
pub fn each<const N: usize>(pair: bool, s: [u64; N], f: impl Fn([u64; N]) -> u64) -> u64 {
    let low = f(s.map(|x| x & 0xffff));
    if pair { low | f(s.map(|x| x >> 16 & 0xffff)) << 16 } else { low }
}

/// `add`, `sub`, `mul`, `fma`.
#[inline(always)]
pub fn basic<const N: usize>(q: Q, f: FloatFormat, pair: bool, op: FloatOp, s: [u64; N], minus: bool) -> u64 {
    each(pair, s, |s| {
        // a factor (not the addend) that is the NaN of out-of-bounds fill, of either sign, makes the result zero
        if q.has(q::oob) && s[..2].iter().any(|x| x & 0x7fff == 0x7ff7) {
            return 0;
        }
        let mut t = [0.0; 3];
        for i in 0..N {
            t[i] = widen(f, flush(f, q, s[i]));
        }
        let [a, b, c] = t;
        let b = if minus { -b } else { b };
        let r = match op {
            FloatOp::Add => soft::odd_add(a, b),
            FloatOp::Mul => a * b,
            _ => soft::odd_add(a * b, c),
        };
        let d = narrow(f, r, Round::Near);
        let least = 1 << f.mant;
        let tiny = q.has(q::ftz) && d & 0x7fff == least && f.is_tiny(F64.decode(r.to_bits()), Round::Near);
        finish(f, q, if tiny { d & 0x8000 } else { d })
    })
}

/// `abs` and `neg`: a NaN becomes the canonical NaN.
#[inline(always)]
pub fn sign(q: Q, f: FloatFormat, pair: bool, a: u64, neg: bool) -> u64 {
    each(pair, [a], |[a]| {
        let a = flush(f, q, a);
        if f.is_nan(a) {
            f.nan
        } else if neg {
            a ^ 0x8000
        } else {
            a & 0x7fff
        }
    })
}

/// `min`, `max`.
#[inline(always)]
pub fn pick<const N: usize>(q: Q, f: FloatFormat, pair: bool, s: [u64; N], max: bool) -> u64 {
    each(pair, s, |s| float::pick(f, q, s.map(|x| flush(f, q, x)), max))
}

/// An approximated function: computed in f64, rounded once.
#[inline(always)]
pub fn approx(q: Q, f: FloatFormat, pair: bool, a: u64, g: impl Fn(f64) -> f64) -> u64 {
    each(pair, [a], |[a]| finish(f, q, narrow(f, g(widen(f, flush(f, q, a))), Round::Near)))
}

/// `ex2.approx`, the bits of an H200: the exponent is truncated to 23 fraction bits, the power is rounded to f32 and then
/// truncated.
#[inline(always)]
pub fn ex2(q: Q, f: FloatFormat, pair: bool, a: u64) -> u64 {
    const STEP: f64 = (1u64 << 23) as f64;
    each(pair, [a], |[a]| {
        let x = (widen(f, flush(f, q, a)) * STEP).trunc() / STEP;
        let power = f64::from(x.exp2() as f32);
        let end = f64::from_bits(((1023 + 1 + f.bias) as u64) << 52);
        finish(f, q, if power >= end { f.inf } else { narrow(f, power, Round::Zero) })
    })
}
