//! Control flow between emitted code and the driver: where threads go on, and what they wait for.

/// Number of a region. Regions are numbered in reverse postorder, so a join has a higher number than what leads to it.
pub type Pc = u16;

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
    /// Is it a wait at mbarrier objects, which may time out?
    pub(crate) fn can_time_out(&self) -> bool {
        matches!(self, Wait::Mbarrier(_) | Wait::Phase { .. })
    }

    /// Is it a rendezvous of the fragments of one warp?
    pub(crate) fn is_rendezvous(&self) -> bool {
        matches!(self, Wait::WarpSync { .. } | Wait::WholeWarp { .. })
    }
}
