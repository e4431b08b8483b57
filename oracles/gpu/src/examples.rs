//! The examples, which compare what a GPU computes with plain Rust themselves.

use crate::Devices;
use crate::table::{Set, Verdict};
use std::path::Path;
use std::process::Command;

/// Runs the programs of `examples/` with `--gpu`.
pub fn run(folder: &Path, devices: &Devices) -> Set {
    let files = std::fs::read_dir(folder.join("examples")).into_iter().flatten().flatten();
    let mut paths: Vec<_> = files.map(|entry| entry.path()).collect();
    paths.sort();
    let launches = paths.iter().map(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (name, one(path, devices))
    });
    Set { title: "examples, against plain Rust".to_owned(), launches: launches.collect() }
}

fn one(path: &Path, devices: &Devices) -> Verdict {
    if let Err(reason) = devices.gpu() {
        return Verdict::Reason(reason);
    }
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
