//! Arithmetic of one lane: integers, extended precision, f32 and f64, f16 and bf16 (manual, 9.7.1 to 9.7.4).
//!
//! The error bounds of approximating instructions are in docs/model/numerics.md. All others give the bits of an H200 (tests/hardware).

use crate::numerics::arith::float::{self, FloatOp};
use crate::numerics::arith::integer::{self, value, zext};
use crate::numerics::arith::soft::{self, Round};
use crate::numerics::arith::{half, mixed};
use crate::numerics::qual::{Q, Ty, q};

/// Whether the type is an integer type, a packed one or an untyped one included.
#[inline(always)]
const fn is_integer(ty: Ty) -> bool {
    !ty.is_float() && !matches!(ty, Ty::F16x2 | Ty::Bf16x2 | Ty::F32x2 | Ty::E4m3x4 | Ty::E5m2x4)
}

#[inline(always)]
fn basic<const N: usize>(q: Q, op: FloatOp, s: [u64; N], minus: bool) -> u64 {
    if mixed::handles(q) {
        return mixed::basic(q, op, s, minus);
    }
    match half::format(q.ty[0]) {
        Some((f, pair)) => half::basic(q, f, pair, op, s, minus),
        None => float::basic(q, op, s, minus),
    }
}

/// `add`
#[inline(always)]
pub fn add(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [if is_integer(q.ty[0]) { integer::linear(q, a, b, false) } else { basic(q, FloatOp::Add, [a, b], false) }]
}

/// `sub`
#[inline(always)]
pub fn sub(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [if is_integer(q.ty[0]) { integer::linear(q, a, b, true) } else { basic(q, FloatOp::Add, [a, b], true) }]
}

/// `mul`
#[inline(always)]
pub fn mul(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [if is_integer(q.ty[0]) { integer::mul(q, a, b) } else { basic(q, FloatOp::Mul, [a, b], false) }]
}

/// `mad`; for floating point it is `fma`.
#[inline(always)]
pub fn mad(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [if is_integer(q.ty[0]) { integer::mad(q, a, b, c) } else { basic(q, FloatOp::Fma, [a, b, c], false) }]
}

/// `fma`
#[inline(always)]
pub fn fma(q: Q, s: [u64; 3]) -> [u64; 1] {
    [basic(q, FloatOp::Fma, s, false)]
}

/// `clmad`: the product without carries, low or high half, with `c` added without carries.
#[inline(always)]
pub fn clmad(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    let product = (0..64).filter(|i| b >> i & 1 != 0).fold(0, |sum, i| sum ^ (a as u128) << i);
    [c ^ if q.has(q::hi) { (product >> 64) as u64 } else { product as u64 }]
}

/// `mul24`
#[inline(always)]
pub fn mul24(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [integer::mul24(q, a, b)]
}

/// `mad24`
#[inline(always)]
pub fn mad24(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [integer::mad24(q, a, b, c)]
}

/// `sad`
#[inline(always)]
pub fn sad(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [integer::sad(q, a, b, c)]
}

/// `div`
#[inline(always)]
pub fn div(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [if is_integer(q.ty[0]) {
        integer::divide(q, a, b, false)
    } else if q.has(q::approx) || q.has(q::full) {
        float::div_approx(q, a, b)
    } else {
        float::basic(q, FloatOp::Div, [a, b], false)
    }]
}

/// `rem`
#[inline(always)]
pub fn rem(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [integer::divide(q, a, b, true)]
}

/// `abs`
#[inline(always)]
pub fn abs(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    if let Some((f, pair)) = half::format(q.ty[0]) {
        return [half::sign(q, f, pair, a, false)];
    }
    [match q.ty[0] {
        Ty::F32 => float::out(q, float::arg(q, a).abs()),
        // A NaN keeps its sign.
        Ty::F64 => float::out64(a & !(1 << 63), [a]),
        ty => value(ty, a).unsigned_abs() as u64,
    }]
}

/// `neg`
#[inline(always)]
pub fn neg(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    if let Some((f, pair)) = half::format(q.ty[0]) {
        return [half::sign(q, f, pair, a, true)];
    }
    if let Some((bits, signed)) = integer::packed(q.ty[0]) {
        return [integer::each(bits, signed, [a], |[a]| (a as u64).wrapping_neg())];
    }
    [match q.ty[0] {
        Ty::F32 => float::out(q, -float::arg(q, a)),
        Ty::F64 => float::out64(a ^ 1 << 63, [a]),
        _ => a.wrapping_neg(),
    }]
}

#[inline(always)]
fn pick<const N: usize>(q: Q, s: [u64; N], max: bool) -> u64 {
    if let Some((f, pair)) = half::format(q.ty[0]) {
        return half::pick(q, f, pair, s, max);
    }
    match q.ty[0] {
        Ty::F32 => float::pick32(q, s, max),
        Ty::F64 => {
            let d = float::pick(soft::F64, q, s, max);
            float::out64(d, s)
        }
        _ => {
            let mut d = s[0];
            for x in &s[1..] {
                d = integer::pick(q, d, *x, max);
            }
            d
        }
    }
}

/// `min`, of two or three.
#[inline(always)]
pub fn min<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    [pick(q, s, false)]
}

/// `max`, of two or three.
#[inline(always)]
pub fn max<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    [pick(q, s, true)]
}

/// `popc`
#[inline(always)]
pub fn popc(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [zext(a, q.ty[0].bits()).count_ones() as u64]
}

/// `clz`
#[inline(always)]
pub fn clz(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    let bits = q.ty[0].bits();
    [zext(a, bits).leading_zeros().saturating_sub(64 - bits.min(64)) as u64]
}

/// `bfind`
#[inline(always)]
pub fn bfind(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [integer::bfind(q, a)]
}

/// `fns`
#[inline(always)]
pub fn fns(_: Q, [mask, base, offset]: [u64; 3]) -> [u64; 1] {
    [integer::fns(mask, base, offset)]
}

/// `brev`
#[inline(always)]
pub fn brev(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [if q.ty[0].bits() == 64 { a.reverse_bits() } else { (a as u32).reverse_bits() as u64 }]
}

/// `bfe`
#[inline(always)]
pub fn bfe(q: Q, [a, pos, len]: [u64; 3]) -> [u64; 1] {
    [integer::bfe(q, a, pos, len)]
}

/// `bfi`
#[inline(always)]
pub fn bfi(q: Q, [a, b, pos, len]: [u64; 4]) -> [u64; 1] {
    [integer::bfi(q, a, b, pos, len)]
}

/// `szext`
#[inline(always)]
pub fn szext(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [integer::szext(q, a, b)]
}

/// `bmsk`
#[inline(always)]
pub fn bmsk(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [integer::bmsk(q, a, b)]
}

/// `dp4a`
#[inline(always)]
pub fn dp4a(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [integer::dp4a(q, a, b, c)]
}

/// `dp2a`
#[inline(always)]
pub fn dp2a(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [integer::dp2a(q, a, b, c)]
}

/// `add.cc`: the sum and the carry.
#[inline(always)]
pub fn add_cc(q: Q, [a, b]: [u64; 2]) -> [u64; 2] {
    integer::carry_add(q, a, b, 0)
}

/// `addc{.cc}`: adds the carry, which changes only with `.cc`.
#[inline(always)]
pub fn addc(q: Q, [a, b, cc]: [u64; 3]) -> [u64; 2] {
    let [d, carry] = integer::carry_add(q, a, b, cc);
    [d, if q.has(q::cc) { carry } else { cc }]
}

/// `sub.cc`: the difference and the carry, which is set where there was no borrow.
#[inline(always)]
pub fn sub_cc(q: Q, [a, b]: [u64; 2]) -> [u64; 2] {
    integer::carry_sub(q, a, b, 1)
}

/// `subc{.cc}`
#[inline(always)]
pub fn subc(q: Q, [a, b, cc]: [u64; 3]) -> [u64; 2] {
    let [d, carry] = integer::carry_sub(q, a, b, cc);
    [d, if q.has(q::cc) { carry } else { cc }]
}

/// `mad.cc`: the carry is the addition's.
#[inline(always)]
pub fn mad_cc(q: Q, [a, b, c]: [u64; 3]) -> [u64; 2] {
    integer::carry_add(q, integer::mul(q, a, b), c, 0)
}

/// [`mad_cc`] for the interpreter: `.cc` of `mad` is a qualifier, so its opcode does not name it.
pub(crate) const MAD_CC: super::Lane = |q, s| super::two_words(&mad_cc(q, super::operands::<3>(s)));

/// `madc{.cc}`
#[inline(always)]
pub fn madc(q: Q, [a, b, c, cc]: [u64; 4]) -> [u64; 2] {
    let [d, carry] = integer::carry_add(q, integer::mul(q, a, b), c, cc);
    [d, if q.has(q::cc) { carry } else { cc }]
}

/// `testp`
#[inline(always)]
pub fn testp(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [float::testp(q, a) as u64]
}

/// `copysign`: the sign of `a` on `b`.
#[inline(always)]
pub fn copysign(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    let sign = if q.ty[0] == Ty::F64 { 1 << 63 } else { 1 << 31 };
    [a & sign | b & (sign - 1)]
}

/// `rcp`
#[inline(always)]
pub fn rcp(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [if q.ty[0] == Ty::F64 {
        if q.has(q::approx) {
            float::gross64(a, |x| 1.0 / x)
        } else {
            float::out64(float::op64(FloatOp::Div, [1f64.to_bits(), a, 0], Round::of(q)), [a])
        }
    } else {
        float::finish32(q, FloatOp::Div, [1.0, float::arg(q, a), 0.0])
    }]
}

/// `sqrt`
#[inline(always)]
pub fn sqrt(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [if q.ty[0] == Ty::F64 {
        float::out64(float::op64(FloatOp::Sqrt, [a, 0, 0], Round::of(q)), [a])
    } else {
        float::finish32(q, FloatOp::Sqrt, [float::arg(q, a), 0.0, 0.0])
    }]
}

/// `rsqrt`
#[inline(always)]
pub fn rsqrt(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [if q.ty[0] == Ty::F64 {
        if q.has(q::ftz) {
            float::gross64(a, |x| 1.0 / x.sqrt())
        } else {
            float::out64((1.0 / f64::from_bits(a).sqrt()).to_bits(), [a])
        }
    } else {
        float::approx32(q, a, |x| 1.0 / x.sqrt())
    }]
}

/// `sin`
#[inline(always)]
pub fn sin(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [float::turn(q, a, false)]
}

/// `cos`
#[inline(always)]
pub fn cos(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [float::turn(q, a, true)]
}

/// `lg2`
#[inline(always)]
pub fn lg2(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [float::approx32(q, a, f64::log2)]
}

/// `ex2`
#[inline(always)]
pub fn ex2(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [match half::format(q.ty[0]) {
        Some((f, pair)) => half::ex2(q, f, pair, a),
        None => float::approx32(q, a, f64::exp2),
    }]
}

/// `tanh`
#[inline(always)]
pub fn tanh(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [match half::format(q.ty[0]) {
        Some((f, pair)) => half::approx(q, f, pair, a, f64::tanh),
        None => float::approx32(q, a, f64::tanh),
    }]
}

semantics! {
    lane "abs" => abs [1],
    lane "add" => add [2],
    lane "add.cc" => add_cc [2],
    lane "addc" => addc [3],
    lane "bfe" => bfe [3],
    lane "bfi" => bfi [4],
    lane "bfind" => bfind [1],
    lane "bmsk" => bmsk [2],
    lane "brev" => brev [1],
    lane "clmad" => clmad [3],
    lane "clz" => clz [1],
    lane "copysign" => copysign [2],
    lane "cos" => cos [1],
    lane "div" => div [2],
    lane "dp2a" => dp2a [3],
    lane "dp4a" => dp4a [3],
    lane "ex2" => ex2 [1],
    lane "fma" => fma [3],
    lane "fns" => fns [3],
    lane "lg2" => lg2 [1],
    lane "mad" => mad [3],
    lane "mad24" => mad24 [3],
    lane "madc" => madc [4],
    lane "max" => max [2 | 3],
    lane "min" => min [2 | 3],
    lane "mul" => mul [2],
    lane "mul24" => mul24 [2],
    lane "neg" => neg [1],
    lane "popc" => popc [1],
    lane "rcp" => rcp [1],
    lane "rem" => rem [2],
    lane "rsqrt" => rsqrt [1],
    lane "sad" => sad [3],
    lane "sin" => sin [1],
    lane "sqrt" => sqrt [1],
    lane "sub" => sub [2],
    lane "sub.cc" => sub_cc [2],
    lane "subc" => subc [3],
    lane "szext" => szext [2],
    lane "tanh" => tanh [1],
    lane "testp" => testp [1],
}

#[cfg(test)]
mod tests;
