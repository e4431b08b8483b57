//! The thread that acts, and its events, as monitors get them.

use crate::fault::{Fault, FaultKind};
use crate::machine::cluster::{Cohort, Parked};
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::Reports;
use crate::machine::findings::UndefinedAccess;
use crate::machine::undefined::{is_operand, pieces};
use crate::memory::address::{AddrSpace, Place, decode};
use crate::observe::monitor::{Access, Agent, By, Event, Finding, Order, Proxy, Sync, Who};
use crate::observe::probe::layout::{SharedBox, SharedMatrix};
use ptx_dsl_isa::image::NO_SITE;

impl Ctx<'_> {
    /// The given lanes of the current warp at the current statement.
    pub(crate) fn who(&self, lanes: u32) -> Who {
        let slot = self.residents.slot as u32;
        Who { site: self.site, slot, rank: self.cur.cta, warp: self.warp, lanes }
    }

    /// Records the statement that runs, and its memory order.
    #[inline(always)]
    pub(crate) fn at(&mut self, site: u32, order: Order) {
        (self.site, self.order) = (site, order);
    }

    /// Handles a finding of the monitor about a lane. Err if it ends the launch.
    #[cold]
    pub(crate) fn found(&mut self, kind: FaultKind, lane: u32) -> Result<(), FaultKind> {
        let who = self.who(1 << lane);
        match self.monitor.get().map_or(Finding::Ends, |monitor| monitor.finding(&kind, who)) {
            Finding::Ends => return Err(kind),
            Finding::Reported => {
                self.learn_of_race(&kind, lane);
                let fault = self.fault(kind, lane);
                self.findings.list.push(*fault);
            }
            Finding::Alike(number) => {
                if let Some(known) = self.findings.list.get_mut(number) {
                    known.alike += 1;
                }
            }
            Finding::Known => self.learn_of_race(&kind, lane),
        }
        Ok(())
    }

    /// Tells findings of races what another race shows that is not reported again.
    #[cold]
    fn learn_of_race(&mut self, kind: &FaultKind, lane: u32) {
        let FaultKind::DataRace(race) = kind else { return };
        let own = self.thread_id(lane);
        for fault in &mut self.findings.list {
            if let FaultKind::DataRace(known) = &mut fault.kind {
                known.learn(race, own);
            }
        }
    }

    /// Tells the monitor that lanes of the current warp synchronise.
    #[inline(always)]
    pub(crate) fn report_sync(&mut self, what: Sync, lanes: u32) -> Result<(), Box<Fault>> {
        if self.monitor.is_on() {
            self.report().step_synchronises(what);
            let order = self.order;
            let done = self.report().sync(what, order, lanes);
            done.map_err(|kind| self.fault(kind, lanes.trailing_zeros().min(31)))?;
        }
        Ok(())
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

impl Reports<'_, '_> {
    /// Tells the monitor of an access of one lane.
    pub(crate) fn access(&mut self, access: Access) -> Result<(), FaultKind> {
        self.step_accesses(&access, None);
        let Some(monitor) = self.ctx.monitor.get() else { return Ok(()) };
        match monitor.memory(access) {
            Ok(()) if self.ctx.findings.has_stored && !access.write => {
                self.reads_undefined(access);
                Ok(())
            }
            Ok(()) => Ok(()),
            Err(FaultKind::Uninitialised { .. })
                if self.ctx.findings.follows(access.who.site) && is_operand(&access) =>
            {
                self.ctx.findings.in_operand = true;
                Ok(())
            }
            Err(FaultKind::Uninitialised { .. })
                if access.by == By::Thread && self.ctx.findings.follows(access.who.site) =>
            {
                let bytes = monitor.unwritten(&access);
                self.ctx.findings.undefined.push(UndefinedAccess::Load(access, bytes, None));
                Ok(())
            }
            Err(kind) => self.ctx.found(kind, access.who.lanes.trailing_zeros().min(31)),
        }
    }

    /// A load, a copy to global memory, or an operand of what may be an undefined value that a statement has stored.
    #[cold]
    fn reads_undefined(&mut self, access: Access) {
        let Some(monitor) = self.ctx.monitor.get() else { return };
        if is_operand(&access) && self.ctx.findings.follows(access.who.site) {
            self.ctx.findings.in_operand |= pieces(access).any(|piece| monitor.undefined_bytes(&piece).is_some());
            return;
        }
        let Some((bytes, origin)) = monitor.undefined_bytes(&access) else { return };
        match access.by {
            By::Thread if self.ctx.findings.follows(access.who.site) => {
                self.ctx.findings.undefined.push(UndefinedAccess::Load(access, bytes, Some(origin)));
            }
            By::Thread if access.order.atomic => {
                self.ctx.findings.undefined.push(UndefinedAccess::Used(access, origin, "changed"));
            }
            // part of what it copies may be padding
            By::Agent(Agent::Bulk { .. }) if bytes == u64::MAX => {
                self.ctx.findings.undefined.push(UndefinedAccess::Used(access, origin, "copied to global memory"));
            }
            _ => {}
        }
    }

    /// The number of an undefined value that these bytes of the CTA's shared memory hold.
    #[cold]
    pub(crate) fn undefined_in_shared(&mut self, addr: u64, offset: u32, bytes: u32) -> Option<u32> {
        let place = Place::Shared { rank: self.ctx.rank(), offset };
        let (by, proxy, order) = (By::Thread, Proxy::Generic, self.ctx.order);
        let access = Access { place, addr, bytes, write: false, same: false, by, proxy, order, who: self.ctx.who(1) };
        let (undefined, origin) = self.ctx.monitor.get()?.undefined_bytes(&access)?;
        (undefined.count_ones() >= bytes).then_some(origin)
    }

    /// Tells the monitor that a block of the heap is allocated, or free again.
    pub(crate) fn heap(&mut self, address: u64, bytes: u64, allocated: bool) {
        self.ctx.changed();
        if let (Some(Place::Global { segment, offset }), Some(monitor)) =
            (decode(AddrSpace::Global, address, self.ctx.cur.cta), self.ctx.monitor.get())
        {
            monitor.heap(segment, offset..offset + bytes, allocated);
        }
    }

    /// Reports a synchronisation with this order, which is no part of a step.
    pub(crate) fn sync(&mut self, what: Sync, order: Order, lanes: u32) -> Result<(), FaultKind> {
        let who = self.ctx.who(lanes);
        let Some(monitor) = self.ctx.monitor.get() else { return Ok(()) };
        let done = monitor.sync(what, order, who);
        done.or_else(|kind| self.ctx.found(kind, lanes.trailing_zeros().min(31)))
    }

    /// Tells the monitor that an operation of a lane reads a matrix in the shared memory of a CTA.
    pub(crate) fn matrix(&mut self, matrix: &SharedMatrix, rank: u32, lane: u32) -> Result<(), FaultKind> {
        let who = self.ctx.who(1 << lane);
        let Some(monitor) = self.ctx.monitor.get() else { return Ok(()) };
        monitor.reads_matrix(matrix, rank, who).or_else(|kind| self.ctx.found(kind, lane))
    }

    /// Tells the monitor that a copy of a lane writes a box to shared memory, if it has a number, or else reads it there.
    pub(crate) fn shared_box(&mut self, of: &SharedBox, written_by: Option<u64>, lane: u32) -> Result<(), FaultKind> {
        let who = self.ctx.who(1 << lane);
        let Some(monitor) = self.ctx.monitor.get() else { return Ok(()) };
        match written_by {
            Some(copy) => {
                monitor.writes_box(of, copy, who);
                Ok(())
            }
            None => monitor.reads_box(of, who).or_else(|kind| self.ctx.found(kind, lane)),
        }
    }

    /// Tells the monitor that the warp reads the rows of a matrix at these places of the CTA's shared memory, or has written them.
    pub(crate) fn matrix_rows(&mut self, matrix: u32, rows: &[u32], written: bool) -> Result<(), FaultKind> {
        let who = self.ctx.who(self.ctx.mask);
        let Some(monitor) = self.ctx.monitor.get() else { return Ok(()) };
        if written {
            monitor.writes_rows(matrix, rows, who);
            return Ok(());
        }
        monitor.reads_rows(matrix, rows, who).or_else(|kind| self.ctx.found(kind, 8 * matrix))
    }

    /// Tells the monitor what happens.
    #[inline(always)]
    pub(crate) fn event(&mut self, event: Event<'_>) {
        if self.ctx.monitor.wants().events
            && let Some(monitor) = self.ctx.monitor.get()
        {
            monitor.event(self.ctx.scheduling.turns, event);
        }
    }

    /// The current cohort starts to run.
    #[inline(always)]
    pub(crate) fn runs(&mut self) {
        let (who, warps) = (self.ctx.cur.who(self.ctx.residents.slot, NO_SITE), self.ctx.cur.warps());
        self.event(Event::Runs { who, warps });
    }

    /// Neighbouring warps run a region: from `first` on, with these lanes. `site` is its first statement that has a number.
    #[inline(always)]
    pub(crate) fn region(&mut self, (first, lanes, warps): (u32, u32, u32), site: Option<u32>, name: &str) {
        if self.ctx.monitor.wants().events {
            let who = Who { warp: first, lanes, ..self.ctx.cur.who(self.ctx.residents.slot, site.unwrap_or(NO_SITE)) };
            self.event(Event::Region { who, warps, name });
        }
    }

    /// A cohort of the current cluster starts to wait.
    #[inline(always)]
    pub(crate) fn waits(&mut self, p: &Parked) {
        if self.ctx.monitor.needs().waits
            && let Some(monitor) = self.ctx.monitor.get()
        {
            monitor.waits(self.ctx.scheduling.turns, p.c.who(self.ctx.residents.slot, p.site), p.c.warps(), &p.wait);
        }
        if self.ctx.monitor.wants().events {
            let reason = self.ctx.residents.here().waits_for(p, &self.ctx.geometry);
            let (who, warps) = (p.c.who(self.ctx.residents.slot, p.site), p.c.warps());
            self.event(Event::Waits { who, warps, wait: &p.wait, reason: &reason });
        }
    }

    /// Tells the monitor that a cohort goes on.
    #[inline(always)]
    pub(crate) fn resumes(&mut self, slot: usize, c: &Cohort, timed_out: bool) {
        if self.ctx.monitor.needs().waits
            && let Some(monitor) = self.ctx.monitor.get()
        {
            monitor.resumes(self.ctx.scheduling.turns, c.who(slot, NO_SITE), c.warps());
        }
        self.event(Event::Resumes { who: c.who(slot, NO_SITE), warps: c.warps(), timed_out });
    }

    /// Tells the monitor that a cluster starts in a slot, with new memory.
    #[inline(always)]
    pub(crate) fn slot_starts(&mut self, slot: usize) {
        if let Some(monitor) = self.ctx.monitor.get() {
            let (slot, ctas, threads) =
                (slot as u32, &self.ctx.residents.clusters[slot].ctas, self.ctx.geometry.threads);
            match &ctas[..] {
                [cta] => monitor.cluster(slot, &[cta.id], threads),
                _ => monitor.cluster(slot, &ctas.iter().map(|cta| cta.id).collect::<Vec<_>>(), threads),
            }
        }
    }

    /// Tells the monitor that a cluster has started.
    #[inline(always)]
    pub(crate) fn cluster_starts(&mut self, slot: usize, id: [u32; 3]) {
        if self.ctx.monitor.wants().events {
            let ranks = 0..self.ctx.geometry.cluster_size();
            let ctas: Vec<_> = ranks.map(|rank| self.ctx.geometry.ctaid(id, rank)).collect();
            self.event(Event::ClusterStarts { slot: slot as u32, id, ctas: &ctas });
        }
    }
}
