//! `fmt`: rewrites files in the layout of `layout.rs`.

use clap::ArgMatches;

use crate::input::{Input, inputs};
use crate::layout::layout;

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
        let Some(new) = layout(&text) else {
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
