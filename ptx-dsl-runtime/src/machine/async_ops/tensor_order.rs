//! Checks the order of accesses to Tensor Memory (PTX ISA 9.7.16.5, 9.7.16.6), on the checked host.
//!
//! A load or store is *done* when its warp has executed `tcgen05.wait`, an operation when a commit that tracks it has arrived.
//! An access of another warp needs more: the first warp has executed `tcgen05.fence::before_thread_sync` after its access (a
//! commit implies that), and then the second warp `tcgen05.fence::after_thread_sync`. Times are those of [`super::Fences`].

use std::ops::Range;

use super::accesses::{Access, By};
use super::{Operation, Thread};
use crate::fault::{Fault, FaultKind};
use crate::machine::ctx::Ctx;
use crate::machine::tensor::{Area, TensorJob};
use crate::mem::tmem::{COLUMNS, LANES};
use crate::monitor::Monitor;

/// What is missing between two accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// The warp's `tcgen05.wait`.
    Wait,
    /// A commit and a wait for its mbarrier.
    Commit,
    /// `tcgen05.fence::before_thread_sync`, of the warp that came first.
    Before,
    /// `tcgen05.fence::after_thread_sync`, of the one that comes now.
    After,
}

impl<M: Monitor> Ctx<'_, M> {
    /// The latest `tcgen05.fence::after_thread_sync` of any lane of this warp.
    fn fenced_after(&self) -> u64 {
        let after = self.async_ops.fences.after.get(&(self.residents.slot, self.cur.cta, self.warp));
        after.map_or(0, |lanes| lanes.iter().copied().max().unwrap_or(0))
    }

    /// What is missing between an access to the memory of CTA `rank` and one that the current warp makes now.
    fn missing(&self, rank: u32, a: &Access) -> Option<Missing> {
        let (by, fenced) = match a.by {
            By::Warp(warp) => ((rank, warp), a.fenced),
            // The commit is the fence.
            By::Operation { thread, .. } => ((thread.0, thread.1), a.done),
        };
        let (own, done) = (by == (self.cur.cta, self.warp), a.done);
        if done.is_none() {
            return Some(if matches!(a.by, By::Warp(_)) { Missing::Wait } else { Missing::Commit });
        }
        if own || !self.geometry.tensor_fences {
            return None;
        }
        match fenced {
            None => Some(Missing::Before),
            Some(before) => (self.fenced_after() <= before).then_some(Missing::After),
        }
    }

    /// A fault if one of these accesses to the Tensor Memory of CTA `rank` conflicts with what the current warp does now.
    fn in_order(
        &self,
        rank: u32,
        lanes: &Range<usize>,
        columns: &Range<usize>,
        write: bool,
        wanted: impl Fn(&By) -> bool,
        lane: u32,
    ) -> Result<(), Box<Fault>> {
        let Some(cta) = self.residents.here().ctas.get(rank as usize) else { return Ok(()) };
        for a in &cta.accesses.0 {
            let area = Area { cta: 0, lanes: a.lanes.clone(), columns: a.columns.clone() };
            if (write || a.write)
                && wanted(&a.by)
                && area.meets(lanes, columns)
                && let Some(missing) = self.missing(rank, a)
            {
                return Err(self.fault(self.out_of_order(a, missing), lane));
            }
        }
        Ok(())
    }

    fn out_of_order(&self, a: &Access, missing: Missing) -> FaultKind {
        let who = match a.by {
            By::Warp(warp) => format!("warp {warp}"),
            By::Operation { thread: (cta, warp, lane), .. } => format!("lane {lane} of warp {warp} of CTA {cta}"),
        };
        let does = if a.write { "written" } else { "read" };
        let (why, section, help) = match missing {
            Missing::Wait => (
                "which has not waited for it",
                "9.7.16.8.5",
                "`tcgen05.wait::ld` after the load, or `tcgen05.wait::st` after the store, before other threads are told of it",
            ),
            Missing::Commit => (
                "and no `tcgen05.commit` has said that it is done",
                "9.7.16.12.1",
                "`tcgen05.commit` to an mbarrier after it, wait for that phase, then `tcgen05.fence::after_thread_sync`",
            ),
            Missing::Before => (
                "which has not executed `tcgen05.fence::before_thread_sync` since",
                "9.7.16.5",
                "`tcgen05.fence::before_thread_sync` after that access, before the threads synchronize",
            ),
            Missing::After => (
                "and this thread has not executed `tcgen05.fence::after_thread_sync` since",
                "9.7.16.5",
                "`tcgen05.fence::after_thread_sync` after the threads synchronize",
            ),
        };
        let what = format!(
            "lanes {} to {} and columns {} to {} of Tensor Memory are {does} by {} of {who}, {why}",
            a.lanes.start,
            a.lanes.end.saturating_sub(1),
            a.columns.start,
            a.columns.end.saturating_sub(1),
            self.statement(a.site),
        );
        FaultKind::undefined(what, section, help)
    }

    /// `tcgen05.ld` (or `.st`, if `write`) of the current warp: a fault where it conflicts with what others have done.
    pub fn tensor_access(
        &mut self,
        lanes: Range<usize>,
        columns: Range<usize>,
        write: bool,
        lane: u32,
    ) -> Result<(), Box<Fault>> {
        if !M::ON {
            return Ok(());
        }
        let (rank, warp, site) = (self.cur.cta, self.warp, self.site);
        if !write {
            self.tensor_read(rank, &lanes, &columns, lane).map_err(|kind| self.fault(kind, lane))?;
        }
        self.in_order(rank, &lanes, &columns, write, |by| *by != By::Warp(warp), lane)?;
        let access = Access { by: By::Warp(warp), site, write, lanes, columns, done: None, fenced: None };
        self.cta_mut().accesses.record(access);
        Ok(())
    }

    /// These words of the Tensor Memory of CTA `rank` are read: a finding if nobody has written any of them.
    fn tensor_read(
        &mut self,
        rank: u32,
        lanes: &Range<usize>,
        columns: &Range<usize>,
        lane: u32,
    ) -> Result<(), FaultKind> {
        let known = self.residents.here().ctas.get(rank as usize);
        if known.is_none_or(|cta| cta.accesses.1.has_any(lanes, columns)) {
            return Ok(());
        }
        let addr = (lanes.start << 16 | columns.start) as u64;
        self.found(FaultKind::Uninitialised { space: "Tensor", addr }, lane)
    }

    /// `tcgen05.wait` of the current warp.
    pub fn tensor_waited(&mut self, stores: bool) {
        if !M::ON {
            return;
        }
        let (warp, now) = (self.warp, self.async_ops.fences.now);
        for a in &mut self.cta_mut().accesses.0 {
            if a.by == By::Warp(warp) && a.write == stores {
                a.done.get_or_insert(now);
            }
        }
    }

    /// `tcgen05.fence::before_thread_sync` of the current warp, or a commit, which is one too.
    pub(super) fn tensor_fenced(&mut self, now: u64) {
        if !M::ON {
            return;
        }
        let own = (self.cur.cta, self.warp);
        for (rank, cta) in (0..).zip(&mut self.here().ctas) {
            for a in &mut cta.accesses.0 {
                let by = match a.by {
                    By::Warp(warp) => (rank, warp),
                    By::Operation { thread, .. } => (thread.0, thread.1),
                };
                if by == own {
                    a.fenced.get_or_insert(now);
                }
            }
        }
    }

    /// A fault if an operation that is issued now conflicts with loads and stores of warps.
    pub(super) fn tensor_operates(&self, pair: bool, job: &dyn TensorJob, lane: u32) -> Result<(), Box<Fault>> {
        let own = self.cur.cta;
        let rank = |area: &Area| if pair { own & !1 | area.cta as u32 } else { own };
        let warps = |by: &By| matches!(by, By::Warp(_));
        for (areas, write) in [(job.writes(), true), (job.reads(), false)] {
            for area in &areas {
                self.in_order(rank(area), &area.lanes, &area.columns, write, warps, lane)?;
            }
        }
        Ok(())
    }

    /// An operation of CTA `own` has completed; no commit has arrived for it yet.
    pub(super) fn tensor_completed(&mut self, o: &Operation, own: u32, lane: u32) -> Result<(), FaultKind> {
        let (site, fenced) = (self.site, o.fenced);
        let by = By::Operation { thread: (own, self.warp, lane), pair: o.pair, issued: o.issued };
        let rank = |cta: usize| if o.pair { own & !1 | cta as u32 } else { own };
        for Area { cta, lanes, columns } in o.job.reads() {
            self.tensor_read(rank(cta), &lanes, &columns, lane)?;
        }
        if o.job.writes().is_empty() {
            for cta in self.here().ctas.iter_mut() {
                cta.accesses.1.mark(&(0..LANES), &(0..COLUMNS));
            }
        }
        for (areas, write) in [(o.job.writes(), true), (o.job.reads(), false)] {
            for Area { cta, lanes, columns } in areas {
                if let Some(cta) = self.here().ctas.get_mut(rank(cta) as usize) {
                    cta.accesses.record(Access { by, site, write, lanes, columns, done: None, fenced });
                }
            }
        }
        Ok(())
    }

    /// A commit of thread `by` arrives: what that thread issued before `until` is done, and what others issued and fenced before
    /// that thread continued their pipeline.
    pub(super) fn tensor_committed(&mut self, by: Thread, pair: bool, until: u64) {
        let after = self.fenced_after();
        self.async_ops.fences.now += 1;
        let now = self.async_ops.fences.now;
        for a in self.here().ctas.iter_mut().flat_map(|cta| &mut cta.accesses.0) {
            if let By::Operation { thread, pair: of, issued } = a.by
                && of == pair
                && issued < until
                && (thread == by || a.fenced.is_some_and(|fenced| fenced < after))
            {
                a.done.get_or_insert(now);
            }
        }
    }

    /// `tcgen05.dealloc` of these columns: a fault if an access of another warp to them is not done.
    pub fn tensor_freed(&mut self, columns: Range<usize>, lane: u32) -> Result<(), Box<Fault>> {
        if !M::ON {
            return Ok(());
        }
        let of_others = Area { cta: 0, lanes: 0..LANES, columns: columns.clone() };
        for a in &self.cta().accesses.0 {
            if a.done.is_none() && a.by != By::Warp(self.warp) && of_others.meets(&a.lanes, &a.columns) {
                let missing = if matches!(a.by, By::Warp(_)) { Missing::Wait } else { Missing::Commit };
                return Err(self.fault(self.out_of_order(a, missing), lane));
            }
        }
        let accesses = &mut self.cta_mut().accesses;
        accesses.0.retain(|a| !of_others.meets(&a.lanes, &a.columns));
        accesses.1.forget(&columns);
        Ok(())
    }
}
