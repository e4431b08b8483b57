//! Proxies, and the fences between them (8.6). The order of an instruction is
//! [`Order`](ptx_dsl_isa::meaning::order::Order).

use crate::numerics::qual::{Q, q};

/// The proxy that makes an access (8.6).
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// The proxy of ordinary loads and stores.
    #[default]
    Generic,
    /// The proxy of bulk copies, of `wgmma` and `tcgen05`, and of responses of cluster launch control.
    Async,
    /// The proxy in which a tensor copy reads its tensor map.
    Tensormap,
}

/// The accesses that a proxy fence orders.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyFence {
    /// Accesses of the generic and the async proxy to shared or global memory, or both.
    Async {
        /// Whether accesses to shared memory are ordered.
        shared: bool,
        /// Whether accesses to global memory are ordered.
        global: bool,
    },
    /// Stores to a tensor map, for whoever acquires it.
    TensormapRelease,
    /// A tensor map that was released, for tensor copies.
    TensormapAcquire,
    /// Accesses of the generic proxy to shared memory, for whoever acquires them.
    AsyncRelease,
    /// Accesses that were released to the async proxy.
    AsyncAcquire,
    /// `mbarrier.init`, for the threads of the cluster. No proxy fence, but as restricted.
    MbarrierInit,
}

impl ProxyFence {
    /// The proxy fence that an instruction is.
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
