//! Loads that share a bounds check, partial rows, and NaNs in chains of arithmetic.

use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.0>
    // Every thread sums elements at fixed distances from two addresses; memory changes in between.
    .visible .entry distances(.param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .reg .b32 %t, %own, %row, %v<9>;
        .reg .b64 %d, %o;
        .shared .align 4 .b8 s[1024];
        ld.param.u64 %d, [out];
        mov.u32 %t, %tid.x;
        mov.u32 %row, s;
        mad.lo.u32 %own, %t, 4, %row;
        mul.lo.u32 %v0, %t, 3;
        st.shared.u32 [%own], %v0;
        add.u32 %v0, %v0, 1000;
        st.shared.u32 [%own+512], %v0;
        bar.sync 0;
        ld.shared.u32 %v1, [%own+512];
        ld.shared.u32 %v2, [%row+16];
        ld.shared.u32 %v3, [%own];
        ld.shared.u32 %v4, [%row+520];
        bar.sync 0;
        st.shared.u32 [%own], %v1;
        ld.shared.u32 %v5, [%own];
        ld.shared.u16 %v6, [%row+522];
        ld.shared.u32 %own, [%own+512];
        ld.shared.u32 %row, [%row+4];
        add.u32 %v1, %v1, %v2;
        mad.lo.u32 %v1, %v3, 7, %v1;
        mad.lo.u32 %v1, %v4, 11, %v1;
        mad.lo.u32 %v1, %v5, 13, %v1;
        mad.lo.u32 %v1, %v6, 17, %v1;
        mad.lo.u32 %v1, %own, 19, %v1;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %v1;
        ret;
    }
}

#[test]
fn distances_from_one_address() {
    for threads in [1, 31, 32, 50, 128] {
        let mut out = vec![0u32; threads];
        distances.launch(&Host::new(), Launch::grid(1).block(threads as u32), (&mut out,)).unwrap();
        let first = |t: u32| if (t as usize) < threads { 3 * t } else { 0 };
        let second = |t: u32| if (t as usize) < threads { 3 * t + 1000 } else { 0 };
        for (t, v) in (0..).zip(&out) {
            let wanted = second(t)
                + first(4)
                + 7 * first(t)
                + 11 * second(2)
                + 13 * second(t)
                + 17 * (second(2) >> 16)
                + 19 * second(t);
            assert_eq!(*v, wanted, "thread {t} of {threads}");
        }
    }
}

#[test]
fn the_load_that_leaves_its_memory_is_named() {
    let k = ptx!(<sm_80, ptx 7.0, allow(PTX0668)> |d: &mut [u32]| {
        .reg .b32 %t, %at, %v<4>;
        .shared .align 4 .b8 s[256];
        .reg .b64 %pd;
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        mov.u32 %at, s;
        mad.lo.u32 %at, %t, 4, %at;
        ld.shared.u32 %v0, [%at];
        ld.shared.u32 %v1, [%at+128];
        ld.shared.u32 %v2, [%at+132];
        add.u32 %v0, %v0, %v1;
        add.u32 %v0, %v0, %v2;
        st.global.u32 [%pd], %v0;
    });
    let report =
        k.launch(&Host::new(), Launch::grid(1).block(32), (&mut [0u32; 1],)).expect_err("the last lane").to_string();
    assert!(report.contains("ld.shared.u32 %v2, [%at+132];") && report.contains("lane 31"), "{report}");
    // without the last lane, all accesses are inside
    k.launch(&Host::new(), Launch::grid(1).block(31), (&mut [0u32; 1],)).unwrap();
}

ptx! {
    <sm_80, ptx 7.0>
    // Copies the elements whose thread is in the mask; the buffers end with the last of those.
    .visible .entry some(.param .u64 .ptr .global .align 2 x: &[u16], .param .u64 .ptr .global .align 2 y: &mut [u16], .param .u32 mask)
    {
        .reg .pred %p;
        .reg .b32 %t, %m;
        .reg .b16 %v;
        .reg .b64 %x, %y, %o;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.u32 %m, [mask];
        mov.u32 %t, %tid.x;
        shr.u32 %m, %m, %t;
        and.b32 %m, %m, 1;
        setp.ne.u32 %p, %m, 0;
        mul.wide.u32 %o, %t, 2;
        add.u64 %x, %x, %o;
        add.u64 %y, %y, %o;
        mov.u16 %v, 7;
        @%p ld.global.u16 %v, [%x];
        @%p st.global.u16 [%y], %v;
        ret;
    }
}

#[test]
fn lanes_of_a_row_that_take_part() {
    for mask in
        [0u32, 1, 0x8000_0000, 0xffff_ffff, 0x7fff_ffff, 0xfffe, 0x0f0f_0f0f, 0x0001_8000, 0xaaaa_aaaa, 0xffff_0000]
    {
        let n = 32 - mask.leading_zeros() as usize;
        let x: Vec<u16> = (0..n as u16).map(|i| 100 + i).collect();
        let mut y = vec![9u16; n];
        some.launch(&Host::new(), Launch::grid(1).block(32), (&x, &mut y, mask)).unwrap();
        for (i, v) in y.iter().enumerate() {
            assert_eq!(*v, if mask >> i & 1 != 0 { 100 + i as u16 } else { 9 }, "{i} of {mask:08x}");
        }
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Numbers that become NaN, observed in all ways that show their bits.
    .visible .entry chain(.param .u64 .ptr .global .align 4 x: &[f32], .param .u64 .ptr .global .align 4 out: &mut [u32])
        .reqntid 32
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %b<5>;
        .reg .f32 %a, %s, %u, %w;
        .reg .b64 %x, %d, %o;
        ld.param.u64 %x, [x];
        ld.param.u64 %d, [out];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
        mul.wide.u32 %o, %t, 20;
        add.u64 %d, %d, %o;
        ld.global.f32 %a, [%x];
        sub.f32 %s, %a, %a;                 // 0, or NaN
        fma.rn.f32 %u, %s, %a, %a;
        add.f32 %w, %u, %s;
        mul.f32 %u, %w, 0f40000000;
        mov.b32 %b0, %w;
        setp.eq.f32 %p, %u, %u;
        selp.u32 %b1, 1, 0, %p;
        @%p mul.f32 %w, %w, %w;
        mov.b32 %b2, %w;
        setp.ne.f32 %q, %w, 0f3F800000;
        selp.b32 %b3, %b0, 5, %q;
        neg.f32 %w, %u;
        mov.b32 %b4, %w;
        st.global.u32 [%d], %b0;
        st.global.u32 [%d+4], %b1;
        st.global.u32 [%d+8], %b2;
        st.global.u32 [%d+12], %b3;
        st.global.f32 [%d+16], %u;
        ret;
    }
}

#[test]
fn a_chain_of_arithmetic_ends_with_the_one_nan() {
    let numbers = [0.0, -0.0, 1.0, -3.5, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(1)];
    let nans = [0x7fc0_0001u32, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff].map(f32::from_bits);
    let x: Vec<f32> = (0..32).map(|i| numbers.iter().chain(&nans).copied().nth(i % 12).unwrap()).collect();
    let mut out = vec![0u32; 160];
    chain.launch(&Host::new(), Launch::grid(1).block(32), (&x, &mut out)).unwrap();
    let one = |v: f32| if v.is_nan() { 0x7fff_ffff } else { v.to_bits() };
    for (x, v) in x.iter().zip(out.chunks(5)) {
        let s = x - x;
        let w = s.mul_add(*x, *x) + s;
        let u = w * 2.0;
        let square = if u.is_nan() { w } else { w * w };
        let differs = square.partial_cmp(&1.0).is_some_and(|o| o.is_ne());
        let wanted = [one(w), u32::from(!u.is_nan()), one(square), if differs { one(w) } else { 5 }, one(u)];
        assert_eq!(v, wanted, "{x} ({:08x})", x.to_bits());
    }
}

#[test]
fn what_some_lanes_set_before_a_barrier_is_theirs_behind_it() {
    // Uniform on each path, but not on both; the paths are too long for if-conversion.
    let k = ptx!(<sm_80, ptx 7.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %v, %t, %a, %i;
        .reg .b64 %x, %o;
        ld.param.u64 %x, [d];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 8;
        add.u64 %x, %x, %o;
        mov.u32 %v, 7;
        mov.u32 %a, %t;
        mov.u32 %i, 0;
        setp.lt.u32 %p, %t, 40;
        @%p bra MEET;
        mov.u32 %v, 9;
    AGAIN:
        mad.lo.u32 %a, %a, 3, 1;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 5;
        @%p bra AGAIN;
    MEET:
        bar.sync 0;
        st.global.u32 [%x], %v;
        st.global.u32 [%x+4], %a;
        ret;
    });
    let mut d = vec![0u32; 128];
    k.launch(&Host::new(), Launch::grid(1).block(64), (&mut d,)).unwrap();
    for (t, got) in (0u32..).zip(d.chunks(2)) {
        let a = (0..if t < 40 { 0 } else { 5 }).fold(t, |a, _| 3 * a + 1);
        assert_eq!(got, [if t < 40 { 7 } else { 9 }, a], "thread {t}");
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Instructions that take the result of another one, with what keeps them apart between them; lanes leave the loop one by one.
    .visible .entry pairs(.param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %i, %a, %b, %c, %d, %e, %x, %y, %z, %again, %last;
        .reg .b64 %out, %o;
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        mul.lo.u32 %last, %t, 40503;
        and.b32 %last, %last, 15;
        xor.b32 %a, %t, 21;
        mul.lo.u32 %a, %a, %a;
        xor.b32 %x, %a, 3;
        xor.b32 %b, %a, 5;
        mov.u32 %i, 0;
        mov.u32 %z, %a;
        mov.u32 %again, %b;
      each:
        // read twice
        mul.lo.u32 %c, %a, %b;
        xor.b32 %d, %c, %a;
        xor.b32 %e, %c, %d;
        // the other operand changes
        xor.b32 %c, %e, %a;
        add.u32 %b, %b, %i;
        mul.lo.u32 %y, %c, %b;
        // what the second one writes is read before
        shl.b32 %c, %y, 3;
        add.u32 %e, %e, %x;
        xor.b32 %x, %c, %a;
        // what it takes is written again before
        shr.u32 %c, %e, 7;
        shl.b32 %d, %c, 1;
        mul.lo.u32 %c, %d, 77;
        xor.b32 %y, %y, %c;
        // one register for both results
        mul.lo.u32 %a, %a, %x;
        add.u32 %a, %a, %y;
        // the next turn reads it, and another lane behind the loop
        shl.b32 %d, %again, 5;
        xor.b32 %again, %a, %d;
        xor.b32 %z, %d, %again;
        mul.lo.u32 %z, %z, 3;
        // a predicate that a guard and the branch read
        setp.lt.u32 %q, %a, %y;
        selp.b32 %e, %e, %a, %q;
        @%q add.u32 %b, %b, %e;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %last;
        @%p bra each;
        selp.b32 %e, 1, 0, %q;
        add.u32 %z, %z, %e;
        xor.b32 %z, %z, %b;
        xor.b32 %z, %z, %x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %out, %out, %o;
        st.global.u32 [%out], %z;
        ret;
    }
}

/// The same in Rust.
fn pairs_of(t: u32) -> u32 {
    let last = t.wrapping_mul(40503) & 15;
    let mut a = (t ^ 21).wrapping_mul(t ^ 21);
    let (mut x, mut b, mut again, mut i) = (a ^ 3, a ^ 5, a ^ 5, 0);
    loop {
        let c = a.wrapping_mul(b);
        let d = c ^ a;
        let mut e = c ^ d;
        let c = e ^ a;
        b = b.wrapping_add(i);
        let mut y = c.wrapping_mul(b);
        let c = y << 3;
        e = e.wrapping_add(x);
        x = c ^ a;
        y ^= (e >> 7 << 1).wrapping_mul(77);
        a = a.wrapping_mul(x).wrapping_add(y);
        let d = again << 5;
        again = a ^ d;
        let z = (d ^ again).wrapping_mul(3);
        let lower = a < y;
        e = if lower { e } else { a };
        if lower {
            b = b.wrapping_add(e);
        }
        i += 1;
        if i >= last {
            return z.wrapping_add(lower.into()) ^ b ^ x;
        }
    }
}

#[test]
fn an_instruction_that_takes_the_result_of_another() {
    for threads in [1, 32, 100, 256] {
        let mut out = vec![0u32; threads];
        pairs.launch(&Host::new(), Launch::grid(1).block(threads as u32), (&mut out,)).unwrap();
        let wanted: Vec<u32> = (0..threads as u32).map(pairs_of).collect();
        assert_eq!(out, wanted);
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // What is loaded is a factor, and also the index of a load behind the product.
    .visible .entry factors(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .reg .pred %p;
        .reg .b32 %t, %s, %a, %b, %sum, %i, %v, %total;
        .reg .b64 %x, %at, %out, %o;
        .shared .align 4 .b8 indices[512];
        .shared .align 4 .b8 ones[512];
        ld.param.u64 %x, [x];
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        mov.u32 %s, indices;
        mad.lo.u32 %s, %t, 4, %s;
        mov.u32 %i, 0;
        mov.b32 %sum, 0;
        mov.u32 %total, 0;
        st.shared.u32 [%s+512], 0x3f800000;
      each:
        mad.lo.u32 %v, %t, 5, %i;
        rem.u32 %v, %v, 64;
        st.shared.u32 [%s], %v;
        ld.shared.b32 %a, [%s];
        ld.shared.b32 %b, [%s+512];
        mul.wide.u32 %o, %a, 4;
        add.u64 %at, %x, %o;
        fma.rn.f32 %sum, %a, %b, %sum;
        ld.global.u32 %v, [%at];
        mad.lo.u32 %total, %total, 3, %v;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 6;
        @%p bra each;
        add.u32 %total, %total, %sum;
        mul.wide.u32 %o, %t, 4;
        add.u64 %out, %out, %o;
        st.global.u32 [%out], %total;
        ret;
    }
}

#[test]
fn a_factor_that_is_an_index_too() {
    let x: Vec<u32> = (0..64).map(|i| i * i + 7).collect();
    let mut out = vec![0u32; 128];
    factors.launch(&Host::new(), Launch::grid(1).block(128), (&x, &mut out)).unwrap();
    let wanted = (0..128u32).map(|t| {
        let indices = (0..6).map(|i| (t * 5 + i) % 64);
        // small integers are subnormal numbers, whose sums are those of the integers
        let sum: u32 = indices.clone().sum();
        sum + indices.fold(0u32, |total, i| total.wrapping_mul(3).wrapping_add(x[i as usize]))
    });
    assert!(wanted.eq(out.iter().copied()), "{out:?}");
}
