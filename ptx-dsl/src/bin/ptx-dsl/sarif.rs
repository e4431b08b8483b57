//! Findings as a document of SARIF 2.1.0, which code scanning of GitHub and other services show.

use std::collections::BTreeMap;
use std::fmt::Write;

use ptx_dsl_frontend::code::Code;
use ptx_dsl_frontend::diag::{Diagnostic, Severity};

use crate::findings::Outcome;
use crate::shown::quoted;

/// The page that explains a code: its heading is the code and its title.
const INDEX: &str = "https://github.com/ptx-dsl/ptx-dsl/blob/main/docs/reference/error-index.md";

/// A range of a file.
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The line and the column of the first character, from 1.
    pub start: (usize, usize),
    /// The line and the column after the last character.
    pub end: (usize, usize),
}

impl Place {
    /// The file, as an object of SARIF.
    fn artifact(&self) -> String {
        format!("{{\"uri\":{}}}", quoted(&uri(&self.file)))
    }

    /// The lines and columns, as an object of SARIF.
    fn region(&self) -> String {
        let ((line, column), (end_line, end_column)) = (self.start, self.end);
        format!("{{\"startLine\":{line},\"startColumn\":{column},\"endLine\":{end_line},\"endColumn\":{end_column}}}")
    }

    /// The member `physicalLocation`.
    fn text(&self) -> String {
        format!("\"physicalLocation\":{{\"artifactLocation\":{},\"region\":{}}}", self.artifact(), self.region())
    }

    /// An object of `fixes`, which writes a text here.
    fn fix(&self, text: &str) -> String {
        format!(
            "{{\"artifactChanges\":[{{\"artifactLocation\":{},\"replacements\":[{{\"deletedRegion\":{},\
             \"insertedContent\":{{\"text\":{}}}}}]}}]}}",
            self.artifact(),
            self.region(),
            quoted(text)
        )
    }

    /// An object of `edits` in the JSON of findings, which writes a text here.
    pub fn edit(&self, text: &str) -> String {
        let ((line, column), (end_line, end_column)) = (self.start, self.end);
        format!(
            "{{\"line\":{line},\"column\":{column},\"end_line\":{end_line},\"end_column\":{end_column},\"text\":{}}}",
            quoted(text)
        )
    }
}

/// A finding as an object of `results`. `edits`: what each of its edits replaces, and the text.
pub fn result<'t>(
    d: &Diagnostic,
    place: &Place,
    others: impl Iterator<Item = (Place, &'t str)>,
    edits: &[(Place, &str)],
) -> String {
    let level = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let notes = d.notes.iter().map(|note| format!("\nnote: {note}"));
    let helps = d.helps.iter().map(|help| format!("\nhelp: {help}"));
    let message: String = std::iter::once(d.message.clone()).chain(notes).chain(helps).collect();
    let mut out = format!(
        "{{\"ruleId\":\"{}\",\"level\":\"{level}\",\"message\":{{\"text\":{}}},\"locations\":[{{{}}}]",
        d.code,
        quoted(&message),
        place.text()
    );
    let others: Vec<String> =
        others.map(|(place, text)| format!("{{{},\"message\":{{\"text\":{}}}}}", place.text(), quoted(text))).collect();
    if !others.is_empty() {
        let _ = write!(out, ",\"relatedLocations\":[{}]", others.join(","));
    }
    let fixes: Vec<String> = edits.iter().map(|(place, text)| place.fix(text)).collect();
    if !fixes.is_empty() {
        let _ = write!(out, ",\"fixes\":[{}]", fixes.join(","));
    }
    let _ = write!(out, ",\"properties\":{{\"class\":\"{}\"}}}}", d.class.name());
    out
}

/// The findings of all files.
#[derive(Default)]
pub struct Document {
    results: Vec<String>,
    rules: BTreeMap<u16, &'static Code>,
}

impl Document {
    /// Adds the findings of a file.
    pub fn add(&mut self, outcome: &Outcome) {
        self.results.extend(outcome.shown.lines().map(str::to_owned));
        self.rules.extend(outcome.codes.iter().map(|code| (code.number, *code)));
    }

    /// The document.
    pub fn text(&self) -> String {
        let rule = |code: &&Code| {
            format!(
                "{{\"id\":\"{code}\",\"shortDescription\":{{\"text\":{}}},\"fullDescription\":{{\"text\":{}}},\"helpUri\":\"{INDEX}\"}}",
                quoted(code.title),
                quoted(code.text)
            )
        };
        let rules: Vec<String> = self.rules.values().map(rule).collect();
        format!(
            "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\n\
             \"tool\":{{\"driver\":{{\"name\":\"ptx-dsl\",\"version\":\"{}\",\"informationUri\":\"https://github.com/ptx-dsl/ptx-dsl\",\n\
             \"rules\":[\n{}]}}}},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[\n{}]}}]}}\n",
            env!("CARGO_PKG_VERSION"),
            rules.join(",\n"),
            self.results.join(",\n")
        )
    }
}

/// The name of a file as a reference: relative to the folder in which the command runs, or absolute.
fn uri(name: &str) -> String {
    let path = name.replace('\\', "/");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if encoded.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn names_of_files_are_references() {
        assert_eq!(uri("k/a b.ptx"), "k/a%20b.ptx");
        assert_eq!(uri("/k/\u{e4}.ptx"), "file:///k/%C3%A4.ptx");
        assert_eq!(uri("k\\a.ptx"), "k/a.ptx");
    }
}
