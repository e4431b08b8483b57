//! `nanosleep`, `trap`, `brkpt`, `pmevent`, `griddepcontrol`, `setmaxnreg` (PTX ISA 9.7.19), and the stack (9.7.17).

mod stack;

use super::Done;
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::qual::Q;
use crate::{Ctx, Lanes, Monitor};
pub use stack::{alloca, stackrestore, stacksave};

/// `nanosleep t`: lets other threads go first; the host has no time.
pub fn nanosleep<M: Monitor>(x: &mut Ctx<'_, M>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Result<Flow, Box<Fault>> {
    x.yield_now();
    Ok(Flow::Next)
}

/// `trap`: ends the launch.
pub fn trap<M: Monitor>(x: &mut Ctx<'_, M>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Err(x.fault(FaultKind::Trap, x.mask.trailing_zeros() % 32))
}

/// These have no effect on the host.
macro_rules! nothing {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<M: Monitor>(
            _: &mut Ctx<'_, M>,
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
    /// `griddepcontrol`: a grid starts when its prerequisites have ended.
    griddepcontrol
    /// `setmaxnreg`: registers are not limited.
    setmaxnreg
}

semantics! {
    warp "alloca" => alloca,
    warp "brkpt" => brkpt,
    warp "griddepcontrol" => griddepcontrol,
    block "nanosleep" => nanosleep,
    warp "pmevent" => pmevent,
    warp "setmaxnreg" => setmaxnreg,
    warp "stackrestore" => stackrestore,
    warp "stacksave" => stacksave,
    warp "trap" => trap,
}
