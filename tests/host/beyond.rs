//! What ptxas accepts beyond the manual: negated predicates as sources, the address of a variable and a constant as a value,
//! pairs of halves as integers, vector registers as parameters, `.local` and `.reg` at module scope.

use ptx_dsl::prelude::*;

#[test]
fn predicates_are_negated_where_they_are_read() {
    let k = ptx!(<sm_90, ptx 8.2> |out: &mut [u32]| {
        .reg .pred %p, %q, %r, %s;
        .reg .b32 %i, %a, %b, %c, %v;
        .reg .b64 %o;
        ld.param.u64 %o, [out];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %o, %i, 4, %o;
        and.b32 %a, %i, 1;
        and.b32 %b, %i, 2;
        setp.ne.u32 %p, %a, 0;
        setp.ne.u32 %q, %b, 0;
        mov.u32 %v, 0;
        selp.b32 %c, 1, 0, !%p;
        or.b32 %v, %v, %c;
        and.pred %r, %p, !%q;
        selp.b32 %c, 2, 0, %r;
        or.b32 %v, %v, %c;
        or.pred %r, !%p, !%q;
        selp.b32 %c, 4, 0, %r;
        or.b32 %v, %v, %c;
        xor.pred %r, !%p, %q;
        selp.b32 %c, 8, 0, %r;
        or.b32 %v, %v, %c;
        not.pred %r, !%p;
        selp.b32 %c, 16, 0, %r;
        or.b32 %v, %v, %c;
        mov.pred %r, !%q;
        selp.b32 %c, 32, 0, %r;
        or.b32 %v, %v, %c;
        // The bits of `%i & 4`, and whether any is set, or'ed with the negated predicate.
        lop3.or.b32 %c|%s, %i, 4, 0, 0xc0, !%p;
        shl.b32 %c, %c, 8;
        or.b32 %v, %v, %c;
        selp.b32 %c, 64, 0, %s;
        or.b32 %v, %v, %c;
        lop3.and.b32 _|%s, %i, 4, 0, 0xc0, !%q;
        selp.b32 %c, 128, 0, %s;
        or.b32 %v, %v, %c;
        // The same for all lanes at once, from a uniform value.
        setp.eq.u32 %p, %i, 1000;
        mov.pred %q, !%p;
        @!%q st.global.u32 [%o], 0;
        selp.b32 %c, 0x100000, 0, !%p;
        or.b32 %v, %v, %c;
        st.global.u32 [%o], %v;
    });
    let mut out = [0u32; 64];
    k.launch(&Host::new(), Launch::grid(1).block(64), (&mut out,)).unwrap();
    for (i, v) in out.iter().enumerate() {
        let (p, q, bit) = (i & 1 != 0, i & 2 != 0, |n: usize, is: bool| if is { n } else { 0 });
        let four = i & 4 != 0;
        let want = bit(1, !p)
            | bit(2, p && !q)
            | bit(4, !p || !q)
            | bit(8, p == q)
            | bit(16, p)
            | bit(32, !q)
            | (i & 4) << 8
            | bit(64, four || !p)
            | bit(128, four && !q)
            | 0x10_0000;
        assert_eq!(*v as usize, want, "lane {i}");
    }
}

mod sums {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .global .align 8 .u32 t[4] = {10, 20, 30, 40};
        .shared .align 8 .u32 pad[5];
        .shared .align 8 .u32 s[4];
        .visible .entry sums(.param .u64 .ptr .global .align 8 out: &mut [u64]) {
            .reg .b64 %o, %a; .reg .b32 %v; .reg .pred %p;
            ld.param.u64 %o, [out];
            // The stored address is that in the variable's own space, also in a generic store.
            st.u64 [%o], t + 4;
            ld.global.u64 %a, [%o];
            ld.global.u32 %v, [%a];
            st.global.u64 [%o], 0;
            st.global.u32 [%o], %v;
            mov.u32 %v, pad;
            sub.u32 %v, s + 8, %v;
            st.global.u64 [%o+8], 0;
            st.global.u32 [%o+8], %v;
            mov.u64 %a, t;
            sub.u64 %a, t + 12, %a;
            st.global.u64 [%o+16], %a;
            setp.eq.u64 %p, %a, t + 0;
            selp.u32 %v, 1, 2, %p;
            st.global.u64 [%o+24], 0;
            st.global.u32 [%o+24], %v;
            st.u64 [%o+32], s + 4;
            mov.u64 %a, s;
            ld.global.u64 %o, [%o+32];
            sub.u64 %a, %o, %a;
            ld.param.u64 %o, [out];
            st.global.u64 [%o+32], %a;
            st.shared.u32 [pad], 1;
            ret;
        }
    }
}

#[test]
fn an_address_and_a_constant_are_a_value() {
    let mut out = [0u64; 5];
    sums::sums.launch(&Host::new(), Launch::grid(1).block(1), (&mut out,)).unwrap();
    // `s` follows the 20 bytes of `pad`, at a multiple of 8.
    assert_eq!(out, [20, 32, 12, 2, 4]);
}

#[test]
fn pairs_of_halves_are_integers_of_32_bits() {
    let k = ptx!(<sm_90, ptx 8.0> |out: &mut [u32], x: &[u32]| {
        .reg .f16x2 %h<4>;
        .reg .b32 %r;
        .reg .b64 %o, %x;
        ld.param.u64 %o, [out];
        ld.param.u64 %x, [x];
        ld.global.u32 %h0, [%x];
        ld.global.s8 %h1, [%x+4];
        add.u32 %h2, %h0, %h1;
        mul.lo.s32 %h2, %h2, 3;
        st.global.u32 [%o], %h2;
        cvt.u32.u16 %h3, 77;
        min.s32 %h3, %h3, -5;
        st.global.s32 [%o+4], %h3;
        mov.u32 %h3, %tid.x;
        shr.u32 %h3, %h0, 4;
        mov.b32 %r, %h3;
        st.global.u32 [%o+8], %r;
    });
    let mut out = [0u32; 3];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut out, &[0xFFFF_FFF0, 0x80])).unwrap();
    assert_eq!(out, [0xFFFF_FFF0u32.wrapping_sub(128).wrapping_mul(3), -5i32 as u32, 0x0FFF_FFFF]);
}

mod vectors {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a, .reg .u32 more)
        {
            .reg .u32 x;
            add.u32 x, a.x, more;
            mov.v2.u32 r, {a.y, x};
            ret;
        }
        .func (.reg .v4 .u32 r) turn(.reg .v4 .u32 a, .reg .u32 times)
        {
            .reg .u32 n; .reg .pred p;
            mov.v4.u32 r, a;
            setp.eq.u32 p, times, 0;
            @p ret;
            mov.v4.u32 r, {a.y, a.z, a.w, a.x};
            sub.u32 n, times, 1;
            call (r), turn, (r, n);
            ret;
        }
        .visible .entry vectors(.param .u64 .ptr .global .align 4 out: &mut [u32]) {
            .reg .b64 %o; .reg .b32 %i, %n; .reg .v2 .u32 v, w; .reg .v4 .u32 q, u;
            ld.param.u64 %o, [out];
            mov.u32 %i, %tid.x;
            mad.wide.u32 %o, %i, 24, %o;
            add.u32 %n, %i, 100;
            mov.v2.u32 v, {%i, %n};
            call (w), swap, (v, 7);
            st.global.u32 [%o], w.x;
            st.global.u32 [%o+4], w.y;
            mov.v4.u32 q, {%i, 1, 2, 3};
            and.b32 %n, %i, 3;
            call (u), turn, (q, %n);
            st.global.u32 [%o+8], u.x;
            st.global.u32 [%o+12], u.y;
            st.global.u32 [%o+16], u.z;
            st.global.u32 [%o+20], u.w;
            ret;
        }
    }
}

/// The second one calls itself, so lanes get their old values from a stack.
#[test]
fn vector_registers_are_parameters() {
    let mut out = vec![0u32; 6 * 40];
    vectors::vectors.launch(&Host::new(), Launch::grid(1).block(40), (&mut out,)).unwrap();
    for i in 0..40u32 {
        let mut turned = [i, 1, 2, 3];
        turned.rotate_left(i as usize & 3);
        let want = [[i + 100, i + 7].as_slice(), &turned].concat();
        assert_eq!(out[6 * i as usize..][..6], want, "{i}");
    }
}

mod old {
    ptx_dsl::ptx! {
        <sm_20, ptx 2.3, allow(PTX0519)>
        .local .align 4 .u32 kept[2];
        .reg .u32 %r<4>;
        .reg .u64 %a;
        // As compilers of that time wrote it.
        .func store (.reg .u32 v)
        .func store (.reg .u32 v)
        {
            st.local.u32 [kept+4], v;
            ret;
        }
        .visible .entry one(.param .u64 out: &mut [u32]) {
            ld.param.u64 %a, [out];
            mov.u32 %r1, %tid.x;
            add.u32 %r2, %r1, 5;
            st.local.u32 [kept], %r1;
            call store, (%r2);
            ld.local.u32 %r1, [kept];
            ld.local.u32 %r2, [kept+4];
            mad.lo.u32 %r3, %r1, 100, %r2;
            mul.wide.u32 %a, %r1, 4;
            .reg .u64 %b;
            ld.param.u64 %b, [out];
            add.u64 %a, %a, %b;
            st.global.u32 [%a], %r3;
            ret;
        }
    }
}

mod shared_registers {
    ptx_dsl::ptx! {
        <sm_20, ptx 2.3, allow(PTX0519)>
        .reg .u32 counter;
        .func count
        {
            add.u32 counter, counter, 1;
            ret;
        }
        .visible .entry kernel(.param .u64 out: &mut [u32]) {
            .reg .u64 %a;
            ld.param.u64 %a, [out];
            mov.u32 counter, 0;
            call count;
            call count;
            st.global.u32 [%a], counter;
            ret;
        }
    }
}

#[test]
fn variables_and_registers_of_the_module() {
    let mut out = vec![0u32; 33];
    old::one.launch(&Host::new(), Launch::grid(1).block(33), (&mut out,)).unwrap();
    assert!(out.iter().enumerate().all(|(i, v)| *v as usize == 100 * i + i + 5), "{out:?}");
    // The host does not have one register for two functions, and says so.
    let mut out = [0u32];
    let error = shared_registers::kernel.launch(&Host::new(), Launch::grid(1).block(1), (&mut out,)).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`counter` yet: functions share this register of the module"), "{error}");
}

mod sums_of_registers {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0, compiled, allow(PTX0521, PTX0520)>
        .global .align 4 .u32 t[4][2] = {{1, 2}, {3, 4}, {5}, {7, 8}};
        .global .align 4 .u8 u[2][2][2] = {{{1, 2}}, {{4, 5}, {6}}};
        .visible .entry register_sums(.param .u64 .ptr .global .align 8 out: &mut [u64]) {
            .reg .b64 %o, %a, %w; .reg .b32 %i, %v, %m; .reg .b16 %h; .reg .pred %p, %q;
            ld.param.u64 %o, [out];
            mov.u32 %i, %tid.x;
            mad.wide.u32 %o, %i, 64, %o;
            mov.u32 %m, 0xffffffff;
            // The sum has the width of the register, whatever the instruction does with it.
            cvt.u64.u32 %a, %m + 3;
            st.global.u64 [%o], %a;
            cvt.u16.u32 %h, %m;
            cvt.u64.u16 %a, %h + 4;
            st.global.u64 [%o + 8], %a;
            mov.b64 %w, %a + 4294967296;
            st.global.u64 [%o + 16], %w + -1;
            mad.lo.u32 %v, %i + 1, %i + 2, %i + 3;
            cvt.u64.u32 %a, %v;
            st.global.u64 [%o + 24], %a;
            // Only the lanes of the guard compute it.
            setp.lt.u32 %p, %i, 2;
            mov.u64 %a, 7;
            @%p mov.u64 %a, %a + 1;
            st.global.u64 [%o + 32], %a;
            // A result that is ignored.
            isspacep.global %q|_, %o;
            selp.b64 %a, 1, 0, %q;
            st.global.u64 [%o + 40], %a;
            ld.global.u32 %v, [t + 20];
            cvt.u64.u32 %a, %v;
            st.global.u64 [%o + 48], %a;
            ld.global.u64 %a, [u];
            st.global.u64 [%o + 56], %a;
            ret;
        }
    }
}

/// ptxas 13.5 adds the number to the register before the instruction, and lays out all values of an initialiser one after another;
/// its machine code and its `.nv.global.init` show both.
#[test]
fn sums_of_registers_and_lists_that_are_not_full() {
    use ptx_dsl::Engine;
    for engine in [Engine::Compiled, Engine::Interpreted] {
        let mut out = [[0u64; 8]; 4];
        let flat = out.as_flattened_mut();
        let launch = Launch::grid(1).block(4);
        sums_of_registers::register_sums.launch(&Host::new().engine(engine), launch, (flat,)).unwrap();
        for (i, row) in (0u64..).zip(out) {
            let product = (i + 1) * (i + 2) + i + 3;
            let guarded = if i < 2 { 8 } else { 7 };
            assert_eq!(row, [2, 3, 4_294_967_298, product, guarded, 1, 7, 0x0006_0504_0201], "{engine:?} lane {i}");
        }
    }
}
