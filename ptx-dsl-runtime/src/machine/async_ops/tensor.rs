//! Issue, commit and completion of tensor core operations, in the orders of 9.7.16.6.

use super::{AsyncOp, Commit, TensorOperation, Work};
use crate::fault::{Fault, FaultKind};
use crate::machine::cluster::Cta;
use crate::machine::copy::JobAccess;
use crate::machine::ctx::parts::TensorUnit;
use crate::machine::tensor::{Area, Pipeline, TensorCta, TensorJob};
use crate::machine::undefined::{OfPair, UndefinedWords};
use crate::memory::address::Place;
use crate::observe::monitor::{Agent, By, Order, Sync, TensorArea, TensorBy};
use crate::observe::probe::layout::name_matrix;
use crate::sync::mbarrier::{self, Arrive};

const ORDER: &str = "9.7.16.6";

/// CTA `rank` ends while an operation that CTA `own` issued is in flight.
pub(super) fn operation_outlives(rank: u32, own: u32) -> FaultKind {
    if rank == own {
        return FaultKind::undefined(
            format!("CTA {rank} of the cluster ends while this operation on its Tensor Memory is in flight"),
            ORDER,
            "`tcgen05.commit` to an mbarrier and wait for it before the threads of the CTA end",
        );
    }
    FaultKind::IssueGranularity {
        what: format!(
            "CTA {rank} of the cluster, the peer of CTA {own}, ends while this operation on its Tensor Memory is in flight"
        ),
        help: "keep both CTAs alive until they are done: `barrier.cluster.arrive` and `.wait` at the end",
    }
}

/// CTA `rank` ends before the arrive-on of a commit.
pub(super) fn commit_outlives(rank: u32) -> FaultKind {
    FaultKind::undefined(
        format!("CTA {rank} of the cluster ends before this `tcgen05.commit` has arrived on its mbarrier object"),
        "9.7.16.12.1",
        "wait for the phase of the mbarrier object that the commit completes",
    )
}

impl TensorUnit<'_, '_> {
    /// Checks that one thread issues `mma`, `cp` or `shift` (Table 46). With several active lanes each would issue an operation,
    /// which is never meant: a fault.
    fn single_issue(&mut self, pair: bool, lane: u32) -> Result<(), Box<Fault>> {
        let n = self.ctx.mask.count_ones();
        if n > 1 {
            let what =
                format!("{n} threads of the warp execute the instruction, and each issues an operation of its own");
            let help = "elect one lane for `mma`, `cp` and `shift`: `elect.sync _|p, -1;`, and guard the instruction with `@p`";
            return Err(self.ctx.fault(FaultKind::IssueGranularity { what, help }, lane));
        }
        self.may_issue(pair, lane)
    }

    /// `.cta_group::2` needs a peer CTA (Table 46).
    fn may_issue(&mut self, pair: bool, lane: u32) -> Result<(), Box<Fault>> {
        self.cta_group(pair, lane)?;
        if pair { self.peer(lane).map(|_| ()) } else { Ok(()) }
    }

    /// Issues an operation for `lane`, which completes later.
    pub fn issue(&mut self, pair: bool, lane: u32, job: Box<dyn TensorJob>) -> Result<(), Box<Fault>> {
        self.single_issue(pair, lane)?;
        let in_order = self.ctx.geometry.tensor.mma_in_order;
        let (mut after, pipeline) = (0, job.pipeline(pair, in_order));
        for a in self.ctx.async_ops.list.iter().filter(|a| a.slot == self.ctx.residents.slot) {
            if let Work::Operation(o) = &a.work
                && o.job.pipeline(o.pair, in_order).precedes(&pipeline)
                && self.is_ordered_after(a, lane)
            {
                after = after.max(a.due);
            }
        }
        if self.ctx.monitor.is_on() {
            self.operates(pipeline, &*job, lane).map_err(|kind| self.ctx.fault(kind, lane))?;
            self.report_reads(&*job, pair, lane).map_err(|kind| self.ctx.fault(kind, lane))?;
        }
        self.ctx.async_unit().send(lane, after, Work::Operation(TensorOperation { job, pair, fenced: None }));
        Ok(())
    }

    /// Is an operation of this lane ordered after `a`? It is if the same thread issued `a`, or if that thread's fence and then ours
    /// are in between.
    fn is_ordered_after(&self, a: &AsyncOp, lane: u32) -> bool {
        if (a.cta, a.warp, a.lane) == (self.ctx.cur.cta, self.ctx.warp, lane) {
            return true;
        }
        let Work::Operation(TensorOperation { fenced: Some(before), .. }) = a.work else { return false };
        let after = self.ctx.async_ops.fences.after.get(&(self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp));
        after.is_some_and(|after| after[lane as usize & 31] > before)
    }

    /// `tcgen05.commit` of `lane`: arrives on the mbarrier objects at `to` (rank, offset) once all operations of this thread with
    /// the same `.cta_group` are complete, on each at its own time. Several lanes may commit: the mbarrier's count may include
    /// them.
    pub fn commit(&mut self, pair: bool, lane: u32, to: Vec<(u32, u32)>) -> Result<(), Box<Fault>> {
        self.may_issue(pair, lane)?;
        for &(rank, offset) in &to {
            if let Err(kind) = self.ctx.window(rank) {
                return Err(self.ctx.fault(kind, lane));
            }
            self.ctx.report_sync(Sync::Mbarrier { rank, offset, counts: false }, 1 << lane)?;
        }
        let thread = (self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp, lane);
        // the latest due times: of the operations, and of the commits by the CTA in which they arrive
        let (mut done, mut arrived) = (0, [0; 32]);
        for a in self.ctx.async_ops.list.iter_mut().filter(|a| (a.slot, a.cta, a.warp, a.lane) == thread) {
            match &mut a.work {
                Work::Operation(o) if o.pair == pair => {
                    done = done.max(a.due);
                    // a commit implies `tcgen05.fence::before_thread_sync` (9.7.16.6.4.2)
                    o.fenced.get_or_insert(self.ctx.async_ops.fences.now);
                }
                // commits are synchronous instructions: one does not overtake another of its thread (9.7.16.6.1)
                Work::Commit(c) if c.pair == pair => {
                    let last = &mut arrived[c.to.0 as usize & 31];
                    *last = a.due.max(*last);
                }
                _ => {}
            }
        }
        self.ctx.async_ops.fences.now += 1;
        let commits = self.ctx.async_ops.commits.entry(thread).or_default();
        *commits += 1;
        let number = *commits;
        self.ctx.report_sync(Sync::Commit { commit: number, arrivals: to.len() as u32 }, 1 << lane)?;
        for to in to {
            let after = done.max(arrived[to.0 as usize & 31]);
            self.ctx.async_unit().send(lane, after, Work::Commit(Commit { to, pair, number }));
        }
        Ok(())
    }

    /// `tcgen05.fence` of the active lanes: `::before_thread_sync` or `::after_thread_sync`.
    pub fn fence(&mut self, before: bool) -> Result<(), Box<Fault>> {
        let (slot, cta, warp, mask) = (self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp, self.ctx.mask);
        let fences = &mut self.ctx.async_ops.fences;
        fences.now += 1;
        let now = fences.now;
        if before {
            for a in self.ctx.async_ops.list.iter_mut() {
                if let Work::Operation(o) = &mut a.work
                    && (a.slot, a.cta, a.warp) == (slot, cta, warp)
                    && mask >> a.lane & 1 != 0
                {
                    o.fenced.get_or_insert(now);
                }
            }
        } else {
            let after = fences.after.entry((slot, cta, warp)).or_default();
            after.iter_mut().enumerate().filter(|(l, _)| mask >> l & 1 != 0).for_each(|(_, t)| *t = now);
        }
        self.ctx.report_sync(Sync::TensorFence { before }, mask)
    }

    /// Tells the monitor what an operation accesses in Tensor Memory.
    fn operates(&mut self, pipeline: Pipeline, job: &dyn TensorJob, lane: u32) -> Result<(), FaultKind> {
        let own = self.ctx.cur.cta;
        let area = |Area { cta, lanes, columns, operand }: Area| {
            let rank = if pipeline.pair { own & !1 | cta as u32 } else { own };
            TensorArea { rank, lanes, columns, operand }
        };
        let all = |areas: Vec<Area>| -> Vec<TensorArea> { areas.into_iter().map(area).collect() };
        let mut writes = all(job.writes());
        if writes.is_empty() {
            writes = all((0..1 + usize::from(pipeline.pair)).map(Area::whole).collect());
        }
        let commits =
            self.ctx.async_ops.commits.get(&(self.ctx.residents.slot, own, self.ctx.warp, lane)).copied().unwrap_or(0);
        self.report_access(TensorBy::Operation { commits, pipeline }, &all(job.reads()), &writes, 1 << lane)
    }

    /// Tells the monitor what an operation reads of shared memory.
    fn report_reads(&mut self, job: &dyn TensorJob, pair: bool, lane: u32) -> Result<(), FaultKind> {
        let own = self.ctx.cur.cta;
        let thread = (self.ctx.residents.slot, own, self.ctx.warp, lane);
        let by = By::Agent(Agent::Tensor(self.ctx.async_ops.commits.get(&thread).copied().unwrap_or(0)));
        for (cta, bytes) in job.bytes() {
            let rank = if pair { own & !1 | cta as u32 } else { own };
            if self.ctx.window(rank)?.len() < bytes.end as usize {
                // the operation itself reports an operand outside
                continue;
            }
            let place = Place::Shared { rank, offset: bytes.start };
            let read = JobAccess::of_copy(place, bytes.end - bytes.start, false);
            self.ctx.async_unit().report_agent(read, by, Order::default(), lane)?;
        }
        let holds = self.ctx.monitor.get().is_some_and(|monitor| monitor.has_undefined_words());
        if std::mem::take(&mut self.ctx.findings.in_operand) || holds {
            let first = if pair { own & !1 } else { own };
            let all = job.undefined(&mut OfPair { x: self.ctx, first });
            let who = self.ctx.who(1 << lane);
            for UndefinedWords { cta, lane, columns, origin } in all {
                if let Some(monitor) = self.ctx.monitor.get() {
                    monitor.undefined_words(who, first + cta as u32, lane, columns, origin);
                }
            }
        }
        let who = self.ctx.who(1 << lane);
        if let (Some(product), Some(monitor)) = (job.product(), self.ctx.monitor.get()) {
            monitor.multiplies(product, who);
        }
        for matrix in job.matrices() {
            for rank in if pair { own & !1..(own & !1) + 2 } else { own..own + 1 } {
                self.ctx.report().matrix(&matrix, rank, lane)?;
            }
        }
        Ok(())
    }

    /// Completes an operation that a lane of CTA `own` has issued.
    pub(super) fn operate(&mut self, o: &TensorOperation, own: u32) -> Result<(), FaultKind> {
        self.ctx.scheduling.works(o.job.work());
        let ranks = if o.pair { own & !1..(own | 1) + 1 } else { own..own + 1 };
        let ctas = self.ctx.here().ctas.get_mut(ranks.start as usize..ranks.end as usize).unwrap_or_default();
        if let Some(i) = ctas.iter().position(|c| c.exited) {
            return Err(operation_outlives(ranks.start + i as u32, own));
        }
        let done = match ctas {
            [one] => o.job.run(&mut [view(one)]),
            [even, odd] => o.job.run(&mut [view(even), view(odd)]),
            _ => Err(FaultKind::IssueGranularity {
                what: format!("CTA {own} has no peer for `.cta_group::2`"),
                help: "launch clusters of an even number of CTAs",
            }),
        };
        done.map_err(|kind| name_matrix(kind, o.job.matrices()))
    }

    /// The arrive-on of a commit.
    pub(super) fn arrive(&mut self, c: &Commit, lane: u32) -> Result<(), FaultKind> {
        let (rank, offset) = c.to;
        self.ctx.async_unit().report_completion(Sync::CommitArrives { commit: c.number, rank, offset }, lane)?;
        self.ctx.sync().update_mbarrier(rank, offset, |word| mbarrier::arrive(word, 1, Arrive::default()), lane)?;
        Ok(())
    }
}

fn view(c: &mut Cta) -> TensorCta<'_> {
    TensorCta { tmem: &mut c.tmem, shared: &c.shared }
}
