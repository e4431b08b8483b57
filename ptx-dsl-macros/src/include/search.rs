//! Searches a package for a PTX file: rust-analyzer does not say which Rust file contains an invocation.

use std::fs;
use std::path::{Path, PathBuf};

/// The most directories of a package that are searched.
const DIRECTORIES: usize = 5_000;

/// The file that `name` means relative to a directory of this package with Rust files. If several directories have such a file,
/// the first wins in which a Rust file contains the name as a string.
pub fn search(package: &Path, name: &str) -> Option<PathBuf> {
    let mut found: Vec<(PathBuf, Vec<PathBuf>)> = Vec::new();
    let mut open = vec![package.to_owned()];
    let mut left = DIRECTORIES;
    while let Some(directory) = open.pop()
        && left > 0
    {
        left -= 1;
        let sources = read(&directory, &mut open);
        let file = directory.join(name);
        if !sources.is_empty() && file.is_file() {
            found.push((file, sources));
        }
    }
    found.sort();
    if found.len() > 1 {
        let quoted = format!("\"{name}\"");
        for (file, sources) in &found {
            if mentions(sources, &quoted) {
                return Some(file.clone());
            }
        }
    }
    Some(found.into_iter().next()?.0)
}

/// The Rust files of a directory. Its subdirectories go to `open`, except other packages and cargo's target directory.
fn read(directory: &Path, open: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return sources };
    for entry in entries {
        let Ok(entry) = entry else { continue };
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            let other = name.starts_with('.') || name == "target" || path.join("Cargo.toml").exists();
            if !other {
                open.push(path);
            }
        } else if name.ends_with(".rs") {
            sources.push(path);
        }
    }
    sources
}

fn mentions(sources: &[PathBuf], quoted: &str) -> bool {
    for source in sources {
        if fs::read_to_string(source).is_ok_and(|text| text.contains(quoted)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_from_the_directories_of_rust_files() {
        let root = std::env::temp_dir().join(format!("ptx-dsl-search-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, text).expect("written");
        };
        for name in ["kernels/a.ptx", "src/b.ptx", "src/in/b.ptx", "src/in/c.ptx", "other/d.ptx", "target/x/e.ptx"] {
            write(name, "");
        }
        write("src/main.rs", "mod r#in;");
        write("src/in/mod.rs", "include_ptx!(\"b.ptx\");");
        write("other/Cargo.toml", "");
        write("other/main.rs", "");
        write("target/x/main.rs", "");
        let found = |name| search(&root, name).map(|path| path.strip_prefix(&root).expect("below").to_owned());
        assert_eq!(found("../kernels/a.ptx"), Some("src/../kernels/a.ptx".into()));
        assert_eq!(found("b.ptx"), Some("src/in/b.ptx".into()), "two have one, but one names it");
        assert_eq!(found("c.ptx"), Some("src/in/c.ptx".into()));
        assert_eq!(found("in/c.ptx"), Some("src/in/c.ptx".into()));
        assert_eq!(found("d.ptx"), None, "another package's");
        assert_eq!(found("e.ptx"), None, "cargo's");
        assert_eq!(found("a.ptx"), None, "no Rust file is beside it");
        fs::remove_dir_all(&root).expect("removed");
    }
}
