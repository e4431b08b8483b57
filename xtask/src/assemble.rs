//! Assembles a directory of PTX texts with ptxas, through the code of the tests.

#[path = "../../tests/support/ptxas.rs"]
mod judge;

use std::path::Path;

/// Assembles every `.ptx` file. The error lists the messages of ptxas.
pub fn directory(directory: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut modules = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            modules.push((path.display().to_string(), text));
        }
    }
    modules.sort();
    let Some(verdicts) = judge::assemble_all(&modules) else { return Ok(()) };
    let refused: Vec<String> = verdicts.into_iter().filter_map(Result::err).collect();
    if refused.is_empty() {
        eprintln!("> ptxas accepts the {} modules that were launched", modules.len());
        return Ok(());
    }
    Err(refused.join("\n"))
}
