//! Control flow: divergence, loops, switches, calls.

use ptx_dsl::prelude::*;

#[test]
fn divergent_loops_end_per_lane() {
    // Collatz steps.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b32 %i, %x, %n, %b;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mov.u32 %b, %ctaid.x;
        mad.lo.u32 %i, %b, 96, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        add.u32 %x, %i, 1;
        mov.u32 %n, 0;
    LOOP:
        setp.eq.u32 %p, %x, 1;
        @%p bra DONE;
        and.b32 %b, %x, 1;
        setp.eq.u32 %q, %b, 1;
        @%q bra ODD;
        shr.u32 %x, %x, 1;
        bra NEXT;
    ODD:
        mad.lo.u32 %x, %x, 3, 1;
    NEXT:
        add.u32 %n, %n, 1;
        bra LOOP;
    DONE:
        st.global.u32 [%pd], %n;
    });
    let mut d = vec![0u32; 480];
    k.launch(&Host::new(), Launch::grid(5).block(96), (&mut d,)).unwrap();
    for (i, &got) in d.iter().enumerate() {
        let (mut x, mut n) = (i as u32 + 1, 0);
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            n += 1;
        }
        assert_eq!(got, n, "steps of {}", i + 1);
    }
}

#[test]
fn lanes_meet_again_behind_a_branch() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %m;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        setp.lt.u32 %p, %i, 7;
        @%p bra SMALL;
        add.u32 %i, %i, 1;
        bra JOIN;
    SMALL:
        add.u32 %i, %i, 2;
    JOIN:
        activemask.b32 %m;
        st.global.u32 [%pd], %m;
    });
    let mut d = [0u32; 32];
    k.launch(&Host::new(), Launch::grid(1).block(32), (&mut d,)).unwrap();
    assert_eq!(d, [u32::MAX; 32]);
}

#[test]
fn brx_idx_picks_a_target_per_lane() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .b32 %i, %s, %v;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        and.b32 %s, %i, 3;
    TABLE: .branchtargets C0, C1, C2, C3;
        brx.idx %s, TABLE;
    C0: mov.u32 %v, 10; bra END;
    C1: mov.u32 %v, 11; bra END;
    C2: mov.u32 %v, 12; bra END;
    C3: mov.u32 %v, 13;
    END:
        st.global.u32 [%pd], %v;
    });
    let mut d = [0u32; 40];
    k.launch(&Host::new(), Launch::grid(1).block(40), (&mut d,)).unwrap();
    for (i, v) in d.iter().enumerate() {
        assert_eq!(*v, 10 + i as u32 % 4);
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .func (.param .b32 result) square_plus(.param .b32 x, .param .b32 y) {
        .reg .b32 %a, %b;
        ld.param.u32 %a, [x];
        ld.param.u32 %b, [y];
        mad.lo.u32 %a, %a, %a, %b;
        st.param.b32 [result], %a;
        ret;
    }
    .func (.reg .u32 r) twice(.reg .u32 x) {
        .reg .pred %p;
        setp.gt.u32 %p, x, 50;
        @%p bra BIG;
        add.u32 r, x, x;
        ret;
    BIG:
        mov.u32 r, 0;
        ret;
    }
    .visible .entry calls(.param .u64 .ptr .global .align 4 d: &mut [u32]) {
        .reg .b32 %i, %v;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        {
            .param .b32 a;
            .param .b32 b;
            .param .b32 ret0;
            st.param.b32 [a], %i;
            st.param.b32 [b], 5;
            call.uni (ret0), square_plus, (a, b);
            ld.param.b32 %v, [ret0];
        }
        call (%v), twice, (%v);
        st.global.u32 [%pd], %v;
        ret;
    }
}

#[test]
fn functions_pass_values_by_param_and_by_register() {
    let mut d = [0u32; 64];
    calls.launch(&Host::new(), Launch::grid(1).block(64), (&mut d,)).unwrap();
    for (i, v) in d.iter().enumerate() {
        let s = (i * i + 5) as u32;
        assert_eq!(*v, if s > 50 { 0 } else { 2 * s });
    }
}

#[test]
fn a_spinning_lane_lets_the_others_run() {
    // Lane 0 waits for a flag that lane 31 of the same warp sets.
    let k = ptx!(<sm_90, ptx 8.0> |flag: &mut [u32], d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %v;
        .reg .b64 %pf, %pd, %o;
        ld.param.u64 %pf, [flag];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        setp.ne.u32 %p, %i, 0;
        @%p bra OTHERS;
    SPIN:
        ld.acquire.gpu.global.u32 %v, [%pf];
        setp.eq.u32 %p, %v, 0;
        @%p bra SPIN;
        st.global.u32 [%pd], %v;
        bra END;
    OTHERS:
        setp.ne.u32 %p, %i, 31;
        @%p bra END;
        st.release.gpu.global.u32 [%pf], 77;
    END:
    });
    let (mut flag, mut d) = ([0u32], [0u32; 32]);
    k.launch(&Host::new(), Launch::grid(1).block(32), (&mut flag, &mut d)).unwrap();
    assert_eq!((flag[0], d[0]), (77, 77));
}

/// A kernel with this body, sixteen times.
macro_rules! sixteen {
    (@ $($body:tt)*) => {
        ptx!(<sm_90, ptx 8.0> |n: u32, d: &mut [u32]| {
            .shared .align 4 .b8 ring[384];
            .reg .pred %p;
            .reg .b32 %i, %j, %n, %x, %k, %mine, %next;
            .reg .b64 %pd, %o;
            ld.param.u64 %pd, [d];
            ld.param.u32 %n, [n];
            mov.u32 %i, %tid.x;
            mul.wide.u32 %o, %i, 4;
            add.u64 %pd, %pd, %o;
            ld.global.u32 %x, [%pd];
            mov.u32 %k, %n;
            mov.u32 %mine, ring;
            add.u32 %next, %i, 1;
            rem.u32 %next, %next, 96;
            mad.lo.u32 %next, %next, 4, %mine;
            mad.lo.u32 %mine, %i, 4, %mine;
            $($body)*
            st.global.u32 [%pd], %x;
        })
    };
    ($body:tt) => { sixteen!(@ $body $body $body $body $body $body $body $body $body $body $body $body $body $body $body $body) };
}

#[test]
fn a_kernel_of_many_instructions() {
    // In long kernels regions are outlined functions.
    let k = sixteen!({
        .reg .pred %q;
        .reg .b32 %t;
        and.b32 %t, %x, 3;
        setp.ne.u32 %q, %t, 0;
        @%q bra other;
        shr.u32 %x, %x, 1;
        add.u32 %x, %x, %i;
        bra join;
    other:
        mad.lo.u32 %x, %x, 3, 1;
        sub.u32 %t, %t, 1;
        setp.ne.u32 %q, %t, 0;
        @%q bra other;
    join:
        xor.b32 %x, %x, %k;
        add.u32 %k, %k, 7;
        st.shared.u32 [%mine], %x;
        bar.sync 0;
        ld.shared.u32 %t, [%next];
        bar.sync 0;
        add.u32 %x, %x, %t;
    });
    let start: Vec<u32> = (0..96u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let mut d = start.clone();
    k.launch(&Host::new(), Launch::grid(1).block(96), (1000, &mut d)).unwrap();
    let mut x = start;
    let mut k = 1000;
    for _ in 0..16 {
        for (i, x) in x.iter_mut().enumerate() {
            match *x & 3 {
                0 => *x = (*x >> 1).wrapping_add(i as u32),
                n => (0..n).for_each(|_| *x = x.wrapping_mul(3).wrapping_add(1)),
            }
            *x ^= k;
        }
        k += 7;
        let old = x.clone();
        for i in 0..96 {
            x[i] = old[i].wrapping_add(old[(i + 1) % 96]);
        }
    }
    assert_eq!(d, x);
}
