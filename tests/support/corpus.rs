//! The corpus of diagnostics: PTX modules with marks on the lines of their findings.
//!
//! `// error: PTX0642` or `// warning: PTX0605` at the end of a line is a mark; a line may have several. A mark can add the
//! underlined source, as in `` // error: PTX0412 `sh+2`: not a multiple of 4 ``, and a text that the message, a note or a help
//! contains. A module without marks must have no finding.
//!
//! `// also without .reqntid` on its own line has the module checked a second time without that directive.

use std::path::{Path, PathBuf};

use super::helps::{self, ABROAD};
use ptx_dsl_test_support::ptxas;

use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::lines::Lines;

/// A module of the corpus.
pub struct Case {
    /// The path of the module.
    pub name: String,
    pub text: String,
    /// The code of its folder, `PTXnnnn`.
    code: Option<u16>,
}

/// One mark.
pub struct Mark<'t> {
    line: usize,
    level: &'t str,
    pub code: u16,
    source: Option<&'t str>,
    text: Option<&'t str>,
}

/// The modules below a folder, whose path starts at the root of the workspace.
pub fn below(folder: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|root| root.join("tests/diagnostics").is_dir());
    let mut cases = Vec::new();
    collect(&root.expect("the root of the workspace").join(folder), &mut cases);
    assert!(!cases.is_empty(), "no modules in {folder}");
    cases
}

/// The cases of `tests/diagnostics` whose folder has one of the codes; folders without a code belong to the lints.
pub fn of_codes(codes: std::ops::Range<u16>) -> Vec<Case> {
    let mut cases = below("tests/diagnostics");
    cases.retain(|case| codes.contains(&case.code.unwrap_or(600)));
    cases
}

fn collect(folder: &Path, cases: &mut Vec<Case>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, cases);
        } else if path.extension().is_some_and(|e| e == "ptx") {
            let text = std::fs::read_to_string(&path).expect("a text");
            let parent = folder.file_name().unwrap_or_default().to_string_lossy();
            let code = parent.strip_prefix("PTX").and_then(|code| code.parse().ok());
            let name = path.display().to_string();
            if text.lines().any(|line| line == "// also without .reqntid") {
                let name = format!("{name}, without .reqntid");
                cases.push(Case { name, text: without_reqntid(&text), code });
            }
            cases.push(Case { name, text, code });
        }
    }
}

/// The module without `.reqntid 128`, on the same lines.
fn without_reqntid(text: &str) -> String {
    assert!(text.contains(" .reqntid 128"), "{text}");
    text.replace(" .reqntid 128", "")
}

impl Case {
    /// The marks of the module.
    ///
    /// # Panics
    /// If one cannot be read.
    pub fn marks(&self) -> Vec<Mark<'_>> {
        let mut marks = Vec::new();
        for (i, line) in self.text.lines().enumerate() {
            for comment in line.split("//").skip(1) {
                let Some((level @ ("error" | "warning"), rest)) = comment.trim().split_once(": ") else { continue };
                let mark = mark(i + 1, level, rest);
                marks.push(mark.unwrap_or_else(|| panic!("{}:{}: no mark: {comment}", self.name, i + 1)));
            }
        }
        marks
    }
}

/// `PTX0412`, `` PTX0412 `sh+2` ``, `PTX0412: a text`, or all of it.
fn mark<'t>(line: usize, level: &'t str, rest: &'t str) -> Option<Mark<'t>> {
    let (code, rest) = rest.strip_prefix("PTX")?.split_at_checked(4)?;
    let code = code.parse().ok()?;
    let (source, rest) = match rest.strip_prefix(" `") {
        Some(source) => source.split_once('`').map(|(source, rest)| (Some(source), rest))?,
        None => (None, rest),
    };
    let text = if rest.is_empty() { None } else { Some(rest.strip_prefix(": ")?) };
    Some(Mark { line, level, code, source, text })
}

/// A finding and its line.
struct Found<'d> {
    line: usize,
    source: String,
    diagnostic: &'d Diagnostic,
}

impl Found<'_> {
    fn level(&self) -> &'static str {
        if self.diagnostic.severity == Severity::Error { "error" } else { "warning" }
    }

    fn has(&self, mark: &Mark) -> bool {
        let Diagnostic { code, message, notes, helps, .. } = self.diagnostic;
        let mut texts = std::iter::once(message).chain(notes).chain(helps);
        (self.line, self.level(), code.number) == (mark.line, mark.level, mark.code)
            && mark.source.is_none_or(|source| source == self.source)
            && mark.text.is_none_or(|text| texts.any(|t| t.contains(text)))
    }
}

fn located<'d>(text: &str, lexed: &Lexed, found: &'d [Diagnostic]) -> Vec<Found<'d>> {
    let lines = Lines::new(text);
    let locate = |diagnostic: &'d Diagnostic| {
        let bytes = lexed.bytes(diagnostic.span);
        let source = text.get(bytes.clone()).unwrap_or_default().to_string();
        Found { line: lines.line_column(bytes.start).0, source, diagnostic }
    };
    found.iter().map(locate).collect()
}

/// The differences between the marks of a module and its findings.
pub fn differences(case: &Case) -> Vec<String> {
    let (lexed, diagnostics) = helps::findings(&case.text);
    let mut found = located(&case.text, &lexed, &diagnostics);
    let marks = case.marks();
    let mut out = Vec::new();
    for mark in &marks {
        match found.iter().position(|f| f.has(mark)) {
            Some(i) => drop(found.remove(i)),
            None => out.push(format!("{}:{}: no {} PTX{:04}", case.name, mark.line, mark.level, mark.code)),
        }
    }
    for f in found {
        let Diagnostic { code, message, notes, helps, .. } = f.diagnostic;
        let (name, line, level, source) = (&case.name, f.line, f.level(), &f.source);
        out.push(format!("{name}:{line}: {level} {code} `{source}`: {message}\n    {notes:?}\n    {helps:?}"));
    }
    if let Some(code) = case.code.filter(|code| !marks.is_empty() && marks.iter().all(|m| m.code != *code)) {
        out.push(format!("{}: no mark has PTX{code:04}, the code of its folder", case.name));
    }
    for d in diagnostics.iter().filter(|d| (600..700).contains(&d.code.number)) {
        let known = d.code.classes.iter().any(|(class, _)| *class == d.class);
        if !known || d.notes.is_empty() || d.helps.is_empty() {
            out.push(format!(
                "{}: PTX{:04} has no note, no help, or a class that is not its rule's",
                case.name, d.code.number
            ));
        }
    }
    out
}

/// Each module has the findings of its marks; its helps can be applied; ptxas accepts the printed modules without errors.
///
/// # Panics
/// With all differences.
#[track_caller]
pub fn hold(cases: &[Case]) {
    let wrong: Vec<String> = cases.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{} differences in {} modules\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let texts: Vec<_> = cases.iter().map(|case| (case.name.clone(), case.text.clone())).collect();
    helps::hold(&texts);
    let legal: Vec<_> = cases.iter().filter(|case| case.marks().iter().all(|mark| mark.level != "error")).collect();
    let printed: Vec<_> = legal.iter().map(|case| (case.name.clone(), helps::printed(&case.text))).collect();
    let verdicts = ptxas::assemble_all(&printed).unwrap_or_default();
    let refused = verdicts.into_iter().filter_map(Result::err).filter(|e| !ABROAD.iter().any(|text| e.contains(text)));
    let refused: Vec<String> = refused.collect();
    assert!(refused.is_empty(), "ptxas refuses modules that have no errors:\n{}", refused.join("\n"));
}
