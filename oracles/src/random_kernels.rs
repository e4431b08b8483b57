//! Random kernels on the host machine, on both engines and in all of its modes, against plain Rust (`cargo xtask kernels`).
//!
//! `program` defines the parts of a kernel, `make` makes random ones, `text` prints them as PTX. `run` computes their meaning, with
//! `rows`, `video`, `narrow`, `matrices`, `warpgroups`, `tensors` and `copies`; it knows neither the table nor the host. `modules` runs
//! them, and `shrink` reduces a failing one. A seed always gives the same kernel.

mod copies;
pub mod make;
mod matrices;
mod modules;
mod narrow;
mod program;
mod rows;
mod run;
mod shrink;
mod tensors;
mod text;
mod video;
mod warpgroups;

use crate::tools::root;
use program::{Program, Target};
use std::path::{Path, PathBuf};

/// Kernels that are compiled together.
const BATCH: usize = 20;

/// The kernels to run, and the build.
pub struct Options {
    /// The seed of the first kernel; the next ones follow.
    pub seed: u64,
    /// The number of kernels.
    pub count: u64,
    /// The number of statements of a kernel.
    pub size: usize,
    /// Runs optimised code.
    pub release: bool,
}

impl Options {
    /// The kernels of `cargo xtask test`.
    pub fn of_tests() -> Options {
        Options { seed: 1, count: BATCH as u64, size: 60, release: false }
    }

    fn kernels(&self) -> impl Iterator<Item = (String, Program)> {
        (self.seed..self.seed.saturating_add(self.count))
            .map(|seed| (format!("k{seed}"), make::program(seed, self.size)))
    }
}

/// Writes the kernels that a Hopper can run, and their results, for `random_kernels/gpu.py`.
pub fn write(options: &Options, directory: &Path) -> Result<(), String> {
    let kernels: Vec<_> = options.kernels().filter(|(_, program)| program.target == Target::Hopper).collect();
    modules::write_kernels(directory, &kernels).map(drop)
}

/// Runs the kernels in this environment; writes the first failing one, shrunk.
pub fn run(options: &Options, environment: &[(&str, &str)]) -> Result<(), String> {
    let directory: PathBuf = root().join("target").join("kernels");
    let failures_of =
        |kernels: &[(String, Program)]| modules::failures(&directory, kernels, options.release, environment);
    let all: Vec<(String, Program)> = options.kernels().collect();
    let mut wrong: Vec<(String, Program)> = Vec::new();
    let mut first = None;
    for kernels in all.chunks(BATCH) {
        let failures = failures_of(kernels)?;
        let fails = |name: &String| failures.iter().any(|failure| failure.kernel == *name);
        wrong.extend(kernels.iter().filter(|(name, _)| fails(name)).cloned());
        first = first.or_else(|| failures.into_iter().find(|failure| failure.kernel == wrong[0].0));
    }
    let Some((name, program)) = wrong.first() else {
        println!("{} kernels leave what they should", options.count);
        return Ok(());
    };
    println!("looking for the least of {name} that is wrong");
    let message = first.map(|failure| failure.message);
    let least = shrink::least(program, |some| {
        let kernels: Vec<_> = some.iter().enumerate().map(|(i, p)| (format!("s{i}"), p.clone())).collect();
        let failures = failures_of(&kernels)?;
        // another failure, such as a register that nobody writes any more, is not the one that is looked for
        let is_same = |name: &String| {
            failures.iter().any(|failure| failure.kernel == *name && Some(&failure.message) == message.as_ref())
        };
        Ok(kernels.iter().map(|(name, _)| is_same(name)).collect())
    });
    let shrunk = directory.join("shrunk");
    let least = least.and_then(|least| modules::write_kernels(&shrunk, &[(name.clone(), least)]));
    let least = match least {
        Ok(_) => format!("the least of {name} is in {}", shrunk.display()),
        Err(reason) => format!("no less of {name} was found: {reason}"),
    };
    let names: Vec<&str> = wrong.iter().map(|k| k.0.as_str()).collect();
    Err(format!(
        "{} of {} kernels do not leave what they should: {}; {least}",
        names.len(),
        options.count,
        names.join(", ")
    ))
}
