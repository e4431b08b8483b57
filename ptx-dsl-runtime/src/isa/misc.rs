//! `nanosleep`, `trap`, `brkpt`, `pmevent`, `griddepcontrol`, `setmaxnreg`, and the cache hints that are instructions.

use super::{Done, active, place, set, space};
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::mem::address::Place;
use crate::qual::Q;
use crate::{Ctx, Lanes, Monitor};

/// `nanosleep t`: lets the others go first; time does not pass on the host.
pub fn nanosleep<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    _: Q,
    _: [&Lanes; S],
    _: [&mut Lanes; D],
) -> Result<Flow, Box<Fault>> {
    x.yield_now();
    Ok(Flow::Next)
}

/// `trap`: ends the launch.
pub fn trap<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    _: Q,
    _: [&Lanes; S],
    _: [&mut Lanes; D],
) -> Done {
    Err(x.fault(FaultKind::Trap, x.mask.trailing_zeros() % 32))
}

/// Operands, effects and waits of these mean nothing on the host.
macro_rules! nothing {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<M: Monitor, const S: usize, const D: usize>(
            _: &mut Ctx<'_, M>,
            _: Q,
            _: [&Lanes; S],
            _: [&mut Lanes; D],
        ) -> Done {
            Ok(())
        }
    )*};
}

nothing! {
    /// `brkpt`: no debugger is there to stop in.
    brkpt
    /// `pmevent`: no counters.
    pmevent
    /// `griddepcontrol`: a grid starts when its prerequisites have ended.
    griddepcontrol
    /// `setmaxnreg`: registers are not limited.
    setmaxnreg
    /// `prefetch`: a hint; a bad address does not fault.
    prefetch
    /// `prefetchu`: a hint.
    prefetchu
}

/// 128 bytes of global memory, aligned.
fn cache_line<M: Monitor>(x: &Ctx<'_, M>, q: Q, s: &[&Lanes], what: &str) -> Done {
    for l in active(x.mask) {
        let Some(addr) = s.first().map(|a| a[l]) else { continue };
        if !matches!(place(x, space(q), addr, l)?, Place::Global { .. }) {
            let wanted = format!("in global memory, as `{what}` needs it");
            return Err(x.fault(FaultKind::WrongWindow { addr, wanted }, l as u32));
        }
        if !addr.is_multiple_of(128) {
            return Err(x.fault(FaultKind::Misaligned { addr, align: 128 }, l as u32));
        }
    }
    Ok(())
}

/// `applypriority [a], 128`: a hint.
pub fn applypriority<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    s: [&Lanes; S],
    _: [&mut Lanes; D],
) -> Done {
    cache_line(x, q, &s, "applypriority")
}

/// `discard [a], 128`: reads before the next write are undefined; here they see the old bytes.
pub fn discard<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    s: [&Lanes; S],
    _: [&mut Lanes; D],
) -> Done {
    cache_line(x, q, &s, "discard")
}

/// What `createpolicy` gives. The instructions that take a policy ignore it.
const POLICY: u64 = 1 << 60;

/// `createpolicy`: an opaque value.
pub fn createpolicy<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    _: Q,
    _: [&Lanes; S],
    mut d: [&mut Lanes; D],
) -> Done {
    for l in active(x.mask) {
        set(&mut d, 0, l, POLICY);
    }
    Ok(())
}
