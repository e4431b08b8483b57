//! Predicates on `tcgen05` instructions.

use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Meeting, Tensor};
use ptx_dsl_isa::qualifier::q;

/// More accesses than this are not followed: generated code of such a size would cost seconds.
pub(crate) const MOST: usize = 96;

/// Does its table entry have this Tensor Memory role?
pub(crate) fn has_role(i: &Instr, tensor: Tensor) -> bool {
    i.entry.effects.tensor == tensor
}

/// `tcgen05.wait::st`
pub(crate) fn waits_for_stores(i: &Instr) -> bool {
    has_role(i, Tensor::Wait) && i.has(q::st)
}

pub(crate) fn fences_before(i: &Instr) -> bool {
    has_role(i, Tensor::Fence) && i.has(q::before_thread_sync)
}

pub(crate) fn fences_after(i: &Instr) -> bool {
    has_role(i, Tensor::Fence) && i.has(q::after_thread_sync)
}

/// Does it arrive at a barrier that other threads wait for?
pub(crate) fn signals(i: &Instr) -> bool {
    matches!(i.entry.effects.meeting, Meeting::Arrive | Meeting::Both)
}
