//! Runs the benches of the host machine, and measures the compile time of kernels.

mod compile;

use std::process::{self, Stdio};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use ptx_dsl_oracles::tools::{cargo, root, run_shown};
use serde_json::Value;

use crate::Task;
use crate::arguments::{flag, number, path, text};

/// A further build of the benches: its option, flags, profile and environment. Each has its own target directory.
struct Variant {
    label: &'static str,
    flags: &'static str,
    profile: Option<&'static str>,
    environment: &'static [(&'static str, &'static str)],
}

const UNCHECKED: Variant = Variant {
    label: "unchecked",
    flags: "--cfg ptx_dsl_unchecked",
    profile: None,
    // memory/bounds.rs in the runtime requires both, so that nobody gets this build by accident
    environment: &[("PTX_DSL_UNCHECKED_BENCH", "1")],
};
const NATIVE: Variant = Variant { label: "native", flags: "-C target-cpu=native", profile: None, environment: &[] };
/// README's development builds, which interpret.
const DEV: Variant = Variant { label: "dev", flags: "", profile: Some("dev"), environment: &[] };

/// `cargo xtask bench`.
pub fn task() -> Task {
    let about = "Times the host machine against plain Rust";
    let command = Command::new("bench").about(about).args(passed_on()).args([
        flag("no-unchecked", "Leaves out the build without checks"),
        flag("native", "Also times builds of both sides for this processor"),
        flag(
            "dev",
            "Also times a development build, optimised as in README; with --compile, leaves out release builds",
        ),
    ]);
    Task { command: command.args(compile::arguments()), run }
}

/// The options of the program of the benches.
fn passed_on() -> [Arg; 6] {
    [
        path("json", "FILE", "Writes the times as JSON"),
        text("only", "Only the bench of this name"),
        number("rounds", "The number of rounds of each bench"),
        number("threads", "The number of host threads"),
        flag("no-checked", "Leaves out the checked host"),
        path("opencl", "PROGRAM", "Also times the same kernels in OpenCL (benches/opencl)"),
    ]
}

/// Builds the benches, by default also without checks, and further builds on request; passes the other options on. With `--compile`,
/// measures the compiler instead.
fn run(matches: &ArgMatches) -> Result<(), String> {
    if matches.get_flag("compile") {
        return compile::run(matches);
    }
    let wanted = [
        (!matches.get_flag("no-unchecked"), UNCHECKED),
        (matches.get_flag("native"), NATIVE),
        (matches.get_flag("dev"), DEV),
    ];
    let mut command = process::Command::new(build_bench(None)?);
    for (_, variant) in wanted.iter().filter(|(wanted, _)| *wanted) {
        command.arg(format!("--{}", variant.label)).arg(build_bench(Some(variant))?);
    }
    let given = passed_on()
        .into_iter()
        .filter(|option| matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine));
    for option in given {
        let name = option.get_id().as_str();
        command.arg(format!("--{name}"));
        if option.get_action().takes_values() {
            command.args(matches.get_raw(name).into_iter().flatten());
        }
    }
    run_shown(&mut command)
}

/// Builds the benches and returns the path of the program.
fn build_bench(variant: Option<&Variant>) -> Result<String, String> {
    let mut command = cargo();
    command.args([
        "bench",
        "-p",
        "ptx-dsl-tests",
        "--bench",
        "host",
        "--no-run",
        "--message-format",
        "json-render-diagnostics",
    ]);
    if let Some(v) = variant {
        command.arg("--target-dir").arg(root().join("target").join(format!("bench-{}", v.label)));
        if let Some(profile) = v.profile {
            command.args(["--profile", profile]);
        }
        if !v.flags.is_empty() {
            let given = std::env::var("RUSTFLAGS").unwrap_or_default();
            command.env("RUSTFLAGS", format!("{given} {}", v.flags).trim_start());
        }
        command.envs(v.environment.iter().copied());
        eprintln!("> benches, {}", v.label);
    }
    executable(&mut command)
}

/// Runs cargo, which builds a program and prints messages in JSON, and returns the path of the program.
pub(crate) fn executable(command: &mut std::process::Command) -> Result<String, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("cannot run cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(str::to_owned)
    };
    messages.lines().filter_map(executable).next_back().ok_or("cargo does not say where the program is".into())
}
