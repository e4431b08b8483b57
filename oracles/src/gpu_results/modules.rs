//! Forms as modules for a GPU, and as a crate that runs them on the host. `main.txt` begins its `main.rs`.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::data::{Form, Kernel, Set};
use super::values::{self, PARTS};
use super::{near, text};
use crate::generated_crate::{Build, Engine, GeneratedCrate};
use crate::tools::{make_directory, root, write};

const MAIN: &str = include_str!("main.txt");

/// The kernels of all sets.
pub fn kernels(sets: &[Set]) -> Vec<Kernel> {
    let kernels_of = |(number, set): (usize, &Set)| {
        let kernel = move |(i, forms): (usize, &[Form])| {
            let exact = if near::is(&forms[0]) { "near" } else { "s" };
            let name = format!("{exact}{number}_{i}");
            let kinds = set.kinds.clone();
            Kernel { name, set: number, first: i * text::FORMS, kinds, forms: forms.to_vec() }
        };
        set.forms.chunks(text::FORMS).enumerate().map(kernel).collect::<Vec<_>>()
    };
    sets.iter().enumerate().flat_map(kernels_of).collect()
}

/// Writes a module for each kernel, the operands of each set, and `kernels.txt`: name, set, operands of a form, outputs of each
/// form.
pub fn write_kernels(directory: &Path, sets: &[Set], seed: u64, head: &str) -> Result<Vec<Kernel>, String> {
    make_directory(directory)?;
    for (number, set) in sets.iter().enumerate() {
        let bytes: Vec<u8> =
            values::operands(&set.kinds, seed).into_iter().flatten().flat_map(u64::to_le_bytes).collect();
        write(&directory.join(format!("set{number}.bin")), &bytes)?;
    }
    let kernels = kernels(sets);
    let mut list = String::new();
    for kernel in &kernels {
        let set = &sets[kernel.set];
        let module = format!("{head}{}", text::kernel(&kernel.name, set, &kernel.forms));
        write(&directory.join(format!("{}.ptx", kernel.name)), module.as_bytes())?;
        let outputs: Vec<String> = kernel.forms.iter().map(|f| f.outputs().len().to_string()).collect();
        let _ = writeln!(list, "{} set{} {} {}", kernel.name, kernel.set, values::count(&set.kinds), outputs.join(" "));
    }
    write(&directory.join("kernels.txt"), list.as_bytes())?;
    Ok(kernels)
}

/// Digests by kernel and form.
pub type Digests = HashMap<(String, usize), [u32; PARTS]>;

/// Options of a run on the host.
pub struct Run<'a> {
    /// The seed of the operands.
    pub seed: u64,
    pub build: Build<'a>,
    /// The directory for results: those of approximations, or all.
    pub results: &'a Path,
    pub every_result: bool,
}

/// The results of the host.
pub struct HostResults {
    pub kernels: Vec<Kernel>,
    pub digests: Digests,
    /// The rest of the output.
    pub said: String,
}

/// Runs the kernels on the host.
pub fn run_on_host(sets: &[Set], run: &Run) -> Result<HostResults, String> {
    let directory = root().join("target").join("hardware");
    let kernels = write_kernels(&directory.join("src"), sets, run.seed, text::HEAD)?;
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
    let compiled = run.build.engine == Engine::Compiled;
    let generated = GeneratedCrate::write(&directory, "hardware", compiled, &main)?;
    make_directory(run.results)?;
    let results = std::path::absolute(run.results).map_err(|e| format!("{}: {e}", run.results.display()))?;
    let every = run.every_result.then_some(Path::new("all"));
    let arguments: Vec<&Path> = std::iter::once(results.as_path()).chain(every).collect();
    let (digests, said) = digests(&generated.run(&run.build, &arguments)?);
    Ok(HostResults { kernels, digests, said })
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
