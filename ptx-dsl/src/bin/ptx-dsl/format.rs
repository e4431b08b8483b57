//! `fmt`: rewrites files in the layout of `layout.rs`.

use clap::ArgMatches;
use ptx_dsl::build::rust_source;

use crate::input::{Input, inputs, is_rust};
use crate::layout::{layout, layout_body};

/// Formats the macros of a Rust file; `None` if it is no Rust, or one of them cannot be formatted.
fn rust(file: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(file).ok()?;
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for body in rust_source::bodies(text).ok()? {
        let before = text.get(at..body.start)?;
        out.push_str(before);
        let line = text.get(..body.start)?.rsplit('\n').next()?;
        let outer = &line[..line.len() - line.trim_start().len()];
        out.push_str(&layout_body(text.get(body.clone())?, outer)?);
        at = body.end;
    }
    out.push_str(text.get(at..)?);
    Some(out.into_bytes())
}

/// `ptx-dsl fmt`
pub fn run(matches: &ArgMatches) -> Result<bool, String> {
    let check = matches.get_flag("check");
    let (mut good, mut readable) = (true, true);
    for file in inputs(matches)? {
        let text = match file.bytes() {
            Ok(text) => text,
            Err(reason) => {
                crate::write_err(&format!("error: {reason}\n"));
                readable = false;
                continue;
            }
        };
        let new = if is_rust(&file) { rust(&text) } else { layout(&text) };
        let Some(new) = new else {
            crate::write_err(&format!("error: `{}` is not formatted: `ptx-dsl check` says why\n", file.name()));
            good = false;
            continue;
        };
        match &file {
            _ if check => {
                if new != text {
                    good = false;
                    crate::write_out(&format!("{}\n", file.name()));
                }
            }
            Input::Stdin => crate::write_bytes(&new),
            Input::File(path) if new != text => {
                if let Err(e) = std::fs::write(path, new) {
                    crate::write_err(&format!("error: cannot write `{}`: {e}\n", file.name()));
                    readable = false;
                }
            }
            Input::File(_) => {}
        }
    }
    if readable { Ok(good) } else { Err("not every file could be read and written".into()) }
}
