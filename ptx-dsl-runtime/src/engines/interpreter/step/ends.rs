//! The terminators of regions: branches, calls, returns, and instructions that may wait.

use super::super::calls;
use super::super::code::Block;
use super::super::op::{Operand, operand};
use super::super::registers::Scalar;
use super::super::runner::Masks;
use super::{After, RegionStep};
use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::{Flow, Pc};
use crate::numerics::lanes::Lanes;
use ptx_dsl_isa::image::{Callee, End, Guard, Register};

impl RegionStep<'_, '_> {
    /// A branch whose predicate is in a register.
    #[inline(always)]
    pub(super) fn branch(&mut self, guard: Guard, taken: Pc, fall: Pc) -> Result<After, Box<Fault>> {
        if !self.r.apart
            && let Scalar::Uniform(v) = self.r.scalar(guard.register)
        {
            return Ok(Some(if (v & 1 != 0) == guard.holds { taken } else { fall }));
        }
        self.branch_by_lane(guard, taken, fall)
    }

    fn branch_by_lane(&mut self, guard: Guard, taken: Pc, fall: Pc) -> Result<After, Box<Fault>> {
        let (some_jump, some_stay) = self.set_sides(guard);
        if some_stay == 0 {
            Ok(Some(taken))
        } else if some_jump == 0 {
            Ok(Some(fall))
        } else {
            self.part(taken, fall)
        }
    }

    /// Finds the lanes that jump, and those that do not. Numbers that are not 0 if there are any.
    #[inline(always)]
    fn set_sides(&mut self, guard: Guard) -> (u32, u32) {
        let (r, [jumps, stays]) = (&self.r, &mut *self.sides);
        let flip = if guard.holds { 0 } else { u32::MAX };
        let mut some = (0, 0);
        let mut set = |k: usize, p: u32| {
            let (active, p) = (r.active[k], p ^ flip);
            (jumps[k], stays[k]) = (active & p, active & !p);
            some = (some.0 | jumps[k], some.1 | stays[k]);
        };
        if !r.apart && r.registers.is_rows(r.lo, guard.register) {
            let row = r.registers.row(guard.register, r.lo);
            for (k, p) in r.registers.masks[row..row + r.n].iter().enumerate().take(32) {
                set(k, p.get());
            }
        } else {
            for k in 0..r.n {
                set(k, r.registers.mask(r.leader(k), guard.register, r.lo + k));
            }
        }
        some
    }

    /// Runs a divergent branch: the lanes of one side jump, and the lanes of the other do not.
    #[inline(never)]
    fn part(&mut self, taken: Pc, fall: Pc) -> Result<After, Box<Fault>> {
        if self.is_skipped(fall, taken) {
            self.without_others(fall, taken)?;
            return Ok(Some(taken));
        }
        let (low, high) = if taken < fall { ((taken, 0), (fall, 1)) } else { ((fall, 1), (taken, 0)) };
        self.add_side(high.0, high.1);
        // the lower ones run next: they need not become a group first
        if self.in_group && low.0 < high.0 && !self.r.apart && self.is_lowest(low.0) {
            self.run_side(low.1);
            return Ok(Some(low.0));
        }
        self.add_side(low.0, low.1);
        Ok(None)
    }

    /// Any other end.
    #[inline(never)]
    pub(super) fn transfer(&mut self, at: usize) -> Result<After, Box<Fault>> {
        match self.code.end(at) {
            End::Switch { site, index, targets } => self.switch(*site, &operand(index), targets),
            End::Call { site, pointer, callees } => {
                let pointer = pointer.as_ref().map(operand);
                self.call(*site, pointer.as_ref(), callees)
            }
            End::Return { address, sites } => Ok(self.return_to(*address, sites)),
            End::Goto { to } => Ok(Some(*to)),
            End::Branch { guard, taken, fall } => self.branch(*guard, *taken, *fall),
            End::Exit {} | End::Block { .. } => Ok(Some(self.code.regions.len() as Pc)),
        }
    }

    /// `ret` of a function: to the regions whose number is in a register.
    fn return_to(&mut self, address: Register, sites: &[Pc]) -> After {
        let active = self.r.active;
        for site in sites {
            let masks = self.r.masks(&active, |r, k| {
                let back = r.registers.lanes(r.leader(k), address, r.lo + k);
                crate::numerics::lanes::mask_by(|l| back[l] == u64::from(*site))
            });
            self.fork(*site, masks);
        }
        None
    }

    /// `brx.idx`
    fn switch(&mut self, site: u32, index: &Operand, targets: &[Pc]) -> Result<After, Box<Fault>> {
        let active = self.r.active;
        let mut parts: Vec<Masks> = vec![[0; 32]; targets.len()];
        for k in 0..self.r.n {
            self.r.enter(k, active[k]);
            self.r.x.site = site;
            let index = self.r.operand(index, k);
            let outside = active[k] & crate::numerics::lanes::mask_by(|l| index[l] >= targets.len() as u64);
            crate::semantics::control_flow::switch_in_range(self.r.x, outside, targets.len() as u64)?;
            crate::numerics::lanes::lanes(active[k], |l| parts[index[l] as usize][k] |= 1 << l);
        }
        for (to, masks) in targets.iter().zip(parts) {
            self.fork(*to, masks);
        }
        Ok(None)
    }

    fn call(&mut self, site: u32, pointer: Option<&Operand>, callees: &[Callee]) -> Result<After, Box<Fault>> {
        let active = self.r.active;
        // passing arguments to a function may change the pointer
        let mut reached: Vec<Masks> = vec![[0; 32]; callees.len()];
        for k in 0..self.r.n {
            self.r.enter(k, active[k]);
            self.r.x.site = site;
            let pointer: Option<Lanes> = pointer.map(|p| self.r.operand(p, k));
            let mut all = 0;
            for (callee, masks) in callees.iter().zip(&mut reached) {
                masks[k] = match &pointer {
                    Some(p) => active[k] & crate::numerics::lanes::mask_by(|l| p[l] == callee.address),
                    None => active[k],
                };
                all |= masks[k];
            }
            crate::semantics::control_flow::call_in_range(self.r.x, active[k] & !all)?;
        }
        for (callee, masks) in callees.iter().zip(reached) {
            if masks[..self.r.n].iter().all(|m| *m == 0) {
                continue;
            }
            calls::pass_arguments(&mut self.r, callee, &masks)?;
            self.add(callee.start, &masks);
        }
        Ok(None)
    }

    /// An instruction that may wait, for all warps of the cohort: where they go on together.
    pub(super) fn block(&mut self, pc: Pc, block: &Block) -> Result<Option<Pc>, Box<Fault>> {
        let End::Block { next, .. } = self.code.end(usize::from(pc)) else {
            return Err(self.r.x.fault(FaultKind::Internal("a wait without a next region".into()), 0));
        };
        let watched = block.op.watched.as_ref().filter(|w| w.always || self.r.registers.has_undefined());
        if let Some(watched) = watched {
            self.r.tracker().watch(&block.op, watched)?;
        }
        if block.barrier.is_some_and(|id| self.r.x.sync().pass_barrier(id))
            || watched.is_none() && block.shuffle.is_some_and(|mode| self.r.shuffle(mode, &block.op))
        {
            return Ok(Some(*next));
        }
        if !(block.waits && self.r.wait_together(&block.op, pc, *next)?) {
            for k in 0..self.r.n {
                let mask = self.r.x.warp(k);
                let lost = self.r.tracker().shuffled(&block.op, k, mask);
                let flow = self.r.call_block(block, k, mask)?;
                if flow == Flow::Next {
                    self.r.tracker().has_shuffled(&block.op, k, mask, lost)?;
                }
                self.r.x.flow(flow, pc, *next);
            }
        }
        Ok(self.r.x.go())
    }
}
