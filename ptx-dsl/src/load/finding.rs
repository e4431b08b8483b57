//! Findings in a text, with their places in lines and columns.

use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::span::Span;
use std::fmt;

/// A text has errors. `{:?}` prints the same report as `{}`, for a `main` or a test that returns it.
///
/// [Example](crate::load).
#[derive(Clone, PartialEq, Eq)]
pub struct TextError {
    /// Errors and warnings, in the order of the text.
    pub findings: Vec<Finding>,
}

/// One problem of a text.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// `PTX0207` is 207.
    pub code: u16,
    /// Or else a warning.
    pub is_error: bool,
    /// One sentence.
    pub message: String,
    /// What is wrong.
    pub place: Place,
    /// Other places, each with a few words.
    pub labels: Vec<(Place, String)>,
    /// The rule.
    pub notes: Vec<String>,
    /// Edits that compile.
    pub helps: Vec<String>,
}

/// A place in a text. Lines and columns count from 1; a column counts characters.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// Its line.
    pub line: usize,
    /// Its column.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column after the last character.
    pub end_column: usize,
    /// The line as written, without white space around it; at most 200 characters around the place.
    pub source: String,
}

/// Findings of the front end with their places.
/// `origin`: the file and the line of a line of the text.
pub(super) fn findings<'f>(
    text: &str,
    origin: &dyn Fn(usize) -> (&'f str, usize),
    lexed: &Lexed,
    found: Vec<Diagnostic>,
) -> Vec<Finding> {
    if found.is_empty() {
        return Vec::new();
    }
    let lines = Lines::new(text);
    let place = |span| place(&lines, origin, lexed, span);
    let finding = |d: Diagnostic| Finding {
        code: d.code.number,
        is_error: d.severity == Severity::Error,
        place: place(d.span),
        labels: d.labels.into_iter().map(|(span, text)| (place(span), text)).collect(),
        message: d.message,
        notes: d.notes,
        helps: d.helps,
    };
    found.into_iter().map(finding).collect()
}

/// The most bytes of a line that are kept on each side of a place.
const AROUND: usize = 100;

fn place<'f>(lines: &Lines<'_>, origin: &dyn Fn(usize) -> (&'f str, usize), lexed: &Lexed, span: Span) -> Place {
    let bytes = lexed.bytes(span);
    let (line, column) = lines.line_column(bytes.start);
    let (end_line, end_column) = lines.line_column(bytes.end);
    let whole = lines.text(line - 1);
    let behind = whole.char_indices().nth(column - 1).map_or(whole.len(), |(at, _)| at);
    let (first, last) = (behind.saturating_sub(AROUND), whole.len().min(behind + AROUND));
    let source = whole.get(floor(whole, first)..floor(whole, last)).unwrap_or_default().trim().to_owned();
    let ((file, line), (_, end_line)) = (origin(line), origin(end_line));
    Place { file: file.to_owned(), line, column, end_line, end_column, source }
}

/// The beginning of the character that this byte is in.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error { "error" } else { "warning" };
        write!(f, "{severity}[PTX{:04}]: {}", self.code, self.message)?;
        write!(f, "\n  --> {}\n   | {}", self.place, self.place.source)?;
        for (place, text) in &self.labels {
            write!(f, "\n  ::: {place}: {text}\n   | {}", place.source)?;
        }
        for note in &self.notes {
            write!(f, "\n   = note: {note}")?;
        }
        for help in &self.helps {
            write!(f, "\n   = help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.findings.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "\n\n" })?;
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TextError {}
