//! What a launch says about Rust constants: faults show their values, and what the host cannot size is refused.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;

/// A value that only rustc knows.
const fn next(n: u32) -> u32 {
    n + 1
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const PLACE: u32 = next(9);
    const MARK: i32 = -(next(4) as i32);
    .visible .entry beyond(.param .u64 .ptr .global .align 4 x: &mut [i32]) {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        st.global.b32 [%x + 4 * PLACE], MARK;
        ret;
    }
    .visible .entry sized<const N: u32 in [3]>(.param .u64 .ptr .global .align 4 x: &mut [i32]) {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        st.global.b32 [%x + N * 4 * PLACE], MARK;
        ret;
    }
}

#[test]
fn faults_show_values_of_constants() {
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let host = Host::new().engine(engine);
        let fault = beyond.launch(&host, Launch::grid(1), (&mut [0; 10],)).unwrap_err().to_string();
        assert!(fault.contains("`st.global.b32 [%x+40], -5;`"), "{fault}");
        assert!(!fault.contains('\u{1}'), "{fault}");
        let fault = sized::<3>.launch(&host, Launch::grid(1), (&mut [0; 10],)).unwrap_err().to_string();
        assert!(fault.contains("`st.global.b32 [%x+120], -5;`"), "{fault}");
        let mut x = [0; 11];
        beyond.launch(&host, Launch::grid(1), (&mut x,)).unwrap();
        assert_eq!(x, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5]);
    }
}

ptx! {
    <sm_90, ptx 8.0>
    const WORDS: u32 = next(3);
    .func (.reg .b32 %sum) down(.reg .b32 %n) {
        .reg .pred %p;
        .reg .b32 %rest;
        .local .align 4 .b32 frame[WORDS];
        st.local.b32 [frame], %n;
        mov.b32 %sum, 0;
        setp.eq.u32 %p, %n, 0;
        @%p ret;
        sub.u32 %rest, %n, 1;
        call (%rest), down, (%rest);
        ld.local.b32 %sum, [frame];
        add.u32 %sum, %sum, %rest;
        ret;
    }
    .visible .entry nested(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %sum;
        .reg .b64 %x;
        call (%sum), down, (4);
        ld.param.u64 %x, [x];
        st.global.b32 [%x], %sum;
        ret;
    }
}

/// The frame of a recursive function is a part of the image, which has no values of rustc.
#[test]
fn local_memory_of_unknown_size_beside_recursion_is_refused() {
    let mut x = [7];
    for host in [Host::new(), Host::new().engine(Engine::Interpreted)] {
        match nested.launch(&host, Launch::grid(1), (&mut x,)).unwrap_err() {
            Error::NotYet { kernel, why, .. } => {
                assert_eq!(kernel, "nested");
                assert!(why.contains("size of the frames of recursive functions"), "{why}");
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(x, [7]);
    assert!(nested::PTX.contains(".local .align 4 .b32 frame[4];"), "{}", nested::PTX);
}
