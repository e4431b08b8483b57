//! The launch: dimensions, host, schedules, progress.

use std::io::IsTerminal;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use ptx_dsl::load::Kernel;
use ptx_dsl::{Arg, Error, Host, Launch, Monitor, Report};

use super::values::Value;

/// What a launch did.
pub struct Outcome {
    /// Of each schedule.
    pub reports: Vec<Report>,
    /// CTAs and threads of a cluster, in words.
    pub shape: String,
    /// Buffers that depend on the schedule, and the first seed with which they do.
    pub differ: Vec<(String, u64)>,
}

/// Launches the kernel. The outer error is about the options.
pub fn launch(
    matches: &ArgMatches,
    kernel: &Kernel,
    values: &mut Vec<Value>,
) -> Result<Result<Outcome, Error>, String> {
    if matches.get_flag("checked") {
        on(Host::checked(), matches, kernel, values)
    } else {
        on(Host::new(), matches, kernel, values)
    }
}

fn on<M: Monitor>(
    mut host: Host<M>,
    matches: &ArgMatches,
    kernel: &Kernel,
    values: &mut Vec<Value>,
) -> Result<Result<Outcome, Error>, String> {
    let dims = |name| matches.get_one::<[u32; 3]>(name).copied();
    let cluster = dims("cluster").or(kernel.required_cluster()).unwrap_or([1; 3]);
    let block = dims("block").or(kernel.required_block()).or(kernel.largest_block());
    let block = block.ok_or("the kernel does not say how many threads a CTA has: give `--block`")?;
    let mut launch = Launch::grid(dims("grid").unwrap_or(cluster)).block(block).cluster(cluster);
    if let Some(bytes) = matches.get_one("shared") {
        launch = launch.dynamic_shared(*bytes);
    }
    if let Some(limit) = matches.get_one("step-limit") {
        launch = launch.step_limit(*limit);
    }
    let seed = matches.get_one::<u64>("seed").copied();
    if let Some(seed) = seed {
        host = host.seed(seed);
    }
    if let Some(threads) = matches.get_one("threads") {
        host = host.threads(*threads);
    }
    let shape = format!("{} x {} threads", volume(cluster), volume(block));
    Ok(match matches.get_one::<u64>("explore") {
        Some(schedules) => explore(&host, seed.unwrap_or(0), *schedules, kernel, &launch, values)
            .map(|(reports, differ)| Outcome { reports, shape, differ }),
        None => {
            let progress = Progress::default();
            let result = once(&host, kernel, progress.listen(launch), values);
            progress.clear();
            result.map(|report| Outcome { reports: vec![report], shape, differ: Vec::new() })
        }
    })
}

fn once<M: Monitor>(host: &Host<M>, kernel: &Kernel, launch: Launch, values: &mut [Value]) -> Result<Report, Error> {
    let argument = |value| match value {
        &mut Value::Buffer(ref mut data) => Arg::buffer(&mut data.bytes),
        Value::Bytes(bytes) => Arg::value(bytes),
    };
    let mut arguments: Vec<Arg<'_>> = values.iter_mut().map(argument).collect();
    kernel.launch_raw(host, launch, &mut arguments)
}

/// Tries schedules. The values are then those of the last one. Returns buffers whose contents differ, with a seed.
fn explore<M: Monitor>(
    host: &Host<M>,
    first: u64,
    schedules: u64,
    kernel: &Kernel,
    launch: &Launch,
    values: &mut Vec<Value>,
) -> Result<(Vec<Report>, Vec<(String, u64)>), Error> {
    let initial = values.clone();
    let mut expected: Option<Vec<Value>> = None;
    let mut differ: Vec<(String, u64)> = Vec::new();
    let mut seed = first;
    let reports = host.explore(schedules).run(|host| {
        values.clone_from(&initial);
        let report = once(host, kernel, launch.clone(), values)?;
        let expected = expected.get_or_insert_with(|| values.clone());
        for ((p, a), b) in kernel.parameters().iter().zip(expected.iter()).zip(values.iter()) {
            let (Value::Buffer(a), Value::Buffer(b)) = (a, b) else { continue };
            if a.bytes != b.bytes && differ.iter().all(|(name, _)| *name != p.name) {
                differ.push((p.name.clone(), seed));
            }
        }
        seed = seed.wrapping_add(1);
        Ok(report)
    })?;
    Ok((reports, differ))
}

fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().fold(1, |n, d| u64::saturating_mul(n, u64::from(*d)))
}

/// A bar on the terminal, for launches that take longer than a second.
struct Progress {
    start: Instant,
    bar: Arc<OnceLock<ProgressBar>>,
}

impl Default for Progress {
    fn default() -> Self {
        Progress { start: Instant::now(), bar: Arc::default() }
    }
}

impl Progress {
    fn listen(&self, launch: Launch) -> Launch {
        if !std::io::stderr().is_terminal() {
            return launch;
        }
        let (start, bar) = (self.start, self.bar.clone());
        launch.on_progress(move |now| {
            if start.elapsed() > Duration::from_secs(1) {
                bar.get_or_init(|| new_bar(now.clusters)).set_position(now.clusters_done);
            }
        })
    }

    fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(clusters: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} clusters, {elapsed}, {eta} left");
    ProgressBar::new(clusters).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
