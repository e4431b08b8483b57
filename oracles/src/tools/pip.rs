//! Installs packages of Python: NVIDIA publishes its tools there.

use std::path::Path;
use std::process::{Command, Stdio};

/// Installs packages with pip into a temporary directory and renames it, so that an interrupted download does not count as
/// installed. pip unpacks beside it and keeps no cache: `/tmp` may be small, and the packages of the generators take gigabytes.
pub fn install(directory: &Path, packages: &[&str]) -> Result<(), String> {
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
