//! Issue and delivery of asynchronous operations.

use super::{AsyncOp, Work, cluster_launch, tensor};
use crate::fault::{Fault, FaultKind};
use crate::machine::ctx::Ctx;
use crate::monitor::{Event, Monitor};
use crate::schedule::Choice;

/// The longest delay of an operation, in regions.
const LATEST: u64 = 1024;

impl<M: Monitor> Ctx<'_, M> {
    /// Issues an operation for a thread of the current warp. It is due no earlier than `after`.
    pub(super) fn send(&mut self, lane: u32, after: u64, work: Work) {
        let delay = LATEST >> (2 * self.scheduling.choose(Choice::Delay, 6));
        let due = after.max(self.scheduling.turns + delay);
        let (slot, site, cta, warp) = (self.residents.slot, self.site, self.cur.cta, self.warp);
        self.async_ops.issued += 1;
        let id = self.async_ops.issued;
        let mbarrier = match &work {
            Work::Response(r) => Some((r.rank, r.mbarrier)),
            Work::Operation(_) => None,
            Work::Commit(c) => Some(c.to),
        };
        self.tell(Event::Issues { id, who: self.who(1 << lane), mbarrier });
        self.async_ops.push(AsyncOp { id, slot, due, work, site, cta, warp, lane });
        self.changed();
        self.scheduling.leave = true;
    }

    /// Delivers all operations that are due.
    pub(crate) fn deliver_due(&mut self) -> Result<(), Box<Fault>> {
        let now = self.scheduling.turns;
        while let Some(op) = self.async_ops.take_due(now) {
            self.deliver(op)?;
        }
        Ok(())
    }

    /// Delivers the next operation of this cluster before its time: no thread of the cluster can run.
    pub(crate) fn deliver_to(&mut self, slot: usize) -> Result<(), Box<Fault>> {
        self.async_ops.take_first(|a| a.slot == slot).map_or(Ok(()), |op| self.deliver(op))
    }

    fn deliver(&mut self, op: AsyncOp) -> Result<(), Box<Fault>> {
        self.act_for(&op);
        self.tell(Event::Completes { id: op.id });
        let done = match &op.work {
            Work::Response(r) => self.respond(r, op.lane),
            Work::Operation(o) => self.operate(o, op.cta, op.lane),
            Work::Commit(c) => self.arrive(c, op.lane),
        };
        done.map_err(|kind| self.fault(kind, op.lane))?;
        self.changed();
        Ok(())
    }

    /// Makes the issuing thread the current one, for faults.
    fn act_for(&mut self, op: &AsyncOp) {
        (self.residents.slot, self.site, self.warp, self.cur.cta) = (op.slot, op.site, op.warp, op.cta);
    }

    /// CTA `rank` of the current cluster exits: a fault if an operation on it is in flight.
    pub(crate) fn undelivered_to(&mut self, rank: u32) -> Option<Box<Fault>> {
        let slot = self.residents.slot;
        let op = self.async_ops.take_first(|a| {
            a.slot == slot
                && match &a.work {
                    Work::Response(_) => false,
                    Work::Operation(o) => o.works_on(a.cta, rank),
                    Work::Commit(c) => c.to.0 == rank,
                }
        })?;
        let kind = match &op.work {
            Work::Operation(_) => tensor::operation_outlives(rank, op.cta),
            work => outlives_cluster(work, op.cta),
        };
        self.act_for(&op);
        Some(self.fault(kind, op.lane))
    }

    /// A cluster ends: a fault if an operation of it is in flight.
    pub(crate) fn undelivered(&mut self, slot: usize) -> Option<Box<Fault>> {
        let op = self.async_ops.take_first(|a| a.slot == slot)?;
        self.act_for(&op);
        Some(self.fault(outlives_cluster(&op.work, op.cta), op.lane))
    }
}

fn outlives_cluster(work: &Work, own: u32) -> FaultKind {
    match work {
        Work::Response(r) => cluster_launch::outlives(r),
        Work::Operation(_) => tensor::operation_outlives(own, own),
        Work::Commit(c) => tensor::commit_outlives(c.to.0),
    }
}
