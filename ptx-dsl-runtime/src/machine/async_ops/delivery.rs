//! Issue and delivery of asynchronous operations.

use super::{AsyncCopy, AsyncOp, AsyncOps, Work, cluster_launch, copies, lane_copies, tensor};
use crate::fault::{Fault, FaultKind};
use crate::machine::copy::Signal;
use crate::machine::ctx::parts::AsyncUnit;
use crate::machine::schedule::Choice;
use crate::observe::monitor::Event;

/// The longest delay of an operation, in regions.
const LATEST: u64 = 1024;

impl AsyncOps {
    /// The operations in flight that may complete next and whose completion threads can wait for: slots and numbers. The others
    /// complete when threads wait for them in another way, or when nothing else can happen.
    pub(crate) fn may_complete(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let list = &self.list;
        let first = move |at: usize, op: &AsyncOp| !list.range(..at).any(|before| precedes(before, op));
        let may = move |(at, op): &(usize, &AsyncOp)| signals(op) && first(*at, op);
        list.iter().enumerate().filter(may).map(|(_, op)| (op.slot, op.id))
    }
}

impl AsyncUnit<'_, '_> {
    /// Issues an operation for a thread of the current warp. It is due no earlier than `after`.
    pub(super) fn send(&mut self, lane: u32, after: u64, work: Work) {
        let delay = LATEST >> (2 * self.ctx.scheduling.choose(Choice::Delay, 6));
        let due = after.max(self.ctx.scheduling.turns + delay);
        self.send_at(lane, if self.ctx.scheduling.steps.is_some() { u64::MAX } else { due }, work);
    }

    /// Sends an operation that is due at this time.
    pub(super) fn send_at(&mut self, lane: u32, due: u64, work: Work) {
        let (slot, site, cta, warp) = (self.ctx.residents.slot, self.ctx.site, self.ctx.cur.cta, self.ctx.warp);
        self.ctx.async_ops.issued += 1;
        let id = self.ctx.async_ops.issued;
        let mbarrier = match &work {
            Work::Response(r) => Some((r.rank, r.mbarrier)),
            Work::Commit(c) => Some(c.to),
            Work::Copy(AsyncCopy { signal: Signal::Mbarrier { at, .. }, .. }) => Some((at.rank, at.offset)),
            Work::CopiesArrive(a) => Some((self.ctx.cur.cta, a.offset)),
            Work::Operation(_) | Work::Copy(_) => None,
        };
        if let Some(steps) = &mut self.ctx.scheduling.steps {
            steps.starts(id);
        }
        let who = self.ctx.who(1 << lane);
        self.ctx.report().event(Event::Issues { id, who, mbarrier });
        self.ctx.async_ops.push(AsyncOp { id, slot, due, work, site, cta, warp, lane });
        self.ctx.changed();
        self.ctx.scheduling.leave = true;
    }

    /// The completion time of a copy that starts now, which may be before the next instruction.
    pub(super) fn due_of_copy(&mut self) -> u64 {
        if self.ctx.scheduling.steps.is_some() {
            return u64::MAX;
        }
        let delay = match self.ctx.scheduling.choose(Choice::Delay, 7) {
            6 => 0,
            later => LATEST >> (2 * later),
        };
        self.ctx.scheduling.turns + delay
    }

    /// Delivers all operations that are due.
    pub(crate) fn deliver_due(&mut self) -> Result<(), Box<Fault>> {
        let now = self.ctx.scheduling.turns;
        while let Some(op) = self.ctx.async_ops.take_due(now) {
            self.deliver(op)?;
        }
        while self.ctx.async_ops.is_full()
            && self.ctx.scheduling.steps.is_none()
            && let Some(op) = self.ctx.async_ops.take_first(|_| true)
        {
            self.deliver(op)?;
        }
        self.deliver_due_lane_copies(now)
    }

    /// Delivers the next operation of this cluster before its time: no thread of the cluster can run.
    pub(crate) fn deliver_to(&mut self, slot: usize) -> Result<(), Box<Fault>> {
        match self.ctx.async_ops.take_first(|a| a.slot == slot) {
            Some(op) => self.deliver(op),
            None => self.deliver_lane_copies_to(slot),
        }
    }

    /// Completes an operation, after those that it tracks.
    pub(crate) fn complete(&mut self, id: u64) -> Result<(), Box<Fault>> {
        let Some(op) = self.ctx.async_ops.list.iter().find(|op| op.id == id) else { return Ok(()) };
        let (slot, tracks) = (op.slot, matches!(op.work, Work::Commit(_)));
        let tracked = |a: &AsyncOp| a.slot == slot && a.id < id && matches!(a.work, Work::Operation(_));
        while tracks && let Some(before) = self.ctx.async_ops.take_first(tracked) {
            self.deliver(before)?;
        }
        match self.ctx.async_ops.take_first(|a| a.id == id) {
            Some(op) => self.deliver(op),
            None => Ok(()),
        }
    }

    pub(super) fn deliver(&mut self, op: AsyncOp) -> Result<(), Box<Fault>> {
        self.act_for(&op);
        self.ctx.report().event(Event::Completes { id: op.id });
        let done = match op.work {
            Work::Response(r) => self.respond(&r, op.lane),
            Work::Operation(o) => self.ctx.tensor().operate(&o, op.cta),
            Work::Commit(c) => self.ctx.tensor().arrive(&c, op.lane),
            Work::Copy(copy) => self.complete_copy(copy, op.lane),
            Work::CopiesArrive(a) => return self.copies_arrive(&a),
        };
        done.map_err(|kind| self.ctx.fault(kind, op.lane))?;
        self.ctx.changed();
        Ok(())
    }

    /// Makes the issuing thread the current one, for faults.
    fn act_for(&mut self, op: &AsyncOp) {
        (self.ctx.residents.slot, self.ctx.site, self.ctx.warp, self.ctx.cur.cta) = (op.slot, op.site, op.warp, op.cta);
    }

    /// CTA `rank` of the current cluster exits: a fault if an operation on it is in flight.
    pub(crate) fn undelivered_to(&mut self, rank: u32) -> Option<Box<Fault>> {
        let slot = self.ctx.residents.slot;
        let op = self.ctx.async_ops.take_first(|a| {
            a.slot == slot
                && match &a.work {
                    Work::Response(_) => false,
                    Work::Operation(o) => o.works_on(a.cta, rank),
                    Work::Commit(c) => c.to.0 == rank,
                    Work::Copy(copy) => copy.needs(rank),
                    Work::CopiesArrive(_) => false,
                }
        });
        let Some(op) = op else { return self.lane_copy_outlives(rank) };
        let kind = self.outlives(&op, rank);
        self.act_for(&op);
        Some(self.ctx.fault(kind, op.lane))
    }

    /// A cluster ends: a fault if an operation of it is in flight that needs the cluster.
    pub(crate) fn end_of_cluster(&mut self, slot: usize) -> Result<(), Box<Fault>> {
        while let Some(op) = self.ctx.async_ops.take_first(|a| a.slot == slot) {
            if !matches!(&op.work, Work::Copy(copy) if copy.is_detached()) {
                let kind = self.outlives(&op, op.cta);
                self.act_for(&op);
                return Err(self.ctx.fault(kind, op.lane));
            }
            self.deliver(op)?;
        }
        self.ctx.async_ops.forget_copies(slot);
        Ok(())
    }

    /// An operation is in flight that needs CTA `rank`, which ends.
    fn outlives(&self, op: &AsyncOp, rank: u32) -> FaultKind {
        match &op.work {
            Work::Response(r) => cluster_launch::outlives(r),
            Work::Operation(_) => tensor::operation_outlives(rank, op.cta),
            Work::Commit(c) => tensor::commit_outlives(c.to.0),
            Work::Copy(copy) => copies::copy_outlives(copy, rank, op.cta, self.is_uncounted(copy)),
            Work::CopiesArrive(_) => lane_copies::arrival_outlives(op.cta),
        }
    }
}

/// Whether the operation arrives on an mbarrier object, or completes bytes of one.
fn signals(op: &AsyncOp) -> bool {
    match &op.work {
        Work::Response(_) | Work::Commit(_) | Work::CopiesArrive(_) => true,
        Work::Copy(copy) => matches!(copy.signal, Signal::Mbarrier { .. }),
        Work::Operation(_) => false,
    }
}

/// Must the one complete before the other? Commits of a thread arrive in order in each CTA.
fn precedes(before: &AsyncOp, op: &AsyncOp) -> bool {
    let thread = |a: &AsyncOp| (a.slot, a.cta, a.warp, a.lane);
    match (&before.work, &op.work) {
        (Work::Commit(a), Work::Commit(b)) => thread(before) == thread(op) && a.pair == b.pair && a.to.0 == b.to.0,
        _ => false,
    }
}
