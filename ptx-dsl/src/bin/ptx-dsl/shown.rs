//! How findings are shown: for people with the source, as JSON for programs.

use std::fmt::Write;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::edit::Edit;
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::lines::Lines;

use crate::sarif;

/// Longer sources are shown in part: the renderer's time is proportional to them.
const LONGEST: usize = 4_000;

/// A file, and those with the parts that its modules use. The bytes of all files are numbered one after the other.
pub struct Sources<'t> {
    files: Vec<Source<'t>>,
}

/// A file.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
    /// The number of its first byte.
    start: usize,
}

impl<'t> Sources<'t> {
    /// The file itself.
    pub fn new(name: &'t str, text: &'t str) -> Self {
        Sources { files: vec![Source { name, text, start: 0 }] }
    }

    /// Adds another file, unless it is there. Returns the number of its first byte.
    pub fn add(&mut self, name: &'t str, text: &'t str) -> usize {
        if let Some(known) = self.files.iter().skip(1).find(|file| std::ptr::eq(file.text, text)) {
            return known.start;
        }
        let start = self.files.last().map_or(0, |last| last.start + last.text.len() + 1);
        self.files.push(Source { name, text, start });
        start
    }

    /// Is this byte in a file other than the first one? Its name.
    pub fn other(&self, byte: usize) -> Option<&'t str> {
        let at = self.at(byte);
        (at > 0).then(|| self.files[at].name)
    }

    /// The text of these bytes.
    pub fn text(&self, bytes: Range<usize>) -> &'t str {
        let file = &self.files[self.at(bytes.start)];
        file.text.get(bytes.start - file.start..bytes.end.max(bytes.start) - file.start).unwrap_or_default()
    }

    /// The file that has this byte.
    fn at(&self, byte: usize) -> usize {
        self.files.partition_point(|file| file.start <= byte).saturating_sub(1)
    }
}

/// The sources that diagnostics are rendered with.
pub struct Shown<'t> {
    lexed: &'t Lexed,
    files: Vec<Listed<'t>>,
}

/// A file with its lines.
struct Listed<'t> {
    name: &'t str,
    text: &'t str,
    start: usize,
    lines: Lines<'t>,
}

impl Listed<'_> {
    /// The lines from the first to the last of these bytes: the renderer looks at all of its source for each diagnostic.
    fn excerpt(&self, spans: &[&Range<usize>]) -> Range<usize> {
        let start = spans.iter().map(|s| s.start).min().unwrap_or(0);
        let end = spans.iter().map(|s| s.end).max().unwrap_or(0);
        self.lines.around(start..end)
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
}

/// Some bytes of a file.
struct Bytes<'s, 't> {
    file: &'s Listed<'t>,
    range: Range<usize>,
}

impl<'t> Shown<'t> {
    /// Tokens of these sources.
    pub fn new(sources: &Sources<'t>, lexed: &'t Lexed) -> Self {
        let listed = |file: &Source<'t>| Listed {
            name: file.name,
            text: file.text,
            start: file.start,
            lines: Lines::new(file.text),
        };
        Shown { lexed, files: sources.files.iter().map(listed).collect() }
    }

    /// Adds a finding with its source.
    pub fn human(&self, d: &Diagnostic, renderer: &Renderer, out: &mut String) {
        let level = match d.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let primary = self.bytes(d.span);
        let file = primary.file;
        let (own, other): (Vec<_>, Vec<_>) =
            d.labels.iter().map(|(s, t)| (self.bytes(*s), t.as_str())).partition(|(s, _)| s.file.start == file.start);
        let near = |s: &Bytes| {
            file.lines.line(s.range.start).abs_diff(file.lines.line(primary.range.start)) <= 200
                && file.excerpt(&[&s.range, &primary.range]).len() <= LONGEST
        };
        let (close, far): (Vec<_>, Vec<_>) = own.into_iter().partition(|(s, _)| near(s));
        let mut spans: Vec<&Range<usize>> = close.iter().map(|(s, _)| &s.range).collect();
        spans.push(&primary.range);
        let first = file.excerpt(&spans);
        let code = d.code.to_string();
        let mut group = Group::with_title(level.primary_title(&d.message).id(&code));
        let marks = close.iter().map(|(s, text)| (AnnotationKind::Context, &s.range, *text));
        let marks = std::iter::once((AnnotationKind::Primary, &primary.range, "")).chain(marks);
        group = group.elements(file.snippet(first, marks));
        for (s, text) in far.iter().chain(&other) {
            let mark = std::iter::once((AnnotationKind::Context, &s.range, *text));
            group = group.elements(s.file.snippet(s.file.excerpt(&[&s.range]), mark));
        }
        group = group.elements(d.notes.iter().map(|n| Level::NOTE.message(n)));
        group = group.elements(d.helps.iter().map(|h| Level::HELP.message(h)));
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
    }

    /// Adds a finding as an object on a line.
    pub fn json(&self, d: &Diagnostic, out: &mut String) {
        let Bytes { file, range } = self.bytes(d.span);
        let (line, column) = file.lines.line_column(range.start);
        let (end_line, end_column) = file.lines.line_column(range.end);
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = write!(out, "{{\"file\":{},\"line\":{line},\"column\":{column}", quoted(file.name));
        let _ = write!(out, ",\"end_line\":{end_line},\"end_column\":{end_column},\"code\":\"{}\"", d.code);
        let _ = write!(out, ",\"class\":\"{}\",\"severity\":\"{severity}\"", d.class.name());
        let _ = write!(out, ",\"message\":{}", quoted(&d.message));
        let labels: Vec<String> = d
            .labels
            .iter()
            .map(|(span, text)| {
                let Bytes { file: other, range } = self.bytes(*span);
                let (line, column) = other.lines.line_column(range.start);
                let elsewhere = match other.start == file.start {
                    true => String::new(),
                    false => format!("\"file\":{},", quoted(other.name)),
                };
                format!("{{{elsewhere}\"line\":{line},\"column\":{column},\"text\":{}}}", quoted(text))
            })
            .collect();
        let strings = |list: &[String]| list.iter().map(|s| quoted(s)).collect::<Vec<_>>().join(",");
        let (notes, help) = (strings(&d.notes), strings(&d.helps));
        let _ = write!(out, ",\"labels\":[{}],\"notes\":[{notes}],\"help\":[{help}]", labels.join(","));
        let edits: Vec<String> = self.edits(d).iter().map(|(place, text)| place.edit(text)).collect();
        let _ = writeln!(out, ",\"edits\":[{}]}}", edits.join(","));
    }

    /// Adds a finding as a result of SARIF, on a line.
    pub fn sarif(&self, d: &Diagnostic, out: &mut String) {
        let place = |Bytes { file, range }: Bytes<'_, '_>| {
            let [start, end] = [range.start, range.end].map(|byte| file.lines.line_column(byte));
            sarif::Place { file: file.name.to_owned(), start, end }
        };
        let others = d.labels.iter().map(|(span, text)| (place(self.bytes(*span)), text.as_str()));
        out.push_str(&sarif::result(d, &place(self.bytes(d.span)), others, &self.edits(d)));
        out.push('\n');
    }

    /// The edits of a finding: what each replaces, and its text.
    fn edits<'d>(&self, d: &'d Diagnostic) -> Vec<(sarif::Place, &'d str)> {
        let edit = |edit: &'d Edit| {
            let start = self.lexed.bytes(edit.span).start;
            let file = self.file_at(start);
            let at = self.lexed.edited_in(file.text, file.start, edit);
            let [start, end] = [at.start, at.end].map(|byte| file.lines.line_column(byte));
            (sarif::Place { file: file.name.to_owned(), start, end }, edit.text.as_str())
        };
        d.edits.iter().map(edit).collect()
    }

    /// The file of a byte.
    fn file_at(&self, byte: usize) -> &Listed<'t> {
        &self.files[self.files.partition_point(|file| file.start <= byte).saturating_sub(1)]
    }

    /// The bytes of a span; not empty if there is a character to point at.
    fn bytes(&self, span: ptx_dsl_frontend::span::Span) -> Bytes<'_, 't> {
        let range = self.lexed.bytes(span);
        let file = self.file_at(range.start);
        let length = file.text.len();
        let [start, end] = [range.start, range.end].map(|byte| byte.saturating_sub(file.start));
        Bytes { file, range: start.min(length)..end.clamp(start, length.max(start)) }
    }
}

/// A JSON string.
pub fn quoted(text: &str) -> String {
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
