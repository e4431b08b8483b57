//! Assembles the PTX of tests and examples with NVIDIA's ptxas.
//!
//! Use: `#[path = "support/ptxas.rs"] mod ptxas;`. `cargo xtask test` fetches the assembler. Without one, a test run prints a
//! line and skips, except in CI (`CI=true`), where that is a failure.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Assembles every module `(name, ptx)` for the target it names and returns the verdicts in order: `Err` has the output of ptxas.
/// `None`: there is no ptxas.
///
/// # Panics
/// Without ptxas when `CI=true`; when ptxas or the temporary directory cannot be used.
pub fn assemble_all(modules: &[(String, String)]) -> Option<Vec<Result<(), String>>> {
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
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut verdicts = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, ptx)) = modules.get(index) else { return verdicts };
            verdicts.push((index, assemble(&ptxas, &directory, index, name, ptx)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get().min(8));
    let mut verdicts: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic in a worker")).collect()
    });
    verdicts.sort_by_key(|(index, _)| *index);
    let _ = std::fs::remove_dir_all(&directory);
    Some(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
}

/// Assembles completely: code generation alone checks some rules (one `.cta_group` per kernel).
fn assemble(ptxas: &Path, directory: &Path, index: usize, name: &str, ptx: &str) -> Result<(), String> {
    let input = directory.join(format!("{index}.ptx"));
    std::fs::write(&input, ptx).expect("a temporary file");
    let output = Command::new(ptxas)
        .arg(format!("-arch={}", architecture(ptx)))
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

/// The architecture to assemble for: the module's `.target`. CUDA 13 generates code from sm_75 on, and reads older PTX for it;
/// `sm_101*` is the name of `sm_110*` before PTX ISA 9.0.
fn architecture(ptx: &str) -> String {
    let lines = ptx.lines().map(str::trim_start);
    let words = lines.filter_map(|line| line.strip_prefix(".target")).flat_map(|rest| rest.split([',', ' ', '\t']));
    let target = words.map(str::trim).find(|word| word.starts_with("sm_")).unwrap_or("sm_75");
    let number = target.trim_start_matches("sm_");
    if let Some(suffix) = number.strip_prefix("101") {
        return format!("sm_110{suffix}");
    }
    match number.parse::<u32>() {
        Ok(version) if version < 75 => "sm_75".to_owned(),
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
