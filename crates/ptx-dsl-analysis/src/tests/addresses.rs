//! Provenance of addresses, and regions.

use super::*;
use crate::provenance::{AddressBase, Provenance, ValueSource};
use crate::region::{Region, columns, region};
use ptx_dsl_isa::hir::Space;
use ptx_dsl_isa::opcode::op;

#[test]
fn a_shared_variable_with_offsets() {
    let flow = flow(
        "",
        "mov.u64 %rd1, sh;\nadd.u64 %rd2, %rd1, 16;\ncvta.shared.u64 %rd3, %rd2;\nand.b64 %rd4, %rd1, -64;\nand.b64 %rd5, %rd1, 63;\nld.param.u64 %rd6, [w];\nadd.u64 %rd7, %rd1, %rd5;\nret;",
    );
    let provenance = Provenance::new(&flow);
    let of = |at: u32| provenance.sources[written(&flow, at) as usize];
    let address = |at| match of(at) {
        ValueSource::Address(a) => a,
        other => panic!("{other:?}"),
    };
    assert_eq!((address(0).space, address(0).generic, address(0).offset), (Space::Shared, false, Some(0)));
    assert_eq!(address(1).offset, Some(16));
    assert!(address(2).generic && address(2).by == 2 && address(2).offset == Some(16));
    // Rounded down, it still points into the variable; the low bits alone are a number.
    assert_eq!((address(3).base, address(3).offset), (address(0).base, None));
    assert_eq!(of(4), ValueSource::Index);
    assert_eq!((address(5).base, address(5).space, address(5).generic), (AddressBase::Pointer(2), Space::Global, true));
    assert_eq!((address(6).base, address(6).offset), (address(0).base, None));
}

#[test]
fn an_address_of_another_cta() {
    let flow = flow(
        ".reqnctapercluster 2",
        "mov.u64 %rd1, sh;\nmov.u32 %r1, %cluster_ctarank;\nmapa.shared::cluster.u64 %rd2, %rd1, 1;\nmapa.shared::cluster.u64 %rd3, %rd1, %r1;\nret;",
    );
    let provenance = Provenance::new(&flow);
    let mapped = |at| provenance.address(written(&flow, at)).map(|a| (a.mapped, a.offset));
    assert_eq!((mapped(2), mapped(3)), (Some((true, Some(0))), Some((false, Some(0)))));
}

#[test]
fn a_join_keeps_what_both_sides_have_in_common() {
    let flow = flow(
        "",
        "mov.u64 %rd1, sh;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u64 %rd1, bar;\nA:\nst.shared.u32 [%rd1], %r2;\nret;",
    );
    let provenance = Provenance::new(&flow);
    let a = provenance.address(read(&flow, first(&flow, op::st), "%rd1")).expect("an address");
    assert_eq!((a.space, a.base, a.offset), (Space::Shared, AddressBase::None, None));
}

/// The regions of the stores of a kernel.
fn stores(flow: &Flow) -> Vec<Region> {
    let provenance = Provenance::new(flow);
    let stores = flow.walk().filter(|(_, _, i)| i.opcode == op::st);
    let region =
        |(_, at, i): (_, u32, &ptx_dsl_isa::hir::Instr)| region(flow, &provenance, at, i.address()?, i.bytes());
    stores.map(|store| region(store).expect("a region")).collect()
}

#[test]
fn overlap_of_regions() {
    let flow = flow(
        "",
        "mul.wide.u32 %rd9, %r1, 4;\nmov.u64 %rd1, sh;\nadd.u64 %rd2, %rd1, %rd9;\nst.shared.v2.u32 [sh+8], {%r1, %r2};\nst.shared.u32 [%rd1+12], %r1;\nst.shared.u32 [sh+16], %r1;\nst.shared.u32 [%rd2], %r1;\nst.shared.u32 [%rd2+4], %r1;\nst.shared.u32 [%rd2], %r1;\nret;",
    );
    let list = stores(&flow);
    assert_eq!((list[0].bytes, list[1].bytes), (Some((8, 16)), Some((12, 16))));
    assert!(list[0].overlaps(&flow, &list[1]) && !list[0].overlaps(&flow, &list[2]));
    assert!(!list[1].overlaps(&flow, &list[2]) && !list[1].may_overlap(&list[2]));
    // An unknown offset may be any; the same value with the same constant is the same address.
    assert!(list[3].may_overlap(&list[0]) && !list[3].overlaps(&flow, &list[0]));
    assert!(list[3].overlaps(&flow, &list[5]) && !list[3].overlaps(&flow, &list[4]));
}

#[test]
fn columns_of_tensor_memory() {
    let flow = flow(
        "",
        "ld.shared.u32 %r1, [sh];\nadd.u32 %r2, %r1, 32;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r2];\ntcgen05.wait::ld.sync.aligned;\nret;",
    );
    let ld = 2;
    let operand = flow.instr(ld).value("taddr").expect("an address");
    assert_eq!(columns(&flow, ld, operand), Some((written(&flow, 0), 32)));
}
