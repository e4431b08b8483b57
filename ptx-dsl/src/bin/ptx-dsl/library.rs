//! The parts that the modules of Rust files may use: those of the other files that are given, and of their crates.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ptx_dsl::build::crate_files::Crate;
use ptx_dsl::build::rust_parts::{self, OtherFile, Parts};
use ptx_dsl::build::rust_source::{self, Macros};
use ptx_dsl_frontend::lex::lex_rust;

use crate::findings::Seen;
use crate::input::Input;

/// The files that are checked together.
pub struct Library {
    /// The Rust files that are given, by their canonical paths, with the names that messages have for them.
    names: HashMap<PathBuf, String>,
    given: OnceLock<Vec<(PathBuf, Bodies)>>,
    /// The crates that were read so far.
    crates: Mutex<Vec<Arc<WithParts>>>,
}

/// The macros of a file, each with the modules in the file that are around it.
struct Bodies {
    file: Arc<OtherFile>,
    all: Vec<(Range<usize>, Vec<String>)>,
}

/// A crate, with the macros of those of its files that may have parts.
struct WithParts {
    files: Crate,
    /// Each file with its canonical path, and the modules that it is in.
    bodies: Vec<(PathBuf, Vec<String>, Bodies)>,
}

impl Bodies {
    /// The bodies in a file of this name; `None` if it has no part.
    fn of(name: String, text: String) -> Option<Self> {
        if !text.contains("part") {
            return None;
        }
        let macros = rust_source::macros(&text).ok()?;
        let all = macros.bodies.iter().map(|body| (body.clone(), macros.modules_around(body))).collect();
        Some(Bodies { file: Arc::new(OtherFile { name, text }), all })
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Library {
    /// Files that are checked together. None is read before a module uses a part.
    pub fn new<'f>(files: impl Iterator<Item = &'f Input>) -> Self {
        let rust = files.filter_map(|file| match file {
            Input::File(path) if rust_source::is_rust(path) => Some((canonical(path), file.name())),
            _ => None,
        });
        Library { names: rust.collect(), given: OnceLock::new(), crates: Mutex::default() }
    }

    /// What the modules of a Rust file see.
    pub fn seen(&self, file: &Input, text: &str, macros: Macros) -> Seen {
        let parts = Parts::of(text, &macros.bodies);
        let uses = |body: &Range<usize>| {
            let body = rust_source::without_nested_comments(text.get(body.clone()).unwrap_or_default());
            !rust_parts::uses(&lex_rust(&body).0.tokens).is_empty()
        };
        if !macros.bodies.iter().any(uses) {
            return Seen { parts, macros, ..Seen::default() };
        }
        let own = match file {
            Input::File(path) => Some(canonical(path)),
            Input::Stdin => None,
        };
        let mut seen = Seen { parts, macros, checked: self.names.values().cloned().collect(), ..Seen::default() };
        let around = own.as_deref().map(|own| self.crate_of(own));
        if let (Some(around), Some(own)) = (&around, &own) {
            seen.module = around.files.module_of(own).map(<[String]>::to_vec);
            seen.parts.place(seen.module.as_deref().unwrap_or_default(), |bytes| seen.macros.modules_around(bytes));
            for (_, module, bodies) in around.bodies.iter().filter(|(path, ..)| path != own) {
                for (body, inside) in &bodies.all {
                    let module = module.iter().chain(inside).cloned().collect();
                    seen.parts.add_body(&bodies.file, body, Some(module));
                }
            }
        }
        let in_crate = |path: &PathBuf| around.as_ref().is_some_and(|around| around.files.has(path));
        let others = self.given().iter().filter(|(path, _)| own.as_ref() != Some(path) && !in_crate(path));
        for (_, bodies) in others {
            bodies.all.iter().for_each(|(body, _)| seen.parts.add_body(&bodies.file, body, None));
        }
        seen
    }

    /// The macros of the files that are given.
    fn given(&self) -> &[(PathBuf, Bodies)] {
        self.given.get_or_init(|| {
            let read = |(path, name): (&PathBuf, &String)| {
                Some((path.clone(), Bodies::of(name.clone(), std::fs::read_to_string(path).ok()?)?))
            };
            self.names.iter().filter_map(read).collect()
        })
    }

    /// The crate of a file.
    fn crate_of(&self, file: &Path) -> Arc<WithParts> {
        let mut crates = self.crates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = crates.iter().find(|known| known.files.has(file)) {
            return known.clone();
        }
        let files = Crate::around(file);
        let bodies = files.files.iter().filter_map(|file| {
            let path = file.canonical.clone();
            let name = self.names.get(&path).cloned().unwrap_or_else(|| shown(&file.path));
            Some((path, file.module.clone(), Bodies::of(name, file.text.clone())?))
        });
        let new = Arc::new(WithParts { bodies: bodies.collect(), files });
        crates.push(new.clone());
        new
    }
}

/// The name of a file that was not given: relative to the current folder, if it is in it.
fn shown(path: &Path) -> String {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
