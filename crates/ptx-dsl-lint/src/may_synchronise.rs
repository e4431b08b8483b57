//! Predicates for "may this instruction synchronise threads", on the attributes of the table entry: barriers, mbarriers, atomic
//! operations, fences and calls. Rules differ in how cautious they must be, so there is one predicate for each question.

use ptx_dsl_analysis::accesses::{mbarrier_wait, value_access};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Barrier, Control, Fence, Group, Issue, Mbarrier, Meeting, MemoryOp, Proxy, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// May the instruction synchronise threads, or order memory for them? What others did before is then taken for done.
pub(crate) fn may_synchronise(i: &Instr) -> bool {
    let effects = i.entry.effects;
    effects.barrier != Barrier::None
        || effects.issue == Issue::Lanes
        || effects.fence != Fence::None
        || effects.control == Control::Call
        || i.opcode == op::griddepcontrol
        || value_access(i).is_atomic()
        || reads_strongly(i)
        || mbarrier_wait(i)
}

/// May the instruction synchronise threads of different warps?
pub(crate) fn may_synchronise_warps(i: &Instr) -> bool {
    let effects = i.entry.effects;
    matches!(effects.barrier, Barrier::Cta | Barrier::Cluster)
        || effects.mbarrier != Mbarrier::None
        || matches!(effects.group, Group::Copy(_) | Group::Bulk(_))
        || effects.fence != Fence::None
        || effects.control == Control::Call
        || matches!(i.opcode, op::cp_async_mbarrier_arrive | op::griddepcontrol)
        || value_access(i).is_atomic()
        || i.order().is_strong()
}

/// May the instruction synchronise threads of the CTA, or tell them of a phase?
pub(crate) fn may_synchronise_cta(i: &Instr) -> bool {
    i.entry.effects.barrier != Barrier::None
        || i.entry.effects.mbarrier != Mbarrier::None
        || i.entry.effects.issue == Issue::Lanes
        || i.entry.effects.control == Control::Call
}

/// Does the instruction wait for other threads, at a barrier or for an mbarrier?
pub(crate) fn waits_for_threads(i: &Instr) -> bool {
    i.entry.effects.barrier != Barrier::None || mbarrier_wait(i)
}

/// May the instruction wait for another CTA of the cluster?
pub(crate) fn may_wait_for_cta(i: &Instr) -> bool {
    let effects = i.entry.effects;
    (effects.barrier == Barrier::Cluster && effects.meeting == Meeting::Wait)
        || mbarrier_wait(i)
        || effects.control == Control::Call
        || effects.tensor == Tensor::Alloc
        || i.opcode == op::griddepcontrol
        || value_access(i) == MemoryOp::Atomic
        || (value_access(i) == MemoryOp::Load && i.order().is_strong())
}

/// May the instruction tell another CTA of the cluster that something is done?
pub(crate) fn may_signal_cta(i: &Instr) -> bool {
    let effects = i.entry.effects;
    let asynchronous = effects.asynchronous && effects.proxy == Proxy::Generic && effects.memory.stores();
    let access = value_access(i);
    effects.barrier == Barrier::Cluster
        || matches!(effects.mbarrier, Mbarrier::Arrive | Mbarrier::Drop | Mbarrier::Wait)
        || effects.tensor != Tensor::None
        || matches!(effects.group, Group::Copy(_) | Group::Bulk(_))
        || effects.fence != Fence::None
        || effects.control == Control::Call
        || i.opcode == op::cp_async_mbarrier_arrive
        || asynchronous
        || access.is_atomic()
        || (access != MemoryOp::None && i.order().is_strong())
}

/// Is it a load that may read what another thread has just written?
fn reads_strongly(i: &Instr) -> bool {
    value_access(i) == MemoryOp::Load && i.order().is_strong()
}

/// May the instruction let a thread of a CTA of `threads` threads see what another thread initialised?
pub(crate) fn may_receive_init(i: &Instr, threads: usize) -> bool {
    let effects = i.entry.effects;
    effects.barrier != Barrier::None
        || mbarrier_wait(i)
        || effects.control == Control::Call
        || i.opcode == op::match_
        || (i.opcode == op::griddepcontrol && i.has(q::wait))
        || (effects.issue == Issue::Lanes && threads <= 32)
        || value_access(i).is_atomic()
        || reads_strongly(i)
}

/// May another thread have initialised an object again once the instruction is done?
pub(crate) fn may_follow_reinit(i: &Instr) -> bool {
    i.entry.effects.barrier != Barrier::None
        || i.entry.effects.issue == Issue::Lanes
        || i.entry.effects.control == Control::Call
        || value_access(i).returns()
}
