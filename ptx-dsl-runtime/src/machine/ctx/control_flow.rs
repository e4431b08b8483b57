//! Control flow of emitted code: turns, branches, waits, and the fragments of diverged warps.

use crate::fault::Fault;
use crate::kernel::flow::{Flow, Pc, Wait};
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::{Budget, Synchronisation, WarpFragments};
use crate::machine::step::{Part, Together};
use ptx_dsl_isa::image::NO_SITE;

impl Budget<'_, '_> {
    /// Starts a region: counts the step budget and records where the cohort is.
    #[inline(always)]
    pub fn turn(&mut self, pc: Pc) -> Result<(), Box<Fault>> {
        self.ctx.cur.pc = pc;
        if self.ctx.scheduling.count((self.ctx.cur.hi - self.ctx.cur.lo) as u64) { self.end_turn() } else { Ok(()) }
    }

    /// Starts a region for some warps of the cohort: counts the step budget and records where the cohort is.
    #[inline(always)]
    pub(crate) fn turn_of(&mut self, pc: Pc, warps: u64) -> Result<(), Box<Fault>> {
        self.ctx.cur.pc = pc;
        if self.ctx.scheduling.count(warps) { self.end_turn() } else { Ok(()) }
    }

    #[cold]
    fn end_turn(&mut self) -> Result<(), Box<Fault>> {
        self.ctx.scheduling.end_turn();
        self.check_limits()
    }
}

impl Ctx<'_> {
    /// The first warp of the cohort, and the lanes of all its warps.
    #[inline(always)]
    pub fn cohort(&self) -> (u32, u32) {
        (self.cur.lo, self.cur.mask)
    }

    /// Makes warp `k` of the cohort the current one, with all lanes of the cohort active; returns them.
    #[inline(always)]
    pub fn warp(&mut self, k: usize) -> u32 {
        self.warp = self.cur.lo + k as u32;
        self.mask = self.cur.mask;
        self.mask
    }

    /// Whether all warps of the cohort have all their lanes.
    #[inline(always)]
    pub fn whole_warps(&self) -> bool {
        self.cur.mask == u32::MAX
    }

    /// The lanes of `mask` of the current warp go on at `pc`. An empty mask is ignored.
    #[inline(always)]
    pub fn branch(&mut self, mask: u32, pc: Pc) {
        if !self.step.branch_together(&self.cur, self.warp, mask, pc) && mask != 0 {
            self.split(mask, pc, None);
        }
    }

    /// The current warp waits at `pc`.
    #[inline(always)]
    pub(crate) fn park(&mut self, pc: Pc, wait: Wait) {
        if let Some(wait) = self.step.park_together(&self.cur, self.warp, pc, wait) {
            self.split(self.cur.mask, pc, Some(wait));
        }
    }

    #[inline(never)]
    fn split(&mut self, mask: u32, pc: Pc, wait: Option<Wait>) {
        let part = Part { warp: self.warp, mask, pc, wait, site: self.site };
        self.step.push(&self.cur, part);
    }

    /// The current warp has executed the blocking instruction of region `here`: it goes on at `next`, or waits.
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn flow(&mut self, flow: Flow, here: Pc, next: Pc) {
        match flow {
            Flow::Next => self.branch(self.cur.mask, next),
            Flow::Wait(w) => self.park(here, w),
            Flow::WaitInGroups(groups) => {
                let mut done = self.cur.mask;
                for (lanes, wait) in groups {
                    self.split(lanes, here, Some(wait));
                    done &= !lanes;
                }
                self.branch(done, next);
            }
        }
    }

    /// The region where the whole cohort continues, if it stays together and need not wait.
    #[inline(always)]
    pub fn go(&mut self) -> Option<Pc> {
        match self.step.take_together(&self.cur) {
            Some(pc) => {
                self.cur.resumed = false;
                self.cur.result = 0;
                Some(pc)
            }
            None => self.go_by_parts(),
        }
    }

    #[inline(never)]
    fn go_by_parts(&mut self) -> Option<Pc> {
        if let Some(pc) = self.step.all_wait(&self.cur) {
            // the wait may be over already: the last thread to arrive does not wait
            self.resume_if_over(&self.step.wait.clone())?;
            self.step.take_waiting();
            return Some(pc);
        }
        let pc = match self.step.common_part(&self.cur, self.site)? {
            Together::Go(pc) => {
                self.cur.resumed = false;
                self.cur.result = 0;
                pc
            }
            Together::Wait(wait, pc) => {
                self.resume_if_over(&wait)?;
                pc
            }
        };
        self.step.parts.clear();
        Some(pc)
    }

    /// Resumes the cohort if this wait is over.
    fn resume_if_over(&mut self, wait: &Wait) -> Option<()> {
        // the cluster looks at mbarrier objects in shared memory
        self.release_shared();
        let over = self.residents.here().over(&self.cur, wait);
        self.hold_shared();
        self.cur.result = over?;
        self.cur.resumed = true;
        Some(())
    }

    /// Should `step` return to the driver? True if other fragments of these warps are ready, if the turn is over, and if threads
    /// may have to be woken.
    #[inline(always)]
    pub fn diverged(&self) -> bool {
        self.scheduling.leave
    }

    /// Should `step` return to the driver at the end of a cluster?
    #[inline(always)]
    pub(crate) fn leaves(&self) -> bool {
        self.scheduling.leave || self.scheduling.over
    }

    /// Has the wait of this blocking instruction ended?
    #[inline(always)]
    pub fn resumed(&self) -> bool {
        self.cur.resumed
    }
}

impl WarpFragments<'_, '_> {
    /// Adds lanes of the current warp that can run at `pc`, besides the running ones.
    #[inline(always)]
    pub fn fork(&mut self, mask: u32, pc: Pc) {
        if mask != 0 {
            self.ctx.fragments.add(mask, pc);
        }
    }

    /// The lanes of `mask` go on at `pc`: returns the fragment of the current warp that runs next, the one with the lowest region.
    /// `None` if none can run here: the turn is over, or all wait or exit.
    #[inline(always)]
    pub fn next(&mut self, mask: u32, pc: Pc) -> Result<Option<(Pc, u32)>, Box<Fault>> {
        if self.ctx.fragments.is_empty() && mask == 0 {
            return Ok(None);
        }
        if self.ctx.scheduling.count(1) {
            self.ctx.cur.pc = pc;
            self.ctx.budget().end_turn()?;
        }
        if self.ctx.scheduling.leave {
            self.branch_all(mask, pc);
            return Ok(None);
        }
        let stays = mask != 0 && self.ctx.fragments.all_after(pc);
        if stays { Ok(Some((pc, mask))) } else { Ok(self.switch_fragment(mask, pc)) }
    }

    fn switch_fragment(&mut self, mask: u32, pc: Pc) -> Option<(Pc, u32)> {
        self.fork(mask, pc);
        self.ctx.fragments.take_lowest()
    }

    #[inline(never)]
    fn branch_all(&mut self, mask: u32, pc: Pc) {
        self.fork(mask, pc);
        for (pc, mask) in self.ctx.fragments.drain() {
            if !self.ctx.step.branch_together(&self.ctx.cur, self.ctx.warp, mask, pc) && mask != 0 {
                self.ctx
                    .step
                    .push(&self.ctx.cur, Part { warp: self.ctx.warp, mask, pc, wait: None, site: self.ctx.site });
            }
        }
    }

    /// [`WarpFragments::fork`] where lanes leave a loop, which is rare compared to its iterations.
    #[cold]
    #[inline(never)]
    pub fn exit(&mut self, mask: u32, pc: Pc) {
        self.ctx.fragments.add(mask, pc);
    }

    /// Whether the turn of the current warp goes on at a back edge. All other fragments of the warp are ahead.
    #[inline(always)]
    pub fn iterates(&mut self) -> bool {
        !self.ctx.scheduling.count(1) && !self.ctx.scheduling.leave
    }

    /// Counts the iterations of a lane-serial loop: the most of any lane.
    #[inline(always)]
    pub fn went_round(&mut self, turns: u32) {
        self.ctx.scheduling.turns += u64::from(turns);
    }
}

impl Synchronisation<'_, '_> {
    /// `bar.sync id` of all threads of the CTA, if they are this cohort and have nothing to do but pass. Only with the default schedule:
    /// otherwise a barrier is a scheduling point. And not with monitors that see each warp.
    #[inline(always)]
    pub fn pass_barrier(&mut self, id: u32) -> bool {
        let watched =
            self.ctx.monitor.is_on() && !self.ctx.monitor.needs().barriers || self.ctx.scheduling.steps.is_some();
        if watched || !self.ctx.scheduling.always_first || self.ctx.cur.mask != u32::MAX || self.ctx.cur.resumed {
            return false;
        }
        let threads = (self.ctx.cur.hi - self.ctx.cur.lo) * 32;
        let passed = self.ctx.async_ops.none_due() && {
            let cta = self.ctx.cta_mut();
            cta.barriers_used |= 1 << (id & 15);
            cta.threads == threads && cta.barriers.get_mut(id as usize).is_some_and(|b| b.pass())
        };
        self.ctx.scheduling.progress += passed as u64;
        let who = self.ctx.who(NO_SITE);
        if passed && let Some(monitor) = self.ctx.monitor.get() {
            monitor.barrier(who, threads / 32);
        }
        passed
    }
}
