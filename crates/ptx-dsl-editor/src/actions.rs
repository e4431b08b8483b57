//! Edits that mend a finding. Each is tried before it is offered: the finding is gone after it, and there is no new error.

use crate::Document;
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use std::ops::Range;

/// An edit that mends a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// The bytes that it replaces.
    pub at: Range<usize>,
    /// What it writes there.
    pub text: String,
    /// The number of the finding that it mends.
    pub finding: usize,
}

/// The edits for the findings that touch these bytes.
pub fn fixes(document: &Document, within: Range<usize>) -> Vec<Fix> {
    let touches = |d: &Diagnostic| {
        let at = document.bytes(d.span);
        at.start <= within.end && within.start <= at.end
    };
    let found = document.diagnostics().iter().enumerate().filter(|(_, d)| touches(d));
    found.flat_map(|(number, d)| candidates(document, number, d)).filter(|fix| mends(document, fix)).collect()
}

/// How many findings are mended at once at most.
const MOST: usize = 100;

/// The text with the first edit of each finding that has one; `None` if there is none. Each edit is tried on what the ones before it left.
pub fn fix_all(document: &Document) -> Option<String> {
    let mut text: Option<String> = None;
    for _ in 0..MOST {
        let owned = text.as_ref().map(|text| Document::new(text.as_str()));
        let now = owned.as_ref().unwrap_or(document);
        let found = now.diagnostics().iter().enumerate();
        let fix = found.flat_map(|(number, d)| candidates(now, number, d)).find(|fix| mends(now, fix));
        let Some(fix) = fix else { break };
        let mut new = now.text().to_owned();
        new.replace_range(fix.at, &fix.text);
        text = Some(new);
    }
    text
}

/// The edits of a finding.
fn candidates(document: &Document, finding: usize, d: &Diagnostic) -> Vec<Fix> {
    let mut found: Vec<Fix> = Vec::new();
    for edit in &d.edits {
        let at = document.edited(edit);
        let title = match edit.text.as_str() {
            "" => format!("remove `{}`", document.at(at.clone()).lines().next().unwrap_or("")),
            text => format!("write `{text}`"),
        };
        found.push(Fix { title, at, text: edit.text.clone(), finding });
    }
    found.dedup_by(|a, b| (&a.at, &a.text) == (&b.at, &b.text));
    found
}

/// Is the finding gone after the edit, without a new error?
fn mends(document: &Document, fix: &Fix) -> bool {
    let mut text = document.text().to_owned();
    if text.get(fix.at.clone()).is_none_or(|old| old == fix.text) {
        return false;
    }
    text.replace_range(fix.at.clone(), &fix.text);
    let after = Document::new(text);
    let of = &document.diagnostics()[fix.finding];
    let same = |d: &&Diagnostic| d.code == of.code;
    let errors = |all: &[Diagnostic]| all.iter().filter(|d| d.severity == Severity::Error).count();
    let count = |all: &[Diagnostic]| all.iter().filter(same).count();
    let gone = usize::from(of.severity == Severity::Error);
    count(after.diagnostics()) < count(document.diagnostics())
        && errors(after.diagnostics()) + gone <= errors(document.diagnostics())
}
