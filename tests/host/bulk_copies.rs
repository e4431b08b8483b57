//! Bulk copies and reductions, bulk groups, asynchronous stores: in each direction, with each way to complete.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

use super::everywhere::everywhere;

ptx! {
    <sm_100a, ptx 9.2, allow(PTX0648)>

    // In through an mbarrier, out through a bulk group. Each CTA copies its 1,024 bytes; the words grow by one on the way.
    .visible .entry in_and_out(
        .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 16 y: &mut [u32]) .reqntid 128
    {
        .reg .pred %p, %first;
        .reg .b32 %t, %at, %v, %cta;
        .reg .b64 %x, %y, %o;
        .shared .align 16 .b8 tile[1024];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        mov.u32 %cta, %ctaid.x;
        mul.wide.u32 %o, %cta, 1024;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %o;
        ld.param.u64 %y, [y];
        add.u64 %y, %y, %o;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        bar.sync 0;
        @!%first bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%x], 512, [full];
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+512], [%x+512], 512, [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 8, %at;
        ld.shared.u32 %v, [%at];
        add.u32 %v, %v, 1;
        st.shared.u32 [%at], %v;
        ld.shared.u32 %v, [%at+4];
        add.u32 %v, %v, 1;
        st.shared.u32 [%at+4], %v;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%first bra end;
        cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 1024;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 0;
      end:
        ret;
    }

    // CTA 0 multicasts its half to both CTAs, and so does CTA 1: each gets both halves.
    .visible .entry multicast(
        .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 16 y: &mut [u32]) .reqnctapercluster 2 .reqntid 32
    {
        .reg .pred %p, %first;
        .reg .b32 %t, %at, %v, %rank;
        .reg .b64 %x, %y, %o;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mul.wide.u32 %o, %rank, 128;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %o;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %rank, 128, %at;
        @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%at], [%x], 128, [full], 3;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 8, %at;
        ld.shared.u32 %v, [%at];
        mul.wide.u32 %o, %rank, 256;
        ld.param.u64 %y, [y];
        add.u64 %y, %y, %o;
        mul.wide.u32 %o, %t, 8;
        add.u64 %y, %y, %o;
        st.global.u32 [%y], %v;
        ld.shared.u32 %v, [%at+4];
        st.global.u32 [%y+4], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // CTA 0 sends to CTA 1: a bulk copy, a reduction, `st.async` of each shape, `red.async`.
    .visible .entry remote(
        .param .u64 .ptr .global .align 16 y: &mut [u32]) .reqnctapercluster 2 .reqntid 32
    {
        .reg .pred %p, %first, %second;
        .reg .b32 %t, %at, %v, %rank, %to, %mbar, %bytes;
        .reg .b64 %y, %o, %wide;
        .shared .align 16 .b8 from[128];
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %t, 0;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 4, %at;
        add.u32 %v, %t, 100;
        st.shared.u32 [%at], 1000;
        st.shared.u32 [%at+128], 5;
        mov.u32 %at, from;
        mad.lo.u32 %at, %t, 4, %at;
        st.shared.u32 [%at], %v;
        fence.proxy.async.shared::cta;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        // 64 of the copy, 128 of the reductions; 4 + 8 + 16 + 4 + 8 of stores and reductions
        mov.u32 %bytes, 232;
        @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %bytes;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        setp.ne.u32 %second, %rank, 0;
        @%second bra wait;
        @!%first bra done;
        mov.u32 %at, tile;
        mapa.shared::cluster.u32 %to, %at, 1;
        mov.u32 %at, full;
        mapa.shared::cluster.u32 %mbar, %at, 1;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [from], 64, [%mbar];
        cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%to+64], [from+64], 64, [%mbar];
        cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%to+128], [from], 64, [%mbar];
        mov.u64 %wide, 0x1122334455667788;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%to+192], 77, [%mbar];
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%to+200], %wide, [%mbar];
        st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%to+208], {%v, %v, %bytes, %rank}, [%mbar];
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%to+224], 5, [%mbar];
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%to+232], %wide, [%mbar];
        bra done;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 8, %at;
        ld.shared.u32 %v, [%at];
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %t, 8;
        add.u64 %y, %y, %o;
        st.global.u32 [%y], %v;
        ld.shared.u32 %v, [%at+4];
        st.global.u32 [%y+4], %v;
        bra end;
      done:
        @!%first bra end;
        // the object of CTA 0 expects the bytes that nobody sends
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], 232;
      end:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // Stores from the edges: a mask of bytes, and loads that leave out bytes at both ends.
    .visible .entry edges(
        .param .u64 .ptr .global .align 16 x: &[u8],
        .param .u64 .ptr .global .align 16 y: &mut [u8],
        .param .u32 left, .param .u32 right, .param .u16 mask) .reqntid 1
    {
        .reg .pred %p;
        .reg .b16 %mask;
        .reg .b32 %left, %right, %at;
        .reg .b64 %x, %y;
        .shared .align 16 .b8 tile[64];
        .shared .align 8 .b64 full;
        mov.u32 %at, tile;
        st.bulk.weak.shared::cta [%at], 64, 0;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.u32 %left, [left];
        ld.param.u32 %right, [right];
        ld.param.u16 %mask, [mask];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 64;
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [tile], [%x], 64, %left, %right, [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        cp.async.bulk.prefetch.L2.global [%x], 64;
        cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%y], [tile], 64, %mask;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // Each reduction on 16 bytes of its own.
    .visible .entry reductions(
        .param .u64 .ptr .global .align 16 x: &[u32], .param .u64 .ptr .global .align 16 y: &mut [u8]) .reqntid 72
    {
        .reg .pred %first;
        .reg .b32 %t, %at, %v;
        .reg .b64 %x, %y, %o;
        .shared .align 16 .b8 tile[288];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %o;
        ld.global.u32 %v, [%x];
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 4, %at;
        st.shared.u32 [%at], %v;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        setp.eq.u32 %first, %t, 0;
        @!%first ret;
        ld.param.u64 %y, [y];
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%y+0], [tile+0], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%y+16], [tile+16], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%y+32], [tile+32], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%y+48], [tile+48], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%y+64], [tile+64], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%y+80], [tile+80], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%y+96], [tile+96], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 [%y+112], [tile+112], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%y+128], [tile+128], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u64 [%y+144], [tile+144], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s64 [%y+160], [tile+160], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 [%y+176], [tile+176], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.max.bf16 [%y+192], [tile+192], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u32 [%y+208], [tile+208], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.dec.u32 [%y+224], [tile+224], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b32 [%y+240], [tile+240], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b64 [%y+256], [tile+256], 16;
        cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%y+272], [tile+272], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // The source is overwritten before, or after, it has been read.
    .visible .entry overwrite(.param .u64 .ptr .global .align 16 y: &mut [u32], .param .u32 early) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %early;
        .reg .b64 %y;
        .shared .align 16 .b32 tile[4];
        st.shared.u32 [tile], 1;
        st.shared.u32 [tile+4], 2;
        st.shared.u32 [tile+8], 3;
        st.shared.u32 [tile+12], 4;
        fence.proxy.async.shared::cta;
        ld.param.u64 %y, [y];
        ld.param.u32 %early, [early];
        cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 16;
        cp.async.bulk.commit_group;
        setp.ne.u32 %p, %early, 0;
        @%p bra over;
        cp.async.bulk.wait_group.read 0;
      over:
        st.shared.u32 [tile], 9;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // One copy in each direction, of any place and size; with `wait` 0 the CTA does not wait for it.
    .visible .entry one_load(
        .param .u64 .ptr .global .align 16 x: &[u8], .param .u32 from, .param .u32 to, .param .u32 size,
        .param .u32 expected) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %at, %to, %size, %expected;
        .reg .b64 %x, %from;
        .shared .align 16 .b8 tile[64];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        ld.param.u64 %x, [x];
        ld.param.u32 %at, [from];
        cvt.u64.u32 %from, %at;
        add.u64 %x, %x, %from;
        mov.u32 %at, tile;
        ld.param.u32 %to, [to];
        add.u32 %at, %at, %to;
        ld.param.u32 %size, [size];
        ld.param.u32 %expected, [expected];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %expected;
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%at], [%x], %size, [full];
        setp.eq.u32 %p, %expected, 0;
        @%p ret;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ret;
    }

    .visible .entry one_store(.param .u64 .ptr .global .align 16 y: &mut [u8], .param .u32 to, .param .u32 wait) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %at, %wait;
        .reg .b64 %y, %to;
        .shared .align 16 .b8 tile[64];
        mov.u32 %at, tile;
        st.bulk.weak.shared::cta [%at], 64, 0;
        fence.proxy.async.shared::cta;
        ld.param.u64 %y, [y];
        ld.param.u32 %at, [to];
        cvt.u64.u32 %to, %at;
        add.u64 %y, %y, %to;
        cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 64;
        cp.async.bulk.commit_group;
        ld.param.u32 %wait, [wait];
        setp.eq.u32 %p, %wait, 0;
        @%p ret;
        cp.async.bulk.wait_group 0;
        ret;
    }
}

#[test]
fn bytes_go_in_and_out() {
    let x: Vec<u32> = (0..5 * 256).map(|i| i * 3).collect();
    let expected: Vec<u32> = x.iter().map(|v| v + 1).collect();
    everywhere!(host => {
        let mut y = vec![0; x.len()];
        in_and_out.launch(&host, Launch::grid(5).block(128), (&x, &mut y)).unwrap();
        assert_eq!(y, expected);
    });
}

#[test]
fn a_multicast_reaches_each_cta_of_its_mask() {
    let x: Vec<u32> = (0..64).map(|i| i + 1000).collect();
    everywhere!(host => {
        let mut y = vec![0; 128];
        multicast.launch(&host, Launch::grid(2), (&x, &mut y)).unwrap();
        assert_eq!([&y[..64], &y[64..]], [&x[..], &x[..]]);
    });
}

#[test]
fn copies_stores_and_reductions_reach_another_cta() {
    let mut expected: Vec<u32> = Vec::new();
    expected.extend((0..16).map(|t| t + 100));
    expected.extend((16..32).map(|t| 1000 + t + 100));
    expected.extend((0..16).map(|t| t + 100));
    expected.extend([77, 5, 0x5566_7788, 0x1122_3344, 100, 100, 232, 0]);
    expected.extend([0, 5]);
    let sum = 0x0000_0005_0000_0005u64 + 0x1122_3344_5566_7788;
    expected.extend([sum as u32, (sum >> 32) as u32]);
    expected.extend([5; 4]);
    everywhere!(host => {
        let mut y = vec![0; 64];
        remote.launch(&host, Launch::grid(2), (&mut y,)).unwrap();
        assert_eq!(y, expected);
    });
}

#[test]
fn bytes_are_left_out_at_the_edges() {
    let x: Vec<u8> = (1..=64).collect();
    for (left, right, mask) in [(0, 0, 0xffff), (5, 3, 0xffff), (15, 15, 0x8001), (0, 1, 0), (1, 0, 0x0ff0)] {
        let expected: Vec<u8> = (0..64)
            .map(|i| {
                let copied = if (left..64 - right).contains(&i) { x[i] } else { 0 };
                if mask >> (i % 16) & 1 == 1 { copied } else { 0xee }
            })
            .collect();
        everywhere!(host => {
            let mut y = vec![0xee; 64];
            let edges_of = (left as u32, right as u32, mask as u16);
            edges.launch(&host, Launch::grid(1), (&x, &mut y, edges_of.0, edges_of.1, edges_of.2)).unwrap();
            assert_eq!(y, expected, "{edges_of:?}");
        });
    }
}

/// The bytes of numbers.
macro_rules! bytes {
    ($($v:expr),*) => { [$($v.to_le_bytes().to_vec()),*].concat() };
}

/// The bytes of f16, which are given as their bits.
fn f16(bits: [u16; 8]) -> Vec<u8> {
    bits.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The bytes of bf16; the upper halves of these f32 are exact.
fn bf16(values: [f32; 8]) -> Vec<u8> {
    values.iter().flat_map(|v| ((v.to_bits() >> 16) as u16).to_le_bytes()).collect()
}

#[test]
fn reductions_of_all_types() {
    let p = |n: i32| 2f32.powi(n);
    // what is in memory, the operands, the result
    let rows: Vec<[Vec<u8>; 3]> = vec![
        [bytes![1u32, 2u32, u32::MAX, 4u32], bytes![10u32, 20u32, 2u32, 40u32], bytes![11u32, 22u32, 1u32, 44u32]],
        [
            bytes![(-1i32), 2i32, i32::MAX, 4i32],
            bytes![(-5i32), (-2i32), 1i32, 0i32],
            bytes![(-6i32), 0i32, i32::MIN, 4i32],
        ],
        [bytes![u64::MAX, 5u64], bytes![2u64, (1u64 << 40)], bytes![1u64, (5u64 + (1 << 40))]],
        [
            bytes![1.5f32, (-2.0f32), 1e30f32, 0.1f32],
            bytes![1.0f32, 2.0f32, (-1e30f32), 0.2f32],
            bytes![2.5f32, 0.0f32, 0.0f32, (0.1f32 + 0.2f32)],
        ],
        [bytes![1.5f64, 0.1f64], bytes![2.5f64, 0.2f64], bytes![4.0f64, (0.1f64 + 0.2f64)]],
        [
            f16([0x3c00, 0x4000, 0x7bff, 0x0001, 0x0000, 0xbc00, 0x5640, 0x6800]),
            f16([0x3800, 0xc000, 0x7bff, 0x0001, 0x8000, 0x4200, 0x3400, 0x3c00]),
            f16([0x3e00, 0x0000, 0x7c00, 0x0002, 0x0000, 0x4000, 0x5644, 0x6800]),
        ],
        [
            bf16([1.0, 2.0, 256.0, p(100), 0.0, -1.0, 4.0, 8.0]),
            bf16([0.5, -2.0, 1.0, p(100), -0.0, 3.0, 0.25, 0.5]),
            bf16([1.5, 0.0, 256.0, p(101), 0.0, 2.0, 4.25, 8.5]),
        ],
        [bytes![1u32, 9u32, u32::MAX, 4u32], bytes![10u32, 2u32, 7u32, 4u32], bytes![1u32, 2u32, 7u32, 4u32]],
        [
            bytes![(-1i32), 9i32, i32::MIN, 4i32],
            bytes![(-10i32), 20i32, 7i32, (-4i32)],
            bytes![(-1i32), 20i32, 7i32, 4i32],
        ],
        [bytes![(1u64 << 40), 5u64], bytes![(1u64 << 39), 6u64], bytes![(1u64 << 39), 5u64]],
        [bytes![(-1i64), i64::MIN], bytes![(-2i64), 6i64], bytes![(-1i64), 6i64]],
        [
            f16([0x3c00, 0xbc00, 0x3800, 0x4200, 0x4400, 0xc800, 0x0000, 0x4000]),
            f16([0x4000; 8]),
            f16([0x3c00, 0xbc00, 0x3800, 0x4000, 0x4000, 0xc800, 0x0000, 0x4000]),
        ],
        [
            bf16([1.0, -1.0, 0.5, 3.0, 4.0, -8.0, 0.0, 2.0]),
            bf16([2.0; 8]),
            bf16([2.0, 2.0, 2.0, 3.0, 4.0, 2.0, 2.0, 2.0]),
        ],
        [bytes![1u32, 5u32, 9u32, 0u32], bytes![5u32, 5u32, 5u32, 0u32], bytes![2u32, 0u32, 0u32, 0u32]],
        [bytes![1u32, 0u32, 9u32, 5u32], bytes![5u32, 5u32, 5u32, 5u32], bytes![0u32, 5u32, 5u32, 4u32]],
        [bytes![0xff00u32, 1u32, 3u32, 0u32], bytes![0x0ff0u32, 1u32, 2u32, 7u32], bytes![0x0f00u32, 1u32, 2u32, 0u32]],
        [bytes![(1u64 << 63), 1u64], bytes![1u64, (1u64 << 62)], bytes![(1u64 << 63 | 1), (1u64 << 62 | 1)]],
        [bytes![0xffu32, 1u32, 3u32, 0u32], bytes![0x0fu32, 1u32, 2u32, 7u32], bytes![0xf0u32, 0u32, 1u32, 7u32]],
    ];
    let part = |i: usize| rows.iter().flat_map(|row| row[i].clone()).collect::<Vec<u8>>();
    let operands: Vec<u32> = part(1).chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    everywhere!(host => {
        let mut y = part(0);
        reductions.launch(&host, Launch::grid(1), (&operands, &mut y)).unwrap();
        for (i, (got, row)) in y.chunks_exact(16).zip(&rows).enumerate() {
            assert_eq!(got, row[2], "row {i}");
        }
    });
}

#[test]
fn a_source_is_free_after_it_has_been_read() {
    everywhere!(host => {
        let mut y = [0; 4];
        overwrite.launch(&host, Launch::grid(1), (&mut y, 0)).unwrap();
        assert_eq!(y, [1, 2, 3, 4]);
    });
    // without the wait it may be read too late, as the plain host does
    let mut y = [0; 4];
    overwrite.launch(&Host::new(), Launch::grid(1), (&mut y, 1)).unwrap();
    assert_eq!(y, [9, 2, 3, 4]);
    let mut seen = [false; 2];
    for seed in 0..64 {
        overwrite.launch(&Host::new().seed(seed), Launch::grid(1), (&mut y, 1)).unwrap();
        seen[usize::from(y[0] == 1)] = true;
    }
    assert_eq!(seen, [true; 2], "a seed chooses");
    let text = fault(overwrite.launch(&Host::checked(), Launch::grid(1), (&mut y, 1))).to_string();
    assert!(
        text.contains(
            "this store of 4 bytes at byte 0 of `tile` (shared address 0x0) and a read by an asynchronous copy"
        ),
        "{text}"
    );
    assert!(text.contains("`cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 16;`"), "{text}");
}

fn fault(result: Result<Report, Error>) -> Box<ptx_dsl::Fault> {
    match result {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_that_do_not_match_the_expected_ones_are_a_deadlock() {
    let x = [0u8; 64];
    let run = |expected| one_load.launch(&Host::new(), Launch::grid(1), (&x, 0, 0, 64, expected));
    run(64).unwrap();
    let text = fault(run(80)).to_string();
    assert!(text.contains("16 more bytes are expected"), "{text}");
    let text = fault(run(48)).to_string();
    assert!(text.contains("16 bytes more than expected have arrived"), "{text}");
}

#[test]
fn bad_bulk_copies_are_faults() {
    let x = [0u8; 64];
    let load = |from, to, size| {
        let result = one_load.launch(&Host::new(), Launch::grid(1), (&x, from, to, size, size));
        fault(result).kind
    };
    assert!(matches!(load(8, 0, 16), FaultKind::Misaligned { space: "global", align: 16, .. }));
    assert!(matches!(load(0, 8, 16), FaultKind::Misaligned { space: "shared", align: 16, .. }));
    assert!(matches!(load(16, 0, 64), FaultKind::OutOfBounds { space: "global", bytes: 64, size: 64, .. }));
    assert!(matches!(load(0, 48, 48), FaultKind::OutOfBounds { space: "shared", bytes: 48, .. }));
    assert!(matches!(load(0, 0, 24), FaultKind::Undefined { section: "9.7.9.25.4.1", .. }));
    let mut y = [0u8; 64];
    let kind = fault(one_store.launch(&Host::new(), Launch::grid(1), (&mut y, 16, 1))).kind;
    assert!(matches!(kind, FaultKind::OutOfBounds { space: "global", .. }));
}

#[test]
fn a_cta_that_ends_before_its_bulk_copies_is_reported() {
    let mut y = [1u8; 64];
    one_store.launch(&Host::new(), Launch::grid(1), (&mut y, 0, 1)).unwrap();
    assert_eq!(y, [0; 64]);
    let text = fault(one_store.launch(&Host::new(), Launch::grid(1), (&mut y, 0, 0))).to_string();
    assert!(
        text.contains("ends while this copy reads its shared memory") && text.contains("wait_group.read"),
        "{text}"
    );
    let text = fault(one_load.launch(&Host::new(), Launch::grid(1), (&[0u8; 64], 0, 0, 64, 0))).to_string();
    assert!(text.contains("ends while this copy on its shared memory is in flight"), "{text}");
    assert!(text.contains("let `expect_tx` count the bytes of all copies of a phase"), "nobody expects them: {text}");
}
