//! `setmaxnreg`: the pool of registers of the current CTA.

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::Wait;
use crate::machine::ctx::parts::Synchronisation;
use crate::machine::steps::effect::{Action, StepObject};
use crate::sync::register_pool::Request;

impl Synchronisation<'_, '_> {
    /// The current warp executes a `setmaxnreg`: what it has to wait for.
    pub fn request_registers(&mut self, request: Request) -> Result<Option<Wait>, Box<Fault>> {
        let (warp, start) = (self.ctx.warp, self.ctx.geometry.info.registers);
        if start == 0 {
            return Ok(None);
        }
        if self.ctx.live_mask() & !self.ctx.mask != 0 {
            return Ok(Some(Wait::WholeWarp { pc: self.ctx.cur.pc }));
        }
        let rank = self.ctx.cur.cta;
        self.ctx.report().step_does(|slot| StepObject::Registers(slot, rank), Action::Write);
        let cta = self.ctx.cta_mut();
        match cta.registers.request(warp, request, start, &cta.live) {
            Ok(true) => {
                self.ctx.notify_waiters();
                Ok(None)
            }
            Ok(false) => Ok(Some(Wait::Registers { warp, count: request.count })),
            Err(what) => {
                let help = "let all warps of a warpgroup execute the same `setmaxnreg`, with a barrier before the next";
                Err(self
                    .ctx
                    .fault(FaultKind::undefined(what, "9.7.19.5", help), self.ctx.mask.trailing_zeros().min(31)))
            }
        }
    }
}
