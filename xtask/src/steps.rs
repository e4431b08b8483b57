//! The commands of `test` and `ci`, in order; the first failure ends the run.

use std::env::consts::EXE_EXTENSION;
use std::process;
use std::time::Instant;

use clap::Command;
use ptx_dsl_oracles::tools::{self, ptxas, root};
use ptx_dsl_oracles::{
    Engine, gpu_results, launched_kernels, nvcc_modules, ptxas_verdicts, random_kernels, real_modules, sync_mutants,
};

use crate::{Task, book, docs, package};

/// Examples that `test` runs too: each checks its own result.
const EXAMPLES: [&str; 11] = [
    "saxpy",
    "gemm_levels",
    "mbarrier_pipeline",
    "cluster_launch_control",
    "tcgen05_dealloc",
    "tcgen05_gemm",
    "hopper_gemm",
    "ring_of_stages",
    "ampere_attention",
    "implicit_gemm",
    "monitor",
];

/// `test` and `ci`.
pub fn tasks() -> [Task; 2] {
    [
        Task {
            command: Command::new("test").about("Runs every test of the workspace, after fetching ptxas if it is missing"),
            run: |_| test(in_ci()),
        },
        Task {
            command: Command::new("ci").about(
                "Runs rustfmt, clippy and rustdoc with warnings denied, builds the book, packs the crates, then `test`, `nvcc` and `real`; fails if a tool is missing",
            ),
            run: |_| ci(),
        },
    ]
}

/// Is this a run of CI, where a test that is skipped without ptxas is a failure?
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Formatting, lints and documentation with warnings denied, then every test, then the modules of `tests/nvcc` and `tests/real`.
fn ci() -> Result<(), String> {
    // For tests/editor.rs, which otherwise skips with a message.
    let _ = process::Command::new("rustup").args(["component", "add", "rust-analyzer", "rust-src"]).status();
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            "ptx-dsl/lsp,ptx-dsl/debug",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )?;
    cargo(
        &["doc", "--workspace", "--features", "ptx-dsl/build", "--no-deps", "--quiet"],
        &[("RUSTDOCFLAGS", "-Dwarnings")],
    )?;
    docs::write(root(), true)?;
    book::build(root(), false)?;
    let _ = process::Command::new("rustup").args(["toolchain", "install", "1.89", "--profile", "minimal"]).status();
    package::check()?;
    test(true)?;
    nvcc_modules::run(&nvcc_modules::Options::default(), true)?;
    real_modules::run(&real_modules::Options::of_ci(), true)
}

/// Every test of the workspace (libraries, documentation, integration tests), those of kernels on both engines, then the examples,
/// mutants of clean kernels, random kernels and the results of an H200, then ptxas on the PTX of every kernel that was launched, of the
/// benches, and on a few statements of every family.
fn test(strict: bool) -> Result<(), String> {
    let mut environment: Vec<(&str, String)> = Vec::new();
    match ptxas::find_or_fetch() {
        Ok(path) => environment.push(("PTXAS", path.display().to_string())),
        Err(reason) if strict || std::env::var_os("PTXAS").is_some() => return Err(format!("no ptxas: {reason}")),
        Err(reason) => eprintln!("skipped: everything that needs ptxas ({reason})"),
    }
    if strict {
        environment.push(("CI", "true".to_owned()));
    }
    let judge = environment.first().map(|(_, path)| std::path::PathBuf::from(path));
    // Every kernel that is launched leaves its PTX here.
    let dump = root().join("target").join("ptx-dump");
    let _ = std::fs::remove_dir_all(&dump);
    environment.push(("PTX_DSL_DUMP", dump.display().to_string()));
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    cargo(&["test", "--workspace", "--features", "ptx-dsl/lsp,ptx-dsl/debug"], &environment)?;
    // The tests that run kernels once more, on the engine of optimised builds. Packages and features are those of the first run, so that
    // cargo only builds what names kernels.
    let compiled = "ptx-dsl/lsp,ptx-dsl/debug,ptx-dsl/compiled";
    let kernels = ["host::", "seeds::", "tcgen05::", "bugs::"];
    let suite = ["test", "--workspace", "--test", "suite", "--features", compiled, "--"];
    cargo(&[&suite[..], &kernels].concat(), &environment)?;
    // `cargo test` has built them, with the features of the workspace.
    for example in EXAMPLES {
        let program = root().join("target/debug/examples").join(example).with_extension(EXE_EXTENSION);
        eprintln!("> example {example}");
        tools::run_shown(process::Command::new(program).current_dir(root()).envs(environment.iter().copied()))?;
    }
    editors()?;
    sync_mutants::run(&sync_mutants::Options::default())?;
    random_kernels::run(&random_kernels::Options::of_tests(), &environment)?;
    gpu_results::replay(1, Engine::Interpreted, false, &[])?;
    // All of them would take minutes to compile.
    gpu_results::replay(16, Engine::Compiled, false, &[])?;
    let texts = dump.display().to_string();
    let bench = [
        "bench",
        "--workspace",
        "--features",
        "ptx-dsl/lsp,ptx-dsl/debug",
        "--quiet",
        "--profile",
        "dev",
        "--bench",
        "host",
    ];
    cargo(&[&bench[..], &["--", "--ptx", &texts]].concat(), &environment)?;
    match judge {
        Some(ptxas) => {
            launched_kernels::assemble(&dump)?;
            ptxas_verdicts::compare(&ptxas, &ptxas_verdicts::Options::of_tests())
        }
        None => Ok(()),
    }
}

/// The clients of the language server: a walk with Neovim, and the extension of Visual Studio Code, whose grammars have tests. Without the
/// programs that they need they are skipped, with a line.
fn editors() -> Result<(), String> {
    let has = |program: &str| process::Command::new(program).arg("--version").output().is_ok();
    if has("nvim") {
        let server = root().join("target/debug/ptx-dsl").with_extension(EXE_EXTENSION);
        let command = format!("let g:ptx_dsl_command = ['{}', 'lsp']", server.display());
        let walk = ["--headless", "-u", "NONE", "-c", &command, "-c", "luafile editors/neovim/test.lua"];
        eprintln!("> editors/neovim/test.lua");
        tools::run_shown(process::Command::new("nvim").args(walk).current_dir(root()))?;
    } else {
        eprintln!("skipped: editors/neovim/test.lua (there is no nvim)");
    }
    if has("npm") {
        eprintln!("> editors/vscode/pack.sh");
        tools::run_shown(&mut process::Command::new(root().join("editors/vscode/pack.sh")))?;
    } else {
        eprintln!("skipped: editors/vscode/pack.sh (there is no npm)");
    }
    Ok(())
}

/// Runs cargo in the root of the workspace and prints the command and its time.
fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let shown = format!("cargo {}", arguments.join(" "));
    eprintln!("> {shown}");
    let start = Instant::now();
    tools::run_shown(tools::cargo().args(arguments).envs(environment.iter().copied()))?;
    eprintln!("> {shown}: ok, {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
