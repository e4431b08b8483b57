//! Waits and arrivals of whole warps at one mbarrier object: one test for each warp. All others call [`crate::semantics::mbarrier`].

use super::op::Op;
use super::registers::Scalar;
use super::runner::Runner;
use crate::fault::Fault;
use crate::kernel::flow::Pc;
use crate::semantics::Done;
use crate::semantics::mbarrier::fast_path;

use crate::numerics::qual::{Q, q};
use ptx_dsl_isa::image::Instr;
use ptx_dsl_isa::isa::effect::Mbarrier;
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::MULTICAST;

/// The operation of an instruction that has a fast path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fast {
    /// `mbarrier.try_wait.parity`, which gives a predicate.
    Wait,
    /// `mbarrier.arrive` whose state is not used, with a count of 1 or bytes to expect.
    Arrive { drop: bool },
}

impl Fast {
    pub fn of(opcode: Opcode, q: Q, i: &Instr) -> Option<Fast> {
        let effect = opcode.entries().next()?.instr.effects.mbarrier;
        let unused = i.results.iter().all(Option::is_none);
        let multicast = MULTICAST.iter().any(|m| q.has(*m));
        match (opcode, effect) {
            (op::mbarrier_try_wait, _) => {
                let plain = q.has(q::parity) && i.sources.len() == 2 && i.results.len() == 1;
                plain.then_some(Fast::Wait)
            }
            (op::mbarrier_arrive | op::mbarrier_arrive_drop, Mbarrier::Arrive | Mbarrier::Drop) => {
                let plain = unused && !multicast && i.sources.len() == 1 + usize::from(q.has(q::expect_tx));
                plain.then_some(Fast::Arrive { drop: effect == Mbarrier::Drop })
            }
            _ => None,
        }
    }
}

/// The object and the parity, or the bytes, of an operation that is the same in all lanes.
fn uniform_operands(r: &Runner<'_, '_>, op: &Op) -> Option<(u64, u64)> {
    let address = r.uniform(&op.sources[0])?;
    Some((address, op.sources.get(1).map_or(Some(0), |o| r.uniform(o))?))
}

impl Runner<'_, '_> {
    /// Makes all warps of the cohort wait for one phase. False, with nothing done, if the wait is not of this kind.
    pub fn wait_together(&mut self, op: &Op, pc: Pc, next: Pc) -> Result<bool, Box<Fault>> {
        if self.apart && self.n > 1 {
            return Ok(false);
        }
        let (Some((address, parity)), Some(result)) = (uniform_operands(self, op), op.results[0]) else {
            return Ok(false);
        };
        self.together();
        self.x.at(op.site, op.order);
        // by warp: the result, and whether there is one
        let (mut done, mut returned) = (0u32, 0u32);
        for k in 0..self.n {
            let mask = self.x.warp(k);
            if let Some(passed) = fast_path::try_wait(self.x, op.q, address, parity, pc, op.site)? {
                done |= u32::from(passed) << k;
                returned |= 1 << k;
                self.x.branch(mask, next);
            }
        }
        let every = u32::MAX >> (32 - self.n);
        if returned == every && self.whole() && (done == 0 || done == every) {
            self.set(Some(result), Scalar::Uniform((done & 1).into()));
        } else if returned != 0 {
            (self.all, self.guarded) = (false, true);
            self.rows_for(result);
            for k in (0..self.n).filter(|k| returned >> k & 1 != 0) {
                let row = &self.registers.masks[self.registers.row(result, self.lo + k)];
                let (m, holds) = (self.active[k], (done >> k & 1).wrapping_neg());
                row.set(row.get() & !m | holds & m);
            }
        }
        Ok(true)
    }

    /// Arrivals at one object, whose state nothing uses. False, with nothing done, if they are not of this kind.
    pub fn arrive_together(
        &mut self,
        op: &Op,
        drop: bool,
        slowly: impl Fn(&mut Self, usize) -> Done,
    ) -> Result<bool, Box<Fault>> {
        let Some((address, bytes)) = uniform_operands(self, op) else { return Ok(false) };
        for k in 0..self.n {
            let m = self.masks[k];
            if m == 0 {
                continue;
            }
            self.enter(k, m);
            self.x.at(op.site, op.order);
            let done = fast_path::arrive_together(self.x, op.q, m, address, bytes as u32, drop);
            if !done && !fast_path::arrive_monitored(self.x, op.q, address, drop)? {
                slowly(self, k)?;
            }
        }
        Ok(true)
    }
}
