//! `cargo xtask gpu profile`: a folder that measures kernels with Nsight Compute on a machine with a GPU, and the comparison of what it has
//! measured with the profiles of the host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{ArgMatches, Command as Cli};
use ptx_dsl_oracles::tools::{cargo, root, run_shown};

use crate::arguments::path;

/// The programs that run on the other machine.
const PROGRAMS: [&str; 6] = ["runner.py", "compute_runner.py", "measure.sh", "compute.sh", "convert.py", "run.sh"];

/// The subcommand of `cargo xtask gpu`.
pub fn command() -> Cli {
    Cli::new("profile")
        .about("Measures 145 kernels in some 1,200 launches with Nsight Compute, and compares the counters with those of the host")
        .args([
            path("folder", "PATH", "The folder to write, `target/gpu-profile` without it"),
            path("results", "PATH", "Compares the results in this folder, `out` of the one that ran, and writes nothing"),
        ])
}

/// Writes the folder, and measures and compares where there is a GPU with Nsight Compute.
pub fn run(matches: &ArgMatches) -> Result<(), String> {
    if let Some(results) = matches.get_one::<PathBuf>("results") {
        return compare(results);
    }
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_else(|| root().join("target/gpu-profile"));
    let failed = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    let folder = std::path::absolute(&folder).map_err(|error| failed(&folder, error))?;
    let data = folder.join("data");
    fs::create_dir_all(&data).map_err(|error| failed(&data, error))?;
    let makers = root().join("oracles/src/memory_counters");
    for maker in ["make.py", "compute.py"] {
        run_shown(Command::new("python3").arg(makers.join(maker)).arg(&data))?;
    }
    let ptxas = ptx_dsl_test_support::ptxas::find().ok_or("no ptxas: `cargo xtask ptxas` fetches it")?;
    // `-O1` keeps the accesses of the PTX
    for (module, level) in [("kernels", "-O1"), ("compute", "-O3"), ("rates", "-O3")] {
        let (text, cubin) = (data.join(module).with_extension("ptx"), data.join(module).with_extension("cubin"));
        run_shown(Command::new(&ptxas).args(["-arch=sm_90a", level]).arg("-o").arg(&cubin).arg(&text))?;
    }
    for name in PROGRAMS {
        fs::copy(makers.join(name), folder.join(name)).map_err(|error| failed(&makers.join(name), error))?;
    }
    let has_ncu = Command::new("ncu").arg("--version").output().is_ok_and(|output| output.status.success());
    let has_gpu = Command::new("nvidia-smi").arg("-L").output().is_ok_and(|output| output.status.success());
    if !(has_ncu && has_gpu) {
        let here = folder.display();
        eprintln!(
            "> no GPU with Nsight Compute here: copy {here} to a machine with them, run `bash run.sh`, and bring back `out`"
        );
        eprintln!("> then `cargo xtask gpu profile --results out` compares");
        return Ok(());
    }
    run_shown(Command::new("bash").arg("run.sh").current_dir(&folder))?;
    compare(&folder.join("out"))
}

/// Compares the results of a folder with the profiles of the host.
fn compare(results: &Path) -> Result<(), String> {
    let results = results.canonicalize().map_err(|error| format!("{}: {error}", results.display()))?;
    let test = ["test", "--quiet", "-p", "ptx-dsl", "--features", "build", "--test", "host", "--"];
    let filter = ["profile::", "as_nsight_compute_does", "--nocapture"];
    run_shown(cargo().args(test).args(filter).env("PTX_DSL_PROFILE_RESULTS", results))
}
