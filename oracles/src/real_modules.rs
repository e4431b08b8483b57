//! Tests the front end on modules of current generators: kernels of `tests/real`, compiled without a GPU by packages of pip
//! (Triton, Gluon, numba, CuTe DSL, nvcc with CCCL and CUTLASS). Each module must be accepted without an error, and its printed
//! and formatted texts must assemble to the same machine code.

mod generator;
mod launch;
mod make;
mod table;

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use ptx_dsl_test_support::parallel;

use crate::machine_code::{Module, Report, counted};
use crate::tools::{ptxas, root};
use generator::{Compiler, GENERATORS, Generator};
use make::{Made, Make};

/// One for each generation; compilers append `a` if there is such a target.
pub const TARGETS: [&str; 5] = ["sm_80", "sm_90", "sm_100", "sm_103", "sm_120"];

const NOTHING: &str = "no module of tests/real matches";

/// The modules to make, and the launches to run.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Makes each module for all of its targets; otherwise for one of them, in turn, without slow generators.
    pub all: bool,
    /// Runs the modules with a launch in `tests/real/launches` too.
    pub run: bool,
    /// Schedules of the checked host for each launch; one if 0.
    pub schedules: u32,
    /// The only target.
    pub target: Option<String>,
    /// The only generators; empty: all.
    pub generators: Vec<String>,
    /// Modules whose names contain one of these; empty: all.
    pub names: Vec<String>,
}

impl Options {
    /// One target of each module, and its launches under 20 schedules on the checked host.
    pub fn of_ci() -> Self {
        Options { run: true, schedules: 20, ..Options::default() }
    }

    fn wants(&self, generator: &Generator) -> bool {
        if self.generators.is_empty() {
            return self.all || !generator.is_slow();
        }
        self.generators.iter().any(|name| name == generator.name)
    }

    /// Are all names and targets selected?
    fn is_whole(&self) -> bool {
        self.names.is_empty() && self.target.is_none()
    }

    /// The targets to compile for.
    fn targets(&self) -> Vec<&str> {
        TARGETS.into_iter().filter(|target| self.target.as_deref().is_none_or(|only| only == *target)).collect()
    }
}

/// The names of all generators.
pub fn generators() -> impl Iterator<Item = &'static str> {
    GENERATORS.iter().map(|generator| generator.name)
}

/// Makes the modules, checks them, and prints the table. A missing compiler is a failure if `strict`, else one line of output.
pub fn run(options: &Options, strict: bool) -> Result<(), String> {
    let root = root();
    let start = Instant::now();
    let assembler = match ptxas::find_or_fetch() {
        Ok(path) => path,
        Err(reason) if strict || std::env::var_os("PTXAS").is_some() => return Err(format!("no ptxas: {reason}")),
        Err(reason) => {
            eprintln!("skipped: the modules of today's generators ({reason})");
            return Ok(());
        }
    };
    let below = root.join("target").join("real");
    let compilers = compilers(options, &below, strict)?;
    let mut jobs = Vec::new();
    for (generator, compiler) in &compilers {
        let sources = root.join("tests").join("real").join(generator.name);
        let output = below.join("out").join(generator.name);
        jobs.extend(Make::all(generator, compiler, &sources, &output, options)?);
    }
    if jobs.is_empty() {
        // Everything was skipped with a message; or no program matches.
        return if compilers.is_empty() { Ok(()) } else { Err(NOTHING.to_owned()) };
    }
    let fetched = start.elapsed().as_secs_f64();
    let made: Vec<Made> = parallel::map(&jobs, Make::run).into_iter().flatten().collect();
    if made.is_empty() {
        return Err(NOTHING.to_owned());
    }
    names_differ(&made)?;
    let compiled = start.elapsed().as_secs_f64();
    let reports = parallel::map(&made, |made| judge(made, &assembler));
    print!("{}", table::render(&made.iter().zip(&reports).collect::<Vec<_>>()));
    for (made, report) in made.iter().zip(&reports).filter(|(_, report)| !report.passed()) {
        println!("\n{} of {} for {}\n{}", made.name, made.generator, made.target, report.details.trim_end());
    }
    let judged = start.elapsed().as_secs_f64();
    let (making, judging) = (compiled - fetched, judged - compiled);
    conclude(
        &reports,
        &format!("{judged:.1} s: fetched in {fetched:.1}, compiled in {making:.1}, judged in {judging:.1}"),
    )?;
    if options.run { launch::run(&below, &below.join("out"), options.schedules, &options.names) } else { Ok(()) }
}

/// The selected generators, each with its compiler.
fn compilers(options: &Options, below: &Path, strict: bool) -> Result<Vec<(&'static Generator, Compiler)>, String> {
    let mut compilers = Vec::new();
    for generator in GENERATORS.iter().filter(|generator| options.wants(generator)) {
        match generator.find_or_fetch(below) {
            Ok(compiler) => compilers.push((generator, compiler)),
            Err(reason) if strict => return Err(format!("no {}: {reason}", generator.name)),
            Err(reason) => eprintln!("skipped: the modules of {} ({reason})", generator.name),
        }
    }
    Ok(compilers)
}

/// Modules of one name would overwrite each other's files.
fn names_differ(made: &[Made]) -> Result<(), String> {
    let mut seen = HashSet::new();
    match made.iter().find(|made| !seen.insert((made.generator, &made.name, &made.target))) {
        Some(twice) => Err(format!("two modules of {} are called {}", twice.generator, twice.name)),
        None => Ok(()),
    }
}

fn conclude(reports: &[Report], times: &str) -> Result<(), String> {
    let failed = reports.iter().filter(|report| !report.passed()).count();
    if failed == 0 {
        eprintln!(
            "> real: {} modules accepted, printed, laid out, assembled to the same code ({times})",
            reports.len()
        );
        return Ok(());
    }
    let errors = counted(reports.iter().flat_map(|report| &report.errors));
    let errors = if errors.is_empty() { errors } else { format!("; {errors}") };
    Err(format!("{failed} of {} real modules failed ({times}){errors}", reports.len()))
}

/// The report on a module, or why there is none.
fn judge(made: &Made, ptxas: &Path) -> Report {
    let path = match &made.result {
        Ok(path) => path,
        Err(reason) => return Report::not_made(reason.clone()),
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Module { path, ptxas, options: options_of_ptxas(&text) }.judge()
}

/// The options that a module's compiler would pass to ptxas.
fn options_of_ptxas(text: &str) -> &'static [&'static str] {
    let line = |start: &str| text.lines().map(str::trim_start).find(|line| line.starts_with(start));
    let debug = line(".target").is_some_and(|line| line.contains("debug"));
    match (line(".extern .func").is_some(), debug, line(".loc").is_some()) {
        // Functions of a library are linked later. A relocatable file has symbols with a checksum of the text, unless an option
        // prevents it.
        (true, _, _) => &["-c", "-suppress-debug-info"],
        (false, true, _) => &["-g"],
        (false, false, true) => &["-lineinfo"],
        (false, false, false) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATORS, Made, Options, names_differ, options_of_ptxas};

    #[test]
    fn options_select_generators() {
        let names = |options: &Options| {
            let wanted = GENERATORS.iter().filter(|generator| options.wants(generator));
            wanted.map(|generator| generator.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&Options::default()), ["triton", "gluon", "numba", "cute", "cuda"]);
        assert_eq!(names(&Options { all: true, ..Options::default() }).last(), Some(&"cutlass"));
        assert_eq!(names(&Options { generators: vec!["gluon".to_owned()], ..Options::default() }), ["gluon"]);
    }

    #[test]
    fn options_select_targets() {
        assert_eq!(Options::default().targets(), super::TARGETS);
        assert_eq!(Options { target: Some("sm_100".to_owned()), ..Options::default() }.targets(), ["sm_100"]);
    }

    #[test]
    fn modules_have_names_of_their_own() {
        let made = |name: &str, target: &str| Made {
            generator: "triton",
            name: name.to_owned(),
            target: target.to_owned(),
            result: Err(String::new()),
        };
        assert!(names_differ(&[made("a", "sm_80"), made("a", "sm_90"), made("b", "sm_80")]).is_ok());
        let twice = names_differ(&[made("a", "sm_80"), made("b", "sm_80"), made("a", "sm_80")]);
        assert_eq!(twice.unwrap_err(), "two modules of triton are called a");
    }

    #[test]
    fn options_of_ptxas_follow_from_the_text() {
        assert_eq!(options_of_ptxas(".target sm_80, debug\n.loc 1 2 3\n"), ["-g"]);
        assert_eq!(options_of_ptxas(".target sm_80\n\t.loc 1 2 3\n"), ["-lineinfo"]);
        assert_eq!(options_of_ptxas(".target sm_80\n\t.loc 1 2 3\n.extern .func f;\n"), ["-c", "-suppress-debug-info"]);
        assert!(options_of_ptxas(".target sm_80\n// .loc\n").is_empty());
    }
}
