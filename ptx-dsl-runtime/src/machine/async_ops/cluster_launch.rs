//! Cluster launch control (PTX ISA 9.7.13.17): `try_cancel`, and its responses, which arrive later.

use std::ops::Range;

use super::{Response, Work};
use crate::fault::{Fault, FaultKind};
use crate::machine::copy::JobAccess;
use crate::machine::ctx::parts::AsyncUnit;
use crate::machine::schedule::Choice;
use crate::machine::steps::effect::{Action, StepObject};
use crate::memory::address::Place;
use crate::memory::little_endian;
use crate::observe::monitor::{Agent, By, Event, Order, Sync};
use crate::sync::cluster_launch::encode;
use crate::sync::mbarrier;

/// The number of pending clusters from which a seed chooses.
const CHOICES: u64 = 16;

/// The cluster ends before the response has arrived.
pub(super) fn outlives(r: &Response) -> FaultKind {
    FaultKind::MulticastExitedCta { rank: r.rank }
}

impl AsyncUnit<'_, '_> {
    /// Cancels a pending cluster, if there is one: the next, or one of the next that the scheduler chooses. The cluster is taken
    /// from the queue at once. The response (16 bytes at `addr`, and `complete_tx` of 16 at `mbarrier`, offsets in shared memory)
    /// arrives later, in each CTA at its own time.
    pub fn try_cancel(&mut self, ranks: Range<u32>, addr: u32, mbarrier: u32) -> Result<(), Box<Fault>> {
        let lane = self.ctx.mask.trailing_zeros().min(31);
        let at = u64::from(addr);
        for rank in ranks.clone() {
            if self.ctx.residents.here().ctas.get(rank as usize).is_some_and(|c| c.exited) {
                return Err(self.ctx.fault(FaultKind::MulticastExitedCta { rank }, lane));
            }
            let size = self.ctx.window(rank).map_err(|kind| self.ctx.fault(kind, lane))?.len() as u64;
            if !addr.is_multiple_of(16) {
                return Err(self.ctx.fault(FaultKind::Misaligned { space: "shared", addr: at, align: 16 }, lane));
            }
            if at + 16 > size {
                return Err(self
                    .ctx
                    .fault(FaultKind::OutOfBounds { space: "shared", addr: at, bytes: 16, size }, lane));
            }
        }
        self.ctx.report().step_does(|_| StepObject::Queue, Action::Write);
        let choices = self.ctx.scheduling.team.choices(CHOICES) as usize;
        let which = self.ctx.scheduling.choose(Choice::Pending, choices) as u64;
        // the queue of several devices is one: a request may be refused
        let cancelled = if self.ctx.geometry.devices > 1 { None } else { self.ctx.scheduling.team.cancel(which) };
        let cancelled = cancelled.map(|n| {
            self.ctx.residents.cancelled += 1;
            self.ctx.geometry.ctaid(self.ctx.geometry.clusterid(n), 0)
        });
        let who = self.ctx.who(1 << lane);
        if self.ctx.monitor.needs().waits
            && let Some(monitor) = self.ctx.monitor.get()
        {
            monitor.cancels(who, cancelled.is_some());
        }
        self.ctx.report().event(Event::Cancels { who, first: cancelled });
        let words = encode(cancelled);
        for rank in ranks {
            self.ctx.report_sync(Sync::Mbarrier { rank, offset: mbarrier, counts: true }, 1 << lane)?;
            let number = self.ctx.async_ops.next_copy();
            self.ctx.report_sync(Sync::CopyStarts { copy: number, rank, offset: mbarrier, bytes: 16 }, 1 << lane)?;
            if self.ctx.monitor.is_on() {
                let write = JobAccess::of_copy(Place::Shared { rank, offset: addr }, 16, true);
                let by = By::Agent(Agent::Copy(number));
                self.report_agent(write, by, Order::default(), lane).map_err(|kind| self.ctx.fault(kind, lane))?;
            }
            self.send(lane, 0, Work::Response(Response { words, number, rank, addr, mbarrier }));
        }
        self.ctx.scheduling.rotate = true;
        Ok(())
    }

    /// Has the CTA observed a response of failure? Another `try_cancel` is then undefined behaviour.
    pub fn clc_observed_failure(&self) -> bool {
        self.ctx.cta().clc_failed
    }

    /// The CTA has observed a response of failure.
    pub fn set_clc_observed_failure(&mut self) {
        self.ctx.cta_mut().clc_failed = true;
    }

    /// Writes a response and completes its bytes.
    pub(super) fn respond(&mut self, r: &Response, lane: u32) -> Result<(), FaultKind> {
        let gone = |kind| match kind {
            FaultKind::ExitedCta { rank } => FaultKind::MulticastExitedCta { rank },
            kind => kind,
        };
        let (rank, addr) = (r.rank, u64::from(r.addr));
        let window = self.ctx.window_mut(rank).map_err(gone)?;
        let size = window.len() as u64;
        let outside = FaultKind::OutOfBounds { space: "shared", addr, bytes: 16, size };
        little_endian::store(window, addr, 16, [r.words[0], r.words[1], 0, 0]).ok_or(outside)?;
        self.report_completion(Sync::CopyCompletes { copy: r.number, rank, offset: r.mbarrier }, lane)?;
        self.ctx
            .sync()
            .update_mbarrier(rank, r.mbarrier, |word| mbarrier::complete_tx(word, 16), lane)
            .map_err(gone)
            .map(drop)
    }
}
