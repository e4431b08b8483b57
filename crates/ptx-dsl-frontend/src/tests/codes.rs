//! Every code has an explanation, and its examples have the right findings.

use super::corpus;
use crate::code;
use crate::lex::lex;

/// The distinct codes of errors and warnings in a module.
fn codes(text: &str) -> Vec<u16> {
    let (lexed, mut diagnostics) = lex(text);
    diagnostics.extend(crate::compile(&lexed.tokens).diagnostics);
    let mut codes: Vec<u16> = diagnostics.iter().map(|d| d.code.number).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn examples_give_their_code_and_nothing_else() {
    let mut wrong = Vec::new();
    for e in code::all().filter(|e| !e.example.is_rust) {
        let got = codes(&e.wrong());
        if got != [e.number] {
            wrong.push(format!("the wrong example of {e} gives {got:?}"));
        }
        let got = codes(&e.right());
        if !got.is_empty() {
            wrong.push(format!("the right example of {e} gives {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The marks in the examples, their helps, and the verdict of ptxas on the right ones.
#[test]
fn corpus_of_the_examples() {
    let cases = corpus::below("crates/ptx-dsl-catalogue/src/examples");
    let modules = code::all().filter(|e| !e.example.is_rust).count();
    assert_eq!(cases.len(), 2 * modules, "each module of the folder is an example");
    corpus::hold(&cases);
}

/// The names of codes in the sources of a folder, and the numbers in texts: `code::UNDECLARED`, `"[PTX0161] ...`.
fn names(folder: &std::path::Path, found: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            names(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rs") && !entry.ends_with("tests.rs") {
            let source = std::fs::read_to_string(&entry).expect("a source");
            for before in ["code::", "\"[PTX0"] {
                let after = source.match_indices(before).map(|(at, _)| &source[at + before.len()..]);
                let is_of_name = |c: &char| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_';
                found.extend(after.map(|after| after.chars().take_while(is_of_name).collect()));
            }
        }
    }
}

#[test]
fn every_code_is_given_somewhere() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut given = std::collections::BTreeSet::new();
    for folder in [
        "ptx-dsl-frontend/src",
        "ptx-dsl-syntax/src",
        "ptx-dsl-lint/src",
        "ptx-dsl-codegen/src",
        "ptx-dsl-image/src",
        "../ptx-dsl-macros/src",
        "../ptx-dsl-runtime/src/api/param",
        "../ptx-dsl/src",
    ] {
        names(&crates.join(folder), &mut given);
    }
    let catalogue = crates.join("ptx-dsl-catalogue/src");
    let mut left = Vec::new();
    for entry in std::fs::read_dir(catalogue).expect("a folder").map(|e| e.expect("an entry").path()) {
        let Ok(source) = std::fs::read_to_string(&entry) else { continue };
        for line in source.lines() {
            if let [name, number, ..] = line.split_whitespace().collect::<Vec<_>>()[..]
                && number.len() == 3
                && number.parse::<u16>().is_ok()
                && !given.contains(name)
                && !given.contains(number)
            {
                left.push(name.to_owned());
            }
        }
    }
    assert!(left.is_empty(), "no finding has the codes {left:?}");
}

/// Calls `look` with the name and the text of each source in a folder, without unit tests.
fn sources(folder: &std::path::Path, look: &mut dyn FnMut(&std::path::Path, &str)) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.ends_with("tests") || entry.ends_with("tests.rs") {
            continue;
        }
        if entry.is_dir() {
            sources(&entry, look);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&entry).expect("a source");
            look(&entry, text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default());
        }
    }
}

/// The expression that ends here, such as `d.message` or `helps[0]`, as far as it is a path with indices.
fn path_before(text: &str) -> &str {
    let of_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    &text[text.trim_end_matches(of_path).len()..]
}

/// Findings are data until they are shown: no code decides by the words of a finding, or by the number of a code.
#[test]
fn nothing_reads_the_words_of_a_finding() {
    const READS: [&str; 9] = [
        ".contains(",
        ".starts_with(",
        ".ends_with(",
        ".split(",
        ".split_once(",
        ".strip_prefix(",
        ".strip_suffix(",
        ".find(",
        ".matches(",
    ];
    /// Sources that show findings, or that take numbers of codes from a user.
    const NUMBERS: [&str; 4] = ["load/finding.rs", "src/levels.rs", "run/launch.rs", "ptx-dsl-isa/src/code.rs"];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut wrong, mut read) = (Vec::new(), 0);
    for folder in ["crates", "ptx-dsl/src", "ptx-dsl-macros/src"] {
        sources(&root.join(folder), &mut |path, text| {
            read += 1;
            for (n, line) in text.lines().enumerate() {
                let words = |path: &str| {
                    path.split(['.', '[', ']']).any(|part| matches!(part, "message" | "help" | "helps" | "notes"))
                };
                let reads =
                    READS.iter().any(|call| line.match_indices(call).any(|(at, _)| words(path_before(&line[..at]))));
                let compares = [".helps == ", ".message == ", ".message != "].iter().any(|text| line.contains(text));
                let number = line.contains(".code.number") && !NUMBERS.iter().any(|end| path.ends_with(end));
                if reads || compares || number {
                    wrong.push(format!("{}:{}: {}", path.display(), n + 1, line.trim()));
                }
            }
        });
    }
    assert!(read > 200, "{read} sources");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A finding is made in the `errors` of its crate, a function for each, so that a code is worded in one place.
#[test]
fn findings_are_worded_where_the_errors_of_a_crate_are() {
    /// Sources elsewhere that make findings, each of one code. The list may only get shorter.
    const ELSEWHERE: [&str; 3] = ["ptx-dsl-image/src/rust_types.rs", "ptx-dsl/rust_file.rs", "ptx-dsl/unchecked.rs"];
    /// Codes whose `errors` function takes the sentence from its callers. The list may only get shorter. `INSTRUCTION_RULE` is worded by the
    /// rules of the table.
    const BY_CALLERS: [&str; 10] = [
        "ALIAS",
        "CALL_MISMATCH",
        "DIRECTIVE_ARGUMENT",
        "DIRECTIVE_WITHOUT_EFFECT",
        "INITIAL_VALUE",
        "INSTRUCTION_RULE",
        "LINKING",
        "MALFORMED_PRAGMA",
        "MALFORMED_VARIABLE",
        "MISPLACED_ATTRIBUTE",
    ];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut makes, mut takes) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for folder in ["crates", "ptx-dsl/src", "ptx-dsl-macros/src"] {
        sources(&root.join(folder), &mut |path, text| {
            let name = path.display().to_string();
            let words_errors = name.contains("/errors/") || path.ends_with("errors.rs");
            if !words_errors && !path.ends_with("ptx-dsl-isa/src/diag.rs") {
                let calls = ["Diagnostic::new(", "Diagnostic::error(", "Diagnostic::warning("];
                if calls.iter().any(|call| text.contains(call)) {
                    makes.insert(name);
                }
            } else if name.contains("check/errors/") {
                for function in text.split("\npub(crate) fn ").skip(1) {
                    let (signature, body) = function.split_once(" {\n").unwrap_or_default();
                    if signature.contains("text: &str") || signature.contains("rule: &str") {
                        let code = body.split("code::").nth(1).expect("a code");
                        takes.insert(
                            code.chars().take_while(|c| *c == '_' || c.is_ascii_uppercase()).collect::<String>(),
                        );
                    }
                }
            }
        });
    }
    let unknown: Vec<_> = makes.iter().filter(|name| !ELSEWHERE.iter().any(|known| name.ends_with(known))).collect();
    assert!(unknown.is_empty(), "these make findings outside of `errors`: {unknown:?}");
    assert_eq!(makes.len(), ELSEWHERE.len(), "the list names a source that makes none");
    assert_eq!(takes.iter().map(String::as_str).collect::<Vec<_>>(), BY_CALLERS);
}
