//! Tests the front end on the output of nvcc: each program of `tests/nvcc` is compiled to PTX, which must be accepted without an
//! error and print as a module with the same machine code.

mod job;
pub(crate) mod program;
mod table;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ptx_dsl_test_support::parallel;

use crate::machine_code::counted;
use crate::tools::{cargo, is_named, make_directory, nvcc, root, run_shown};
use job::Job;
use program::Program;

/// One for each generation that nvcc 13.5 knows.
pub const TARGETS: [&str; 5] = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"];
/// Targets of every program in each run; each program gets one of the others, by its place in the list.
const ALWAYS: [&str; 2] = ["sm_90a", "sm_100a"];

/// The programs to compile, and their targets.
#[derive(Debug, Default)]
pub struct Options {
    /// Compiles every program for every target.
    pub all: bool,
    /// The only target.
    pub target: Option<String>,
    /// Programs whose names contain one of these; empty: all.
    pub names: Vec<String>,
}

/// Runs the jobs and prints the table. A missing nvcc is a failure if `strict`, else one line of output.
pub fn run(options: &Options, strict: bool) -> Result<(), String> {
    let nvcc = match nvcc::find_or_fetch() {
        Ok(path) => path,
        Err(reason) if strict || std::env::var_os("NVCC").is_some() => return Err(format!("no nvcc: {reason}")),
        Err(reason) => {
            eprintln!("skipped: the modules of tests/nvcc ({reason})");
            return Ok(());
        }
    };
    let programs = Program::all(&root().join("tests").join("nvcc"))?;
    let output = root().join("target").join("nvcc-out");
    make_directory(&output)?;
    let mut jobs = Vec::new();
    for (place, program) in programs.iter().enumerate().filter(|(_, program)| is_named(&program.name, &options.names)) {
        let targets = targets(program, place, options).into_iter();
        jobs.extend(targets.map(|target| Job::new(&nvcc, &output, program, target)));
    }
    if jobs.is_empty() {
        return Err("no program of tests/nvcc matches".to_owned());
    }
    let start = Instant::now();
    let outcomes = parallel::map(&jobs, Job::run);
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
        return if options.names.is_empty() { cuda_program(&nvcc) } else { Ok(()) };
    }
    Err(format!("{} of {} modules of nvcc failed ({seconds:.1} s)", failed.len(), outcomes.len()))
}

/// The example that puts a kernel into a program of nvcc.
fn cuda_program(nvcc: &Path) -> Result<(), String> {
    // With the features of `cargo test --workspace`, so that nothing is built twice.
    run_shown(cargo().args([
        "build",
        "--quiet",
        "--workspace",
        "--features",
        "ptx-dsl/lsp,ptx-dsl/debug",
        "--example",
        "cuda_program",
    ]))?;
    let program = root().join("target/debug/examples/cuda_program").with_extension(std::env::consts::EXE_EXTENSION);
    run_shown(Command::new(program).env("NVCC", nvcc))
}

/// The targets to compile a program for. `place`: its place in the list of programs.
fn targets(program: &Program, place: usize, options: &Options) -> Vec<&'static str> {
    let fits = |target: &&str| program.targets.is_empty() || program.targets.iter().any(|t| t == target);
    let possible: Vec<&'static str> = TARGETS.into_iter().filter(fits).collect();
    if let Some(only) = &options.target {
        return possible.into_iter().filter(|t| t == only).collect();
    }
    if options.all {
        return possible;
    }
    let (mut chosen, others): (Vec<_>, Vec<_>) = possible.into_iter().partition(|t| ALWAYS.contains(t));
    if !others.is_empty() {
        chosen.push(others[place % others.len()]);
    }
    chosen
}
