//! The PTX of every kernel that a test or an example launches, assembled with ptxas.

use std::path::Path;

use ptx_dsl_test_support::ptxas::assemble_all;

use crate::tools::{files, read};

/// Assembles every `.ptx` file of a directory. The error lists the messages of ptxas.
pub fn assemble(directory: &Path) -> Result<(), String> {
    let paths = files(directory, "ptx")?;
    let module = |path: &std::path::PathBuf| Ok((path.display().to_string(), read(path)?));
    let modules = paths.iter().map(module).collect::<Result<Vec<_>, String>>()?;
    let Some(verdicts) = assemble_all(&modules) else { return Ok(()) };
    let refused: Vec<String> = verdicts.into_iter().filter_map(Result::err).collect();
    if refused.is_empty() {
        eprintln!("> ptxas accepts the {} modules that were launched", modules.len());
        return Ok(());
    }
    Err(refused.join("\n"))
}
