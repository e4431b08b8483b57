//! f32 and f64 (manual, 9.7.3): the host's own operations for `.rn`, exact ones rounded once for the other modes.

use super::soft::{self, F32, F64, FloatFormat, Round};
use crate::numerics::float16;
use crate::numerics::lanes;
use crate::numerics::qual::{Q, Ty, q};

/// The canonical NaN of f32 arithmetic.
pub const NAN32: u64 = 0x7fff_ffff;
/// The NaN of f64 arithmetic if no operand is a NaN.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;
const QUIET64: u64 = 1 << 51;

/// A subnormal becomes a zero of its sign.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { f32::from_bits(x.to_bits() & 0x8000_0000) } else { x }
}

/// An f32 operand, flushed if `.ftz` says so.
#[inline(always)]
pub fn arg(q: Q, x: u64) -> f32 {
    let x = f32::from_bits(x as u32);
    if q.has(q::ftz) { flush(x) } else { x }
}

/// An f32 result: `.ftz`, `.sat`, and the canonical NaN.
#[inline(always)]
pub fn out(q: Q, r: f32) -> u64 {
    let r = if q.has(q::ftz) { flush(r) } else { r };
    if q.has(q::sat) {
        // Also for NaN and -0: +0.
        return (if r > 0.0 { r.min(1.0) } else { 0.0 }).to_bits() as u64;
    }
    if r.is_nan() { NAN32 } else { r.to_bits() as u64 }
}

/// An f64 result: a NaN operand propagates, quieted.
#[inline(always)]
pub fn out64<const N: usize>(r: u64, s: [u64; N]) -> u64 {
    if f64::from_bits(r).is_nan() { nan64(s) } else { r }
}

/// The NaN of an operation: of several NaN operands the second wins, then the third, as on an H200.
#[cold]
fn nan64<const N: usize>(s: [u64; N]) -> u64 {
    let behind = s.into_iter().skip(1);
    behind.chain(s).find(|x| f64::from_bits(*x).is_nan()).map_or(NAN64, |x| x | QUIET64)
}

/// f64 to f32, one rounding.
#[inline(always)]
pub fn narrow(x: f64, mode: Round) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    match mode {
        Round::Zero if back.abs() > x.abs() => f32::from_bits(near.to_bits() - 1),
        Round::Down if back > x => near.next_down(),
        Round::Up if back < x => near.next_up(),
        Round::Away => f32::from_bits(F32.encode(F64.decode(x.to_bits()), mode, false) as u32),
        _ => near,
    }
}

/// `p + c` for numbers that f64 holds exactly, rounded once to f32.
#[inline(always)]
fn sum32(p: f64, c: f64, mode: Round) -> f32 {
    let s = soft::odd_add(p, c);
    // An exact zero of operands of different signs is -0 in `.rm`.
    let s = if mode == Round::Down && s == 0.0 && p.is_sign_negative() != c.is_sign_negative() { -0.0 } else { s };
    narrow(s, mode)
}

/// `a + b` on f32.
#[inline(always)]
pub fn add32(a: f32, b: f32, mode: Round) -> f32 {
    if mode == Round::Near { a + b } else { sum32(a as f64, b as f64, mode) }
}

/// `a * b` on f32.
#[inline(always)]
pub fn mul32(a: f32, b: f32, mode: Round) -> f32 {
    if mode == Round::Near { a * b } else { narrow(a as f64 * b as f64, mode) }
}

/// `a * b + c` on f32: the product is exact in f64, the sum rounded to odd there.
#[inline(always)]
pub fn fma32(a: f32, b: f32, c: f32, mode: Round) -> f32 {
    sum32(a as f64 * b as f64, c as f64, mode)
}

/// Any of the four operations, on the bits of a format, exactly.
fn exact(f: FloatFormat, op: FloatOp, s: [u64; 3], mode: Round) -> u64 {
    let [a, b, c] = s.map(|x| f.decode(x));
    let r = match op {
        FloatOp::Add => soft::add(a, b, mode),
        FloatOp::Mul => soft::mul(a, b),
        FloatOp::Fma => soft::add(soft::mul(a, b), c, mode),
        FloatOp::Div => soft::div(a, b),
        FloatOp::Sqrt => soft::sqrt(a),
    };
    f.encode(r, mode, false)
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatOp {
    /// `a + b`
    Add,
    /// `a * b`
    Mul,
    /// `a * b + c`
    Fma,
    /// `a / b`
    Div,
    /// `sqrt(a)`
    Sqrt,
}

/// An f32 operation. Operands are flushed and the result finished by the caller.
#[inline(always)]
pub fn op32(op: FloatOp, s: [f32; 3], mode: Round) -> f32 {
    let [a, b, c] = s;
    match op {
        FloatOp::Add => add32(a, b, mode),
        FloatOp::Mul => mul32(a, b, mode),
        FloatOp::Fma => fma32(a, b, c, mode),
        FloatOp::Div if mode == Round::Near => a / b,
        FloatOp::Sqrt if mode == Round::Near => a.sqrt(),
        _ => f32::from_bits(exact(F32, op, s.map(|x| x.to_bits() as u64), mode) as u32),
    }
}

/// An f32 operation on operands that are flushed already, and its result finished.
///
/// `.ftz` flushes by the result as rounded with an unbounded exponent: 0x00800000 * 0x3f7fffff is then exact and below the least
/// normal number, so it becomes zero, although f32 rounds it up to that number.
#[inline(always)]
pub fn finish32(q: Q, op: FloatOp, s: [f32; 3]) -> u64 {
    let mode = Round::of(q);
    let r = op32(op, s, mode);
    if !q.has(q::ftz) {
        return out(q, r);
    }
    // computed with scaled exponents; an operand that becomes infinite has no such small result
    const UP: f32 = 18446744073709551616.0;
    // Sums as small as that are exact, and no root is.
    let exact = matches!(op, FloatOp::Add | FloatOp::Sqrt);
    let moved = if exact { f32::INFINITY } else { op32(op, [s[0] * UP, s[1], s[2] * UP], mode) };
    let tiny = r.abs() == f32::MIN_POSITIVE && moved.abs() < f32::MIN_POSITIVE * UP;
    out(q, if tiny { 0f32.copysign(r) } else { r })
}

/// An f64 operation.
#[inline(always)]
pub fn op64(op: FloatOp, s: [u64; 3], mode: Round) -> u64 {
    let [a, b, c] = s.map(f64::from_bits);
    if mode != Round::Near {
        return exact(F64, op, s, mode);
    }
    match op {
        FloatOp::Add => a + b,
        FloatOp::Mul => a * b,
        FloatOp::Fma => a.mul_add(b, c),
        FloatOp::Div => a / b,
        FloatOp::Sqrt => a.sqrt(),
    }
    .to_bits()
}

/// `add`, `sub`, `mul`, `fma` on f32, f64, f32x2; the first operands of the mixed forms are f16 or bf16.
#[inline(always)]
pub fn basic<const N: usize>(q: Q, op: FloatOp, s: [u64; N], minus: bool) -> u64 {
    match q.ty[0] {
        Ty::F64 => {
            let mut t = [0; 3];
            t[..N].copy_from_slice(&s);
            if minus {
                t[1] ^= 1 << 63;
            }
            let r = op64(op, t, Round::of(q));
            // a division is a software sequence, which tests the dividend first
            if op == FloatOp::Div { out64(r, [0, s[0], s[1]]) } else { out64(r, s) }
        }
        Ty::F32x2 => {
            let half = match q.ty[1] {
                Ty::F16x2 => Ty::F16,
                Ty::Bf16x2 => Ty::Bf16,
                _ => Ty::F32,
            };
            let lane = |i: usize| {
                let mut at = 0;
                let t = s.map(|x| {
                    at += 1;
                    if half != Ty::F32 && at == 1 { x >> (16 * i) & 0xffff } else { x >> (32 * i) & 0xffff_ffff }
                });
                one32(q, half, 1, op, t, minus)
            };
            lane(0) | lane(1) << 32
        }
        _ => one32(q, q.ty[1], N - 1, op, s, minus),
    }
}

/// `fma.rn.f32` without `.ftz`, with the instruction of the processor if it has one: the same bits as [`basic`].
#[inline(always)]
pub fn fma_near<L: lanes::Level>(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    let [a, b, c] = [a, b, c].map(|x| arg(q, x).to_bits());
    [out(q, f32::from_bits(lanes::ffma::<L>(a, b, c)))]
}

/// `add.rn.f32` without `.ftz`, like the following: a NaN may be any.
#[inline(always)]
pub fn add_any_nan(_: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [lanes::fadd(a as u32, b as u32).into()]
}

/// `sub`
#[inline(always)]
pub fn sub_any_nan(_: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [lanes::fsub(a as u32, b as u32).into()]
}

/// `mul`
#[inline(always)]
pub fn mul_any_nan(_: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [lanes::fmul(a as u32, b as u32).into()]
}

/// `fma`
#[inline(always)]
pub fn fma_any_nan<L: lanes::Level>(_: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [lanes::ffma::<L>(a as u32, b as u32, c as u32).into()]
}

#[inline(always)]
fn one32<const N: usize>(q: Q, half: Ty, halves: usize, op: FloatOp, s: [u64; N], minus: bool) -> u64 {
    let mut t = [0.0; 3];
    for i in 0..N {
        t[i] = if matches!(half, Ty::F16 | Ty::Bf16) && i < halves {
            float16::to_f64(half, s[i]) as f32
        } else {
            arg(q, s[i])
        };
    }
    if minus {
        t[1] = -t[1];
    }
    finish32(q, op, t)
}

/// `min`, `max` on f32: 2 or 3 inputs.
#[inline(always)]
pub fn pick32<const N: usize>(q: Q, s: [u64; N], max: bool) -> u64 {
    pick(F32, q, s.map(|x| arg(q, x).to_bits() as u64), max)
}

/// `min`, `max` of any IEEE format; the inputs are flushed already. -0 is less than +0.
#[inline(always)]
pub fn pick<const N: usize>(f: FloatFormat, q: Q, s: [u64; N], max: bool) -> u64 {
    let sign = f.sign();
    // without branches, which LLVM does not vectorise
    let (mut d, mut found, mut nan) = (f.nan, false, false);
    let mut signs = 0;
    for x in s {
        signs ^= x & sign;
        let x = if q.has(q::abs) { x & (sign - 1) } else { x & (sign | (sign - 1)) };
        let key = |x: u64| if x & sign != 0 { !(x & (sign - 1)) as i64 } else { x as i64 };
        let number = !f.is_nan(x);
        let stays = found && max == (key(d) >= key(x));
        d = if number && !stays { x } else { d };
        found |= number;
        nan |= !number;
    }
    if !found || nan && q.has(q::NaN) {
        f.nan
    } else if q.has(q::xorsign) {
        d & (sign - 1) | signs
    } else {
        d
    }
}

/// `div.approx`, `div.full`: here correctly rounded, with the special range of `.approx`.
#[inline(always)]
pub fn div_approx(q: Q, a: u64, b: u64) -> u64 {
    let (x, y) = (arg(q, a), arg(q, b));
    // 2^126 < |b| < 2^128: zero, or NaN if a is infinite.
    if q.has(q::approx) && y.is_finite() && y.abs() > f32::from_bits(0x7e80_0000) && !x.is_nan() {
        return if x.is_infinite() { NAN32 } else { ((x.to_bits() ^ y.to_bits()) & 0x8000_0000) as u64 };
    }
    out(q, x / y)
}

/// An approximated f32 function: computed in f64, rounded once.
#[inline(always)]
pub fn approx32(q: Q, a: u64, f: impl Fn(f64) -> f64) -> u64 {
    out(q, f(arg(q, a) as f64) as f32)
}

/// `sin.approx` and `cos.approx` with the range reduction of an H200: the angle times 1/(2 pi) in f32, truncated to 25 fraction
/// bits of a turn. A descending quarter inverts all bits. The function of the reduced angle is exact here.
#[inline(always)]
pub fn turn(q: Q, a: u64, cos: bool) -> u64 {
    const PER_TURN: f32 = 0.15915494;
    const QUARTER: u64 = 1 << 23;
    let turns = mul32(arg(q, a), PER_TURN, Round::Zero);
    if !turns.is_finite() {
        return NAN32;
    }
    let turns_in_f64 = turns.abs() as f64;
    let place = (turns_in_f64.fract() * (4 * QUARTER) as f64) as u64;
    let (quarter, forwards) = (place / QUARTER, place % QUARTER);
    let back = (quarter % 2 == 1) != cos;
    let angle = if back { QUARTER - 1 - forwards } else { forwards };
    let negative = if cos { quarter == 1 || quarter == 2 } else { (quarter >= 2) != turns.is_sign_negative() };
    let value = (angle as f64 * (std::f64::consts::TAU / (4 * QUARTER) as f64)).sin() as f32;
    out(q, if negative { -value } else { value })
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`: only the high 32 bits are read and written (20 bits of mantissa).
#[inline(always)]
pub fn gross64(a: u64, f: impl Fn(f64) -> f64) -> u64 {
    let high = |x: u64| {
        let x = x & !0xffff_ffff;
        if F64.is_subnormal(x) { x & 1 << 63 } else { x }
    };
    let r = f(f64::from_bits(high(a)));
    if r.is_nan() { 0x7fff_ffff_0000_0000 } else { high(r.to_bits()) }
}

/// `testp`
#[inline(always)]
pub fn testp(q: Q, a: u64) -> bool {
    let f = if q.ty[0] == Ty::F64 { F64 } else { F32 };
    let mag = a & (f.sign() - 1);
    let (nan, inf, sub) = (mag > f.inf, mag == f.inf, f.is_subnormal(mag));
    if q.has(q::finite) {
        mag < f.inf
    } else if q.has(q::infinite) {
        inf
    } else if q.has(q::number) {
        !nan
    } else if q.has(q::notanumber) {
        nan
    } else if q.has(q::subnormal) {
        sub
    } else {
        // Zeros count as normal.
        !nan && !inf && !sub
    }
}
