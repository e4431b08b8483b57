//! The machine: runs a checked launch on one or several host threads.
//!
//! What it schedules are cohorts: warps `lo..hi` of a CTA at one region with the same active lanes. Registers are stored per warp,
//! and fragments of a warp own disjoint lanes of them, so splits and merges copy nothing.

mod async_ops;
mod barriers;
pub(crate) mod body;
mod cluster;
mod concurrent_access;
pub(crate) mod copy;
pub(crate) mod ctx;
mod deadlock;
mod describe;
mod driver;
pub(crate) mod endless;
mod findings;
mod fragments;
pub(crate) mod geometry;
mod instruction_sets;
mod lane_access;
mod loops;
mod mbarrier_fast_path;
mod memory;
pub(crate) mod polling;
mod register_pool;
mod registers;
mod residents;
mod scheduling;
pub(crate) mod spaces;
mod step;
mod stepwise;
pub(crate) mod team;
pub mod tensor;
mod tensor_memory;
#[cfg(test)]
mod tests;
mod vector_access;
mod wait_graph;
mod wake;

pub(crate) use async_ops::warp_copies;
pub use body::Body;
pub(crate) use body::Code;
pub use ctx::Ctx;

use std::sync::Arc;
use std::thread;

use crate::fault::{Fault, FaultKind};
use crate::host::{Host, Report};
use crate::kernel::{CompiledKernel, KernelInfo};
use crate::launch::config::Launch;
use crate::machine::async_ops::AsyncOps;
use crate::machine::cluster::Cohort;
use crate::machine::endless::EndlessGuard;
use crate::machine::fragments::Fragments;
use crate::machine::geometry::{Geometry, Regions};
use crate::machine::memory::Memory;
use crate::machine::residents::Residents;
use crate::machine::scheduling::Scheduling;
use crate::machine::step::Step;
use crate::machine::team::Team;
use crate::mem::global::Global;
use crate::mem::segment::{self, Segment};
use crate::monitor::{Event, Monitor, Order};
use crate::simd::{self, InstructionSet};
use crate::steps::Steps;

/// The stack of a host thread: as large as a main thread's, for unoptimised kernels.
const STACK: usize = 8 << 20;

/// What one thread has done.
type Outcome = Result<Report, Failure>;

struct Failure {
    /// Number of the cluster in the grid. `None` if another thread's fault ended this one.
    at: Option<u64>,
    fault: Box<Fault>,
}

/// The compiled code of a kernel without its type: what all kernels share is compiled here, once.
pub struct Compiled<M> {
    /// As the [`CompiledKernel`] says.
    optimised: bool,
    regions: &'static [&'static str],
    /// Makes registers: slots, warps of a slot, warps of a CTA.
    registers: fn(usize, usize, usize) -> Box<dyn Body<M>>,
}

impl<M> Clone for Compiled<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Compiled<M> {}

impl<M: Monitor> Compiled<M> {
    /// The code of this kernel.
    pub fn of<K: CompiledKernel>() -> Self {
        Compiled { optimised: K::OPTIMISED, regions: K::REGIONS, registers: registers::new::<K, M> }
    }
}

impl<M: Monitor> Code<M> for Compiled<M> {
    fn body(
        &self,
        x: &mut Ctx<'_, M>,
        launch: &Launch,
        (slots, warps, warps_per_cta): (usize, usize, usize),
    ) -> Box<dyn Body<M>> {
        x.set = simd::best(self.optimised);
        x.geometry.regions = Regions::Compiled(self.regions);
        if !self.optimised {
            x.scheduling.endless = EndlessGuard::new(launch, endless::UNOPTIMISED);
        }
        (self.registers)(slots, warps, warps_per_cta)
    }
}

/// A kernel with its code on the engine that runs it.
pub(crate) struct Program<'k, M> {
    pub info: &'k KernelInfo<'k>,
    pub code: Arc<dyn Code<M>>,
}

/// Runs a grid whose launch has been checked.
pub(crate) fn run<M: Monitor>(
    program: &Program<'_, M>,
    host: &Host<M>,
    launch: &Launch,
    params: Vec<u8>,
    segments: Vec<Segment<'_>>,
) -> Result<Report, Box<Fault>> {
    let cluster = launch.cluster_dims(program.info);
    let clusters = (0..3).map(|i| (launch.grid[i] / cluster[i]) as u64).product();
    let team = Team::new(host.workers(), clusters, launch);
    if team.is_single() {
        return work(program, host, launch, params, Global::new(segments), &team).map_err(|f| f.fault);
    }
    let outcomes = segment::share(segments, |segments| {
        thread::scope(|scope| {
            let one = || work(program, host, launch, params.clone(), Global::for_thread(segments), &team);
            let others: Vec<_> = (1..team.threads())
                .filter_map(|_| {
                    let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, one);
                    // without this thread the others run its clusters
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

/// Adds up the reports, or takes the fault of the first cluster. Deadlocks of several threads are one.
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

/// Tells the others when a thread ends, by a panic too.
struct LeaveOnDrop<'a>(&'a Team);

impl Drop for LeaveOnDrop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
        self.0.leave();
    }
}

impl<'a, M: Monitor> Ctx<'a, M> {
    /// The machine of one host thread, before the first cluster starts.
    pub(crate) fn new(
        host: &Host<M>,
        launch: &Launch,
        info: &'a KernelInfo<'a>,
        params: Vec<u8>,
        global: Global<'a>,
        team: &'a Team,
    ) -> Self {
        let always_first = host.takes_the_first();
        let mut scheduling = Scheduling::new(launch, team, host.scheduler(), always_first, host.records());
        scheduling.steps = host.explorer().map(|explorer| Box::new(Steps::new(explorer)));
        Ctx {
            mask: 0,
            site: 0,
            order: Order::default(),
            told: false,
            warp: 0,
            rows: 4,
            set: InstructionSet::Base,
            cur: Cohort::default(),
            step: Step::new(),
            fragments: Fragments::new(),
            scheduling,
            geometry: Geometry::new(launch, info, host.printer().clone()),
            memory: Memory::new(global, params),
            residents: Residents::new(team.slots(host.resident())),
            async_ops: AsyncOps::default(),
            monitor: host.new_monitor(),
            findings: Default::default(),
        }
    }
}

/// Runs clusters until there are no more: the work of one thread.
fn work<M: Monitor>(
    program: &Program<'_, M>,
    host: &Host<M>,
    launch: &Launch,
    params: Vec<u8>,
    global: Global<'_>,
    team: &Team,
) -> Outcome {
    let _leave_on_drop = LeaveOnDrop(team);
    let mut x = Ctx::new(host, launch, program.info, params, global, team);
    let (slots, warps_per_cta) = (x.residents.clusters.len(), x.geometry.warps() as usize);
    let warps = warps_per_cta * x.geometry.cluster_size() as usize;
    let mut body = program.code.body(&mut x, launch, (slots, warps, warps_per_cta));
    if M::ON {
        x.monitor.launch(x.geometry.info);
    }
    let outcome = M::drive(&mut *body, &mut x);
    x.tell(Event::Ends { failed: outcome.is_err() });
    let findings = std::mem::take(&mut x.findings);
    match findings.end(outcome.err()) {
        None => Ok(Report {
            clusters_launched: x.residents.launched,
            clusters_cancelled: x.residents.cancelled,
            turns: x.scheduling.turns,
            schedule: x.scheduling.take_record(),
        }),
        Some(mut fault) => {
            team.stop();
            fault.replay = host.replay_hint();
            fault.schedule = x.scheduling.take_record();
            fault.steps = x.steps_in_words();
            let cluster = x.residents.clusters.get(x.residents.slot).map_or([0; 3], |c| c.id);
            let at = (!x.scheduling.stopped).then(|| x.geometry.cluster_number(cluster));
            Err(Failure { at, fault })
        }
    }
}
