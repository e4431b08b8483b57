//! `cargo xtask sanitize`: the runtime's tests and the kernels of the suite under AddressSanitizer and ThreadSanitizer, and the
//! runtime's under Miri. All of them need a nightly toolchain; none is part of CI.

use std::process::Command;

use clap::{Arg, ArgMatches};
use ptx_dsl_oracles::tools::root;

use crate::Task;
use crate::arguments::list;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const ALL: [&str; 3] = ["address", "thread", "miri"];

/// `cargo xtask sanitize`.
pub fn task() -> Task {
    let tools =
        Arg::new("tools").value_name("TOOL").num_args(0..).value_parser(ALL).help("Without it, all that are installed");
    let about = "Runs the runtime's tests and kernels of the suite under the sanitizers, with a nightly toolchain";
    Task { command: clap::Command::new("sanitize").about(about).arg(tools), run }
}

/// Runs the named tools, or all that are installed.
fn run(matches: &ArgMatches) -> Result<(), String> {
    let wanted = list(matches, "tools");
    let is_wanted = |tool: &&str| wanted.is_empty() || wanted.iter().any(|name| name == tool);
    for tool in ALL.into_iter().filter(is_wanted) {
        if let Some(missing) = missing(tool) {
            let message = format!("`{tool}` needs {missing}: `rustup component add {missing} --toolchain nightly`");
            if !wanted.is_empty() {
                return Err(message);
            }
            eprintln!("skipped: {message}");
            continue;
        }
        match tool {
            "miri" => cargo(
                &[
                    "miri",
                    "test",
                    "-p",
                    "ptx-dsl-runtime",
                    "--lib",
                    "--",
                    "atomic_bytes::",
                    "team::",
                    "tests::threads::",
                ],
                "",
            )?,
            "thread" => {
                // as built for this processor, and as for others
                for extra in ["", " --cfg ptx_dsl_portable"] {
                    tests("thread", extra, "host::parallel::")?;
                }
            }
            // from the suite, the tests that run kernels
            sanitizer => tests(sanitizer, "", "host::")?,
        }
    }
    Ok(())
}

/// A component of the toolchain that is needed and missing.
fn missing(tool: &str) -> Option<&'static str> {
    match tool {
        // without an instrumented standard library it reports each contended mutex as a race
        "thread" if !has_source() => Some("rust-src"),
        "miri" if nightly("cargo", &["miri", "--version"]).is_err() => Some("miri"),
        _ => None,
    }
}

fn has_source() -> bool {
    nightly("rustc", &["--print", "sysroot"])
        .is_ok_and(|root| std::path::Path::new(root.trim()).join("lib/rustlib/src/rust/library/std").exists())
}

fn tests(sanitizer: &str, extra: &str, kernels: &str) -> Result<(), String> {
    let (std, flag) =
        if has_source() { (&["-Zbuild-std"][..], "") } else { (&[][..], " -Cunsafe-allow-abi-mismatch=sanitizer") };
    let flags = format!("-Zsanitizer={sanitizer}{flag}{extra}");
    let common = [&["test", "--target", TARGET], std].concat();
    cargo(&[&common[..], &["-p", "ptx-dsl-runtime", "--lib"]].concat(), &flags)?;
    cargo(&[&common[..], &["-p", "ptx-dsl-tests", "--test", "suite", "--", kernels]].concat(), &flags)
}

/// The output of a tool of the nightly toolchain.
fn nightly(tool: &str, arguments: &[&str]) -> Result<String, String> {
    let out = Command::new("rustup").args(["run", "nightly", tool]).args(arguments).output();
    let out = out.map_err(|e| format!("cannot run rustup: {e}"))?;
    if out.status.success() { Ok(String::from_utf8_lossy(&out.stdout).into_owned()) } else { Err(tool.into()) }
}

fn cargo(arguments: &[&str], flags: &str) -> Result<(), String> {
    let shown = format!("RUSTFLAGS='{flags}' cargo +nightly {}", arguments.join(" "));
    eprintln!("> {shown}");
    let status = Command::new("rustup")
        .args(["run", "nightly", "cargo"])
        .args(arguments)
        .current_dir(root())
        .env("RUSTFLAGS", flags)
        .env("CARGO_TARGET_DIR", root().join("target").join("sanitize"))
        .status()
        .map_err(|e| format!("cannot run rustup: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed")) }
}
