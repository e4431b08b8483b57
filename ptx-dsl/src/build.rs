//! For build scripts (feature `build`): kernels as .ptx files and C headers, for nvcc, ptxas and programs that use the CUDA driver.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), ptx_dsl::build::Error> {
//!     let out = std::env::var("OUT_DIR").unwrap();
//!     ptx_dsl::build::Kernels::new().file("src/kernels.rs").file("kernels/saxpy.ptx").write(out)?;
//!     Ok(())
//! }
//! ```
//!
//! From a Rust file it takes all `ptx!` in item form. It leaves out those in expression form, which have no name, and those in a
//! `macro_rules!`. `kernels.rs` with one module gives `kernels.ptx`, with several `kernels_1.ptx` and so on; both give `kernels.h`.
//!
//! A build script runs before rustc, so a constant whose value only rustc knows, and a const parameter without a list, are errors (PTX0156).
//! Declare the constant with its number, `const TILE: u32 = 64;`, compare it with `const _: () = assert!(crate::TILE == 64);`
//! beside the `ptx!`, and list the values of the parameter. Or let a program that is built with the kernels write `kernel::<64>::PTX`.
//!
//! # The header
//!
//! It needs C11 or C++11, and no CUDA headers. For each module it has the text, `kernels_ptx`, and for each of its kernels, here
//! `scale` with the parameters `x` and `factor`:
//!
//! ```c
//! #define scale_NAME "scale"
//! #define scale_BLOCK_X 256                  /* .reqntid; also _Y and _Z */
//! struct scale_params {
//!     PTX_DSL_ALIGN(8) uint64_t x;
//!     PTX_DSL_ALIGN(4) float factor;
//! };
//! #define scale_PARAMS_SIZE 12               /* in bytes */
//! ```
//!
//! A `scale_params` can be passed to `cuLaunchKernel` as `CU_LAUNCH_PARAM_BUFFER_POINTER`. `.maxntid` is `scale_MAX_THREADS`,
//! `.minnctapersm` is `scale_MIN_CTAS`, and `.reqnctapercluster` is `scale_CLUSTER_X`.

#[doc(hidden)]
pub mod crate_files;
#[cfg(feature = "cuda")]
mod cubins;
mod header;
#[doc(hidden)]
pub mod rust_parts;
#[doc(hidden)]
pub mod rust_source;

use rust_parts::NotFound;

use crate::load::{Level, Module, Options, Selector, TextError};
use std::error::Error as _;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// Files with kernels.
///
/// [Example](crate::build).
#[derive(Debug, Clone, Default)]
pub struct Kernels {
    files: Vec<PathBuf>,
    levels: Vec<(Level, Selector)>,
    entries: bool,
    #[cfg(feature = "cuda")]
    cubins: Vec<String>,
    parts: Vec<PathBuf>,
}

/// The kernels cannot be written. `{:?}` prints the message with its cause, for a `main` that returns it.
///
/// [Example](crate::build).
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    File(PathBuf, std::io::Error),
    /// A Rust file has a syntax error.
    NoRust(PathBuf, String),
    /// A file has no module that could be written.
    NoModule(PathBuf),
    /// Two files would be written to the same path.
    SameName(PathBuf, PathBuf),
    /// A module of this file uses a part of this name, which is in another file that was not named.
    NoPart(PathBuf, String),
    /// A module of this file uses a part of this name, which is defined several times.
    SeveralParts(PathBuf, String),
    /// A module has errors.
    Text(TextError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(path, _) => write!(f, "cannot read or write `{}`", path.display()),
            Error::NoRust(path, reason) => write!(f, "`{}`: {reason}", path.display()),
            Error::NoModule(path) => write!(f, "`{}` has no `ptx!` in item form", path.display()),
            Error::SameName(a, b) => {
                write!(f, "`{}` and `{}` would be written to the same file; rename one", a.display(), b.display())
            }
            Error::NoPart(path, name) => {
                write!(
                    f,
                    "`{}` uses the part `{name}` of another file; name that with `Kernels::parts`",
                    path.display()
                )
            }
            Error::SeveralParts(path, name) => {
                write!(
                    f,
                    "`{}` uses the part `{name}`, which is defined several times; name one file that has it",
                    path.display()
                )
            }
            Error::Text(e) => e.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        self.source().map_or(Ok(()), |cause| write!(f, ": {cause}"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File(_, e) => Some(e),
            _ => None,
        }
    }
}

impl Kernels {
    /// No files.
    pub fn new() -> Self {
        Kernels::default()
    }

    /// Adds a PTX file, or a Rust file (.rs) with `ptx!`. The path is relative to the current directory, which for a build script is that
    /// of the package.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Adds a Rust file, of this package or another, with parts that modules use (`use crate::parts::ring;`). A part is found by the last
    /// name of its path, first in the file of the module and then in these files.
    ///
    /// ```no_run
    /// # let out = "";
    /// ptx_dsl::build::Kernels::new().parts("src/parts.rs").file("src/kernels.rs").write(out)?;
    /// # Ok::<(), ptx_dsl::build::Error>(())
    /// ```
    pub fn parts(mut self, path: impl Into<PathBuf>) -> Self {
        self.parts.push(path.into());
        self
    }

    /// Also writes each kernel as a module of its own, with what it needs: `kernels.scale.ptx`, and in the header `scale_ENTRY_ptx`.
    pub fn entries(mut self) -> Self {
        self.entries = true;
        self
    }

    /// Also writes machine code for these targets, such as `sm_90a`, if there is a ptxas: that of the environment variable `PTXAS`, or in
    /// the path. `cubins.rs` in the folder lists it for `Gpu::with_cubins`; without ptxas the list is empty, a warning says so, and the
    /// driver compiles the kernels. A target that a module is not for is left out with a warning.
    ///
    /// ```no_run
    /// # let out = "";
    /// ptx_dsl::build::Kernels::new().file("src/kernels.rs").cubins(["sm_80", "sm_90a"]).write(out)?;
    /// // in the program: static CUBINS: &[Cubin] = &include!(concat!(env!("OUT_DIR"), "/cubins.rs"));
    /// # Ok::<(), ptx_dsl::build::Error>(())
    /// ```
    #[cfg(feature = "cuda")]
    pub fn cubins<T: Into<String>>(mut self, targets: impl IntoIterator<Item = T>) -> Self {
        self.cubins.extend(targets.into_iter().map(Into::into));
        self
    }

    /// Sets the level of findings, as [`Options::level`] does.
    pub fn level(mut self, level: Level, of: Selector) -> Self {
        self.levels.push((level, of));
        self
    }

    /// Writes `.ptx` files and headers to a folder, and returns their paths. It tells cargo to run the build script again when a file
    /// changes (`cargo::rerun-if-changed`), and prints warnings through it.
    ///
    /// # Errors
    /// See [`Error`]. If there is one, files may have been written already.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
        let folder = folder.as_ref();
        let mut written = Vec::new();
        for file in &self.parts {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        for (i, file) in self.files.iter().enumerate() {
            println!("cargo::rerun-if-changed={}", file.display());
            if let Some(other) = self.files[..i].iter().find(|f| f.file_stem() == file.file_stem()) {
                return Err(Error::SameName(other.clone(), file.clone()));
            }
            let modules = self.modules(file)?;
            let stem = file.file_stem().unwrap_or(OsStr::new("kernels")).to_string_lossy();
            let mut named = Vec::new();
            for (i, module) in modules.iter().enumerate() {
                let name = if modules.len() == 1 { stem.to_string() } else { format!("{stem}_{}", i + 1) };
                written.push(write(folder.join(format!("{name}.ptx")), module.ptx())?);
                for kernel in module.kernels().iter().filter(|_| self.entries) {
                    written.push(write(folder.join(format!("{name}.{}.ptx", kernel.name())), kernel.ptx())?);
                }
                named.push((name, module));
            }
            let header = header::header(&stem, &file.display().to_string(), (&named, self.entries));
            written.push(write(folder.join(format!("{stem}.h")), &header)?);
        }
        #[cfg(feature = "cuda")]
        if !self.cubins.is_empty() {
            cubins::write(folder, &self.cubins, &mut written)?;
        }
        Ok(written)
    }

    /// The modules of a file.
    fn modules(&self, file: &Path) -> Result<Vec<Module>, Error> {
        let text = std::fs::read_to_string(file).map_err(|e| Error::File(file.to_owned(), e))?;
        let texts = if rust_source::is_rust(file) {
            let bodies = rust_source::bodies(&text).map_err(|reason| Error::NoRust(file.to_owned(), reason))?;
            let mut parts = rust_parts::Parts::of(&text, &bodies);
            for other in self.parts.iter().filter(|other| *other != file) {
                let text = std::fs::read_to_string(other).map_err(|e| Error::File(other.clone(), e))?;
                let bodies = rust_source::bodies(&text).map_err(|reason| Error::NoRust(other.clone(), reason))?;
                parts.add(&other.display().to_string(), &text, &bodies);
            }
            let mut texts = Vec::new();
            for body in bodies {
                let part = |not_found| match not_found {
                    NotFound::No(name) => Error::NoPart(file.to_owned(), name),
                    NotFound::Several(name) => Error::SeveralParts(file.to_owned(), name),
                };
                let name = file.display().to_string();
                texts.extend(rust_source::module((&name, &text), body, &parts).map_err(part)?);
            }
            texts
        } else {
            vec![(text, Vec::new())]
        };
        let mut options = Options::new().name(file.display().to_string());
        if rust_source::is_rust(file) {
            options = options.of_rust();
        }
        for (level, of) in &self.levels {
            options = options.level(*level, *of);
        }
        let mut modules = Vec::new();
        for (text, moved) in texts {
            let module = options.clone().moved(moved).parse(&text).map_err(Error::Text)?;
            for warning in module.warnings() {
                println!("cargo::warning=[PTX{:04}] {}: {}", warning.code, warning.place, warning.message);
            }
            modules.push(module);
        }
        if modules.is_empty() { Err(Error::NoModule(file.to_owned())) } else { Ok(modules) }
    }
}

fn write(path: PathBuf, text: &str) -> Result<PathBuf, Error> {
    match std::fs::write(&path, text) {
        Ok(()) => Ok(path),
        Err(e) => Err(Error::File(path, e)),
    }
}
