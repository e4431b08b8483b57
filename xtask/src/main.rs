//! `cargo xtask test | ci | docs | bench | oracle | kernels | hardware | budget | corpus | mutants | nvcc | ptxas | real | sanitize`: tasks
//! that plain cargo cannot do, such as fetching NVIDIA's tools for the tests.

mod assemble;
mod bench;
mod budget;
mod corpus;
mod docs;
mod hardware;
mod kernels;
mod module;
mod mutants;
mod nvcc;
mod oracle;
mod ptxas;
mod random;
mod real;
mod sanitize;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  test    fetch ptxas if it is missing, then run every test of the workspace
  ci      rustfmt, clippy and docs with warnings denied, then `test`, `nvcc` and `real`; fails if a tool is missing
  docs    write docs/isa-coverage.md, docs/error-index.md, docs/rules.md and a part of README.md; with --check only report whether they are up to date
  bench   time the host machine against plain Rust: [--json FILE] [--only NAME] [--rounds N] [--threads N] [--no-checked]
          [--no-unchecked: without the build without checks] [--native: also build both sides for this processor]
          [--dev: also a development build, optimised as in README] [--opencl PROGRAM: see benches/opencl];
          --compile: time the compilation of kernels of 1,000 instructions of every family:
          [--dev] [--family NAME] [--shapes lanes,rows,guarded,loop,divergent] [--counts N,N]
          [--all: each instruction by itself] [--opcode NAME] [--spellings N]
  oracle  compare the front end with ptxas on statements of every form, legal and not: [--family <name>] [--seed <number>]
          [--count <number>] [--all: also known differences] [--stale: find known differences that are out of date]
          [--sweep <number>] [--dump FILE]; --ask FILE: both verdicts on your own statements
  kernels run random kernels on the host and compare their results with plain Rust: [--seed <number>] [--count <number>]
          [--size <statements>] [--release]; --write DIRECTORY: for a GPU (CONTRIBUTING.md)
  hardware
          compare the forms of tests/hardware on the host with the results of an H200; --release: with each instruction set of
          the processor; --write DIRECTORY [SEED]: write every form for a GPU; --read DIRECTORY RESULTS: read its results
          (tests/hardware/README.md)
  budget  measure build time and checking time against their budgets
  corpus  write the modules of the tests to the corpus of cargo-fuzz
  ptxas   fetch ptxas if it is missing and print its path
  nvcc    [--all] [--target sm_NN] [NAME...]: fetch nvcc if it is missing, compile the programs of tests/nvcc, check and print
          their PTX, and compare the machine code of both texts; --all: every program for every target
  real    [--all] [--run] [--schedules N] [--target sm_NN] [--generator NAME] [NAME...]: the same for the kernels of tests/real,
          compiled by Triton, Gluon, numba, CuTe DSL and nvcc, fetched with pip if missing; --all: every module for every target,
          CUTLASS too;
          --run: then run those with a launch in tests/real/launches and compare the results with NumPy's; --schedules: and so
          many schedules of each on the checked host
  mutants [--schedules N] [--clean] [--seeds N] [--every N] [--list] [NAME...]: delete or weaken each synchronising operation of clean
          kernels, and count who notices; --schedules: of each kernel as it is, which must pass them all; --clean: only that;
          --every: each N-th mutant of a kernel; --list: who notices each mutant
  sanitize
          [address] [thread] [miri]: the runtime's tests and kernels of the suite under the sanitizers, with a nightly toolchain

PTXAS=<path> and NVCC=<path> select your own assembler and compiler.";

fn main() -> ExitCode {
    if let Some(times) = std::env::var_os(budget::fresh::TIMES) {
        return budget::fresh::wrapper(&times);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => steps::test(steps::in_ci()),
        ["ci"] => steps::ci(),
        ["docs"] => docs::run(ptxas::root(), false),
        ["docs", "--check"] => docs::run(ptxas::root(), true),
        ["corpus"] => corpus::write(ptxas::root()),
        ["budget"] => budget::run(),
        ["oracle", ref rest @ ..] => oracle::run(rest),
        ["kernels", ref rest @ ..] => kernels::run(rest, &[]),
        ["hardware", ref rest @ ..] => hardware::run(rest),
        ["nvcc", ref rest @ ..] => nvcc::Wanted::parse(rest).and_then(|wanted| nvcc::run(&wanted, steps::in_ci())),
        ["real", ref rest @ ..] => real::Wanted::parse(rest).and_then(|wanted| real::run(&wanted, steps::in_ci())),
        ["bench", ref rest @ ..] => bench::run(rest),
        ["sanitize", ref rest @ ..] => sanitize::run(rest),
        ["mutants", ref rest @ ..] => mutants::Wanted::parse(rest).and_then(|wanted| mutants::run(&wanted)),
        ["ptxas"] => ptxas::find_or_fetch().map(|path| println!("{}", path.display())),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
