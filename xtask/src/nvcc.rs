//! Tests the front end on the output of nvcc: each program of `tests/nvcc` is compiled to PTX, which must be accepted without an
//! error and print as a module with the same machine code.

pub mod fetch;
mod job;
pub mod program;
mod table;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::module::{counted, in_parallel};
use crate::ptxas::root;
use job::Job;
use program::Program;

/// One for each generation that nvcc 13.5 knows.
const TARGETS: [&str; 5] = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"];
/// Targets of every program in each run; each program gets one of the others, by its place in the list.
const ALWAYS: [&str; 2] = ["sm_90a", "sm_100a"];

/// The options of the command line.
#[derive(Debug, Default)]
pub struct Wanted {
    /// All targets for all programs.
    all: bool,
    /// No other target.
    target: Option<String>,
    /// Programs whose names contain one of these; empty: all.
    names: Vec<String>,
}

impl Wanted {
    /// Reads `[--all] [--target sm_NN] [NAME...]`.
    pub fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut wanted = Wanted::default();
        let mut rest = arguments.iter();
        while let Some(&argument) = rest.next() {
            match argument {
                "--all" => wanted.all = true,
                "--target" => {
                    let target = *rest.next().ok_or("`--target` wants a target")?;
                    if !TARGETS.contains(&target) {
                        return Err(format!("`{target}` is none of {}", TARGETS.join(", ")));
                    }
                    wanted.target = Some(target.to_owned());
                }
                option if option.starts_with('-') => return Err(format!("`{option}` is not an option of `nvcc`")),
                name => wanted.names.push(name.to_owned()),
            }
        }
        Ok(wanted)
    }
}

/// Runs the jobs and prints the table. A missing nvcc is a failure if `strict`, else one line of output.
pub fn run(wanted: &Wanted, strict: bool) -> Result<(), String> {
    let nvcc = match fetch::find_or_fetch() {
        Ok(path) => path,
        Err(reason) if strict || std::env::var_os("NVCC").is_some() => return Err(format!("no nvcc: {reason}")),
        Err(reason) => {
            eprintln!("skipped: the modules of tests/nvcc ({reason})");
            return Ok(());
        }
    };
    let programs = Program::all(&root().join("tests").join("nvcc"))?;
    let output = root().join("target").join("nvcc-out");
    std::fs::create_dir_all(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let mut jobs = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        if !wanted.names.is_empty() && !wanted.names.iter().any(|name| program.name.contains(name.as_str())) {
            continue;
        }
        for target in targets(program, place, wanted) {
            jobs.push(Job::new(&nvcc, &output, program, target));
        }
    }
    if jobs.is_empty() {
        return Err("no program of tests/nvcc matches".to_owned());
    }
    let start = Instant::now();
    let outcomes = in_parallel(&jobs, Job::run);
    print!("{}", table::render(&TARGETS, &outcomes));
    let warnings = counted(outcomes.iter().flat_map(|outcome| &outcome.report.warnings));
    if !warnings.is_empty() {
        println!("warnings: {warnings}");
    }
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.report.passed()).collect();
    for outcome in &failed {
        let (word, details) = (outcome.word(), outcome.report.details.trim_end());
        println!("\n{} for {}: {word}\n{details}", outcome.program, outcome.target);
    }
    let seconds = start.elapsed().as_secs_f64();
    if failed.is_empty() {
        eprintln!(
            "> nvcc: {} modules accepted, printed, laid out, assembled to the same code, {seconds:.1} s",
            outcomes.len()
        );
        return if wanted.names.is_empty() { cuda_program(&nvcc) } else { Ok(()) };
    }
    Err(format!("{} of {} modules of nvcc failed ({seconds:.1} s)", failed.len(), outcomes.len()))
}

/// The example that puts a kernel into a program of nvcc.
fn cuda_program(nvcc: &Path) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root()).env("NVCC", nvcc);
    command.args(["run", "--quiet", "-p", "ptx-dsl", "--features", "cli", "--example", "cuda_program"]);
    let status = command.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err("nvcc does not compile examples/cuda_program".to_owned()) }
}

fn targets<'a>(program: &'a Program, place: usize, wanted: &'a Wanted) -> Vec<&'static str> {
    let fits = |target: &&str| program.targets.is_empty() || program.targets.iter().any(|t| t == target);
    let possible: Vec<&'static str> = TARGETS.into_iter().filter(fits).collect();
    if let Some(only) = &wanted.target {
        return possible.into_iter().filter(|t| t == only).collect();
    }
    if wanted.all {
        return possible;
    }
    let (mut chosen, others): (Vec<_>, Vec<_>) = possible.into_iter().partition(|t| ALWAYS.contains(t));
    if !others.is_empty() {
        chosen.push(others[place % others.len()]);
    }
    chosen
}
