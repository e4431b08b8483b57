//! `ptx-dsl`: PTX files on the command line. It checks, explains, describes instructions, formats and prints.

mod arguments;
mod check;
mod describe;
mod format;
mod input;
mod layout;
mod place;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = arguments::command().get_matches();
    let result = match matches.subcommand() {
        Some(("check", m)) => check::run(m),
        Some(("explain", m)) => describe::explain(m),
        Some(("isa", m)) => describe::isa(m),
        Some(("fmt", m)) => format::run(m),
        Some(("print", m)) => check::print(m),
        _ => Ok(true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output. A reader that went away is no error: `ptx-dsl isa mma | head`.
fn write_out(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// The same for standard error.
fn write_err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
