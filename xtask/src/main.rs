//! `cargo xtask test | ci | docs | bench | oracle | kernels | hardware | budget | corpus | nvcc | ptxas | real | sanitize`: what
//! plain cargo cannot do, which is to fetch NVIDIA's tools for the tests.

mod assemble;
mod bench;
mod budget;
mod corpus;
mod docs;
mod hardware;
mod kernels;
mod module;
mod nvcc;
mod oracle;
mod ptxas;
mod random;
mod real;
mod sanitize;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  test    fetch ptxas when it is missing, then run every test of the workspace
  ci      rustfmt, clippy and docs with warnings denied, then `test`, `nvcc` and `real`; a missing tool is a failure
  docs    write docs/isa-coverage.md and docs/error-index.md; with --check only say whether they are up to date
  bench   the host machine against plain Rust: [--json FILE] [--only NAME] [--rounds N] [--threads N] [--no-checked]
          [--no-unchecked: not the build without checks] [--native: a build of both for this processor] [--dev: a development build, optimised as
          README says] [--opencl PROGRAM: see benches/opencl]; --compile: what kernels of 1,000 instructions
          of every family take to compile: [--dev] [--family NAME] [--shapes lanes,rows,guarded,loop,divergent]
          [--counts N,N] [--all: each instruction by itself] [--opcode NAME] [--spellings N]
  oracle  compare the front end with ptxas on many statements of every form, legal and not:
          [--family <name>] [--seed <number>] [--count <number>] [--all] (what is on the list, too) [--stale] (what
          there is out of date) [--sweep <number>] [--dump FILE]; --ask FILE: what both say of statements of your own
  kernels run random kernels on the host and compare what they leave with what plain Rust computes for them:
          [--seed <number>] [--count <number>] [--size <statements>] [--release]; --write DIRECTORY: for a GPU (CONTRIBUTING.md)
  hardware
          run the forms of tests/hardware on the host and compare what they give with what an H200 gave; --release: with each
          instruction set of the processor; --write DIRECTORY [SEED]: every form for a GPU; --read DIRECTORY RESULTS: what came back
          (tests/hardware/README.md)
  budget  measure what the macros and the command line may cost: build time, checking time
  corpus  copy the modules of tests/ptx to where cargo-fuzz looks for them
  ptxas   fetch ptxas when it is missing and print its path
  nvcc    [--all] [--target sm_NN] [NAME...]: fetch nvcc when it is missing, compile the programs of tests/nvcc, check and
          print their PTX, and compare what ptxas makes of both texts; --all: every program for every target
  real    [--all] [--target sm_NN] [--generator NAME] [NAME...]: compile the kernels of tests/real with Triton, Gluon, numba,
          CuTe DSL and nvcc, fetched with pip when they are missing, and do the same with their PTX; --all: every module for
          every target, CUTLASS too
  sanitize
          [address] [thread] [miri]: the runtime's tests and kernels of the suite under the sanitizers, with a nightly toolchain

PTXAS=<path> and NVCC=<path> name an assembler and a compiler of your own.";

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
