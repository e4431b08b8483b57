//! `nanosleep`, `trap`, `brkpt`, `pmevent`, `griddepcontrol`, `setmaxnreg` (PTX ISA 9.7.13.13, 9.7.19), and the stack (9.7.17).

mod stack;

use super::Done;
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::Sync;
use crate::sync::register_pool::Request;
pub use stack::{alloca, stackrestore, stacksave};

/// `nanosleep t`: lets other threads go first; the host has no time.
pub fn nanosleep(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Result<Flow, Box<Fault>> {
    x.scheduling.yield_now();
    Ok(Flow::Next)
}

/// `setmaxnreg`: without a known number of registers it has no effect.
pub fn setmaxnreg(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<Flow, Box<Fault>> {
    let lane = x.mask.trailing_zeros() as usize % 32;
    let count = s.first().map_or(0, |count| count[lane] as u32);
    Ok(x.sync().request_registers(Request { inc: q.has(q::inc), count })?.map_or(Flow::Next, Flow::Wait))
}

/// `trap`: ends the launch.
pub fn trap(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    // the check of cooperative groups: their memory is at address 0
    let cooperative = x.geometry.info.cooperative && x.geometry.workspace == 0;
    Err(x.fault(if cooperative { FaultKind::NotCooperative } else { FaultKind::Trap }, x.mask.trailing_zeros() % 32))
}

/// Defines instructions that have no effect on the host.
macro_rules! nothing {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(
            _: &mut Ctx<'_>,
            _: Q,
            _: &[&Lanes],
            _: &mut [&mut Lanes],
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
}

/// `griddepcontrol`: a grid starts when its prerequisites have ended. A monitor learns what it would order on a GPU.
#[inline]
pub fn griddepcontrol(x: &mut Ctx<'_>, q: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    x.report_sync(if q.has(q::wait) { Sync::GridWait } else { Sync::GridTrigger }, x.mask)
}

semantics! {
    warp "alloca" => alloca,
    warp "brkpt" => brkpt,
    warp "griddepcontrol" => griddepcontrol,
    block "nanosleep" => nanosleep,
    warp "pmevent" => pmevent,
    block "setmaxnreg" => setmaxnreg,
    warp "stackrestore" => stackrestore,
    warp "stacksave" => stacksave,
    warp "trap" => trap,
}
