//! Finds ptxas: `PTXAS`, then `target/ptxas`, then pip. The tests look in the same two places (`tests/support/src/ptxas.rs`).

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};

use super::{pip, root, runs};

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
    pip::install(&directory, &[PACKAGE])?;
    installed(&directory).ok_or_else(|| format!("{PACKAGE} holds no ptxas that runs on this machine"))
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
