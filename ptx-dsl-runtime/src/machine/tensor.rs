//! The interface of tensor core operations: `tcgen05.mma`, `.cp` and `.shift` (PTX ISA 9.7.16.6).
//!
//! An instruction decodes its operands into a [`TensorJob`] and passes it to `Ctx::tensor_issue`. The job runs later, at a time
//! that the scheduler chooses, in an order that 9.7.16.6.2 allows.

use std::ops::Range;

use crate::fault::FaultKind;
use crate::memory::tmem::{COLUMNS, LANES, Tmem};
use crate::observe::monitor::layout::SharedMatrix;

/// A CTA as an operation sees it.
#[derive(Debug)]
pub struct TensorCta<'a> {
    /// Its Tensor Memory.
    pub tmem: &'a mut Tmem,
    /// Its shared memory.
    pub shared: &'a [u8],
}

/// Which hardware queue an operation goes through; those of one queue stay in order where the manual says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `tcgen05.mma` and its variants.
    Mma,
    /// `tcgen05.cp`
    Cp,
    /// `tcgen05.cp` of shape `.4x256b`, the one that stays after a `tcgen05.shift`.
    Cp4x256b,
    /// `tcgen05.shift`
    Shift,
}

/// The pipeline of an operation: which others execute in the order of issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// The queue of the operation.
    pub unit: Unit,
    /// Operations of one unit with the same key execute in the order of issue.
    pub key: u64,
    /// `.cta_group::2`
    pub pair: bool,
}

impl Pipeline {
    /// That of an operation. `mma_in_order`: all `tcgen05.mma` share one.
    pub(crate) fn of(job: &dyn TensorJob, pair: bool, mma_in_order: bool) -> Pipeline {
        Pipeline { unit: job.unit(), key: if mma_in_order { 0 } else { job.pipeline() }, pair }
    }

    /// Does an operation that is issued later execute after this one (9.7.16.6.2)?
    pub(crate) fn precedes(&self, later: &Pipeline) -> bool {
        use Unit::*;
        let in_order = match (self.unit, later.unit) {
            (Mma, Mma) => self.key == later.key,
            (Cp | Cp4x256b | Shift, Mma) | (Mma, Cp | Cp4x256b | Shift) | (Shift, Cp4x256b) => true,
            (Cp | Cp4x256b, Cp | Cp4x256b | Shift) | (Shift, Cp | Shift) => false,
        };
        self.pair == later.pair && in_order
    }
}

/// A rectangle of Tensor Memory of one of the operation's CTAs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// Which CTA, an index into the `ctas` of [`TensorJob::run`].
    pub cta: usize,
    /// Lanes.
    pub lanes: Range<usize>,
    /// Columns.
    pub columns: Range<usize>,
    /// [`TensorArea::operand`](crate::observe::monitor::TensorArea::operand)
    pub operand: &'static str,
}

impl Area {
    /// All of the Tensor Memory of a CTA.
    pub(crate) fn whole(cta: usize) -> Area {
        Area { cta, lanes: 0..LANES, columns: 0..COLUMNS, operand: "" }
    }
}

/// An operation in flight: the operands that it read from registers when it was issued, decoded and checked.
pub trait TensorJob: std::fmt::Debug {
    /// The queue of the operation.
    fn unit(&self) -> Unit;

    /// How long it takes, in instructions of a warp.
    fn work(&self) -> u64 {
        64
    }

    /// Completes it. `ctas` is the issuing CTA, or with `.cta_group::2` the pair, the even CTA first. Shared memory is read only
    /// now, so a kernel that overwrites an operand too early gets wrong data, as on hardware.
    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind>;

    /// Equal for two `tcgen05.mma` of the same accumulator, shape and kind, which stay in order (9.7.16.6.2). Unused for other
    /// units.
    fn pipeline(&self) -> u64 {
        0
    }

    /// What it reads of Tensor Memory, for the checked host.
    fn reads(&self) -> Vec<Area> {
        Vec::new()
    }

    /// What it writes of Tensor Memory, for the checked host. Empty: unknown, it may write anything.
    fn writes(&self) -> Vec<Area> {
        Vec::new()
    }

    /// What it reads of shared memory, for the checked host: index into `ctas`, and bytes, from the first to the last.
    fn operands(&self) -> Vec<(usize, Range<u32>)> {
        Vec::new()
    }

    /// The matrices in shared memory that it reads with descriptors, for the checked host. Each CTA has them at the same offsets.
    fn matrices(&self) -> Vec<SharedMatrix> {
        Vec::new()
    }

    /// The same without gaps: exactly the bytes it reads.
    fn bytes(&self) -> Vec<(usize, Range<u32>)> {
        self.operands()
    }
}
