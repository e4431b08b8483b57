//! Who acts and what happens, for monitors.

use crate::fault::{Fault, FaultKind};
use crate::machine::cluster::{Cohort, Parked};
use crate::machine::ctx::Ctx;
use crate::monitor::{Access, Event, Finding, Monitor, Order, Sync, Who};

impl<M> Ctx<'_, M> {
    /// Lanes of the current warp at the current statement.
    pub(crate) fn who(&self, lanes: u32) -> Who {
        let slot = self.residents.slot as u32;
        Who { site: self.site, slot, rank: self.cur.cta, warp: self.warp, lanes }
    }
}

impl Cohort {
    /// The first warp of the cohort, which is at a statement of the cluster at a slot.
    pub(crate) fn who(&self, slot: usize, site: u32) -> Who {
        Who { site, slot: slot as u32, rank: self.cta, warp: self.lo, lanes: self.mask }
    }

    pub(crate) fn warps(&self) -> u32 {
        self.hi - self.lo
    }
}

impl<M: Monitor> Ctx<'_, M> {
    /// This statement runs.
    #[inline(always)]
    pub(crate) fn at(&mut self, site: u32, order: Order) {
        self.site = site;
        if M::ON {
            self.order = order;
        }
    }

    /// Tells the monitor of an access of one lane.
    pub(crate) fn tell_access(&mut self, access: Access) -> Result<(), FaultKind> {
        self.step_accesses(&access, None);
        let done = self.monitor.memory(access);
        done.or_else(|kind| self.found(kind, access.who.lanes.trailing_zeros().min(31)))
    }

    /// The monitor has found something about a lane. Err if that ends the launch.
    #[cold]
    pub(crate) fn found(&mut self, kind: FaultKind, lane: u32) -> Result<(), FaultKind> {
        match self.monitor.finding(&kind, self.who(1 << lane)) {
            Finding::Ends => return Err(kind),
            Finding::Reported => {
                let fault = self.fault(kind, lane);
                self.findings.list.push(*fault);
            }
            Finding::Known => {}
        }
        Ok(())
    }

    /// Tells the monitor that lanes of the current warp synchronise.
    #[inline(always)]
    pub(crate) fn tell_sync(&mut self, what: Sync, lanes: u32) -> Result<(), Box<Fault>> {
        if M::ON {
            self.step_synchronises(what);
            let (lane, done) = (lanes.trailing_zeros().min(31), self.monitor.sync(what, self.order, self.who(lanes)));
            done.or_else(|kind| self.found(kind, lane)).map_err(|kind| self.fault(kind, lane))?;
        }
        Ok(())
    }

    /// Tells the monitor what happens.
    #[inline(always)]
    pub(crate) fn tell(&mut self, event: Event<'_>) {
        if M::EVENTS {
            self.monitor.event(self.scheduling.turns, event);
        }
    }

    /// The current cohort starts to run.
    #[inline(always)]
    pub(crate) fn tell_runs(&mut self) {
        let (who, warps) = (self.cur.who(self.residents.slot, 0), self.cur.warps());
        self.tell(Event::Runs { who, warps });
    }

    /// Neighbouring warps run a region: from `first` on, with these lanes. `site` is its first statement that has a number.
    #[inline(always)]
    pub(crate) fn tell_region(&mut self, (first, lanes, warps): (u32, u32, u32), site: Option<u32>, name: &str) {
        if M::EVENTS {
            let who = Who { warp: first, lanes, ..self.cur.who(self.residents.slot, site.unwrap_or(u32::MAX)) };
            self.tell(Event::Region { who, warps, name });
        }
    }

    /// A cohort of the current cluster starts to wait.
    #[inline(always)]
    pub(crate) fn tell_waits(&mut self, p: &Parked) {
        if M::EVENTS {
            let reason = self.residents.here().waits_for(p);
            let (who, warps) = (p.c.who(self.residents.slot, p.site), p.c.warps());
            self.tell(Event::Waits { who, warps, wait: &p.wait, reason: &reason });
        }
    }

    /// A cohort goes on.
    #[inline(always)]
    pub(crate) fn tell_resumes(&mut self, slot: usize, c: &Cohort, timed_out: bool) {
        self.tell(Event::Resumes { who: c.who(slot, 0), warps: c.warps(), timed_out });
    }

    /// A cluster has started.
    #[inline(always)]
    pub(crate) fn tell_cluster(&mut self, slot: usize, id: [u32; 3]) {
        if M::EVENTS {
            let ranks = 0..self.geometry.cluster_size();
            let ctas: Vec<_> = ranks.map(|rank| self.geometry.ctaid(id, rank)).collect();
            self.tell(Event::ClusterStarts { slot: slot as u32, id, ctas: &ctas });
        }
    }
}
