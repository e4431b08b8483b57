//! `explain` and `isa`: print explanations of errors and entries of the table.

use std::fmt::Write;

use clap::ArgMatches;
use ptx_dsl_editor::{describe, entries_of};
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::table::FAMILIES;

/// `ptx-dsl explain PTX0207`
pub fn explain(matches: &ArgMatches) -> Result<bool, String> {
    let Some(asked) = matches.get_one::<String>("code") else {
        let mut out = String::new();
        for code in code::all() {
            let _ = writeln!(out, "{code}  {}", code.title);
        }
        crate::write_out(&out);
        return Ok(true);
    };
    let digits = asked.strip_prefix("PTX").or_else(|| asked.strip_prefix("ptx")).unwrap_or(asked);
    let Some(code) = digits.parse().ok().and_then(code::find) else {
        return Err(format!("`{asked}` is not an error code; `ptx-dsl explain` lists them"));
    };
    let mut out = format!("{code}: {}\n\n{}\n", code.title, code.text);
    if code.is_flow() || code.is_performance() {
        let _ = writeln!(out, "\nLevel: {}.", code.levels());
    }
    let indented =
        |text: &str| text.lines().map(|l| format!("    {l}").trim_end().to_string() + "\n").collect::<String>();
    for (what, module) in [("Wrong", code.wrong()), ("Right", code.right())] {
        let _ = write!(out, "\n{what}:\n\n{}", indented(&module));
    }
    crate::write_out(&out);
    Ok(true)
}

/// `ptx-dsl isa mbarrier.arrive_drop`
pub fn isa(matches: &ArgMatches) -> Result<bool, String> {
    let Some(opcode) = matches.get_one::<String>("opcode") else {
        let mut out = String::new();
        // A large family is several lists.
        for lists in FAMILIES.chunk_by(|a, b| a.0 == b.0) {
            let mut opcodes: Vec<&str> = lists.iter().flat_map(|l| l.1.iter().map(|i| i.opcode)).collect();
            opcodes.dedup();
            let _ = writeln!(out, "{}: {}", lists[0].0, opcodes.join(", "));
        }
        crate::write_out(&out);
        return Ok(true);
    };
    let found = entries_of(opcode);
    if found.is_empty() {
        let near = ptx_dsl_frontend::parse::nearest(
            opcode,
            &FAMILIES.iter().flat_map(|(_, list)| list.iter().map(|i| i.opcode)).collect::<Vec<_>>(),
        );
        let help = near.map_or("`ptx-dsl isa` lists them all".to_string(), |n| format!("did you mean `{n}`?"));
        return Err(format!("`{opcode}` is not an instruction: {help}"));
    }
    let out: Vec<String> = found.into_iter().map(describe).collect();
    crate::write_out(&out.join("\n"));
    Ok(true)
}
