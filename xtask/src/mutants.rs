//! `cargo xtask mutants`: deletes or weakens each synchronising operation of clean kernels, and counts who notices: the compiler, one
//! checked run, or 20 checked schedules. The kernels as they are must pass all of these.
//!
//! The kernels and their launches are in tests/mutants/launches.txt. Mutants that are as right as the kernel are in
//! tests/mutants/equivalent.txt, each with the reason.

mod mutate;
mod seeded;
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ptxas::root;
use mutate::{Mutant, mutants};
use ptx_dsl_frontend::diag::Class;
use ptx_dsl_frontend::lex::lex;
use source::{Launch, launches};

/// What the command line asks for.
#[derive(Clone, Default)]
pub struct Wanted {
    /// Schedules of each kernel as it is.
    schedules: u64,
    /// Of the mutants of a kernel, each one of so many; none if it is the largest number.
    every: usize,
    /// Says of each mutant who notices it.
    list: bool,
    /// Only counts what so many seeds alone notice, on the plain and on the checked host.
    seeds: Option<u64>,
    /// Kernels whose names contain one of these; all if there are none.
    names: Vec<String>,
}

/// Schedules of a mutant that one run has not found.
const SCHEDULES: u64 = 20;
/// Turns after which a launch ends: some mutants spin.
const STEPS: &str = "300000";
/// The note of an exploration whose results differ.
const DEPENDS: &str = "depends on the schedule";
/// The score in percent below which the command fails, if all kernels run.
const FLOOR: f64 = 95.0;

impl Wanted {
    pub fn parse(arguments: &[&str]) -> Result<Wanted, String> {
        let mut wanted = Wanted::of_ci();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut number = || rest.next().and_then(|n| n.parse().ok()).ok_or(format!("{argument} wants a number"));
            match *argument {
                "--schedules" => wanted.schedules = number()?,
                "--clean" => wanted.every = usize::MAX,
                "--list" => wanted.list = true,
                "--seeds" => wanted.seeds = Some(number()?),
                "--every" => wanted.every = number()?.max(1) as usize,
                name if name.starts_with('-') => return Err(format!("`{name}` is not an option of `mutants`")),
                name => wanted.names.push(name.to_owned()),
            }
        }
        Ok(wanted)
    }

    /// That of CI.
    pub fn of_ci() -> Wanted {
        Wanted { schedules: SCHEDULES, every: 1, list: false, seeds: None, names: Vec::new() }
    }
}

/// Who notices a mutant.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    CompileTime,
    Run,
    Schedules,
    Missed,
    Equivalent,
    /// It is not legal PTX, so it is not a mutant.
    Illegal,
}

/// The mutants of a kernel.
struct Row {
    name: String,
    verdicts: Vec<Verdict>,
    missed: Vec<String>,
    /// Who notices which mutant.
    list: Vec<String>,
}

impl Row {
    fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|v| **v == verdict).count()
    }
}

/// Runs the mutants. Fails if a kernel as it is does not pass, or if fewer are noticed than the floor wants.
pub fn run(wanted: &Wanted) -> Result<(), String> {
    let program = build()?;
    let equivalent = Equivalent::read(&root().join("tests/mutants/equivalent.txt"))?;
    let of_name = |l: &Launch| wanted.names.is_empty() || wanted.names.iter().any(|n| l.name.contains(n.as_str()));
    let launches: Vec<Launch> = launches(root())?.into_iter().filter(of_name).collect();
    let folder = root().join("target/mutants");
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    if let Some(seeds) = wanted.seeds {
        seeded::count(&program, &launches, &folder, seeds, wanted.every);
        return Ok(());
    }
    let (next, rows, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let used = Mutex::new(BTreeSet::new());
    let work = |worker: usize| {
        while let Some(launch) = launches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kernel = Kernel { launch, program: &program, file: folder.join(format!("{worker}.ptx")) };
            match kernel.judge(wanted, &equivalent, &used) {
                Ok(row) => lock(&rows).push(row),
                Err(why) => lock(&wrong).push(format!("{}: {why}", launch.name)),
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|worker| drop(scope.spawn(move || work(worker))));
    });
    let (mut rows, mut wrong) = (into(rows), into(wrong));
    rows.sort_by(|a: &Row, b| a.name.cmp(&b.name));
    if wanted.every == usize::MAX {
        println!("{} kernels pass {} schedules each, random and in order", rows.len(), wanted.schedules);
        return if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) };
    }
    if wanted.list {
        rows.iter().flat_map(|row| &row.list).for_each(|line| println!("{line}"));
    }
    let score = print(&rows);
    let used = into(used);
    if wanted.every == 1 && wanted.names.is_empty() {
        wrong.extend(
            equivalent.unused(&used).map(|e| format!("tests/mutants/equivalent.txt: no missed mutant is `{e}`")),
        );
    }
    if wanted.names.is_empty() && score < FLOOR {
        wrong.push(format!("{score:.1} % are noticed; the floor is {FLOOR} %"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn into<T>(of: Mutex<T>) -> T {
    of.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Prints the table; the score in percent.
fn print(rows: &[Row]) -> f64 {
    use Verdict::{CompileTime, Equivalent, Missed, Run, Schedules};
    let sum = |verdict| rows.iter().map(|r| r.count(verdict)).sum::<usize>();
    println!(
        "{:58} {:>7} {:>7} {:>7} {:>9} {:>7} {:>10}",
        "kernel", "mutants", "compile", "run", "schedules", "missed", "equivalent"
    );
    let line = |name: &str, all: usize, count: &dyn Fn(Verdict) -> usize| {
        let [compile, run, schedules, missed, equivalent] =
            [CompileTime, Run, Schedules, Missed, Equivalent].map(count);
        println!("{name:58} {all:7} {compile:7} {run:7} {schedules:9} {missed:7} {equivalent:10}");
    };
    for row in rows {
        line(&row.name, row.verdicts.len(), &|v| row.count(v));
    }
    let all: usize = rows.iter().map(|r| r.verdicts.len()).sum();
    line("all", all, &sum);
    rows.iter().filter(|r| !r.missed.is_empty()).for_each(|r| {
        println!("\n{}: missed", r.name);
        r.missed.iter().for_each(|what| println!("    {what}"));
    });
    let (missed, judged) = (sum(Missed), all - sum(Equivalent));
    let score = if judged == 0 { 100.0 } else { 100.0 * (judged - missed) as f64 / judged as f64 };
    println!("\n{score:.1} % of {judged} mutants that are not equivalent are noticed");
    score
}

/// A kernel that runs.
struct Kernel<'l> {
    launch: &'l Launch,
    program: &'l Path,
    /// For the module that runs now.
    file: PathBuf,
}

impl Kernel<'_> {
    fn judge(&self, wanted: &Wanted, equivalent: &Equivalent, used: &Mutex<BTreeSet<String>>) -> Result<Row, String> {
        let text = &self.launch.text;
        let codes = codes(text);
        self.run(text, &["--checked"]).map_err(|e| format!("the kernel as it is: {e}"))?;
        for how in [wanted.schedules.to_string(), format!("{},exhaustive", wanted.schedules)] {
            let explored = self.run(text, &["--checked", "--explore", &how]);
            explored.map_err(|e| format!("the kernel as it is, with `--explore {how}`: {e}"))?;
        }
        let mut row =
            Row { name: self.launch.name.clone(), verdicts: Vec::new(), missed: Vec::new(), list: Vec::new() };
        let all = if wanted.every == usize::MAX { Vec::new() } else { mutants(text) };
        for mutant in all.iter().step_by(wanted.every) {
            let (mut verdict, by) = self.verdict(mutant, &codes);
            if verdict == Verdict::Illegal {
                continue;
            }
            let name = format!("{}:{} {}", self.launch.name, mutant.line, mutant.what);
            if verdict == Verdict::Missed && equivalent.has(&name) {
                lock(used).insert(name.clone());
                verdict = Verdict::Equivalent;
            } else if verdict == Verdict::Missed {
                row.missed.push(format!("line {}: {}", mutant.line, mutant.what));
            }
            row.list.push(format!("{name} => {}", if by.is_empty() { "nobody" } else { &by }));
            row.verdicts.push(verdict);
        }
        Ok(row)
    }

    /// Who notices a mutant, and by what.
    fn verdict(&self, mutant: &Mutant, known: &BTreeSet<(u16, Class)>) -> (Verdict, String) {
        let found = codes(&mutant.text);
        let new: Vec<_> = found.difference(known).collect();
        if new.iter().any(|(_, class)| *class == Class::Illegal) {
            return (Verdict::Illegal, String::new());
        }
        if !new.is_empty() {
            return (
                Verdict::CompileTime,
                new.iter().map(|(code, _)| format!("PTX{code:04}")).collect::<Vec<_>>().join(", "),
            );
        }
        if let Err(fault) = self.run(&mutant.text, &["--checked"]) {
            return (Verdict::Run, fault);
        }
        for how in [SCHEDULES.to_string(), format!("{SCHEDULES},exhaustive")] {
            if let Err(fault) = self.run(&mutant.text, &["--checked", "--explore", &how]) {
                return (Verdict::Schedules, fault);
            }
        }
        (Verdict::Missed, String::new())
    }

    /// Runs a module. Err is the first line of what is wrong.
    fn run(&self, text: &str, options: &[&str]) -> Result<(), String> {
        let output = self.output(text, options)?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(text.lines().find(|l| l.starts_with("error")).unwrap_or("no message").to_owned())
    }

    /// Does a run of a module, whatever the compiler says, end with a fault, or do its results depend on the schedule?
    fn notices(&self, text: &str, options: &[&str]) -> bool {
        const FAULT: i32 = 3;
        let levels = codes(text).into_iter().flat_map(|(code, _)| ["--allow".to_owned(), format!("PTX{code:04}")]);
        let levels: Vec<String> = levels.collect();
        let options: Vec<&str> = options.iter().copied().chain(levels.iter().map(String::as_str)).collect();
        self.output(text, &options).is_ok_and(|output| {
            output.status.code() == Some(FAULT) || String::from_utf8_lossy(&output.stderr).contains(DEPENDS)
        })
    }

    fn output(&self, text: &str, options: &[&str]) -> Result<Output, String> {
        std::fs::write(&self.file, text).map_err(|e| format!("cannot write {}: {e}", self.file.display()))?;
        let mut command = Command::new(self.program);
        command.arg("run").arg(&self.file).args(&self.launch.arguments).args(["--step-limit", STEPS]).args(options);
        let command = command.current_dir(root()).stdin(Stdio::null());
        command.output().map_err(|e| format!("cannot run ptx-dsl: {e}"))
    }
}

/// The codes of all findings of the compiler, with their classes.
fn codes(text: &str) -> BTreeSet<(u16, Class)> {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    found.iter().map(|d| (d.code, d.class)).collect()
}

/// The list of mutants that are as right as their kernels.
struct Equivalent(Vec<String>);

impl Equivalent {
    /// Lines `kernel:line mutant => reason`.
    fn read(path: &Path) -> Result<Equivalent, String> {
        let lines = read(path)?;
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let of_line = |line: &str| match line.split_once(" => ") {
            Some((mutant, reason)) if !reason.trim().is_empty() => Ok(mutant.trim().to_owned()),
            _ => Err(format!("{}: `{line}` has no reason", path.display())),
        };
        Ok(Equivalent(lines.map(of_line).collect::<Result<_, _>>()?))
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    fn unused<'e>(&'e self, used: &'e BTreeSet<String>) -> impl Iterator<Item = &'e String> {
        self.0.iter().filter(|known| !used.contains(*known))
    }
}

/// The command line, optimised where it matters.
fn build() -> Result<PathBuf, String> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "ptx-dsl", "--features", "cli"])
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let program = root().join("target/debug/ptx-dsl").with_extension(std::env::consts::EXE_EXTENSION);
    if status.success() { Ok(program) } else { Err("the command line does not build".into()) }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}
