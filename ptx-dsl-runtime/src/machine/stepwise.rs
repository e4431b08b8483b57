//! The driver of launches that run step by step: an [`Explorer`](crate::machine::steps::Explorer) chooses which warp or asynchronous operation
//! makes the next step.
//!
//! A step of a warp begins with a visible operation and ends before the next one; its first step has what precedes. The lanes of a diverged warp are one process: those
//! that are behind run first.

use crate::fault::Fault;
use crate::kernel::flow::{Next, Pc};
use crate::machine::body::Body;
use crate::machine::cluster::{Cluster, Cohort};
use crate::machine::ctx::Ctx;
use crate::machine::driver::{self, Probe, exit, merge, probe_deadlock, split, start, time_out_waits, wake};
use crate::machine::polling::{self, Verdict};
use crate::machine::steps::effect::{Action, StepObject};
use crate::machine::steps::{Process, Steps};
use crate::observe::monitor::Event;
use ptx_dsl_isa::image::NO_SITE;

/// Regions of a step without a visible operation, after which others have a turn.
const LONGEST: u64 = 1 << 16;

/// The number of rounds in which everything that can run tests something in a loop and finds it unchanged. After them the registers
/// are examined: the loops may count.
const ROUNDS: u32 = 16;

/// A process that is able to make a step.
#[derive(Clone, Copy)]
enum Able {
    Warp { slot: usize, rank: u32, warp: u32 },
    Operation { id: u64 },
}

impl Ctx<'_> {
    /// Runs the grid.
    pub(crate) fn drive(&mut self, body: &mut dyn Body) -> Result<(), Box<Fault>> {
        if self.scheduling.steps.is_some() { drive(body, self) } else { driver::drive(body, self) }
    }
}

fn drive(body: &mut dyn Body, x: &mut Ctx<'_>) -> Result<(), Box<Fault>> {
    let mut probe: Option<Probe> = None;
    // how often all have tested again since the last progress
    let mut rounds = (0, x.scheduling.progress);
    // stores of what is there already are no progress
    x.scheduling.probing = true;
    loop {
        if x.residents.take_vacant() {
            admit_between_steps(body, x);
        }
        if x.residents.all_free() {
            return x.budget().check_step_limit();
        }
        x.budget().check_limits_if_due()?;
        match polling::verdict(x) {
            Verdict::Stuck => return Err(polling::stuck(body, x)),
            Verdict::TimeOut => time_out_waits(x),
            Verdict::Unknown => {}
        }
        for slot in 0..x.residents.clusters.len() {
            wake_warps(x, slot);
        }
        let mut able = able(x);
        if able.is_empty() && steps(x).is_some_and(Steps::forget_idle) {
            let before = if rounds.1 == x.scheduling.progress { rounds.0 } else { 0 };
            rounds = (before + 1, x.scheduling.progress);
            if rounds.0 == ROUNDS {
                x.scheduling.start_polling();
            }
            able = self::able(x);
        }
        if able.is_empty() {
            // operations that nobody can wait for complete now
            match (0..x.residents.clusters.len()).find(|slot| x.async_ops.any(*slot)) {
                Some(slot) => x.async_unit().deliver_to(slot)?,
                None => {
                    let same = probe.take().filter(|p| p.progress == x.scheduling.progress);
                    probe = Some(probe_deadlock(body, x, same)?);
                }
            }
            continue;
        }
        let processes: Vec<Process> = able.iter().map(|(process, _)| *process).collect();
        let (process, who) = able[x.scheduling.pick(&processes)];
        match who {
            Able::Operation { id } => {
                begin(x, process);
                x.async_unit().complete(id)?;
                let now = x.scheduling.progress;
                if let Some(steps) = steps(x) {
                    steps.end(false, 0, (now, 0));
                }
            }
            Able::Warp { slot, rank, warp } => run(body, x, process, (slot, rank, warp))?,
        }
    }
}

fn steps<'x>(x: &'x mut Ctx<'_>) -> Option<&'x mut Steps> {
    x.scheduling.steps.as_deref_mut()
}

fn begin(x: &mut Ctx<'_>, process: Process) {
    if let Some(steps) = steps(x) {
        steps.begin(process);
    }
}

/// Starts pending clusters in free slots where no step is made. If there is a choice, it is a step of its own.
fn admit_between_steps(body: &mut dyn Body, x: &mut Ctx<'_>) {
    if !x.starts().has_choice_of_start() {
        return admit(body, x, NO_SITE);
    }
    x.scheduling.pick(&[Process::LAUNCH]);
    if let Some(steps) = steps(x) {
        steps.begin_launch();
    }
    admit(body, x, NO_SITE);
    let now = x.scheduling.progress;
    if let Some(steps) = steps(x) {
        steps.end(false, NO_SITE, (now, 0));
    }
}

/// Starts pending clusters in free slots.
fn admit(body: &mut dyn Body, x: &mut Ctx<'_>, site: u32) {
    let mut skipped = 0;
    while let Some((slot, n)) = x.starts().admit_in_step(&mut skipped, site) {
        start(body, x, slot, n);
        if let Some(steps) = steps(x) {
            steps.starts_cluster(slot as u32, n);
        }
        let whole = &mut x.residents.clusters[slot].ready;
        // each warp by itself
        let warps = whole.drain(..).flat_map(|c| (c.lo..c.hi).map(move |w| Cohort { lo: w, hi: w + 1, ..c }));
        *whole = warps.collect::<Vec<_>>().into();
    }
}

/// Parked warps whose wait is over are ready. They come after what has ended it.
fn wake_warps(x: &mut Ctx<'_>, slot: usize) {
    if x.residents.clusters[slot].dirty {
        let waits: Vec<_> = x.residents.clusters[slot].parked.iter().map(|p| (p.c, p.wait.clone())).collect();
        wake(x, slot);
        let ready = &x.residents.clusters[slot].ready;
        let same = |c: &Cohort, o: &Cohort| c.overlaps(o) && c.mask == o.mask && c.pc == o.pc && o.resumed;
        let woken: Vec<_> = waits.into_iter().filter(|(c, _)| ready.iter().any(|o| same(c, o))).collect();
        let number = x.geometry.cluster_number(x.residents.clusters[slot].id);
        if let Some(steps) = steps(x) {
            for (c, wait) in woken {
                let process = Process { operation: 0, cluster: number, rank: c.cta, warp: c.lo };
                steps.resumes(process, &wait, slot as u32);
            }
        }
    }
}

/// The processes that are able to make a step: the process of the last step, then the others in order from there on.
fn able(x: &Ctx<'_>) -> Vec<(Process, Able)> {
    let Some(steps) = x.scheduling.steps.as_deref() else { return Vec::new() };
    let mut able: Vec<(Process, Able)> = Vec::new();
    for (slot, cluster) in x.residents.clusters.iter().enumerate().filter(|(_, c)| c.resident) {
        let number = x.geometry.cluster_number(cluster.id);
        for c in &cluster.ready {
            let process = Process { operation: 0, cluster: number, rank: c.cta, warp: c.lo };
            let idle = steps.is_idle(process, x.scheduling.progress);
            if !idle && able.iter().all(|(known, _)| *known != process) {
                able.push((process, Able::Warp { slot, rank: c.cta, warp: c.lo }));
            }
        }
    }
    able.extend(x.async_ops.may_complete().filter_map(|(_, id)| Some((steps.operation(id)?, Able::Operation { id }))));
    able.sort_by_key(|(process, _)| (*process < steps.current, *process));
    able
}

/// The lanes of a warp that run next.
fn next_of(cluster: &Cluster, rank: u32, warp: u32) -> Option<usize> {
    let of_warp = cluster.ready.iter().enumerate().filter(|(_, c)| (c.cta, c.lo) == (rank, warp));
    of_warp.min_by_key(|(_, c)| (c.epoch, c.pc)).map(|(i, _)| i)
}

/// A warp makes a step.
fn run(
    body: &mut dyn Body,
    x: &mut Ctx<'_>,
    process: Process,
    (slot, rank, warp): (usize, u32, u32),
) -> Result<(), Box<Fault>> {
    let (mut progress, turns) = (x.scheduling.progress, x.scheduling.turns);
    // where the visible operation is: the region and the lanes
    let mut operation: Option<(Pc, u32)> = None;
    let mut site = 0;
    begin(x, process);
    loop {
        x.starts().enter(slot);
        let cluster = &mut x.residents.clusters[slot];
        let Some(i) = next_of(cluster, rank, warp) else { break };
        let next = cluster.ready[i];
        if body.is_visible(next.pc) {
            if operation.is_some() {
                break;
            }
            operation = Some((next.pc, next.mask));
            (progress, site) = (x.scheduling.progress, body.first_site(next.pc));
            if let Some(steps) = steps(x) {
                steps.operates(site);
            }
        } else if x.scheduling.turns - turns > LONGEST {
            break;
        }
        if !run_region(body, x, i)? {
            break;
        }
        x.budget().check_limits_if_due()?;
        // the lanes of the warp that waited for these run on
        wake_warps(x, slot);
    }
    if x.residents.take_vacant() {
        // the next cluster starts because of this step
        admit(body, x, site);
    }
    // nothing has changed: the warp waits, or tests in a loop
    let now = x.scheduling.progress;
    let cluster = &mut x.residents.clusters[slot];
    let (again, others) = match next_of(cluster, rank, warp) {
        Some(i) => {
            let others = cluster.ready.iter().filter(|c| (c.cta, c.lo) == (rank, warp)).count() - 1;
            let c = &mut cluster.ready[i];
            let again = operation == Some((c.pc, c.mask)) && now == progress;
            // lanes that test let the others of their warp run
            c.epoch = c.epoch.saturating_add(u32::from(again));
            (again, others)
        }
        None => (cluster.parked.iter().any(|p| (p.c.cta, p.c.lo) == (rank, warp)), 0),
    };
    let idle = again && now == progress && operation.is_some();
    if let Some(steps) = steps(x) {
        steps.end(idle, site, (now, others));
    }
    Ok(())
}

/// Lanes of a warp, which are ready, run a region. False if their cluster has ended.
fn run_region(body: &mut dyn Body, x: &mut Ctx<'_>, i: usize) -> Result<bool, Box<Fault>> {
    let Some(mut c) = x.here().ready.remove(i) else { return Ok(false) };
    let ready = &mut x.here().ready;
    let joins = |o: &Cohort| o.lo == c.lo && o.agrees(&c);
    if ready.iter().any(joins) {
        c = merge(ready, c, joins);
    }
    x.cur = c;
    if x.scheduling.polling.is_some() {
        polling::watch(body, x);
    }
    x.scheduling.begin_turn(true);
    x.step.clear();
    x.fragments.clear();
    x.report().runs();
    x.hold_shared();
    let next = body.step(x);
    x.release_shared();
    x.report().event(Event::Pauses);
    let next = next?;
    match next {
        Next::Go(pc) => {
            let c = Cohort { pc, ..x.cur };
            x.here().ready.push_back(c);
        }
        Next::Split => split(x)?,
        Next::Exit => {
            exits(x);
            if exit(x)? {
                let slot = x.residents.slot;
                x.residents.vacate(slot);
                x.scheduling.report_progress();
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Threads of the current CTA exit: they count as arrived at its barriers.
fn exits(x: &mut Ctx<'_>) {
    let (slot, rank, used) = (x.residents.slot as u32, x.cur.cta, x.cta().barriers_used);
    let last = x.cta().threads == x.cur.mask.count_ones();
    let Some(steps) = x.report().watched_steps() else { return };
    for id in (0..16).filter(|id| used >> id & 1 != 0) {
        steps.arrive(StepObject::Barrier(slot, rank, id), false);
    }
    steps.arrive(StepObject::Cluster(slot), false);
    if last {
        steps.effect(StepObject::Life(slot, rank), Action::Write);
    }
}
