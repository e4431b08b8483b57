//! Assembles the PTX of tests and examples with NVIDIA's ptxas.
//!
//! `cargo xtask test` fetches the assembler. Without one, a test run prints a line and skips, except in CI (`CI=true`), where that is a
//! failure.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::parallel;

/// Assembles every module `(name, ptx)` for the target it names and returns the verdicts in order: `Err` has the output of ptxas.
/// `None`: there is no ptxas.
///
/// # Panics
/// Without ptxas when `CI=true`; when ptxas or the temporary directory cannot be used.
pub fn assemble_all(modules: &[(String, String)]) -> Option<Vec<Result<(), String>>> {
    assemble_each(modules, &[])
}

/// Assembles as [`assemble_all`] does, but a kernel that keeps a register in local memory is an error.
///
/// # Panics
/// As [`assemble_all`].
pub fn assemble_without_spills(modules: &[(String, String)]) -> Option<Vec<Result<(), String>>> {
    assemble_each(modules, &["--warn-on-spills", "--warn-on-local-memory-usage", "--warning-as-error"])
}

fn assemble_each(modules: &[(String, String)], options: &[&str]) -> Option<Vec<Result<(), String>>> {
    let Some(ptxas) = find() else {
        let wanted = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        assert!(!wanted, "no ptxas: CI assembles every PTX text (`cargo xtask ptxas` fetches it)");
        eprintln!("skipped: {} PTX texts not assembled, no ptxas (`cargo xtask ptxas` fetches it)", modules.len());
        return None;
    };
    // Tests of one process run in parallel, and so may several test processes.
    static CALL: AtomicUsize = AtomicUsize::new(0);
    let call = CALL.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("ptx-dsl-ptxas-{}-{call}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let jobs: Vec<_> = modules.iter().enumerate().collect();
    let verdicts =
        parallel::map(&jobs, |(index, (name, ptx))| assemble(&ptxas, &directory, *index, (name, ptx), options));
    let _ = std::fs::remove_dir_all(&directory);
    Some(verdicts)
}

/// Assembles completely: code generation alone checks some rules (one `.cta_group` per kernel).
fn assemble(
    ptxas: &Path,
    directory: &Path,
    index: usize,
    module: (&str, &str),
    options: &[&str],
) -> Result<(), String> {
    let (name, ptx) = module;
    let input = directory.join(format!("{index}.ptx"));
    std::fs::write(&input, ptx).expect("a temporary file");
    let output = Command::new(ptxas)
        .arg(format!("-arch={}", architecture(ptx)))
        .args(options)
        .arg("-o")
        .arg(directory.join(format!("{index}.cubin")))
        .arg(&input)
        .stdin(Stdio::null())
        .output()
        .expect("ptxas runs");
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr).replace(&*input.to_string_lossy(), name);
    Err(if printed.trim().is_empty() { format!("{name}: ptxas ended with {}", output.status) } else { printed })
}

/// The architecture to assemble for: that of the module's `.target`, from sm_75 on.
fn architecture(ptx: &str) -> String {
    let lines = ptx.lines().map(str::trim_start);
    let words = lines.filter_map(|line| line.strip_prefix(".target")).flat_map(|rest| rest.split([',', ' ', '\t']));
    architecture_of(words.map(str::trim).find(|word| word.starts_with("sm_")).unwrap_or("sm_75"))
}

/// The architecture to assemble a target for. CUDA 13 generates code from sm_75 on, and reads older PTX for it; `sm_101*` is the name of
/// `sm_110*` before PTX ISA 9.0.
pub fn architecture_of(target: &str) -> String {
    let number = target.trim_start_matches("sm_");
    match (number.strip_prefix("101"), number.parse::<u32>()) {
        (Some(suffix), _) => format!("sm_110{suffix}"),
        (None, Ok(version)) if version < 75 => "sm_75".to_owned(),
        _ => target.to_owned(),
    }
}

/// `PTXAS`, or what `cargo xtask ptxas` installed: `target/ptxas/nvidia/cu<major>/bin/ptxas` of the workspace.
pub fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PTXAS").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        assert!(path.is_file(), "PTXAS={} is not a file", path.display());
        return Some(path);
    }
    let installations = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|root| root.join("target/ptxas/nvidia"));
    let versions = installations.filter_map(|directory| std::fs::read_dir(directory).ok()).flatten().flatten();
    let candidates = versions.map(|version| version.path().join("bin").join(format!("ptxas{EXE_SUFFIX}")));
    candidates.into_iter().find(|path| path.is_file())
}
