//! `cargo xtask kernels`: compares random kernels on the host machine, in all its modes, with plain Rust.
//!
//! `program` defines the parts of a kernel, `make` makes random ones, `text` prints them as PTX. `run` computes their meaning, with
//! `rows`, `video`, `narrow`, `matrices`, `warpgroups`, `tensors` and `copies`; it knows neither the table nor the host. `crates` runs
//! them, and `shrink` reduces a failing one. A seed always gives the same kernel.

mod copies;
pub mod crates;
mod make;
mod matrices;
mod narrow;
mod program;
mod rows;
mod run;
mod shrink;
mod tensors;
mod text;
mod video;
mod warpgroups;

use crate::ptxas;
use program::{Program, Target};
use std::path::PathBuf;

/// Kernels that are compiled together.
const BATCH: usize = 20;

struct Wanted {
    seed: u64,
    count: u64,
    size: usize,
    release: bool,
    /// Only writes the kernels and their results, for `kernels/gpu.py`.
    write: Option<PathBuf>,
}

impl Wanted {
    fn parse(arguments: &[&str]) -> Result<Wanted, String> {
        let mut wanted = Wanted { seed: 1, count: BATCH as u64, size: 40, release: false, write: None };
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

/// Runs kernels with as many seeds in this environment; writes the first failing one, shrunk.
pub fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let wanted = Wanted::parse(arguments)?;
    let seeds: Vec<u64> = (wanted.seed..wanted.seed.saturating_add(wanted.count)).collect();
    let kernel = |seed: &u64| (format!("k{seed}"), make::program(*seed, wanted.size));
    if let Some(directory) = &wanted.write {
        // The GPU is a Hopper.
        let kernels: Vec<(String, Program)> =
            seeds.iter().map(kernel).filter(|k| k.1.target == Target::Hopper).collect();
        return crates::write_kernels(directory, &kernels).map(drop);
    }
    let directory = ptxas::root().join("target").join("kernels");
    let failures_of = |kernels: &[(String, Program)]| crates::wrong(&directory, kernels, wanted.release, environment);
    let mut wrong: Vec<(String, Program)> = Vec::new();
    let mut first = None;
    for seeds in seeds.chunks(BATCH) {
        let mut kernels: Vec<(String, Program)> = seeds.iter().map(kernel).collect();
        let failures = failures_of(&kernels)?;
        kernels.retain(|k| failures.iter().any(|f| f.0 == k.0));
        first = first.or_else(|| failures.into_iter().find(|f| f.0 == kernels[0].0));
        wrong.append(&mut kernels);
    }
    let Some((name, program)) = wrong.first() else {
        println!("{} kernels leave what they should", wanted.count);
        return Ok(());
    };
    println!("looking for the least of {name} that is wrong");
    let what = first.map(|f| f.1);
    let least = shrink::least(program, |some| {
        let kernels: Vec<_> = some.iter().enumerate().map(|(i, p)| (format!("s{i}"), p.clone())).collect();
        let failures = failures_of(&kernels)?;
        // another failure, such as a register that nobody writes any more, is not the one that is looked for
        let same = |k: &(String, Program)| failures.iter().any(|f| f.0 == k.0 && Some(&f.1) == what.as_ref());
        Ok(kernels.iter().map(same).collect())
    });
    let shrunk = directory.join("shrunk");
    let least = least.and_then(|least| crates::write_kernels(&shrunk, &[(name.clone(), least)]));
    let least = match least {
        Ok(_) => format!("the least of {name} is in {}", shrunk.display()),
        Err(reason) => format!("no less of {name} was found: {reason}"),
    };
    let names: Vec<&str> = wrong.iter().map(|k| k.0.as_str()).collect();
    Err(format!(
        "{} of {} kernels do not leave what they should: {}; {least}",
        names.len(),
        wanted.count,
        names.join(", ")
    ))
}
