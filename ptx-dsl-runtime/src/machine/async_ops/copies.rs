//! Issue, completion and bulk groups of asynchronous copies (PTX ISA 9.7.9.25.4 to 9.7.9.25.6), and of asynchronous stores.
//!
//! A copy reads its source when it starts or when it completes, as the scheduler chooses; its destination changes when it
//! completes. A wait for bulk groups does not block: it completes what it waits for, which is the same as if the time of those
//! copies had come while the thread waited.

use super::{AsyncCopy, AsyncOp, AsyncOps, Work};
use crate::fault::{Fault, FaultKind};
use crate::machine::copy::{CopyJob, JobAccess, SharedRange, Signal};
use crate::machine::ctx::parts::AsyncUnit;
use crate::machine::schedule::Choice;
use crate::machine::spaces::{GlobalPlace, SharedPlace, Spaces};
use crate::memory::address::{Place, global_address};
use crate::memory::little_endian;
use crate::observe::monitor::{Access, Agent, By, Groups, Order, Sync};
use crate::sync::mbarrier;
use std::hash::{DefaultHasher, Hash, Hasher};

impl AsyncOp {
    /// The bytes that the copy completes at an mbarrier object.
    fn brings(&self, object: SharedPlace) -> i64 {
        match &self.work {
            Work::Copy(AsyncCopy { signal: Signal::Mbarrier { at, bytes }, .. }) if *at == object => (*bytes).into(),
            Work::Response(r) if (r.rank, r.mbarrier) == (object.rank, object.offset) => 16,
            _ => 0,
        }
    }
}

impl AsyncCopy {
    /// Whether the copy still needs the shared memory of CTA `rank`.
    pub(super) fn needs(&self, rank: u32) -> bool {
        let of_rank = |range: Option<SharedRange>| range.is_some_and(|r| r.rank == rank);
        let signals = matches!(self.signal, Signal::Mbarrier { at, .. } if at.rank == rank);
        signals || of_rank(self.job.destination()) || self.read.is_none() && of_rank(self.job.source())
    }

    /// Whether the copy can complete without the shared memory of any CTA.
    pub(super) fn is_detached(&self) -> bool {
        let signals = matches!(self.signal, Signal::Mbarrier { .. });
        !signals && self.job.destination().is_none() && (self.read.is_some() || self.job.source().is_none())
    }
}

/// The work of a copy, in instructions.
fn work(job: &dyn CopyJob) -> u64 {
    let bytes = job.destination().or(job.source()).map_or(0, |r| u64::from(r.bytes.end - r.bytes.start));
    1 + bytes / if job.reduces() { 8 } else { 256 }
}

/// CTA `rank` ends while a copy of CTA `own` needs its shared memory.
pub(super) fn copy_outlives(copy: &AsyncCopy, rank: u32, own: u32, uncounted: bool) -> FaultKind {
    let of = if rank == own { format!("CTA {rank} of the cluster ends") } else { format!("CTA {rank} ends") };
    match copy.signal {
        Signal::BulkGroup => FaultKind::undefined(
            format!("{of} while this copy reads its shared memory"),
            "9.7.9.25.6.2",
            "put `cp.async.bulk.commit_group` and `cp.async.bulk.wait_group.read 0` before the thread ends",
        ),
        _ if uncounted => FaultKind::undefined(
            format!(
                "{of} while this copy on its shared memory is in flight, and the tx-count of its mbarrier object does not \
                 have its bytes"
            ),
            "9.7.9.25.4",
            "let `expect_tx` count the bytes of all copies of a phase, before the last arrival of the phase, and wait for it",
        ),
        _ => FaultKind::undefined(
            format!("{of} while this copy on its shared memory is in flight"),
            "9.7.9.25.4",
            "wait for the phase of the mbarrier object that the copy completes, in each CTA that takes part",
        ),
    }
}

impl AsyncOps {
    /// A thread commits the bulk copies that it has started: they are one group.
    fn commit_bulk(&mut self, warp: (usize, u32, u32), lanes: u32) {
        let groups = self.bulk_groups.entry(warp).or_default();
        groups.iter_mut().enumerate().filter(|(l, _)| lanes >> l & 1 != 0).for_each(|(_, group)| *group += 1);
    }
}

impl AsyncOps {
    /// The number of a copy.
    pub(super) fn next_copy(&mut self) -> u64 {
        self.copies += 1;
        self.copies
    }
}

impl<'c, 'a> AsyncUnit<'c, 'a> {
    /// A fault if these bytes are not in the shared memory of the executing CTA; the instruction gave `addr`.
    pub(crate) fn in_own_shared(&self, offset: u32, bytes: u32, addr: u64, lane: u32) -> Result<(), Box<Fault>> {
        let size = self.ctx.memory.shared.len() as u64;
        if u64::from(offset) + u64::from(bytes) <= size {
            return Ok(());
        }
        Err(self.ctx.fault(FaultKind::OutOfBounds { space: "shared", addr, bytes, size }, lane))
    }

    /// A fault if an access to these bytes of global memory would fail.
    pub(crate) fn in_global(&self, at: GlobalPlace, bytes: u64, write: bool, lane: u32) -> Result<(), Box<Fault>> {
        self.ctx.memory.global.check(at.segment, at.offset, bytes, write).map_err(|kind| self.ctx.fault(kind, lane))
    }

    /// The memories that a copy of the current cluster can reach.
    fn spaces(self) -> Spaces<'c, 'a> {
        Spaces { memory: &mut self.ctx.memory, cluster: self.ctx.residents.here_mut() }
    }

    /// The current warp: slot, CTA, warp.
    pub(super) fn warp_key(&self) -> (usize, u32, u32) {
        (self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp)
    }

    /// Starts a copy for `lane`, which completes later.
    pub(crate) fn start_copy(&mut self, lane: u32, job: Box<dyn CopyJob>, signal: Signal) -> Result<(), Box<Fault>> {
        if self.ctx.async_ops.is_full() {
            let (slot, cta) = (self.ctx.residents.slot, self.ctx.cur.cta);
            let own = |a: &AsyncOp| (a.slot, a.cta) == (slot, cta) && matches!(a.work, Work::Copy(_));
            self.ctx.async_ops.take_first(own).map_or(Ok(()), |op| self.deliver_now(op))?;
        }
        let number = self.ctx.async_ops.next_copy();
        if let Signal::Mbarrier { at, bytes } = signal {
            self.ctx.window(at.rank).map_err(|kind| self.ctx.fault(kind, lane))?;
            let (rank, offset) = (at.rank, at.offset);
            self.ctx.report_sync(Sync::Mbarrier { rank, offset, counts: true }, 1 << lane)?;
            self.ctx.report_sync(Sync::CopyStarts { copy: number, rank, offset, bytes }, 1 << lane)?;
        }
        let mut copy = AsyncCopy { job, read: None, signal, group: 0, number };
        if signal == Signal::BulkGroup {
            copy.group = self.ctx.async_ops.bulk_groups.get(&self.warp_key()).map_or(0, |g| g[lane as usize & 31]);
        }
        self.report_copy(&copy, lane).map_err(|kind| self.ctx.fault(kind, lane))?;
        let due = self.due_of_copy();
        if due <= self.ctx.scheduling.turns {
            self.ctx.changed();
            return self.complete_copy(copy, lane).map_err(|kind| self.ctx.fault(kind, lane));
        }
        if self.ctx.scheduling.choose(Choice::Source, 2) != 0 {
            self.read_source(&mut copy).map_err(|kind| self.ctx.fault(kind, lane))?;
        }
        self.send_at(lane, due, Work::Copy(copy));
        Ok(())
    }

    /// Is the tx-count of the mbarrier object of a copy in flight less than the bytes that copies still bring?
    pub(super) fn is_uncounted(&self, copy: &AsyncCopy) -> bool {
        let Signal::Mbarrier { at, bytes } = copy.signal else { return false };
        // the CTA may have exited
        let shared = match self.ctx.residents.here().ctas.get(at.rank as usize) {
            Some(cta) if at.rank != self.ctx.memory.shared_rank => &cta.shared,
            _ => &self.ctx.memory.shared,
        };
        let word = little_endian::load(shared, at.offset.into(), 8).map_or(0, |[word, ..]| word);
        let slot = self.ctx.residents.slot;
        let others: i64 = self.ctx.async_ops.list.iter().filter(|op| op.slot == slot).map(|op| op.brings(at)).sum();
        mbarrier::State::decode(word).is_some_and(|state| state.tx < others + i64::from(bytes))
    }

    /// Reads the source of a copy.
    fn read_source(&mut self, copy: &mut AsyncCopy) -> Result<(), FaultKind> {
        if copy.read.is_none() {
            copy.read = Some(copy.job.read(&self.ctx.async_unit().spaces())?);
        }
        Ok(())
    }

    /// Completes a copy.
    pub(super) fn complete_copy(&mut self, copy: AsyncCopy, lane: u32) -> Result<(), FaultKind> {
        let gone = |kind| match kind {
            FaultKind::ExitedCta { rank } => FaultKind::MulticastExitedCta { rank },
            kind => kind,
        };
        self.ctx.scheduling.works(work(&*copy.job));
        copy.job.write(&mut self.ctx.async_unit().spaces(), copy.read).map_err(gone)?;
        if let Signal::Mbarrier { at, bytes } = copy.signal {
            self.report_completion(Sync::CopyCompletes { copy: copy.number, rank: at.rank, offset: at.offset }, lane)?;
            self.ctx
                .sync()
                .update_mbarrier(at.rank, at.offset, |word| mbarrier::complete_tx(word, bytes), lane)
                .map_err(gone)?;
        }
        Ok(())
    }

    /// Tells the monitor that an asynchronous operation of a lane completes.
    pub(super) fn report_completion(&mut self, what: Sync, lane: u32) -> Result<(), FaultKind> {
        self.ctx.report().sync(what, Order::default(), 1 << lane)
    }

    /// A hash of what a copy writes to global memory, and where.
    fn content(&mut self, job: &dyn CopyJob) -> Result<Option<u64>, FaultKind> {
        if job.reduces() || job.destination().is_some() {
            return Ok(None);
        }
        let mut hash = DefaultHasher::new();
        for access in job.accesses().iter().filter(|access| access.write) {
            (access.place, access.bytes).hash(&mut hash);
        }
        job.read(&self.ctx.async_unit().spaces())?.hash(&mut hash);
        Ok(Some(hash.finish()))
    }

    /// Tells the monitor of the accesses of a copy that starts.
    #[inline(always)]
    fn report_copy(&mut self, copy: &AsyncCopy, lane: u32) -> Result<(), FaultKind> {
        if self.ctx.monitor.is_on() {
            let by = match copy.signal {
                Signal::Mbarrier { .. } => By::Agent(Agent::Copy(copy.number)),
                Signal::BulkGroup => By::Agent(Agent::Bulk { group: copy.group, content: self.content(&*copy.job)? }),
                Signal::Nothing => By::Thread,
            };
            // the accesses of an asynchronous operation are weak, except those of a reduction
            let own = by == By::Thread || copy.job.reduces();
            let order = if own { self.ctx.order } else { Order::default() };
            for access in copy.job.accesses() {
                let order = if access.write { order } else { Order::default() };
                self.report_agent(access, by, order, lane)?;
            }
            if let Some(layout) = copy.job.shared_box() {
                self.ctx.report().shared_box(&layout, copy.job.destination().map(|_| copy.number), lane)?;
            }
        }
        Ok(())
    }

    /// Tells the monitor of an access by an asynchronous operation.
    pub(crate) fn report_agent(&mut self, access: JobAccess, by: By, order: Order, lane: u32) -> Result<(), FaultKind> {
        let JobAccess { place, bytes, write, proxy } = access;
        let addr = match place {
            Place::Global { segment, .. }
                if !self.ctx.monitor.wants().read_only && !write && self.ctx.memory.global.is_read_only(segment) =>
            {
                return Ok(());
            }
            Place::Global { segment, offset } => global_address(segment as u64, offset),
            Place::Shared { offset, .. } => offset.into(),
            Place::Local { offset } | Place::Const { offset } | Place::Param { offset } => offset,
        };
        let who = self.ctx.who(1 << lane);
        self.ctx.report().access(Access { place, addr, bytes, write, same: false, by, proxy, order, who })
    }

    /// Tells the monitor that lanes have waited for groups: `before` has a number for each lane, those before it are complete.
    pub(super) fn report_groups(&mut self, of: Groups, mut lanes: u32, before: &[u64; 32]) -> Result<(), Box<Fault>> {
        while self.ctx.monitor.is_on() && lanes != 0 {
            let value = before[lanes.trailing_zeros() as usize & 31];
            let same = (0..32).filter(|l| lanes >> l & 1 != 0 && before[*l] == value).fold(0, |m, l| m | 1 << l);
            self.ctx.report_sync(Sync::Groups { of, before: value }, same)?;
            lanes &= !same;
        }
        Ok(())
    }

    /// `cp.async.bulk.commit_group` of the active lanes.
    pub(crate) fn commit_bulk_groups(&mut self) {
        let (warp, lanes) = (self.warp_key(), self.ctx.mask);
        self.ctx.async_ops.commit_bulk(warp, lanes);
    }

    /// `cp.async.bulk.wait_group n` of the active lanes: all but the last `n` groups of each complete. With `.read` their sources
    /// have been read.
    pub(crate) fn wait_for_bulk_groups(&mut self, n: u64, read: bool) -> Result<(), Box<Fault>> {
        let (warp, lanes) = (self.warp_key(), self.ctx.mask);
        let Some(groups) = self.ctx.async_ops.bulk_groups.get(&warp).copied() else { return Ok(()) };
        let waits = |a: &AsyncOp| {
            let Work::Copy(copy) = &a.work else { return false };
            let own = (a.slot, a.cta, a.warp) == warp && lanes >> a.lane & 1 != 0;
            own && copy.signal == Signal::BulkGroup && copy.group < groups[a.lane as usize & 31].saturating_sub(n)
        };
        let before = groups.map(|group| group.saturating_sub(n));
        let some = (0..32).filter(|l| lanes >> l & 1 != 0 && before[*l] > 0).fold(0, |m, l| m | 1 << l);
        if read {
            self.read_sources(waits)?;
            return self.report_groups(Groups::BulkReads, some, &before);
        }
        while let Some(op) = self.ctx.async_ops.take_first(waits) {
            self.deliver_now(op)?;
        }
        self.report_groups(Groups::Bulk, some, &before)
    }

    /// Reads the sources of these copies.
    fn read_sources(&mut self, which: impl Fn(&AsyncOp) -> bool) -> Result<(), Box<Fault>> {
        for at in 0..self.ctx.async_ops.list.len() {
            if !which(&self.ctx.async_ops.list[at]) {
                continue;
            }
            // the copy leaves the list for a moment: it reads through the machine
            let Some(mut op) = self.ctx.async_ops.list.remove(at) else { continue };
            if let Work::Copy(copy) = &mut op.work {
                self.read_source(copy).map_err(|kind| self.ctx.fault(kind, op.lane))?;
            }
            self.ctx.async_ops.list.insert(at, op);
        }
        Ok(())
    }

    /// Delivers an operation of the current CTA while a thread of it runs.
    pub(super) fn deliver_now(&mut self, op: AsyncOp) -> Result<(), Box<Fault>> {
        let (site, warp) = (self.ctx.site, self.ctx.warp);
        self.deliver(op)?;
        (self.ctx.site, self.ctx.warp) = (site, warp);
        Ok(())
    }
}
