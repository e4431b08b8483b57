//! Against the host's own conversions, neighbours of exact values, and constants worked out by hand.

use super::*;
use crate::numerics::qual::Qualifier;

fn go(flags: &[Qualifier], dst: Ty, src: Ty, a: u64) -> u64 {
    cvt(Q::new(flags, &[dst, src]), [a])[0]
}

#[test]
fn integers() {
    assert_eq!(go(&[], Ty::S32, Ty::S8, 0x80), 0xffff_ffff_ffff_ff80);
    assert_eq!(go(&[], Ty::U8, Ty::S32, 0x1ff), 0xff);
    assert_eq!(go(&[], Ty::S8, Ty::U32, 0x1ff), u64::MAX);
    assert_eq!(go(&[q::sat], Ty::U8, Ty::S32, 0xffff_ffff), 0);
    assert_eq!(go(&[q::sat], Ty::S8, Ty::U64, u64::MAX), 0x7f);
    assert_eq!(go(&[q::sat], Ty::S16, Ty::S64, 1 << 63), 0xffff_ffff_ffff_8000);
    assert_eq!(go(&[q::sat], Ty::U64, Ty::S64, u64::MAX), 0);
    assert_eq!(go(&[], Ty::U64, Ty::U16, 0x1_2345), 0x2345);
}

#[test]
fn integer_to_float() {
    let modes = [q::rn, q::rz, q::rm, q::rp];
    for v in
        [0i64, 1, -1, 0x100_0001, -0x100_0001, 0x100_0003, i64::MAX, i64::MIN, i64::MAX - 511, 0x7fff_ffbf_ffff_ffff]
    {
        let near = v as f32;
        // Exact in i128 for any of these.
        let (down, up) = match (near as i128).cmp(&(v as i128)) {
            std::cmp::Ordering::Equal => (near, near),
            std::cmp::Ordering::Greater => (near.next_down(), near),
            std::cmp::Ordering::Less => (near, near.next_up()),
        };
        let want = [near, if v < 0 { up } else { down }, down, up];
        for (m, w) in modes.into_iter().zip(want) {
            assert_eq!(go(&[m], Ty::F32, Ty::S64, v as u64), w.to_bits() as u64, "{v} {m:?}");
        }
        assert_eq!(go(&[q::rn], Ty::F64, Ty::S64, v as u64), (v as f64).to_bits());
    }
    assert_eq!(go(&[q::rn], Ty::F32, Ty::U64, u64::MAX), (u64::MAX as f32).to_bits() as u64);
    assert_eq!(go(&[q::rz], Ty::F32, Ty::U64, u64::MAX), 0x5f7f_ffff);
    assert_eq!(go(&[q::rn], Ty::F16, Ty::U32, 65519), 0x7bff);
    assert_eq!(go(&[q::rn], Ty::F16, Ty::U32, 65520), 0x7c00);
    assert_eq!(go(&[q::rz], Ty::F16, Ty::S32, -70000i32 as u32 as u64), 0xfbff);
    assert_eq!(go(&[q::rn], Ty::Bf16, Ty::S32, 257), 0x4380);
    assert_eq!(go(&[q::rn, q::sat], Ty::F32, Ty::S32, 9), 0x3f80_0000);
}

#[test]
fn float_to_integer() {
    let f = |x: f32| x.to_bits() as u64;
    for (m, want) in
        [(q::rni, [2, -2, 2, 0]), (q::rzi, [1, -1, 2, 0]), (q::rmi, [1, -2, 2, 0]), (q::rpi, [2, -1, 3, 1])]
    {
        for (x, w) in [1.5f32, -1.5, 2.5, 0.25].into_iter().zip(want) {
            assert_eq!(go(&[m], Ty::S32, Ty::F32, f(x)) as i64, w, "{m:?} {x}");
            assert_eq!(go(&[m], Ty::S64, Ty::F64, (x as f64).to_bits()) as i64, w);
        }
    }
    assert_eq!(go(&[q::rzi], Ty::U8, Ty::F32, f(300.0)), 255);
    assert_eq!(go(&[q::rzi], Ty::U32, Ty::F32, f(-3.0)), 0);
    assert_eq!(go(&[q::rzi], Ty::S8, Ty::F32, f(-300.0)) as i64, -128);
    assert_eq!(go(&[q::rzi], Ty::U64, Ty::F32, f(f32::INFINITY)), u64::MAX);
    assert_eq!(go(&[q::rpi], Ty::S32, Ty::F32, 1), 1);
    assert_eq!(go(&[q::rpi, q::ftz], Ty::S32, Ty::F32, 1), 0);
    assert_eq!(go(&[q::rzi], Ty::S32, Ty::F16, 0xfbff) as i64, -65504);
    // NaN, as an H200 does it.
    for (d, want) in [(Ty::U8, 0), (Ty::S32, 0), (Ty::U64, 1 << 63), (Ty::S64, 1 << 63)] {
        assert_eq!(go(&[q::rni], d, Ty::F32, 0x7fc0_0000), want);
        assert_eq!(go(&[q::rni], d, Ty::F16, 0x7e00), want);
    }
    for (d, want) in [
        (Ty::U8, 0x80),
        (Ty::S8, -128i64 as u64),
        (Ty::U32, 1 << 31),
        (Ty::S32, (-1i64 << 31) as u64),
        (Ty::S64, 1 << 63),
    ] {
        assert_eq!(go(&[q::rni], d, Ty::F64, f64::NAN.to_bits()), want);
    }
}

#[test]
fn between_floats() {
    let values = [0.1f64, -0.1, 1e-40, -1e-46, 3.5e38, -3.5e38, 1e300, 1.0, 16777217.0, f64::MIN_POSITIVE, 0.0, -0.0];
    for x in values {
        let near = x as f32;
        let (down, up) = match (near as f64).partial_cmp(&x) {
            Some(std::cmp::Ordering::Less) => (near, near.next_up()),
            Some(std::cmp::Ordering::Greater) => (near.next_down(), near),
            _ => (near, near),
        };
        let to_zero = if x < 0.0 { if up == 0.0 { -0.0 } else { up } } else { down };
        let up = if x < 0.0 && up == 0.0 { -0.0 } else { up };
        for (m, w) in [(q::rn, near), (q::rm, down), (q::rp, up), (q::rz, to_zero)] {
            assert_eq!(go(&[m], Ty::F32, Ty::F64, x.to_bits()), w.to_bits() as u64, "{x:e} {m:?}");
        }
    }
    assert_eq!(go(&[q::rn, q::ftz], Ty::F32, Ty::F64, 1e-40f64.to_bits()), 0);
    assert_eq!(go(&[], Ty::F64, Ty::F32, 0xff80_0001), 0xfff8_0000_2000_0000);
    assert_eq!(go(&[], Ty::F64, Ty::F32, 0x3fc0_0000), 1.5f64.to_bits());
    assert_eq!(go(&[q::sat], Ty::F32, Ty::F32, 0x7fc0_0000), 0);
    assert_eq!(go(&[q::sat], Ty::F32, Ty::F32, 0x4000_0000), 0x3f80_0000);
    assert_eq!(go(&[q::rni], Ty::F32, Ty::F32, 2.5f32.to_bits() as u64), 2f32.to_bits() as u64);
    assert_eq!(go(&[q::rmi], Ty::F64, Ty::F64, (-0.5f64).to_bits()), (-1f64).to_bits());
    assert_eq!(go(&[q::rni], Ty::F16, Ty::F16, 0xb800), 0x8000);
    assert_eq!(go(&[], Ty::F32, Ty::F16, 0x7c01), 0x7fff_ffff);
    assert_eq!(go(&[], Ty::F32, Ty::F16, 0x8001), 0xb380_0000);
    assert_eq!(go(&[], Ty::F32, Ty::Bf16, 0x3f81), 0x3f81_0000);
    // Every f16 and bf16 comes back from f32.
    for x in 0..0x10000u64 {
        for (ty, inf) in [(Ty::F16, 0x7c00), (Ty::Bf16, 0x7f80)] {
            let want = if x & 0x7fff > inf { 0x7fff } else { x };
            assert_eq!(go(&[q::rn], ty, Ty::F32, go(&[], Ty::F32, ty, x)), want);
        }
    }
}

#[test]
fn halves_and_tf32() {
    let f = |x: f32| x.to_bits() as u64;
    let pair = |flags: &[Qualifier], d, a, b| cvt(Q::new(flags, &[d, Ty::F32]), [f(a), f(b)])[0];
    assert_eq!(pair(&[q::rn], Ty::F16x2, 1.0, -2.0), 0x3c00_c000);
    assert_eq!(pair(&[q::rn, q::relu], Ty::F16x2, 1.0, -2.0), 0x3c00_0000);
    assert_eq!(pair(&[q::rn, q::satfinite], Ty::F16x2, 1e9, f32::NEG_INFINITY), 0x7bff_fbff);
    assert_eq!(pair(&[q::rz], Ty::Bf16x2, 1.999, f32::NAN), 0x3fff_7fff);
    assert_eq!(go(&[q::rn, q::relu], Ty::F16, Ty::F32, f(f32::NAN)), 0x7fff);
    assert_eq!(go(&[q::rn, q::satfinite], Ty::Bf16, Ty::F32, f(f32::INFINITY)), 0x7f7f);
    // tf32 keeps ten bits: ties go away from zero with .rna, to even with .rn.
    assert_eq!(go(&[q::rna], Ty::Tf32, Ty::F32, 0x3f80_1000), 0x3f80_2000);
    assert_eq!(go(&[q::rn], Ty::Tf32, Ty::F32, 0x3f80_1000), 0x3f80_0000);
    assert_eq!(go(&[q::rz], Ty::Tf32, Ty::F32, 0xbf80_1fff), 0xbf80_0000);
}

/// Seen on an H100 (sm_90a, PTX JIT).
#[test]
fn nans_become_what_the_hardware_makes_of_them() {
    let cases: &[(&[Qualifier], Ty, Ty, u64, u64)] = &[
        (&[q::rn], Ty::F32, Ty::F64, 0xfff8_1234_5678_9abc, 0xffc0_91a2),
        (&[q::rz], Ty::F32, Ty::F64, 0x7ff0_0000_0000_0002, 0x7fc0_0000),
        (&[q::rn], Ty::F32, Ty::F64, 0xfff6_9285_82ff_7f4d, 0xfff4_942c),
        (&[q::rn], Ty::F16, Ty::F64, 0xfff0_0000_0000_0002, 0xfe00),
        (&[q::rn], Ty::F16, Ty::F64, u64::MAX, 0xffff),
        (&[], Ty::F64, Ty::F16, 0x7c01, 0x7ff8_0400_0000_0000),
        (&[], Ty::F64, Ty::F16, 0xff4c, 0xfffd_3000_0000_0000),
        (&[], Ty::F32, Ty::F16, 0x7c01, 0x7fff_ffff),
        (&[], Ty::F32, Ty::Bf16, 0x7f81, 0x7f81_0000),
        (&[], Ty::F64, Ty::Bf16, 0x7f81, 0x7ff8_2000_0000_0000),
        (&[q::ftz], Ty::F64, Ty::F32, 0xffff_ffff, 0x7fff_ffff_e000_0000),
        (&[q::rna], Ty::Tf32, Ty::F32, 0x7f80_0001, 0x7f80_0000),
        (&[q::rna], Ty::Tf32, Ty::F32, 0xffc1_2345, 0xffc1_2000),
        (&[q::rna, q::satfinite], Ty::Tf32, Ty::F32, 0x7fc0_0000, 0x7fbf_e000),
        (&[q::rn], Ty::Tf32, Ty::F32, 0xffc1_2345, 0x7fff_e000),
        (&[q::rz, q::relu], Ty::Tf32, Ty::F32, 0xff80_0002, 0x7fff_e000),
    ];
    for (flags, to, from, a, want) in cases {
        assert_eq!(go(flags, *to, *from, *a), *want, "{a:#x} from {from:?} to {to:?}");
    }
}

#[test]
fn small_formats() {
    let f = |x: f32| x.to_bits() as u64;
    let pair = |flags: &[Qualifier], d, a, b| cvt(Q::new(flags, &[d, Ty::F32]), [f(a), f(b)])[0];
    let sat = &[q::rn, q::satfinite];
    // 448 is the largest e4m3, 57344 the largest e5m2, 6 e2m1, 7.5 e2m3, 28 e3m2.
    assert_eq!(pair(sat, Ty::E4m3x2, 448.0, -1e9), 0x7efe);
    assert_eq!(pair(sat, Ty::E4m3x2, 1.0, f32::NAN), 0x387f);
    assert_eq!(pair(sat, Ty::E5m2x2, f32::INFINITY, 1.125), 0x7b3c);
    assert_eq!(pair(sat, Ty::E2m1x2, 6.0, -0.5), 0x79);
    assert_eq!(pair(sat, Ty::E2m1x2, 100.0, f32::NAN), 0x77);
    // 0.25 is a tie between 0 and 0.5, 2.5 between 2 and 3, 5 between 4 and 6.
    assert_eq!(pair(sat, Ty::E2m1x2, 0.25, 2.5), 0x04);
    assert_eq!(pair(sat, Ty::E2m1x2, 5.0, 3.5), 0x66);
    assert_eq!(pair(sat, Ty::E2m3x2, 7.5, -0.125), 0x1f21);
    assert_eq!(pair(sat, Ty::E3m2x2, 99.0, 0.0625), 0x1f01);
    assert_eq!(pair(&[q::rn, q::satfinite, q::relu], Ty::E4m3x2, -3.0, 2.0), 0x0040);
    // Every e4m3, e5m2, e2m3, e3m2 number comes back from f16.
    for (ty, codes, nan) in
        [(Ty::E4m3x2, 256, 0x7f), (Ty::E5m2x2, 256, 0x7d), (Ty::E2m3x2, 64, 99), (Ty::E3m2x2, 64, 99)]
    {
        for x in 0..codes {
            if (x & 0x7f) >= nan || ty == Ty::E5m2x2 && x & 0x7f == 0x7c {
                continue;
            }
            let half = go(&[q::rn], Ty::F16x2, ty, x << 8 | x);
            assert_eq!(go(sat, ty, Ty::F16x2, half), x << 8 | x, "{ty:?} {x:#x}");
        }
    }
    assert_eq!(go(&[q::rn], Ty::F16x2, Ty::E4m3x2, 0x7f01), 0x7fff_1800);
    assert_eq!(go(&[q::rn], Ty::F16x2, Ty::E2m1x2, 0x7f), 0x4600_c600);
    assert_eq!(pair(&[q::rz], Ty::Ue8m0x2, 1.5, 4.0), 0x7f81);
    assert_eq!(pair(&[q::rp, q::satfinite], Ty::Ue8m0x2, 1.5, f32::MAX), 0x80fe);
    assert_eq!(go(&[q::rn], Ty::Bf16x2, Ty::Ue8m0x2, 0xff7f), 0x7fff_3f80);
}

#[test]
fn packing() {
    let p = |flags: &[Qualifier], ty: &[Ty], s| cvt_pack(Q::new(flags, ty), s)[0];
    let m = |x: i32| x as u32 as u64;
    assert_eq!(cvt_pack(Q::new(&[q::sat], &[Ty::S16, Ty::S32]), [m(-40000), m(5)]), [0x8000_0005]);
    assert_eq!(p(&[q::sat], &[Ty::U8, Ty::S32, Ty::B32], [m(300), m(-1), 0xabcd_1234]), 0x1234_ff00);
    assert_eq!(p(&[q::sat, q::s4], &[Ty::S32, Ty::B32], [m(-9), m(7), 1]), 0x187);
    assert_eq!(p(&[q::sat, q::u2], &[Ty::S32, Ty::B32], [m(9), m(2), 1]), 0x1e);
}

/// Compares with the results of an H200.
#[test]
fn subnormal_numbers_that_an_f16_has_no_room_for_are_rounded() {
    let half = |flags: &[Qualifier], x: u64| cvt(Q::new(&[flags, &[q::ftz]].concat(), &[Ty::F16, Ty::F32]), [x])[0];
    assert_eq!([0x8000_0001, 0x8040_0000, 1].map(|x| half(&[q::rm], x)), [0x8001, 0x8001, 0]);
    assert_eq!([0x8000_0001, 1].map(|x| half(&[q::rp], x)), [0x8000, 1]);
    assert_eq!(half(&[q::rp, q::sat], 1), 1);
}
