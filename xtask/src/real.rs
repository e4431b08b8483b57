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

use crate::module::{Module, Report, counted, in_parallel};
use crate::ptxas;
use generator::{Compiler, GENERATORS, Generator};
use make::{Made, Make};

/// One for each generation; compilers append `a` if there is such a target.
const TARGETS: [&str; 5] = ["sm_80", "sm_90", "sm_100", "sm_103", "sm_120"];

const NOTHING: &str = "no module of tests/real matches";

/// The options of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Each module for all of its targets; otherwise for one of them, in turn, without slow generators.
    all: bool,
    /// Then run those with a launch in `tests/real/launches`.
    run: bool,
    /// Schedules of the checked host for each launch; one if 0.
    schedules: u32,
    /// No other target.
    target: Option<String>,
    /// No other generators; empty: all.
    generators: Vec<String>,
    /// Modules whose names contain one of these; empty: all.
    names: Vec<String>,
}

impl Wanted {
    /// One target of each module, and its launches under 20 schedules on the checked host.
    pub fn for_ci() -> Self {
        Wanted { run: true, schedules: 20, ..Wanted::default() }
    }

    /// Reads `[--all] [--run] [--schedules N] [--target sm_NN] [--generator NAME]... [NAME...]`.
    pub fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut wanted = Wanted::default();
        let mut rest = arguments.iter();
        while let Some(&argument) = rest.next() {
            match argument {
                "--all" => wanted.all = true,
                "--run" => wanted.run = true,
                "--schedules" => {
                    let number = rest.next().and_then(|text| text.parse().ok());
                    wanted.schedules = number.ok_or_else(|| format!("`{argument}` wants a number"))?;
                    wanted.run = true;
                }
                "--target" => wanted.target = Some(one_of(argument, rest.next(), &TARGETS)?),
                "--generator" => {
                    let names = GENERATORS.map(|generator| generator.name);
                    wanted.generators.push(one_of(argument, rest.next(), &names)?);
                }
                option if option.starts_with('-') => return Err(format!("`{option}` is not an option of `real`")),
                name => wanted.names.push(name.to_owned()),
            }
        }
        Ok(wanted)
    }

    fn wants(&self, generator: &Generator) -> bool {
        if self.generators.is_empty() {
            return self.all || !generator.is_slow();
        }
        self.generators.iter().any(|name| name == generator.name)
    }

    /// Is a module of this name selected?
    fn wants_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
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

fn one_of(option: &str, value: Option<&&str>, known: &[&str]) -> Result<String, String> {
    let value = *value.ok_or_else(|| format!("`{option}` wants one of {}", known.join(", ")))?;
    if !known.contains(&value) {
        return Err(format!("`{value}` is none of {}", known.join(", ")));
    }
    Ok(value.to_owned())
}

/// Makes the modules, checks them, and prints the table. A missing compiler is a failure if `strict`, else one line of output.
pub fn run(wanted: &Wanted, strict: bool) -> Result<(), String> {
    let root = ptxas::root();
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
    let compilers = compilers(wanted, &below, strict)?;
    let mut jobs = Vec::new();
    for (generator, compiler) in &compilers {
        let sources = root.join("tests").join("real").join(generator.name);
        let output = below.join("out").join(generator.name);
        jobs.extend(Make::all(generator, compiler, &sources, &output, wanted)?);
    }
    if jobs.is_empty() {
        // Everything was skipped with a message; or no program matches.
        return if compilers.is_empty() { Ok(()) } else { Err(NOTHING.to_owned()) };
    }
    let fetched = start.elapsed().as_secs_f64();
    let made: Vec<Made> = in_parallel(&jobs, Make::run).into_iter().flatten().collect();
    if made.is_empty() {
        return Err(NOTHING.to_owned());
    }
    names_differ(&made)?;
    let compiled = start.elapsed().as_secs_f64();
    let reports = in_parallel(&made, |made| judge(made, &assembler));
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
    if wanted.run { launch::run(&below, &below.join("out"), wanted.schedules, &wanted.names) } else { Ok(()) }
}

/// The selected generators, each with its compiler.
fn compilers(wanted: &Wanted, below: &Path, strict: bool) -> Result<Vec<(&'static Generator, Compiler)>, String> {
    let mut compilers = Vec::new();
    for generator in GENERATORS.iter().filter(|generator| wanted.wants(generator)) {
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
    Module { path, ptxas, options: options(&text) }.judge()
}

/// The options that a module's compiler would pass to ptxas.
fn options(text: &str) -> &'static [&'static str] {
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
    use super::{Made, Wanted, names_differ, options};

    #[test]
    fn the_command_line() {
        let wanted = Wanted::parse(&["--all", "--run", "--target", "sm_100", "--generator", "gluon", "clc"]).unwrap();
        assert!(wanted.all && wanted.run);
        assert_eq!(wanted.targets(), ["sm_100"]);
        assert!(wanted.wants_name("clc_matmul") && !wanted.wants_name("matmul"));
        assert_eq!(wanted.generators, ["gluon"]);
        let plain = Wanted::parse(&[]).unwrap();
        assert_eq!(plain, Wanted::default());
        assert_eq!(plain.targets(), super::TARGETS);
        assert!(plain.wants_name("anything"));
        let names = |wanted: &Wanted| {
            let wanted = super::GENERATORS.iter().filter(|generator| wanted.wants(generator));
            wanted.map(|generator| generator.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&plain), ["triton", "gluon", "numba", "cute", "cuda"]);
        assert_eq!(names(&Wanted::parse(&["--all"]).unwrap()).last(), Some(&"cutlass"));
        assert_eq!(names(&wanted), ["gluon"]);
    }

    #[test]
    fn the_command_line_is_checked() {
        assert_eq!(
            Wanted::parse(&["--target", "sm_70"]).unwrap_err(),
            "`sm_70` is none of sm_80, sm_90, sm_100, sm_103, sm_120"
        );
        assert_eq!(
            Wanted::parse(&["--generator"]).unwrap_err(),
            "`--generator` wants one of triton, gluon, numba, cute, cuda, cutlass"
        );
        assert_eq!(Wanted::parse(&["--al"]).unwrap_err(), "`--al` is not an option of `real`");
        let wanted = Wanted::parse(&["--schedules", "20", "tma"]).unwrap();
        assert!(wanted.run && wanted.schedules == 20 && wanted.names == ["tma"]);
        assert_eq!(Wanted::parse(&["--schedules", "tma"]).unwrap_err(), "`--schedules` wants a number");
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
        assert_eq!(options(".target sm_80, debug\n.loc 1 2 3\n"), ["-g"]);
        assert_eq!(options(".target sm_80\n\t.loc 1 2 3\n"), ["-lineinfo"]);
        assert_eq!(options(".target sm_80\n\t.loc 1 2 3\n.extern .func f;\n"), ["-c", "-suppress-debug-info"]);
        assert!(options(".target sm_80\n// .loc\n").is_empty());
    }
}
