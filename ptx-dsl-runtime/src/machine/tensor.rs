//! Asynchronous operations on Tensor Memory: `tcgen05.mma`, `.cp` and `.shift` (PTX ISA 9.7.16.6).
//!
//! An instruction decodes its operands, makes a [`TensorJob`] of them and gives it to `Ctx::tensor_issue`. The job runs later,
//! when the scheduler wants, in an order that 9.7.16.6.2 allows.

use std::ops::Range;

use crate::fault::FaultKind;
use crate::mem::tmem::Tmem;

/// What an operation works on: a CTA.
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
    /// `tcgen05.cp` of shape `.4x256b`, the one that stays behind a `tcgen05.shift`.
    Cp4x256b,
    /// `tcgen05.shift`
    Shift,
}

/// A part of the Tensor Memory of one of the CTAs an operation works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// Which CTA, an index into the `ctas` of [`TensorJob::run`].
    pub cta: usize,
    /// Lanes.
    pub lanes: Range<usize>,
    /// Columns.
    pub columns: Range<usize>,
}

impl Area {
    /// Has this area a cell in common with the other, of the same CTA?
    pub fn meets(&self, lanes: &Range<usize>, columns: &Range<usize>) -> bool {
        let meet = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        meet(&self.lanes, lanes) && meet(&self.columns, columns)
    }
}

/// An operation under way: everything it took from registers when it was issued, decoded and checked as far as that goes.
pub trait TensorJob: std::fmt::Debug {
    /// Its queue.
    fn unit(&self) -> Unit;

    /// Does it, as late as the scheduler wants. `ctas` is the issuing CTA alone, or with `.cta_group::2` the pair, the even
    /// CTA first. Shared memory is read now: a kernel that writes it too early gets what it deserves.
    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind>;

    /// Of two `tcgen05.mma`: the same number means same accumulator, shape and kind, so that they stay in order
    /// (9.7.16.6.2). Other units have no use for it.
    fn pipeline(&self) -> u64 {
        0
    }

    /// What it reads of Tensor Memory, for the checked host.
    fn reads(&self) -> Vec<Area> {
        Vec::new()
    }

    /// What it writes of Tensor Memory, for the checked host. Nothing means: not known, anything of its CTAs.
    fn writes(&self) -> Vec<Area> {
        Vec::new()
    }

    /// What it reads of shared memory, for the checked host: index into `ctas`, and bytes, from the first to the last.
    fn operands(&self) -> Vec<(usize, Range<u32>)> {
        Vec::new()
    }

    /// The same without what lies between: exactly the bytes it reads.
    fn bytes(&self) -> Vec<(usize, Range<u32>)> {
        self.operands()
    }
}
