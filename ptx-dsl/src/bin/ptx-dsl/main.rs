//! `ptx-dsl`: the command line. Checks, runs, explains, formats and prints PTX files, and describes instructions.

mod arguments;
mod check;
mod completions;
mod describe;
mod doctor;
mod findings;
mod folders;
mod format;
mod input;
mod language_server;
mod layout;
mod library;
mod names;
mod resources;
mod run;
mod rust_file;
mod rust_types;
mod sarif;
mod shown;
mod unchecked;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> ExitCode {
    let matches = arguments::command().get_matches();
    let result = match matches.subcommand() {
        Some(("check", m)) => check::run(m).map(status),
        Some(("profile", m)) if m.contains_id("diff") => {
            run::profile::diff(&m.get_many("diff").into_iter().flatten().collect::<Vec<_>>())
        }
        Some(("run" | "profile", m)) => run::run(m),
        #[cfg(feature = "debug")]
        Some(("debug", m)) => run::debug::run(m),
        Some(("resources", m)) => resources::run(m),
        Some(("completions", m)) => Ok(completions::completions(m)),
        Some(("man", m)) => completions::man(m).map(|()| 0),
        Some(("doctor", _)) => Ok(doctor::run()),
        Some(("explain", m)) => describe::explain(m).map(status),
        Some(("isa", m)) => describe::isa(m).map(status),
        Some(("fmt", m)) => format::run(m).map(status),
        Some(("print", m)) => check::print(m).map(status),
        Some(("layout", m)) => check::layout(m).map(status),
        Some(("lsp", _)) => language_server::run().map(|()| 0),
        _ => Ok(0),
    };
    let code = match result {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            write_err(&format!("error: {message}\n"));
            ExitCode::from(2)
        }
    };
    if LOST.load(Ordering::Relaxed) { ExitCode::from(2) } else { code }
}

/// 0 if all is well.
fn status(good: bool) -> u8 {
    u8::from(!good)
}

/// Output could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. A closed pipe is not an error: `ptx-dsl isa mma | head`.
fn write_out(text: &str) {
    write_bytes(text.as_bytes());
}

/// The same for text in any encoding.
fn write_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if let Err(e) = out.write_all(bytes).and_then(|()| out.flush())
        && e.kind() != ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        write_err(&format!("error: cannot write to standard output: {e}\n"));
    }
}

/// The same for messages on standard error, with names of C++. Failure cannot be reported.
fn write_err(text: &str) {
    let _ = std::io::stderr().lock().write_all(names::in_message(text).as_bytes());
}
