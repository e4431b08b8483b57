//! Faults of the current warp.

use crate::fault::{Fault, FaultKind, NearMiss, Side, ThreadId};
use crate::kernel::flow::Pc;
use crate::machine::cluster::Cohort;
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::Budget;
use crate::machine::endless::Spent;

impl Ctx<'_> {
    /// A fault of a lane of the current warp at the current statement.
    #[cold]
    pub fn fault(&self, mut kind: FaultKind, lane: u32) -> Box<Fault> {
        match &mut kind {
            FaultKind::DataRace(race) => {
                if let Some(early) = &mut race.early {
                    early.object = self.geometry.mbarrier(self.site, early.offset);
                }
                self.describe_race(&mut race.other, &mut race.near_miss);
            }
            FaultKind::TensorRace(race) => self.describe_race(&mut race.other, &mut race.near_miss),
            FaultKind::MbarrierLateWait { offset, object, .. } => *object = self.geometry.mbarrier(self.site, *offset),
            FaultKind::MatrixLayout(layout) => {
                if let Some(written) = &mut layout.written {
                    written.at = self.geometry.at(written.site);
                }
            }
            _ => {}
        }
        let cluster = self.residents.clusters.get(self.residents.slot);
        let thread = cluster.filter(|c| c.ctas.len() > self.cur.cta as usize).map(|_| self.thread_id(lane));
        let (kernel, at) = (self.geometry.info.name.to_owned(), self.geometry.at(self.site));
        let object = self.describe().object(&kind);
        let waits = matches!(
            kind,
            FaultKind::Deadlock { .. }
                | FaultKind::StepLimit { .. }
                | FaultKind::MbarrierPhase { .. }
                | FaultKind::MbarrierLateWait { .. }
        );
        let role = waits.then(|| self.geometry.role(self.cur.pc)).flatten();
        let (callers, more_callers, registers) = (Vec::new(), 0, Vec::new());
        let (schedule, steps, others) = (Vec::new(), Vec::new(), Vec::new());
        let (used, replay) = (None, None);
        Box::new(Fault {
            kind,
            kernel,
            object,
            at,
            role,
            callers,
            more_callers,
            thread,
            registers,
            used,
            replay,
            schedule,
            steps,
            alike: 0,
            others,
        })
    }

    /// A lane of the current warp.
    pub(super) fn thread_id(&self, lane: u32) -> ThreadId {
        // devices of a launch are further grids in z
        let (ctaid, tid) = (self.cta().id, self.ids().tid(lane as usize));
        ThreadId { ctaid, tid, warp: self.warp, lane, rank: self.rank() }
    }

    /// Adds the statements and the thread of the other side of a race.
    fn describe_race(&self, other: &mut Side, near_miss: &mut Option<NearMiss>) {
        let info = self.geometry.info;
        let ThreadId { warp, lane, .. } = other.thread;
        other.thread.tid = self.geometry.tid(warp, lane as usize);
        other.at = info.at(other.site);
        if let Some(miss) = near_miss {
            (miss.from_at, miss.to_at) = (info.at(miss.from), info.at(miss.to));
        }
    }

    /// A fault of the first thread of the running cohort.
    pub(crate) fn fault_of_cohort(&mut self, kind: FaultKind) -> Box<Fault> {
        self.warp = self.cur.lo;
        self.fault(kind, self.cur.mask.trailing_zeros().min(31))
    }
}

impl Budget<'_, '_> {
    /// Ends this host thread without a fault of its own.
    pub(crate) fn stop(&mut self) -> Box<Fault> {
        self.ctx.scheduling.stopped = true;
        self.ctx.fault(FaultKind::Internal("stopped".into()), 0)
    }

    /// Ends the launch if it is cancelled, out of budget, or has a fault on another host thread.
    #[cold]
    pub(crate) fn check_limits(&mut self) -> Result<(), Box<Fault>> {
        self.ctx.scheduling.next_check = self.ctx.scheduling.turns + crate::machine::scheduling::QUANTUM;
        if self.ctx.scheduling.is_cancelled() {
            return Err(self
                .ctx
                .fault_of_cohort(FaultKind::Cancelled { region: self.ctx.geometry.region(self.ctx.cur.pc) }));
        }
        self.check_step_limit()?;
        self.check_endless()?;
        if self.ctx.scheduling.team.is_stopped() { Err(self.stop()) } else { Ok(()) }
    }

    /// [`Budget::check_limits`], from time to time.
    #[inline(always)]
    pub(crate) fn check_limits_if_due(&mut self) -> Result<(), Box<Fault>> {
        if self.ctx.scheduling.turns >= self.ctx.scheduling.next_check { self.check_limits() } else { Ok(()) }
    }

    /// A fault if the step budget is used up. By default it counts only what has run since the last progress.
    pub(crate) fn check_step_limit(&mut self) -> Result<(), Box<Fault>> {
        match self.ctx.scheduling.exceeded_limit() {
            None => Ok(()),
            Some(_)
                if self.ctx.scheduling.has_default_budget
                    && (self.ctx.scheduling.has_started_clusters() || self.has_new_memory()) =>
            {
                self.ctx.scheduling.extend_limit();
                Ok(())
            }
            // another host thread may see progress that this one does not
            Some(_) if self.ctx.scheduling.has_default_budget && self.ctx.scheduling.has_grace() => Ok(()),
            Some(turns) => Err(self.out_of_steps(turns)),
        }
    }

    /// Whether global memory has changed where it had not changed before, or copies have read parts of it that none had read before.
    fn has_new_memory(&mut self) -> bool {
        self.ctx.memory.global.reads_new_parts() || self.ctx.scheduling.written.is_new(&self.ctx.memory.global)
    }

    /// Does a thread that can run count to an end?
    fn counts(&self) -> bool {
        let ready = self.ctx.residents.clusters.iter().filter(|c| c.resident).flat_map(|c| &c.ready);
        let mut places: Vec<Pc> = ready.map(|c| c.pc).chain([self.ctx.cur.pc]).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().any(|pc| self.ctx.geometry.is_counted(pc))
    }

    fn out_of_steps(&mut self, turns: u64) -> Box<Fault> {
        let (region, loops) = (self.ctx.geometry.region(self.ctx.cur.pc), self.ctx.geometry.loops(self.ctx.cur.pc));
        let mut fault = self.ctx.fault_of_cohort(FaultKind::StepLimit { turns, region, loops: loops.heads });
        // what has run last may be before the loop: not every statement is noted
        fault.at = loops.statement.and_then(|site| self.ctx.geometry.at(site));
        fault
    }

    /// A fault if nothing ends: see [`EndlessGuard`](crate::machine::endless::EndlessGuard).
    fn check_endless(&mut self) -> Result<(), Box<Fault>> {
        let warps = |c: &Cohort| u64::from(c.hi - c.lo);
        let ready = self.ctx.residents.clusters.iter().flat_map(|c| &c.ready);
        let count = warps(&self.ctx.cur) + ready.map(warps).sum::<u64>();
        let turns = self.ctx.scheduling.turns;
        match self.ctx.scheduling.endless.spent(turns, count) {
            Spent::Little => {}
            Spent::Much | Spent::MuchTogether if self.has_new_memory() => self.ctx.scheduling.endless.writes(),
            Spent::Much | Spent::MuchTogether if self.counts() && self.ctx.scheduling.endless.counts() => {}
            Spent::Much | Spent::MuchTogether | Spent::TooManyStores => return Err(self.out_of_steps(turns)),
        }
        if self.ctx.scheduling.endless.is_suspicious() {
            self.ctx.scheduling.start_polling();
        }
        Ok(())
    }
}
