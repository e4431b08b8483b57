//! ptxas accepts the right examples of `ptx-dsl explain`; `tests/ui/` has its Rust examples. The unit tests of the front end
//! compare the findings in the examples, and assemble the right ones as printed.

use crate::ptxas;
use ptx_dsl_frontend::code::{self, Code};

/// As shown; those with the header of the macros are no PTX for ptxas.
#[test]
fn ptxas_takes_the_right_examples() {
    let mut modules = Vec::new();
    for e in code::all().filter(|e| !e.example.is_rust) {
        let text = e.right();
        if text.starts_with(".version") {
            modules.push((e.to_string(), text));
        }
    }
    assert!(modules.len() > 150, "{}", modules.len());
    let Some(verdicts) = ptxas::assemble_all(&modules) else { return };
    for ((name, text), verdict) in modules.iter().zip(verdicts) {
        assert!(verdict.is_ok(), "ptxas refuses the right example of {name}: {verdict:?}\n{text}");
    }
}

/// The trimmed lines of a text.
fn lines(text: &str) -> String {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn examples_in_rust_are_those_of_the_ui_tests() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui");
    let sources = |folder: &str| -> Vec<(std::path::PathBuf, String)> {
        let files = std::fs::read_dir(folder).expect("tests/ui").map(|e| e.expect("an entry").path());
        let files = files.filter(|p| p.extension().is_some_and(|e| e == "rs"));
        files.map(|p| (p.clone(), std::fs::read_to_string(p).expect("a text"))).collect()
    };
    let (wrong, right) = (sources(folder), sources(&format!("{folder}/pass")));
    // rustc reports what the command line does not check in its own words; the tests of the command line have it
    let of_macros = |e: &&'static Code| e.example.is_rust && *e != code::NOT_CHECKED;
    for e in code::all().filter(of_macros) {
        let example = lines(&e.wrong());
        let found = wrong.iter().find(|(_, text)| lines(text).contains(&example));
        let (path, _) = found.unwrap_or_else(|| panic!("no file of tests/ui holds the wrong example of {e}"));
        let shown = std::fs::read_to_string(path.with_extension("stderr")).expect("what rustc says");
        let codes: Vec<&str> = shown.match_indices("[PTX").map(|(i, _)| &shown[i + 4..i + 8]).collect();
        assert_eq!(codes, [format!("{:04}", e.number)], "{}", path.display());
        let example = lines(&e.right());
        let found = right.iter().any(|(_, text)| lines(text).contains(&example));
        assert!(found, "no file of tests/ui/pass holds the right example of {e}");
    }
}
