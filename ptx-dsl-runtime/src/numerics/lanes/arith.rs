//! Arithmetic that engines inline: f32 operations, comparisons of affine rows.

use super::level::Level;
use crate::numerics::arith::{float, soft};

/// Spreads one value for each row over the lanes of that row.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn expand<T: Copy + Default, const NB: usize>(v: [T; NB]) -> [T; 32] {
    let mut out = [T::default(); 32];
    for (out, v) in out.chunks_exact_mut(32 / NB).zip(v) {
        out.fill(v);
    }
    out
}

/// Does 32-bit `base + stride * l` stay inside its type for the `p` lanes of each row?
#[inline(always)]
pub fn fits<const NB: usize>(base: [u32; NB], stride: i64, signed: bool) -> bool {
    let last = stride * (32 / NB as i64 - 1);
    base.iter().all(|&b| {
        let end = last + if signed { b as i32 as i64 } else { b as i64 };
        if signed { i32::try_from(end).is_ok() } else { u32::try_from(end).is_ok() }
    })
}

/// The lanes with `base + l < limit`.
#[inline(always)]
pub fn below(base: u32, limit: u32) -> u32 {
    if base <= u32::MAX - 31 {
        let n = limit.saturating_sub(base).min(32);
        ((1u64 << n) - 1) as u32
    } else {
        wrapping_below(base, limit)
    }
}

/// [`below`] where `base + l` wraps around.
#[cold]
#[inline(never)]
fn wrapping_below(base: u32, limit: u32) -> u32 {
    (0..32).fold(0, |m, l| m | u32::from(base.wrapping_add(l) < limit) << l)
}

/// The lanes with `base + l <= limit`.
#[inline(always)]
pub fn up_to(base: u32, limit: u32) -> u32 {
    if limit == u32::MAX { u32::MAX } else { below(base, limit + 1) }
}

/// The lane with `base + l == value`.
#[inline(always)]
pub fn equal_lane(base: u32, value: u32) -> u32 {
    1u32.checked_shl(value.wrapping_sub(base)).unwrap_or(0)
}

/// Canonicalises a NaN: f32 arithmetic has one.
#[inline(always)]
pub fn one_nan(r: u32) -> u32 {
    if f32::from_bits(r).is_nan() { float::NAN32 as u32 } else { r }
}

/// `add.rn.f32` without [`one_nan`], like the following functions: NaNs are canonicalised where they leave f32 arithmetic.
#[inline(always)]
pub fn fadd(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) + f32::from_bits(b)).to_bits()
}

/// `sub.rn.f32`
#[inline(always)]
pub fn fsub(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) - f32::from_bits(b)).to_bits()
}

/// `mul.rn.f32`
#[inline(always)]
pub fn fmul(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) * f32::from_bits(b)).to_bits()
}

/// `fma.rn.f32`
#[inline(always)]
pub fn ffma<L: Level>(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
    // without an FMA instruction `mul_add` is a call that takes 20 ns
    let r = if L::FMA { a.mul_add(b, c) } else { float::fma32(a, b, c, soft::Round::Near) };
    r.to_bits()
}

#[cfg(test)]
mod tests {
    use super::super::level::Base;
    use super::*;
    use ptx_dsl_test_support::random::Random;

    fn numbers() -> impl Iterator<Item = u32> {
        let mut random = Random::new(1);
        std::iter::repeat_with(move || random.word())
    }

    #[derive(Clone, Copy)]
    struct Fused;
    impl Level for Fused {
        const FMA: bool = true;
    }

    #[test]
    fn fma_is_the_same_on_all_levels() {
        let mut r = numbers();
        for _ in 0..20_000 {
            let [a, b, c] = [(); 3].map(|()| r.next().unwrap_or(0));
            // also operands of like size, where something is left to round
            for c in [c, (c & 0x807f_ffff) | (a & 0x7f80_0000), (c & 0x803f_ffff) | 0x3f80_0000] {
                for b in [b, (b & 0x807f_ffff) | 0x3f80_0000] {
                    let [base, avx2] = [ffma::<Base>(a, b, c), ffma::<Fused>(a, b, c)].map(one_nan);
                    assert_eq!(base, avx2, "{a:08x} {b:08x} {c:08x}");
                }
            }
        }
    }

    #[test]
    fn comparisons_of_what_counts_the_lanes() {
        let ends = [0, 1, 5, 31, 32, 33, 1000, u32::MAX - 40, u32::MAX - 31, u32::MAX - 30, u32::MAX - 1, u32::MAX];
        for base in ends {
            for limit in ends.into_iter().chain([base.wrapping_add(7), base.wrapping_add(31)]) {
                let by = |f: &dyn Fn(u32) -> bool| (0..32).fold(0, |m, l| m | u32::from(f(base.wrapping_add(l))) << l);
                assert_eq!(below(base, limit), by(&|v| v < limit), "{base} < {limit}");
                assert_eq!(up_to(base, limit), by(&|v| v <= limit), "{base} <= {limit}");
                assert_eq!(equal_lane(base, limit), by(&|v| v == limit), "{base} == {limit}");
            }
        }
    }

    #[test]
    fn rows_that_wrap_do_not_fit() {
        assert!(fits([u32::MAX - 31], 1, false) && !fits([u32::MAX - 30], 1, false));
        assert!(fits([0, u32::MAX - 60], 4, false) && !fits([0, u32::MAX - 59], 4, false));
        assert!(fits([31], -1, false) && !fits([30], -1, false));
        assert!(fits([i32::MIN as u32], 1, true) && !fits([i32::MAX as u32], 1, true));
        assert!(fits([30], -1, true));
    }

    #[test]
    fn one_value_a_row() {
        let wide = expand([1u64, 2]);
        assert_eq!((wide[0], wide[15], wide[16], wide[31]), (1, 1, 2, 2));
    }
}
