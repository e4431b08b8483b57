//! Whole modules: parse, print, parse is a fixpoint, and ptxas accepts the printed text.

use crate::ptxas;
use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::lex::lex;

fn files() -> Vec<(String, String)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("tests/ptx")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "ptx"))
        .collect();
    files.sort();
    let name = |p: &std::path::Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|p| (name(p), std::fs::read_to_string(p).expect("a text"))).collect()
}

/// Compiles a text that must be right.
fn printed(name: &str, text: &str) -> String {
    let (lexed, mut found) = lex(text);
    let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    found.extend(compiled.diagnostics);
    let errors: Vec<_> =
        found.iter().filter(|d| d.severity == Severity::Error).map(|d| (d.code.number, &d.message)).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    compiled.ptx
}

#[test]
fn printing_is_a_fixpoint_and_assembles() {
    let mut modules = Vec::new();
    for (name, text) in files() {
        let once = printed(&name, &text);
        assert_eq!(printed(&name, &once), once, "{name}");
        modules.push((name, once));
    }
    assert!(modules.len() >= 8, "the files of tests/ptx were found");
    assemble(&modules);
}

fn assemble(modules: &[(String, String)]) {
    let Some(verdicts) = ptxas::assemble_all(modules) else { return };
    for ((name, text), verdict) in modules.iter().zip(verdicts) {
        if let Err(message) = verdict {
            panic!("ptxas refuses {name}:\n{message}\n{text}");
        }
    }
}
