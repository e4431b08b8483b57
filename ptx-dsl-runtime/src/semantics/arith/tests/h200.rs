//! Results of an H200; the digests of tests/hardware have many more.

use super::*;

#[test]
fn results_around_the_least_normal_number() {
    let f = |flags: &[Qualifier]| k(&[flags, &[q::ftz]].concat(), &[Ty::F32]);
    let (near, up, down) = (f(&[q::rn]), f(&[q::rp]), f(&[q::rm]));
    // All bits of the product fit: it is below, although it is rounded to the least normal number without `.ftz`.
    assert_eq!(mul(near, [0xbf7f_ffff, 0x0080_0000]), [0x8000_0000]);
    assert_eq!(mul(up, [0x00ff_ffff, 0x3eff_ffff]), [0]);
    assert_eq!(mul(down, [0x0100_0000, 0xbeff_ffff]), [0x8000_0000]);
    assert_eq!(mul(k(&[q::rn], &[Ty::F32]), [0xbf7f_ffff, 0x0080_0000]), [0x8080_0000], "without `.ftz`");
    // It is rounded up to 24 bits first.
    assert_eq!(mul(near, [0x1700_0001, 0xa8ff_fffe]), [0x8080_0000]);
    assert_eq!(mul(down, [0x9fff_fffe, 0x2000_0001]), [0x8080_0000]);
    assert_eq!(mul(f(&[q::rn, q::sat]), [0x80ff_ffff, 0xbf00_0000]), [0]);
    assert_eq!(fma(near, [0xa280_0000, 0x9d7f_ffff, 8]), [0]);
    assert_eq!(fma(near, [0x3eff_ffff, 0x80ff_ffff, 0x00ff_ffff]), [0x0080_0000]);
    assert_eq!(fma(up, [0x3eff_ffff, 0x00ff_ffff, 0x8000_0002]), [0]);
    assert_eq!(div(near, [0x3fff_ffff, 0xff00_0000]), [0x8000_0000]);
    assert_eq!(div(up, [0x4000_0000, 0x7f00_0001]), [0]);
    assert_eq!(div(down, [0x8080_0000, 0x3f80_0001]), [0x8000_0000]);
    assert_eq!(rcp(up, [0x7e80_0001]), [0]);
    assert_eq!(rcp(down, [0xfe80_0001]), [0x8000_0000]);
    let h = |flags: &[Qualifier]| k(&[flags, &[q::ftz]].concat(), &[Ty::F16]);
    assert_eq!(fma(h(&[q::rn]), [0x8800, 0xb7ff, 0x03fe]), [0]);
    assert_eq!(fma(h(&[q::rn]), [0xbbff, 0x8400, 2]), [0]);
    assert_eq!(fma(h(&[q::rn]), [0x3400, 0x8bff, 0x80ff]), [0x8000]);
    assert_eq!(fma(h(&[q::rn]), [0x05ff, 0x8601, 0x0400]), [0x0400]);
    assert_eq!(mul(h(&[]), [0x8401, 0x3bfe]), [0x8400]);
}

#[test]
fn nans_of_f64() {
    let rn = k(&[q::rn], &[Ty::F64]);
    const ONES: u64 = u64::MAX;
    const SIGNALLING: u64 = 0x7ff0_0000_0000_0001;
    const QUIETED: u64 = 0x7ff8_0000_0000_0001;
    for f in [add, sub, mul] {
        assert_eq!(f(rn, [ONES, SIGNALLING]), [QUIETED]);
        assert_eq!(f(rn, [QUIETED, 0xfff8_0000_0000_0000]), [0xfff8_0000_0000_0000]);
    }
    assert_eq!(min(k(&[], &[Ty::F64]), [ONES, SIGNALLING]), [QUIETED]);
    assert_eq!(fma(rn, [0xfff7_ffff_ffff_ffff, SIGNALLING, 0x0020_0000_0000_0000]), [QUIETED]);
    assert_eq!(fma(rn, [0x001f_ffff_ffff_ffff, ONES, QUIETED]), [ONES]);
    assert_eq!(fma(rn, [0x7fff_ffff_ffff_ffff, 0, QUIETED]), [QUIETED]);
    // Division is a program, which takes the first.
    assert_eq!(div(rn, [ONES, SIGNALLING]), [ONES]);
}

#[test]
fn bit_fields_of_64_bits_do_not_end_at_255() {
    let t = |ty| k(&[], &[ty]);
    assert_eq!(bfe(t(Ty::U64), [0x10, 0x101, 0x140]), [0]);
    assert_eq!(bfe(t(Ty::U64), [1, 0xc000_0000, 0x18]), [0]);
    assert_eq!(bfe(t(Ty::S64), [0x7fff, 0x100, 0x20]), [0]);
    assert_eq!(bfi(t(Ty::B64), [0x11f, 0x28, 0x100_0000, 0xffff_fffe]), [0x28]);
    assert_eq!(bfi(t(Ty::B64), [0x11, 0x7fff_ffff, 0x120, 0xff_ffff]), [0x7fff_ffff]);
    assert_eq!(bfe(t(Ty::U32), [0x10, 0x101, 0x140]), [8], "32 bits have positions of eight bits");
}

#[test]
fn values_out_of_bounds_have_either_sign() {
    let oob = k(&[q::rn, q::oob, q::relu], &[Ty::F16x2]);
    assert_eq!(fma(oob, [0xffff_0000, 0xffff_fff7, 0x407f_ffff]), [0x7fff_0000]);
    assert_eq!(fma(k(&[q::rn, q::oob], &[Ty::F16]), [0x3c00, 0xfff7, 0x3c00]), [0]);
}

#[test]
fn approximations_of_f64_look_at_the_upper_word() {
    let r = k(&[q::approx, q::ftz], &[Ty::F64]);
    assert_eq!(rcp(r, [0x7ff0_0000_0000_0001]), [0]);
    assert_eq!(rcp(r, [0xfff0_0000_0000_0001]), [1 << 63]);
    assert_eq!(rsqrt(r, [0x7ff0_0000_0000_0001]), [0]);
    assert_eq!(rcp(r, [0x7ff0_0001_0000_0000]), [0x7fff_ffff_0000_0000]);
}

#[test]
fn powers_in_16_bits() {
    let half = |x| ex2(k(&[q::approx], &[Ty::F16]), [x])[0];
    assert_eq!(
        [0x11c5, 0x1ffa, 0x2fef, 0x4c00, 0x8001, 0xa39d].map(half),
        [0x3c00, 0x3c05, 0x3c5b, 0x7c00, 0x3c00, 0x3bea]
    );
    let brain = |x| ex2(k(&[q::approx, q::ftz], &[Ty::Bf16]), [x])[0];
    assert_eq!(
        [0x3bb9, 0x3cf8, 0x3e74, 0xb3fb, 0xb400, 0xc2fd].map(brain),
        [0x3f80, 0x3f82, 0x3f96, 0x3f80, 0x3f7f, 0]
    );
    assert_eq!(ex2(k(&[q::approx], &[Ty::F16x2]), [0x5040_1b5c]), [0x7c00_3c02]);
}

#[test]
fn angles_are_turns_of_25_bits() {
    let f = |x: u64| (sin(k(&[q::approx], &[Ty::F32]), [x])[0], cos(k(&[q::approx], &[Ty::F32]), [x])[0]);
    // Small angles are no turn at all, nor are large ones, which are whole turns.
    assert_eq!(f(0x0080_0000), (0, 0x3f80_0000));
    assert_eq!(f(0x8040_0000), (0x8000_0000, 0x3f80_0000));
    assert_eq!(f(0xda93_253f).0, 0x8000_0000);
    assert_eq!(f(0x5123_e87f).1, 0x3f80_0000);
    assert_eq!([0x3fc9_0fda, 0x3fc9_0fdb, 0x3fc9_0fdc].map(|x| f(x).1), [0, 0, 0x8000_0000]);
    assert_eq!(f(0x7f80_0000), (0x7fff_ffff, 0x7fff_ffff));
    let close = |(found, wanted): (u64, u64)| {
        let v = |x: u64| f32::from_bits(x as u32);
        assert!((v(found) - v(wanted)).abs() < 2e-7, "{found:#x} {wanted:#x}");
    };
    for (x, sine) in
        [(0xc300_0001, 0xbf38_959b), (0xc37f_ffff, 0x3f7f_cc02), (0x4bc9_0eac, 0x3f80_0000), (0x4552_7a55, 0xbe10_cfb2)]
    {
        close((f(x).0, sine));
    }
    for (x, cosine) in [(0xc6ff_ffff, 0x3ec1_0716), (0x4bc9_2540, 0x3f80_0000), (0x477f_ffff, 0xbf37_3a22)] {
        close((f(x).1, cosine));
    }
}
