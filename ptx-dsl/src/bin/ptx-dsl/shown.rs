//! How findings are shown: for people with the source, as JSON for programs.

use std::fmt::Write;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::lines::Lines;

/// Longer sources are shown in part: the renderer's time is proportional to them.
const LONGEST: usize = 4_000;

/// The source that a diagnostic is rendered with.
pub struct Shown<'t> {
    pub text: &'t str,
    pub lexed: &'t Lexed,
    pub lines: &'t Lines<'t>,
    pub name: &'t str,
}

impl Shown<'_> {
    /// Adds a finding with its source.
    pub fn human(&self, d: &Diagnostic, renderer: &Renderer, out: &mut String) {
        let level = match d.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let primary = self.bytes(d.span);
        let labels: Vec<(Range<usize>, &str)> = d.labels.iter().map(|(s, t)| (self.bytes(*s), t.as_str())).collect();
        // Only the lines that are shown are handed over: the renderer looks at all of its source for each diagnostic.
        let excerpt = |spans: &[&Range<usize>]| {
            let start = spans.iter().map(|s| s.start).min().unwrap_or(0);
            let end = spans.iter().map(|s| s.end).max().unwrap_or(0);
            self.lines.around(start..end)
        };
        let near = |s: &Range<usize>| {
            self.lines.line(s.start).abs_diff(self.lines.line(primary.start)) <= 200
                && excerpt(&[s, &primary]).len() <= LONGEST
        };
        let (close, far): (Vec<_>, Vec<_>) = labels.into_iter().partition(|(s, _)| near(s));
        let mut spans: Vec<&Range<usize>> = close.iter().map(|(s, _)| s).collect();
        spans.push(&primary);
        let first = excerpt(&spans);
        let code = format!("PTX{:04}", d.code);
        let mut group = Group::with_title(level.primary_title(&d.message).id(&code));
        let marks = close.iter().map(|(span, text)| (AnnotationKind::Context, span, *text));
        for element in self.snippet(first, std::iter::once((AnnotationKind::Primary, &primary, "")).chain(marks)) {
            group = group.element(element);
        }
        for (span, text) in &far {
            for element in self.snippet(excerpt(&[span]), std::iter::once((AnnotationKind::Context, span, *text))) {
                group = group.element(element);
            }
        }
        group = group.elements(d.notes.iter().map(|n| Level::NOTE.message(n)));
        group = group.elements(d.helps.iter().map(|h| Level::HELP.message(h)));
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
    }

    /// The lines `shown` with marks on them; of a long line only the part around the first mark.
    fn snippet<'a>(
        &'a self,
        shown: Range<usize>,
        marks: impl Iterator<Item = (AnnotationKind, &'a Range<usize>, &'a str)>,
    ) -> Vec<Element<'a>> {
        let mut marks = marks.peekable();
        let first = marks.peek().map_or(0..0, |m| m.1.clone());
        let (line, column) = self.lines.line_column(first.start);
        let cut = shown.len() > LONGEST;
        let shown = if cut {
            self.lines.part(first.start.saturating_sub(60)..first.end.min(first.start + 60) + 60, shown)
        } else {
            shown
        };
        let within = |s: &Range<usize>| {
            s.start.clamp(shown.start, shown.end) - shown.start..s.end.clamp(shown.start, shown.end) - shown.start
        };
        let source = self.text.get(shown.clone()).unwrap_or("");
        let mut snippet = Snippet::source(source).line_start(self.lines.line(shown.start) + 1);
        if !cut {
            snippet = snippet.path(self.name);
        }
        for (kind, span, text) in marks {
            let mark = kind.span(within(span));
            snippet = snippet.annotation(if text.is_empty() { mark } else { mark.label(text) });
        }
        if !cut {
            return vec![snippet.into()];
        }
        // The columns of a part are not those of the line.
        vec![Origin::path(self.name).line(line).char_column(column).into(), snippet.into()]
    }

    /// Adds a finding as an object on a line.
    pub fn json(&self, d: &Diagnostic, out: &mut String) {
        let bytes = self.bytes(d.span);
        let (line, column) = self.lines.line_column(bytes.start);
        let (end_line, end_column) = self.lines.line_column(bytes.end);
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = write!(out, "{{\"file\":{},\"line\":{line},\"column\":{column}", quoted(self.name));
        let _ = write!(out, ",\"end_line\":{end_line},\"end_column\":{end_column},\"code\":\"PTX{:04}\"", d.code);
        let _ = write!(out, ",\"class\":\"{}\",\"severity\":\"{severity}\"", d.class.name());
        let _ = write!(out, ",\"message\":{}", quoted(&d.message));
        let labels: Vec<String> = d
            .labels
            .iter()
            .map(|(span, text)| {
                let (line, column) = self.lines.line_column(self.bytes(*span).start);
                format!("{{\"line\":{line},\"column\":{column},\"text\":{}}}", quoted(text))
            })
            .collect();
        let strings = |list: &[String]| list.iter().map(|s| quoted(s)).collect::<Vec<_>>().join(",");
        let (notes, help) = (strings(&d.notes), strings(&d.helps));
        let _ = writeln!(out, ",\"labels\":[{}],\"notes\":[{notes}],\"help\":[{help}]}}", labels.join(","));
    }

    /// The bytes of a span; not empty if there is a character to point at.
    fn bytes(&self, span: ptx_dsl_frontend::span::Span) -> Range<usize> {
        let range = self.lexed.bytes(span);
        range.start.min(self.text.len())..range.end.clamp(range.start, self.text.len().max(range.start))
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
