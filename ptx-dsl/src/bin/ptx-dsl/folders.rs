//! Folders and patterns as files of `check`.

use std::path::{Path, PathBuf};

use ptx_dsl::build::rust_source;

use crate::input::Input;

/// A tag that programs put into folders with files that they made, such as cargo's `target`.
const MADE: &str = "CACHEDIR.TAG";

/// The files that a name on the command line stands for: those in a folder, those that fit a pattern, or itself.
pub fn expanded(input: Input) -> Result<Vec<Input>, String> {
    let Input::File(path) = &input else { return Ok(vec![input]) };
    let mut found = Vec::new();
    if path.is_dir() {
        add_folder(path, &mut found);
        if found.is_empty() {
            return Err(format!("there is no PTX file and no Rust file with `ptx!` in `{}`", path.display()));
        }
    } else if let Some(pattern) = path.to_str().filter(|pattern| pattern.contains(['*', '?']) && !path.exists()) {
        found = fitting(pattern);
        if found.is_empty() {
            return Err(format!("no file fits `{pattern}`"));
        }
    } else {
        return Ok(vec![input]);
    }
    Ok(found.into_iter().map(Input::File).collect())
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    all.sort();
    all
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Adds the PTX files, and the Rust files with macros of PTX. Hidden folders, links to folders and those with made files are left out.
fn add_folder(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            if !path.is_symlink() && !is_hidden(&path) && !path.join(MADE).exists() {
                add_folder(&path, found);
            }
        } else if has_ptx(&path) {
            found.push(path);
        }
    }
}

fn has_ptx(path: &Path) -> bool {
    match path.extension() {
        Some(extension) if extension == "ptx" => true,
        _ if rust_source::is_rust(path) => std::fs::read(path)
            .is_ok_and(|text| ["ptx!", "include_ptx!"].iter().any(|name| contains(&text, name.as_bytes()))),
        _ => false,
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The files that fit a pattern: `*` and `?` stand for characters of a name, `**` for any number of folders.
fn fitting(pattern: &str) -> Vec<PathBuf> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let (start, parts) = match parts.split_first() {
        Some((&"", rest)) => (PathBuf::from("/"), rest.to_vec()),
        _ => (PathBuf::new(), parts),
    };
    let mut found = Vec::new();
    walk(&start, &parts, &mut found);
    found.dedup();
    found
}

fn walk(folder: &Path, parts: &[&str], found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else { return };
    match *part {
        "**" => {
            walk(folder, rest, found);
            let folders = entries(folder).into_iter().filter(|path| path.is_dir() && !path.is_symlink());
            folders.filter(|path| !is_hidden(path)).for_each(|path| walk(&plain(folder, &path), parts, found));
        }
        part if part.contains(['*', '?']) => {
            for path in entries(folder).into_iter().filter(|path| !is_hidden(path)) {
                let fits = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| fits(part, name));
                let path = plain(folder, &path);
                match rest {
                    [] if fits && path.is_file() => found.push(path),
                    [_, ..] if fits && path.is_dir() => walk(&path, rest, found),
                    _ => {}
                }
            }
        }
        part if rest.is_empty() => found.extend(Some(folder.join(part)).filter(|path| path.is_file())),
        part => walk(&folder.join(part), rest, found),
    }
}

/// The path of something in a folder, without `./`.
fn plain(folder: &Path, path: &Path) -> PathBuf {
    path.file_name().map_or_else(|| path.to_owned(), |name| folder.join(name))
}

/// Does a name fit `*.ptx`?
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            // the last star takes one character more
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_fit() {
        for (pattern, name, wanted) in [
            ("*.ptx", "a.ptx", true),
            ("*.ptx", ".ptx", true),
            ("*.ptx", "a.ptx.bak", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("k?.rs", "k1.rs", true),
            ("k?.rs", "k.rs", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, name), wanted, "{pattern}, {name}");
        }
    }
}
