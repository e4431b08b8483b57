//! Matrices that are read from shared memory with another layout than a tensor copy has written them with.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};
use ptx_dsl::{Checked, Error};

ptx! {
    <sm_90a, ptx 8.6, allow(PTX0640), allow(PTX0670)>

    // D of 64 x 8 = A B from 64 and 8 rows of 64 f16, of which the first 16 count. `rewrite`: threads store the bytes of A again.
    .visible .entry wgmma(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .u64 of_a, .param .u64 of_b, .param .u32 rewrite,
        .param .u64 .ptr .global .align 4 d: &mut [f32]) .reqntid 128
    {
        .reg .pred %p, %leader;
        .reg .b32 %t, %at, %n, %v<4>;
        .reg .f32 %d<4>;
        .reg .b64 %ma, %mb, %da, %db, %o, %out;
        .shared .align 1024 .b8 sa[8192];
        .shared .align 1024 .b8 sb[1024];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %leader, %t, 0;
        @%leader mbarrier.init.shared::cta.b64 [full], 1;
        bar.sync 0;
        mov.b64 %ma, a;
        cvta.param.u64 %ma, %ma;
        mov.b64 %mb, b;
        cvta.param.u64 %mb, %mb;
        @!%leader bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 9216;
        cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [sa], [%ma, {0, 0, 0}], [full];
        cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [sb], [%mb, {0, 0, 0}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u32 %n, [rewrite];
        setp.eq.u32 %p, %n, 0;
        @%p bra written;
        mov.u32 %at, sa;
        mad.lo.u32 %at, %t, 64, %at;
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at];
        st.shared.v4.u32 [%at], {%v0, %v1, %v2, %v3};
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at+16];
        st.shared.v4.u32 [%at+16], {%v0, %v1, %v2, %v3};
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at+32];
        st.shared.v4.u32 [%at+32], {%v0, %v1, %v2, %v3};
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at+48];
        st.shared.v4.u32 [%at+48], {%v0, %v1, %v2, %v3};
        fence.proxy.async.shared::cta;
      written:
        bar.sync 0;
        mov.u32 %at, sa;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %da, %at;
        ld.param.u64 %o, [of_a];
        or.b64 %da, %da, %o;
        mov.u32 %at, sb;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        ld.param.u64 %o, [of_b];
        or.b64 %db, %db, %o;
        mov.f32 %d0, 0.0;
        mov.f32 %d1, 0.0;
        mov.f32 %d2, 0.0;
        mov.f32 %d3, 0.0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0..=%d3}, %da, %db, 1, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        ld.param.u64 %out, [d];
        mul.wide.u32 %o, %t, 16;
        add.u64 %out, %out, %o;
        st.global.f32 [%out], %d0;
        st.global.f32 [%out+4], %d1;
        st.global.f32 [%out+8], %d2;
        st.global.f32 [%out+12], %d3;
    }

    // The first four matrices of 8 x 8 f16 of 32 rows of 128 bytes. `xor`: the bits that the row exchanges.
    .visible .entry ldmatrix(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .u32 exchange,
        .param .u64 .ptr .global .align 16 d: &mut [u32]) .reqntid 32
    {
        .reg .pred %p, %leader;
        .reg .b32 %t, %at, %x, %n, %v<4>;
        .reg .b64 %ma, %o, %out;
        .shared .align 1024 .b8 sa[4096];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %leader, %t, 0;
        @%leader mbarrier.init.shared::cta.b64 [full], 1;
        bar.sync 0;
        mov.b64 %ma, a;
        cvta.param.u64 %ma, %ma;
        @!%leader bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 4096;
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [sa], [%ma, {0, 0}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        ld.param.u32 %n, [exchange];
        shl.b32 %x, %t, 4;
        and.b32 %x, %x, %n;
        mov.u32 %at, sa;
        mad.lo.u32 %at, %t, 128, %at;
        xor.b32 %at, %at, %x;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%v0, %v1, %v2, %v3}, [%at];
        ld.param.u64 %out, [d];
        mul.wide.u32 %o, %t, 16;
        add.u64 %out, %out, %o;
        st.global.v4.u32 [%out], {%v0, %v1, %v2, %v3};
    }
}

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0604), allow(PTX0605), allow(PTX0608)>

    // D of 128 x 8 = A B from 128 and 8 rows of 64 f16, of which the first 16 count; A is copied to Tensor Memory, too.
    .visible .entry tcgen05(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .u64 of_a, .param .u64 of_b, .param .u64 of_copy) .reqntid 128
    {
        .reg .pred %p, %leader;
        .reg .b32 %t, %warp, %tmem, %at;
        .reg .b64 %ma, %mb, %da, %db, %o;
        .shared .align 1024 .b8 sa[16384];
        .shared .align 1024 .b8 sb[1024];
        .shared .align 8 .b64 full;
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        setp.ne.u32 %p, %warp, 0;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 64;
      allocated:
        setp.eq.u32 %leader, %t, 0;
        @%leader mbarrier.init.shared::cta.b64 [full], 1;
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];
        mov.b64 %ma, a;
        cvta.param.u64 %ma, %ma;
        mov.b64 %mb, b;
        cvta.param.u64 %mb, %mb;
        @!%leader bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 17408;
        cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [sa], [%ma, {0, 0, 0}], [full];
        cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [sb], [%mb, {0, 0, 0}], [full];
      loaded:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra loaded;
        mov.u32 %at, sa;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %da, %at;
        ld.param.u64 %o, [of_copy];
        or.b64 %db, %da, %o;
        add.u32 %at, %tmem, 32;
        tcgen05.cp.cta_group::1.128x256b [%at], %db;
        ld.param.u64 %o, [of_a];
        or.b64 %da, %da, %o;
        mov.u32 %at, sb;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        ld.param.u64 %o, [of_b];
        or.b64 %db, %db, %o;
        mov.u32 %at, 0x08020010;                         // f16 * f16 to f32, N = 8, M = 128
        setp.ne.u32 %p, %at, %at;
        tcgen05.mma.cta_group::1.kind::f16 [%tmem], %da, %db, %at, %p;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        tcgen05.fence::after_thread_sync;
        bar.sync 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra end;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 64;
      end:
        ret;
    }
}

/// A map of a matrix of `rows` rows of 64 f16. `piece`: bytes of a row of the box.
fn map(x: &[u16], swizzle: Swizzle, piece: u32) -> TensorMap<'_> {
    let (rows, columns) = (x.len() as u64 / 64, piece / 2);
    let map = TensorMap::tiled(x, ElementType::F16).dims([columns.into(), rows, 64 / u64::from(columns)]);
    let map = map.strides([128, piece.into()]).box_dims([columns, rows as u32, 64 / columns]);
    map.swizzle(swizzle).build().unwrap()
}

/// A swizzling mode of `wgmma`, the stride and the leading dimension byte offset.
fn descriptor(mode: u64, stride: u64, leading: u64) -> u64 {
    mode << 62 | stride >> 4 << 32 | leading >> 4 << 16
}

/// The same of `tcgen05`.
fn tensor_descriptor(mode: u64, stride: u64, leading: u64) -> u64 {
    mode << 61 | 1 << 46 | stride >> 4 << 32 | leading >> 4 << 16
}

/// The reports of a launch.
fn reports(result: Result<ptx_dsl::Report, Error>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(Error::Fault(fault)) => {
            assert!(matches!(fault.kind, FaultKind::MatrixLayout(_)), "{fault}");
            [fault.to_string()].into_iter().chain(fault.others.iter().map(ToString::to_string)).collect()
        }
        Err(other) => panic!("{other}"),
    }
}

fn contains(report: &str, all: &[&str]) {
    all.iter().for_each(|part| assert!(report.contains(part), "{part}: {report}"));
}

/// `wgmma` with A and B in these layouts.
fn product(host: &Host<Checked>, maps: [(Swizzle, u32); 2], descriptors: [u64; 2], rewrite: u32) -> Vec<String> {
    let (a, b) = (vec![0x3c00; 64 * 64], vec![0x3c00; 8 * 64]);
    let [a, b] = [(&a, maps[0]), (&b, maps[1])].map(|(x, (swizzle, piece))| map(x, swizzle, piece));
    let mut d = [0.0; 512];
    let args = (&a, &b, descriptors[0], descriptors[1], rewrite, &mut d[..]);
    let result = wgmma.launch(host, Launch::grid(1), args);
    assert!(d.iter().all(|v| *v == 16.0));
    reports(result)
}

#[test]
fn layouts_that_fit() {
    let host = Host::checked();
    for (swizzle, piece, [of_a, of_b]) in [
        (Swizzle::B128, 128, [descriptor(1, 1024, 16); 2]),
        (Swizzle::B64, 64, [descriptor(2, 512, 16); 2]),
        (Swizzle::B32, 32, [descriptor(3, 256, 16); 2]),
        // rows of 16 bytes: the next 16 bytes of a matrix are in the next 64 or 8 of them
        (Swizzle::None, 16, [descriptor(0, 128, 1024), descriptor(0, 0, 128)]),
    ] {
        assert!(product(&host, [(swizzle, piece); 2], [of_a, of_b], 0).is_empty(), "{swizzle:?}");
    }
}

#[test]
fn wgmma_with_another_swizzle() {
    let host = Host::checked();
    let (fits, map) = (descriptor(1, 1024, 16), (Swizzle::B128, 128));
    let [report] = &product(&host, [map; 2], [fits, descriptor(2, 512, 16)], 0)[..] else { panic!("one report") };
    contains(
        report,
        &[
            "B is read with 64-byte swizzling, and column 1 lies 64 bytes after column 0, but `cp.async.bulk.tensor.3d",
            "wrote it with 128-byte swizzling, in rows of 128 bytes: both are in row 0 of the box, at bytes 0 and 64",
            "PTX ISA 9.7.15.5.1",
            "swizzling mode 1 in bits 62-63 of the descriptor, or `Swizzle::B64` in the tensor map",
        ],
    );
    let both = product(&host, [(Swizzle::None, 128), (Swizzle::B64, 64)], [fits, fits], 0);
    assert_eq!(both.len(), 2, "{both:?}");
    contains(&both[0], &["A is read with 128-byte swizzling", "wrote it without swizzling", "swizzling mode 0"]);
    contains(&both[1], &["B is read with 128-byte swizzling", "wrote it with 64-byte swizzling", "swizzling mode 2"]);
    assert!(
        product(&host.clone().any_layout(), [(Swizzle::None, 128), (Swizzle::B64, 64)], [fits, fits], 0).is_empty()
    );
    // what threads have stored may have any layout
    assert!(product(&host, [(Swizzle::None, 128), map], [fits, fits], 1).is_empty());
}

#[test]
fn rows_of_a_box_as_lines_of_a_matrix() {
    let plain = descriptor(0, 128, 1024);
    let [report] = &product(
        &Host::checked(),
        [(Swizzle::None, 128), (Swizzle::B128, 128)],
        [plain, descriptor(1, 1024, 0)],
        0,
    )[..] else {
        panic!("one report")
    };
    contains(
        report,
        &[
            "A is read without swizzling, and row 1 lies 16 bytes after row 0, but `cp.async.bulk.tensor.3d",
            "wrote it without swizzling, in rows of 128 bytes: both are in row 0 of the box, at bytes 0 and 16",
            "`Swizzle::B128` in the tensor map and swizzling mode 1",
        ],
    );
}

#[test]
fn strides_that_are_too_short() {
    let map = (Swizzle::B128, 128);
    let [report] = &product(&Host::checked(), [map; 2], [descriptor(1, 512, 0), descriptor(1, 64, 0)], 0)[..] else {
        panic!("one report: B has one atom")
    };
    contains(
        report,
        &[
            "with a stride dimension byte offset of 512, ",
            " of A are the same bytes of shared memory",
            "an atom has 1024 bytes",
        ],
    );
}

/// A line of a convolution begins some pieces after the one before it, and has the same bytes at other places of k. A whole line twice is
/// a mistake.
#[test]
fn lines_that_overlap() {
    let map = (Swizzle::None, 16);
    let whole = descriptor(0, 128, 1024);
    for leading in [16, 48, 112] {
        let of_b = descriptor(0, 128, leading);
        assert!(product(&Host::checked(), [map; 2], [whole, of_b], 0).is_empty(), "{leading}");
        assert!(product(&Host::checked(), [map; 2], [of_b, of_b], 0).is_empty(), "{leading}");
    }
    let [report] = &product(&Host::checked(), [map; 2], [descriptor(0, 64, 1024), descriptor(0, 128, 16)], 0)[..]
    else {
        panic!("one report")
    };
    contains(report, &["bytes 0 to 15 of row 4 and bytes 0 to 15 of row 8 of A are the same bytes"]);
}

#[test]
fn tcgen05_with_another_swizzle() {
    let (a, b) = (vec![0x3c00; 128 * 64], vec![0x3c00; 8 * 64]);
    let run = |swizzles: [Swizzle; 2], descriptors: [u64; 3]| {
        let [a, b] = [(&a, swizzles[0]), (&b, swizzles[1])].map(|(x, swizzle)| map(x, swizzle, 128));
        let [of_a, of_b, of_copy] = descriptors;
        reports(tcgen05.launch(&Host::checked(), Launch::grid(1), (&a, &b, of_a, of_b, of_copy)))
    };
    let fits = tensor_descriptor(2, 1024, 16);
    assert!(run([Swizzle::B128; 2], [fits; 3]).is_empty());
    let all = run([Swizzle::B128, Swizzle::None], [tensor_descriptor(6, 256, 16), fits, tensor_descriptor(4, 512, 16)]);
    assert_eq!(all.len(), 3, "{all:?}");
    contains(&all[0], &["the matrix is read with 64-byte swizzling", "tcgen05.cp", "swizzling mode 2 in bits 61-63"]);
    contains(&all[1], &["A is read with 32-byte swizzling", "PTX ISA 9.7.16.3", "swizzling mode 2 in bits 61-63"]);
    contains(&all[2], &["B is read with 128-byte swizzling", "without swizzling: for bytes 0 to 15 of column 1"]);
}

#[test]
fn ldmatrix_of_a_box() {
    let x: Vec<u16> = (0..32 * 64).collect();
    let run = |swizzle, exchange| {
        let (map, mut d) = (
            TensorMap::tiled(&x, ElementType::U16).dims([64, 32]).box_dims([64, 32]).swizzle(swizzle).build().unwrap(),
            [0; 128],
        );
        let result = ldmatrix.launch(&Host::checked(), Launch::grid(1), (&map, exchange, &mut d[..]));
        let reports = reports(result);
        // lane 4 has row 1 of each matrix
        assert_eq!(reports.is_empty(), d[16] == 0x0041_0040, "{swizzle:?} {exchange:#x}");
        reports
    };
    for (swizzle, exchange) in [(Swizzle::B128, 0x70), (Swizzle::None, 0)] {
        assert!(run(swizzle, exchange).is_empty(), "{swizzle:?}");
    }
    let [report] = &run(Swizzle::B128, 0)[..] else { panic!("one report") };
    contains(
        report,
        &[
            "row 0 of matrix 0 begins at byte 0 of row 0 of a box, and row 1 at byte 16 of row 1, but `cp.async.bulk.tensor.2d",
            "wrote it with 128-byte swizzling",
            "XOR bits 4-6 with bits 7-9 in the address of each row",
        ],
    );
    let [report] = &run(Swizzle::None, 0x70)[..] else { panic!("one report") };
    contains(report, &["wrote it without swizzling", "`Swizzle::B128` into the tensor map"]);
}
