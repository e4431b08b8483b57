//! Tensor copies: boxes of tensors, in and out, with each swizzle, type and mode; tensor maps and their faults.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, Tensor, TensorMap};

use super::everywhere::everywhere;

ptx! {
    <sm_100a, ptx 9.2, allow(PTX0648, PTX0650)>

    // Loads a box of a matrix to shared memory and copies all 16 KiB of it to `y`.
    .visible .entry load_2d(
        .param .align 64 .b8 map[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 y: &mut [u8],
        .param .u32 c0, .param .u32 c1, .param .u32 bytes) .reqntid 128
    {
        .reg .pred %p, %first;
        .reg .b32 %t, %at, %c0, %c1, %bytes, %i, %v<4>;
        .reg .b64 %map, %y, %o;
        .shared .align 1024 .b8 tile[16384];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        ld.param.u32 %c0, [c0];
        ld.param.u32 %c1, [c1];
        ld.param.u32 %bytes, [bytes];
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 128, %at;
        mov.u32 %i, 0;
      clear:
        st.shared.v4.u32 [%at], {-1, -1, -1, -1};
        add.u32 %at, %at, 16;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 8;
        @%p bra clear;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%first bra wait;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        prefetch.tensormap [%map];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %bytes;
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%map, {%c0, %c1}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %t, 128;
        add.u64 %y, %y, %o;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 128, %at;
        mov.u32 %i, 0;
      out:
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at];
        st.global.v4.u32 [%y], {%v0, %v1, %v2, %v3};
        add.u32 %at, %at, 16;
        add.u64 %y, %y, 16;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 8;
        @%p bra out;
        ret;
    }

    // Loads with one map, and stores or reduces with another; both maps may be copies that lie in global memory.
    .visible .entry through(
        .param .align 64 .b8 from[128], .param .align 64 .b8 to[128],
        .param .u64 .ptr .global .align 128 maps: &mut [u8],
        .param .u32 adds) .reqntid 32
    {
        .reg .pred %p, %first, %adds;
        .reg .b32 %t, %v, %adds_of, %z;
        .reg .b64 %from, %to, %maps, %copy, %param;
        .shared .align 1024 .b8 tile[4096];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        @!%first bra end;
        mov.b64 %from, from;
        cvta.param.u64 %from, %from;
        mov.b64 %to, to;
        cvta.param.u64 %to, %to;
        // the second map is copied to global memory
        ld.param.u64 %maps, [maps];
        mov.u32 %z, 0;
        mov.b64 %copy, %maps;
        mov.b64 %param, %to;
      copying:
        ld.u32 %v, [%param];
        st.global.u32 [%copy], %v;
        add.u64 %copy, %copy, 4;
        add.u64 %param, %param, 4;
        add.u32 %z, %z, 1;
        setp.lt.u32 %p, %z, 32;
        @%p bra copying;
        fence.proxy.tensormap::generic.release.gpu;
        fence.proxy.tensormap::generic.acquire.gpu [%maps], 128;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 4096;
        mov.u32 %z, 0;
        cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%from, {%z, %z, 1}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u32 %adds_of, [adds];
        setp.ne.u32 %adds, %adds_of, 0;
        @%adds bra add;
        cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%maps, {8, 2, %z}], [tile];
        bra stored;
      add:
        cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group [%maps, {8, 2, %z}], [tile];
      stored:
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
      end:
        ret;
    }

    // CTA 0 loads a box for both CTAs, CTA 1 another one; each copies both to `y`.
    .visible .entry multicast(
        .param .align 64 .b8 map[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 y: &mut [u32]) .reqnctapercluster 2 .reqntid 32
    {
        .reg .pred %p, %first;
        .reg .b32 %t, %at, %v<4>, %rank, %row;
        .reg .b64 %map, %y, %o;
        .shared .align 128 .b8 tile[1024];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %rank, 512, %at;
        mul.lo.u32 %row, %rank, 8;
        @%first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%at], [%map, {0, %row}], [full], 3;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %rank, 1024;
        add.u64 %y, %y, %o;
        mul.wide.u32 %o, %t, 32;
        add.u64 %y, %y, %o;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 32, %at;
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at];
        st.global.v4.u32 [%y], {%v0, %v1, %v2, %v3};
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at+16];
        st.global.v4.u32 [%y+16], {%v0, %v1, %v2, %v3};
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // Each CTA of a pair loads a box for itself; both signal the object of CTA 0.
    .visible .entry pair(
        .param .align 64 .b8 map[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 y: &mut [u32]) .reqnctapercluster 2 .reqntid 32
    {
        .reg .pred %p, %first, %leader;
        .reg .b32 %t, %at, %v, %rank, %row, %mbar;
        .reg .b64 %map, %y, %o;
        .shared .align 128 .b8 tile[512];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %first, %t, 0;
        setp.eq.u32 %leader, %rank, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        setp.eq.and.u32 %p, %rank, 0, %first;
        @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        mov.u32 %at, full;
        mapa.shared::cluster.u32 %mbar, %at, 0;
        mul.lo.u32 %row, %rank, 8;
        @%first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [tile], [%map, {0, %row}], [%mbar];
        @!%leader bra wait_for_leader;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
      wait_for_leader:
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %rank, 128;
        add.u64 %y, %y, %o;
        mul.wide.u32 %o, %t, 4;
        add.u64 %y, %y, %o;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 16, %at;
        ld.shared.u32 %v, [%at];
        st.global.u32 [%y], %v;
        ret;
    }

    // Four rows in, four rows out.
    .visible .entry rows(
        .param .align 64 .b8 from[128]: &TensorMap, .param .align 64 .b8 to[128]: &TensorMap) .reqntid 1
    {
        .reg .pred %p;
        .reg .b64 %map;
        .shared .align 1024 .b8 tile[512];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, from;
        cvta.param.u64 %map, %map;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
        cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [tile], [%map, {16, 7, 2, 100, 5}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        mov.b64 %map, to;
        cvta.param.u64 %map, %map;
        cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {0, 3, 100, 0, 1}], [tile];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // Makes a map in shared memory, from zeros, and copies it to global memory; then loads with it.
    .visible .entry replaced(
        .param .u64 .ptr .global .align 16 x: &[u8],
        .param .u64 .ptr .global .align 128 map: &mut [u8],
        .param .u64 .ptr .global .align 4 y: &mut [u32], .param .u32 rank) .reqntid 32
    {
        .reg .pred %p, %first;
        .reg .b32 %t, %at, %v, %rank;
        .reg .b64 %x, %map, %y, %o;
        .shared .align 128 .b8 made[128];
        .shared .align 1024 .b8 tile[1024];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        mov.u32 %at, made;
        mad.lo.u32 %at, %t, 4, %at;
        st.shared.u32 [%at], 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        bar.warp.sync -1;
        ld.param.u64 %x, [x];
        ld.param.u64 %map, [map];
        ld.param.u32 %rank, [rank];
        @!%first bra made_it;
        tensormap.replace.tile.global_address.shared::cta.b1024.b64 [made], %x;
        tensormap.replace.tile.rank.shared::cta.b1024.b32 [made], %rank;
        tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [made], 0, 64;
        tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [made], 1, 16;
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [made], 0, 256;
        tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [made], 1, 20;
        tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [made], 0, 256;
        tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [made], 0, 1;
        tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [made], 1, 1;
        tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [made], 0;
        tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [made], 0;
        tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [made], 2;
        tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [made], 0;
      made_it:
        bar.warp.sync -1;
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [made], 128;
        fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
        @!%first bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%map, {128, 10}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %t, 4;
        add.u64 %y, %y, %o;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 32, %at;
        ld.shared.u32 %v, [%at];
        st.global.u32 [%y], %v;
        ret;
    }

    // Loads with a map in global memory, where the host puts it after a pointer, or with one in constant memory, whose fields are
    // written in this host's encoding: the address, 64 x 4 bytes, rank 2, a stride of 64, a box of 64 x 4.
    .global .align 16 .b32 tensor[64] = {100, 101, 102, 103};
    .const .align 64 .u64 constant[16] = {tensor, 0x30000003f, 0, 0x100000000, 64, 0, 0, 0, 0x3003f00000000};
    .visible .entry elsewhere(
        .param .u64 .ptr .global .align 64 map, .param .u64 .ptr .global .align 4 y: &mut [u32], .param .u32 in_const) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %v, %in_const;
        .reg .b64 %map, %y;
        .shared .align 128 .b8 tile[256];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        ld.param.u64 %map, [map];
        ld.param.u32 %in_const, [in_const];
        setp.eq.u32 %p, %in_const, 0;
        @%p bra load;
        mov.b64 %map, constant;
        cvta.const.u64 %map, %map;
      load:
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
        cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%map, {0, 0}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u64 %y, [y];
        ld.shared.u32 %v, [tile];
        st.global.u32 [%y], %v;
        ld.shared.u32 %v, [tile+12];
        st.global.u32 [%y+4], %v;
        ret;
    }
}

/// A matrix of bytes that tell their places apart.
fn matrix(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect()
}

#[test]
fn a_box_is_loaded_with_each_swizzle() {
    // 40 rows of 256 bytes, as f16
    let x = matrix(40 * 256);
    // the row of the box, which is a line of 128 bytes or a part of it, decides which pieces are exchanged
    for (swizzle, inner, lines, piece) in [
        (Swizzle::None, 128, 1, 16),
        (Swizzle::B32, 32, 2, 16),
        (Swizzle::B64, 64, 4, 16),
        (Swizzle::B128, 128, 8, 16),
        (Swizzle::B128Atom32, 128, 4, 32),
        (Swizzle::B128Atom64, 128, 2, 64),
    ] {
        let map = TensorMap::tiled(&x, ElementType::F16)
            .dims([128, 40])
            .box_dims([inner as u32 / 2, 32])
            .swizzle(swizzle)
            .build()
            .unwrap();
        let mut expected = vec![0xff; 16384];
        for row in 0..32 {
            for byte in 0..inner {
                let at = row * inner + byte;
                let exchanged = at / 128 % lines;
                let in_line = (((at % inner) / piece) ^ exchanged) * piece + at % piece;
                expected[at / inner * inner + in_line] = x[(row + 5) * 256 + 32 + byte];
            }
        }
        everywhere!(host => {
            let mut y = vec![0; 16384];
            load_2d.launch(&host, Launch::grid(1), (&map, &mut y, 16, 5, inner as u32 * 32)).unwrap();
            assert!(y == expected, "{swizzle:?}");
        });
    }
}

#[test]
fn halves_of_16_bytes_are_exchanged_in_every_second_line() {
    let x = matrix(16 * 128);
    let map = TensorMap::tiled(&x, ElementType::U8).dims([128, 16]).box_dims([128, 16]);
    let map = map.swizzle(Swizzle::B128Atom32Flip8).build().unwrap();
    let mut y = vec![0; 16384];
    load_2d.launch(&Host::new(), Launch::grid(1), (&map, &mut y, 0, 0, 2048)).unwrap();
    for line in 0..16 {
        for (piece, bytes) in x[line * 128..][..128].chunks(8).enumerate() {
            let at = (piece ^ ((line % 4) << 2) ^ (line % 2)) * 8;
            assert_eq!(y[line * 128 + at..][..8], *bytes, "line {line}, piece {piece}");
        }
    }
}

#[test]
fn packed_types_have_gaps_in_shared_memory() {
    let x = matrix(8 * 256);
    for (element, dim, bytes) in [(ElementType::B4x16P64, 256u64, 8), (ElementType::B6x16P32, 128, 12)] {
        let stride = dim / 16 * bytes as u64;
        let map = TensorMap::tiled(&x, element).dims([dim, 8]).strides([stride]).box_dims([128, 4]).build().unwrap();
        let mut y = vec![0; 16384];
        // an mbarrier counts them without the gaps
        load_2d.launch(&Host::new(), Launch::grid(1), (&map, &mut y, 0, 3, 4 * 8 * bytes as u32)).unwrap();
        for row in 0..4 {
            for group in 0..8 {
                let at = row * 128 + group * 16;
                assert_eq!(y[at..at + bytes], x[(row + 3) * stride as usize + group * bytes..][..bytes]);
                assert!(y[at + bytes..at + 16].iter().all(|b| *b == 0xff), "gaps stay as they are");
            }
        }
    }
    let map = TensorMap::tiled(&x, ElementType::B4x16).dims([512, 8]).box_dims([64, 2]).build().unwrap();
    let mut y = vec![0; 16384];
    load_2d.launch(&Host::new(), Launch::grid(1), (&map, &mut y, 32, 1, 64)).unwrap();
    assert_eq!([&y[..32], &y[32..64]], [&x[256 + 16..][..32], &x[512 + 16..][..32]]);
}

#[test]
fn boxes_go_from_one_tensor_to_another() {
    // the box is 16 x 32 x 2 from plane 1 of 2: rows from 16 on, and the second plane, are zeros
    let x: Vec<u32> = (0..2 * 16 * 16).map(|i| i * 3 + 1).collect();
    for adds in [0, 1] {
        let mut expected: Vec<u32> = (0..3 * 20 * 24).collect();
        for plane in 0..2 {
            for (row, column) in (0..18).flat_map(|row| (0..16).map(move |column| (row, column))) {
                let value = if plane == 0 && row < 16 { x[256 + row * 16 + column] } else { 0 };
                let to = &mut expected[plane * 480 + (row + 2) * 24 + column + 8];
                *to = *to * adds + value;
            }
        }
        everywhere!(host => {
            let mut y: Vec<u32> = (0..3 * 20 * 24).collect();
            let mut maps = [0u8; 128];
            let from = TensorMap::tiled(&x, ElementType::U32).dims([16, 16, 2]).box_dims([16, 32, 2]);
            let from = from.swizzle(Swizzle::B64).build().unwrap();
            let to = TensorMap::tiled(&mut y, ElementType::U32).dims([24, 20, 3]).box_dims([16, 32, 2]);
            let to = to.swizzle(Swizzle::B64).build().unwrap();
            through.launch(&host, Launch::grid(1), (&from, &to, &mut maps, adds)).unwrap();
            assert!(y == expected, "{adds}");
        });
    }
}

#[test]
fn a_map_may_be_of_the_buffer_of_another_argument() {
    let (x, mut y) = ([7u32; 512], [0u8; 128]);
    let from = TensorMap::tiled(&x, ElementType::U32).dims([16, 16, 2]).box_dims([16, 32, 2]).build().unwrap();
    let to = TensorMap::tiled(Tensor::argument("maps"), ElementType::U32).dims([4, 3, 2]).strides([16, 64]);
    let to = to.box_dims([16, 32, 2]).build().unwrap();
    // the box begins after the innermost dimension: nothing is written but the copy of the map
    through.launch(&Host::new(), Launch::grid(1), (&from, &to, &mut y, 0)).unwrap();
    assert_ne!(y, [0; 128]);
    let wrong = TensorMap::tiled(Tensor::argument("there"), ElementType::U32).dims([16, 16, 2]).box_dims([16, 32, 2]);
    let wrong = wrong.build().unwrap();
    let text = through.launch(&Host::new(), Launch::grid(1), (&from, &wrong, &mut y, 0)).unwrap_err().to_string();
    assert!(text.contains("its tensor is that of `there`, which is not a parameter with a buffer"), "{text}");
    let mut z = [0u32; 512];
    let both = TensorMap::tiled(&mut z, ElementType::U32).dims([16, 16, 2]).box_dims([16, 32, 2]).build().unwrap();
    let text = through.launch(&Host::new(), Launch::grid(1), (&both, &both, &mut y, 0)).unwrap_err().to_string();
    assert!(text.contains("another argument has the same tensor map"), "{text}");
}

#[test]
fn a_multicast_box_reaches_both_ctas() {
    let x: Vec<u32> = (0..16 * 16).collect();
    let map = TensorMap::tiled(&x, ElementType::F32).dims([16, 16]).box_dims([16, 8]).build().unwrap();
    everywhere!(host => {
        let mut y = vec![0; 512];
        multicast.launch(&host, Launch::grid(2), (&map, &mut y)).unwrap();
        assert_eq!([&y[..256], &y[256..]], [&x[..], &x[..]]);
    });
}

#[test]
fn both_ctas_of_a_pair_signal_one_object() {
    let x: Vec<u32> = (0..16 * 16).collect();
    let map = TensorMap::tiled(&x, ElementType::U32).dims([16, 16]).box_dims([16, 8]).build().unwrap();
    let expected: Vec<u32> = (0..64).map(|t| t * 4).collect();
    everywhere!(host => {
        let mut y = vec![0; 64];
        pair.launch(&host, Launch::grid(2), (&map, &mut y)).unwrap();
        assert_eq!(y, expected);
    });
}

#[test]
fn four_rows_are_gathered_and_scattered() {
    let x = matrix(10 * 256);
    let mut expected = vec![0x55; 4 * 128];
    // row 100 is outside: zeros in, nothing out
    for (to, from) in [(3, Some(7)), (0, None), (1, Some(5))] {
        let row = from.map_or(vec![0; 128], |from| x[from * 256 + 16..][..128].to_vec());
        expected[to * 128..][..128].copy_from_slice(&row);
    }
    let from = TensorMap::tiled(&x, ElementType::U8).dims([256, 10]).box_dims([128, 1]).swizzle(Swizzle::B128);
    let from = from.build().unwrap();
    everywhere!(host => {
        let mut y = vec![0x55; 4 * 128];
        let to = TensorMap::tiled(&mut y, ElementType::U8).dims([128, 4]).box_dims([128, 1]).swizzle(Swizzle::B128);
        rows.launch(&host, Launch::grid(1), (&from, &to.build().unwrap())).unwrap();
        assert!(y == expected);
    });
}

#[test]
fn a_kernel_makes_a_map_from_zeros() {
    let x = matrix(20 * 256);
    let expected: Vec<u32> = (0..32usize)
        .map(|t| {
            // the box has lines of 64 bytes, with a swizzle of 64; rows from 20 on are zeros
            let (row, at) = (t / 2, t % 2 * 32);
            let column = at ^ (row / 2 % 4) << 4;
            let from = (row + 10) * 256 + 128 + column;
            x.get(from..from + 4).map_or(0, |word| u32::from_le_bytes(word.try_into().unwrap()))
        })
        .collect();
    everywhere!(host => {
        let (mut map, mut y) = ([0; 128], [0; 32]);
        replaced.launch(&host, Launch::grid(1), (&x, &mut map, &mut y, 1)).unwrap();
        assert_eq!(y.to_vec(), expected);
    });
    let (mut map, mut y) = ([0; 128], [0; 32]);
    let kind = fault(replaced.launch(&Host::new(), Launch::grid(1), (&x, &mut map, &mut y, 5)));
    assert!(matches!(&kind.kind, FaultKind::Undefined { section: "9.7.9.26", .. }), "{kind}");
    let kind = fault(replaced.launch(&Host::new(), Launch::grid(1), (&x, &mut map, &mut y, 2)));
    assert!(kind.to_string().contains("the tensor map has rank 3, but the instruction is `.2d`"), "{kind}");
}

#[test]
fn maps_lie_in_global_or_constant_memory() {
    let x: Vec<u32> = (0..64).collect();
    let map = TensorMap::tiled(&x, ElementType::U32).dims([16, 4]).box_dims([16, 4]).build().unwrap();
    everywhere!(host => {
        let mut y = [9; 2];
        elsewhere.launch(&host, Launch::grid(1), (&map, &mut y, 0)).unwrap();
        assert_eq!(y, [0, 3]);
        elsewhere.launch(&host, Launch::grid(1), (&map, &mut y, 1)).unwrap();
        assert_eq!(y, [100, 103]);
    });
}

fn fault(result: Result<Report, Error>) -> Box<Fault> {
    match result {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_boxes_are_faults() {
    let x = [0u8; 40 * 256];
    let tiled = || TensorMap::tiled(&x, ElementType::U8).dims([256, 40]).box_dims([128, 32]);
    let load = |map: &TensorMap<'_>, c0: i32, c1: i32, bytes| {
        let mut y = vec![0; 16384];
        let at = (c0 as u32, c1 as u32);
        fault(load_2d.launch(&Host::new(), Launch::grid(1), (map, &mut y, at.0, at.1, bytes)))
    };
    let map = tiled().build().unwrap();
    let says = |fault: Box<Fault>, wanted: &str| assert!(fault.to_string().contains(wanted), "{fault}");
    says(load(&map, 8, 0, 4096), "the first coordinate is 8, but must be a multiple of 16");
    says(load(&map, -8, 0, 4096), "the first coordinate is -8");
    says(load(&map, 0, 0, 4095), "1 bytes more than expected have arrived");
    let large = tiled().box_dims([256, 128]).build().unwrap();
    assert!(matches!(load(&large, 0, 0, 0).kind, FaultKind::OutOfBounds { space: "shared", bytes: 32768, .. }));
    let rank = tiled().dims([256, 40, 1]).box_dims([128, 32, 1]).build().unwrap();
    says(load(&rank, 0, 0, 4096), "the tensor map has rank 3, but the instruction is `.2d`");
    let pixels = TensorMap::im2col(&x, ElementType::U8).dims([16, 4, 4]).channels_per_pixel(16).pixels_per_column(8);
    says(load(&pixels.build().unwrap(), 0, 0, 4096), "rank 3");
    // these 128 bytes are no map
    let mut y = vec![0; 16384];
    let args = (Arg::value([0xabu8; 128]), &mut y[..], 0, 0, 4096);
    says(fault(load_2d.launch(&Host::new(), Launch::grid(1), args)), "these 128 bytes are not a tensor map");
    let args = (Arg::value([0u8; 128]), &mut y[..], 0, 0, 4096);
    says(fault(load_2d.launch(&Host::new(), Launch::grid(1), args)), "`boxDim[0]` of the tensor map is 1: 1 bytes");
}

#[test]
fn a_tensor_in_a_part_of_a_buffer_has_its_alignment() {
    let host = Host::new();
    let x = host.buffer(&matrix(41 * 256));
    let load = |host: &Host, from: usize| {
        let map = TensorMap::tiled(&x[from..], ElementType::U8).dims([128, 40]).strides([256]).box_dims([128, 32]);
        let (map, mut y) = (map.build().unwrap(), vec![0; 16384]);
        load_2d.launch(host, Launch::grid(1), (&map, &mut y, 0, 1, 4096)).map(|_| y)
    };
    for host in [host.clone(), Host::new().threads(2), Host::new().seed(1)] {
        let y = load(&host, 16).unwrap();
        for (row, line) in y.chunks_exact(128).take(32).enumerate() {
            assert_eq!(line, &x[16 + (row + 1) * 256..][..128], "row {row}");
        }
    }
    let error = load(&host, 8).unwrap_err().to_string();
    assert!(
        error.contains("`globalAddress` of the tensor map is 2199023255560, but must be a multiple of 16"),
        "{error}"
    );
}

#[test]
fn a_read_before_the_box_is_there_is_reported_by_the_checked_host() {
    let x = [0u8; 40 * 256];
    let map = TensorMap::tiled(&x, ElementType::U8).dims([256, 40]).box_dims([128, 32]).build().unwrap();
    let mut y = vec![0; 16384];
    // the object expects nothing, so that nobody waits
    let kind = fault(load_2d.launch(&Host::checked(), Launch::grid(1), (&map, &mut y, 0, 0, 0)));
    let text = kind.to_string();
    assert!(text.contains("this load of 16 bytes") && text.contains("cp.async.bulk.tensor.2d"), "{text}");
}
