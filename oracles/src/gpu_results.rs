//! The results of instructions on the host, bit for bit, against those of a GPU (`cargo xtask hardware`).
//!
//! `forms` takes all spellings from the table, `sequences` adds what needs several instructions, `values` makes the operands.
//! `modules` writes modules for a GPU (`gpu.py` runs them there) and runs the same modules on the host. `data` reads and writes
//! `tests/hardware/`, the results of the GPU.

mod data;
mod forms;
mod kind;
mod modules;
mod near;
mod sequences;
mod text;
mod values;
mod video;

use std::path::{Path, PathBuf};

use crate::generated_crate::{Build, Engine};
use crate::tools::{ptxas, read, root, write};
use data::{Form, Kernel, Set};
use modules::{HostResults, Run};

/// A file of the results of GPUs.
fn file(name: &str) -> PathBuf {
    root().join("tests").join("hardware").join(name)
}

/// Runs an optimised build of one form in eight with each instruction set of the processor, and all forms on the interpreter. All
/// forms compiled would take rustc half an hour.
pub fn replay_on_instruction_sets() -> Result<(), String> {
    ["base", "avx2", "avx512"].iter().try_for_each(|level| {
        println!("PTX_DSL_LEVEL={level}");
        replay(8, Engine::Compiled, true, &[("PTX_DSL_LEVEL", level)])?;
        replay(1, Engine::Interpreted, true, &[("PTX_DSL_LEVEL", level)])
    })
}

/// Runs the forms of `tests/hardware` on the host, all or one in so many, and compares.
pub fn replay(one_of: usize, engine: Engine, release: bool, environment: &[(&str, &str)]) -> Result<(), String> {
    let mut sets = data::read(&read(&file("lanes.txt"))?)?;
    let mut number = 0;
    for set in &mut sets {
        set.forms.retain(|_| {
            number += 1;
            number % one_of == 0
        });
    }
    sets.retain(|s| !s.forms.is_empty());
    let near = near::read(&read(&file("near.txt"))?)?;
    sets.extend(near.iter().map(|n| n.set.clone()));
    let results = root().join("target").join("hardware").join("results");
    let build = Build { engine, release, environment };
    let HostResults { kernels, digests, said } =
        modules::run_on_host(&sets, &Run { seed: 0, build, results: &results, every_result: false })?;
    let mut wrong: Vec<String> = said.lines().map(str::to_owned).collect();
    for (kernel, i, form) in forms_of(&kernels) {
        let Some(wanted) = form.result else { continue };
        let found = digests.get(&(kernel.name.clone(), i)).copied().unwrap_or_default();
        let parts = values::PART_NAMES.iter().zip(wanted.iter().zip(&found)).filter(|p| p.1.0 != p.1.1);
        let parts: Vec<&str> = parts.map(|p| *p.0).collect();
        if !parts.is_empty() {
            wrong.push(format!("`{}` gives something else for {}", form.text, parts.join(", ")));
        }
    }
    wrong.append(&mut near::compare(&near, &kernels, &results)?);
    if wrong.is_empty() {
        println!("{} forms, {}, give what a GPU gave", count(&sets), engine.name());
        return Ok(());
    }
    Err(format!("{}\n{} forms do not give what a GPU gave", wrong.join("\n"), wrong.len()))
}

/// Each form with its kernel and its number there.
fn forms_of(kernels: &[Kernel]) -> impl Iterator<Item = (&Kernel, usize, &Form)> {
    kernels.iter().flat_map(|k| k.forms.iter().enumerate().map(move |(i, f)| (k, i, f)))
}

fn count(sets: &[Set]) -> usize {
    sets.iter().map(|s| s.forms.len()).sum()
}

/// The forms with kept results; those that approximate are in sets of their own at the end. Other seeds than 0 have more.
fn every_form(seed: u64) -> Result<Vec<Set>, String> {
    let singles = forms::all(&ptxas::find_or_fetch()?, seed != 0)?;
    let mut rows = sequences::all(&singles.iter().collect::<Vec<_>>(), seed);
    let refused = forms::legal(&mut rows);
    if !refused.is_empty() {
        println!("{} sequences are left out, which the front end refuses", refused.len());
    }
    let (mut exact, mut approximate) = (Vec::new(), Vec::new());
    for set in singles.into_iter().chain(rows) {
        for form in set.forms {
            let to = if near::is(&form) { &mut approximate } else { &mut exact };
            data::add(to, &set.kinds, form);
        }
    }
    exact.append(&mut approximate);
    Ok(exact)
}

/// Writes the forms of `tests/hardware/lanes.txt` as modules that the driver of CUDA 13.0 can compile.
pub fn write_modules(directory: &Path) -> Result<(), String> {
    let sets = data::read(&read(&file("lanes.txt"))?)?;
    let head = text::HEAD.replace(".version 9.3", ".version 9.0");
    modules::write_kernels(directory, &sets, 0, &head).map(drop)
}

/// Writes every form for a GPU, and the results of the host. Seeds other than 0 look for unknown differences.
pub fn write_for_gpu(directory: &Path, seed: u64) -> Result<(), String> {
    let sets = every_form(seed)?;
    let build = Build { engine: Engine::Interpreted, release: false, environment: &[] };
    let run = Run { seed, build, results: &directory.join("host"), every_result: true };
    let HostResults { kernels, digests, said } = modules::run_on_host(&sets, &run)?;
    print!("{said}");
    modules::write_kernels(directory, &sets, seed, text::HEAD)?;
    write(&directory.join("seed.txt"), seed.to_string().as_bytes())?;
    let mut lines = String::new();
    for (kernel, i, _) in forms_of(&kernels) {
        let Some(parts) = digests.get(&(kernel.name.clone(), i)) else { continue };
        let parts: Vec<String> = parts.iter().map(|d| format!("{d:08x}")).collect();
        lines += &format!("{} {i} {}\n", kernel.name, parts.join(" "));
    }
    write(&directory.join("host.txt"), lines.as_bytes())?;
    println!("{} forms in {}", count(&sets), directory.display());
    Ok(())
}

/// Writes the results of a GPU to `tests/hardware` if the operands were those of seed 0, and prints where the host differs.
pub fn read_from_gpu(directory: &Path, results: &Path) -> Result<(), String> {
    let seed = read(&directory.join("seed.txt"))?.parse().map_err(|_| "seed.txt has no seed")?;
    let mut sets = every_form(seed)?;
    let kernels = modules::kernels(&sets);
    let (gpu, _) = modules::digests(&read(&results.join("digests.txt"))?);
    let (host, _) = modules::digests(&read(&directory.join("host.txt"))?);
    let open = data::Open::read(&read(&file("open.txt"))?);
    let mut unexplained = 0;
    for (kernel, i, form) in forms_of(&kernels).filter(|f| !near::is(f.2) && !open.has(f.2)) {
        let at = (kernel.name.clone(), i);
        let found = gpu.get(&at).copied();
        if found.is_none() || found != host.get(&at).copied() {
            unexplained += 1;
            let what = if found.is_some() { "the host differs" } else { "ptxas makes it two things" };
            println!("{what}: {}", form.text);
        }
        sets[kernel.set].forms[kernel.first + i].result = found;
    }
    let near = near::text(&kernels, &read(&results.join("near.txt"))?)?;
    for line in near::compare(&near::read(&near)?, &kernels, &directory.join("host"))? {
        unexplained += 1;
        println!("{line}");
    }
    if seed == 0 {
        write(&file("lanes.txt"), data::text(&sets).as_bytes())?;
        write(&file("near.txt"), near.as_bytes())?;
    }
    println!("{unexplained} forms are neither as on the host nor in tests/hardware/open.txt");
    Ok(())
}
