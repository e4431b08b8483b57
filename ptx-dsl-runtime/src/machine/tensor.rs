//! The interface of tensor core operations: `tcgen05.mma`, `.cp` and `.shift` (PTX ISA 9.7.16.6).
//!
//! An instruction decodes its operands into a [`TensorJob`] and passes it to `TensorUnit::issue`. The job runs later, at a time
//! that the scheduler chooses, in an order that 9.7.16.6.2 allows.

use std::ops::Range;

use crate::fault::FaultKind;
use crate::machine::undefined::{SharedOperands, UndefinedWords};
use crate::memory::tmem::{COLUMNS, LANES, Tmem};
use crate::observe::probe::layout::{SharedMatrix, TensorProduct};
pub use crate::sync::tensor_pipeline::{Pipeline, Unit};

/// A CTA as an operation sees it.
#[derive(Debug)]
pub struct TensorCta<'a> {
    /// The Tensor Memory of the CTA.
    pub tmem: &'a mut Tmem,
    /// The shared memory of the CTA.
    pub shared: &'a [u8],
}

/// A rectangle of Tensor Memory of one of the operation's CTAs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The index of the CTA in the `ctas` of [`TensorJob::run`].
    pub cta: usize,
    /// Lanes.
    pub lanes: Range<usize>,
    /// Columns.
    pub columns: Range<usize>,
    /// [`TensorArea::operand`](crate::observe::monitor::TensorArea::operand)
    pub operand: &'static str,
}

impl Area {
    /// The whole Tensor Memory of a CTA.
    pub(crate) fn whole(cta: usize) -> Area {
        Area { cta, lanes: 0..LANES, columns: 0..COLUMNS, operand: "" }
    }
}

/// An operation in flight: the operands that it read from registers when it was issued, decoded and checked.
pub trait TensorJob: std::fmt::Debug {
    /// The queue of the operation.
    fn unit(&self) -> Unit;

    /// The pipeline of the operation. `mma_in_order`: all `tcgen05.mma` share one.
    fn pipeline(&self, pair: bool, mma_in_order: bool) -> Pipeline {
        Pipeline { unit: self.unit(), key: if mma_in_order { 0 } else { self.key() }, pair }
    }

    /// The duration of the operation, in instructions of a warp.
    fn work(&self) -> u64 {
        64
    }

    /// Completes it. `ctas` is the issuing CTA, or with `.cta_group::2` the pair, the even CTA first. Shared memory is read only
    /// now, so a kernel that overwrites an operand too early gets wrong data, as on hardware.
    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind>;

    /// Equal for two `tcgen05.mma` of the same accumulator, shape and kind, which stay in order (9.7.16.6.2). Unused for other
    /// units.
    fn key(&self) -> u64 {
        0
    }

    /// The areas of Tensor Memory that the operation reads, for the checked host.
    fn reads(&self) -> Vec<Area> {
        Vec::new()
    }

    /// The areas of Tensor Memory that the operation writes, for the checked host. Empty: unknown, the operation may write any.
    fn writes(&self) -> Vec<Area> {
        Vec::new()
    }

    /// The ranges of shared memory that the operation reads, for the checked host: index into `ctas`, and bytes, from the first to
    /// the last.
    fn operands(&self) -> Vec<(usize, Range<u32>)> {
        Vec::new()
    }

    /// The matrices in shared memory that it reads with descriptors, for the checked host. Each CTA has them at the same offsets.
    fn matrices(&self) -> Vec<SharedMatrix> {
        Vec::new()
    }

    /// The product of matrices that the operation computes, for profiles.
    fn product(&self) -> Option<TensorProduct> {
        None
    }

    /// The words of Tensor Memory that get undefined values because operands are undefined, for the checked host.
    fn undefined(&self, _: &mut dyn SharedOperands) -> Vec<UndefinedWords> {
        Vec::new()
    }

    /// The exact bytes of shared memory that the operation reads, without the gaps of [`operands`](Self::operands).
    fn bytes(&self) -> Vec<(usize, Range<u32>)> {
        self.operands()
    }
}
