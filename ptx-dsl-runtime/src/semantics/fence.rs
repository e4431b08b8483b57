//! `fence`, `fence.proxy` and `membar` (PTX ISA 9.7.13.4).
//!
//! One host thread is sequentially consistent with one view of memory, so a fence does nothing there. With several host threads
//! each fence is a full fence. A monitor learns what it orders.

use super::{Done, active, place};
use crate::fault::FaultKind;
use crate::machine::Ctx;
use crate::memory::address::{AddrSpace, Place};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::{ProxyFence, Sync};

/// `fence` with all its qualifiers; only `fence.proxy.tensormap::generic.acquire` has operands: `[addr], 128`.
#[inline]
pub fn fence(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    x.loads().fence();
    x.report_sync(Sync::Fence, x.mask)?;
    if let Some(fence) = ProxyFence::of(q) {
        x.report_sync(Sync::ProxyFence(fence), x.mask)?;
    }
    if !q.has(q::tensormap_generic) {
        return Ok(());
    }
    let Some(addr) = s.first() else { return Ok(()) };
    for l in active(x.mask) {
        if !matches!(place(x, AddrSpace::Generic, addr[l], l)?, Place::Global { .. }) {
            let wanted = "in global memory, where the tensor map of this fence must be".into();
            return Err(x.fault(FaultKind::WrongWindow { addr: addr[l], wanted }, l as u32));
        }
    }
    Ok(())
}

/// `membar`, the older spelling.
#[inline]
pub fn membar(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    fence(x, q, s, d)
}

semantics! {
    warp "fence" => fence,
    warp "membar" => membar,
}
