//! Every code has an explanation, and its examples have the right findings.

use super::*;
use crate::lex::lex;
use crate::tests::corpus;

/// The distinct codes of errors and warnings in a module.
fn codes(text: &str) -> Vec<u16> {
    let (lexed, mut diagnostics) = lex(text);
    diagnostics.extend(crate::compile(&lexed.tokens).diagnostics);
    let mut codes: Vec<u16> = diagnostics.iter().map(|d| d.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn examples_give_their_code_and_nothing_else() {
    let mut wrong = Vec::new();
    for e in EXPLANATIONS.iter().flat_map(|l| l.iter()).filter(|e| !e.is_rust()) {
        let got = codes(&e.wrong());
        if got != [e.code] {
            wrong.push(format!("the wrong example of PTX{:04} gives {got:?}", e.code));
        }
        let got = codes(&e.right());
        if !got.is_empty() {
            wrong.push(format!("the right example of PTX{:04} gives {got:?}", e.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The marks in the examples, their helps, and the verdict of ptxas on the right ones.
#[test]
fn corpus_of_the_examples() {
    let cases = corpus::below("crates/ptx-dsl-frontend/src/explain/examples");
    let modules = EXPLANATIONS.iter().flat_map(|l| l.iter()).filter(|e| !e.is_rust()).count();
    assert_eq!(cases.len(), 2 * modules, "each module of the folder is an example");
    corpus::hold(&cases);
}

/// The codes in the sources of a folder: `error(207, ...)`, with or without a line break, `code: 153`, `"[PTX0161] ...`.
fn numbers(folder: &std::path::Path, found: &mut std::collections::BTreeSet<u16>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            numbers(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "rs") && !entry.ends_with("tests.rs") {
            let source = std::fs::read_to_string(&entry).expect("a source");
            for before in
                ["error(", "warning(", "found(", "report(", "suspicious(", "against_the_manual(", "code:", "\"[PTX0"]
            {
                for (i, _) in source.match_indices(before) {
                    let digits: String =
                        source[i + before.len()..].trim_start().chars().take_while(char::is_ascii_digit).collect();
                    found.extend(digits.parse::<u16>().ok().filter(|_| digits.len() == 3));
                }
            }
        }
    }
}

#[test]
fn codes_that_are_given_are_those_that_are_explained() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut given = std::collections::BTreeSet::new();
    numbers(&crates.join("src"), &mut given);
    for other in ["isa", "syntax", "analysis", "lint", "codegen"] {
        numbers(&crates.join(format!("../ptx-dsl-{other}/src")), &mut given);
    }
    numbers(&crates.join("../../ptx-dsl-macros/src"), &mut given);
    numbers(&crates.join("../../ptx-dsl-runtime/src/param"), &mut given);
    numbers(&crates.join("../../ptx-dsl/src/bin/ptx-dsl"), &mut given);
    let explained = EXPLANATIONS.iter().flat_map(|l| l.iter()).map(|e| e.code).collect();
    assert_eq!(given, explained);
}

#[test]
fn codes_ascend() {
    let mut seen = std::collections::HashSet::new();
    for list in EXPLANATIONS {
        let codes: Vec<u16> = list.iter().map(|e| e.code).collect();
        assert!(codes.windows(2).all(|w| w[0] < w[1]), "{codes:?}");
        assert!(codes.iter().all(|code| seen.insert(*code)), "one of {codes:?} is explained twice");
    }
}

#[test]
fn each_rule_of_protocol_and_flow_is_explained() {
    let rules: Vec<u16> = ptx_dsl_lint::rules::RULES.iter().map(|r| r.code).collect();
    assert!(rules.windows(2).all(|w| w[0] < w[1]), "{rules:?}");
    let mut explained: Vec<u16> =
        EXPLANATIONS.iter().flat_map(|l| l.iter()).map(|e| e.code).filter(|code| crate::is_flow(*code)).collect();
    explained.sort_unstable();
    assert_eq!(rules, explained);
}
