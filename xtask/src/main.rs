//! `cargo xtask`: tasks that plain cargo cannot do, such as fetching NVIDIA's tools for the tests. `cargo xtask --help` lists them.

mod arguments;
mod bench;
mod book;
mod budget;
mod corpus;
mod docs;
mod gpu;
mod gpu_bench;
mod gpu_profile;
mod oracles;
mod package;
mod sanitize;
mod steps;

use std::process::ExitCode;

use clap::{ArgMatches, Command};

/// A subcommand, and what it does.
struct Task {
    command: Command,
    run: fn(&ArgMatches) -> Result<(), String>,
}

/// All tasks, in the order of the help.
fn tasks() -> Vec<Task> {
    let others = [
        docs::task(),
        book::task(),
        package::task(),
        bench::task(),
        budget::task(),
        corpus::task(),
        sanitize::task(),
        gpu::task(),
    ];
    steps::tasks().into_iter().chain(others).chain(oracles::tasks()).collect()
}

fn command(tasks: &[Task]) -> Command {
    Command::new("xtask")
        .bin_name("cargo xtask")
        .about("Tasks of ptx-dsl that plain cargo cannot do")
        .after_help("PTXAS=<path> and NVCC=<path> select your own assembler and compiler.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(tasks.iter().map(|task| task.command.clone()))
}

fn main() -> ExitCode {
    if let Some(times) = std::env::var_os(budget::fresh::TIMES) {
        return budget::fresh::wrapper(&times);
    }
    let tasks = tasks();
    let matches = command(&tasks).get_matches();
    let chosen = matches.subcommand().and_then(|(name, matches)| {
        let task = tasks.iter().find(|task| task.command.get_name() == name)?;
        Some((task.run)(matches))
    });
    match chosen {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
        None => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::{command, tasks};

    /// clap finds options of one name, options that require unknown ones, and the like.
    #[test]
    fn the_command_line_is_consistent() {
        command(&tasks()).debug_assert();
    }

    #[test]
    fn what_the_documentation_and_ci_write_is_understood() {
        for line in [
            "test",
            "docs --check",
            "book --check",
            "bench --json times.json --only saxpy --rounds 3 --no-checked --dev",
            "bench --compile --dev --family mma --shapes lanes,loop --counts 1,100",
            "kernels --seed 1000 --count 200 --release",
            "gpu --out directory --count 100 --dev",
            "gpu bench --folder directory",
            "hardware --write directory 7",
            "hardware --read directory results",
            "mutants --clean --schedules 1000",
            "mutants --seeds 64 --every 8",
            "nvcc --target sm_90a saxpy",
            "oracle --family mbarrier --stale",
            "real --all --target sm_100 --generator gluon clc",
            "real --all --schedules 20 tma",
            "sanitize address thread",
        ] {
            let words = ["xtask"].into_iter().chain(line.split(' '));
            command(&tasks()).try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for line in [
            "real --target sm_70",
            "real --al",
            "real --schedules tma",
            "bench --shapes lanes",
            "hardware --read a",
            "tests",
        ] {
            let words = ["xtask"].into_iter().chain(line.split(' '));
            assert!(command(&tasks()).try_get_matches_from(words).is_err(), "{line}");
        }
    }
}
