//! Cache hints (PTX ISA 9.7.9.15 to 9.7.9.18): no effect, but an address is checked where the manual requires 128 aligned bytes
//! of global memory.

use super::{Done, active, place, set, space};
use crate::fault::FaultKind;
use crate::machine::Ctx;
use crate::memory::address::Place;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::Q;

/// `prefetch`: a bad address does not fault.
#[inline(always)]
pub fn prefetch(_: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Ok(())
}

/// `prefetchu`: a bad address does not fault.
#[inline(always)]
pub fn prefetchu(_: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Ok(())
}

/// 128 bytes of global memory, aligned.
fn cache_line(x: &Ctx<'_>, q: Q, s: &[&Lanes], what: &str) -> Done {
    for l in active(x.mask) {
        let Some(addr) = s.first().map(|a| a[l]) else { continue };
        if !matches!(place(x, space(q), addr, l)?, Place::Global { .. }) {
            let wanted = format!("in global memory, as `{what}` needs it");
            return Err(x.fault(FaultKind::WrongWindow { addr, wanted }, l as u32));
        }
        if !addr.is_multiple_of(128) {
            return Err(x.fault(FaultKind::Misaligned { space: "global", addr, align: 128 }, l as u32));
        }
    }
    Ok(())
}

/// `applypriority [a], 128`: a hint.
pub fn applypriority(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    cache_line(x, q, s, "applypriority")
}

/// `discard [a], 128`: reads before the next write are undefined; here they see the old bytes.
pub fn discard(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    cache_line(x, q, s, "discard")
}

/// The result of `createpolicy`. Instructions ignore policies.
const POLICY: u64 = 1 << 60;

/// `createpolicy`: an opaque value.
pub fn createpolicy(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        set(d, 0, l, POLICY);
    }
    Ok(())
}

semantics! {
    warp "applypriority" => applypriority,
    warp "createpolicy" => createpolicy,
    warp "discard" => discard,
    warp "prefetch" => prefetch,
    warp "prefetchu" => prefetchu,
}
