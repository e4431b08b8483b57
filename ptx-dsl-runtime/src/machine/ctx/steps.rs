//! The effects of a step, for launches that run step by step.

use crate::fault::words::id;
use crate::machine::ctx::parts::Reports;
use crate::machine::steps::effect::{Action, StepObject};
use crate::machine::steps::{Note, Process, Steps};
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Offsets, Sync};

impl<'c> Reports<'c, '_> {
    /// The schedule: each change from one process to another, each wait that ends early, and clusters that start out of order.
    #[cold]
    pub(crate) fn steps_in_words(&self) -> Vec<String> {
        let notes = self.ctx.scheduling.steps.as_ref().map_or(&self.ctx.scheduling.notes, |steps| &steps.notes);
        let cta =
            |cluster, rank| format!("CTA {}", id(self.ctx.geometry.ctaid(self.ctx.geometry.clusterid(cluster), rank)));
        let warp = |p: &Process| format!("warp {} of {}", p.warp, cta(p.cluster, p.rank));
        let words = notes.iter().map(|note| match note {
            Note::Runs(p @ Process { operation: 0, .. }, site) => {
                format!("{} from {}", warp(p), self.ctx.geometry.statement(*site, "its start"))
            }
            Note::Runs(p, _) => format!("asynchronous operation {} of {} completes", p.operation, warp(p)),
            Note::GivesUp(p, site) => {
                format!("{} of {} returns false", self.ctx.geometry.statement(*site, "`try_wait`"), warp(p))
            }
            Note::Starts { cluster, before } => format!("{} starts before {}", cta(*cluster, 0), cta(*before, 0)),
        });
        words.collect()
    }

    /// Notes that a `try_wait` of the current warp returns false although it could wait, as a seed may choose.
    #[cold]
    pub(crate) fn note_give_up(&mut self) {
        let cluster = self.ctx.geometry.cluster_number(self.ctx.residents.here().id);
        let process = Process { operation: 0, cluster, rank: self.ctx.cur.cta, warp: self.ctx.warp };
        self.ctx.scheduling.note(Note::GivesUp(process, self.ctx.site));
    }

    /// The steps, if somebody sees what they do.
    #[inline(always)]
    pub(crate) fn watched_steps(self) -> Option<&'c mut Steps> {
        if self.ctx.monitor.is_on() { self.ctx.scheduling.steps.as_deref_mut() } else { None }
    }

    /// The step does this to an object of the current cluster.
    #[inline(always)]
    pub(crate) fn step_does(&mut self, object: impl Fn(u32) -> StepObject, action: Action) {
        let slot = self.ctx.residents.slot as u32;
        if let Some(steps) = self.ctx.report().watched_steps() {
            steps.effect(object(slot), action);
        }
    }

    /// Records a synchronisation of lanes of the current warp.
    #[cold]
    pub(super) fn step_synchronises(&mut self, what: Sync) {
        let (slot, own, site) = (self.ctx.residents.slot as u32, self.ctx.cur.cta, self.ctx.site);
        let orders_fences = what == Sync::Fence && self.ctx.order.is_sequential() && self.ctx.report().weak().is_some();
        let Some(steps) = self.ctx.report().watched_steps() else { return };
        match what {
            Sync::Fence if orders_fences => steps.effect(StepObject::Sequential, Action::Write),
            Sync::MbarrierInit { rank, offset } | Sync::MbarrierInval { rank, offset } => {
                steps.effect(StepObject::Mbarrier(slot, rank, offset), Action::Write);
            }
            Sync::MbarrierWait { rank, offset } => steps.look(StepObject::Mbarrier(slot, rank, offset), true, site),
            Sync::Barrier { id, waits } => steps.arrive_at(StepObject::Barrier(slot, own, id), waits),
            Sync::BarrierCompletes { id } => steps.completes(StepObject::Barrier(slot, own, id)),
            Sync::ClusterArrive => steps.arrive_at(StepObject::Cluster(slot), false),
            Sync::ClusterCompletes => steps.completes(StepObject::Cluster(slot)),
            // an update of the object follows; the rest orders no steps of different warps
            _ => {}
        }
    }

    /// An operation on an mbarrier object, which changes it or not, and completes its phase or not.
    #[inline(always)]
    pub(crate) fn step_updates_mbarrier(&mut self, rank: u32, offset: u32, (changes, completes): (bool, bool)) {
        let (slot, own, site) = (self.ctx.residents.slot as u32, self.ctx.cur.cta, self.ctx.site);
        if let Some(steps) = self.ctx.report().watched_steps() {
            let object = StepObject::Mbarrier(slot, rank, offset);
            if changes {
                steps.arrive(object, completes)
            } else {
                steps.look(object, false, site)
            }
            if rank != own {
                steps.effect(StepObject::Life(slot, rank), Action::Read);
            }
        }
    }

    /// A thread accesses memory. Only the order of strong accesses matters: weak ones are ordered by others, or race.
    #[inline(always)]
    pub(super) fn step_accesses(&mut self, a: &Access, offsets: Option<Offsets<'_>>) {
        if !self.ctx.monitor.is_on() {
            return;
        }
        if self.ctx.scheduling.steps.is_some() {
            self.step_accesses_now(a, offsets);
        } else if a.order.is_strong() && !a.write {
            self.ctx.scheduling.polls(a.who.lanes.count_ones());
        }
    }

    #[cold]
    fn step_accesses_now(&mut self, a: &Access, offsets: Option<Offsets<'_>>) {
        let (slot, own) = (a.who.slot, self.ctx.cur.cta);
        let Some(steps) = self.ctx.report().watched_steps() else { return };
        if let Place::Shared { rank, .. } = a.place
            && rank != own
        {
            steps.effect(StepObject::Life(slot, rank), Action::Read);
        }
        if !a.order.is_strong() {
            return;
        }
        let (first, object): (u64, Box<dyn Fn(u64) -> StepObject>) = match a.place {
            Place::Shared { rank, offset } => {
                (offset.into(), Box::new(move |at| StepObject::Shared(slot, rank, at as u32)))
            }
            Place::Global { segment, offset } => (offset, Box::new(move |at| StepObject::Global(segment as u32, at))),
            Place::Local { .. } | Place::Const { .. } | Place::Param { .. } => return,
        };
        let Some(offsets) = offsets else { return steps.access(&object, first, a.bytes, a.write) };
        for (_, offset) in offsets.each(a.who.lanes, first) {
            steps.access(&object, offset, a.bytes, a.write);
        }
    }
}
