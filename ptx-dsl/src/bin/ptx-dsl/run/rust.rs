//! The module of a Rust file that is to run, as it is printed.

use std::io::IsTerminal;

use ptx_dsl_frontend::levels;

use crate::findings::{Format, Request};
use crate::input::Input;
use crate::library::Library;
use crate::names;
use crate::rust_file;

/// The module of a Rust file that has this kernel, or the only one. What is wrong in the file is shown; `None` if that is an error.
///
/// # Errors
/// There is no such module, or there are several.
pub fn module(
    file: &Input,
    text: &str,
    (levels, entry): (&[(levels::Level, levels::Selector)], Option<&String>),
    json: bool,
) -> Result<Option<String>, String> {
    let name = file.name();
    let request = Request {
        target: None,
        version: None,
        levels: levels.to_vec(),
        format: if json { Format::Json } else { Format::Human },
        styled: std::io::stderr().is_terminal(),
        quiet: false,
        entry: None,
    };
    let library = Library::new(std::iter::once(file));
    let outcome = rust_file::outcome(file, text, &library, &request);
    if let Some(reason) = outcome.unreadable {
        return Err(reason);
    }
    if json {
        crate::write_out(&outcome.shown)
    } else {
        crate::write_err(&outcome.shown)
    }
    if outcome.errors > 0 {
        return Ok(None);
    }
    let has_kernel = |module: &&String| match entry {
        Some(asked) => names::has(module, asked),
        None => names::entries(module).next().is_some(),
    };
    let found: Vec<&String> = outcome.ptx.iter().filter(has_kernel).collect();
    if let [module] = found[..] {
        return Ok(Some(module.clone()));
    }
    if let Some(asked) = entry {
        return Err(format!("`{name}` has no kernel `{asked}` that can be printed{}", unprinted(&outcome)));
    }
    if found.is_empty() {
        return Err(format!("`{name}` has no kernel that can be printed{}", unprinted(&outcome)));
    }
    let kernels: Vec<&str> = found.into_iter().flat_map(|module| names::entries(module)).collect();
    Err(format!("there are several kernels; choose one with `--entry`: `{}`", kernels.join("`, `")))
}

/// Why kernels of a Rust file are not printed.
fn unprinted(outcome: &crate::findings::Outcome) -> &'static str {
    if outcome.closures > 0 {
        ": kernels in expression form have no name"
    } else if outcome.unprinted > 0 {
        ": only rustc knows the values of its constants"
    } else {
        ""
    }
}
