//! Arrivals at barriers of the CTA and of the cluster, and rendezvous of a warp.

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::{Flow, Wait};
use crate::machine::ctx::parts::Synchronisation;
use crate::machine::steps::effect::{Action, StepObject};
use crate::observe::monitor::Sync;
use crate::sync::barrier::RedOp;

impl Synchronisation<'_, '_> {
    /// The active lanes arrive at barrier `id`, of all threads of the CTA or of `count`; `red` has the operation of `.red` and
    /// the lanes whose predicate is true. Waiting for the result is up to the caller (`sync`), or left out (`.arrive`).
    pub fn barrier_arrive(
        &mut self,
        id: u32,
        count: Option<u32>,
        sync: bool,
        red: Option<(RedOp, u32)>,
    ) -> Result<Wait, Box<Fault>> {
        let lane = self.ctx.mask.trailing_zeros().min(31);
        let (warp, mask) = (self.ctx.warp, self.ctx.mask);
        self.ctx.report_sync(Sync::Barrier { id, waits: sync }, mask)?;
        let wrong = |what: String| FaultKind::Barrier { id, what };
        if !sync && count.is_none() {
            return Err(self.ctx.fault(wrong("`.arrive` needs a thread count".into()), lane));
        }
        let cta = self.ctx.cta_mut();
        cta.barriers_used |= 1 << (id & 15);
        let Some(barrier) = cta.barriers.get_mut(id as usize) else {
            return Err(self.ctx.fault(wrong("a CTA has barriers 0 to 15".into()), lane));
        };
        match barrier.arrive((warp, mask), count, red, &cta.live, cta.threads) {
            Ok(generation) => {
                if barrier.passed(generation) {
                    self.ctx.report_sync(Sync::BarrierCompletes { id }, mask)?;
                    self.ctx.notify_waiters();
                } else {
                    self.ctx.changed();
                }
                Ok(Wait::Barrier { id, generation })
            }
            Err(what) => Err(self.ctx.fault(wrong(what), lane)),
        }
    }

    /// Result of `.red`, when resumed.
    #[inline(always)]
    pub fn barrier_result(&self) -> u64 {
        self.ctx.cur.result
    }

    /// The wait for the live lanes of `members` that are not active here; `None` if all are.
    pub fn warp_rendezvous(&mut self, members: u32) -> Option<Wait> {
        let live = self.ctx.live_mask() & members;
        (live & !self.ctx.mask != 0).then_some(Wait::WarpSync { members, pc: Some(self.ctx.cur.pc), instruction: None })
    }

    /// The rendezvous of `bar.warp.sync`, whose threads may wait at different statements; otherwise like [`Synchronisation::warp_rendezvous`].
    pub fn bar_warp_sync(&mut self, members: u32) -> Option<Wait> {
        let live = self.ctx.live_mask() & members;
        (live & !self.ctx.mask != 0).then_some(Wait::WarpSync { members, pc: None, instruction: None })
    }

    fn cluster_warp(&self) -> usize {
        self.ctx.cur.cta as usize * self.ctx.ids().nwarps() as usize + self.ctx.warp as usize
    }

    /// The active lanes arrive at the barrier of the cluster.
    pub fn cluster_arrive(&mut self) -> Result<(), Box<Fault>> {
        let (warp, mask, lane) = (self.cluster_warp(), self.ctx.mask, self.ctx.mask.trailing_zeros().min(31));
        self.ctx.report_sync(Sync::ClusterArrive, mask)?;
        match self.ctx.here().barrier.arrive(warp, mask) {
            Ok(true) => {
                self.ctx.report_sync(Sync::ClusterCompletes, mask)?;
                self.ctx.notify_waiters();
            }
            Ok(false) => self.ctx.changed(),
            Err(what) => return Err(self.ctx.fault(FaultKind::ClusterBarrier { what }, lane)),
        }
        Ok(())
    }

    /// The active lanes wait at the barrier of the cluster. Some of a warp may wait for a phase that is complete, while others have
    /// arrived in the next one.
    pub fn cluster_wait(&mut self) -> Result<Flow, Box<Fault>> {
        let (warp, mask, lane) = (self.cluster_warp(), self.ctx.mask, self.ctx.mask.trailing_zeros().min(31));
        let now = mask & self.ctx.here().barrier.arrived(warp);
        for lanes in [mask & !now, now].into_iter().filter(|lanes| *lanes != 0) {
            self.ctx.report_sync(Sync::ClusterWait, lanes)?;
        }
        match self.ctx.here().barrier.wait(warp, mask) {
            Ok(phase) => {
                self.ctx.changed();
                if self.ctx.here().barrier.passed(phase) {
                    let phase = phase.wrapping_add(1);
                    self.ctx.report().step_does(StepObject::Cluster, Action::After { phase });
                }
                let wait = Wait::Cluster { phase };
                Ok(if now == 0 || now == mask { Flow::Wait(wait) } else { Flow::WaitInGroups(vec![(now, wait)]) })
            }
            Err(what) => Err(self.ctx.fault(FaultKind::ClusterBarrier { what }, lane)),
        }
    }
}
