//! `cargo xtask corpus`: the modules of `tests/ptx`, as what cargo-fuzz starts from.

use std::path::Path;

/// The targets of `fuzz/`.
const TARGETS: [&str; 3] = ["lex", "parse", "check"];

/// Writes `fuzz/corpus/<target>/<module>.ptx`.
pub fn write(root: &Path) -> Result<(), String> {
    let seen = |path: &Path| {
        let shown = path.display().to_string();
        move |error: std::io::Error| format!("{shown}: {error}")
    };
    let modules = root.join("tests").join("ptx");
    let mut count = 0;
    for target in TARGETS {
        let directory = root.join("fuzz").join("corpus").join(target);
        std::fs::create_dir_all(&directory).map_err(seen(&directory))?;
        for path in std::fs::read_dir(&modules).map_err(seen(&modules))?.flatten().map(|entry| entry.path()) {
            let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|e| e == "ptx")) else {
                continue;
            };
            std::fs::copy(&path, directory.join(name)).map_err(seen(&path))?;
            count += 1;
        }
    }
    eprintln!("> {count} files in fuzz/corpus");
    Ok(())
}
