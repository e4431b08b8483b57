//! What the macro emits: the description of a kernel and its regions.

use crate::lanes::Level;
use crate::{Ctx, Fault, Monitor};

/// Number of a region. Regions are numbered in reverse postorder, so a join has a higher number than what leads to it.
pub type Pc = u16;

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

/// How a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Go on at this region.
    Go(Pc),
    /// Warps or lanes part ways or wait; the parts are in the `Ctx`.
    Split,
    /// The threads end.
    Exit,
}

/// How a blocking instruction ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Flow {
    /// Done, its results are written.
    Next,
    /// Waits; the region is run again when the wait is over, with `Ctx::resumed`.
    Wait(Wait),
}

/// What threads wait for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wait {
    /// Barrier `id` of the CTA, until this generation is complete.
    Barrier {
        /// 0 to 15
        id: u32,
        /// counts completions
        generation: u32,
    },
    /// `barrier.cluster.wait` for this phase.
    Cluster {
        /// counts completions
        phase: u32,
    },
    /// Any of these mbarrier objects (CTA rank, offset, parity) completing the phase of that parity.
    Mbarrier(Vec<(u32, u32, u64)>),
    /// One of them, which is what nearly all waits are for.
    Phase {
        /// CTA rank
        rank: u32,
        /// in its shared memory
        offset: u32,
        /// of the phase
        parity: u64,
    },
    /// The live lanes of `members` of the own warp; with a `pc`, all at that region.
    WarpSync {
        /// membermask
        members: u32,
        /// region where all have to be, if that matters
        pc: Option<Pc>,
    },
    /// All live lanes of the own warp, for an instruction that the whole warp executes together.
    WholeWarp {
        /// region where all have to be
        pc: Pc,
    },
    /// An operation of the allocator of Tensor Memory.
    TensorMemory {
        /// with `.cta_group::2`
        pair: bool,
        /// which one
        ticket: u32,
    },
}

impl Wait {
    /// Is it a wait at mbarrier objects, which may end without them?
    pub(crate) fn gives_up(&self) -> bool {
        matches!(self, Wait::Mbarrier(_) | Wait::Phase { .. })
    }

    /// Is it decided for all fragments of the own warp together?
    pub(crate) fn is_rendezvous(&self) -> bool {
        matches!(self, Wait::WarpSync { .. } | Wait::WholeWarp { .. })
    }
}

/// What a launch has to know of a kernel.
#[derive(Debug)]
pub struct KernelInfo {
    /// Name of the `.entry`.
    pub name: &'static str,
    /// Rust file the kernel is written in.
    pub file: &'static str,
    /// Kernel parameters in order.
    pub params: &'static [ParamInfo],
    /// Static shared memory in bytes, a multiple of 16.
    pub shared_size: u32,
    /// Local memory in bytes per thread.
    pub local_size: u32,
    /// Initial bytes of the `.const` variables.
    pub const_image: &'static [u8],
    /// Initial bytes of the module's `.global` variables.
    pub global_image: &'static [u8],
    /// `.reqntid`
    pub reqntid: Option<[u32; 3]>,
    /// `.maxntid`
    pub maxntid: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub reqnctapercluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub maxclusterrank: Option<u32>,
    /// The module declares `.extern .shared`.
    pub uses_dynamic_shared: bool,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// `.target`
    pub target: &'static str,
    /// The PTX statements, by number.
    pub sites: &'static [Site],
    /// A label or description per region.
    pub regions: &'static [&'static str],
    /// Instructions the host cannot run, with their sites: the launch is an error naming the first.
    pub not_yet: &'static [(&'static str, u32)],
}

/// A kernel parameter.
#[derive(Debug)]
pub struct ParamInfo {
    /// As declared.
    pub name: &'static str,
    /// In parameter memory.
    pub offset: u32,
    /// In bytes.
    pub size: u32,
    /// In bytes.
    pub align: u32,
    /// `.ptr` with the alignment it promises.
    pub pointer: Option<u32>,
    /// Declared with a Rust type `&[T]`.
    pub read_only: bool,
}

/// A PTX statement.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The statement as printed.
    pub text: &'static str,
    /// Line in the printed PTX.
    pub line: u32,
    /// Line in the Rust file, 0 if unknown.
    pub rust_line: u32,
}
