//! The examples, which compare what a GPU computes with plain Rust themselves.

use crate::table::Verdict;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the programs of `examples/` with `--gpu`. Without a GPU, none, for this reason.
pub fn run(folder: &Path, reason: Option<&str>) -> Vec<(String, Verdict)> {
    let files = std::fs::read_dir(folder.join("examples")).into_iter().flatten().flatten();
    let mut paths: Vec<_> = files.map(|entry| entry.path()).collect();
    paths.sort();
    let verdict = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (name, reason.map_or_else(|| one(path), |reason| Verdict::Reason(reason.to_owned())))
    };
    paths.iter().map(verdict).collect()
}

fn one(path: &Path) -> Verdict {
    match Command::new(path).arg("--gpu").output() {
        Ok(output) if output.status.success() => Verdict::Within,
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            match text.contains("and this GPU is sm_") {
                true => Verdict::Reason(text.lines().next().unwrap_or_default().to_owned()),
                false => Verdict::Differs(text),
            }
        }
        Err(error) => Verdict::Differs(error.to_string()),
    }
}
