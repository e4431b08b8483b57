//! The machine: who exists, whose turn it is, and what a region sees of it.
//!
//! Cohorts are scheduled: warps `lo..hi` of a CTA that stand at one region with the same active lanes. Registers are stored
//! once per warp, and fragments of a warp own disjoint lanes of that storage, so cohorts part and merge for free.

mod agent;
mod cluster;
mod ctx;
mod cycle;
mod driver;
pub(crate) mod level;
mod memory;
mod report;
mod span;
mod sync;
pub mod tensor;
#[cfg(test)]
mod tests;
mod tmem;

pub use ctx::Ctx;
pub(crate) use driver::drive;

use crate::fault::Fault;
use crate::host::{Host, Report};
use crate::kernel::{Kernel, Next};
use crate::launch::Launch;
use crate::mem::global::Global;
use crate::monitor::Monitor;

/// The registers of a kernel as the driver sees them. The driver does not know their type: it is compiled once per monitor,
/// here, and not once per kernel in the user's crate.
#[doc(hidden)]
pub trait Body<M> {
    /// Runs the current cohort of `x`.
    fn step(&mut self, x: &mut Ctx<'_, M>) -> Result<Next, Box<Fault>>;
    /// A new cluster at this place: fresh registers.
    fn reset(&mut self, slot: usize);
    /// Remembers the registers of these warps: (slot, first, end), counted through the cluster.
    fn snapshot(&mut self, warps: &[(usize, usize, usize)]);
    /// Are the registers remembered unchanged?
    fn unchanged(&self) -> bool;
}

struct Loaded<K: Kernel> {
    /// by slot
    warps: Vec<Vec<K::Warp>>,
    warps_per_cta: usize,
    snapshot: Vec<(usize, usize, Vec<K::Warp>)>,
}

impl<K: Kernel, M: Monitor> Body<M> for Loaded<K> {
    fn step(&mut self, x: &mut Ctx<'_, M>) -> Result<Next, Box<Fault>> {
        let c = &x.cur;
        let first = c.cta as usize * self.warps_per_cta;
        let pc = c.pc;
        let ws = &mut self.warps[x.slot][first + c.lo as usize..first + c.hi as usize];
        level::step::<K, M>(x.level, x, pc, ws)
    }

    fn reset(&mut self, slot: usize) {
        if !K::FRESH {
            self.warps[slot].fill(K::Warp::default());
        }
    }

    fn snapshot(&mut self, warps: &[(usize, usize, usize)]) {
        let warps = warps.iter().map(|&(slot, lo, hi)| (slot, lo, self.warps[slot][lo..hi].to_vec()));
        self.snapshot = warps.collect();
    }

    fn unchanged(&self) -> bool {
        self.snapshot.iter().all(|(slot, lo, old)| self.warps[*slot][*lo..*lo + old.len()] == old[..])
    }
}

/// Runs a grid whose launch has been checked.
pub(crate) fn run<K: Kernel, M: Monitor>(
    host: &Host<M>,
    launch: &Launch,
    params: Vec<u8>,
    global: Global<'_>,
) -> Result<Report, Box<Fault>> {
    let mut x = Ctx::<M>::new(host, launch, K::INFO, params, global);
    let slots = x.clusters.len();
    let warps = vec![vec![K::Warp::default(); x.warps_per_cta() * x.cluster_size() as usize]; slots];
    let mut body = Loaded::<K> { warps, warps_per_cta: x.warps_per_cta(), snapshot: Vec::new() };
    match M::drive(&mut body, &mut x) {
        Ok(()) => Ok(x.into_report()),
        Err(mut fault) => {
            fault.replay = host.replay_hint();
            fault.schedule = x.decisions();
            Err(fault)
        }
    }
}
