//! Random kernels as modules with their expected results, and as a crate that runs them on the host. `main.txt` begins its `main.rs`.

use std::fmt::Write;
use std::path::Path;

use super::program::Program;
use super::{run, text};
use crate::generated_crate::{Build, Engine, GeneratedCrate};
use crate::tools::{make_directory, write};

const MAIN: &str = include_str!("main.txt");

/// Writes modules, their expected results, their inputs, and `kernels.txt`: name, CTAs, threads along x and y, `n`, the tensor. Returns the
/// latter.
pub fn write_kernels(directory: &Path, kernels: &[(String, Program)]) -> Result<String, String> {
    make_directory(directory)?;
    let mut list = String::new();
    for (name, program) in kernels {
        write(&directory.join(format!("{name}.ptx")), text::module(program, name).as_bytes())?;
        let outcome = run::run(program);
        write(&directory.join(format!("{name}.bin")), &bytes(outcome.result.iter().chain(&outcome.totals)))?;
        let ([x, y], grid, n, tensor) = (program.block, program.grid, program.n, program.tensor);
        let _ = writeln!(list, "{name} {grid} {x} {y} {n} {tensor}");
    }
    write(&directory.join("table.bin"), &bytes(&run::table()))?;
    write(&directory.join("kernels.txt"), list.as_bytes())?;
    Ok(list)
}

/// A kernel that fails on the host.
pub struct Failure {
    /// The name of the kernel.
    pub kernel: String,
    /// The first thing said of it, without what differs between kernels of one mistake.
    pub message: String,
}

/// A line of the output as a failure: `name, how: what`, without numbers and code.
fn failure(line: &str) -> Option<Failure> {
    let (name, rest) = line.split_once(", ")?;
    let what = rest.split_once(": ")?.1;
    let end = what.find(|c: char| c.is_ascii_digit() || c == '`').unwrap_or(what.len());
    Some(Failure { kernel: name.to_owned(), message: what[..end].to_owned() })
}

/// Runs the kernels on both engines; prints what is wrong and returns what fails.
pub fn failures(
    directory: &Path,
    kernels: &[(String, Program)],
    release: bool,
    environment: &[(&str, &str)],
) -> Result<Vec<Failure>, String> {
    let list = write_kernels(&directory.join("src"), kernels)?;
    let (mut modules, mut runs) = (String::new(), String::new());
    for line in list.lines() {
        let name = line.split(' ').next().unwrap_or("");
        let _ = writeln!(modules, "mod {name} {{ ptx_dsl::include_ptx!(\"{name}.ptx\"); }}");
        let _ = writeln!(runs, "    check!({line});");
    }
    let main = format!("{MAIN}{modules}\nfn main() {{\n{runs}}}\n");
    let generated = GeneratedCrate::write(directory, "kernels", true, &main)?;
    let mut all = String::new();
    for engine in [Engine::Compiled, Engine::Interpreted] {
        let said = generated.run(&Build { engine, release, environment }, &[])?;
        if !said.trim().is_empty() {
            println!("{}:", engine.name());
        }
        print!("{said}");
        all.push_str(&said);
    }
    let failures = all.lines().filter_map(failure);
    Ok(failures.filter(|failure| kernels.iter().any(|(name, _)| *name == failure.kernel)).collect())
}

fn bytes<'a>(words: impl IntoIterator<Item = &'a u32>) -> Vec<u8> {
    words.into_iter().flat_map(|w| w.to_le_bytes()).collect()
}
