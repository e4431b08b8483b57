//! How an instruction orders memory accesses: its `.sem` and `.scope`, with the defaults of the manual (8.4, 8.5).

use crate::numerics::qual::{Q, q};
use ptx_dsl_isa::isa::effect::{Barrier, Fence, Issue, Mbarrier, Meeting};
use ptx_dsl_isa::opcode::Opcode;
use ptx_dsl_isa::scope::Scope;

/// The proxy that makes an access (8.6).
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// That of ordinary loads and stores.
    #[default]
    Generic,
    /// That of bulk copies, of `wgmma` and `tcgen05`, and of responses of cluster launch control.
    Async,
    /// That in which a tensor copy reads its tensor map.
    Tensormap,
}

/// Which accesses a proxy fence orders.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyFence {
    /// Those of the generic and the async proxy to shared or global memory, or both.
    Async {
        /// Those to shared memory.
        shared: bool,
        /// Those to global memory.
        global: bool,
    },
    /// Stores to a tensor map, for whoever acquires it.
    TensormapRelease,
    /// A tensor map that was released, for tensor copies.
    TensormapAcquire,
    /// Accesses of the generic proxy to shared memory, for whoever acquires them.
    AsyncRelease,
    /// What was released to the async proxy.
    AsyncAcquire,
    /// `mbarrier.init`, for the threads of the cluster. No proxy fence, but as restricted.
    MbarrierInit,
}

impl ProxyFence {
    /// That of an instruction.
    pub(crate) fn of(q: Q) -> Option<ProxyFence> {
        let shared = q.has(q::shared_cta) || q.has(q::shared_cluster);
        if q.has(q::tensormap_generic) {
            let acquires = q.has(q::acquire);
            return Some(if acquires { ProxyFence::TensormapAcquire } else { ProxyFence::TensormapRelease });
        }
        if q.has(q::_async) {
            return Some(ProxyFence::Async { shared: shared || !q.has(q::global), global: !shared });
        }
        if q.has(q::mbarrier_init) {
            return Some(ProxyFence::MbarrierInit);
        }
        let of_async = if q.has(q::acquire) { ProxyFence::AsyncAcquire } else { ProxyFence::AsyncRelease };
        q.has(q::async_generic).then_some(of_async)
    }
}

/// How an instruction orders memory accesses. The default is that of a weak one.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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
    pub(crate) fn of(opcode: Opcode, q: Q) -> Order {
        let Some(entry) = opcode.entries().next() else { return Order::default() };
        let effects = entry.instr.effects;
        let both = q.has(q::acq_rel) || q.has(q::sc);
        // these order only what `ProxyFence` says
        let restricted = q.has(q::mbarrier_init) || q.has(q::async_generic);
        let (acquire, release) = (both || q.has(q::acquire), both || q.has(q::release));
        let (acquire, release) = (acquire && !restricted, release && !restricted);
        let written = acquire || release || q.has(q::relaxed);
        let atomic = effects.memory.is_atomic();
        // proxy fences have another entry, and order nothing within the generic proxy unless they say so
        let fence = effects.fence == Fence::Memory && !q.has(q::proxy) && !restricted;
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
        } else if effects.barrier == Barrier::Cluster || !written && effects.mbarrier != Mbarrier::None {
            // the default of mbarrier operations is `.cta`, but compilers write none for those at objects of other CTAs
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
