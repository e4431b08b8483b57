//! `cargo xtask bench`: runs the benches of the host machine, and measures the compile time of kernels.

mod compile;

use crate::ptxas;
use std::process::{Command, Stdio};

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
    // mem/bounds.rs in the runtime requires both, so that nobody gets this build by accident
    environment: &[("PTX_DSL_UNCHECKED_BENCH", "1")],
};
const NATIVE: Variant = Variant { label: "native", flags: "-C target-cpu=native", profile: None, environment: &[] };
/// README's development builds, which interpret.
const DEV: Variant = Variant { label: "dev", flags: "", profile: Some("dev"), environment: &[] };

/// Builds the benches, by default also without checks, and further builds on request; passes the other arguments on. With
/// `--compile` first, measures the compiler instead.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    if let ["--compile", rest @ ..] = arguments {
        return compile::run(rest);
    }
    let mut rest = arguments.to_vec();
    let mut take = |option: &str| {
        let before = rest.len();
        rest.retain(|a| *a != option);
        rest.len() < before
    };
    let wanted = [(!take("--no-unchecked"), UNCHECKED), (take("--native"), NATIVE), (take("--dev"), DEV)];
    let bench = build_bench(None)?;
    let mut command = Command::new(bench);
    for (_, variant) in wanted.iter().filter(|(wanted, _)| *wanted) {
        command.arg(format!("--{}", variant.label)).arg(build_bench(Some(variant))?);
    }
    let status = command.args(rest).status().map_err(|e| format!("cannot run the benches: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the benches ended with {status}")) }
}

/// Builds the benches and returns the path of the program.
fn build_bench(variant: Option<&Variant>) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(ptxas::root()).stderr(Stdio::inherit());
    command.args(["bench", "--bench", "host", "--no-run", "--message-format", "json-render-diagnostics"]);
    if let Some(v) = variant {
        command.arg("--target-dir").arg(ptxas::root().join("target").join(format!("bench-{}", v.label)));
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
    let output = command.output().map_err(|e| format!("cannot run cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("the benches do not compile: {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = messages.lines().filter_map(|l| l.split_once("\"executable\":\"")?.1.split_once('"')).next_back();
    program.map(|(path, _)| path.replace("\\\\", "\\")).ok_or("cargo does not say where the benches are".into())
}
