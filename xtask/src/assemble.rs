//! ptxas on a directory of PTX texts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Assembles every `.ptx` file; the error lists what ptxas says of each that it refuses.
pub fn directory(ptxas: &Path, directory: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut refused = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(message) = assemble(ptxas, file) {
                refused.push(format!("ptxas refuses {}:\n{message}", file.display()));
            }
        }
        refused
    };
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
    let mut refused: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    refused.sort();
    if refused.is_empty() {
        eprintln!("> ptxas accepts the {} modules that were launched", files.len());
        return Ok(());
    }
    Err(refused.join("\n"))
}

fn assemble(ptxas: &Path, file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let target = text.lines().find_map(|line| line.trim().strip_prefix(".target "));
    let target = target.and_then(|list| list.split(',').next()).ok_or("no `.target`")?.trim();
    let output = Command::new(ptxas)
        .arg(format!("-arch={target}"))
        .args(["-o", if cfg!(windows) { "NUL" } else { "/dev/null" }])
        .arg(file)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
