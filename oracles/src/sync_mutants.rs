//! Mistakes made on purpose: each synchronising operation of clean kernels is deleted or weakened (`cargo xtask mutants`). Who notices: the
//! compiler, one checked run, or 20 checked schedules? The kernels as they are must pass all of these.
//!
//! The kernels and their launches are in tests/mutants/launches.txt. Mutants that are as right as the kernel are in
//! tests/mutants/equivalent.txt, each with the reason.

mod mutate;
pub mod seeded;
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::tools::{cargo, is_named, make_directory, read, root, run_shown};
use mutate::{Mutant, mutants};
use ptx_dsl_frontend::diag::Class;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_test_support::parallel;
use source::{Launch, launches};

/// The kernels and mutants to run.
#[derive(Clone)]
pub struct Options {
    /// Schedules of each kernel as it is.
    pub schedules: u64,
    /// The mutants of a kernel that run.
    pub mutants: Mutants,
    /// Prints for each mutant who notices it.
    pub list: bool,
    /// Kernels whose names contain one of these; empty: all.
    pub names: Vec<String>,
}

/// The mutants of a kernel that run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mutants {
    /// None.
    None,
    /// The first one, and each `n`-th one after it.
    Every(usize),
}

impl Mutants {
    fn of(self, text: &str) -> Vec<Mutant> {
        match self {
            Mutants::None => Vec::new(),
            Mutants::Every(n) => mutants(text).into_iter().step_by(n.max(1)).collect(),
        }
    }
}

impl Default for Options {
    /// The options of CI.
    fn default() -> Options {
        Options { schedules: SCHEDULES, mutants: Mutants::Every(1), list: false, names: Vec::new() }
    }
}

/// Schedules of a mutant that one run has not found.
const SCHEDULES: u64 = 20;
/// Turns after which a launch ends: some mutants spin.
const STEPS: &str = "300000";
/// The note of an exploration whose results differ.
const DEPENDS: &str = "depends on the schedule";
/// The score in percent below which the command fails, if all kernels run.
const FLOOR: f64 = 95.0;

/// The verdict on a mutant: the first that notices it.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    CompileTime,
    Run,
    Schedules,
    Missed,
    Equivalent,
    /// The text is not legal PTX, so it is not a mutant.
    Illegal,
}

/// The mutants of a kernel.
struct Row {
    name: String,
    verdicts: Vec<Verdict>,
    missed: Vec<String>,
    /// The missed mutants that are excused.
    equivalent: Vec<String>,
    /// Lines that tell for each mutant who notices it.
    list: Vec<String>,
}

impl Row {
    fn new(name: &str) -> Row {
        let name = name.to_owned();
        Row { name, verdicts: Vec::new(), missed: Vec::new(), equivalent: Vec::new(), list: Vec::new() }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.iter().filter(|v| **v == verdict).count()
    }
}

/// Runs the mutants. Fails if a kernel as it is does not pass, or if fewer are noticed than the floor wants.
pub fn run(options: &Options) -> Result<(), String> {
    let bench = Bench::new(&options.names)?;
    let equivalent = Equivalent::read(&root().join("tests/mutants/equivalent.txt"))?;
    let judged = parallel::map(&bench.kernels(), |kernel| {
        kernel.judge(options, &equivalent).map_err(|why| format!("{}: {why}", kernel.launch.name))
    });
    let (rows, wrong): (Vec<_>, Vec<_>) = judged.into_iter().partition(Result::is_ok);
    let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
    let mut wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    if options.mutants == Mutants::None {
        println!("{} kernels pass {} schedules each, random and in order", rows.len(), options.schedules);
        return if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) };
    }
    if options.list {
        rows.iter().flat_map(|row| &row.list).for_each(|line| println!("{line}"));
    }
    let score = print(&rows);
    if options.names.is_empty() {
        if options.mutants == Mutants::Every(1) {
            let used: BTreeSet<&String> = rows.iter().flat_map(|row| &row.equivalent).collect();
            let unused = equivalent.0.iter().filter(|known| !used.contains(known));
            wrong.extend(unused.map(|name| format!("tests/mutants/equivalent.txt: no missed mutant is `{name}`")));
        }
        if score < FLOOR {
            wrong.push(format!("{score:.1} % are noticed; the floor is {FLOOR} %"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The program and the launches of a run.
struct Bench {
    /// The command line.
    program: PathBuf,
    launches: Vec<Launch>,
    /// The folder of the modules that run now.
    folder: PathBuf,
}

impl Bench {
    /// The launches whose names contain one of these, or all.
    fn new(names: &[String]) -> Result<Bench, String> {
        let program = build()?;
        let mut launches = launches(root())?;
        launches.retain(|launch| is_named(&launch.name, names));
        let folder = root().join("target/mutants");
        make_directory(&folder)?;
        Ok(Bench { program, launches, folder })
    }

    fn kernels(&self) -> Vec<Kernel<'_>> {
        let file = |number| self.folder.join(format!("{number}.ptx"));
        let launches = self.launches.iter().enumerate();
        launches.map(|(number, launch)| Kernel { launch, program: &self.program, file: file(number) }).collect()
    }
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
    /// The file for the module that runs now.
    file: PathBuf,
}

impl Kernel<'_> {
    fn judge(&self, options: &Options, equivalent: &Equivalent) -> Result<Row, String> {
        let text = &self.launch.text;
        let codes = codes(text);
        self.run(text, &["--checked"]).map_err(|e| format!("the kernel as it is: {e}"))?;
        for how in [options.schedules.to_string(), format!("{},exhaustive", options.schedules)] {
            let explored = self.run(text, &["--checked", "--explore", &how]);
            explored.map_err(|e| format!("the kernel as it is, with `--explore {how}`: {e}"))?;
        }
        let mut row = Row::new(&self.launch.name);
        for mutant in &options.mutants.of(text) {
            let (mut verdict, by) = self.verdict(mutant, &codes);
            if verdict == Verdict::Illegal {
                continue;
            }
            let name = format!("{}:{} {}", self.launch.name, mutant.line, mutant.what);
            if verdict == Verdict::Missed && equivalent.has(&name) {
                row.equivalent.push(name.clone());
                verdict = Verdict::Equivalent;
            } else if verdict == Verdict::Missed {
                row.missed.push(format!("line {}: {}", mutant.line, mutant.what));
            }
            row.list.push(format!("{name} => {}", if by.is_empty() { "nobody" } else { &by }));
            row.verdicts.push(verdict);
        }
        Ok(row)
    }

    /// Finds who notices a mutant, and the finding.
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
    found.iter().map(|d| (d.code.number, d.class)).collect()
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
}

/// The command line, optimised where it matters.
fn build() -> Result<PathBuf, String> {
    // With the features of `cargo test --workspace`, so that nothing is built twice.
    run_shown(cargo().args([
        "build",
        "--quiet",
        "--workspace",
        "--features",
        "ptx-dsl/lsp,ptx-dsl/debug",
        "--bin",
        "ptx-dsl",
    ]))?;
    Ok(root().join("target/debug/ptx-dsl").with_extension(std::env::consts::EXE_EXTENSION))
}
