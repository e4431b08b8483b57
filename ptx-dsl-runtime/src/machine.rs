//! The machine: runs a checked launch on one or several host threads.
//!
//! What it schedules are cohorts: warps `lo..hi` of a CTA at one region with the same active lanes. Registers are stored per warp,
//! and fragments of a warp own disjoint lanes of them, so splits and merges copy nothing.

mod async_ops;
mod barriers;
pub(crate) mod body;
pub(crate) mod cluster;
mod concurrent_access;
pub(crate) mod copy;
mod counted;
pub(crate) mod ctx;
mod deadlock;
mod describe;
mod driver;
pub(crate) mod endless;
pub(crate) mod findings;
mod fragments;
pub(crate) mod geometry;
pub(crate) mod grid;
pub(crate) mod heap;
mod lane_access;
pub mod limits;
mod loops;
mod memory;
mod nothing;
pub(crate) mod origins;
pub(crate) mod polling;
pub(crate) mod print;
mod register_pool;
pub mod report;
mod residents;
mod role;
pub mod schedule;
mod scheduling;
pub(crate) mod spaces;
mod starts;
mod step;
pub(crate) mod steps;
mod stepwise;
pub(crate) mod team;
pub mod tensor;
mod tensor_memory;
#[cfg(test)]
mod tests;
mod tx_log;
pub(crate) mod undefined;
mod vector_access;
mod wait_graph;
mod wake;
mod written;

pub(crate) use async_ops::warp_copies;
pub use body::Body;
pub(crate) use body::Code;
pub use ctx::Ctx;

use std::thread;

use crate::fault::{Fault, FaultKind};
use crate::machine::async_ops::AsyncOps;
use crate::machine::cluster::Cohort;
use crate::machine::fragments::Fragments;
use crate::machine::geometry::Geometry;
use crate::machine::grid::Grid;
use crate::machine::memory::Memory;
use crate::machine::report::Report;
use crate::machine::residents::Residents;
use crate::machine::scheduling::Scheduling;
use crate::machine::step::CohortOutcome;
use crate::machine::team::Team;
use crate::memory::global::Global;
use crate::memory::segment::{self, Segment};
use crate::numerics::simd::InstructionSet;
use crate::observe::monitor::{Event, Order};
use crate::observe::probe::Monitored;

/// The stack of a host thread: as large as a main thread's, for unoptimised kernels.
const STACK: usize = 8 << 20;

/// The outcome of one host thread.
type Outcome = Result<Report, Failure>;

struct Failure {
    /// Number of the cluster in the grid. `None` if another thread's fault ended this one.
    at: Option<u64>,
    fault: Box<Fault>,
}

/// Runs a grid, by the code of its kernel on an engine. `params` are the kernel parameters for each device.
pub(crate) fn run(
    grid: &Grid<'_>,
    code: &dyn Code,
    params: Vec<Vec<u8>>,
    segments: Vec<Segment<'_>>,
) -> Result<Report, Box<Fault>> {
    let monitored = || Monitored::new(grid.monitor);
    let first = monitored();
    let is_shared = grid.takes_the_first() && first.wants().per_thread;
    let team = Team::new(if is_shared { grid.threads } else { 1 }, grid);
    if team.is_single() {
        return work(grid, code, first, params, Global::new(segments), &team).map_err(|f| f.fault);
    }
    let outcomes = segment::share(segments, |segments| {
        thread::scope(|scope| {
            let one = |monitor| work(grid, code, monitor, params.clone(), Global::for_thread(segments), &team);
            let other = move || one(monitored());
            let others: Vec<_> = (1..team.threads())
                .filter_map(|_| {
                    let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, other);
                    // without this thread the others run its clusters
                    started.map_err(|_| team.leave()).ok()
                })
                .collect();
            let mut outcomes = vec![one(first)];
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
                sum.instructions += r.instructions;
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

impl<'a> Ctx<'a> {
    /// The machine of one host thread, before the first cluster starts.
    pub(crate) fn new(
        grid: &Grid<'a>,
        monitor: Monitored,
        params: Vec<Vec<u8>>,
        global: Global<'a>,
        team: &'a Team,
    ) -> Self {
        Ctx {
            mask: 0,
            site: 0,
            order: Order::default(),
            watched: monitor.is_on(),
            warp: 0,
            rows: 4,
            set: InstructionSet::Base,
            cur: Cohort::default(),
            step: CohortOutcome::new(),
            fragments: Fragments::new(),
            scheduling: Scheduling::new(grid, team),
            geometry: Geometry::new(grid),
            memory: Memory::new(global, params),
            residents: Residents::new(team.slots(grid.residents)),
            async_ops: AsyncOps::default(),
            monitor,
            findings: Default::default(),
        }
    }
}

/// Runs clusters until there are no more: the work of one thread.
fn work(
    grid: &Grid<'_>,
    code: &dyn Code,
    monitor: Monitored,
    params: Vec<Vec<u8>>,
    global: Global<'_>,
    team: &Team,
) -> Outcome {
    let _leave_on_drop = LeaveOnDrop(team);
    let mut x = Ctx::new(grid, monitor, params, global, team);
    let (slots, warps_per_cta) = (x.residents.clusters.len(), x.geometry.warps() as usize);
    let warps = warps_per_cta * x.geometry.cluster_size() as usize;
    let mut body = code.body(&mut x, (slots, warps, warps_per_cta));
    if let Some(monitor) = x.monitor.get() {
        monitor.launch(x.geometry.info);
    }
    let alike = if team.is_single() && nothing::is_all_of(grid, &x.geometry) { team.leave_one() } else { 1 };
    let outcome = x.drive(&mut *body);
    x.report().event(Event::Ends { failed: outcome.is_err() });
    let findings = std::mem::take(&mut x.findings);
    match findings.end(outcome.err()) {
        None => {
            let report = Report {
                clusters_launched: x.residents.launched,
                clusters_cancelled: x.residents.cancelled,
                turns: x.scheduling.turns,
                instructions: x.scheduling.endless.instructions,
                device_time: None,
                schedule: x.scheduling.take_record(),
            };
            Ok(report.times(alike))
        }
        Some(mut fault) => {
            team.stop();
            fault.replay = grid.replay.clone();
            fault.schedule = x.scheduling.take_record();
            fault.steps = x.report().steps_in_words();
            let cluster = x.residents.clusters.get(x.residents.slot).map_or([0; 3], |c| c.id);
            let at = (!x.scheduling.stopped).then(|| x.geometry.cluster_number(cluster));
            Err(Failure { at, fault })
        }
    }
}
