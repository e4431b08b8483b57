//! `fmt`: files written anew as `layout.rs` lays them out.

use clap::ArgMatches;

use crate::input::{Input, inputs};
use crate::layout::layout;

/// `ptx-dsl fmt`
pub fn run(matches: &ArgMatches) -> Result<bool, String> {
    let check = matches.get_flag("check");
    let mut good = true;
    for file in inputs(matches)? {
        let text = file.read()?;
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
            Input::Stdin => crate::write_out(&new),
            Input::File(path) if new != text => {
                std::fs::write(path, new).map_err(|e| format!("cannot write `{}`: {e}", file.name()))?;
            }
            Input::File(_) => {}
        }
    }
    Ok(good)
}
