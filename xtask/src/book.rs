//! `cargo xtask book`: checks the links of all Markdown pages and builds the book of `docs/` as static files.

mod pages;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{ArgMatches, Command as Cli};
use ptx_dsl_oracles::tools::{book_builder, root, run_shown};

use crate::Task;
use crate::arguments::flag;
use crate::book::pages::Page;

/// The address of a file of the repository, for readers of the book.
const REPOSITORY: &str = "https://github.com/ptx-dsl/ptx-dsl/blob/main/";

/// Pages written by hand stay under this number of lines.
#[cfg(test)]
const LONGEST: usize = 200;

/// `cargo xtask book`.
pub fn task() -> Task {
    let check = flag("check", "Only checks that every link and anchor of the Markdown pages exists");
    let about = "Builds the book of docs/ into target/book, with mdBook, which pip fetches if it is missing";
    let run = |matches: &ArgMatches| build(root(), matches.get_flag("check"));
    Task { command: Cli::new("book").about(about).arg(check), run }
}

/// Checks the links and builds the book, or only checks.
pub fn build(root: &Path, check: bool) -> Result<(), String> {
    let pages = Page::all(root)?;
    let dead = pages::dead_links(root, &pages);
    if !dead.is_empty() {
        return Err(dead.join("\n"));
    }
    eprintln!("> links of {} pages: ok", pages.len());
    if check {
        return Ok(());
    }
    let mdbook = book_builder::find_or_fetch()?;
    let source = root.join("target").join("book-source");
    let _ = std::fs::remove_dir_all(&source);
    copy(&root.join("docs"), &source)?;
    for page in pages.iter().filter(|page| page.path.starts_with("docs")) {
        let within = page.path.strip_prefix("docs").unwrap_or(&page.path);
        write(&source.join(within), page.with_outer_links(Path::new("docs"), REPOSITORY).as_bytes())?;
    }
    let book = root.join("target").join("book");
    let _ = std::fs::remove_dir_all(&book);
    run_shown(Command::new(mdbook).arg("build").arg(&source).arg("--dest-dir").arg(&book))?;
    eprintln!("> wrote {}", book.join("index.html").display());
    Ok(())
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for path in entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// The paths in a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use ptx_dsl_oracles::tools::root;

    use super::LONGEST;
    use super::pages::{Page, dead_links};

    #[test]
    fn every_link_leads_somewhere() {
        let pages = Page::all(root()).expect("pages");
        assert!(pages.len() > 30, "{} pages", pages.len());
        let dead = dead_links(root(), &pages);
        assert!(dead.is_empty(), "{}", dead.join("\n"));
    }

    #[test]
    fn the_summary_names_every_page_of_the_book() {
        let pages = Page::all(root()).expect("pages");
        let summary = pages.iter().find(|page| page.path == Path::new("docs/SUMMARY.md")).expect("docs/SUMMARY.md");
        let named: BTreeSet<PathBuf> = summary.links.iter().filter_map(|link| summary.target(link)).collect();
        let written = pages.iter().map(|page| page.path.clone());
        let written: BTreeSet<PathBuf> =
            written.filter(|path| path.starts_with("docs") && !path.ends_with("SUMMARY.md")).collect();
        assert_eq!(written, named, "docs/SUMMARY.md and the pages in docs/ differ");
    }

    /// Pages with lists that the code writes, and pages of tables, may be longer.
    #[test]
    fn pages_written_by_hand_are_short() {
        let is_list = |page: &&Page| page.text.contains("<!-- Written by `cargo xtask docs`");
        let longer = ["internals/benches.md", "model/numerics.md"];
        let pages = Page::all(root()).expect("pages");
        let long = pages
            .iter()
            .filter(|page| page.path.starts_with("docs") && !is_list(page))
            .filter(|page| page.text.lines().count() > LONGEST && !longer.iter().any(|name| page.path.ends_with(name)));
        assert_eq!(long.map(|page| page.path.display().to_string()).collect::<Vec<_>>(), [""; 0]);
    }
}
