//! `cargo xtask kernels`: random kernels, run on the host machine in all its ways, against what plain Rust computes for them.
//!
//! `program` says what they are made of, `make` makes them, `text` prints them as PTX, `rows` and `run` say what they mean, knowing
//! nothing of the table or of the host. A seed gives the same kernel always.

mod make;
mod program;
mod rows;
mod run;
mod text;

use crate::ptxas;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kernels that are compiled at once.
const BATCH: u64 = 20;

struct Wanted {
    seed: u64,
    count: u64,
    size: usize,
    release: bool,
    /// Only write them, with what they leave, for `kernels/gpu.py`.
    write: Option<PathBuf>,
}

impl Wanted {
    fn parse(arguments: &[&str]) -> Result<Wanted, String> {
        let mut wanted = Wanted { seed: 1, count: BATCH, size: 40, release: false, write: None };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if *argument == "--release" {
                wanted.release = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("`{argument}` needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("`{argument}` takes a number"));
            match *argument {
                "--seed" => wanted.seed = number()?,
                "--count" => wanted.count = number()?,
                "--size" => wanted.size = number()? as usize,
                "--write" => wanted.write = Some(value.into()),
                other => return Err(format!("no option `{other}` of `cargo xtask kernels`")),
            }
        }
        Ok(wanted)
    }
}

/// Runs kernels with as many seeds.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let wanted = Wanted::parse(arguments)?;
    let seeds = wanted.seed..wanted.seed + wanted.count;
    if let Some(directory) = &wanted.write {
        return write_kernels(directory, seeds, wanted.size).map(drop);
    }
    let directory = ptxas::root().join("target").join("kernels");
    let mut failed = 0;
    for first in seeds.clone().step_by(BATCH as usize) {
        failed += batch(&directory, first..seeds.end.min(first + BATCH), &wanted)?;
    }
    if failed == 0 {
        println!("{} kernels leave what they should", wanted.count);
        Ok(())
    } else {
        Err(format!("{failed} of {} kernels do not leave what they should: {}", wanted.count, directory.display()))
    }
}

/// Writes modules, what their kernels leave, what they read, and `kernels.txt`: name, CTAs, threads along x and y, `n`.
fn write_kernels(directory: &Path, seeds: Range<u64>, size: usize) -> Result<String, String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("cannot make {}: {e}", directory.display()))?;
    let mut list = String::new();
    for seed in seeds {
        let program = make::program(seed, size);
        let name = format!("k{seed}");
        write(&directory.join(format!("{name}.ptx")), text::module(&program, &name).as_bytes())?;
        let outcome = run::run(&program);
        write(&directory.join(format!("{name}.bin")), &bytes(outcome.result.iter().chain(&outcome.totals)))?;
        let ([x, y], grid, n) = (program.block, program.grid, program.n);
        let _ = writeln!(list, "{name} {grid} {x} {y} {n}");
    }
    write(&directory.join("table.bin"), &bytes(&run::table()))?;
    write(&directory.join("kernels.txt"), list.as_bytes())?;
    Ok(list)
}

/// One crate of kernels; how many are wrong.
fn batch(directory: &Path, seeds: Range<u64>, wanted: &Wanted) -> Result<usize, String> {
    let source = directory.join("src");
    let list = write_kernels(&source, seeds, wanted.size)?;
    let manifest = MANIFEST.replace("PTX_DSL", &ptxas::root().join("ptx-dsl").display().to_string());
    write(&directory.join("Cargo.toml"), manifest.as_bytes())?;
    let lock = ptxas::root().join("Cargo.lock");
    std::fs::copy(&lock, directory.join("Cargo.lock")).map_err(|e| format!("cannot copy {}: {e}", lock.display()))?;
    let (mut modules, mut runs) = (String::new(), String::new());
    for line in list.lines() {
        let name = line.split(' ').next().unwrap_or("");
        let _ = writeln!(modules, "mod {name} {{ ptx_dsl::include_ptx!(\"{name}.ptx\"); }}");
        let _ = writeln!(runs, "    wrong += wrong!({line});");
    }
    let main =
        format!("{MAIN}{modules}\nfn main() {{\n    let mut wrong = 0;\n{runs}    std::process::exit(wrong);\n}}\n");
    write(&source.join("main.rs"), main.as_bytes())?;
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(directory).env("CARGO_TARGET_DIR", directory.join("target")).args(["run", "--quiet"]);
    if wanted.release {
        command.arg("--release");
    }
    let status = command.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    match status.code() {
        Some(code) if code as u64 <= BATCH => Ok(code as usize),
        _ => Err(format!("kernels in {}: {status}", directory.display())),
    }
}

/// Of the crate.
const MANIFEST: &str = include_str!("kernels/Cargo.txt");

/// What the crate begins with.
const MAIN: &str = include_str!("kernels/main.txt");

fn bytes<'a>(words: impl IntoIterator<Item = &'a u32>) -> Vec<u8> {
    words.into_iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn write(path: &Path, text: &[u8]) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
