//! Classes of instructions, for a mix of instructions: those of Nsight Compute (`smsp__sass_thread_inst_executed_op_*`), with barriers and
//! products of matrices for themselves.

use super::effect::{Barrier, Control, Fence, Group, Issue, Mbarrier, Meeting, MemoryOp, Tensor};
use super::entry::Instr;

/// The class of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum InstrClass {
    /// Computes numbers of the type that the instruction names. Logic, shifts and fields of bits are arithmetic of integers, as Nsight
    /// Compute counts them on an H200.
    Arithmetic,
    /// Converts values to another type, or addresses to another window.
    Conversion,
    /// Branches, calls, returns.
    Control,
    /// Loads, stores, atomic operations, copies, and what prepares them.
    Memory,
    /// Exchanges values between the lanes of a warp.
    Communication,
    /// Barriers, mbarrier objects, fences, groups of asynchronous operations.
    Synchronisation,
    /// Multiplies matrices.
    Matrix,
    /// Everything else: moves, special registers, hints.
    Other,
}

impl Instr {
    /// The class of the instruction: as its entry says, or else as its other effects do.
    pub fn class_in_mix(&self) -> InstrClass {
        let e = &self.effects;
        let synchronises = e.barrier != Barrier::None
            || e.meeting != Meeting::None
            || e.fence != Fence::None
            || !matches!(e.mbarrier, Mbarrier::None)
            || e.group != Group::None;
        match () {
            () if e.class.is_some() => e.class.unwrap_or(InstrClass::Other),
            () if e.control != Control::Next => InstrClass::Control,
            () if self.adds_products() || e.tensor == Tensor::Mma => InstrClass::Matrix,
            () if e.memory != MemoryOp::None => InstrClass::Memory,
            () if synchronises => InstrClass::Synchronisation,
            () if e.tensor != Tensor::None => InstrClass::Memory,
            () if e.issue != Issue::Thread => InstrClass::Communication,
            () => InstrClass::Arithmetic,
        }
    }
}
