//! `cargo xtask gpu bench`: a folder with the machine code of every kernel, the programs that time it beside torch, and the tests of the typed
//! functions for a machine with a GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{ArgMatches, Command as Cli};
use ptx_dsl_oracles::tools::{cargo, root, run_shown};

use crate::arguments::path;
use crate::bench::executable;

/// The subcommand of `cargo xtask gpu`.
pub fn command() -> Cli {
    let folder = path("folder", "PATH", "The folder to write, `target/gpu-bench` without it");
    let about = "Assembles every kernel of ptx-dsl-kernels for sm_90a, and times it beside torch where there is a GPU";
    Cli::new("bench").about(about).arg(folder)
}

/// Writes the folder, and times the kernels where that is possible.
pub fn run(matches: &ArgMatches) -> Result<(), String> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_else(|| root().join("target/gpu-bench"));
    let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    let folder = std::path::absolute(&folder).map_err(|error| failed(&folder, error))?;
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    run_shown(cargo().args(["run", "--quiet", "-p", "ptx-dsl-kernels", "--example", "texts", "--"]).arg(&folder))?;
    let ptxas = ptx_dsl_test_support::ptxas::find().ok_or("no ptxas: `cargo xtask ptxas` fetches it")?;
    let entries = fs::read_dir(&folder).map_err(|error| failed(&folder, error))?;
    let texts =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ext| ext == "ptx"));
    let mut count = 0;
    for text in texts {
        // products for Blackwell are not timed
        if fs::read_to_string(&text).map_err(|error| failed(&text, error))?.contains(".target sm_100a") {
            continue;
        }
        let cubin = text.with_extension("cubin");
        run_shown(Command::new(&ptxas).arg("-arch=sm_90a").arg("-o").arg(&cubin).arg(&text))?;
        count += 1;
    }
    let mut tests = cargo();
    tests.args([
        "test",
        "-p",
        "ptx-dsl-kernels",
        "--features",
        "cuda",
        "--test",
        "kernels",
        "--no-run",
        "--message-format",
    ]);
    let program = PathBuf::from(executable(tests.arg("json-render-diagnostics"))?);
    fs::copy(&program, folder.join("tests")).map_err(|error| failed(&program, error))?;
    let programs = root().join("crates/ptx-dsl-kernels/bench");
    for name in ["bench.py", "driver.py", "run.sh"] {
        fs::copy(programs.join(name), folder.join(name)).map_err(|error| failed(&programs.join(name), error))?;
    }
    eprintln!("> {count} kernels in {}", folder.display());
    let has_torch = Command::new("python3").args(["-c", "import torch; assert torch.cuda.is_available()"]).output();
    if !has_torch.is_ok_and(|output| output.status.success()) {
        eprintln!("> no GPU with torch here: copy the folder to a machine with one, and run `run.sh`");
        return Ok(());
    }
    run_shown(Command::new("sh").arg("run.sh").current_dir(&folder))
}
