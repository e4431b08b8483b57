//! The table of programs and targets.

use std::fmt::Write;

use super::job::Outcome;

/// A line for each program; `-` where it was not compiled for a target.
pub fn render(targets: &[&str], outcomes: &[Outcome]) -> String {
    let mut names: Vec<&str> = outcomes.iter().map(|outcome| outcome.program.as_str()).collect();
    names.dedup();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let mut out = format!("{:width$}", "");
    for target in targets {
        let _ = write!(out, "  {target:>8}");
    }
    out.push('\n');
    for name in names {
        let _ = write!(out, "{name:width$}");
        for target in targets {
            let found = outcomes.iter().find(|outcome| outcome.program == name && outcome.target == *target);
            let _ = write!(out, "  {:>8}", found.map_or("-".to_owned(), Outcome::word));
        }
        out.push('\n');
    }
    out
}
