//! Predicates for "may this instruction synchronise threads", on the attributes of the table entry: barriers, mbarriers, atomic
//! operations, fences and calls. Rules differ in how cautious they must be, so there is one predicate for each question.

use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Barrier, Group, Issue, Mbarrier, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// May the instruction synchronise threads, or order memory for them? What others did before is then taken for done.
pub(crate) fn may_synchronise(i: &Instr) -> bool {
    let op = i.opcode;
    i.entry.effects.barrier != Barrier::None
        || i.entry.effects.issue == Issue::Lanes
        || matches!(op, op::call | op::atom | op::red | op::griddepcontrol | op::match_ | op::fence | op::membar)
        || (op == op::ld && i.has_any(&[q::acquire, q::relaxed, q::volatile]))
        || mbarrier_wait(i)
}

/// May the instruction synchronise threads of different warps?
pub(crate) fn may_synchronise_warps(i: &Instr) -> bool {
    let op = i.opcode;
    matches!(i.entry.effects.barrier, Barrier::Cta | Barrier::Cluster)
        || i.entry.effects.mbarrier != Mbarrier::None
        || mbarrier_wait(i)
        || matches!(i.entry.effects.group, Group::Copy(_) | Group::Bulk(_))
        || op == op::cp_async_mbarrier_arrive
        || matches!(op, op::call | op::atom | op::red | op::fence | op::membar | op::griddepcontrol)
        || strong(i)
}

/// May the instruction synchronise threads of the CTA, or tell them of a phase?
pub(crate) fn may_synchronise_cta(i: &Instr) -> bool {
    i.entry.effects.barrier != Barrier::None
        || i.entry.effects.mbarrier != Mbarrier::None
        || i.entry.effects.issue == Issue::Lanes
        || i.opcode == op::call
}

/// Does the instruction wait for other threads, at a barrier or for an mbarrier?
pub(crate) fn waits_for_threads(i: &Instr) -> bool {
    i.entry.effects.barrier != Barrier::None || mbarrier_wait(i)
}

/// May the instruction wait for another CTA of the cluster?
pub(crate) fn may_wait_for_cta(i: &Instr) -> bool {
    let op = i.opcode;
    op == op::barrier_cluster_wait
        || mbarrier_wait(i)
        || matches!(op, op::call | op::atom | op::griddepcontrol | op::tcgen05_alloc)
        || (op == op::ld && i.has_any(&[q::acquire, q::relaxed, q::volatile, q::mmio]))
}

/// May the instruction tell another CTA of the cluster that something is done?
pub(crate) fn may_signal_cta(i: &Instr) -> bool {
    let op = i.opcode;
    i.entry.effects.barrier == Barrier::Cluster
        || matches!(i.entry.effects.mbarrier, Mbarrier::Arrive | Mbarrier::Drop)
        || i.entry.effects.tensor != Tensor::None
        || matches!(i.entry.effects.group, Group::Copy(_) | Group::Bulk(_))
        || op == op::cp_async_mbarrier_arrive
        || mbarrier_wait(i)
        || matches!(op, op::call | op::atom | op::red | op::st_async | op::red_async | op::fence | op::membar)
        || (matches!(op, op::st | op::ld) && i.has_any(&[q::acquire, q::release, q::relaxed, q::volatile, q::mmio]))
}

/// Is the access a strong operation?
pub(crate) fn strong(i: &Instr) -> bool {
    i.has_any(&[q::volatile, q::relaxed, q::acquire, q::release, q::mmio])
}

/// May the instruction let a thread of a CTA of `threads` threads see what another thread initialised?
pub(crate) fn may_receive_init(i: &Instr, threads: usize) -> bool {
    let op = i.opcode;
    i.entry.effects.barrier != Barrier::None
        || mbarrier_wait(i)
        || matches!(op, op::atom | op::red | op::call | op::griddepcontrol | op::match_)
        || (i.entry.effects.issue == Issue::Lanes && threads <= 32)
        || (op == op::ld && i.has_any(&[q::acquire, q::relaxed, q::volatile]))
}

/// May another thread have initialised an object again once the instruction is done?
pub(crate) fn may_follow_reinit(i: &Instr) -> bool {
    i.entry.effects.barrier != Barrier::None
        || i.entry.effects.issue == Issue::Lanes
        || matches!(i.opcode, op::call | op::atom | op::ld)
}
