//! The machine: who exists, whose turn it is, and what a region sees of it.
//!
//! Cohorts are scheduled: warps `lo..hi` of a CTA that stand at one region with the same active lanes. Registers are stored
//! once per warp, and fragments of a warp own disjoint lanes of that storage, so cohorts part and merge for free.

mod agent;
mod cluster;
mod common;
mod ctx;
mod cycle;
mod driver;
pub(crate) mod level;
mod memory;
mod phase;
mod report;
mod span;
mod sync;
pub(crate) mod team;
pub mod tensor;
#[cfg(test)]
mod tests;
mod tmem;

pub use ctx::Ctx;
pub(crate) use driver::drive;

use std::thread;

use crate::fault::{Fault, FaultKind};
use crate::host::{Host, Report};
use crate::kernel::{Kernel, KernelInfo, Next};
use crate::launch::Launch;
use crate::mem::global::Global;
use crate::mem::segment::{self, Segment};
use crate::monitor::Monitor;
use team::Team;

/// The registers of a kernel as the driver sees them. The driver does not know their type: it is compiled once per monitor,
/// here, and not once per kernel in the user's crate.
#[doc(hidden)]
pub trait Body<M> {
    /// Runs the current cohort of `x`.
    fn step(&mut self, x: &mut Ctx<'_, M>) -> Result<Next, Box<Fault>>;
    /// May these warps, counted through the cluster, be of one cohort?
    fn agree(&self, slot: usize, a: usize, b: usize) -> bool;
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

    fn agree(&self, slot: usize, a: usize, b: usize) -> bool {
        K::agree(&self.warps[slot][a], &self.warps[slot][b])
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

/// Stack of a thread of the host: what the main thread usually has, for kernels that are not optimised.
const STACK: usize = 8 << 20;

/// What one thread has done.
type Outcome = Result<Report, Failure>;

struct Failure {
    /// Of the cluster, in the grid. `None` if this thread had to end because of another one.
    at: Option<u64>,
    fault: Box<Fault>,
}

/// A kernel without its type: what all kernels share is compiled here, once.
pub(crate) struct Program<M> {
    info: &'static KernelInfo,
    /// As the [`Kernel`] says.
    optimised: bool,
    /// Registers for so many slots of so many warps, and warps of a CTA.
    registers: fn(usize, usize, usize) -> Box<dyn Body<M>>,
}

impl<M> Clone for Program<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Program<M> {}

impl<M: Monitor> Program<M> {
    pub(crate) fn of<K: Kernel>() -> Self {
        Program { info: K::INFO, optimised: K::OPTIMISED, registers: registers::<K, M> }
    }

    pub(crate) fn info(&self) -> &'static KernelInfo {
        self.info
    }
}

fn registers<K: Kernel, M: Monitor>(slots: usize, warps: usize, warps_per_cta: usize) -> Box<dyn Body<M>> {
    let warps = vec![vec![K::Warp::default(); warps]; slots];
    Box::new(Loaded::<K> { warps, warps_per_cta, snapshot: Vec::new() })
}

/// Runs a grid whose launch has been checked.
pub(crate) fn run<M: Monitor>(
    program: Program<M>,
    host: &Host<M>,
    launch: &Launch,
    params: Vec<u8>,
    segments: Vec<Segment<'_>>,
) -> Result<Report, Box<Fault>> {
    let cluster = launch.cluster_dims(program.info);
    let clusters = (0..3).map(|i| (launch.grid[i] / cluster[i]) as u64).product();
    let team = Team::new(host.workers(), clusters, launch);
    if team.alone() {
        return work(program, host, launch, params, Global::new(segments), &team).map_err(|f| f.fault);
    }
    let outcomes = segment::spread(segments, |spread| {
        thread::scope(|scope| {
            let one = || work(program, host, launch, params.clone(), Global::part(spread), &team);
            let others: Vec<_> = (1..team.threads())
                .filter_map(|_| {
                    let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, one);
                    // without it the others have more to do
                    started.map_err(|_| team.leave()).ok()
                })
                .collect();
            let mut outcomes = vec![one()];
            for other in others {
                outcomes.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            outcomes
        })
    });
    combine(outcomes)
}

/// Adds up, or takes the fault of the first cluster. What waits for ever on different threads is one deadlock.
fn combine(outcomes: Vec<Outcome>) -> Result<Report, Box<Fault>> {
    let (mut sum, mut failures) = (Report::default(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(r) => {
                sum.clusters_launched += r.clusters_launched;
                sum.clusters_cancelled += r.clusters_cancelled;
                sum.turns += r.turns;
            }
            Err(f) => failures.push(f),
        }
    }
    failures.sort_by_key(|f| f.at.unwrap_or(u64::MAX));
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else { return Ok(sum) };
    if let FaultKind::Deadlock { waiting } = &mut first.fault.kind {
        for other in failures {
            if let FaultKind::Deadlock { waiting: more } = other.fault.kind {
                waiting.extend(more);
            }
        }
    }
    Err(first.fault)
}

/// Tells the others when a thread ends, however it does.
struct Leaves<'a>(&'a Team);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
        self.0.leave();
    }
}

/// What each thread does: runs clusters until there are no more.
fn work<M: Monitor>(
    program: Program<M>,
    host: &Host<M>,
    launch: &Launch,
    params: Vec<u8>,
    global: Global<'_>,
    team: &Team,
) -> Outcome {
    let _leaves = Leaves(team);
    let mut x = Ctx::<M>::new(host, launch, program.info, params, global, team);
    x.level = level::best(program.optimised);
    let slots = x.clusters.len();
    let warps = x.warps_per_cta() * x.cluster_size() as usize;
    let mut body = (program.registers)(slots, warps, x.warps_per_cta());
    match M::drive(&mut *body, &mut x) {
        Ok(()) => Ok(x.into_report()),
        Err(mut fault) => {
            team.stop();
            fault.replay = host.replay_hint();
            fault.schedule = x.decisions();
            Err(Failure { at: (!x.stopped).then(|| x.number_of(x.slot)), fault })
        }
    }
}
