//! Finds ptxas: `PTXAS`, then `target/ptxas`, then pip. The tests look in the same two places (`tests/support/ptxas.rs`).

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The pinned release: what it accepts is part of what the tests expect.
const PACKAGE: &str = "nvidia-cuda-nvcc==13.5.37";
/// pip's record of the installed release.
const MARK: &str = "nvidia_cuda_nvcc-13.5.37.dist-info";

/// The assembler's path, installed with pip if missing; the error is one line.
pub fn find_or_fetch() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("PTXAS").filter(|path| !path.is_empty()) {
        // Tests run in their package's directory, not in this one.
        let path = std::path::absolute(path).map_err(|error| format!("PTXAS: {error}"))?;
        return if runs(&path) { Ok(path) } else { Err(format!("PTXAS={} does not run", path.display())) };
    }
    let directory = root().join("target").join("ptxas");
    if let Some(path) = installed(&directory) {
        return Ok(path);
    }
    fetch(&directory, &[PACKAGE])?;
    installed(&directory).ok_or_else(|| format!("{PACKAGE} holds no ptxas that runs on this machine"))
}

/// The workspace's root: this package's parent.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The wheel's layout is `nvidia/cu<major>/bin/ptxas`.
fn installed(directory: &Path) -> Option<PathBuf> {
    if !directory.join(MARK).is_dir() {
        return None;
    }
    let versions = std::fs::read_dir(directory.join("nvidia")).ok()?;
    let candidates = versions.flatten().map(|entry| entry.path().join("bin").join(format!("ptxas{EXE_SUFFIX}")));
    candidates.filter(|path| path.is_file()).find(|path| runs(path))
}

/// Installs packages with pip into a temporary directory and renames it, so that an interrupted download does not count as
/// installed. pip unpacks beside it and keeps no cache: `/tmp` may be small, and the packages of the generators take gigabytes.
pub fn fetch(directory: &Path, packages: &[&str]) -> Result<(), String> {
    let shown = packages.join(" ");
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let partial = directory.with_file_name(format!("{name}-partial-{}", std::process::id()));
    eprintln!("fetching {shown} into {}", directory.display());
    let output = Command::new("python3")
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--disable-pip-version-check",
            "--target",
        ])
        .arg(&partial)
        .envs(directory.parent().filter(|parent| parent.is_dir()).map(|parent| ("TMPDIR", parent)))
        .args(packages)
        .stdin(Stdio::null())
        .output();
    let result = match output {
        Err(error) => Err(format!("python3 cannot be run: {error}")),
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            let reason = text.lines().rev().find(|line| line.starts_with("ERROR") || line.contains("No module"));
            Err(format!("pip cannot install {shown}: {}", reason.unwrap_or("no reason given")))
        }
        Ok(_) => {
            // Replaces another release, or one that does not work.
            let _ = std::fs::remove_dir_all(directory);
            std::fs::rename(&partial, directory).map_err(|error| format!("{}: {error}", directory.display()))
        }
    };
    if result.is_err() {
        let _ = std::fs::remove_dir_all(&partial);
    }
    result
}

fn runs(path: &Path) -> bool {
    let status = Command::new(path).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
