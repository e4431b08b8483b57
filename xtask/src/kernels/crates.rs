//! Kernels as a crate: `main.txt` is what it begins with, `Cargo.txt` its manifest.

use super::program::Program;
use super::{run, text};
use crate::ptxas;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const MAIN: &str = include_str!("main.txt");

/// What runs kernels. Optimised builds always compile them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Engine {
    Compiled,
    Interpreted,
}

impl Engine {
    /// The value of `PTX_DSL_ENGINE`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Compiled => "compiled",
            Engine::Interpreted => "interpreted",
        }
    }
}

/// The manifest of a crate of this name whose kernels run on these engines.
pub fn manifest(name: &str, compiled: bool) -> String {
    let path = ptxas::root().join("ptx-dsl").display().to_string();
    let text = include_str!("Cargo.txt").replace("PTX_DSL", &path).replace("\"kernels\"", &format!("\"{name}\""));
    text.replace("FEATURES", if compiled { "\"compiled\"" } else { "" })
}

/// Writes modules, their expected results, their inputs, and `kernels.txt`: name, CTAs, threads along x and y, `n`, the tensor. Returns the
/// latter.
pub fn write_kernels(directory: &Path, kernels: &[(String, Program)]) -> Result<String, String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("cannot make {}: {e}", directory.display()))?;
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

/// The name of a kernel that fails, and the first thing said of it, without what differs between kernels of one mistake.
pub type Failure = (String, String);

/// A line of the output as a failure: `name, how: what`, without numbers and code.
fn failure(line: &str) -> Option<Failure> {
    let (name, rest) = line.split_once(", ")?;
    let what = rest.split_once(": ")?.1;
    let end = what.find(|c: char| c.is_ascii_digit() || c == '`').unwrap_or(what.len());
    Some((name.to_owned(), what[..end].to_owned()))
}

/// Runs the kernels on both engines; prints what is wrong and returns what fails.
pub fn wrong(
    directory: &Path,
    kernels: &[(String, Program)],
    release: bool,
    environment: &[(&str, &str)],
) -> Result<Vec<Failure>, String> {
    let source = directory.join("src");
    let list = write_kernels(&source, kernels)?;
    write(&directory.join("Cargo.toml"), manifest("kernels", true).as_bytes())?;
    let lock = ptxas::root().join("Cargo.lock");
    std::fs::copy(&lock, directory.join("Cargo.lock")).map_err(|e| format!("cannot copy {}: {e}", lock.display()))?;
    let (mut modules, mut runs) = (String::new(), String::new());
    for line in list.lines() {
        let name = line.split(' ').next().unwrap_or("");
        let _ = writeln!(modules, "mod {name} {{ ptx_dsl::include_ptx!(\"{name}.ptx\"); }}");
        let _ = writeln!(runs, "    check!({line});");
    }
    write(&source.join("main.rs"), format!("{MAIN}{modules}\nfn main() {{\n{runs}}}\n").as_bytes())?;
    let mut all = String::new();
    for engine in [Engine::Compiled, Engine::Interpreted] {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(directory).env("CARGO_TARGET_DIR", directory.join("target")).args(["run", "--quiet"]);
        command.envs(environment.iter().copied()).env("PTX_DSL_ENGINE", engine.name());
        if release {
            command.arg("--release");
        }
        let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("cannot run cargo: {e}"))?;
        if !output.status.success() {
            return Err(format!("kernels in {}, {}: {}", directory.display(), engine.name(), output.status));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        if !said.trim().is_empty() {
            println!("{}:", engine.name());
        }
        print!("{said}");
        all.push_str(&said);
    }
    let failures = all.lines().filter_map(failure);
    Ok(failures.filter(|(name, _)| kernels.iter().any(|k| k.0 == *name)).collect())
}

fn bytes<'a>(words: impl IntoIterator<Item = &'a u32>) -> Vec<u8> {
    words.into_iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn write(path: &Path, text: &[u8]) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
