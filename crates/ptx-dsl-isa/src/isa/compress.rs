//! Sparse matrices in registers, PTX ISA 9.4: `spcompress` and `spdecompress`.
//!
//! `.sp::2:4` keeps two of four elements; the metadata say which two. `.num` counts registers of kept elements (`spcompress`) or
//! groups of elements (`spdecompress`).

use super::*;
use crate::written;

/// Bits of an element, bits of an index, `.num`.
fn sizes(quals: &[Qualifier]) -> [u32; 3] {
    let element = if quals.contains(&q::b16) { 16 } else { 8 };
    let index = if quals.contains(&q::b4) { 4 } else { 2 };
    let num = match written::after(quals, ".x") {
        Some(num) => num.parse().unwrap_or(1),
        None => 1,
    };
    [element, index, num]
}

/// The number of kept elements, and of elements of a group.
fn factor(quals: &[Qualifier]) -> [u32; 2] {
    match written::after(quals, ".sp::") {
        Some(numbers) => factor_of(numbers).unwrap_or([2, 4]),
        None => [2, 4],
    }
}

fn factor_of(numbers: &str) -> Option<[u32; 2]> {
    let (kept, all) = numbers.split_once(':')?;
    Some([kept.parse().ok()?, all.parse().ok()?])
}

fn registers(bits: u32) -> (Ty, u32) {
    (Ty::B32, bits.div_ceil(32).max(1))
}

fn compressed(quals: &[Qualifier]) -> (Ty, u32) {
    (Ty::B32, sizes(quals)[2])
}
fn whole(quals: &[Qualifier]) -> (Ty, u32) {
    (Ty::B32, sizes(quals)[2] * 2)
}
fn indices(quals: &[Qualifier]) -> (Ty, u32) {
    let [element, index, num] = sizes(quals);
    registers(num * 32 / element * index)
}
fn expanded(quals: &[Qualifier]) -> (Ty, u32) {
    registers(factor(quals)[1] * sizes(quals)[0] * sizes(quals)[2])
}
fn kept(quals: &[Qualifier]) -> (Ty, u32) {
    registers(factor(quals)[0] * sizes(quals)[0] * sizes(quals)[2])
}
fn metadata(quals: &[Qualifier]) -> (Ty, u32) {
    registers(factor(quals)[0] * sizes(quals)[1] * sizes(quals)[2])
}

/// The requirements of a group on its indices, and the number of registers.
fn expands(i: &written::Written) -> Option<Violation> {
    let [element, index, num] = sizes(&i.quals);
    let [kept, all] = factor(&i.quals);
    let named = |prefix| i.quals.iter().copied().find(|q| q.after(prefix).is_some());
    let (factor, count) = (named(".sp::"), named(".x"));
    let (qualifier, wrong) = if all > 1 << index {
        (factor, format!("chooses of {all} elements, but an index of {index} bits of {}", 1 << index))
    } else if element == 16 && kept == 4 {
        (factor, "is for elements of 8 bits".to_owned())
    } else if all * element * num < 32 {
        (count, "is less than a register".to_owned())
    } else if expanded(&i.quals).1 > 128 {
        (count, "is more than 128 registers".to_owned())
    } else {
        return None;
    };
    Some(Violation::of_qualifier(qualifier?, format!("`{}` {wrong}", qualifier?)))
}

const RUBIN: Targets = Targets::Only(&[("sm_107a", Ptx(9, 4))]);

const UNKNOWN: Host = Host::NotYet("how it orders elements and metadata is not public");

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("spcompress").section("9.7.9").since(ptx(9, 4)).requires(RUBIN)
        .syntax(
            "spcompress.elemsize.idxsize.sp::2:4.num mdata, cdata, data, spdesc;
             .elemsize = { .b8, .b16 }
             .idxsize = { .b2, .b4 }
             .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64 }",
        )
        .operands(&[
            dst("mdata", OpTy::Fragment(indices)),
            dst("cdata", OpTy::Fragment(compressed)),
            src("data", OpTy::Fragment(whole)),
            src("spdesc", ty(Ty::B32)).reg(),
        ])
        .host(UNKNOWN),
    instr("spdecompress").section("9.7.9").since(ptx(9, 4)).requires(RUBIN)
        .syntax(
            "spdecompress.elemsize.idxsize.spfactor.num data, mdata, cdata;
             .elemsize = { .b8, .b16 }
             .idxsize = { .b2, .b4 }
             .spfactor = { .sp::1:2, .sp::1:4, .sp::1:8, .sp::1:16, .sp::2:4, .sp::2:8, .sp::2:16, .sp::4:8, .sp::4:16 }
             .num = { .x1, .x2, .x4, .x8, .x16, .x32, .x64 }",
        )
        .operands(&[
            dst("data", OpTy::Fragment(expanded)),
            src("mdata", OpTy::Fragment(metadata)),
            src("cdata", OpTy::Fragment(kept)),
        ])
        .rules(&[Rule::Custom(expands)])
        .host(UNKNOWN),
];
