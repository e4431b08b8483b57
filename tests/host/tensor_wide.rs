//! Tensor copies in the modes `im2col::w` and `im2col::w::128` (PTX ISA 5.5.5), and maps whose dimensions are overridden.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

use super::everywhere::everywhere;

ptx! {
    <sm_107a, ptx 9.4>
    // Rows of 64 bytes from (0, w, h, n) on, copied as they lie in shared memory.
    .visible .entry wide(
        .param .align 64 .b8 map[128]: &TensorMap, .param .u64 .ptr .global .align 16 y: &mut [u32],
        .param .u32 w, .param .u32 h, .param .u32 n, .param .u16 halo, .param .u16 offset, .param .u32 bytes) .reqntid 1
    {
        .reg .pred %p;
        .reg .b16 %halo, %offset;
        .reg .b32 %w, %h, %n, %bytes;
        .reg .b64 %map, %y;
        .shared .align 1024 .b8 tile[8192];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u64 %y, [y];
        ld.param.u32 %w, [w];
        ld.param.u32 %h, [h];
        ld.param.u32 %n, [n];
        ld.param.u32 %bytes, [bytes];
        ld.param.u16 %halo, [halo];
        ld.param.u16 %offset, [offset];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %bytes;
        cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes
            [tile], [%map, {0, %w, %h, %n}], [full], {%halo, %offset};
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], %bytes;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // The same with 128 pixels, stored again by a map of `im2col::w`.
    .visible .entry wide_128(
        .param .align 64 .b8 map[128]: &TensorMap, .param .align 64 .b8 to[128]: &TensorMap,
        .param .u16 halo) .reqntid 1
    {
        .reg .pred %p;
        .reg .b16 %halo;
        .reg .b64 %map, %to;
        .shared .align 1024 .b8 tile[8192];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        mov.b64 %to, to;
        cvta.param.u64 %to, %to;
        ld.param.u16 %halo, [halo];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;
        cp.async.bulk.tensor.4d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes
            [tile], [%map, {0, 2, 1, 0}], [full], {%halo, 0};
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs::w.bulk_group [%to, {0, 2, 1, 0}], [tile];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }

    // A box of a matrix of `columns` x `rows` whose rows are `stride` bytes apart.
    .visible .entry sizes(
        .param .align 64 .b8 map[128]: &TensorMap, .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 16 y: &mut [u32],
        .param .u16 columns, .param .u16 rows, .param .u32 stride, .param .u16 upper, .param .u32 at) .reqntid 1
    {
        .reg .pred %p;
        .reg .b16 %columns, %rows, %upper;
        .reg .b32 %stride, %at;
        .reg .b64 %map, %x, %y;
        .shared .align 128 .b8 tile[128];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.u16 %columns, [columns];
        ld.param.u16 %rows, [rows];
        ld.param.u32 %stride, [stride];
        ld.param.u16 %upper, [upper];
        ld.param.u32 %at, [at];
        shr.u32 %stride, %stride, 4;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.override::global_address.override::global_dim_stride
            [tile], [%map, %x, {%columns, %rows}, {%stride}, %upper, {0, %at}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 128;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }
}

/// Channels, width, height, images; each word is its number.
const DIMS: [u64; 4] = [16, 7, 3, 40];

fn image() -> Vec<u32> {
    (1..=DIMS.iter().product::<u64>() as u32).collect()
}

/// The words of a pixel, zeros outside.
fn pixel(w: i64, h: i64, n: i64) -> [u32; 16] {
    let inside =
        (0..DIMS[1] as i64).contains(&w) && (0..DIMS[2] as i64).contains(&h) && (0..DIMS[3] as i64).contains(&n);
    let first = ((n * 3 + h) * 7 + w) * 16;
    std::array::from_fn(|c| if inside { (first + c as i64 + 1) as u32 } else { 0 })
}

/// A row as it lies in shared memory, with the 64-byte swizzle.
fn swizzled(rows: &[[u32; 16]]) -> Vec<u32> {
    let mut all = vec![0; 16 * rows.len()];
    for (i, row) in rows.iter().enumerate() {
        for (c, word) in row.iter().enumerate() {
            let at = 64 * i + 4 * c;
            all[(at ^ (at >> 3 & 0x30)) / 4] = *word;
        }
    }
    all
}

fn map<'a>(x: &'a [u32], lower: i32, upper: i32, step: u32, pixels: u32) -> TensorMap<'a> {
    let map = TensorMap::im2col_w(x, ElementType::U32).dims(DIMS).swizzle(Swizzle::B64);
    let map = map.pixel_box_lower([lower]).pixel_box_upper([upper]).element_strides([1, step, 1, 1]);
    map.channels_per_pixel(16).pixels_per_column(pixels).build().unwrap()
}

/// Where 128 pixels are stored.
fn stored(y: &mut [u32]) -> TensorMap<'_> {
    let map = TensorMap::im2col_w(y, ElementType::U32).dims(DIMS).swizzle(Swizzle::B64);
    map.channels_per_pixel(16).pixels_per_column(128).build().unwrap()
}

/// As the manual's example: from (w 2, h 1, n 0) on, along the width and then in the next image at the same height, and the halo.
#[test]
fn pixels_along_the_width_and_their_halo() {
    let x = image();
    // box, step, pixels, halo, offset, first
    for (lower, upper, step, pixels, halo, offset, first) in [
        (0, 0, 1, 20, 2, 0, 2),
        (-1, 0, 2, 16, 1, 0, -1),
        (-1, -1, 3, 16, 0, 1, -1),
        (-1, -1, 3, 16, 0, 2, -1),
        // the first pixel is to the left of the bounding box
        (1, 0, 1, 12, 4, 0, 0),
    ] {
        let map = map(&x, lower, upper, step, pixels);
        let (mut w, mut n, mut rows) = (i64::from(first), 0, Vec::new());
        for _ in 0..pixels + halo {
            rows.push(pixel(w + i64::from(offset), 1, n));
            w += i64::from(step);
            if w > 6 + i64::from(upper) {
                (w, n) = (i64::from(lower), n + 1);
            }
        }
        let expected = swizzled(&rows);
        everywhere!(host => {
            let mut y = vec![0; expected.len()];
            let at = (first as u32, 1, 0, halo as u16, offset as u16, 4 * expected.len() as u32);
            wide.launch(&host, Launch::grid(1), (&map, &mut y, at.0, at.1, at.2, at.3, at.4, at.5)).unwrap();
            assert_eq!(y, expected, "{first} {halo} {offset}");
        });
    }
}

#[test]
fn without_a_halo_128_pixels_are_copied_and_stored() {
    let x = image();
    let map = TensorMap::im2col_w_128(&x, ElementType::U32).dims(DIMS).swizzle(Swizzle::B64);
    let map = map.channels_per_pixel(16).build().unwrap();
    let mut expected = vec![0; x.len()];
    for i in 0..128 {
        let (w, n) = ((i + 2) % 7, (i + 2) / 7);
        let first = ((n * 3 + 1) * 7 + w) * 16;
        expected[first..first + 16].copy_from_slice(&pixel(w as i64, 1, n as i64));
    }
    everywhere!(host => {
        let mut y = vec![0; x.len()];
        wide_128.launch(&host, Launch::grid(1), (&map, &stored(&mut y), 0)).unwrap();
        assert_eq!(y, expected);
    });
    // where a halo between pixels lies is only in a figure
    let mut y = vec![0; x.len()];
    let fault = wide_128.launch(&Host::new(), Launch::grid(1), (&map, &stored(&mut y), 2)).unwrap_err();
    assert!(fault.to_string().contains("`im2col::w::128` and a halo"), "{fault}");
}

#[test]
fn wrong_uses_are_faults_or_errors() {
    let x = image();
    let right = map(&x, 0, 0, 1, 16);
    let launch = |map: &TensorMap<'_>, w: i32, halo, offset| {
        let mut y = vec![0; 4096];
        wide.launch(&Host::new(), Launch::grid(1), (map, &mut y, w as u32, 1, 0, halo, offset, 1024)).map(drop)
    };
    launch(&right, -1, 0, 0).unwrap();
    let says = |result: Result<(), ptx_dsl::Error>, wanted: &str| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    };
    says(launch(&right, 7, 0, 0), "coordinate 1 is 7, but the bounding box of the map is from 0 to 6");
    says(launch(&right, 0, 512, 0), "`wHalo` is 512, but must be at most 511");
    says(launch(&right, 0, 0, 32), "`wOffset` is 32, but must be at most 31");
    let plain = TensorMap::im2col(&x, ElementType::U32).dims(DIMS).channels_per_pixel(16).pixels_per_column(16);
    says(launch(&plain.build().unwrap(), 0, 0, 0), "is an im2col one, but the instruction needs an `im2col::w` one");
    let wide = || TensorMap::im2col_w(&x, ElementType::U32).dims(DIMS).channels_per_pixel(16).pixels_per_column(16);
    let error = wide().build().unwrap_err();
    assert_eq!(error.field, "swizzle");
    assert_eq!(wide().swizzle(Swizzle::B64).pixel_box_lower([0, 0]).build().unwrap_err().field, "pixelBoxLowerCorner");
    assert_eq!(wide().swizzle(Swizzle::B64).pixels_per_column(1025).build().unwrap_err().field, "pixelsPerColumn");
}

#[test]
fn sizes_and_strides_of_a_map_are_overridden() {
    let other = vec![7; 128];
    let x: Vec<u32> = (0..128).collect();
    let map = TensorMap::tiled(&other, ElementType::U32).dims([16, 8]).box_dims([8, 4]).build().unwrap();
    // a matrix of 6 columns and 3 rows, of which each begins 12 words after the last
    let expected: Vec<u32> =
        (0..32).map(|i| (i / 8, i % 8)).map(|(r, c)| if r < 3 && c < 6 { 12 * r + c } else { 0 }).collect();
    everywhere!(host => {
        let mut y = vec![0; 32];
        sizes.launch(&host, Launch::grid(1), (&map, &x, &mut y, 6, 3, 48, 0, 0)).unwrap();
        assert_eq!(y, expected);
    });
    let fault = |sizes_and_at: (u16, u16, u32, u16, u32)| {
        let (columns, rows, stride, upper, at) = sizes_and_at;
        let error = sizes
            .launch(&Host::new(), Launch::grid(1), (&map, &x, &mut [0; 32], columns, rows, stride, upper, at))
            .unwrap_err();
        match error {
            ptx_dsl::Error::Fault(fault) => fault,
            other => panic!("{other}"),
        }
    };
    assert!(fault((6, 3, 48, 0, 1)).to_string().contains("a coordinate is 1, but the dimensions are overridden"));
    assert!(fault((0, 3, 48, 0, 0)).to_string().contains("`globalDim[0]` of the tensor map is 0"));
    // an upper stride of 1 is 64 GiB
    assert!(matches!(fault((6, 3, 48, 1, 0)).kind, FaultKind::OutOfBounds { .. }), "{}", fault((6, 3, 48, 1, 0)));
}
