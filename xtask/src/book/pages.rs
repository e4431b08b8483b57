//! Markdown pages: their links and their anchors.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Folders whose pages are not those of the project.
const SKIPPED: [&str; 3] = ["target", "node_modules", "wip"];

/// A page of the repository.
pub struct Page {
    /// The path from the root of the repository.
    pub path: PathBuf,
    pub text: String,
    pub links: Vec<Link>,
    anchors: HashSet<String>,
}

/// A link or a picture.
pub struct Link {
    destination: String,
    /// The bytes of the page that are the link with its text.
    range: Range<usize>,
}

impl Page {
    /// All pages below the root.
    pub fn all(root: &Path) -> Result<Vec<Page>, String> {
        let mut pages = Vec::new();
        add(root, root, &mut pages)?;
        Ok(pages)
    }

    /// Reads the links and headings of a page.
    fn new(path: PathBuf, text: String) -> Page {
        let mut links = Vec::new();
        let mut anchors = HashSet::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push(Link { destination: dest_url.into_string(), range });
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(words) | Event::Code(words) => {
                    if let Some(title) = &mut heading {
                        title.push_str(&words);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().unwrap_or_default());
                    let count = counts.entry(anchor.clone()).or_default();
                    anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                    *count += 1;
                }
                _ => {}
            }
        }
        Page { path, text, links, anchors }
    }

    /// The file or folder that a relative link names, as a path from the root; an anchor alone names its own page.
    pub fn target(&self, link: &Link) -> Option<PathBuf> {
        let (path, _) = split(&link.destination);
        let is_elsewhere = path.contains(':');
        let folder = self.path.parent().unwrap_or(Path::new(""));
        (!is_elsewhere).then(|| if path.is_empty() { self.path.clone() } else { normal(&folder.join(path)) })
    }

    /// The text of the page, with links that leave a folder replaced by addresses that begin with `base`.
    pub fn with_outer_links(&self, folder: &Path, base: &str) -> String {
        let mut text = self.text.clone();
        // From the end, so that the ranges before stay valid.
        for link in self.links.iter().rev() {
            let Some(target) = self.target(link).filter(|target| !target.starts_with(folder)) else { continue };
            let (_, anchor) = split(&link.destination);
            let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
            let Some(at) = self.text[link.range.clone()].rfind(&link.destination) else { continue };
            let start = link.range.start + at;
            let address = format!("{base}{}{anchor}", target.display());
            text.replace_range(start..start + link.destination.len(), &address);
        }
        text
    }

    fn line_of(&self, link: &Link) -> usize {
        self.text[..link.range.start].matches('\n').count() + 1
    }
}

/// The relative links whose file or anchor does not exist, one line each.
pub fn dead_links(root: &Path, pages: &[Page]) -> Vec<String> {
    let by_path: HashMap<&Path, &Page> = pages.iter().map(|page| (page.path.as_path(), page)).collect();
    let is_dead = |page: &Page, link: &Link| {
        let Some(target) = page.target(link) else { return false };
        if !by_path.contains_key(target.as_path()) && !root.join(&target).exists() {
            return true;
        }
        let (_, anchor) = split(&link.destination);
        anchor.is_some_and(|anchor| by_path.get(target.as_path()).is_some_and(|page| !page.anchors.contains(anchor)))
    };
    let found = pages.iter().flat_map(|page| {
        let dead = page.links.iter().filter(|link| is_dead(page, link));
        dead.map(|link| format!("{}:{}: dead link {}", page.path.display(), page.line_of(link), link.destination))
    });
    found.collect()
}

/// The anchor of a heading, as mdBook and GitHub make it.
fn anchor(title: &str) -> String {
    let letters = title.trim().chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some('-'),
        '-' | '_' => Some(c),
        c => c.is_alphanumeric().then_some(c),
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// The path and the anchor of a destination.
fn split(destination: &str) -> (&str, Option<&str>) {
    destination.split_once('#').map_or((destination, None), |(path, anchor)| (path, Some(anchor)))
}

/// The path without `..` and `.`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

fn add(root: &Path, folder: &Path, pages: &mut Vec<Page>) -> Result<(), String> {
    for path in super::entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()) {
                add(root, &path, pages)?;
            }
        } else if name.ends_with(".md") {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            pages.push(Page::new(path.strip_prefix(root).unwrap_or(&path).to_owned(), text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use ptx_dsl_oracles::tools::root;

    use super::{Page, anchor, dead_links};

    fn page(text: &str) -> Page {
        Page::new(PathBuf::from("docs/guide/page.md"), text.to_owned())
    }

    #[test]
    fn anchors_are_those_of_the_book() {
        assert_eq!(anchor("What `tcgen05.mma` computes"), "what-tcgen05mma-computes");
        assert_eq!(anchor("Registers: setmaxnreg"), "registers-setmaxnreg");
    }

    #[test]
    fn dead_links_are_found_outside_of_code() {
        let text = "# A\n\n[a](#a) [b](#b) [c](../../README.md) [d](gone.md) `[e](e.md)` [f](https://f)\n\n```text\n[g](g.md)\n```\n";
        let dead = dead_links(root(), &[page(text)]);
        assert_eq!(
            dead,
            ["docs/guide/page.md:3: dead link #b", "docs/guide/page.md:3: dead link gone.md"].map(str::to_owned)
        );
    }

    #[test]
    fn links_that_leave_the_book_are_addresses() {
        let text = page("[a](../model/a.md) [b](../../tests/bugs) [c](../../CONTRIBUTING.md#c)");
        let found = text.with_outer_links(Path::new("docs"), "https://x/");
        assert_eq!(found, "[a](../model/a.md) [b](https://x/tests/bugs) [c](https://x/CONTRIBUTING.md#c)");
    }
}
