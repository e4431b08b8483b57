//! Disagreements that stay, with their reasons: `known.txt`.

use super::batch::{Case, Verdict};

const KNOWN: &str = include_str!("known.txt");

/// A line of the list.
pub struct Known {
    /// We accept what ptxas refuses.
    accept: bool,
    /// All of these are in the case.
    parts: Vec<&'static str>,
    /// None of these.
    without: Vec<&'static str>,
    /// Why.
    pub reason: &'static str,
}

/// The list.
pub fn list() -> Result<Vec<Known>, String> {
    let lines = KNOWN.lines().filter(|l| l.starts_with(['+', '-']));
    lines
        .map(|line| {
            let (pattern, reason) = line[1..].split_once(" # ").ok_or(format!("no reason: {line}"))?;
            let parts = pattern.split("  ").map(str::trim).filter(|p| !p.is_empty());
            let (without, parts): (Vec<_>, Vec<_>) = parts.partition(|p| p.starts_with('~'));
            let without = without.into_iter().map(|p| &p[1..]).collect();
            Ok(Known { accept: line.starts_with('+'), parts, without, reason })
        })
        .collect()
}

impl Known {
    /// Is this disagreement meant?
    pub fn is(&self, case: &Case, verdict: &Verdict) -> bool {
        let Some(message) = verdict.ours.as_ref().or(verdict.theirs.as_ref()) else { return false };
        let whole = || format!("{} {} {} {} ({message})", case.family, case.kind, case.target, case.text);
        if self.accept != verdict.ours.is_none() {
            return false;
        }
        let whole = whole();
        self.parts.iter().all(|p| whole.contains(p)) && !self.without.iter().any(|p| whole.contains(p))
    }
}
