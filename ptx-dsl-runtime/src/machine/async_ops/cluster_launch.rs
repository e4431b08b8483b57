//! Cluster launch control (PTX ISA 9.7.13.17): `try_cancel`, and its responses, which arrive later.

use std::ops::Range;

use super::{Response, Work};
use crate::fault::{Fault, FaultKind};
use crate::machine::copy::JobAccess;
use crate::machine::ctx::Ctx;
use crate::machine::schedule::Choice;
use crate::machine::steps::effect::{Action, Object};
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

impl Ctx<'_> {
    /// Cancels a pending cluster, if there is one: the next, or one of the next that the scheduler chooses. The cluster is taken
    /// from the queue at once. The response (16 bytes at `addr`, and `complete_tx` of 16 at `mbarrier`, offsets in shared memory)
    /// arrives later, in each CTA at its own time.
    pub fn try_cancel(&mut self, ranks: Range<u32>, addr: u32, mbarrier: u32) -> Result<(), Box<Fault>> {
        let lane = self.mask.trailing_zeros().min(31);
        let at = u64::from(addr);
        for rank in ranks.clone() {
            if self.residents.here().ctas.get(rank as usize).is_some_and(|c| c.exited) {
                return Err(self.fault(FaultKind::MulticastExitedCta { rank }, lane));
            }
            let size = self.window(rank).map_err(|kind| self.fault(kind, lane))?.len() as u64;
            if !addr.is_multiple_of(16) {
                return Err(self.fault(FaultKind::Misaligned { space: "shared", addr: at, align: 16 }, lane));
            }
            if at + 16 > size {
                return Err(self.fault(FaultKind::OutOfBounds { space: "shared", addr: at, bytes: 16, size }, lane));
            }
        }
        self.step_does(|_| Object::Queue, Action::Write);
        let choices = self.scheduling.team.choices(CHOICES) as usize;
        let which = self.scheduling.choose(Choice::Pending, choices) as u64;
        // the queue of several devices is one: a request may be refused
        let cancelled = if self.geometry.devices > 1 { None } else { self.scheduling.team.cancel(which) };
        let cancelled = cancelled.map(|n| {
            self.residents.cancelled += 1;
            self.geometry.ctaid(self.geometry.clusterid(n), 0)
        });
        let who = self.who(1 << lane);
        if self.monitor.needs().waits
            && let Some(monitor) = self.monitor.get()
        {
            monitor.cancels(who, cancelled.is_some());
        }
        self.report(Event::Cancels { who, first: cancelled });
        let words = encode(cancelled);
        for rank in ranks {
            self.report_sync(Sync::Mbarrier { rank, offset: mbarrier, counts: true }, 1 << lane)?;
            let number = self.next_copy();
            self.report_sync(Sync::CopyStarts { copy: number, rank, offset: mbarrier, bytes: 16 }, 1 << lane)?;
            if self.monitor.is_on() {
                let write = JobAccess::of_copy(Place::Shared { rank, offset: addr }, 16, true);
                let by = By::Agent(Agent::Copy(number));
                self.report_agent(write, by, Order::default(), lane).map_err(|kind| self.fault(kind, lane))?;
            }
            self.send(lane, 0, Work::Response(Response { words, number, rank, addr, mbarrier }));
        }
        self.scheduling.rotate = true;
        Ok(())
    }

    /// Has the CTA observed a response of failure? Another `try_cancel` is then undefined behaviour.
    pub fn clc_observed_failure(&self) -> bool {
        self.cta().clc_failed
    }

    /// The CTA has observed a response of failure.
    pub fn set_clc_observed_failure(&mut self) {
        self.cta_mut().clc_failed = true;
    }

    /// Writes a response and completes its bytes.
    pub(super) fn respond(&mut self, r: &Response, lane: u32) -> Result<(), FaultKind> {
        let gone = |kind| match kind {
            FaultKind::ExitedCta { rank } => FaultKind::MulticastExitedCta { rank },
            kind => kind,
        };
        let (rank, addr) = (r.rank, u64::from(r.addr));
        let window = self.window_mut(rank).map_err(gone)?;
        let size = window.len() as u64;
        let outside = FaultKind::OutOfBounds { space: "shared", addr, bytes: 16, size };
        little_endian::store(window, addr, 16, [r.words[0], r.words[1], 0, 0]).ok_or(outside)?;
        self.report_completion(Sync::CopyCompletes { copy: r.number, rank, offset: r.mbarrier }, lane)?;
        self.update_mbarrier(rank, r.mbarrier, |word| mbarrier::complete_tx(word, 16), lane).map_err(gone).map(drop)
    }
}
