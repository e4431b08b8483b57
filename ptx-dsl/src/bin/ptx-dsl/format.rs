//! `fmt`: rewrites files in the layout of `layout.rs`.

use clap::ArgMatches;
use ptx_dsl::build::rust_source;
use ptx_dsl_frontend::lex::lex_rust;

use crate::input::{Input, inputs, is_rust};
use crate::layout::{layout, layout_text};
use crate::rust_file::is_text_of_rust;

/// Formats the macros of a Rust file; `None` if it is not a Rust, or one of them cannot be formatted.
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
        let of_rust = std::str::from_utf8(&text).is_ok_and(|text| is_text_of_rust(&file, text)) || is_rust(&file);
        let new = if of_rust { rust(&text) } else { layout(&text) };
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

/// Formats the body of a macro in a Rust file, between its delimiters. `outer` is the indentation of the macro. What stands on the
/// lines of the delimiters stays there; a body of one line stays as it is.
fn layout_body(body: &str, outer: &str) -> Option<String> {
    let (Some((first, _)), Some((_, last))) = (body.split_once('\n'), body.rsplit_once('\n')) else {
        return Some(body.to_owned());
    };
    let alone = first.trim().is_empty();
    let indent = if alone { format!("{outer}    ") } else { outer.to_owned() };
    let laid_out = layout_text(body, &indent, lex_rust)?;
    let begin = if alone { "\n" } else { &body[..body.len() - body.trim_start().len()] };
    let text = if alone { &laid_out } else { laid_out.trim_start() };
    let end = match last.trim() {
        "" => format!("\n{outer}"),
        _ => last[last.trim_end().len()..].to_owned(),
    };
    Some(format!("{begin}{}{end}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::layout_body;
    use std::path::Path;

    #[test]
    fn formatting_a_body_again_changes_nothing() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("tests");
        let mut bodies = 0;
        for folder in ["ptx", "bugs", "diagnostics/clean"] {
            for file in std::fs::read_dir(tests.join(folder)).unwrap().flatten() {
                let Ok(text) = std::fs::read_to_string(file.path()) else { continue };
                for (begin, end) in [("\n", "\n"), (" ", " "), ("  \n\n\n", ""), ("", "\n\n   ")] {
                    let body = format!("{begin}{text}{end}");
                    let Some(once) = layout_body(&body, "  ") else { continue };
                    assert_eq!(layout_body(&once, "  "), Some(once), "{}", file.path().display());
                    bodies += 1;
                }
            }
        }
        assert!(bodies > 500, "{bodies}");
    }
}
