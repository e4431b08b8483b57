//! Waits for groups of asynchronous operations that leave one group too many in flight: the checked host reports what touches it.

use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Report};

ptx! {
    <sm_90a, ptx 8.6, allow(warnings)>
    // Two stages, each a group. With `left` 1 only the first is complete.
    .visible .entry staged(
        .param .u64 .ptr .global .align 4 x: &[u32], .param .u64 .ptr .global .align 4 y: &mut [u32], .param .u32 left)
        .reqntid 32
    {
        .reg .pred %p;
        .reg .b32 %i, %at, %v, %w, %left;
        .reg .b64 %x, %y;
        .shared .align 4 .b32 tile[64];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.u32 %left, [left];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %x, %i, 4, %x;
        mad.wide.u32 %y, %i, 4, %y;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %i, 4, %at;
        cp.async.ca.shared.global [%at], [%x], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%at+128], [%x+128], 4;
        cp.async.commit_group;
        setp.eq.u32 %p, %left, 0;
        @%p cp.async.wait_group 0;
        @!%p cp.async.wait_group 1;
        ld.shared.u32 %v, [%at];
        ld.shared.u32 %w, [%at+128];
        add.u32 %v, %v, %w;
        st.global.u32 [%y], %v;
        ret;
    }

    // Two stores from the same buffer to global memory. With `left` 1 the second may still read it when the thread writes it.
    .visible .entry stores(.param .u64 .ptr .global .align 16 y: &mut [u32], .param .u32 left) .reqntid 1 {
        .reg .pred %p;
        .reg .b32 %left;
        .reg .b64 %y;
        .shared .align 16 .b32 tile[8];
        ld.param.u64 %y, [y];
        ld.param.u32 %left, [left];
        st.shared.v4.b32 [tile], {1, 2, 3, 4};
        st.shared.v4.b32 [tile+16], {5, 6, 7, 8};
        fence.proxy.async.shared::cta;
        cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.global.shared::cta.bulk_group [%y+16], [tile+16], 16;
        cp.async.bulk.commit_group;
        setp.eq.u32 %p, %left, 0;
        @%p bra all;
        cp.async.bulk.wait_group.read 1;
        bra over;
      all:
        cp.async.bulk.wait_group.read 0;
      over:
        st.shared.b32 [tile], 9;
        st.shared.b32 [tile+16], 9;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // Two products with the matrices of two stages. With `left` 1 the second may still read its own when a thread writes it.
    .visible .entry products(.param .u64 .ptr .global .align 16 d: &mut [f32], .param .u32 left) .reqntid 128 {
        .reg .pred %p;
        .reg .b32 %i, %at, %own, %left, %a;
        .reg .f32 %d<4>, %e<4>;
        .reg .b64 %pd, %db;
        .shared .align 128 .b8 stages[512];
        ld.param.u64 %pd, [d];
        ld.param.u32 %left, [left];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %pd, %i, 16, %pd;
        mov.u32 %at, stages;
        mad.lo.u32 %own, %i, 4, %at;
        st.shared.b32 [%own], 0x3c003c00;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        // 128 bytes from 8 k to the next
        or.b64 %db, %db, 0x0000000800080000;
        mov.b32 %a, 0x3c003c00;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a, %a, %a, %a}, %db, 0, 1, 1, 0;
        wgmma.commit_group.sync.aligned;
        add.u64 %db, %db, 16;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0, %e1, %e2, %e3}, {%a, %a, %a, %a}, %db, 0, 1, 1, 0;
        wgmma.commit_group.sync.aligned;
        setp.eq.u32 %p, %left, 0;
        @%p bra all;
        wgmma.wait_group.sync.aligned 1;
        bra over;
      all:
        wgmma.wait_group.sync.aligned 0;
      over:
        bar.sync 0;
        st.shared.b32 [%own], 0;
        bar.sync 0;
        wgmma.wait_group.sync.aligned 0;
        add.f32 %d0, %d0, %e0;
        add.f32 %d1, %d1, %e1;
        add.f32 %d2, %d2, %e2;
        add.f32 %d3, %d3, %e3;
        st.global.v4.f32 [%pd], {%d0, %d1, %d2, %d3};
        ret;
    }
}

/// The report of a launch that waits for too few groups.
fn report(result: Result<Report, Error>) -> String {
    match result {
        Err(Error::Fault(fault)) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn copies_of_the_newest_group() {
    let x: Vec<u32> = (0..64).map(|i| i * 5).collect();
    let mut y = [0; 32];
    staged.launch(&Host::checked(), Launch::grid(1), (&x, &mut y, 0)).unwrap();
    assert!((0..32).all(|i| y[i] == x[i] + x[i + 32]), "{y:?}");
    let text = report(staged.launch(&Host::checked(), Launch::grid(1), (&x, &mut y, 1)));
    assert!(text.contains("`ld.shared.u32 %w, [%at+128];`"), "{text}");
    assert!(text.contains("`cp.async.ca.shared.global [%at+128], [%x+128], 4;`"), "{text}");
}

#[test]
fn sources_of_the_newest_group() {
    let mut y = [0; 8];
    stores.launch(&Host::checked(), Launch::grid(1), (&mut y, 0)).unwrap();
    assert_eq!(y, [1, 2, 3, 4, 5, 6, 7, 8]);
    let text = report(stores.launch(&Host::checked(), Launch::grid(1), (&mut y, 1)));
    assert!(text.contains("`st.shared.b32 [tile+16], 9;`"), "{text}");
    assert!(text.contains("`cp.async.bulk.global.shared::cta.bulk_group [%y+16], [tile+16], 16;`"), "{text}");
}

#[test]
fn matrices_of_the_newest_group() {
    let mut d = vec![0.0; 512];
    products.launch(&Host::checked(), Launch::grid(1), (&mut d, 0)).unwrap();
    assert!(d.iter().all(|d| *d == 32.0), "{d:?}");
    let text = report(products.launch(&Host::checked(), Launch::grid(1), (&mut d, 1)));
    assert!(text.contains("`st.shared.b32 [%own], 0;`") && text.contains("%e0, %e1, %e2, %e3"), "{text}");
}
