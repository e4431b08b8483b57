//! Asynchronous operations on Tensor Memory: `tcgen05.mma`, `.cp`, `.shift` and `.commit` (PTX ISA 9.7.16.6).

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
    /// `tcgen05.shift`
    Shift,
}

/// An operation under way: everything it took from registers when it was issued, decoded and checked as far as that goes.
pub trait TensorJob: std::fmt::Debug {
    /// Its queue.
    fn unit(&self) -> Unit;
    /// Does it, as late as the scheduler wants. `ctas` is the issuing CTA alone, or with `.cta_group::2` the pair, the even
    /// CTA first. Shared memory is read now: a kernel that writes it too early gets what it deserves.
    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind>;
}
