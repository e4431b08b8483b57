//! The build that every new user waits for: a clean build of a crate with one kernel.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ptx_dsl_oracles::tools::{cargo, root};

use super::{Used, timed, write_to};

/// Names the file for the times of rustc. Set while cargo builds with this program as the wrapper of rustc.
pub const TIMES: &str = "PTX_DSL_TIMES";

const KERNEL: &str = r#"
ptx_dsl::ptx! {
    <sm_90a, ptx 8.0>
    .visible .entry double(.param .u64 .ptr .global .align 4 data: &mut [u32]) .reqntid 32
    {
        .reg .b32 %r<3>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [data];
        mov.u32 %r0, %tid.x;
        mad.wide.u32 %d1, %r0, 4, %d0;
        ld.global.u32 %r1, [%d1];
        add.u32 %r1, %r1, %r1;
        st.global.u32 [%d1], %r1;
        ret;
    }
}
fn main() {}
"#;

/// Builds the crate. Returns the time of all of it, and the time in which rustc compiled at least one crate of this project.
pub fn build(directory: &Path) -> Result<(Used, Duration), String> {
    let package = directory.join("fresh");
    let _ = std::fs::remove_dir_all(&package);
    std::fs::create_dir_all(package.join("src")).map_err(|e| format!("{}: {e}", package.display()))?;
    let manifest = format!(
        "[package]\nname = \"fresh\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\nptx-dsl = {{ path = {:?} }}\n[workspace]\n",
        root().join("ptx-dsl")
    );
    write_to(&package.join("Cargo.toml"), &manifest)?;
    write_to(&package.join("src").join("main.rs"), KERNEL)?;
    // The versions of this workspace, so that nothing is downloaded.
    std::fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock")).map_err(|e| e.to_string())?;
    let times = directory.join("times.txt");
    let _ = std::fs::remove_file(&times);
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = cargo();
    command.env_remove("CARGO_INCREMENTAL").env(TIMES, &times).env("RUSTC_WRAPPER", this);
    command.args(["build", "--quiet", "--manifest-path"]).arg(package.join("Cargo.toml"));
    command.arg("--target-dir").arg(package.join("target"));
    let used = timed(&mut command)?;
    let text = std::fs::read_to_string(&times).map_err(|e| format!("{}: {e}", times.display()))?;
    Ok((used, union(text.lines().filter_map(interval).collect())))
}

/// Parses a line of the wrapper if it is about a crate of this project: start and end.
fn interval(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let own = name.starts_with("ptx_dsl") || name == "fresh";
    own.then_some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The length of the union of the intervals, in milliseconds.
fn union(mut intervals: Vec<(u64, u64)>) -> Duration {
    intervals.sort_unstable();
    let (mut total, mut until) = (0, 0);
    for (start, end) in intervals {
        total += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    Duration::from_millis(total)
}

/// Runs rustc for one crate, and appends its start and end to the file.
pub fn wrapper(times: &OsStr) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [rustc, arguments @ ..] = arguments.as_slice() else { return ExitCode::FAILURE };
    let name = arguments.iter().skip_while(|a| *a != "--crate-name").nth(1).and_then(|n| n.to_str()).unwrap_or("?");
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let start = now();
    let status = Command::new(rustc).args(arguments).status();
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(times) {
        let _ = writeln!(file, "{name} {start} {}", now());
    }
    if status.is_ok_and(|s| s.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        let lines = "ptx_dsl_isa 100 300\nsyn 0 900\nptx_dsl_syntax 250 400\nfresh 1000 1100";
        assert_eq!(union(lines.lines().filter_map(interval).collect()), Duration::from_millis(400));
    }
}
