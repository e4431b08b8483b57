//! Comparisons and selections of one lane (manual, 9.7.6 and 9.7.7).

use crate::numerics::arith::integer::{self, value, zext};
use crate::numerics::arith::{float, half};
use crate::numerics::float16;
use crate::numerics::qual::{Q, Ty, q};
use std::cmp::Ordering;

/// The comparison written, of an order (`None`: one of them is NaN).
#[inline(always)]
fn holds(q: Q, order: Option<Ordering>) -> bool {
    let Some(order) = order else {
        return q.has(q::nan)
            || q.has(q::equ)
            || q.has(q::neu)
            || q.has(q::ltu)
            || q.has(q::leu)
            || q.has(q::gtu)
            || q.has(q::geu);
    };
    if q.has(q::eq) || q.has(q::equ) {
        order.is_eq()
    } else if q.has(q::ne) || q.has(q::neu) {
        order.is_ne()
    } else if q.has(q::lt) || q.has(q::lo) || q.has(q::ltu) {
        order.is_lt()
    } else if q.has(q::le) || q.has(q::ls) || q.has(q::leu) {
        order.is_le()
    } else if q.has(q::gt) || q.has(q::hi) || q.has(q::gtu) {
        order.is_gt()
    } else if q.has(q::ge) || q.has(q::hs) || q.has(q::geu) {
        order.is_ge()
    } else {
        q.has(q::num)
    }
}

/// Compares two values of a type that is not packed.
#[inline(always)]
fn compare(q: Q, ty: Ty, a: u64, b: u64) -> bool {
    let order = match ty {
        Ty::F32 => float::arg(q, a).partial_cmp(&float::arg(q, b)),
        Ty::F64 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Ty::F16 | Ty::F16x2 | Ty::Bf16 | Ty::Bf16x2 => {
            float16::to_f64(ty, half::arg(q, ty, a)).partial_cmp(&float16::to_f64(ty, half::arg(q, ty, b)))
        }
        _ => {
            // with the sign flipped, signed numbers have the order of unsigned ones: LLVM does not make lanes longs to extend them
            let flip = if ty.is_signed() { 1 << (ty.bits() - 1) } else { 0 };
            Some((zext(a, ty.bits()) ^ flip).cmp(&(zext(b, ty.bits()) ^ flip)))
        }
    };
    holds(q, order)
}

/// Combines a result with the predicate operand, if there is one.
#[inline(always)]
fn combine<const N: usize>(q: Q, r: bool, s: &[u64; N]) -> bool {
    let c = s.get(2).is_some_and(|c| c & 1 != 0);
    if N < 3 {
        r
    } else if q.has(q::and) {
        r & c
    } else if q.has(q::or) {
        r | c
    } else {
        r ^ c
    }
}

/// `setp`: the two predicates: of the halves for pairs, else of the comparison and of its negation.
#[inline(always)]
pub fn setp<const N: usize>(q: Q, s: [u64; N]) -> [u64; 2] {
    let ty = q.ty[0];
    let (a, b) = operands(&s);
    let low = compare(q, ty, a, b);
    let second = if matches!(ty, Ty::F16x2 | Ty::Bf16x2) { compare(q, ty, a >> 16, b >> 16) } else { !low };
    [combine(q, low, &s) as u64, combine(q, second, &s) as u64]
}

#[inline(always)]
fn operands<const N: usize>(s: &[u64; N]) -> (u64, u64) {
    (s.first().copied().unwrap_or(0), s.get(1).copied().unwrap_or(0))
}

/// `set`: true is all ones, or 1.0 for floating-point destinations.
#[inline(always)]
pub fn set<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    let (a, b) = operands(&s);
    let [dst, src, ..] = q.ty;
    if let Some((bits, signed)) = integer::packed(dst) {
        return [integer::each(bits, signed, [a, b], |[a, b]| if holds(q, Some(a.cmp(&b))) { u64::MAX } else { 0 })];
    }
    let truth = |r: bool, bits: u32| {
        let yes = match dst {
            Ty::F32 => 0x3f80_0000,
            Ty::F16 | Ty::F16x2 => 0x3c00,
            Ty::Bf16 | Ty::Bf16x2 => 0x3f80,
            _ => zext(u64::MAX, bits),
        };
        if combine(q, r, &s) { yes } else { 0 }
    };
    [if matches!(src, Ty::F16x2 | Ty::Bf16x2) {
        truth(compare(q, src, a, b), 16) | truth(compare(q, src, a >> 16, b >> 16), 16) << 16
    } else {
        truth(compare(q, src, a, b), dst.bits())
    }]
}

/// `selp`
#[inline(always)]
pub fn selp(_: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    [if c & 1 != 0 { a } else { b }]
}

/// `slct`: `a` if `c` is not below zero; NaN takes `b`.
#[inline(always)]
pub fn slct(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    let first = if q.ty[1] == Ty::F32 { float::arg(q, c) >= 0.0 } else { value(Ty::S32, c) >= 0 };
    [if first { a } else { b }]
}

semantics! {
    lane "selp" => selp [3],
    lane "set" => set [2 | 3],
    lane "setp" => setp [2 | 3],
    lane "slct" => slct [3],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::qual::Qualifier;

    /// Every comparison on (less, equal, greater, unordered), as the manual's table has it.
    const TABLE: [(Qualifier, [bool; 4]); 18] = [
        (q::eq, [false, true, false, false]),
        (q::ne, [true, false, true, false]),
        (q::lt, [true, false, false, false]),
        (q::le, [true, true, false, false]),
        (q::gt, [false, false, true, false]),
        (q::ge, [false, true, true, false]),
        (q::lo, [true, false, false, false]),
        (q::ls, [true, true, false, false]),
        (q::hi, [false, false, true, false]),
        (q::hs, [false, true, true, false]),
        (q::equ, [false, true, false, true]),
        (q::neu, [true, false, true, true]),
        (q::ltu, [true, false, false, true]),
        (q::leu, [true, true, false, true]),
        (q::gtu, [false, false, true, true]),
        (q::geu, [false, true, true, true]),
        (q::num, [true, true, true, false]),
        (q::nan, [false, false, false, true]),
    ];

    #[test]
    fn comparisons_of_floats() {
        let f = |x: f32| x.to_bits() as u64;
        let d = |x: f64| x.to_bits();
        let pairs = [(1.0, 2.0), (-0.0, 0.0), (f64::INFINITY, 5.0), (1.0, f64::NAN)];
        for (op, want) in TABLE {
            for ((a, b), want) in pairs.into_iter().zip(want) {
                let k = |ty| Q::new(&[op], &[ty]);
                assert_eq!(setp(k(Ty::F64), [d(a), d(b)]), [want as u64, !want as u64]);
                assert_eq!(setp(k(Ty::F32), [f(a as f32), f(b as f32)]), [want as u64, !want as u64]);
                let top = |x: f64| f(x as f32) >> 16;
                assert_eq!(setp(k(Ty::Bf16), [top(a), top(b)])[0], want as u64);
                let both = |x: u64| x << 16 | 0x3f80;
                let low = setp(k(Ty::Bf16), [0x3f80, 0x3f80])[0];
                assert_eq!(setp(k(Ty::Bf16x2), [both(top(a)), both(top(b))]), [low, want as u64]);
            }
        }
    }

    #[test]
    fn integers_and_combinations() {
        let lt = |ty| Q::new(&[q::lt], &[ty]);
        assert_eq!(setp(lt(Ty::S32), [0xffff_ffff, 0]), [1, 0]);
        assert_eq!(setp(lt(Ty::U32), [0xffff_ffff, 0]), [0, 1]);
        assert_eq!(setp(lt(Ty::S16), [0x8000, 0x7fff]), [1, 0]);
        assert_eq!(setp(lt(Ty::S64), [1 << 63, 0]), [1, 0]);
        for (op, f) in [(q::and, (|a, b| a & b) as fn(u64, u64) -> u64), (q::or, |a, b| a | b), (q::xor, |a, b| a ^ b)]
        {
            for (r, c) in [(0u64, 0u64), (0, 1), (1, 0), (1, 1)] {
                let k = Q::new(&[q::eq, op], &[Ty::B32]);
                assert_eq!(setp(k, [r, 1, c]), [f(r, c), f(r ^ 1, c)]);
                let k = Q::new(&[q::eq, op], &[Ty::U32, Ty::B32]);
                assert_eq!(set(k, [r, 1, c]), [f(r, c) * 0xffff_ffff]);
            }
        }
    }

    #[test]
    fn set_gives_ones_or_one() {
        let k = |d, s| Q::new(&[q::eq], &[d, s]);
        assert_eq!(set(k(Ty::F32, Ty::S64), [3, 3]), [0x3f80_0000]);
        assert_eq!(set(k(Ty::U16, Ty::F16), [0x3c00, 0x3c00]), [0xffff]);
        assert_eq!(set(k(Ty::F16, Ty::U32), [1, 1]), [0x3c00]);
        assert_eq!(set(k(Ty::F16x2, Ty::F16x2), [0x3c00_0000, 0x3c00_0001]), [0x3c00_0000]);
        assert_eq!(set(Q::new(&[q::eq, q::ftz], &[Ty::F16x2, Ty::F16x2]), [0, 1]), [0x3c00_3c00]);
        assert_eq!(set(k(Ty::U32, Ty::Bf16x2), [0x3f80_0000, 0x3f80_0001]), [0xffff_0000]);
        assert_eq!(set(Q::new(&[q::lt], &[Ty::S8x4]), [0xff01_8000, 0x0001_7f00]), [0xff00_ff00]);
        assert_eq!(set(Q::new(&[q::eq, q::ftz], &[Ty::U32, Ty::F32]), [1, 0x8000_0001]), [0xffff_ffff]);
    }

    #[test]
    fn selections() {
        assert_eq!(selp(Q::new(&[], &[Ty::B32]), [7, 8, 1]), [7]);
        assert_eq!(selp(Q::new(&[], &[Ty::B32]), [7, 8, 0]), [8]);
        let f = Q::new(&[], &[Ty::B32, Ty::F32]);
        let i = Q::new(&[], &[Ty::B32, Ty::S32]);
        assert_eq!(slct(f, [7, 8, 0x8000_0000]), [7]);
        assert_eq!(slct(f, [7, 8, 0x7fc0_0000]), [8]);
        assert_eq!(slct(f, [7, 8, 0x8000_0001]), [8]);
        assert_eq!(slct(Q::new(&[q::ftz], &[Ty::B32, Ty::F32]), [7, 8, 0x8000_0001]), [7]);
        assert_eq!((slct(i, [7, 8, 0xffff_ffff]), slct(i, [7, 8, 0])), ([8], [7]));
    }
}
