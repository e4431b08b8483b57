//! State spaces, vectors, atomics, generic addresses.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Engine, Error};

#[test]
fn shared_memory_reverses_a_block() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .b32 %i, %j, %v;
        .reg .b64 %pd, %o;
        .shared .align 4 .b32 buf[96];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        ld.global.u32 %v, [%pd];
        mov.u32 %j, buf;
        mad.lo.u32 %j, %i, 4, %j;
        st.shared.u32 [%j], %v;
        bar.sync 0;
        sub.u32 %i, 95, %i;
        mov.u32 %j, buf;
        mad.lo.u32 %j, %i, 4, %j;
        ld.shared.u32 %v, [%j];
        st.global.u32 [%pd], %v;
    });
    let mut d: Vec<u32> = (0..96).collect();
    k.launch(&Host::new(), Launch::grid(1).block(96), (&mut d,)).unwrap();
    assert!(d.iter().rev().copied().eq(0..96));
}

#[test]
fn narrow_loads_extend_as_their_type_says() {
    let k = ptx!(<sm_90, ptx 8.0> |x: &[u8], d: &mut [u32]| {
        .reg .b32 %a, %b, %c, %e;
        .reg .b64 %p, %q;
        ld.param.u64 %p, [x];
        ld.param.u64 %q, [d];
        ld.global.u8 %a, [%p];
        ld.global.s8 %b, [%p];
        ld.global.u16 %c, [%p+2];
        ld.global.s16 %e, [%p+2];
        st.global.v4.u32 [%q], {%a, %b, %c, %e};
    });
    let mut d = [0u32; 4];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&[0x80u8, 0, 0xfe, 0xff], &mut d)).unwrap();
    assert_eq!(d, [0x80, 0xffff_ff80, 0xfffe, 0xffff_fffe]);
}

#[test]
fn atomics_count_every_thread_once() {
    let k = ptx!(<sm_90, ptx 8.0> |bins: &mut [u32], last: &mut [u32]| {
        .reg .b32 %i, %b, %old;
        .reg .b64 %p, %q, %o;
        ld.param.u64 %p, [bins];
        ld.param.u64 %q, [last];
        mov.u32 %i, %tid.x;
        mov.u32 %b, %ctaid.x;
        mad.lo.u32 %i, %b, 128, %i;
        rem.u32 %b, %i, 7;
        mul.wide.u32 %o, %b, 4;
        add.u64 %p, %p, %o;
        atom.global.add.u32 %old, [%p], 1;
        red.global.max.u32 [%q], %i;
    });
    let (mut bins, mut last) = ([0u32; 7], [0u32]);
    k.launch(&Host::new(), Launch::grid(10).block(128), (&mut bins, &mut last)).unwrap();
    let mut expected = [0u32; 7];
    (0..1280).for_each(|i| expected[i % 7] += 1);
    assert_eq!((bins, last[0]), (expected, 1279));
}

ptx! {
    <sm_90, ptx 8.0>
    .const .align 4 .u32 weights[4] = { 1, 10, 100, 1000 };
    .global .align 4 .u32 counter = 41;
    .visible .entry spaces(.param .u64 .ptr .global .align 8 d: &mut [u64]) {
        .reg .pred %p, %q;
        .reg .b32 %r, %s;
        .reg .b64 %pd, %g, %x, %v;
        .local .align 8 .b64 mine[2];
        .shared .align 8 .b64 ours[2];
        ld.param.u64 %pd, [d];
        // Constants.
        ld.const.u32 %r, [weights + 8];
        cvt.u64.u32 %v, %r;
        st.global.u64 [%pd], %v;
        // A module-scope variable, through its generic address.
        mov.u64 %g, counter;
        ld.u32 %s, [%g];
        add.u32 %s, %s, 1;
        st.global.u32 [counter], %s;
        ld.global.u32 %s, [%g];
        cvt.u64.u32 %v, %s;
        st.global.u64 [%pd + 8], %v;
        // Local and shared through generic addresses.
        cvta.local.u64 %g, mine;
        st.u64 [%g + 8], 7;
        ld.local.u64 %v, [mine + 8];
        st.global.u64 [%pd + 16], %v;
        mov.u64 %x, ours;
        cvta.shared.u64 %g, %x;
        st.shared.u64 [ours], 9;
        ld.u64 %v, [%g];
        st.global.u64 [%pd + 24], %v;
        isspacep.shared %p, %g;
        isspacep.global %q, %g;
        selp.u64 %v, 1, 0, %p;
        selp.u64 %x, 2, 0, %q;
        add.u64 %v, %v, %x;
        st.global.u64 [%pd + 32], %v;
        cvta.to.shared.u64 %x, %g;
        ld.shared.u64 %v, [%x];
        st.global.u64 [%pd + 40], %v;
        ret;
    }
}

#[test]
fn every_state_space_is_reached_directly_and_generically() {
    let mut d = [0u64; 6];
    spaces.launch(&Host::new(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [100, 42, 7, 9, 1, 9]);
}

#[test]
fn dynamic_shared_memory_follows_the_static() {
    ptx! {
        <sm_90, ptx 8.0>
        .extern .shared .align 16 .b8 dynamic[];
        .visible .entry dyn_shared(.param .u64 .ptr .global .align 4 d: &mut [u32]) {
            .reg .b32 %a, %v;
            .reg .b64 %pd;
            .shared .b32 fixed;
            ld.param.u64 %pd, [d];
            st.shared.u32 [fixed], 5;
            mov.u32 %a, dynamic;
            st.shared.u32 [%a + 60], 6;
            ld.shared.u32 %v, [fixed];
            st.global.u32 [%pd], %v;
            ld.shared.u32 %v, [%a + 60];
            st.global.u32 [%pd + 4], %v;
            mov.u32 %v, %dynamic_smem_size;
            st.global.u32 [%pd + 8], %v;
            ret;
        }
    }
    let mut d = [0u32; 3];
    dyn_shared.launch(&Host::new(), Launch::grid(1).block(1).dynamic_shared(64), (&mut d,)).unwrap();
    assert_eq!(d, [5, 6, 64]);
}

ptx! {
    <sm_90, ptx 8.0>
    // `callee` is laid out after its callers are known, behind the variables of both.
    .func (.param .u32 result) callee(.param .u32 i);
    .visible .entry large(.param .u64 .ptr .global .align 4 d: &mut [u32]) {
        .reg .b32 %v;
        .reg .b64 %pd;
        .local .align 4 .u32 other[40];
        ld.param.u64 %pd, [d];
        st.local.u32 [other + 156], 100;
        { .param .u32 i; .param .u32 result;
          st.param.u32 [i], 7;
          call (result), callee, (i);
          ld.param.u32 %v, [result]; }
        st.global.u32 [%pd], %v;
        ld.local.u32 %v, [other + 156];
        st.global.u32 [%pd + 4], %v;
        ret;
    }
    .visible .entry last(.param .u64 .ptr .global .align 4 d: &mut [u32], .param .s64 at) {
        .reg .b32 %v;
        .reg .b64 %pd, %a, %b;
        .local .align 4 .u32 own[4];
        ld.param.u64 %pd, [d];
        ld.param.s64 %b, [at];
        mov.u64 %a, own;
        add.s64 %a, %a, %b;
        st.local.u32 [%a], 3;
        ld.local.u32 %v, [%a];
        st.global.u32 [%pd], %v;
        ret;
    }
    .func (.param .u32 result) callee(.param .u32 i) {
        .reg .b32 %v;
        .local .align 4 .u32 table[50];
        ld.param.u32 %v, [i];
        st.local.u32 [table], %v;
        st.local.u32 [table + 196], %v;
        ld.local.u32 %v, [table];
        add.u32 %v, %v, 1;
        st.param.u32 [result], %v;
        ret;
    }
}

#[test]
fn a_kernel_has_only_its_own_local_memory_and_that_of_the_functions_it_calls() {
    let one = || Launch::grid(1).block(1);
    let mut d = [0u32; 2];
    large.launch(&Host::new(), one(), (&mut d,)).unwrap();
    assert_eq!(d, [8, 100]);
    last.launch(&Host::new(), one(), (&mut d, 12)).unwrap();
    assert_eq!(d[0], 3);
    // The variables of the kernels before it are not behind a negative index.
    for at in [-4, 16] {
        let fault = last.launch(&Host::new(), one(), (&mut d, at)).unwrap_err().to_string();
        assert!(fault.contains("`own`"), "{fault}");
    }
}

#[test]
fn reserved_shared_memory_is_behind_the_rest() {
    // What cooperative groups do for tiles of several warps: they initialise their memory, and use it.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .b32 %a, %b, %v;
        .reg .b64 %pd, %g;
        .shared .align 4 .u32 own[5];
        ld.param.u64 %pd, [d];
        st.shared.u32 [own], 7;
        st.shared.u32 [own + 16], 8;
        mov.u32 %a, %reserved_smem_offset_1;
        mov.u32 %b, %reserved_smem_offset_end;
        cvt.u64.u32 %g, %a;
        cvta.shared.u64 %g, %g;
        st.u32 [%g], 0;
        st.u32 [%g + 284], 5;
        atom.add.u32 %v, [%g], 3;
        ld.shared.u32 %v, [%a];
        st.global.v2.u32 [%pd], {%a, %b};
        st.global.u32 [%pd + 8], %v;
        ld.shared.u32 %v, [own];
        st.global.u32 [%pd + 12], %v;
        ld.shared.u32 %v, [own + 16];
        st.global.u32 [%pd + 16], %v;
    });
    let mut d = [0u32; 5];
    k.launch(&Host::checked(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [32, 320, 3, 7, 8]);
}

#[test]
fn a_read_only_load_prefetched_and_fenced() {
    let k = ptx!(<sm_90, ptx 9.5> |x: &[i16], d: &mut [u32]| {
        .reg .b32 %a, %b;
        .reg .b64 %p, %q;
        ld.param.u64 %p, [x];
        ld.param.u64 %q, [d];
        prefetch.global.L1::32B.valid_addr [%p];
        ld.global.s16.proxy::readonly %a, [%p+2];
        st.global.u32 [%q], %a;
        fence.alias.sync_restrict::read.release.sys;
        ld.u16.proxy::readonly %b, [%p+4];
        st.global.u32 [%q+4], %b;
    });
    let mut d = [0u32; 2];
    k.launch(&Host::checked(), Launch::grid(1).block(1), (&[1i16, -2, -3], &mut d)).unwrap();
    assert_eq!(d, [0xffff_fffe, 0xfffd]);
    let fault = k.launch(&Host::new(), Launch::grid(1).block(1), (&[1i16, -2], &mut [0; 2])).unwrap_err();
    assert!(fault.to_string().contains("`x[2]` is out of bounds: it has 2 elements"), "{fault}");
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    // Each thread stores to its element of a tile, which is the last variable in shared memory, and loads it.
    .visible .entry tile_of_63(.param .u64 .ptr .global .align 4 x: &mut [u32])
    {
        .reg .b32 %i, %at, %v;
        .reg .b64 %x;
        .shared .align 4 .b32 tile[63];
        ld.param.u64 %x, [x];
        mov.u32 %i, %tid.x;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %i, 4, %at;
        st.shared.u32 [%at], %i;
        ld.shared.u32 %v, [%at];
        mad.wide.u32 %x, %i, 4, %x;
        st.global.u32 [%x], %v;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    .visible .entry tile_of<const TILE: u32>(.param .u64 .ptr .global .align 4 x: &mut [u32])
    {
        .reg .b32 %i, %at, %v;
        .reg .b64 %x;
        .shared .align 4 .b32 tile[TILE];
        ld.param.u64 %x, [x];
        mov.u32 %i, %tid.x;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %i, 4, %at;
        st.shared.u32 [%at], %i;
        ld.shared.u32 %v, [%at];
        mad.wide.u32 %x, %i, 4, %x;
        st.global.u32 [%x], %v;
        ret;
    }
}

/// An access past the last variable in shared memory is a fault on every host and engine.
#[test]
fn the_end_of_shared_memory() {
    let numbers: [u32; 64] = std::array::from_fn(|i| i as u32);
    let is_outside = |done: Result<Report, Error>| {
        let Err(Error::Fault(fault)) = done else { panic!("{done:?}") };
        assert!(matches!(fault.kind, FaultKind::OutOfBounds { space: "shared", addr: 252, .. }), "{fault}");
    };
    for engine in [Engine::Compiled, Engine::Interpreted] {
        let host = Host::new().engine(engine);
        let mut x = [0; 64];
        tile_of_63.launch(&host, Launch::grid(1).block(63), (&mut x,)).unwrap();
        assert_eq!(x[..63], numbers[..63]);
        is_outside(tile_of_63.launch(&host, Launch::grid(1).block(64), (&mut x,)));
        tile_of::<64>.launch(&host, Launch::grid(1).block(64), (&mut x,)).unwrap();
        assert_eq!(x, numbers);
        tile_of::<63>.launch(&host, Launch::grid(1).block(63), (&mut x,)).unwrap();
        is_outside(tile_of::<63>.launch(&host, Launch::grid(1).block(64), (&mut x,)));
    }
}
