//! Control flow between emitted code and the driver: where threads go on, and what they wait for.

/// Number of a region. The order is reverse postorder, so a join has a higher number than its predecessors.
pub type Pc = u16;

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Go on at this region.
    Go(Pc),
    /// Warps or lanes diverge or wait; the parts are in the `Ctx`.
    Split,
    /// The threads end.
    Exit,
}

/// The outcome of a blocking instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Flow {
    /// Done, its results are written.
    Next,
    /// Waits. When the wait is over the region runs again, with `Ctx::resumed`.
    Wait(Wait),
    /// Each of these groups of lanes waits by itself; the others are done. If the instruction has results, all lanes wait.
    WaitInGroups(Vec<(u32, Wait)>),
}

/// A condition that threads wait for.
///
/// [Example](crate::observe::monitor#events-and-synchronisations).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    /// A phase of one mbarrier object: the common case.
    Phase {
        /// CTA rank
        rank: u32,
        /// offset of the object in the shared memory of that CTA
        offset: u32,
        /// parity of the phase
        parity: u64,
    },
    /// The live lanes of `members` of the same warp; with a `pc`, all at that region.
    WarpSync {
        /// membermask
        members: u32,
        /// the region of the rendezvous; any if `None`
        pc: Option<Pc>,
        /// the instruction, if lanes that execute the same at other regions belong to the rendezvous too
        instruction: Option<u64>,
    },
    /// All live lanes of the same warp, for an instruction that the whole warp executes together.
    WholeWarp {
        /// the region of the rendezvous
        pc: Pc,
    },
    /// Registers for a warp of the CTA (`setmaxnreg.inc`).
    Registers {
        /// the warp
        warp: u32,
        /// number of registers of each thread after the increase
        count: u32,
    },
    /// Completion of this many wgmma-groups of each warp of the warpgroup.
    Warpgroup {
        /// number of groups committed since the CTA began
        groups: u64,
    },
    /// An operation of the allocator of Tensor Memory.
    TensorMemory {
        /// whether the operation has `.cta_group::2`
        pair: bool,
        /// the operation
        ticket: u32,
    },
}

impl Wait {
    /// Whether this is a wait at mbarrier objects, which may time out.
    pub(crate) fn can_time_out(&self) -> bool {
        matches!(self, Wait::Mbarrier(_) | Wait::Phase { .. })
    }

    /// Do lanes of a warp that wait for these two go on together?
    pub(crate) fn meets(&self, other: &Wait) -> bool {
        match (self, other) {
            (
                Wait::WarpSync { members, pc, instruction },
                Wait::WarpSync { members: of_other, pc: there, instruction: other },
            ) => members == of_other && (pc == there || instruction.is_some() && instruction == other),
            _ => self == other,
        }
    }

    /// Whether this is a rendezvous of the fragments of one warp.
    pub(crate) fn is_rendezvous(&self) -> bool {
        matches!(self, Wait::WarpSync { .. } | Wait::WholeWarp { .. })
    }
}
