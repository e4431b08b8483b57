//! The documentation of the sources that users of `ptx-dsl` see.

use std::path::{Path, PathBuf};

/// The lines of the documentation in a file, each with its number, without the marks of comments.
fn documentation(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("a source");
    let lines = text.lines().enumerate().filter_map(|(i, line)| {
        let line = line.trim_start();
        let rest = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some((i + 1, rest.trim().to_owned()))
    });
    lines.collect()
}

/// The Rust files in a directory and those within.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let within = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    within.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

/// What is wrong in the documentation of the facade and of the runtime, whose items it shows.
fn wrong(is_wrong: impl Fn(&[(usize, String)]) -> Vec<usize>) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["ptx-dsl/src", "ptx-dsl-runtime/src"].map(|crate_| sources(&root.join(crate_))).concat();
    assert!(files.len() > 100, "{} files", files.len());
    let found = files.iter().flat_map(|path| {
        let lines = is_wrong(&documentation(path));
        lines.into_iter().map(|line| format!("{}:{line}", path.display())).collect::<Vec<_>>()
    });
    found.collect()
}

/// A user of `ptx-dsl` does not have the crate of the runtime. Doc tests of the runtime begin with a hidden
/// `# use ptx_dsl_runtime as ptx_dsl;`.
#[test]
fn examples_name_the_crate_that_users_have() {
    let shown = |line: &str| line.contains("ptx_dsl_runtime") && !line.starts_with("# ");
    let found = wrong(|lines| lines.iter().filter(|(_, line)| shown(line)).map(|(number, _)| *number).collect());
    assert_eq!(found, [""; 0]);
}

#[test]
fn links_to_examples_stand_once() {
    let found = wrong(|lines| {
        let is_link = |line: &(usize, String)| line.1.starts_with("[Example](");
        // with one line between them, which is one of the documentation too
        let twice = |l: &[(usize, String)]| is_link(&l[0]) && is_link(&l[2]) && l[2].0 == l[0].0 + 2;
        lines.windows(3).filter(|l| twice(l)).map(|l| l[2].0).collect()
    });
    assert_eq!(found, [""; 0]);
}

/// Folders whose documentation is free of elliptic openers.
const SENTENCES: [&str; 9] = [
    "crates/ptx-dsl-analysis",
    "crates/ptx-dsl-codegen",
    "crates/ptx-dsl-image",
    "crates/ptx-dsl-weak",
    "oracles/src",
    "ptx-dsl-macros",
    "tests/parts",
    "tests/support",
    "xtask",
];

/// A comment that begins so has no subject of its own: a reader has to guess it from the code or from the comment above.
const OPENERS: [&str; 49] = [
    "The same", "Those", "That of", "Of", "What", "So many", "So much", "So few", "So far", "So long", "Likewise",
    "Also", "As", "And", "Or", "But", "Whose", "Which", "Where", "Who", "When", "How", "Then", "Its", "Their", "It",
    "They", "If", "Not", "Between", "After", "Before", "Into", "From", "Within", "With", "Without", "Another", "Other",
    "Others", "More", "All of", "Each of", "One of", "Like", "Such", "Until", "Only", "Same",
];

/// Does a line begin with one of the openers, as words?
fn is_elliptic(line: &str) -> bool {
    OPENERS.iter().filter_map(|opener| line.strip_prefix(opener)).any(|rest| rest.starts_with([' ', ',', '.', ':']))
}

#[test]
fn doc_comments_begin_with_a_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let begins = |path: &Path| {
        let lines = documentation(path);
        let numbers: Vec<usize> = lines.iter().map(|(number, _)| *number).collect();
        let is_first = move |number: &usize| numbers.binary_search(&(number - 1)).is_err();
        lines.into_iter().filter(move |(number, line)| is_first(number) && is_elliptic(line)).collect::<Vec<_>>()
    };
    let files: Vec<PathBuf> = SENTENCES.iter().flat_map(|folder| sources(&root.join(folder))).collect();
    assert!(files.len() > 150, "{} files", files.len());
    let found: Vec<String> = files
        .iter()
        .flat_map(|path| {
            begins(path).into_iter().map(move |(number, line)| format!("{}:{number}: {line}", path.display()))
        })
        .collect();
    assert!(found.is_empty(), "doc comments without a subject:\n{}", found.join("\n"));
    assert!(is_elliptic("Of the block.") && is_elliptic("So many of them.") && !is_elliptic("Office hours."));
}

/// A crate of `crates/` with `doctest = false` has no example that a doc test would run.
#[test]
fn examples_are_doc_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let entries = std::fs::read_dir(crates).expect("the crates").map(|entry| entry.expect("an entry").path());
    let silent: Vec<PathBuf> = entries
        .filter(|path| {
            let manifest = std::fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
            manifest.contains("doctest = false")
        })
        .collect();
    assert!(silent.len() > 5, "{silent:?}");
    let is_example =
        |line: &str| matches!(line, "```" | "```rust" | "```no_run" | "```should_panic" | "```compile_fail");
    let found: Vec<String> = silent
        .iter()
        .flat_map(|path| sources(&path.join("src")))
        .flat_map(|path| {
            let lines = documentation(&path);
            // A fence that ends a block is not the first of its pair.
            let fences: Vec<_> = lines.into_iter().filter(|(_, line)| line.starts_with("```")).collect();
            let first = fences.into_iter().step_by(2).filter(|(_, line)| is_example(line));
            first.map(|(number, _)| format!("{}:{number}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, [""; 0]);
}
