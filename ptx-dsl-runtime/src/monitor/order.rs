//! How an instruction orders memory accesses: its `.sem` and `.scope`, with the defaults of the manual (8.4, 8.5).

use crate::qual::{Q, q};
use ptx_dsl_isa::isa::effect::{Barrier, Fence, Issue, Mbarrier, Meeting};
use ptx_dsl_isa::opcode::Opcode;

/// The threads with which an instruction synchronises (8.5), from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Scope {
    /// `.cta`
    #[default]
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    Sys,
}

impl Scope {
    /// As the manual writes it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Cta => ".cta",
            Scope::Cluster => ".cluster",
            Scope::Gpu => ".gpu",
            Scope::Sys => ".sys",
        }
    }
}

/// How an instruction orders memory accesses. The default is that of a weak one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Order {
    /// `.relaxed` or stronger, `.volatile`, atomic.
    pub strong: bool,
    /// It reads and writes in one operation.
    pub atomic: bool,
    /// `.acquire`, `.acq_rel`, `.sc`
    pub acquire: bool,
    /// `.release`, `.acq_rel`, `.sc`
    pub release: bool,
    /// `fence.sc` and `membar`, which is the same.
    pub sequential: bool,
    /// Of a strong one.
    pub scope: Scope,
    /// All threads of a warp execute it together: `.aligned`, `bar.sync`.
    pub aligned: bool,
}

impl Order {
    /// That of an instruction.
    pub fn of(opcode: Opcode, q: Q) -> Order {
        let Some(entry) = opcode.entries().next() else { return Order::default() };
        let effects = entry.instr.effects;
        let both = q.has(q::acq_rel) || q.has(q::sc);
        let (acquire, release) = (both || q.has(q::acquire), both || q.has(q::release));
        let written = acquire || release || q.has(q::relaxed);
        let atomic = effects.memory.is_atomic();
        let fence = effects.fence == Fence::Memory;
        let arrives = matches!(effects.mbarrier, Mbarrier::Arrive | Mbarrier::Drop)
            || (effects.barrier == Barrier::Cluster && effects.meeting == Meeting::Arrive);
        let waits = effects.mbarrier == Mbarrier::Wait
            || (effects.barrier == Barrier::Cluster && effects.meeting == Meeting::Wait);
        let system = q.has(q::sys) || ((q.has(q::volatile) || q.has(q::mmio)) && !atomic);
        let scope = if system {
            Scope::Sys
        } else if q.has(q::gpu) || q.has(q::gl) {
            Scope::Gpu
        } else if q.has(q::cluster) {
            Scope::Cluster
        } else if q.has(q::cta) {
            Scope::Cta
        } else if atomic || fence {
            Scope::Gpu
        } else if effects.barrier == Barrier::Cluster {
            Scope::Cluster
        } else {
            Scope::Cta
        };
        Order {
            strong: written || atomic || fence || arrives || waits || q.has(q::volatile) || q.has(q::mmio),
            atomic,
            acquire: acquire || (!written && (fence || waits)),
            release: release || (!written && (fence || arrives)),
            // `membar` has no `.sem`
            sequential: q.has(q::sc) || (fence && !written),
            scope,
            aligned: q.has(q::aligned) || matches!(effects.issue, Issue::Warp | Issue::FullWarp),
        }
    }
}
