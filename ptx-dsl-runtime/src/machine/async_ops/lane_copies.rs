//! `cp.async`: copies of single threads, in groups (PTX ISA 9.7.9.25.3).
//!
//! The copies that one instruction starts for the lanes of a warp are one entry. Without a seed they complete when somebody waits
//! for them, which is the latest time. A wait does not block: it completes what it waits for.

use super::warp_copies::{LaneCopy, Started};
use super::{AsyncOps, CopiesArrive, Work};
use crate::fault::{Fault, FaultKind};
use crate::machine::copy::JobAccess;
use crate::machine::ctx::parts::AsyncUnit;
use crate::machine::schedule::Choice;
use crate::machine::spaces::SharedPlace;
use crate::observe::monitor::{Agent, By, Groups, Order, Proxy, Sync};
use crate::sync::mbarrier::{self, Arrive};

/// Entries in flight after which a warp completes its own before it starts another: a kernel that never waits must not fill memory.
const MOST: usize = 1 << 16;

/// The work of the copies of a warp, in instructions.
const WORK: u64 = 8;

impl AsyncOps {
    /// Is a copy of a thread of this cluster in flight?
    pub(super) fn any_lane_copy(&self, slot: usize) -> bool {
        self.lane_copies_in_flight > 0
            && self.lane_copies.iter().any(|((s, ..), warp)| *s == slot && !warp.started.is_empty())
    }
}

/// CTA `rank` ends before an arrive-on of `cp.async.mbarrier.arrive`.
pub(super) fn arrival_outlives(rank: u32) -> FaultKind {
    FaultKind::undefined(
        format!("CTA {rank} of the cluster ends before `cp.async.mbarrier.arrive` has arrived on its mbarrier object"),
        "9.7.13.15.15",
        "wait for the phase of the mbarrier object that it completes",
    )
}

impl AsyncUnit<'_, '_> {
    /// `cp.async`: starts copies for lanes of the current warp.
    pub(crate) fn start_lane_copies(&mut self, mut copies: Vec<LaneCopy>) -> Result<(), Box<Fault>> {
        let key = self.warp_key();
        self.ctx.scheduling.works(WORK);
        if self.ctx.async_ops.lane_copies_in_flight > MOST {
            self.complete_of_warp(key, |_| u32::MAX)?;
        }
        let groups = self.ctx.async_ops.lane_copies.entry(key).or_default().groups;
        if self.ctx.monitor.is_on() {
            for c in &copies {
                let group = groups[c.lane as usize & 31];
                self.report_lane_copy(c, group).map_err(|kind| self.ctx.fault(kind, c.lane.into()))?;
            }
        }
        while let Some(first) = copies.first() {
            let group = groups[first.lane as usize & 31];
            let of_group = |c: &LaneCopy| groups[c.lane as usize & 31] == group;
            let rest = if copies.iter().all(of_group) {
                Vec::new()
            } else {
                copies.iter().copied().filter(|c| !of_group(c)).collect()
            };
            if !rest.is_empty() {
                copies.retain(of_group);
            }
            let (due, read) = if self.ctx.scheduling.always_first {
                (u64::MAX, None)
            } else {
                let due = self.due_of_copy();
                let early = self.ctx.scheduling.choose(Choice::Source, 2) != 0;
                (due, early.then(|| self.read_lanes(&copies)).transpose()?)
            };
            let lanes = copies.iter().fold(0, |m, c| m | 1 << c.lane);
            self.ctx.async_ops.issued += 1;
            let id = self.ctx.async_ops.issued;
            let mut started = Started { id, due, site: self.ctx.site, group, lanes, copies, read };
            copies = rest;
            if due <= self.ctx.scheduling.turns {
                self.complete_lanes(&mut started, lanes)?;
                continue;
            }
            self.ctx.async_ops.next_lane_copy = self.ctx.async_ops.next_lane_copy.min(due);
            self.ctx.async_ops.lane_copies_in_flight += 1;
            self.ctx.async_ops.lane_copies.entry(key).or_default().started.push_back(started);
        }
        self.ctx.changed();
        Ok(())
    }

    fn read_lanes(&self, copies: &[LaneCopy]) -> Result<Vec<[u8; 16]>, Box<Fault>> {
        copies.iter().map(|c| self.read_lane(c).map_err(|kind| self.ctx.fault(kind, c.lane.into()))).collect()
    }

    #[inline(always)]
    fn read_lane(&self, c: &LaneCopy) -> Result<[u8; 16], FaultKind> {
        let mut bytes = [0; 16];
        let given = &mut bytes[..usize::from(c.given & 31).min(16)];
        if !given.is_empty() && !self.ctx.memory.global.copy_out(c.from.segment, c.from.offset, given) {
            self.ctx.memory.global.check(c.from.segment, c.from.offset, c.given.into(), false)?;
        }
        Ok(bytes)
    }

    /// Completes the copies of these lanes of an entry.
    fn complete_lanes(&mut self, started: &mut Started, lanes: u32) -> Result<(), Box<Fault>> {
        let lanes = started.lanes & lanes;
        started.lanes &= !lanes;
        let site = std::mem::replace(&mut self.ctx.site, started.site);
        for (i, c) in started.copies.iter().enumerate().filter(|(_, c)| lanes >> c.lane & 1 != 0) {
            let read = started.read.as_ref().and_then(|all| all.get(i)).copied();
            self.complete_lane(c, read).map_err(|kind| self.ctx.fault(kind, c.lane.into()))?;
        }
        self.ctx.site = site;
        self.ctx.changed();
        Ok(())
    }

    /// The monitor learns that a copy starts.
    fn report_lane_copy(&mut self, c: &LaneCopy, group: u64) -> Result<(), FaultKind> {
        let (by, order, lane) = (By::Agent(Agent::Cp(group)), Order::default(), c.lane.into());
        let access = |place, bytes: u8, write| JobAccess { place, bytes: bytes.into(), write, proxy: Proxy::Generic };
        if c.given > 0 {
            self.report_agent(access(c.from.place(), c.given, false), by, order, lane)?;
        }
        let to = SharedPlace { rank: self.ctx.cur.cta, offset: c.to };
        self.report_agent(access(to.place(), c.bytes, true), by, order, lane)
    }

    #[inline(always)]
    fn complete_lane(&mut self, c: &LaneCopy, read: Option<[u8; 16]>) -> Result<(), FaultKind> {
        let to = SharedPlace { rank: self.ctx.cur.cta, offset: c.to };
        let bytes = match read {
            Some(bytes) => bytes,
            None => self.read_lane(c)?,
        };
        let range = to.range(c.bytes.into());
        if let Some(window) = self.ctx.window_mut(to.rank)?.get_mut(range) {
            let n = window.len().min(16);
            window.copy_from_slice(&bytes[..n]);
        }
        Ok(())
    }

    /// Completes the copies of a warp that `wanted` selects: lanes of an entry.
    fn complete_of_warp(
        &mut self,
        (slot, cta, warp): (usize, u32, u32),
        wanted: impl Fn(&Started) -> u32,
    ) -> Result<(), Box<Fault>> {
        let Some(of_warp) = self.ctx.async_ops.lane_copies.get_mut(&(slot, cta, warp)) else { return Ok(()) };
        if of_warp.started.is_empty() {
            return Ok(());
        }
        let mut all = std::mem::take(&mut of_warp.started);
        let current = (self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp);
        (self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp) = (slot, cta, warp);
        let done = all.iter_mut().try_for_each(|started| match wanted(started) & started.lanes {
            0 => Ok(()),
            lanes => self.complete_lanes(started, lanes),
        });
        let before = all.len();
        all.retain(|started| started.lanes != 0);
        self.ctx.async_ops.lane_copies_in_flight -= before - all.len();
        if let Some(of_warp) = self.ctx.async_ops.lane_copies.get_mut(&(slot, cta, warp)) {
            of_warp.started = all;
        }
        done?;
        (self.ctx.residents.slot, self.ctx.cur.cta, self.ctx.warp) = current;
        Ok(())
    }

    /// `cp.async.commit_group` of the active lanes.
    pub(crate) fn commit_lane_copies(&mut self) {
        let (key, lanes) = (self.warp_key(), self.ctx.mask);
        let groups = &mut self.ctx.async_ops.lane_copies.entry(key).or_default().groups;
        groups.iter_mut().enumerate().filter(|(l, _)| lanes >> l & 1 != 0).for_each(|(_, group)| *group += 1);
    }

    /// `cp.async.wait_group n` of the active lanes: all but the last `n` groups of each complete.
    pub(crate) fn wait_for_lane_copies(&mut self, n: u64) -> Result<(), Box<Fault>> {
        let (key, lanes) = (self.warp_key(), self.ctx.mask);
        let Some(of_warp) = self.ctx.async_ops.lane_copies.get(&key) else { return Ok(()) };
        let groups = of_warp.groups;
        let before = groups.map(|group| group.saturating_sub(n));
        self.complete_of_warp(key, |started| {
            let over = |l: &u32| started.group < before[*l as usize];
            (0..32).filter(|l| lanes >> l & 1 != 0).filter(over).fold(0, |m, l| m | 1 << l)
        })?;
        self.report_groups(Groups::Cp, lanes, &before)
    }

    /// `cp.async.mbarrier.arrive` of `lanes` on one object of the CTA: an arrive-on for each when its copies are complete. Without
    /// `.noinc` the pending count goes up first.
    pub(crate) fn arrive_after_copies(&mut self, lanes: u32, offset: u32, noinc: bool) -> Result<(), Box<Fault>> {
        let (key, rank, first) = (self.warp_key(), self.ctx.rank(), lanes.trailing_zeros() & 31);
        self.ctx.report_sync(Sync::MbarrierArrive { rank, offset }, lanes)?;
        if !noinc {
            for _ in 0..lanes.count_ones() {
                let counted = self.ctx.sync().update_mbarrier(
                    rank,
                    offset,
                    |w| mbarrier::increment(w).map(|new| (new, ())),
                    first,
                );
                counted.map_err(|kind| self.ctx.fault(kind, first))?;
            }
        }
        let of_warp = self.ctx.async_ops.lane_copies.get(&key);
        let open =
            of_warp.map(|w| w.groups.iter().zip(0..).filter(|(_, l)| lanes >> l & 1 != 0).map(|(group, _)| *group));
        if let Some(group) = open.and_then(Iterator::max) {
            self.ctx.report_sync(Sync::CpArrive { group, rank, offset }, lanes)?;
        }
        let of_warp = self.ctx.async_ops.lane_copies.get(&key);
        if of_warp.is_none_or(|w| w.started.iter().all(|s| s.lanes & lanes == 0)) {
            let count = lanes.count_ones();
            let arrived =
                self.ctx.sync().update_mbarrier(rank, offset, |w| mbarrier::arrive(w, count, Arrive::default()), first);
            return arrived.map(drop).map_err(|kind| self.ctx.fault(kind, first));
        }
        let before = self.ctx.async_ops.issued + 1;
        self.send(first, 0, Work::CopiesArrive(CopiesArrive { lanes, offset, before }));
        Ok(())
    }

    /// The arrive-on of `cp.async.mbarrier.arrive` of a warp: its copies are complete then.
    pub(super) fn copies_arrive(&mut self, a: &CopiesArrive) -> Result<(), Box<Fault>> {
        self.complete_of_warp(self.warp_key(), |started| if started.id < a.before { a.lanes } else { 0 })?;
        let (rank, first) = (self.ctx.cur.cta, a.lanes.trailing_zeros() & 31);
        let count = a.lanes.count_ones();
        let arrived =
            self.ctx.sync().update_mbarrier(rank, a.offset, |w| mbarrier::arrive(w, count, Arrive::default()), first);
        arrived.map(drop).map_err(|kind| self.ctx.fault(kind, first))
    }

    /// Completes the copies whose time has come.
    pub(super) fn deliver_due_lane_copies(&mut self, now: u64) -> Result<(), Box<Fault>> {
        if self.ctx.async_ops.next_lane_copy > now {
            return Ok(());
        }
        let due = |started: &Started| started.due <= now;
        let warps = self.ctx.async_ops.lane_copies.iter().filter(|(_, warp)| warp.started.iter().any(due));
        let warps: Vec<_> = warps.map(|(key, _)| *key).collect();
        for warp in warps {
            self.complete_of_warp(warp, |started| if due(started) { u32::MAX } else { 0 })?;
        }
        let rest = self.ctx.async_ops.lane_copies.values().flat_map(|warp| &warp.started);
        self.ctx.async_ops.next_lane_copy = rest.map(|started| started.due).min().unwrap_or(u64::MAX);
        Ok(())
    }

    /// Completes all copies of a cluster, none of whose threads can run.
    pub(super) fn deliver_lane_copies_to(&mut self, slot: usize) -> Result<(), Box<Fault>> {
        let warps: Vec<_> = self.ctx.async_ops.lane_copies.keys().filter(|(s, ..)| *s == slot).copied().collect();
        warps.into_iter().try_for_each(|warp| self.complete_of_warp(warp, |_| u32::MAX))
    }

    /// A CTA of the current cluster exits. Nobody can see its copies in flight: they are dropped, and a monitor reports them.
    pub(super) fn lane_copy_outlives(&mut self, rank: u32) -> Option<Box<Fault>> {
        let slot = self.ctx.residents.slot;
        let of_cta = self.ctx.async_ops.lane_copies.range_mut((slot, rank, 0)..=(slot, rank, u32::MAX));
        let mut first = None;
        for ((.., warp), copies) in of_cta {
            self.ctx.async_ops.lane_copies_in_flight -= copies.started.len();
            for started in copies.started.drain(..) {
                first.get_or_insert((*warp, started.site, started.lanes.trailing_zeros()));
            }
        }
        let (warp, site, lane) = first.filter(|_| self.ctx.monitor.is_on())?;
        (self.ctx.warp, self.ctx.site, self.ctx.cur.cta) = (warp, site, rank);
        let kind = FaultKind::undefined(
            format!("CTA {rank} of the cluster ends while this copy to its shared memory is in flight"),
            "9.7.9.25.3.3",
            "put `cp.async.wait_all` before the thread ends",
        );
        Some(self.ctx.fault(kind, lane))
    }
}
