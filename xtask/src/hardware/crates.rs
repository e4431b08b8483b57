//! Forms as modules for a GPU, and as a crate that runs them on the host.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::data::{Kernel, Set};
use super::values::{self, PARTS};
use super::{near, text};
use crate::kernels::crates::{Engine, manifest};
use crate::ptxas;

const MAIN: &str = include_str!("main.txt");

/// The kernels of all sets.
pub fn kernels(sets: &[Set]) -> Vec<Kernel> {
    let mut all = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        for (i, forms) in set.forms.chunks(text::FORMS).enumerate() {
            let exact = if near::is(&forms[0]) { "near" } else { "s" };
            let name = format!("{exact}{number}_{i}");
            let kinds = set.kinds.clone();
            all.push(Kernel { name, set: number, first: i * text::FORMS, kinds, forms: forms.to_vec() });
        }
    }
    all
}

/// Writes a module for each kernel, the operands of each set, and `kernels.txt`: name, set, operands of a form, outputs of each
/// form.
pub fn write(directory: &Path, sets: &[Set], seed: u64) -> Result<Vec<Kernel>, String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("cannot make {}: {e}", directory.display()))?;
    for (number, set) in sets.iter().enumerate() {
        let bytes: Vec<u8> =
            values::operands(&set.kinds, seed).into_iter().flatten().flat_map(u64::to_le_bytes).collect();
        write_file(&directory.join(format!("set{number}.bin")), &bytes)?;
    }
    let kernels = kernels(sets);
    let mut list = String::new();
    for kernel in &kernels {
        let set = &sets[kernel.set];
        let module = format!("{}{}", text::HEAD, text::kernel(&kernel.name, set, &kernel.forms));
        write_file(&directory.join(format!("{}.ptx", kernel.name)), module.as_bytes())?;
        let outputs: Vec<String> = kernel.forms.iter().map(|f| f.outputs().len().to_string()).collect();
        let _ = writeln!(list, "{} set{} {} {}", kernel.name, kernel.set, values::count(&set.kinds), outputs.join(" "));
    }
    write_file(&directory.join("kernels.txt"), list.as_bytes())?;
    Ok(kernels)
}

/// Digests by kernel and form.
pub type Digests = HashMap<(String, usize), [u32; PARTS]>;

/// How to run on the host.
pub struct Run<'a> {
    /// The directory of the operands.
    pub seed: u64,
    pub release: bool,
    pub engine: Engine,
    /// Where to write results: those of approximations, or all.
    pub results: &'a Path,
    pub every_result: bool,
    pub environment: &'a [(&'a str, &'a str)],
}

/// Runs the kernels on the host; returns the digests, and the rest of the output.
pub fn host(directory: &Path, sets: &[Set], run: &Run) -> Result<(Vec<Kernel>, Digests, String), String> {
    let source = directory.join("src");
    let kernels = write(&source, sets, run.seed)?;
    let compiled = run.engine == Engine::Compiled;
    write_file(&directory.join("Cargo.toml"), manifest("hardware", compiled).as_bytes())?;
    let lock = ptxas::root().join("Cargo.lock");
    std::fs::copy(&lock, directory.join("Cargo.lock")).map_err(|e| format!("cannot copy {}: {e}", lock.display()))?;
    let (mut modules, mut runs) = (String::new(), String::new());
    for kernel in &kernels {
        let name = &kernel.name;
        let outputs: Vec<String> = kernel.forms.iter().map(|f| f.outputs().len().to_string()).collect();
        let count = values::count(&sets[kernel.set].kinds);
        let _ = writeln!(modules, "mod {name} {{ ptx_dsl::include_ptx!(\"{name}.ptx\"); }}");
        let _ = writeln!(runs, "    results!({name} set{} {count} [{}]);", kernel.set, outputs.join(", "));
    }
    let main = format!(
        "{MAIN}const BLOCK: usize = {};\nconst PARTS: usize = {PARTS};\n\n{modules}\nfn main() {{\n{runs}}}\n",
        text::BLOCK
    );
    write_file(&source.join("main.rs"), main.as_bytes())?;
    // Shares the build of the random kernels.
    let target = ptxas::root().join("target").join("kernels").join("target");
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(directory).env("CARGO_TARGET_DIR", target).args(["run", "--quiet"]);
    command.envs(run.environment.iter().copied()).env("PTX_DSL_ENGINE", run.engine.name());
    if run.release {
        command.arg("--release");
    }
    std::fs::create_dir_all(run.results).map_err(|e| format!("cannot make {}: {e}", run.results.display()))?;
    command.arg("--").arg(std::path::absolute(run.results).unwrap_or(PathBuf::from(run.results)));
    if run.every_result {
        command.arg("all");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("cannot run cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("kernels in {}: {}", directory.display(), output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let (digests, rest) = digests(&said);
    Ok((kernels, digests, rest))
}

/// Separates lines `name form digests` from the others.
pub fn digests(text: &str) -> (Digests, String) {
    let (mut all, mut rest) = (Digests::new(), String::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let parts: Option<Vec<u32>> = words.iter().skip(2).map(|w| u32::from_str_radix(w, 16).ok()).collect();
        match (words.get(1).and_then(|n| n.parse().ok()), parts.and_then(|p| p.try_into().ok())) {
            (Some(form), Some(parts)) => {
                all.insert((words[0].to_string(), form), parts);
            }
            _ => {
                let _ = writeln!(rest, "{line}");
            }
        }
    }
    (all, rest)
}

/// Keeps an unchanged file as it is, so that cargo need not rebuild.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    std::fs::write(path, bytes).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
