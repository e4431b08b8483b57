//! Tensor copies that the text of the manual forbids (PTX ISA 9.7.9.25.5.1): boxes of several rows, offsets, swizzles, types and corners;
//! and stores of 6-bit elements, which no load does.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap, TensorMapBuilder};

use super::everywhere::everywhere;

ptx! {
    <sm_107a, ptx 9.4>
    // Loads with one of several instructions.
    .visible .entry loads(
        .param .align 64 .b8 map[128]: &TensorMap, .param .u32 way, .param .u16 o0, .param .u16 o1, .param .u32 bytes)
        .reqntid 1
    {
        .reg .pred %p;
        .reg .b16 %o0, %o1;
        .reg .b32 %way, %bytes;
        .reg .b64 %map;
        .shared .align 1024 .b8 tile[4096];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u32 %way, [way];
        ld.param.u16 %o0, [o0];
        ld.param.u16 %o1, [o1];
        ld.param.u32 %bytes, [bytes];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %bytes;
        setp.eq.u32 %p, %way, 0;
        @%p cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
            [tile], [%map, {0, 3, 0, 2, 1}], [full];
        setp.eq.u32 %p, %way, 3;
        @%p cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes
            [tile], [%map, {0, 0, 0}], [full], {%o0};
        setp.eq.u32 %p, %way, 4;
        @%p cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes
            [tile], [%map, {0, 0, 0, 0}], [full], {%o0, %o1};
        setp.eq.u32 %p, %way, 5;
        @%p cp.async.bulk.tensor.5d.shared::cta.global.im2col.mbarrier::complete_tx::bytes
            [tile], [%map, {0, 0, 0, 0, 0}], [full], {%o0, %o1, 0};
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ret;
    }

    // Stores with one of several instructions.
    .visible .entry stores(.param .align 64 .b8 map[128]: &TensorMap, .param .u32 way, .param .s32 row) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %way, %row;
        .reg .b64 %map;
        .shared .align 1024 .b32 tile[1024];
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u32 %way, [way];
        ld.param.s32 %row, [row];
        setp.eq.u32 %p, %way, 0;
        @%p cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {0, 3, 0, 2, %row}], [tile];
        setp.eq.u32 %p, %way, 1;
        @%p cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {0, 0}], [tile];
        setp.eq.u32 %p, %way, 4;
        @%p cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs::w.bulk_group [%map, {0, 0, 0, 0}], [tile];
        setp.eq.u32 %p, %way, 5;
        @%p cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%map, {0, 0, 0, 0}], [tile];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // Stores two rows of 128 bytes from row 1 on.
    .visible .entry packs(.param .align 64 .b8 map[128]: &TensorMap, .param .u64 .ptr .global .align 16 x: &[u8]) .reqntid 16
    {
        .reg .pred %first;
        .reg .b32 %t, %at, %v<4>;
        .reg .b64 %map, %x;
        .shared .align 1024 .b8 tile[256];
        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        ld.param.u64 %x, [x];
        mad.wide.u32 %x, %t, 16, %x;
        ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%x];
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 16, %at;
        st.shared.v4.u32 [%at], {%v0, %v1, %v2, %v3};
        fence.proxy.async.shared::cta;
        bar.sync 0;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        @%first cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {0, 1}], [tile];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // A load whose map, a copy in global memory, gets the swizzle of 96 bytes.
    .visible .entry swizzles_96(
        .param .align 64 .b8 map[128]: &TensorMap, .param .u64 .ptr .global .align 128 copy: &mut [u32]) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %i, %v;
        .reg .b64 %map, %to, %copy;
        .shared .align 1024 .b8 tile[4096];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u64 %copy, [copy];
        mov.b64 %to, %copy;
        mov.u32 %i, 0;
      next:
        ld.u32 %v, [%map];
        st.global.u32 [%to], %v;
        add.u64 %map, %map, 4;
        add.u64 %to, %to, 4;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 32;
        @%p bra next;
        tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%copy], 4;
        fence.proxy.tensormap::generic.release.gpu;
        fence.proxy.tensormap::generic.acquire.gpu [%copy], 128;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%copy, {0, 0}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ret;
    }
}

ptx! {
    <sm_120a, ptx 8.8>
    // Loads 512 bytes to the shared memory of the cluster, or of the CTA.
    .visible .entry loads_120(.param .align 64 .b8 map[128]: &TensorMap, .param .u32 cta) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %cta;
        .reg .b64 %map;
        .shared .align 1024 .b8 tile[1024];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u32 %cta, [cta];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
        setp.eq.u32 %p, %cta, 0;
        @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%map, {0, 0}], [full];
        @!%p cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%map, {0, 0}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ret;
    }
}

fn says<T: std::fmt::Debug>(result: Result<T, Error>, wanted: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn four_rows_are_boxes_of_one_row() {
    let mut x = [0u32; 32 * 8];
    for rows in [1, 4] {
        let map = TensorMap::tiled(&mut x, ElementType::U32).dims([32, 8]).box_dims([32, rows]).build().unwrap();
        let load = loads.launch(&Host::new(), Launch::grid(1), (&map, 0, 0, 0, 512));
        let store = stores.launch(&Host::new(), Launch::grid(1), (&map, 0, 1));
        if rows == 1 {
            load.unwrap();
            store.unwrap();
        } else {
            says(load, "the box of the map has 4 rows, but each of the four is a box of one");
            says(store, "the box of the map has 4 rows");
        }
    }
}

#[test]
fn offsets_of_pixels_have_fewer_bits_the_more_there_are() {
    let x = [0u8; 16];
    for (rank, most) in [(3, 65535), (4, 255), (5, 31)] {
        let map = TensorMap::im2col(&x, ElementType::U8).dims(&[16, 1, 1, 1, 1][..rank]);
        let map = map.channels_per_pixel(16).pixels_per_column(4).build().unwrap();
        let load = |o0: u16, o1: u16| loads.launch(&Host::new(), Launch::grid(1), (&map, rank as u32, o0, o1, 64));
        load(most, 0).unwrap();
        load(0, most).unwrap();
        if rank > 3 {
            let wanted = format!("must be at most {most} in a tensor of rank {rank}");
            says(load(most + 1, 0), &format!("offset 0 is {}, but {wanted}", most + 1));
            says(load(0, most + 1), &format!("offset 1 is {}, but {wanted}", most + 1));
        }
    }
}

#[test]
fn some_maps_are_for_loads_alone() {
    let mut x = [0u32; 16 * 7];
    let map = TensorMap::tiled(&mut x, ElementType::U32).dims([16, 7]).box_dims([16, 2]);
    let map = map.swizzle(Swizzle::B128Atom32Flip8).build().unwrap();
    says(stores.launch(&Host::new(), Launch::grid(1), (&map, 1, 0)), "flips 8 bytes, which only loads do");
    let padded =
        TensorMap::tiled(&mut x[..64], ElementType::B4x16P64).dims([128, 4]).box_dims([128, 2]).build().unwrap();
    says(
        stores.launch(&Host::new(), Launch::grid(1), (&padded, 1, 0)),
        "a store of `.b4x16_p64`, which only loads have",
    );
    for (way, upper) in [(4, 0), (4, 1), (5, 0), (5, 1)] {
        let pixels: TensorMapBuilder<'_> = if way == 4 {
            TensorMap::im2col_w(&mut x, ElementType::U32).swizzle(Swizzle::B64).pixel_box_upper([upper])
        } else {
            TensorMap::im2col(&mut x, ElementType::U32).pixel_box_upper([upper, 0])
        };
        let pixels = pixels.dims([16, 7, 1, 1]).channels_per_pixel(16).pixels_per_column(8);
        let result = stores.launch(&Host::new(), Launch::grid(1), (&pixels.build().unwrap(), way, 0));
        match upper {
            0 => drop(result.unwrap()),
            _ => says(result, "the bounding box of a store ends 1 past the image"),
        }
    }
}

#[test]
fn rows_that_are_stored_are_not_negative() {
    let mut x = [0u32; 32 * 8];
    let map = TensorMap::tiled(&mut x, ElementType::U32).dims([32, 8]).box_dims([32, 1]).build().unwrap();
    // a row after the last is not stored
    stores.launch(&Host::new(), Launch::grid(1), (&map, 0, 8)).unwrap();
    says(stores.launch(&Host::new(), Launch::grid(1), (&map, 0, -1)), "a coordinate of a store is negative: -1");
}

#[test]
fn six_bits_of_each_byte_are_stored() {
    let x: Vec<u8> = (0..256).map(|i: usize| (i * 167 + i / 16 * 29 + 11) as u8).collect();
    for swizzle in [Swizzle::None, Swizzle::B128] {
        let mut expected = vec![0x55; 4 * 96];
        for (row, group) in (0..16).map(|i| (i / 8, i % 8)) {
            let piece = if swizzle == Swizzle::B128 { group ^ row } else { group };
            let bits = (0..16).fold(0, |bits, i| bits | u128::from(x[row * 128 + piece * 16 + i] & 63) << (6 * i));
            expected[(row + 1) * 96 + group * 12..][..12].copy_from_slice(&bits.to_le_bytes()[..12]);
        }
        everywhere!(host => {
            let mut y = vec![0x55u8; 4 * 96];
            let map = TensorMap::tiled(&mut y, ElementType::B6x16P32).dims([128, 4]).box_dims([128, 2]).swizzle(swizzle);
            packs.launch(&host, Launch::grid(1), (&map.build().unwrap(), &x)).unwrap();
            assert_eq!(y, expected, "{swizzle:?}");
        });
    }
}

#[test]
fn sm_120_loads_some_maps_to_the_cta_alone() {
    let x = [0u8; 1024];
    let tiled = |element, dim: u32, swizzle| {
        TensorMap::tiled(&x, element).dims([dim.into(), 8]).box_dims([dim, 8]).swizzle(swizzle).build().unwrap()
    };
    for (map, wanted) in [
        (tiled(ElementType::B4x16, 128, Swizzle::None), Some("a load of B4x16 with `.shared::cluster.global`")),
        (tiled(ElementType::U8, 64, Swizzle::B128Atom32), Some("a load with swizzle B128Atom32")),
        (tiled(ElementType::U8, 64, Swizzle::B128), None),
    ] {
        loads_120.launch(&Host::new(), Launch::grid(1), (&map, 1)).unwrap();
        let result = loads_120.launch(&Host::new(), Launch::grid(1), (&map, 0));
        match wanted {
            Some(wanted) => says(result, wanted),
            None => drop(result.unwrap()),
        }
    }
}

#[test]
fn a_swizzle_of_96_bytes_is_not_there_yet() {
    let x = [0u32; 32 * 8];
    let map = TensorMap::tiled(&x, ElementType::U32).dims([32, 8]).box_dims([16, 8]).build().unwrap();
    let mut copy = [0u32; 32];
    match swizzles_96.launch(&Host::new(), Launch::grid(1), (&map, &mut copy)) {
        Err(Error::Fault(fault)) => assert!(matches!(fault.kind, FaultKind::NotYet { .. }), "{fault}"),
        other => panic!("{other:?}"),
    }
}
