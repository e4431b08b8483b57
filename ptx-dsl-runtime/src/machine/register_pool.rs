//! `setmaxnreg`: the pool of registers of the current CTA.

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::Wait;
use crate::machine::ctx::Ctx;
use crate::machine::steps::effect::{Action, Object};
use crate::sync::register_pool::Request;

impl Ctx<'_> {
    /// The current warp executes a `setmaxnreg`: what it has to wait for.
    pub fn request_registers(&mut self, request: Request) -> Result<Option<Wait>, Box<Fault>> {
        let (warp, start) = (self.warp, self.geometry.info.registers);
        if start == 0 {
            return Ok(None);
        }
        if self.live_mask() & !self.mask != 0 {
            return Ok(Some(Wait::WholeWarp { pc: self.cur.pc }));
        }
        let rank = self.cur.cta;
        self.step_does(|slot| Object::Registers(slot, rank), Action::Write);
        let cta = self.cta_mut();
        match cta.registers.request(warp, request, start, &cta.live) {
            Ok(true) => {
                self.notify_waiters();
                Ok(None)
            }
            Ok(false) => Ok(Some(Wait::Registers { warp, count: request.count })),
            Err(what) => {
                let help = "let all warps of a warpgroup execute the same `setmaxnreg`, with a barrier before the next";
                Err(self.fault(FaultKind::undefined(what, "9.7.19.5", help), self.mask.trailing_zeros().min(31)))
            }
        }
    }
}
