//! What the macro emits for a kernel: the registers of a warp, and the function that runs its regions.

mod info;

pub use crate::flow::{Flow, Next, Pc, Wait};
pub use info::{KernelInfo, ParamInfo, Site};

use crate::lanes::Level;
use crate::{Ctx, Fault, Monitor};

/// A kernel as the macro emits it: the state of one warp, constants, and the function that runs its regions.
pub trait Kernel: 'static {
    /// The registers of one warp. Fragments of a warp share it, they own disjoint lanes.
    type Warp: Default + Clone + PartialEq;
    /// No register is read before it is written: a warp may start with what another one left.
    const FRESH: bool = false;
    /// Its regions are [`Piece`]s.
    const LARGE: bool = false;
    /// It is worth its time to compile the kernel for more than one instruction set even in a development build.
    const OPTIMISED: bool = false;
    /// What a launch has to know.
    const INFO: &'static KernelInfo;
    /// Are the registers equal that are read once for all warps of a cohort? Warps that differ in them stay apart.
    #[inline]
    fn agree(_: &Self::Warp, _: &Self::Warp) -> bool {
        true
    }
    /// Runs regions from `pc` on for the warps `warps` until they wait, part, end, or somebody else should have a turn.
    fn step<M: Monitor>(x: &mut Ctx<'_, M>, pc: Pc, warps: &mut [Self::Warp]) -> Result<Next, Box<Fault>>;
    /// The same, compiled for an instruction set: it is inlined into a function that has its features.
    #[inline(always)]
    fn step_at<M: Monitor, L: Level>(x: &mut Ctx<'_, M>, pc: Pc, warps: &mut [Self::Warp]) -> Result<Next, Box<Fault>> {
        Self::step::<M>(x, pc, warps)
    }
}

/// A region of a large kernel, for one warp.
pub trait Piece {
    /// The registers of a warp.
    type Warp;
    /// That of its [`Kernel`].
    const OPTIMISED: bool = false;
    /// Runs it for the lanes of `active`, which it changes, and gives where they go on.
    fn run<M: Monitor, L: Level>(x: &mut Ctx<'_, M>, w: &mut Self::Warp, active: &mut u32) -> Result<Pc, Box<Fault>>;
}
