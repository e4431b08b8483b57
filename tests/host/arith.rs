//! Arithmetic through whole kernels: a table of operations, each with an independent Rust computation. The runtime's unit tests
//! cover the edge cases of each function; this covers the path from tokens to results.

use ptx_dsl::prelude::*;

/// `d[i] = op(a[i], b[i])` over u32.
macro_rules! binary {
    ($name:ident, { $($op:tt)* }, |$a:ident, $b:ident| $expected:expr) => {
        #[test]
        fn $name() {
            let k = ptx!(<sm_90, ptx 8.0> |a: &[u32], b: &[u32], d: &mut [u32]| {
                .reg .b32 %i, %x, %y, %z;
                .reg .b64 %pa, %pb, %pd, %o;
                ld.param.u64 %pa, [a];
                ld.param.u64 %pb, [b];
                ld.param.u64 %pd, [d];
                mov.u32 %i, %tid.x;
                mul.wide.u32 %o, %i, 4;
                add.u64 %pa, %pa, %o;
                add.u64 %pb, %pb, %o;
                add.u64 %pd, %pd, %o;
                ld.global.u32 %x, [%pa];
                ld.global.u32 %y, [%pb];
                $($op)* %z, %x, %y;
                st.global.u32 [%pd], %z;
            });
            let edge = [0u32, 1, 2, 3, 31, 32, 33, 255, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, u32::MAX];
            let pairs: Vec<(u32, u32)> = edge.iter().flat_map(|a| edge.iter().map(move |b| (*a, *b))).collect();
            let a: Vec<u32> = pairs.iter().map(|p| p.0).collect();
            let b: Vec<u32> = pairs.iter().map(|p| p.1).collect();
            let mut d = vec![0u32; a.len()];
            k.launch(&Host::new(), Launch::grid(1).block(a.len() as u32), (&a, &b, &mut d)).unwrap();
            for (i, &($a, $b)) in pairs.iter().enumerate() {
                let expected: u32 = $expected;
                assert_eq!(d[i], expected, "{} of {:#x} and {:#x}", stringify!($name), $a, $b);
            }
        }
    };
}

binary!(add, { add.u32 }, |a, b| a.wrapping_add(b));
binary!(add_sat, { add.sat.s32 }, |a, b| (a as i32).saturating_add(b as i32) as u32);
binary!(sub, { sub.s32 }, |a, b| a.wrapping_sub(b));
binary!(mul_hi_unsigned, { mul.hi.u32 }, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
binary!(mul_hi_signed, { mul.hi.s32 }, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32);
binary!(div_unsigned, { div.u32 }, |a, b| a.checked_div(b).unwrap_or(u32::MAX));
binary!(rem_signed, { rem.s32 }, |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 });
binary!(min_signed, { min.s32 }, |a, b| (a as i32).min(b as i32) as u32);
binary!(max_unsigned, { max.u32 }, |a, b| a.max(b));
binary!(and, { and.b32 }, |a, b| a & b);
binary!(xor, { xor.b32 }, |a, b| a ^ b);
binary!(shl_clamps, { shl.b32 }, |a, b| a.checked_shl(b).unwrap_or(0));
binary!(shr_clamps, { shr.u32 }, |a, b| a.checked_shr(b).unwrap_or(0));
binary!(shr_signed_clamps, { shr.s32 }, |a, b| ((a as i32) >> b.min(31)) as u32);
// One carry for additions and subtractions, set if there was no borrow; a guarded instruction that does not run keeps it.
binary!(carry_of_a_sum_or_a_difference,
    {
        .reg .pred %q;
        .reg .b32 %t;
        setp.lt.u32 %q, %x, 5;
        add.cc.u32 %t, %x, %y;
        @%q sub.cc.u32 %t, %x, %y;
        subc.u32 %x, 7, 0;
        mov.b32 %y, 0;
        add.u32
    },
    |a, b| 6 + u32::from(if a < 5 { a >= b } else { a.checked_add(b).is_none() })
);
binary!(add_f32, { add.f32 }, |a, b| {
    let r = f32::from_bits(a) + f32::from_bits(b);
    if r.is_nan() { 0x7fff_ffff } else { r.to_bits() }
});
binary!(mul_f32_flushes, { mul.ftz.f32 }, |a, b| {
    let flush = |x: f32| if x.is_subnormal() { 0.0f32.copysign(x) } else { x };
    let r = flush(flush(f32::from_bits(a)) * flush(f32::from_bits(b)));
    if r.is_nan() { 0x7fff_ffff } else { r.to_bits() }
});
binary!(packed_half_add, { add.f16x2 }, |a, b| {
    let half = |x: u32, y: u32| {
        let r = half::f16::from_f32(half::f16::from_bits(x as u16).to_f32() + half::f16::from_bits(y as u16).to_f32());
        if r.is_nan() { 0x7fff } else { u32::from(r.to_bits()) }
    };
    half(a & 0xffff, b & 0xffff) | half(a >> 16, b >> 16) << 16
});

#[test]
fn carry_travels_through_a_128_bit_sum() {
    let k = ptx!(<sm_90, ptx 8.0> |a: &[u64], b: &[u64], d: &mut [u64]| {
        .reg .b64 %p, %q, %r, %x<2>, %y<2>, %z<2>;
        ld.param.u64 %p, [a];
        ld.param.u64 %q, [b];
        ld.param.u64 %r, [d];
        ld.global.v2.u64 {%x0, %x1}, [%p];
        ld.global.v2.u64 {%y0, %y1}, [%q];
        add.cc.u64 %z0, %x0, %y0;
        addc.u64 %z1, %x1, %y1;
        st.global.v2.u64 [%r], {%z0, %z1};
    });
    let (a, b) = (0xffff_ffff_ffff_fff0_u128 | 7 << 64, 0x123_u128 | 5 << 64);
    let mut d = [0u64; 2];
    let words = |x: u128| [x as u64, (x >> 64) as u64];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&words(a), &words(b), &mut d)).unwrap();
    assert_eq!(u128::from(d[0]) | u128::from(d[1]) << 64, a + b);
}

#[test]
fn mov_packs_and_unpacks() {
    let k = ptx!(<sm_90, ptx 8.3> |d: &mut [u64]| {
        .reg .b16 %h<4>;
        .reg .b32 %r<2>;
        .reg .b64 %p, %x, %y, %z;
        .reg .b128 %q;
        ld.param.u64 %p, [d];
        ld.global.u64 %x, [%p];
        mov.b64 {%h0, %h1, %h2, %h3}, %x;
        mov.b32 %r0, {%h3, %h0};
        mov.b64 {_, %r1}, %x;
        mov.b64 %y, {%r0, %r1};
        st.global.u64 [%p + 8], %y;
        mov.b128 %q, {%x, %y};
        mov.b128 {%y, %z}, %q;
        st.global.u64 [%p + 16], %y;
        st.global.u64 [%p + 24], %z;
    });
    let mut d = [0x1111_2222_3333_4444u64, 0, 0, 0];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [0x1111_2222_3333_4444, 0x1111_2222_4444_1111, 0x1111_2222_3333_4444, 0x1111_2222_4444_1111]);
}

#[test]
fn conversions_round_and_saturate() {
    let k = ptx!(<sm_90, ptx 8.0> |x: &[f32], d: &mut [i32], u: &mut [u32]| {
        .reg .b32 %i, %r;
        .reg .f32 %f;
        .reg .b16 %h;
        .reg .b64 %px, %pd, %pu, %o;
        ld.param.u64 %px, [x];
        ld.param.u64 %pd, [d];
        ld.param.u64 %pu, [u];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %px, %px, %o;
        add.u64 %pd, %pd, %o;
        add.u64 %pu, %pu, %o;
        ld.global.f32 %f, [%px];
        cvt.rni.s32.f32 %r, %f;
        st.global.s32 [%pd], %r;
        cvt.rn.f16.f32 %h, %f;
        cvt.u32.u16 %r, %h;
        st.global.u32 [%pu], %r;
    });
    let x = [0.5f32, 1.5, 2.5, -0.5, -1.5, 3.0e9, -3.0e9, f32::NAN, 65520.0, 1.0e-7];
    let (mut d, mut u) = ([0i32; 10], [0u32; 10]);
    k.launch(&Host::new(), Launch::grid(1).block(10), (&x, &mut d, &mut u)).unwrap();
    assert_eq!(d, [0, 2, 2, 0, -2, i32::MAX, i32::MIN, 0, 65520, 0]);
    for i in 0..10 {
        let h = half::f16::from_f32(x[i]);
        let expected = if h.is_nan() { 0x7fff } else { u32::from(h.to_bits()) };
        assert_eq!(u[i], expected, "{} as f16", x[i]);
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Roots of values per thread and of uniform ones, stored in various ways.
    .visible .entry roots(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u64 .ptr .global .align 8 wide: &mut [u64],
        .param .f32 one)
        .reqntid 64
    {
        .reg .pred %p;
        .reg .b32 %t;
        .reg .f32 %v, %r, %one, %s;
        .reg .f64 %w;
        .reg .b64 %x, %out, %wide, %o;
        ld.param.u64 %x, [x];
        ld.param.u64 %out, [out];
        ld.param.u64 %wide, [wide];
        ld.param.f32 %one, [one];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
        add.u64 %out, %out, %o;
        mul.wide.u32 %o, %t, 8;
        add.u64 %wide, %wide, %o;
        ld.global.f32 %v, [%x];
        sqrt.rn.f32 %r, %v;
        st.global.f32 [%out], %r;
        sqrt.rn.f32 %s, %one;
        mov.f32 %r, 0f3F800000;
        setp.lt.u32 %p, %t, 40;
        @%p sqrt.rn.f32 %r, %v;
        st.global.f32 [%out+256], %r;
        st.global.f32 [%out+512], %s;
        cvt.f64.f32 %w, %v;
        sqrt.rn.f64 %w, %w;
        st.global.f64 [%wide], %w;
        ret;
    }
}

#[test]
fn the_root_of_what_has_none() {
    let nan = [0x7fc0_0000, 0x7f80_0001, 0xffc0_1234].map(f32::from_bits);
    let others = [-1.0, -f32::MIN_POSITIVE, f32::NEG_INFINITY, f32::INFINITY, -0.0, 0.0, 2.0, 1e-40];
    let kinds: Vec<f32> = nan.into_iter().chain(others).collect();
    let x: Vec<f32> = kinds.iter().copied().cycle().take(64).collect();
    // PTX ISA 9.7.3: a NaN of f32 is 0x7fffffff. LLVM must not see a choice between a root and a NaN: it treats all NaNs as one.
    let root = |x: f32| {
        let r = std::hint::black_box(x.sqrt());
        if r.is_nan() { 0x7fff_ffff } else { r.to_bits() }
    };
    for one in kinds {
        let (mut out, mut wide) = (vec![0u32; 192], vec![0u64; 64]);
        roots.launch(&Host::new(), Launch::grid(1).block(64), (&x, &mut out, &mut wide, one)).unwrap();
        for (t, x) in x.iter().enumerate() {
            assert_eq!(out[t], root(*x), "{x:e}");
            assert_eq!(out[64 + t], if t < 40 { root(*x) } else { 1f32.to_bits() }, "{x:e}");
            assert_eq!(out[128 + t], root(one), "{one:e}");
            let w = f64::from(*x);
            if x.is_nan() {
                assert!(f64::from_bits(wide[t]).is_nan(), "{x:e}");
            } else if w < 0.0 {
                assert_eq!(wide[t], 0xfff8_0000_0000_0000, "{x:e}");
            } else {
                assert_eq!(wide[t], w.sqrt().to_bits(), "{x:e}");
            }
        }
    }
}

/// The value of 8 bits: a sign, bits of an exponent with this bias, the rest of a mantissa. NaN by what the format has of it.
fn eight_bits(bits: u8, mantissa: u32, bias: i32) -> f32 {
    let exponent = i32::from(bits >> mantissa & (0x7f >> mantissa));
    let fraction = f32::from(bits & ((1 << mantissa) - 1)) / (1 << mantissa) as f32;
    let magnitude = match (mantissa, exponent) {
        (3, _) if bits & 0x7f == 0x7f => f32::NAN,
        (2, 31) if fraction == 0.0 => f32::INFINITY,
        (2, 31) => f32::NAN,
        (_, 0) => fraction * 2f32.powi(1 - bias),
        _ => (1.0 + fraction) * 2f32.powi(exponent - bias),
    };
    if bits & 0x80 != 0 { -magnitude } else { magnitude }
}

#[test]
fn pairs_of_eight_bits_become_halves() {
    let k = ptx!(<sm_89, ptx 8.1> |d: &mut [u32]| .reqntid 256 {
        .reg .b16 %a;
        .reg .b32 %i, %r<4>;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 16;
        add.u64 %pd, %pd, %o;
        // The number of the thread below, its complement above.
        not.b32 %r0, %i;
        prmt.b32 %r0, %i, %r0, 0x40;
        cvt.u16.u32 %a, %r0;
        cvt.rn.f16x2.e4m3x2 %r0, %a;
        cvt.rn.relu.f16x2.e4m3x2 %r1, %a;
        cvt.rn.f16x2.e5m2x2 %r2, %a;
        cvt.rn.relu.f16x2.e5m2x2 %r3, %a;
        st.global.v4.u32 [%pd], {%r0, %r1, %r2, %r3};
    });
    let mut d = vec![0; 4 * 256];
    k.launch(&Host::new(), Launch::grid(1).block(256), (&mut d[..],)).unwrap();
    for i in 0..=255u8 {
        for (j, (mantissa, bias, relu)) in
            [(3, 7, false), (3, 7, true), (2, 15, false), (2, 15, true)].into_iter().enumerate()
        {
            let got = d[4 * usize::from(i) + j];
            for (half, bits) in [(got as u16, i), ((got >> 16) as u16, !i)] {
                let value = eight_bits(bits, mantissa, bias);
                let want = match value {
                    // PTX has one NaN, also of negative bits with `.relu`.
                    v if v.is_nan() => 0x7fff,
                    v if relu && v.is_sign_negative() => 0,
                    v => half::f16::from_f32(v).to_bits(),
                };
                assert_eq!(half, want, "{bits:#04x} with {mantissa} bits of mantissa, relu: {relu}");
            }
        }
    }
}
