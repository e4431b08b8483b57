//! `cargo xtask budget --instructions`: counts with valgrind what rustc executes for each crate of the macros. On a busy machine
//! times vary by a third from minute to minute; counts do not.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::ptxas::root;

/// Names the directory of the counts. Set while cargo builds with this program as the wrapper of rustc.
pub const DIRECTORY: &str = "PTX_DSL_COUNT";

/// Rebuilds `ptx-dsl-macros` and prints the counts.
pub fn run() -> Result<(), String> {
    let directory = root().join("target").join("count");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|s| s.success()) {
        return Err("valgrind is wanted for this (package `valgrind`)".into());
    }
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).env(DIRECTORY, &directory).env("RUSTC_WRAPPER", this);
    cargo.args(["build", "--quiet", "-p", "ptx-dsl-macros", "--target-dir"]).arg(directory.join("build"));
    if !cargo.status().is_ok_and(|s| s.success()) {
        return Err("cargo failed".into());
    }
    let mut all: Vec<(u64, String)> = Vec::new();
    for entry in std::fs::read_dir(&directory).map_err(|e| e.to_string())?.flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if let Some(count) = text.lines().find_map(|l| l.strip_prefix("summary: ")?.trim().parse().ok()) {
            all.push((count, entry.file_name().to_string_lossy().replace('_', "-")));
        }
    }
    all.sort();
    all.push((all.iter().map(|c| c.0).sum(), "all".into()));
    for (count, name) in all {
        println!("{name:20} {:7.3} thousand million instructions of rustc", count as f64 / 1e9);
    }
    let _ = std::fs::remove_dir_all(&directory);
    Ok(())
}

/// Runs rustc for one crate, under valgrind for those of the project.
pub fn wrapper(directory: &OsStr) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [rustc, arguments @ ..] = arguments.as_slice() else { return ExitCode::FAILURE };
    let name = arguments.iter().skip_while(|a| *a != "--crate-name").nth(1).and_then(|n| n.to_str()).unwrap_or("");
    let mut command = Command::new(rustc);
    if name.starts_with("ptx_dsl") {
        // not the proxy of rustup, but what it calls
        let found = Command::new(rustc).args(["--print", "sysroot"]).output().map(|o| o.stdout).unwrap_or_default();
        let found = String::from_utf8_lossy(&found);
        let sysroot = Path::new(found.trim());
        let out = Path::new(directory).join(name);
        command = Command::new("valgrind");
        command.args(["--quiet", "--tool=cachegrind", "--cache-sim=no", "--log-file=/dev/null"]);
        command.arg(format!("--cachegrind-out-file={}", out.display())).arg(sysroot.join("bin").join("rustc"));
        command.env("LD_LIBRARY_PATH", sysroot.join("lib"));
    }
    match command.args(arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
