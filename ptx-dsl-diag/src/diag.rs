//! Diagnostics as data. What they say is made in `errors`; how they are drawn is the business of whoever shows them.

use crate::span::Span;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The kernel is accepted, but look here.
    Warning,
    /// The kernel is refused.
    Error,
}

/// In the order of the source; of one code at one place an error comes before a warning. They are few, and mostly in order.
pub fn sort(found: &mut [Diagnostic]) {
    for sorted in 1..found.len() {
        let mut i = sorted;
        while i > 0 && found[i].is_before(&found[i - 1]) {
            found.swap(i, i - 1);
            i -= 1;
        }
    }
}

/// One finding, in rustc's voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// `PTX0207` is 207.
    pub code: u16,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence, lower case, PTX in backticks.
    pub message: String,
    /// The offending token or tokens, nothing more.
    pub span: Span,
    /// Other places that matter, each with a few words.
    pub labels: Vec<(Span, String)>,
    /// The rule, with its section.
    pub notes: Vec<String>,
    /// Edits that compile.
    pub helps: Vec<String>,
}

impl Diagnostic {
    fn is_before(&self, other: &Diagnostic) -> bool {
        let place = |d: &Diagnostic| [d.span.first, d.span.last, u32::from(d.code)];
        let (a, b) = (place(self), place(other));
        a < b || a == b && self.severity > other.severity
    }

    /// An error without notes yet.
    pub fn error(code: u16, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// A warning without notes yet. Its code belongs into `levels::LINTS`, unless it is of 06xx.
    pub fn warning(code: u16, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Adds a `note:`.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a `help:`.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }
}
