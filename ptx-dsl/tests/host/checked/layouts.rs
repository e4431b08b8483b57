//! Layouts of tiles in shared memory that `stmatrix` has written, and types of tiles that tensor copies have, on the checked host.

use super::races::permissive;
use ptx_dsl::fault::{FaultKind, MatrixLayout};
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};
use ptx_dsl::{Arg, Checked, Error, Fault};

const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n";

/// The kernel `k` with one map of an output, then the bytes of that.
fn run(host: &Host<Checked>, text: &str, threads: u32, map: &TensorMap<'_>) -> Result<(), Box<Fault>> {
    let module = permissive().parse(&format!("{HEAD}{text}")).unwrap();
    let done = module.kernel("k").unwrap().launch_raw(host, Launch::grid(1).block(threads), &mut [Arg::from(map)]);
    match done {
        Ok(_) => Ok(()),
        Err(Error::Fault(fault)) => Err(fault),
        Err(other) => panic!("{text}\n{other}"),
    }
}

#[track_caller]
fn layout(done: Result<(), Box<Fault>>) -> (MatrixLayout, String) {
    let fault = done.expect_err("a finding");
    let FaultKind::MatrixLayout(layout) = &fault.kind else { panic!("{fault}") };
    ((**layout).clone(), fault.to_string())
}

/// Four matrices of 8 x 8 are stored as 8 rows of 64 bytes, then a copy stores the box. `exchange`: the bits of the number of the row that
/// exchange pieces, as with 64-byte swizzling, or none; `after`: what happens in between.
fn store(host: &Host<Checked>, swizzle: Swizzle, exchange: u32, after: &str) -> (Result<(), Box<Fault>>, Vec<u16>) {
    let text = format!(
        ".visible .entry k(.param .align 64 .b8 map[128]) .reqntid 32\n{{\n\
         .reg .pred %p; .reg .b32 %t, %row, %piece, %at, %x, %v<4>; .reg .b64 %map; .shared .align 1024 .b8 tile[512];\n\
         mov.u32 %t, %tid.x; and.b32 %row, %t, 7; shr.u32 %piece, %t, 3; shr.u32 %x, %row, 1; and.b32 %x, %x, {exchange};\n\
         xor.b32 %piece, %piece, %x; mov.u32 %at, tile; mad.lo.u32 %at, %row, 64, %at; mad.lo.u32 %at, %piece, 16, %at;\n\
         mad.lo.u32 %v0, %t, 0x20002, 0x10000; add.u32 %v1, %v0, 0x400040; add.u32 %v2, %v1, 0x400040; add.u32 %v3, %v2, 0x400040;\n\
         stmatrix.sync.aligned.m8n8.x4.shared.b16 [%at], {{%v0, %v1, %v2, %v3}}; {after}\n\
         fence.proxy.async.shared::cta; bar.sync 0; mov.b64 %map, map; cvta.param.u64 %map, %map; setp.eq.u32 %p, %t, 0;\n\
         @%p cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {{0, 0}}], [tile];\n\
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}}\n"
    );
    let mut out = vec![0u16; 8 * 32];
    let map = TensorMap::tiled(&mut out, ElementType::F16).dims([32, 8]).box_dims([32, 8]).swizzle(swizzle).build();
    let done = run(host, &text, 32, &map.unwrap());
    (done, out)
}

#[test]
fn a_box_of_stmatrix() {
    let host = Host::checked();
    // row r of matrix m is that of 64 m + 8 r and the next ones
    let wanted: Vec<u16> =
        (0..8).flat_map(|r| (0..4).flat_map(move |m| (0..8).map(move |c| 64 * m + 8 * r + c))).collect();
    for (swizzle, exchange) in [(Swizzle::B64, 3), (Swizzle::None, 0)] {
        let (done, out) = store(&host, swizzle, exchange, "");
        done.unwrap();
        assert_eq!(out, wanted);
    }
    let (done, out) = store(&host, Swizzle::B64, 0, "");
    let (found, report) = layout(done);
    assert_ne!(out, wanted);
    assert_eq!(found.operand, "the box");
    for text in [
        "the box is stored with 64-byte swizzling, so that row 0 of a matrix becomes bytes 0 to 15 of row 0 of the box",
        "and row 2 bytes 16 to 31 of row 2, but `stmatrix.sync",
        "wrote it as rows of one matrix",
        "`@%p cp.async.bulk.tensor.2d",
        "XOR bits 4-5 with bits 7-8 in the address of each row of `stmatrix`",
        "PTX ISA 9.7.14.5.16",
    ] {
        assert!(report.contains(text), "{text}\n{report}");
    }
    let (_, report) = layout(store(&host, Swizzle::None, 3, "").0);
    assert!(report.contains("stored without swizzling") && report.contains("exchange no pieces"), "{report}");
    store(&host.clone().any_layout(), Swizzle::B64, 0, "").0.unwrap();
    // what other stores have written over it may have any layout
    let rewrite = "bar.warp.sync -1; mov.u32 %at, tile; mad.lo.u32 %at, %t, 16, %at; st.shared.v4.u32 [%at], {%v0, %v1, %v2, %v3};";
    store(&host, Swizzle::B64, 0, rewrite).0.unwrap();
}

/// A of 64 x 16 f16, in rows of 128 bytes, comes from `stmatrix` in four warps (`exchange`: 7 with 128-byte swizzling), or from a tensor copy.
/// `wgmma` of this type reads it.
fn product(
    host: &Host<Checked>,
    ty: &str,
    element: ElementType,
    copied: bool,
    exchange: u32,
) -> Result<(), Box<Fault>> {
    let stored = format!(
        "mov.u32 %at, a; mad.lo.u32 %at, %t, 64, %at; mov.u32 %n, 0;\n\
         st.shared.v4.u32 [%at], {{%n, %n, %n, %n}}; st.shared.v4.u32 [%at+16], {{%n, %n, %n, %n}};\n\
         st.shared.v4.u32 [%at+32], {{%n, %n, %n, %n}}; st.shared.v4.u32 [%at+48], {{%n, %n, %n, %n}}; bar.sync 0;\n\
         and.b32 %row, %t, 7; shr.u32 %x, %t, 3; and.b32 %n, %x, 1; mad.lo.u32 %row, %n, 8, %row; shr.u32 %n, %t, 5;\n\
         mad.lo.u32 %row, %n, 16, %row; shr.u32 %piece, %x, 1; and.b32 %piece, %piece, 1; and.b32 %x, %row, {exchange};\n\
         xor.b32 %piece, %piece, %x; mov.u32 %at, a; mad.lo.u32 %at, %row, 128, %at; mad.lo.u32 %at, %piece, 16, %at;\n\
         stmatrix.sync.aligned.m8n8.x4.shared.b16 [%at], {{%t, %t, %t, %t}}; fence.proxy.async.shared::cta; bar.sync 0;\n"
    );
    let copy = "setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared::cta.b64 [full], 1; fence.proxy.async.shared::cta; bar.sync 0;\n\
         @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;\n\
         @%p cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [a], [%map, {0, 0}], [full];\n\
         wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0; @!%p bra wait;\n";
    let text = format!(
        ".visible .entry k(.param .align 64 .b8 map[128]) .reqntid 128\n{{\n\
         .reg .pred %p; .reg .b32 %t, %row, %piece, %at, %x, %n; .reg .b64 %map, %a, %b; .reg .f32 %d<4>;\n\
         .shared .align 1024 .b8 a[8192]; .shared .align 128 .b8 b[256]; .shared .align 8 .b64 full;\n\
         mov.b64 %map, map; cvta.param.u64 %map, %map; mov.u32 %t, %tid.x;\n\
         mov.u32 %at, b; and.b32 %n, %t, 63; mad.lo.u32 %at, %n, 4, %at; st.shared.u32 [%at], 0;\n{}\
         mov.u32 %at, a; shr.u32 %at, %at, 4; cvt.u64.u32 %a, %at; or.b64 %a, %a, 0x4000004000010000;\n\
         mov.u32 %at, b; shr.u32 %at, %at, 4; cvt.u64.u32 %b, %at; or.b64 %b, %b, 0x0000000000080000;\n\
         wgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n8k16.f32.{ty}.{ty} {{%d0, %d1, %d2, %d3}}, %a, %b, 0, 1, 1, 0, 0;\n\
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret;\n}}\n",
        if copied { copy } else { &stored },
    );
    let x = vec![0u16; 64 * 64];
    let map = TensorMap::tiled(&x, element).dims([64, 64]).box_dims([64, 64]).swizzle(Swizzle::B128).build();
    run(host, &text, 128, &map.unwrap())
}

#[test]
fn a_matrix_of_stmatrix() {
    let host = Host::checked();
    product(&host, "f16", ElementType::F16, false, 7).unwrap();
    let (found, report) = layout(product(&host, "f16", ElementType::F16, false, 0));
    assert_eq!(found.operand, "A");
    for text in [
        "A is read with 128-byte swizzling, so that row 0 of a stored matrix becomes bytes 0 to 15 of row 0",
        "and row 1 of a stored matrix becomes bytes 16 to 31 of row 1, but `stmatrix.sync",
        "XOR bits 4-6 with bits 7-9 in the address of each row of `stmatrix`",
        "PTX ISA 9.7.15.5.1",
    ] {
        assert!(report.contains(text), "{text}\n{report}");
    }
    product(&host.any_layout(), "f16", ElementType::F16, false, 0).unwrap();
}

#[test]
fn types_of_a_box() {
    let host = Host::checked();
    for (ty, element) in [
        ("f16", ElementType::F16),
        ("bf16", ElementType::Bf16),
        // a map for data of any type
        ("f16", ElementType::U16),
        ("bf16", ElementType::U16),
    ] {
        product(&host, ty, element, true, 0).unwrap();
    }
    for (ty, element, texts) in [
        (
            "f16",
            ElementType::Bf16,
            ["A is read as f16, but `@%p cp.async.bulk", "wrote it as bf16, by its tensor map", "`ElementType::F16`"],
        ),
        (
            "bf16",
            ElementType::F16,
            ["A is read as bf16, but `@%p cp.async.bulk", "wrote it as f16, by its tensor map", "`ElementType::Bf16`"],
        ),
    ] {
        let (_, report) = layout(product(&host, ty, element, true, 0));
        texts.iter().for_each(|text| assert!(report.contains(text), "{text}\n{report}"));
        product(&host.clone().any_layout(), ty, element, true, 0).unwrap();
    }
}
