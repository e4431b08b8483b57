//! `alloca`, `stacksave`, `stackrestore` on both engines.

use ptx_dsl::Engine;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

const ENGINES: [Engine; 2] = [Engine::Interpreted, Engine::Compiled];

ptx! {
    <sm_90, ptx 8.0, compiled>
    // The sum of 0 to n - 1, through an array of n words.
    .func (.param .b32 sum) through_an_array(.param .b32 n)
    {
        .reg .b32 %n, %i, %v, %s;
        .reg .b64 %size, %p, %q;
        .reg .pred %more;
        ld.param.u32 %n, [n];
        mul.wide.u32 %size, %n, 4;
        alloca.u64 %p, %size, 32;
        mov.u32 %i, 0;
        mov.u64 %q, %p;
    fill:
        st.local.u32 [%q], %i;
        add.u64 %q, %q, 4;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %n;
        @%more bra fill;
        mov.u32 %s, 0;
    add:
        sub.u64 %q, %q, 4;
        ld.local.u32 %v, [%q];
        add.u32 %s, %s, %v;
        setp.gt.u64 %more, %q, %p;
        @%more bra add;
        cvt.u32.u64 %v, %p;
        and.b32 %v, %v, 31;
        add.u32 %s, %s, %v;
        st.param.b32 [sum], %s;
        setp.gt.u32 %more, %n, 7;
        @%more ret;
        alloca.u64 %p, 128;
        ret;
    }
    // n!, each factor in an array of its own.
    .func (.param .b32 product) factorial(.param .b32 n)
    {
        .reg .b32 %n, %v;
        .reg .b64 %p;
        .reg .pred %last;
        .param .b32 less, result;
        ld.param.u32 %n, [n];
        alloca.u64 %p, 16;
        st.local.u32 [%p+12], %n;
        st.param.b32 [product], 1;
        setp.lt.u32 %last, %n, 2;
        @%last ret;
        sub.u32 %v, %n, 1;
        st.param.b32 [less], %v;
        call (result), factorial, (less);
        ld.param.b32 %v, [result];
        ld.local.u32 %n, [%p+12];
        mul.lo.u32 %n, %n, %v;
        st.param.b32 [product], %n;
        ret;
    }
    .visible .entry stack(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 rounds: u32)
    {
        .reg .b32 %t, %v, %i, %before, %after;
        .reg .b64 %out, %p, %q;
        .reg .pred %more;
        .param .b32 n, sum;
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        mad.wide.u32 %out, %t, 16, %out;
        ld.param.u32 %i, [rounds];
        alloca.u64 %p, 4;
        st.local.u32 [%p], %t;
        stacksave.u32 %before;
        // frees what the function allocates, or the stack would overflow
    again:
        add.u32 %v, %t, 1;
        st.param.b32 [n], %v;
        call (sum), through_an_array, (n);
        sub.u32 %i, %i, 1;
        setp.gt.u32 %more, %i, 0;
        @%more bra again;
        ld.param.b32 %v, [sum];
        st.global.u32 [%out], %v;
        rem.u32 %v, %t, 8;
        st.param.b32 [n], %v;
        call (sum), factorial, (n);
        ld.param.b32 %v, [sum];
        st.global.u32 [%out+4], %v;
        stacksave.u32 %after;
        sub.u32 %v, %before, %after;
        st.global.u32 [%out+8], %v;
        alloca.u32 %v, 60000, 256;
        stackrestore.u32 %before;
        alloca.u32 %v, 60000, 256;
        cvta.local.u64 %q, %p;
        ld.u32 %v, [%q];
        st.global.u32 [%out+12], %v;
        ret;
    }
    .visible .entry overflow(.param .u32 size: u32)
    {
        .reg .b32 %size, %p;
        ld.param.u32 %size, [size];
        alloca.u32 %p, 64;
        alloca.u32 %p, %size;
        ret;
    }
    .visible .entry restore(.param .u32 below: u32)
    {
        .reg .b32 %below, %p, %saved;
        ld.param.u32 %below, [below];
        stacksave.u32 %saved;
        alloca.u32 %p, 64;
        sub.u32 %saved, %saved, %below;
        stackrestore.u32 %saved;
        ret;
    }
}

#[test]
fn functions_allocate_and_free() {
    let expected: Vec<u32> = (0..96u32).flat_map(|t| [t * (t + 1) / 2, (1..=t % 8).product(), 0, t]).collect();
    for engine in ENGINES {
        let mut out = [9; 96 * 4];
        stack.launch(&Host::new().engine(engine), Launch::grid(1).block(96), (&mut out, 500)).unwrap();
        assert_eq!(out[..], expected, "{engine:?}");
    }
    let mut out = [9; 96 * 4];
    stack.launch(&Host::checked(), Launch::grid(1).block(96), (&mut out, 2)).unwrap();
    assert_eq!(out[..], expected);
}

fn undefined(result: Result<Report, Error>) -> String {
    let error = result.unwrap_err();
    let FaultKind::Undefined { what, .. } = &error.fault().unwrap().kind else { panic!("{error}") };
    what.clone()
}

#[test]
fn a_stack_has_an_end() {
    for engine in ENGINES {
        let host = Host::new().engine(engine);
        overflow.launch(&host, Launch::grid(1).block(32), (65_000,)).unwrap();
        for size in [65_536, u32::MAX] {
            let what = undefined(overflow.launch(&host, Launch::grid(1).block(32), (size,)));
            assert_eq!(what, format!("`alloca` of {size} bytes exceeds the 65520 bytes of a thread's stack"));
        }
    }
}

#[test]
fn only_valid_stack_pointers_are_restored() {
    for engine in ENGINES {
        let host = Host::new().engine(engine);
        for below in [0, 8, 64] {
            restore.launch(&host, Launch::grid(1).block(32), (below,)).unwrap();
        }
        for below in [72, 0u32.wrapping_sub(8), 1 << 31] {
            let what = undefined(restore.launch(&host, Launch::grid(1).block(32), (below,)));
            assert!(what.starts_with("`stackrestore` of 0x"), "{what}");
        }
    }
}
