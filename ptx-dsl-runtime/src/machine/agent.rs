//! The async agent of cluster launch control (PTX ISA 9.7.13.17): responses that arrive later.

use crate::fault::{Fault, FaultKind};
use crate::isa::clusterlaunchcontrol::encode;
use crate::machine::Ctx;
use crate::mem;
use crate::mem::address::Place;
use crate::monitor::{Access, Monitor};
use crate::schedule::Choice;
use crate::sync::mbarrier;

/// Regions the machine runs at most before a response arrives.
const LATEST: u64 = 1024;

/// A response under way.
#[derive(Debug)]
pub(crate) struct Response {
    pub slot: usize,
    due: u64,
    words: [u64; 2],
    to: Vec<(u32, u32)>,
    mbarriers: Vec<(u32, u32)>,
    /// who asked, for reports
    site: u32,
    cta: u32,
    warp: u32,
    lane: u32,
}

impl<M: Monitor> Ctx<'_, M> {
    /// Cancels the next pending cluster, if there is one. The response (16 bytes at each of `to`, `complete_tx` of 16 at each
    /// of `mbarriers`; CTA rank and offset) arrives later. At once it is only decided which cluster it is, so that each is
    /// given out once.
    pub fn try_cancel(&mut self, to: Vec<(u32, u32)>, mbarriers: Vec<(u32, u32)>) -> Result<(), Box<Fault>> {
        let lane = self.mask.trailing_zeros().min(31);
        for &(rank, offset) in &to {
            if self.clusters[self.slot].ctas.get(rank as usize).is_some_and(|c| c.exited) {
                return Err(self.fault(FaultKind::MulticastExitedCta { rank }, lane));
            }
            let size = self.window(rank).map_err(|kind| self.fault(kind, lane))?.len() as u64;
            let addr = offset as u64;
            if offset % 16 != 0 {
                return Err(self.fault(FaultKind::Misaligned { addr, align: 16 }, lane));
            }
            if addr + 16 > size {
                return Err(self.fault(FaultKind::OutOfBounds { space: "shared", addr, bytes: 16, size }, lane));
            }
        }
        let cancelled = (self.next_cluster < self.all_clusters).then(|| {
            let id = self.cluster_of(self.next_cluster);
            self.next_cluster += 1;
            self.report.clusters_cancelled += 1;
            // the id of its first CTA
            std::array::from_fn(|i| id[i] * self.cluster[i])
        });
        let due = self.turns + (LATEST >> (2 * self.choose(Choice::Delay, 6)));
        let (site, cta, warp) = (self.site, self.cur.cta, self.warp);
        let words = encode(cancelled);
        self.responses.push(Response { slot: self.slot, due, words, to, mbarriers, site, cta, warp, lane });
        self.progress += 1;
        self.leave = true;
        self.rotate = true;
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

    /// `%clusterid` of the `n`-th cluster of the grid.
    pub(crate) fn cluster_of(&self, n: u64) -> [u32; 3] {
        let [x, y, _] = self.nclusterid().map(u64::from);
        [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
    }

    /// Responses whose time has come.
    pub(crate) fn deliver_due(&mut self) -> Result<(), Box<Fault>> {
        while let Some(i) = self.responses.iter().position(|r| r.due <= self.turns) {
            self.deliver(i)?;
        }
        Ok(())
    }

    /// One response of this cluster, whatever its time. False if there is none.
    pub(crate) fn deliver_to(&mut self, slot: usize) -> Result<bool, Box<Fault>> {
        let Some(i) = self.responses.iter().position(|r| r.slot == slot) else { return Ok(false) };
        self.deliver(i)?;
        Ok(true)
    }

    fn deliver(&mut self, i: usize) -> Result<(), Box<Fault>> {
        let r = self.responses.remove(i);
        (self.slot, self.site, self.warp, self.cur.cta) = (r.slot, r.site, r.warp, r.cta);
        self.respond(&r).map_err(|kind| self.fault(kind, r.lane))?;
        self.progress += 1;
        Ok(())
    }

    fn respond(&mut self, r: &Response) -> Result<(), FaultKind> {
        let gone = |kind| match kind {
            FaultKind::ExitedCta { rank } => FaultKind::MulticastExitedCta { rank },
            kind => kind,
        };
        for &(rank, offset) in &r.to {
            let addr = offset as u64;
            let window = self.window_mut(rank).map_err(gone)?;
            let size = window.len() as u64;
            let outside = FaultKind::OutOfBounds { space: "shared", addr, bytes: 16, size };
            mem::store(window, addr, 16, [r.words[0], r.words[1], 0, 0]).ok_or(outside)?;
            if M::ON {
                let (place, who) = (Place::Shared { rank, offset }, self.who(1 << r.lane));
                self.monitor.memory(Access { place, addr, bytes: 16, write: true, agent: true, who })?;
            }
        }
        for &(rank, offset) in &r.mbarriers {
            self.update_mbarrier(rank, offset, |word| mbarrier::complete_tx(word, 16), r.lane).map_err(gone)?;
        }
        Ok(())
    }

    /// A cluster must not end while a response for it is under way.
    pub(crate) fn forgotten_response(&mut self, slot: usize) -> Option<Box<Fault>> {
        let r = self.responses.iter().find(|r| r.slot == slot)?;
        let (rank, lane) = (r.to.first().map_or(r.cta, |t| t.0), r.lane);
        (self.slot, self.site, self.warp, self.cur.cta) = (r.slot, r.site, r.warp, r.cta);
        Some(self.fault(FaultKind::MulticastExitedCta { rank }, lane))
    }
}
