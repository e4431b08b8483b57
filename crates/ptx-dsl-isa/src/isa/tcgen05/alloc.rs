//! Allocation of Tensor Memory: manual 9.7.16.7.

use super::*;
use crate::written;

/// Columns, in units of 32 (9.7.16.7.1).
const COLUMNS: OperandSpec = src("nCols", ty(Ty::U32)).range(32, 512);
/// One allocation of any number of units; up to 576 columns on `sm_107f`.
const ALL_COLUMNS: OperandSpec = src("nCols", ty(Ty::U32)).range(32, 576);
/// The place for the address of the allocation.
const DST: OperandSpec = addr("dst", writes(Size::Bytes(4)).shared().own_cta()).align(4);
const TADDR: OperandSpec = src("taddr", ty(Ty::U32));
const RULES: &[Rule] = &[Rule::Custom(power_of_two)];
const EXCLUSIVE: &[Rule] = &[Rule::Custom(units)];

fn constant(i: &written::Written) -> Option<(usize, u64)> {
    let at = i.position("nCols")?;
    match i.operands[at].value {
        written::Operand::Imm(n) => Some((at, n)),
        _ => None,
    }
}

fn power_of_two(i: &written::Written) -> Option<Violation> {
    let (at, n) = constant(i)?;
    (!n.is_power_of_two()).then(|| {
        let text = format!("the number of columns is a power of two from 32 to 512, not {n}");
        Violation::of_operand(at, text).write(n.clamp(32, 512).next_power_of_two())
    })
}

fn units(i: &written::Written) -> Option<Violation> {
    let (at, n) = constant(i)?;
    let text = "the number of columns is a multiple of 32";
    (!n.is_multiple_of(32)).then(|| Violation::of_operand(at, text))
}

/// The family's allocation instructions.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("tcgen05.alloc").section("9.7.16.7.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols;
             .cta_group = { .cta_group::1, .cta_group::2 }",
        )
        .operands(&[DST, COLUMNS])
        .rules(RULES)
        .host(ALLOC).tensor(Tensor::Alloc),
    instr("tcgen05.alloc").section("9.7.16.7.1").since(NEW).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.alloc.exclusive.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols;
             .cta_group = { .cta_group::1, .cta_group::2 }",
        )
        .operands(&[DST, ALL_COLUMNS])
        .rules(EXCLUSIVE)
        .host(ALLOC).tensor(Tensor::Alloc),
    instr("tcgen05.dealloc").section("9.7.16.7.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, nCols;
             .cta_group = { .cta_group::1, .cta_group::2 }",
        )
        .operands(&[TADDR, COLUMNS])
        .rules(RULES)
        .host(DEALLOC).tensor(Tensor::Dealloc),
    instr("tcgen05.dealloc").section("9.7.16.7.1").since(NEW).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.dealloc.exclusive.cta_group.sync.aligned.b32 taddr, nCols;
             .cta_group = { .cta_group::1, .cta_group::2 }",
        )
        .operands(&[TADDR, ALL_COLUMNS])
        .rules(EXCLUSIVE)
        .host(DEALLOC).tensor(Tensor::Dealloc),
    instr("tcgen05.relinquish_alloc_permit").section("9.7.16.7.1").since(SINCE).requires(TENSOR_MEMORY)
        .syntax(
            "tcgen05.relinquish_alloc_permit.cta_group.sync.aligned;
             .cta_group = { .cta_group::1, .cta_group::2 }",
        )
        .host(RELINQUISH).tensor(Tensor::Relinquish),
];
