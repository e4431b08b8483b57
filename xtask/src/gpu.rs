//! `cargo xtask gpu`: a folder that runs on a machine with a GPU and a driver, without Rust, and prints how GPU and host agree.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};
use ptx_dsl_oracles::tools::{cargo, root, run_shown};
use ptx_dsl_oracles::{gpu_results, random_kernels};

use crate::arguments::{flag, number, number_of, path};
use crate::{Task, gpu_bench, gpu_profile};

/// The examples that take `--gpu`.
const EXAMPLES: [&str; 4] = ["ampere_attention", "cluster_launch_control", "hopper_gemm", "saxpy"];

/// `cargo xtask gpu`.
pub fn task() -> Task {
    let command = Command::new("gpu")
        .about("Makes a folder that compares a GPU with the host, on a machine without Rust")
        .args([
            path("out", "DIRECTORY", "The folder; `target/gpu` without it"),
            number("seed", "The seed of the first random kernel").default_value("1"),
            number("count", "The number of random kernels").default_value("1500"),
            number("size", "The number of statements of a random kernel").default_value("40"),
            flag("dev", "Builds the programs without optimisation of the kernels"),
        ])
        .subcommand(gpu_bench::command())
        .subcommand(gpu_profile::command());
    Task { command, run }
}

fn run(matches: &ArgMatches) -> Result<(), String> {
    if let Some(("bench", matches)) = matches.subcommand() {
        return gpu_bench::run(matches);
    }
    if let Some(("profile", matches)) = matches.subcommand() {
        return gpu_profile::run(matches);
    }
    let number = |name| number_of(matches, name).unwrap_or_default();
    let out = matches.get_one::<PathBuf>("out").cloned().unwrap_or_else(|| root().join("target").join("gpu"));
    let options = random_kernels::Options {
        seed: number("seed"),
        count: number("count"),
        size: number("size") as usize,
        release: false,
    };
    random_kernels::write(&options, &out.join("random"))?;
    gpu_results::write_modules(&out.join("forms"))?;
    let profile = if matches.get_flag("dev") { "dev" } else { "release" };
    let built = root().join("target").join(if profile == "dev" { "debug" } else { profile });
    run_shown(cargo().args(["build", "--quiet", "--profile", profile, "-p", "ptx-dsl-gpu-table"]))?;
    copy(&built.join("gpu-table"), &out.join("gpu-table"))?;
    let names = EXAMPLES.iter().flat_map(|name| ["--example", name]);
    run_shown(cargo().args(["build", "--quiet", "--profile", profile, "-p", "ptx-dsl-examples"]).args(names))?;
    for name in EXAMPLES {
        copy(&built.join("examples").join(name), &out.join("examples").join(name))?;
    }
    real_launches(&out.join("real"), &built, profile)?;
    println!("{}: copy it to a machine with a GPU, and run `./gpu-table` there", out.display());
    Ok(())
}

/// Copies the launches of `tests/real/launches`, the modules that `cargo xtask real` has compiled for GPUs up to sm_90, and the command line.
fn real_launches(out: &Path, built: &Path, profile: &str) -> Result<(), String> {
    run_shown(cargo().args(["build", "--quiet", "--profile", profile, "-p", "ptx-dsl", "--features", "cli"]))?;
    copy(&built.join("ptx-dsl"), &out.join("ptx-dsl"))?;
    let scripts = root().join("tests").join("real").join("launches");
    for script in files(&scripts, &[".py"]) {
        copy(&script, &out.join("launches").join(script.file_name().unwrap_or_default()))?;
    }
    let compiled = root().join("target").join("real").join("out");
    let mut modules = 0;
    for generator in ["triton", "gluon", "numba", "cute"] {
        for module in files(&compiled.join(generator), &[".sm_80.ptx", ".sm_90.ptx"]) {
            copy(&module, &out.join("modules").join(generator).join(module.file_name().unwrap_or_default()))?;
            modules += 1;
        }
    }
    println!(
        "{modules} modules of real generators (`cargo xtask real --all` makes all of them): run `python3 gpu.py ../ptx-dsl ../modules` in real/launches"
    );
    Ok(())
}

/// The files of a folder whose names end so; none if there is no folder.
fn files(folder: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut files: Vec<_> = paths.filter(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end))).collect();
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().unwrap_or(to);
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    std::fs::copy(from, to).map(drop).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}
