//! The commands of the oracles.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use ptx_dsl_oracles::sync_mutants::{Mutants, seeded};
use ptx_dsl_oracles::tools::ptxas;
use ptx_dsl_oracles::{Engine, gpu_results, nvcc_modules, ptxas_verdicts, random_kernels, real_modules, sync_mutants};

use crate::Task;
use crate::arguments::{flag, list, names, number, number_of, path, text};
use crate::steps::in_ci;

/// The commands in the order of the help.
pub fn tasks() -> [Task; 7] {
    [
        Task { command: ptxas_command(), run: print_ptxas },
        Task { command: oracle_command(), run: oracle },
        Task { command: kernels_command(), run: kernels },
        Task { command: hardware_command(), run: hardware },
        Task { command: mutants_command(), run: mutants },
        Task { command: nvcc_command(), run: nvcc },
        Task { command: real_command(), run: real },
    ]
}

fn ptxas_command() -> Command {
    Command::new("ptxas").about("Prints the path of ptxas; pip fetches it if it is missing")
}

fn print_ptxas(_: &ArgMatches) -> Result<(), String> {
    ptxas::find_or_fetch().map(|path| println!("{}", path.display()))
}

fn oracle_command() -> Command {
    Command::new("oracle").about("Compares the front end with ptxas on statements of every form, legal and not").args([
        text("family", "Only this family of instructions"),
        number("seed", "The seed of the random choices").default_value("1"),
        number("count", "The number of statements; 150,000 without it"),
        flag("all", "Prints known differences too"),
        flag("stale", "Looks for known differences that are out of date"),
        number("sweep", "Every mutation of so many spellings of each form").default_value("0"),
        path("dump", "FILE", "Writes all differences to a file"),
        path(
            "ask",
            "FILE",
            "Prints both verdicts on the statements of a file: lines `sm_90 8.0 add.u32 %r1, %r2, %r3;`",
        ),
    ])
}

fn oracle(matches: &ArgMatches) -> Result<(), String> {
    let ptxas = ptxas::find_or_fetch()?;
    if let Some(file) = matches.get_one::<PathBuf>("ask") {
        return ptxas_verdicts::ask(&ptxas, file);
    }
    let number = |name| number_of(matches, name).unwrap_or_default();
    let options = ptxas_verdicts::Options {
        family: matches.get_one("family").cloned(),
        seed: number("seed"),
        count: number_of(matches, "count").map_or(ptxas_verdicts::Options::FULL, |count| count as usize),
        all: matches.get_flag("all"),
        stale: matches.get_flag("stale"),
        sweep: number("sweep") as usize,
        dump: matches.get_one("dump").cloned(),
    };
    ptxas_verdicts::compare(&ptxas, &options)
}

fn kernels_command() -> Command {
    Command::new("kernels")
        .about("Runs random kernels on both engines and compares their results with plain Rust")
        .args([
            number("seed", "The seed of the first kernel").default_value("1"),
            number("count", "The number of kernels").default_value("20"),
            number("size", "The number of statements of a kernel").default_value("40"),
            flag("release", "Runs optimised code"),
            path("write", "DIRECTORY", "Writes the kernels and their results for a GPU (CONTRIBUTING.md)"),
        ])
}

fn kernels(matches: &ArgMatches) -> Result<(), String> {
    let number = |name| number_of(matches, name).unwrap_or_default();
    let options = random_kernels::Options {
        seed: number("seed"),
        count: number("count"),
        size: number("size") as usize,
        release: matches.get_flag("release"),
    };
    match matches.get_one::<PathBuf>("write") {
        Some(directory) => random_kernels::write(&options, directory),
        None => random_kernels::run(&options, &[]),
    }
}

fn hardware_command() -> Command {
    let write = Arg::new("write").long("write").num_args(1..=2).value_names(["DIRECTORY", "SEED"]);
    let read = Arg::new("read").long("read").num_args(2).value_names(["DIRECTORY", "RESULTS"]);
    Command::new("hardware").about("Compares what instructions compute on the host with the results of an H200").args([
        flag("compiled", "Runs compiled code, which takes rustc many minutes"),
        flag("release", "Runs optimised code with each instruction set of the processor"),
        write
            .help("Writes every form for a GPU (tests/hardware/README.md)")
            .conflicts_with_all(["compiled", "release"]),
        read.help("Reads the results of a GPU")
            .value_parser(value_parser!(PathBuf))
            .conflicts_with_all(["compiled", "release", "write"]),
    ])
}

fn hardware(matches: &ArgMatches) -> Result<(), String> {
    if let Some(mut values) = matches.get_many::<String>("write") {
        let directory = PathBuf::from(values.next().ok_or("no directory")?);
        let seed = values.next().map_or(Ok(0), |seed| seed.parse().map_err(|_| format!("`{seed}` is no seed")))?;
        return gpu_results::write_for_gpu(&directory, seed);
    }
    if let Some(mut values) = matches.get_many::<PathBuf>("read") {
        let (Some(directory), Some(results)) = (values.next(), values.next()) else { return Err("no results".into()) };
        return gpu_results::read_from_gpu(directory, results);
    }
    if matches.get_flag("release") {
        return gpu_results::replay_on_instruction_sets();
    }
    let engine = if matches.get_flag("compiled") { Engine::Compiled } else { Engine::Interpreted };
    gpu_results::replay(1, engine, false, &[])
}

fn mutants_command() -> Command {
    Command::new("mutants")
        .about("Deletes or weakens each synchronising operation of clean kernels, and counts who notices")
        .args([
            number("schedules", "Schedules of each kernel as it is, which must pass them all").default_value("20"),
            flag("clean", "Runs no mutants").conflicts_with("every"),
            number("seeds", "Only counts what so many seeds notice by themselves, without the compiler"),
            number("every", "Each N-th mutant of a kernel").default_value("1"),
            flag("list", "Prints who notices each mutant"),
            names("Only kernels whose names contain one of these"),
        ])
}

fn mutants(matches: &ArgMatches) -> Result<(), String> {
    let every = number_of(matches, "every").unwrap_or(1) as usize;
    let options = sync_mutants::Options {
        schedules: number_of(matches, "schedules").unwrap_or_default(),
        mutants: if matches.get_flag("clean") { Mutants::None } else { Mutants::Every(every) },
        list: matches.get_flag("list"),
        names: list(matches, "names"),
    };
    match number_of(matches, "seeds") {
        Some(seeds) => seeded::count(&options, seeds),
        None => sync_mutants::run(&options),
    }
}

fn nvcc_command() -> Command {
    Command::new("nvcc")
        .about("Compares the machine code of what nvcc writes for tests/nvcc before and after printing")
        .args([
            flag("all", "Compiles every program for every target"),
            text("target", "Only this target").value_parser(nvcc_modules::TARGETS),
            names("Only programs whose names contain one of these"),
        ])
}

fn nvcc(matches: &ArgMatches) -> Result<(), String> {
    let options = nvcc_modules::Options {
        all: matches.get_flag("all"),
        target: matches.get_one("target").cloned(),
        names: list(matches, "names"),
    };
    nvcc_modules::run(&options, in_ci())
}

fn real_command() -> Command {
    let generators = PossibleValuesParser::new(real_modules::generators());
    Command::new("real")
        .about("Compares the same for the kernels of tests/real, compiled by Triton, Gluon, numba, CuTe DSL and nvcc")
        .args([
            flag("all", "Compiles every module for every target, CUTLASS too"),
            flag("run", "Then runs those with a launch in tests/real/launches, and compares with NumPy"),
            number("schedules", "Runs them under so many schedules on the checked host")
                .value_parser(value_parser!(u32)),
            text("target", "Only this target").value_parser(real_modules::TARGETS),
            text("generator", "Only this generator").value_parser(generators).action(clap::ArgAction::Append),
            names("Only modules whose names contain one of these"),
        ])
}

fn real(matches: &ArgMatches) -> Result<(), String> {
    real_modules::run(&real_options(matches), in_ci())
}

fn real_options(matches: &ArgMatches) -> real_modules::Options {
    let schedules = matches.get_one::<u32>("schedules").copied();
    real_modules::Options {
        all: matches.get_flag("all"),
        run: matches.get_flag("run") || schedules.is_some(),
        schedules: schedules.unwrap_or_default(),
        target: matches.get_one("target").cloned(),
        generators: list(matches, "generator"),
        names: list(matches, "names"),
    }
}

#[cfg(test)]
mod tests {
    use super::{real_command, real_options};

    #[test]
    fn options_of_real() {
        let options = |line: &str| real_options(&real_command().get_matches_from(line.split(' ')));
        let wanted = options("real --all --run --target sm_100 --generator gluon clc");
        assert!(wanted.all && wanted.run && wanted.schedules == 0);
        assert_eq!((wanted.target.as_deref(), &wanted.generators[..]), (Some("sm_100"), &["gluon".to_owned()][..]));
        assert_eq!(wanted.names, ["clc"]);
        let wanted = options("real --schedules 20");
        assert!(wanted.run && wanted.schedules == 20 && !wanted.all && wanted.names.is_empty());
    }
}
