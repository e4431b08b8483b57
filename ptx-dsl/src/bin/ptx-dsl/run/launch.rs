//! The launch: dimensions, host, schedules.

use std::sync::PoisonError;

use clap::ArgMatches;
use ptx_dsl::explore::{Explore, Schedule};
use ptx_dsl::load::{Kernel, Level, Selector};
use ptx_dsl::trace::Tracer;
use ptx_dsl::{Checked, Error, Host, Launch, Report};
use ptx_dsl_frontend::code::{self, Code};

use crate::check;

use super::gpu;
use super::lost;
use super::profile::{self, Profiled};
use super::progress::Progress;
use super::runs::{Runs, launch_once};
use super::spec::{Exploration, How};
use super::values::{self, Value};
use super::{is_json, json, write};

/// What a launch did.
pub struct Outcome {
    /// Of each schedule.
    pub reports: Vec<Report>,
    /// CTAs and threads of a cluster, in words.
    pub shape: String,
    /// Buffers that depend on the schedule, and the first one (a seed, or a number) with which they do.
    pub differ: Vec<(String, String)>,
    /// What may explain that they do: a lost update, in words, with its seed.
    pub lost: Option<String>,
    /// All schedules have run.
    pub complete: bool,
}

impl Outcome {
    /// The outcome of one launch.
    pub fn once(report: Report, shape: String) -> Self {
        Outcome { reports: vec![report], shape, differ: Vec::new(), lost: None, complete: false }
    }
}

/// A launch, and what it left behind.
pub struct Launched {
    pub result: Result<Outcome, Error>,
    /// Timelines that could not be written, and results of a GPU that differ from those of the host.
    pub failures: Vec<String>,
}

/// Launches the kernel of a module with this text. The error is about the options.
pub fn launch(matches: &ArgMatches, kernel: &Kernel, text: &str, values: &mut Vec<Value>) -> Result<Launched, String> {
    // a default value conflicts with nothing
    let is_profiled = matches.contains_id("profile");
    let other = ["gpu", "explore", "trace", "timeline"].into_iter().find(|id| matches.contains_id(id));
    let other = other.or(["checked", "weak"].into_iter().find(|id| matches.get_flag(id)));
    if let (true, Some(other)) = (is_profiled, other) {
        return Err(format!("a profile cannot be made with `--{other}`"));
    }
    if let Some(ordinal) = matches.get_one::<usize>("gpu") {
        return gpu::launch(*ordinal, matches, kernel, values);
    }
    let is_traced = ["trace", "timeline"].iter().any(|id| matches.contains_id(id));
    let exploration = matches.get_one::<Exploration>("explore");
    let is_exhaustive = exploration.is_some_and(|e| e.how == How::Exhaustive);
    let is_checked = is_exhaustive || ["checked", "weak"].iter().any(|id| matches.get_flag(id));
    if is_traced && !is_checked && exploration.is_none() {
        let host = Host::trace();
        let Ran { result, .. } = on(host.clone(), matches, kernel, values)?;
        return Ok(Launched { result, failures: write_timeline(&host, matches) });
    }
    if let Some(path) = matches.get_one::<String>("profile") {
        let (host, mut initial) = (Host::profile(), values.clone());
        let Ran { result, .. } = on(host.clone(), matches, kernel, values)?;
        let timeline = match profile::wants_timeline(matches) {
            true => Some(timeline_of(matches, kernel, &mut initial, None)?.timeline()),
            false => None,
        };
        let profiled = Profiled { profile: &host.profiled(), timeline, kernel, text };
        return Ok(Launched { result, failures: profile::write(&profiled, path, matches)? });
    }
    if matches.contains_id("written-before") {
        return after_writer(matches, kernel, values);
    }
    let initial = is_traced.then(|| values.clone());
    let Ran { result, schedule } = if is_exhaustive {
        on_with(checked(matches)?, matches, kernel, values, |host, n| host.explore(n).exhaustive())
    } else if is_checked {
        on(checked(matches)?, matches, kernel, values)
    } else {
        on(Host::new(), matches, kernel, values)
    }?;
    // another monitor makes the timeline: it sees the same schedule again
    let failures = match initial {
        Some(mut values) => trace_again(matches, kernel, &mut values, schedule)?,
        None => Vec::new(),
    };
    Ok(Launched { result, failures })
}

/// Launches the kernel on a checked host as a programmatic dependent of a grid that writes some of its buffers.
fn after_writer(matches: &ArgMatches, kernel: &Kernel, values: &mut [Value]) -> Result<Launched, String> {
    let names = matches.get_many::<String>("written-before").into_iter().flatten();
    let written = names.map(|name| values::position(kernel, values, name)).collect::<Result<Vec<_>, _>>()?;
    let Prepared { host, of } = prepared(checked(matches)?, matches, kernel)?;
    let (stream, shape) = (host.stream().after_writer_of(written), of.words());
    let result = launch_once(kernel, &stream, of.launch.programmatic(), values);
    let result = result.map(|report| Outcome::once(report, shape));
    Ok(Launched { result, failures: Vec::new() })
}

/// Runs a schedule once more and writes its timeline. What the kernel prints was printed before.
fn trace_again(
    matches: &ArgMatches,
    kernel: &Kernel,
    values: &mut [Value],
    schedule: Option<Schedule>,
) -> Result<Vec<String>, String> {
    Ok(write_timeline(&timeline_of(matches, kernel, values, schedule)?, matches))
}

/// Runs a schedule once more on a host that makes a timeline.
fn timeline_of(
    matches: &ArgMatches,
    kernel: &Kernel,
    values: &mut [Value],
    schedule: Option<Schedule>,
) -> Result<Host<Tracer>, String> {
    let Prepared { host, of: Dimensioned { launch, .. } } = prepared(Host::trace(), matches, kernel)?;
    let host = host.print_bytes(|_| {});
    let host = match schedule {
        Some(schedule) => host.schedule(&schedule.to_string()).map_err(|e| e.to_string())?,
        None => host,
    };
    // it fails as before, or goes on after a finding that only a checked host has
    let _ = launch_once(kernel, &host, launch, values);
    Ok(host)
}

/// Writes the timeline of the last launch: of one that failed too, because that is when it is wanted most. Returns what could not be
/// written.
fn write_timeline(host: &Host<Tracer>, matches: &ArgMatches) -> Vec<String> {
    let timeline = host.timeline();
    let json = matches.get_one::<String>("trace").map(|path| (path, timeline.to_json()));
    let html = matches.get_one::<String>("timeline").map(|path| (path, timeline.to_html()));
    let written = json.into_iter().chain(html).map(|(path, text)| write(path, text.as_bytes()));
    written.filter_map(Result::err).collect()
}

fn checked(matches: &ArgMatches) -> Result<Host<Checked>, String> {
    let host = Host::checked()
        .tensor_fences(!allows(matches, code::NO_TCGEN05_FENCE)?)
        .tensor_registers(!allows(matches, code::TMEM_LOAD_INCOMPLETE)?);
    let host =
        if level(matches, code::OVERWRITTEN_WITHOUT_FENCE)? == Some(Level::Deny) { host.read_fences() } else { host };
    let host = if matches.get_flag("strict-shuffles") { host.strict_shuffles() } else { host };
    let host = if matches.get_flag("weak") { host.weak() } else { host };
    Ok(if matches.get_flag("any-layout") { host.any_layout() } else { host })
}

fn on<M>(host: Host<M>, matches: &ArgMatches, kernel: &Kernel, values: &mut Vec<Value>) -> Result<Ran, String> {
    let how = matches.get_one::<Exploration>("explore").map(|e| e.how);
    on_with(host, matches, kernel, values, |host, n| match how {
        Some(How::Priorities(depth)) => host.explore(n).pct(depth),
        _ => host.explore(n),
    })
}

/// A launch, with its dimensions.
pub(super) struct Dimensioned {
    pub launch: Launch,
    pub cluster: [u32; 3],
    block: [u32; 3],
    grid: [u32; 3],
}

impl Dimensioned {
    /// CTAs and threads of a cluster, in words.
    pub fn words(&self) -> String {
        format!("{} x {} threads", volume(self.cluster), volume(self.block))
    }
}

/// The launch that the options ask for.
pub(super) fn dimensioned(matches: &ArgMatches, kernel: &Kernel) -> Result<Dimensioned, String> {
    let dims = |name| matches.get_one::<[u32; 3]>(name).copied();
    let cluster = dims("cluster").or(kernel.required_cluster()).unwrap_or([1; 3]);
    let block = dims("block").or(kernel.required_block()).or(kernel.largest_block());
    let block = block.ok_or("the kernel does not say how many threads a CTA has: give `--block`")?;
    let grid = dims("grid").unwrap_or(cluster);
    let mut launch = Launch::grid(grid).block(block).cluster(cluster);
    if let Some(bytes) = matches.get_one("shared") {
        launch = launch.dynamic_shared(*bytes);
    }
    if let Some(bytes) = matches.get_one("heap") {
        launch = launch.malloc_heap(*bytes);
    }
    if matches.get_flag("cooperative") {
        launch = launch.cooperative();
    }
    if let Some(limit) = matches.get_one("step-limit") {
        launch = launch.step_limit(*limit);
    }
    Ok(Dimensioned { launch, cluster, block, grid })
}

/// A host with its options, and a launch.
pub(super) struct Prepared<M> {
    pub host: Host<M>,
    pub of: Dimensioned,
}

fn prepared<M>(host: Host<M>, matches: &ArgMatches, kernel: &Kernel) -> Result<Prepared<M>, String> {
    // errors of writing standard output are reported
    let host = match is_json(matches) {
        true => host.print_bytes(|bytes| crate::write_out(&json::printed(bytes))),
        false => host.print_bytes(crate::write_bytes),
    };
    configured(host, matches, kernel)
}

/// A host with its options, apart from where it prints.
pub(super) fn configured<M>(mut host: Host<M>, matches: &ArgMatches, kernel: &Kernel) -> Result<Prepared<M>, String> {
    let of = dimensioned(matches, kernel)?;
    host = host.mma_in_order(matches.get_flag("mma-in-order"));
    if let Some(seed) = matches.get_one::<u64>("seed") {
        host = host.seed(*seed);
    }
    if let Some(text) = matches.get_one::<String>("schedule") {
        host = host.schedule(text).map_err(|e| e.to_string())?;
    }
    if let Some(clusters) = matches.get_one::<u64>("resident") {
        host = host.resident_clusters(usize::try_from(*clusters).unwrap_or(usize::MAX));
    }
    if matches.get_flag("start-in-order") {
        host = host.start_in_order();
    }
    if let Some(threads) = matches.get_one("threads") {
        host = host.threads(*threads);
    }
    Ok(Prepared { host, of })
}

/// How launches ended, and the schedule of the one that failed; without a failure, that of the first seed.
struct Ran {
    result: Result<Outcome, Error>,
    schedule: Option<Schedule>,
}

/// Launches on a host, or under `n` schedules that `explore` chooses.
fn on_with<M>(
    host: Host<M>,
    matches: &ArgMatches,
    kernel: &Kernel,
    values: &mut Vec<Value>,
    explore: impl Fn(&Host<M>, u64) -> Explore<M>,
) -> Result<Ran, String> {
    let Prepared { host, of } = prepared(host, matches, kernel)?;
    let first = matches.get_one::<u64>("seed").copied();
    let (shape, clusters) = (of.words(), volume(of.grid) / volume(of.cluster).max(1));
    let launch = of.launch;
    let mut runs = Runs::new(kernel, launch, first.unwrap_or(0));
    let exploration = matches.get_one::<Exploration>("explore");
    let keeps = matches.get_flag("keep") && exploration.is_some();
    let initial = keeps.then(|| values.clone());
    let mut complete = false;
    let result = match exploration {
        Some(Exploration { schedules, how }) => {
            runs.seeds = *how == How::Seeds;
            runs.explore(&explore(&host, *schedules), *schedules, values).map(|all| {
                complete = all.is_complete();
                all.into_iter().collect()
            })
        }
        None => {
            let progress = Progress::new(clusters, "clusters");
            runs.launch = progress.listen(runs.launch);
            runs.once(&host, values).map(|report| vec![report])
        }
    };
    let steps = matches!(exploration, Some(Exploration { how: How::Priorities(_) | How::Exhaustive, .. }));
    let schedule = match &result {
        Err(Error::Fault(fault)) if steps => Some(Schedule::Steps(fault.schedule.clone())),
        Err(_) if exploration.is_some() => Some(Schedule::Seed(runs.seed)),
        Ok(_) if runs.seeds && exploration.is_some() => Some(Schedule::Seed(first.unwrap_or(0))),
        _ => None,
    };
    if let (Err(_), Some(initial), Some(schedule)) = (&result, initial, &schedule) {
        // shorter schedules were tried after the one that failed
        *values = initial;
        let host = host.clone().print_bytes(|_| {}).schedule(&schedule.to_string()).map_err(|e| e.to_string())?;
        let _ = runs.once(&host, values);
    }
    let result = match result {
        Ok(reports) => {
            let lost = match runs.differing {
                Some((seed, initial)) => lost_update(matches, kernel, &initial, [seed, first.unwrap_or(0)])?,
                None => None,
            };
            Ok(Outcome { reports, shape, differ: runs.differ, lost, complete })
        }
        Err(Error::Fault(mut fault)) if fault.replay.is_some() => {
            fault.replay = Some(match &schedule {
                Some(steps @ Schedule::Steps(_)) => format!("`--schedule {steps}`"),
                _ => format!("`--seed {}`", runs.seed),
            });
            Err(Error::Fault(fault))
        }
        Err(error) => Err(error),
    };
    Ok(Ran { result, schedule })
}

/// A lost update in the run of one of these seeds.
fn lost_update(
    matches: &ArgMatches,
    kernel: &Kernel,
    initial: &[Value],
    seeds: [u64; 2],
) -> Result<Option<String>, String> {
    for seed in seeds {
        let found = lost::Found::default();
        let monitor = found.clone();
        let host = Host::monitored(move || lost::LostUpdates::new(monitor.clone()));
        let Prepared { host, of } = configured(host.print_bytes(|_| {}), matches, kernel)?;
        // it has run before
        let _ = launch_once(kernel, &host.seed(seed), of.launch, &mut initial.to_vec());
        let text = found.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(text) = text {
            return Ok(Some(format!("with `--seed {seed}` {text}")));
        }
    }
    Ok(None)
}

/// Does the last level for it allow a finding?
fn allows(matches: &ArgMatches, code: &Code) -> Result<bool, String> {
    Ok(level(matches, code)? == Some(Level::Allow))
}

/// The last level for a finding, if there is one.
fn level(matches: &ArgMatches, code: &Code) -> Result<Option<Level>, String> {
    let levels = check::levels(matches)?;
    Ok(levels.iter().rev().find(|(_, of)| *of == Selector::Code(code.number)).map(|(level, _)| *level))
}

fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().fold(1, |n, d| u64::saturating_mul(n, u64::from(*d)))
}
