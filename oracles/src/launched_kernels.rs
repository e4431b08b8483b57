//! The PTX of every kernel that a test or an example launches, assembled with ptxas.

use std::collections::HashSet;
use std::path::Path;

use ptx_dsl_test_support::ptxas::assemble_all;

use crate::tools::{files, read};

/// Assembles every `.ptx` file of a directory. The error lists the messages of ptxas.
pub fn assemble(directory: &Path) -> Result<(), String> {
    let paths = files(directory, "ptx")?;
    let module = |path: &std::path::PathBuf| Ok((path.display().to_string(), read(path)?));
    let mut modules = paths.iter().map(module).collect::<Result<Vec<_>, String>>()?;
    // A module is there once for each of its kernels.
    let launched = modules.len();
    let mut seen = HashSet::new();
    modules.retain(|(_, text)| seen.insert(text.clone()));
    let Some(verdicts) = assemble_all(&modules) else { return Ok(()) };
    let refused: Vec<String> = verdicts.into_iter().filter_map(Result::err).collect();
    if refused.is_empty() {
        eprintln!("> ptxas accepts the {} modules of the {launched} kernels that were launched", modules.len());
        return Ok(());
    }
    Err(refused.join("\n"))
}
