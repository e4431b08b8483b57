//! Recursive calls (manual 9.7.12.5): each activation has its own registers, parameters and local memory.

use ptx_dsl::prelude::*;

mod calls {
    ptx_dsl::include_ptx!("../ptx/calls.ptx");
}

#[test]
fn factorial_direct_and_through_a_pointer() {
    let mut out = [0u64; 2];
    calls::calls.launch(&Host::new(), Launch::grid(1).block(1), (&mut out, 6)).unwrap();
    // 6 squared, 5! and 6!
    assert_eq!(out[0], 36 + 120 + 720);
    assert_eq!(out[1], 17, "the second of a pair, swapped");
}

fn fibonacci(n: u32) -> u32 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

ptx! {
    <sm_80, ptx 7.0>
    .func (.reg .u32 %result) fib(.reg .u32 %n)
    {
        .reg .pred %p;
        .reg .b32 %a<3>;
        setp.lt.u32 %p, %n, 2;
        mov.u32 %result, %n;
        @%p ret;
        sub.u32 %a0, %n, 1;
        call (%a1), fib, (%a0);
        sub.u32 %a0, %n, 2;
        call (%a2), fib, (%a0);
        add.u32 %result, %a1, %a2;
        ret;
    }
    // Euclid: the two parameters are swapped.
    .func (.reg .u32 %result) gcd(.reg .u32 %a, .reg .u32 %b)
    {
        .reg .pred %p;
        .reg .b32 %r;
        setp.eq.u32 %p, %b, 0;
        mov.u32 %result, %a;
        @%p ret;
        rem.u32 %r, %a, %b;
        mov.u32 %a, %r;
        call (%result), gcd, (%b, %a);
        ret;
    }
    .visible .entry both(.param .u64 .ptr .global .align 4 fibs: &mut [u32], .param .u64 .ptr .global .align 4 gcds: &mut [u32])
    {
        .reg .b32 %t, %f, %g;
        .reg .b64 %p<3>;
        mov.u32 %t, %tid.x;
        mul.wide.u32 %p2, %t, 4;
        ld.param.u64 %p0, [fibs];
        ld.param.u64 %p1, [gcds];
        add.u64 %p0, %p0, %p2;
        add.u64 %p1, %p1, %p2;
        call (%f), fib, (%t);
        st.global.u32 [%p0], %f;
        call (%g), gcd, (%t, 60);
        st.global.u32 [%p1], %g;
        ret;
    }
}

#[test]
fn lanes_recurse_to_their_own_depth() {
    for seed in 0..4 {
        let (mut fibs, mut gcds) = ([0u32; 20], [0u32; 20]);
        both.launch(&Host::new().seed(seed), Launch::grid(1).block(20), (&mut fibs, &mut gcds)).unwrap();
        for n in 0..20 {
            assert_eq!(fibs[n as usize], fibonacci(n));
            let divisor = (1..=60).rev().find(|d| n % d == 0 && 60 % d == 0);
            assert_eq!(Some(gcds[n as usize]), divisor);
        }
    }
}

ptx! {
    <sm_80, ptx 7.0>
    .func odd(.param .u32 n, .param .u64 sum);
    // Adds n, n-1, .. to a variable of the outermost caller, each level from its own array.
    .func even(.param .u32 n, .param .u64 sum)
    {
        .reg .pred %p;
        .reg .b32 %n, %m, %s;
        .reg .b64 %sum;
        .local .align 4 .b32 own[4];
        ld.param.u32 %n, [n];
        ld.param.u64 %sum, [sum];
        setp.eq.u32 %p, %n, 0;
        @%p ret;
        st.local.u32 [own + 8], %n;
        {
            .param .u32 argument;
            .param .u64 pointer;
            sub.u32 %m, %n, 1;
            st.param.u32 [argument], %m;
            st.param.u64 [pointer], %sum;
            call odd, (argument, pointer);
        }
        ld.local.u32 %m, [own + 8];
        ld.u32 %s, [%sum];
        add.u32 %s, %s, %m;
        st.u32 [%sum], %s;
        ret;
    }
    .func odd(.param .u32 n, .param .u64 sum)
    {
        .reg .pred %p;
        .reg .b32 %n, %m, %s;
        .reg .b64 %sum;
        .local .align 4 .b32 own[4];
        ld.param.u32 %n, [n];
        ld.param.u64 %sum, [sum];
        setp.eq.u32 %p, %n, 0;
        @%p ret;
        st.local.u32 [own], %n;
        {
            .param .u32 argument;
            .param .u64 pointer;
            sub.u32 %m, %n, 1;
            st.param.u32 [argument], %m;
            st.param.u64 [pointer], %sum;
            call even, (argument, pointer);
        }
        ld.local.u32 %m, [own];
        ld.u32 %s, [%sum];
        add.u32 %s, %s, %m;
        st.u32 [%sum], %s;
        ret;
    }
    .visible .entry sums(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 factor)
    {
        .reg .b32 %t, %f;
        .reg .b64 %p<2>, %sum;
        .local .align 4 .u32 sum;
        ld.param.u64 %p0, [out];
        ld.param.u32 %f, [factor];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %p1, %t, 4;
        add.u64 %p0, %p0, %p1;
        st.local.u32 [sum], 0;
        mov.u64 %sum, sum;
        cvta.local.u64 %sum, %sum;
        mul.lo.u32 %t, %t, %f;
        {
            .param .u32 argument;
            .param .u64 pointer;
            st.param.u32 [argument], %t;
            st.param.u64 [pointer], %sum;
            call even, (argument, pointer);
        }
        ld.local.u32 %t, [sum];
        st.global.u32 [%p0], %t;
        ret;
    }
}

#[test]
fn local_variables_belong_to_an_activation() {
    let mut out = [0u32; 48];
    sums.launch(&Host::new(), Launch::grid(1).block(48), (&mut out, 1)).unwrap();
    assert_eq!(out, std::array::from_fn::<_, 48, _>(|n| (n * (n + 1) / 2) as u32));
}

ptx! {
    <sm_80, ptx 7.0>
    // The sum of 1 to n, each number from the local memory of its activation.
    .func (.reg .u32 %sum) below(.reg .u32 %n)
    {
        .reg .pred %p;
        .reg .b32 %m;
        .local .align 64 .b32 own[3];
        setp.eq.u32 %p, %n, 0;
        mov.u32 %sum, 0;
        @%p ret;
        st.local.u32 [own+8], %n;
        sub.u32 %m, %n, 1;
        call (%sum), below, (%m);
        ld.local.u32 %m, [own+8];
        add.u32 %sum, %sum, %m;
        ret;
    }
    // Not recursive, but recursive functions call it and are called by it.
    .func (.reg .u32 %sum) between(.reg .u32 %n)
    {
        .reg .b32 %m;
        .local .align 4 .b32 own;
        st.local.u32 [own], %n;
        call (%sum), below, (%n);
        ld.local.u32 %m, [own];
        add.u32 %sum, %sum, %m;
        ret;
    }
    .func (.reg .u32 %sum) above(.reg .u32 %n)
    {
        .reg .pred %p;
        .reg .b32 %m, %s;
        .local .align 4 .b32 own[5];
        setp.eq.u32 %p, %n, 0;
        mov.u32 %sum, 0;
        @%p ret;
        st.local.u32 [own+16], %n;
        call (%s), between, (%n);
        ld.local.u32 %m, [own+16];
        add.u32 %s, %s, %m;
        sub.u32 %m, %m, 1;
        call (%sum), above, (%m);
        add.u32 %sum, %sum, %s;
        ret;
    }
    .visible .entry deep(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n)
    {
        .reg .b32 %n, %s, %t;
        .reg .b64 %p;
        .local .align 16 .b8 large[20000];
        ld.param.u64 %p, [out];
        ld.param.u32 %n, [n];
        st.local.u32 [large], 7;
        st.local.u32 [large+19996], 9;
        call (%s), above, (%n);
        ld.local.u32 %t, [large];
        add.u32 %s, %s, %t;
        ld.local.u32 %t, [large+19996];
        add.u32 %s, %s, %t;
        st.global.u32 [%p], %s;
        ret;
    }
}

/// The local memory of the kernel does not count, nor does that of functions which are not running.
#[test]
fn frames_are_as_large_as_the_variables_of_a_function() {
    let sum = |n: u32| (1..=n).map(|k| 2 * k + (1..=k).sum::<u32>()).sum::<u32>() + 16;
    for n in [0, 1, 2, 50, 300] {
        let mut out = [0u32];
        deep.launch(&Host::new(), Launch::grid(1).block(1), (&mut out, n)).unwrap();
        assert_eq!(out, [sum(n)], "{n}");
        deep.launch(&Host::checked(), Launch::grid(1).block(1), (&mut out, n)).unwrap();
    }
}

#[test]
fn recursion_without_end_is_a_fault() {
    let mut out = [0u32; 2];
    let error = sums.launch(&Host::new(), Launch::grid(1).block(2), (&mut out, 1 << 20)).unwrap_err().to_string();
    assert!(error.contains("stack that a thread has") && error.contains("(argument, pointer)"), "{error}");
    let k = ptx!(<sm_80, ptx 7.0> |d: &mut [u32]| { .reg .b64 %d; ld.param.u64 %d, [d]; st.global.u32 [%d], 1; });
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut out[..1],)).unwrap();
    assert_eq!(out[0], 1, "the host goes on");
}
