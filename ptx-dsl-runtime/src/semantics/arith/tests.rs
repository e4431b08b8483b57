//! Against constants worked out by hand, integer arithmetic in i128, and the host's own `.rn` with its residual.

mod h200;

use super::*;
use crate::numerics::qual::Qualifier;
use ptx_dsl_test_support::random::Random;

fn k(flags: &[Qualifier], ty: &[Ty]) -> Q {
    Q::new(flags, ty)
}

const F32: &[u32] = &[
    0,
    1,
    2,
    0x7f_ffff,
    0x80_0000,
    0x80_0001,
    0x3400_0000,
    0x3f7f_ffff,
    0x3f80_0000,
    0x3f80_0001,
    0x4000_0000,
    0x4049_0fdb,
    0x4b80_0000,
    0x4b80_0001,
    0x5f00_0000,
    0x7e80_0000,
    0x7f00_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0x7fc0_0000,
    0x1f80_0003,
    0x2000_0001,
    0x3eaa_aaab,
    0x3dcc_cccd,
    0x0123_4567,
];

const F64: &[u64] = &[
    0,
    1,
    0xf_ffff_ffff_ffff,
    0x10_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fb9_9999_9999_999a,
    0x4009_21fb_5444_2d18,
    0x3ca0_0000_0000_0000,
    0x4330_0000_0000_0001,
    0x7fe0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
];

const MODES: [(Qualifier, Round); 4] =
    [(q::rn, Round::Near), (q::rz, Round::Zero), (q::rm, Round::Down), (q::rp, Round::Up)];

fn signed32() -> impl Iterator<Item = f32> + Clone {
    F32.iter().flat_map(|x| [f32::from_bits(*x), -f32::from_bits(*x)])
}

/// The result of a rounding mode, from the nearest result and the side of it on which the exact one is.
fn step32(near: f32, side: f64, mode: Round) -> f32 {
    let down = mode == Round::Down || mode == Round::Zero && (near > 0.0 || near == 0.0 && side > 0.0);
    let up = mode == Round::Up || mode == Round::Zero && (near < 0.0 || near == 0.0 && side < 0.0);
    if side < 0.0 && down {
        near.next_down()
    } else if side > 0.0 && up {
        near.next_up()
    } else {
        near
    }
}

fn same32(got: u64, want: f32, what: &str) {
    let want = if want.is_nan() { 0x7fff_ffff } else { want.to_bits() as u64 };
    assert_eq!(got, want, "{what}: {got:#x} instead of {want:#x}");
}

/// The sign of `p + c - near`, exactly.
fn side(p: f64, c: f64, near: f64) -> f64 {
    if !p.is_finite() || !c.is_finite() {
        return 0.0;
    }
    let s = p + c;
    let v = s - p;
    let rest = (p - (s - v)) + (c - v);
    if s > near {
        1.0
    } else if s < near {
        -1.0
    } else {
        rest
    }
}

#[test]
fn f32_in_all_modes() {
    for (flag, mode) in MODES {
        let m = k(&[flag], &[Ty::F32]);
        for a in signed32() {
            let x = a.to_bits() as u64;
            let root = a.sqrt();
            let rest = if root.is_finite() { side(a as f64, -(root as f64 * root as f64), 0.0) } else { 0.0 };
            same32(sqrt(m, [x])[0], step32(root, rest, mode), "sqrt");
            for b in signed32() {
                let y = b.to_bits() as u64;
                let what = format!("{mode:?} {a:e} {b:e}");
                let zero = |near: f32, s: bool, t: bool| {
                    if near == 0.0 && s != t && mode == Round::Down { -0.0 } else { near }
                };
                let near = a + b;
                let exact_zero = near == 0.0;
                let want = if exact_zero {
                    zero(near, a.is_sign_negative(), b.is_sign_negative())
                } else {
                    step32(near, side(a as f64, b as f64, near as f64), mode)
                };
                same32(add(m, [x, y])[0], want, &what);
                same32(sub(m, [x, (-b).to_bits() as u64])[0], want, &what);
                let p = a as f64 * b as f64;
                same32(mul(m, [x, y])[0], step32(a * b, side(p, 0.0, (a * b) as f64), mode), &what);
                let near = a / b;
                let rest = if !near.is_finite() && b != 0.0 && a.is_finite() {
                    -near.signum() as f64
                } else if near.is_finite() && b.is_finite() && b != 0.0 {
                    side(a as f64, -(near as f64 * b as f64), 0.0) * b.signum() as f64
                } else {
                    0.0
                };
                same32(div(m, [x, y])[0], step32(near, rest, mode), &what);
                for c in signed32() {
                    let near = a.mul_add(b, c);
                    let rest = side(p, c as f64, near as f64);
                    let want = if near == 0.0 && rest == 0.0 {
                        zero(near, p.is_sign_negative(), c.is_sign_negative())
                    } else {
                        step32(near, rest, mode)
                    };
                    same32(fma(m, [x, y, c.to_bits() as u64])[0], want, &format!("{what} {c:e}"));
                }
            }
        }
    }
}

#[test]
fn exact_arithmetic_rounds_to_nearest_as_the_host_does() {
    let all = F64.iter().flat_map(|x| [*x, *x ^ 1 << 63]);
    let d = |x: u64| soft::F64.decode(x);
    let same = |got: soft::Num, want: f64, what: &str| {
        let got = soft::F64.encode(got, Round::Near, false);
        let want = if want.is_nan() { float::NAN64 } else { want.to_bits() };
        assert_eq!(got, want, "{what}: {got:#x} instead of {want:#x}");
    };
    for a in all.clone() {
        let x = f64::from_bits(a);
        // To LLVM one NaN is as good as another: it takes `x < 0 ? NaN : sqrt(x)` for `sqrt(x)`, whatever its NaN is.
        let root = std::hint::black_box(x.sqrt());
        same(soft::sqrt(d(a)), root, &format!("sqrt of {x:e}"));
        for b in all.clone() {
            let y = f64::from_bits(b);
            let what = format!("{x:e} {y:e}");
            same(soft::add(d(a), d(b), Round::Near), x + y, &what);
            same(soft::mul(d(a), d(b)), x * y, &what);
            same(soft::div(d(a), d(b)), x / y, &what);
            for c in all.clone() {
                let z = f64::from_bits(c);
                same(soft::add(soft::mul(d(a), d(b)), d(c), Round::Near), x.mul_add(y, z), &format!("{what} {z:e}"));
            }
        }
    }
}

#[test]
fn f64_directed() {
    let one = 1f64.to_bits();
    let tiny = 2f64.powi(-60).to_bits();
    let table = [
        (q::rz, add as fn(Q, [u64; 2]) -> [u64; 1], tiny, one),
        (q::rm, add, tiny, one),
        (q::rp, add, tiny, one + 1),
        (q::rp, sub, tiny, one),
        (q::rm, sub, tiny, one - 1),
        (q::rz, sub, tiny, one - 1),
        (q::rn, sub, tiny, one),
        // 1/3 = 0x3fd5555555555555 and a rest.
        (q::rm, div, 3f64.to_bits(), 0x3fd5_5555_5555_5555),
        (q::rp, div, 3f64.to_bits(), 0x3fd5_5555_5555_5556),
    ];
    for (flag, f, b, want) in table {
        assert_eq!(f(k(&[flag], &[Ty::F64]), [one, b]), [want], "{flag:?}");
    }
    // sqrt(2) lies below 0x3ff6a09e667f3bcd.
    assert_eq!(sqrt(k(&[q::rm], &[Ty::F64]), [2f64.to_bits()]), [0x3ff6_a09e_667f_3bcc]);
    assert_eq!(sqrt(k(&[q::rp], &[Ty::F64]), [2f64.to_bits()]), [0x3ff6_a09e_667f_3bcd]);
    assert_eq!(rcp(k(&[q::rz], &[Ty::F64]), [3f64.to_bits()]), [0x3fd5_5555_5555_5555]);
    assert_eq!(fma(k(&[q::rp], &[Ty::F64]), [one + 1, one + 1, 0]), [one + 3]);
    assert_eq!(add(k(&[q::rm], &[Ty::F64]), [one, one | 1 << 63]), [1 << 63]);
}

#[test]
fn f64_nans() {
    let (a, b) = (0x7ff0_0000_0000_0abc_u64, 0xfff8_0000_0000_0def_u64);
    let one = 1f64.to_bits();
    assert_eq!(add(k(&[], &[Ty::F64]), [a, one]), [a | 1 << 51]);
    assert_eq!(mul(k(&[], &[Ty::F64]), [one, b]), [b]);
    assert_eq!(fma(k(&[q::rz], &[Ty::F64]), [one, one, b]), [b]);
    assert_eq!(sqrt(k(&[q::rn], &[Ty::F64]), [(-1f64).to_bits()]), [0xfff8 << 48]);
    assert_eq!(abs(k(&[], &[Ty::F64]), [b]), [b]);
    assert_eq!(min(k(&[], &[Ty::F64]), [a, one]), [one]);
}

#[test]
fn f32_flush_saturate_and_special() {
    let f = |flags: &[Qualifier]| k(flags, &[Ty::F32]);
    let min = 0x80_0000u64;
    assert_eq!(sub(f(&[]), [min + 1, min]), [1]);
    assert_eq!(sub(f(&[q::ftz]), [min + 1, min]), [0]);
    assert_eq!(sub(f(&[q::ftz]), [min, min + 1]), [0x8000_0000]);
    assert_eq!(mul(f(&[q::ftz]), [0x8000_0001, 0x3f80_0000]), [0x8000_0000]);
    assert_eq!(add(f(&[q::sat]), [0x3f80_0000, 0x3f80_0000]), [0x3f80_0000]);
    assert_eq!(add(f(&[q::sat]), [0xbf80_0000, 0]), [0]);
    assert_eq!(add(f(&[q::sat]), [0x7fc0_0000, 0]), [0]);
    assert_eq!(mul(f(&[q::sat]), [0x8000_0000, 0x3f80_0000]), [0]);
    assert_eq!(abs(f(&[q::ftz]), [0x8000_0001]), [0]);
    assert_eq!(neg(f(&[]), [0x3f80_0000]), [0xbf80_0000]);
    assert_eq!(div(f(&[q::approx]), [0x3f80_0000, 0xff00_0000]), [0x8000_0000]);
    assert_eq!(div(f(&[q::approx]), [0x7f80_0000, 0x7f00_0000]), [0x7fff_ffff]);
    assert_eq!(div(f(&[q::full]), [0x3f80_0000, 0x4000_0000]), [0x3f00_0000]);
    let two = k(&[], &[Ty::F32x2]);
    assert_eq!(add(two, [0x3f80_0000_4000_0000, 0x3f80_0000_3f80_0000]), [0x4000_0000_4040_0000]);
    // 1.0 (f16) + 2.0
    assert_eq!(add(k(&[], &[Ty::F32, Ty::F16]), [0x3c00, 0x4000_0000]), [0x4040_0000]);
    assert_eq!(
        fma(k(&[q::rn], &[Ty::F32x2, Ty::F16x2]), [0x4000_3c00, 0x3f80_0000_4000_0000, 0]),
        [0x4000_0000_4000_0000]
    );
    let one = |g: fn(Q, [u64; 1]) -> [u64; 1], x: u32| g(f(&[q::approx]), [x as u64])[0];
    type Row = (fn(Q, [u64; 1]) -> [u64; 1], u32, u64);
    let table: &[Row] = &[
        (sin, 0x8000_0000, 0x8000_0000),
        (sin, 0x7f80_0000, 0x7fff_ffff),
        (cos, 0, 0x3f80_0000),
        (cos, 0xff80_0000, 0x7fff_ffff),
        (lg2, 0, 0xff80_0000),
        (lg2, 0x4100_0000, 0x4040_0000),
        (lg2, 0xbf80_0000, 0x7fff_ffff),
        (ex2, 0xff80_0000, 0),
        (ex2, 0x4040_0000, 0x4100_0000),
        (ex2, 0x8000_0000, 0x3f80_0000),
        (tanh, 0x7f80_0000, 0x3f80_0000),
        (tanh, 0x8000_0000, 0x8000_0000),
        (rsqrt, 0x8000_0000, 0xff80_0000),
        (rsqrt, 0x4080_0000, 0x3f00_0000),
        (rsqrt, 0x7f80_0000, 0),
        (rsqrt, 0xbf80_0000, 0x7fff_ffff),
        (rcp, 0xff80_0000, 0x8000_0000),
        (rcp, 0, 0x7f80_0000),
        (sqrt, 0x8000_0000, 0x8000_0000),
        (sqrt, 0xbf80_0000, 0x7fff_ffff),
    ];
    for (i, (g, x, want)) in table.iter().enumerate() {
        assert_eq!(one(*g, *x), *want, "row {i}");
    }
    let gross = k(&[q::approx, q::ftz], &[Ty::F64]);
    assert_eq!(rcp(gross, [2f64.to_bits() + 5]), [0.5f64.to_bits()]);
    assert_eq!(rcp(gross, [1]), [f64::INFINITY.to_bits()]);
    assert_eq!(rsqrt(gross, [4f64.to_bits()]), [0.5f64.to_bits()]);
}

#[test]
fn f32_min_max() {
    let f = |flags: &[Qualifier]| k(flags, &[Ty::F32]);
    let (one, two, nan, neg0) = (0x3f80_0000u64, 0x4000_0000u64, 0x7fc0_0001u64, 0x8000_0000u64);
    for (a, b) in [(0, neg0), (neg0, 0)] {
        assert_eq!((min(f(&[]), [a, b]), max(f(&[]), [a, b])), ([neg0], [0]));
    }
    assert_eq!((min(f(&[]), [nan, one]), max(f(&[]), [one, nan])), ([one], [one]));
    assert_eq!(min(f(&[]), [nan, nan]), [0x7fff_ffff]);
    assert_eq!(min(f(&[q::NaN]), [nan, one]), [0x7fff_ffff]);
    assert_eq!(max(f(&[q::xorsign, q::abs]), [one | neg0, two]), [two | neg0]);
    assert_eq!(min(f(&[q::xorsign, q::abs]), [one | neg0, two | neg0]), [one]);
    assert_eq!(max(f(&[]), [one, two, two | neg0]), [two]);
    assert_eq!(min(f(&[q::abs]), [two, one | neg0, two]), [one]);
    assert_eq!(max(f(&[q::ftz]), [1, neg0]), [0]);
    assert_eq!(min(k(&[], &[Ty::F64]), [0, 1 << 63]), [1 << 63]);
    assert_eq!(min(k(&[], &[Ty::Bf16x2]), [0x3f80_4000, 0x4000_3f80]), [0x3f80_3f80]);
    assert_eq!(max(k(&[q::NaN], &[Ty::F16x2]), [0x7c01_3c00, 0x3c00_bc00]), [0x7fff_3c00]);
}

/// An f16 as an integer, in units of 2^-24.
fn f16_int(x: u64) -> i128 {
    let (e, m) = ((x >> 10 & 31) as u32, (x & 1023) as i128);
    let v = if e == 0 { m } else { (m + 1024) << (e - 1) };
    if x & 0x8000 != 0 { -v } else { v }
}

/// The f16 nearest to `v` units of 2^-48, by searching all of them.
fn f16_nearest(v: i128) -> u64 {
    let mag = v.abs();
    let sign = if v < 0 { 0x8000 } else { 0 };
    let value = |x: u64| if x == 0x7c00 { 65536i128 << 48 } else { f16_int(x) << 24 };
    let (mut low, mut high) = (0u64, 0x7c00u64);
    if mag >= value(high) {
        return sign | high;
    }
    while high - low > 1 {
        let mid = (low + high) / 2;
        if value(mid) <= mag { low = mid } else { high = mid }
    }
    let (below, above) = (mag - value(low), value(high) - mag);
    sign | if below < above || below == above && low % 2 == 0 { low } else { high }
}

#[test]
fn f16_against_integers() {
    let mut random = Random::new(1);
    let mut next = || {
        let x = random.next() & 0xffff;
        // Equal exponents often, so that sums cancel; no infinities.
        let x = if random.one_in(2) { x & 0x83ff | 0x3c00 } else { x };
        if x & 0x7c00 == 0x7c00 { x & 0x83ff | 0x0400 } else { x }
    };
    let f = k(&[q::rn], &[Ty::F16]);
    for _ in 0..200_000 {
        let (a, b, c) = (next(), next(), next());
        let (x, y, z) = (f16_int(a), f16_int(b), f16_int(c));
        let check = |got: u64, v: i128| {
            if v != 0 {
                assert_eq!(got, f16_nearest(v), "{a:#x} {b:#x} {c:#x}");
            } else {
                assert_eq!(got & 0x7fff, 0);
            }
        };
        check(add(f, [a, b])[0], (x + y) << 24);
        check(sub(f, [a, b])[0], (x - y) << 24);
        check(mul(f, [a, b])[0], x * y);
        check(fma(f, [a, b, c])[0], x * y + (z << 24));
    }
}

#[test]
fn halves() {
    let h = |flags: &[Qualifier], ty| k(flags, &[ty]);
    assert_eq!(add(h(&[], Ty::F16), [0x7c00, 0xfc00]), [0x7fff]);
    assert_eq!(add(h(&[], Ty::Bf16), [0x7f80, 0xff80]), [0x7fff]);
    assert_eq!(add(h(&[q::sat], Ty::F16x2), [0x3c00_bc00, 0x3c00_0000]), [0x3c00_0000]);
    assert_eq!(fma(h(&[q::rn, q::relu], Ty::F16), [0x3c00, 0xbc00, 0]), [0]);
    assert_eq!(fma(h(&[q::rn, q::relu], Ty::Bf16), [0x7fc0, 0xbf80, 0]), [0x7fff]);
    assert_eq!(fma(h(&[q::rn, q::oob], Ty::F16x2), [0x7ff7_3c00, 0x3c00_3c00, 0x3c00_3c00]), [0x0000_4000]);
    assert_eq!(mul(h(&[q::ftz], Ty::F16), [0x0400, 0x3800]), [0]);
    assert_eq!(mul(h(&[], Ty::F16), [0x0400, 0x3800]), [0x0200]);
    // (1 + 2^-7) * (1 + 2^-7) = 1 + 2^-6 + 2^-14: rounds down; with c = 2^-8 - 2^-14 it is a tie, to even.
    assert_eq!(mul(h(&[], Ty::Bf16), [0x3f81, 0x3f81]), [0x3f82]);
    // The smallest bf16 squared is far below, half of it rounds to even.
    assert_eq!(mul(h(&[], Ty::Bf16), [1, 0x3f00]), [0]);
    assert_eq!(mul(h(&[], Ty::Bf16), [3, 0x3f00]), [2]);
    assert_eq!(fma(h(&[q::rn], Ty::Bf16), [1, 0x3f00, 1]), [2]);
    // 2^127 * 1 + a tiny one.
    assert_eq!(fma(h(&[q::rn], Ty::Bf16), [0x7f00, 0x3f80, 1]), [0x7f00]);
    assert_eq!(neg(h(&[], Ty::F16x2), [0x3c00_fe00]), [0xbc00_7fff]);
    assert_eq!(abs(h(&[q::ftz], Ty::F16), [0x8001]), [0]);
    assert_eq!(ex2(h(&[q::approx], Ty::F16x2), [0x4000_0000]), [0x4400_3c00]);
    assert_eq!(tanh(h(&[q::approx], Ty::Bf16), [0xff80]), [0xbf80]);
}

#[test]
fn bytes_exhaustively() {
    for a in 0..256u64 {
        for b in 0..256u64 {
            let (x, y) = (a as u8 as i8, b as u8 as i8);
            let (ua, ub) = (a as u8, b as u8);
            let four = |v: u64| v * 0x0101_0101;
            let s = |flags: &[Qualifier]| k(flags, &[Ty::S8x4]);
            let u = |flags: &[Qualifier]| k(flags, &[Ty::U8x4]);
            let i = [four(a), four(b)];
            assert_eq!(add(s(&[]), i), [four(x.wrapping_add(y) as u8 as u64)]);
            assert_eq!(add(s(&[q::sat]), i), [four(x.saturating_add(y) as u8 as u64)]);
            assert_eq!(add(u(&[q::sat]), i), [four(ua.saturating_add(ub) as u64)]);
            assert_eq!(sub(u(&[q::sat]), i), [four(ua.saturating_sub(ub) as u64)]);
            assert_eq!(sub(s(&[q::sat]), i), [four(x.saturating_sub(y) as u8 as u64)]);
            assert_eq!(min(u(&[]), i), [four(ua.min(ub) as u64)]);
            assert_eq!(max(s(&[q::relu]), i), [four(x.max(y).max(0) as u64)]);
            assert_eq!(min(s(&[q::relu]), i), [four(x.min(y).max(0) as u64)]);
            let v = dp4a(k(&[], &[Ty::S32, Ty::U32]), [four(a), four(b), 7])[0] as u32;
            assert_eq!(v as i32, 4 * x as i32 * ub as i32 + 7);
        }
        assert_eq!(neg(k(&[], &[Ty::S8x4]), [a * 0x0101_0101]), [(a as u8).wrapping_neg() as u64 * 0x0101_0101]);
    }
}

/// Multiples of a divisor and the integers next to them: an inexact quotient would be one off.
#[test]
fn quotients_next_to_integers_are_exact() {
    let divisors: Vec<u32> = (0..32).flat_map(|b| [1 << b, (1 << b) + 1, (1u32 << b).wrapping_sub(1)]).collect();
    for y in divisors.into_iter().filter(|y| *y != 0) {
        let most = u32::MAX / y;
        for n in [1, 2, 3, most / 3, most / 2, most - 1, most] {
            for x in [n.wrapping_mul(y).wrapping_sub(1), n.wrapping_mul(y), n.wrapping_mul(y).wrapping_add(1)] {
                let (unsigned, signed) = (k(&[], &[Ty::U32]), k(&[], &[Ty::S32]));
                let wide = [x, y].map(u64::from);
                assert_eq!(div(unsigned, wide), [u64::from(x / y)], "{x} / {y}");
                assert_eq!(rem(unsigned, wide), [u64::from(x % y)], "{x} % {y}");
                let (a, b) = (x as i32, y as i32);
                assert_eq!(div(signed, wide)[0] as i32, a.wrapping_div(b), "{a} / {b}");
                assert_eq!(rem(signed, wide)[0] as i32, a.wrapping_rem(b), "{a} % {b}");
            }
        }
    }
}

#[test]
fn integers_against_i128() {
    let edge = [
        0u64,
        1,
        2,
        7,
        0x7f,
        0x80,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1234_5678_9abc_def0,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
    ];
    for (ty, bits, signed) in [
        (Ty::U16, 16, false),
        (Ty::S16, 16, true),
        (Ty::U32, 32, false),
        (Ty::S32, 32, true),
        (Ty::U64, 64, false),
        (Ty::S64, 64, true),
    ] {
        let cut = |v: i128| (v as u128 & (u128::MAX >> (128 - bits))) as u64;
        let read = |x: u64| {
            let x = cut(x as i128) as i128;
            if signed && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
        };
        for a in edge.map(|x| cut(x as i128)) {
            for b in edge.map(|x| cut(x as i128)) {
                let (x, y) = (read(a), read(b));
                let g = |flags: &[Qualifier]| k(flags, &[ty]);
                let same =
                    |got: [u64; 1], want: i128| assert_eq!(cut(got[0] as i128), cut(want), "{ty:?} {a:#x} {b:#x}");
                same(add(g(&[]), [a, b]), x + y);
                same(sub(g(&[]), [a, b]), x - y);
                let p = x.wrapping_mul(y);
                same(mul(g(&[q::lo]), [a, b]), p);
                let high = if signed { p >> bits } else { ((x as u128).wrapping_mul(y as u128) >> bits) as i128 };
                same(mul(g(&[q::hi]), [a, b]), high);
                if bits < 64 {
                    let wide = mul(g(&[q::wide]), [a, b])[0] & (u64::MAX >> (64 - 2 * bits));
                    assert_eq!(wide, (p as u128 & (u128::MAX >> (128 - 2 * bits))) as u64);
                }
                same(div(g(&[]), [a, b]), if y == 0 { -1 } else { x / y });
                same(rem(g(&[]), [a, b]), if y == 0 { -1 } else { x % y });
                same(min(g(&[]), [a, b]), x.min(y));
                same(max(g(&[]), [a, b]), x.max(y));
                same(sad(g(&[]), [a, b, 5]), 5 + (x - y).abs());
                if bits >= 32 {
                    let (ua, ub) = (a as u128, b as u128);
                    for cc in 0..2u64 {
                        let sum = ua + ub + cc as u128;
                        assert_eq!(addc(g(&[q::cc]), [a, b, cc]), [cut(sum as i128), (sum >> bits) as u64]);
                        assert_eq!(addc(g(&[]), [a, b, cc])[1], cc);
                        // A carry means that there was no borrow, coming in and going out.
                        let borrow = 1 - cc;
                        let carry = ua >= ub + borrow as u128;
                        let difference = cut(a as i128 - b as i128 - borrow as i128);
                        assert_eq!(subc(g(&[q::cc]), [a, b, cc]), [difference, carry as u64]);
                        assert_eq!(subc(g(&[]), [a, b, cc]), [difference, cc]);
                        assert_eq!(sub_cc(g(&[]), [a, b]), [cut(x - y), (ua >= ub) as u64]);
                        let t = cut(high) as u128 + 9 + cc as u128;
                        assert_eq!(madc(g(&[q::hi, q::cc]), [a, b, 9, cc]), [cut(t as i128), (t >> bits) as u64]);
                    }
                }
                if ty == Ty::S32 {
                    let sat = |v: i128| v.clamp(i32::MIN as i128, i32::MAX as i128);
                    same(add(g(&[q::sat]), [a, b]), sat(x + y));
                    same(sub(g(&[q::sat]), [a, b]), sat(x - y));
                    same(mad(g(&[q::hi, q::sat]), [a, b, b]), sat(high + y));
                }
            }
        }
    }
    assert_eq!(add(k(&[q::sat], &[Ty::U32]), [0xffff_ffff, 5]), [0xffff_ffff]);
}

#[test]
fn bits() {
    let t = |ty| k(&[], &[ty]);
    for a in [0u64, 1, 0x8000_0000, 0xffff_ffff, 0x1234_5678, 0xf000_0000] {
        for pos in 0..40u64 {
            for len in 0..40u64 {
                let bit = |i: u64| if i < 32 { a >> i & 1 } else { 0 };
                // The manual's recipe, bit by bit.
                let sign = if len == 0 { 0 } else { bit((pos + len - 1).min(31)) };
                let (mut s, mut u, mut ins) = (0u64, 0u64, 0x5a5a_5a5au64);
                for i in 0..32 {
                    let inside = i < len && pos + i <= 31;
                    s |= if inside { bit(pos + i) } else { sign } << i;
                    u |= if inside { bit(pos + i) << i } else { 0 };
                    if inside {
                        ins = ins & !(1 << (pos + i)) | bit(i) << (pos + i);
                    }
                }
                assert_eq!(bfe(t(Ty::S32), [a, pos, len])[0] as u32 as u64, s, "{a:#x} {pos} {len}");
                assert_eq!(bfe(t(Ty::U32), [a, pos + 256, len])[0], u, "{a:#x} {pos} {len}");
                assert_eq!(bfi(t(Ty::B32), [a, 0x5a5a_5a5a, pos, len])[0] as u32 as u64, ins);
            }
        }
    }
    assert_eq!(bfe(t(Ty::S64), [1 << 63, 255, 255]), [u64::MAX]);
    assert_eq!(bfi(t(Ty::B64), [u64::MAX, 0, 60, 255]), [0xf << 60]);
    assert_eq!((bfind(t(Ty::U32), [0]), bfind(t(Ty::S32), [0xffff_ffff])), ([0xffff_ffff], [0xffff_ffff]));
    assert_eq!((bfind(t(Ty::S32), [0xffff_fffd]), bfind(t(Ty::U64), [1 << 40])), ([1], [40]));
    assert_eq!(bfind(k(&[q::shiftamt], &[Ty::U32]), [1]), [31]);
    assert_eq!((popc(t(Ty::B32), [0xf0]), clz(t(Ty::B32), [1]), clz(t(Ty::B64), [0])), ([4], [31], [64]));
    assert_eq!((brev(t(Ty::B32), [1]), brev(t(Ty::B64), [1])), ([0x8000_0000], [1 << 63]));
    let f = |m, b, o: i32| fns(t(Ty::B32), [m, b, o as u32 as u64])[0];
    assert_eq!((f(0b1010, 0, 1), f(0b1010, 0, 2), f(0b1010, 0, 3), f(0b1010, 3, -2)), (1, 3, 0xffff_ffff, 1));
    assert_eq!((f(0b1010, 1, 0), f(0b1010, 2, 0), f(1, 40, 1)), (1, 0xffff_ffff, 0xffff_ffff));
    let z = |m, ty, a, n| szext(k(&[m], &[ty]), [a, n])[0] as u32;
    assert_eq!(
        (z(q::clamp, Ty::S32, 0x80, 8), z(q::wrap, Ty::U32, 0x1ff, 40), z(q::clamp, Ty::U32, 5, 0)),
        (0xffff_ff80, 0xff, 0)
    );
    assert_eq!((z(q::clamp, Ty::U32, 0xffff_ffff, 99), z(q::wrap, Ty::S32, 1, 32)), (0xffff_ffff, 0));
    let m = |f, a, b| bmsk(k(&[f], &[Ty::B32]), [a, b])[0] as u32;
    assert_eq!(
        (m(q::clamp, 4, 8), m(q::clamp, 99, 99), m(q::wrap, 33, 33), m(q::clamp, 0, 32)),
        (0xff0, 0, 2, 0xffff_ffff)
    );
    assert_eq!(dp2a(k(&[q::hi], &[Ty::S32, Ty::S32]), [0xffff_0003, 0x02ff_0000, 10])[0] as u32 as i32, -3 - 2 + 10);
    assert_eq!(mul24(k(&[q::hi], &[Ty::U32]), [0xffff_ffff, 0xffff_ffff]), [0xffff_fe00]);
    assert_eq!(mul24(k(&[q::lo], &[Ty::S32]), [0x80_0000, 2])[0] as u32, 0xff00_0000);
    assert_eq!(mad24(k(&[q::hi, q::sat], &[Ty::S32]), [0x7f_ffff, 0x7f_ffff, 0x7fff_ffff]), [0x7fff_ffff]);
    assert_eq!(copysign(t(Ty::F32), [0x8000_0001, 0x3f80_0000]), [0xbf80_0000]);
}

#[test]
fn testp_classes() {
    let classes = [q::finite, q::infinite, q::number, q::notanumber, q::normal, q::subnormal];
    let table: [(u64, [u64; 6]); 5] = [
        (0x8000_0000, [1, 0, 1, 0, 1, 0]),
        (0x3f80_0000, [1, 0, 1, 0, 1, 0]),
        (0x8000_0001, [1, 0, 1, 0, 0, 1]),
        (0xff80_0000, [0, 1, 1, 0, 0, 0]),
        (0x7f80_0001, [0, 0, 0, 1, 0, 0]),
    ];
    for (x, want) in table {
        assert_eq!(classes.map(|c| testp(k(&[c], &[Ty::F32]), [x])[0]), want, "{x:#x}");
    }
}

#[test]
fn mixed_formats() {
    let (one, two) = (0x3f80_0000u64, 0x4000_0000u64);
    // 1 + 2^-12 in f32, cut to f16.
    let a = [one | (one + 0x800) << 32, one << 32];
    assert_eq!(add(k(&[q::rz, q::ftz], &[Ty::F16x2, Ty::F32x2, Ty::F32x2]), a), [0x4000_3c00]);
    assert_eq!(sub(k(&[q::rz], &[Ty::Bf16x2, Ty::F32x2, Ty::F32x2]), [two, one]), [0x3f80]);
    assert_eq!(mul(k(&[], &[Ty::Bf16x2, Ty::Bf16x2, Ty::F16x2]), [0x4000_3f80, 0x4200_3c00]), [0x40c0_3f80]);
    // e4m3: 1 is 0x38, 2 is 0x40, 3 is 0x44; e2m1: 1 is 2, -6 is 0xf.
    assert_eq!(add(k(&[], &[Ty::E4m3x4, Ty::E4m3x4]), [0x3838_3838, 0x4040_38b8]), [0x4444_4000]);
    assert_eq!(add(k(&[], &[Ty::E4m3x4, Ty::E2m1x4]), [0x2222, 0x4040_4040]), [0x4444_4444]);
    assert_eq!(fma(k(&[], &[Ty::E4m3x4, Ty::E2m1x4, Ty::E4m3x4]), [0x2, 0x40, 0x38]), [0x44]);
    assert_eq!(mul(k(&[q::satfinite], &[Ty::E4m3x4, Ty::E4m3x4, Ty::E4m3x4]), [0x7e, 0xc0]), [0xfe]);
}
