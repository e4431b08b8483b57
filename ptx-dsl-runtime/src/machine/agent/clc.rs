//! The async agent of cluster launch control (PTX ISA 9.7.13.17): responses that arrive later.

use crate::fault::{Fault, FaultKind};
use crate::isa::clusterlaunchcontrol::encode;
use crate::machine::Ctx;
use crate::machine::agent::Work;
use crate::mem;
use crate::mem::address::Place;
use crate::monitor::{Access, Monitor};
use crate::sync::mbarrier;

/// A response under way.
#[derive(Debug)]
pub(crate) struct Response {
    words: [u64; 2],
    to: Vec<(u32, u32)>,
    mbarriers: Vec<(u32, u32)>,
}

impl Response {
    /// Nobody has waited for it; `cta` asked for it.
    pub(super) fn forgotten(&self, cta: u32) -> FaultKind {
        FaultKind::MulticastExitedCta { rank: self.to.first().map_or(cta, |t| t.0) }
    }
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
        let cancelled = self.team.cancel().map(|n| {
            let id = self.cluster_of(n);
            self.report.clusters_cancelled += 1;
            // the id of its first CTA
            std::array::from_fn(|i| id[i] * self.cluster[i])
        });
        let words = encode(cancelled);
        self.send(lane, 0, Work::Response(Response { words, to, mbarriers }));
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
        if n < x {
            return [n as u32, 0, 0];
        }
        [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
    }

    /// Writes a response and completes its bytes.
    pub(super) fn respond(&mut self, r: &Response, lane: u32) -> Result<(), FaultKind> {
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
                let (place, who) = (Place::Shared { rank, offset }, self.who(1 << lane));
                self.monitor.memory(Access { place, addr, bytes: 16, write: true, agent: true, who })?;
            }
        }
        for &(rank, offset) in &r.mbarriers {
            self.update_mbarrier(rank, offset, |word| mbarrier::complete_tx(word, 16), lane).map_err(gone)?;
        }
        Ok(())
    }
}
