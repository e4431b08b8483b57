//! The traits that emitted code implements: a kernel, its compiled code, and the regions of a large one.

use super::Compiled;
use crate::fault::Fault;
use crate::kernel::{KernelInfo, Next, Pc};
use crate::machine::Ctx;
use crate::numerics::lanes::Level;

/// A kernel: constants for the launch, the image for the interpreter among them, and its compiled code if there is any.
pub trait Kernel: 'static {
    /// Constants for the launch.
    const INFO: &'static KernelInfo<'static>;
    /// The compiled code of the kernel. An unoptimised crate has none, unless its kernels say `compiled`.
    fn compiled() -> Option<Compiled> {
        None
    }
}

/// The compiled code of a kernel: the registers of a warp, and the function that runs its regions.
pub trait CompiledKernel: 'static {
    /// The registers of one warp. Fragments of a warp own disjoint lanes of it.
    type Warp: Default + Clone + PartialEq;
    /// Whether each register is written before it is read, so that a warp may start with the values of another.
    const FRESH: bool = false;
    /// Whether the regions of the kernel are [`Piece`]s.
    const LARGE: bool = false;
    /// The kernel's crate is optimised, so a development build compiles the kernel for more than one instruction set too.
    const OPTIMISED: bool = false;
    /// A label or description per region.
    const REGIONS: &'static [&'static str] = &[];
    /// Whether the cohort-uniform registers of two warps are equal. Warps that differ in them do not merge.
    #[inline]
    fn agree(_: &Self::Warp, _: &Self::Warp) -> bool {
        true
    }
    /// The return address of a function, given by the function's address, in a lane of a warp.
    fn returns_to(_: &Self::Warp, _function: u64, _lane: usize) -> Option<u64> {
        None
    }
    /// The values that calls of recursive functions have saved in a lane, the innermost last.
    fn saved(_: &Self::Warp, _lane: usize) -> &[u64] {
        &[]
    }
    /// The number of values that a call saves for a recursive caller, given by its address, and which of them is the caller's own return
    /// address.
    fn saves(_function: u64) -> Option<(usize, usize)> {
        None
    }
    /// The statement to which a return address of a function belongs, given by the function's address.
    fn call_of(_function: u64, _back: u64) -> Option<u32> {
        None
    }
    /// Runs regions from `pc` on for the warps `warps`, until they wait, diverge or exit, or their turn is over.
    fn step(x: &mut Ctx<'_>, pc: Pc, warps: &mut [Self::Warp]) -> Result<Next, Box<Fault>>;
    /// Runs [`CompiledKernel::step`] for an instruction set: it is inlined into a `#[target_feature]` function.
    #[inline(always)]
    fn step_at<L: Level>(x: &mut Ctx<'_>, pc: Pc, warps: &mut [Self::Warp]) -> Result<Next, Box<Fault>> {
        Self::step(x, pc, warps)
    }
}

/// A region of a large kernel, for one warp.
pub trait Piece {
    /// The registers of a warp.
    type Warp;
    /// The value of [`CompiledKernel::OPTIMISED`] for the kernel of the region.
    const OPTIMISED: bool = false;
    /// Runs it for the lanes of `active`. Returns the next region, and in `active` the lanes that go on there.
    fn run<L: Level>(x: &mut Ctx<'_>, w: &mut Self::Warp, active: &mut u32) -> Result<Pc, Box<Fault>>;
}
