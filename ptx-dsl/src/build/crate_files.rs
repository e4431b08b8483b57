//! The module files of a crate, found from one of its files by the rules of Rust: `mod name;` is `name.rs` or `name/mod.rs`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The most files that are read of a crate.
const MOST_FILES: usize = 10_000;

/// A file of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrateFile {
    /// As it was found from the root.
    pub path: PathBuf,
    /// The path with links followed.
    pub canonical: PathBuf,
    /// The names of the modules that it is in: `["hopper", "parts"]` of `src/hopper/parts.rs`.
    pub module: Vec<String>,
    /// Its text.
    pub text: String,
}

/// The crate that a file belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crate {
    /// Its files, the root first. A file without a crate is its own root.
    pub files: Vec<CrateFile>,
}

impl Crate {
    /// The crate of a file: the first one among those whose roots (`lib.rs`, `main.rs`) are above the file, up to the package's folder.
    pub fn around(file: &Path) -> Self {
        let own = canonical(file);
        let found = roots(&own).into_iter().map(|root| Crate::of_root(&root)).find(|found| found.has(&own));
        found.unwrap_or_else(|| Crate::of_root(file))
    }

    /// The files that a root names, directly or through others.
    pub fn of_root(root: &Path) -> Self {
        let mut found = Crate::default();
        let mut seen = HashSet::new();
        let folder = root.parent().map_or_else(PathBuf::new, Path::to_owned);
        found.add(root.to_owned(), Vec::new(), &folder, &mut seen);
        found
    }

    /// Is it a file of the crate?
    pub fn has(&self, file: &Path) -> bool {
        self.module_of(file).is_some()
    }

    /// The modules that a file is in.
    pub fn module_of(&self, file: &Path) -> Option<&[String]> {
        let own = canonical(file);
        self.files.iter().find(|known| known.canonical == own).map(|known| known.module.as_slice())
    }

    /// Adds a file, and those that it declares. `folder`: where the files of its modules are.
    fn add(&mut self, path: PathBuf, module: Vec<String>, folder: &Path, seen: &mut HashSet<PathBuf>) {
        let canonical = canonical(&path);
        if self.files.len() >= MOST_FILES || !seen.insert(canonical.clone()) {
            return;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        let mut declared = Vec::new();
        if let Ok(tokens) = text.parse::<TokenStream>() {
            declarations(tokens, &[], &mut declared);
            // the spans of the next file begin at 0 again
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        let of_file = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        self.files.push(CrateFile { path, canonical, module: module.clone(), text });
        for Declared { inside, name, path } in declared {
            let inner = inside.iter().fold(folder.to_owned(), |folder, name| folder.join(name));
            let has_path = path.is_some();
            let candidates = match path {
                // relative to the file, or to the folder of the modules around the declaration
                Some(path) if inside.is_empty() => vec![of_file.join(path)],
                Some(path) => vec![inner.join(path)],
                None => vec![inner.join(format!("{name}.rs")), inner.join(&name).join("mod.rs")],
            };
            let Some(file) = candidates.into_iter().find(|file| file.is_file()) else { continue };
            // the modules of such a file are beside it
            let whole = has_path || file.file_name().is_some_and(|name| name == "mod.rs");
            let folder =
                if whole { file.parent().map_or_else(PathBuf::new, Path::to_owned) } else { file.with_extension("") };
            let module = module.iter().chain(&inside).chain([&name]).cloned().collect();
            self.add(file, module, &folder, seen);
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The roots that a file may belong to, the nearest first.
fn roots(file: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in file.ancestors().skip(1) {
        let names = ["lib.rs", "main.rs", "src/lib.rs", "src/main.rs"];
        found.extend(names.iter().map(|name| folder.join(name)).filter(|root| root.is_file()));
        if folder.join("Cargo.toml").is_file() {
            break;
        }
    }
    found
}

/// `mod name;`
struct Declared {
    /// The modules with bodies around it.
    inside: Vec<String>,
    name: String,
    /// `#[path = "other.rs"]`
    path: Option<String>,
}

fn declarations(tokens: TokenStream, inside: &[String], found: &mut Vec<Declared>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut path = None;
    for (at, tree) in trees.iter().enumerate() {
        match (tree, trees.get(at + 1), trees.get(at + 2)) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(attribute)), _) if hash.as_char() == '#' => {
                path = path_attribute(attribute.stream()).or(path);
            }
            (TokenTree::Ident(word), Some(TokenTree::Ident(name)), Some(TokenTree::Punct(end)))
                if word == "mod" && end.as_char() == ';' =>
            {
                found.push(Declared { inside: inside.to_vec(), name: plain(name), path: path.take() });
            }
            (TokenTree::Ident(word), Some(TokenTree::Ident(name)), Some(TokenTree::Group(body)))
                if word == "mod" && body.delimiter() == Delimiter::Brace =>
            {
                let inner: Vec<String> = inside.iter().cloned().chain([plain(name)]).collect();
                declarations(body.stream(), &inner, found);
                path = None;
            }
            // an item has ended
            (TokenTree::Punct(end), ..) if end.as_char() == ';' => path = None,
            (TokenTree::Group(body), ..) if body.delimiter() == Delimiter::Brace => path = None,
            _ => {}
        }
    }
}

/// A name without `r#`.
fn plain(name: &proc_macro2::Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

/// `path = "other.rs"`
fn path_attribute(attribute: TokenStream) -> Option<String> {
    let trees: Vec<TokenTree> = attribute.into_iter().collect();
    match trees.as_slice() {
        [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Literal(text)] if word == "path" => {
            let text = text.to_string();
            Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_modules() {
        let folder = std::env::temp_dir().join(format!("ptx-dsl-crate-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            file
        };
        write("Cargo.toml", "");
        write(
            "src/lib.rs",
            "mod a; pub mod b { pub mod c; } #[path = \"odd/x.rs\"] mod y; mod missing; // mod d;\nmod a;",
        );
        let deep = write("src/a/e.rs", "");
        write("src/a.rs", "#[cfg(test)] mod e;");
        write("src/b/c/mod.rs", "mod f;");
        write("src/b/c/f.rs", "");
        write("src/odd/x.rs", "mod g;");
        write("src/odd/g.rs", "");
        write("src/d.rs", "");
        let alone = write("tests/t.rs", "mod u;");
        write("tests/u.rs", "");
        let modules = |found: Crate| found.files.into_iter().map(|file| file.module.join("::")).collect::<Vec<_>>();
        let found = Crate::around(&deep);
        assert_eq!(found.module_of(&deep), Some(&["a".to_owned(), "e".to_owned()][..]));
        assert_eq!(modules(found), ["", "a", "a::e", "b::c", "b::c::f", "y", "y::g"]);
        assert_eq!(modules(Crate::around(&alone)), ["", "u"]);
        assert_eq!(modules(Crate::around(&folder.join("src/d.rs"))), [""]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
