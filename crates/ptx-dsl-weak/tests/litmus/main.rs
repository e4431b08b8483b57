//! Litmus tests: our own in `own/`, and public ones from the folder that `PTX_DSL_LITMUS` names.

mod asynchronous;
mod reader;

use std::path::{Path, PathBuf};

use ptx_dsl_weak::condition::Condition;
use ptx_dsl_weak::{Version, find};
use reader::Quantifier;

/// Whether the test's condition holds.
fn verdict(text: &str, version: Version) -> Result<bool, String> {
    let litmus = reader::read(text)?;
    let searched = match litmus.quantifier {
        Quantifier::Forall => Condition::Not(Box::new(litmus.condition)),
        _ => litmus.condition,
    };
    let found = find(&litmus.program, version, &searched).map_err(|error| error.to_string())?.is_some();
    Ok(found == (litmus.quantifier == Quantifier::Exists))
}

/// Runs the list `file` of `path,verdict` lines. Paths are relative to the folder.
fn public(folder: &Path, file: &str, version: Version) -> (usize, Vec<String>) {
    let list = std::fs::read_to_string(folder.join(file)).expect("the list of verdicts");
    let lines: Vec<_> = list.lines().filter_map(|line| line.split_once(',')).collect();
    let judge = |(path, expected): &(&str, &str)| {
        let text = std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
        match text.and_then(|text| verdict(&text, version)) {
            Ok(holds) if holds == (expected.trim() == "1") => None,
            Ok(holds) => Some(format!("{path}: {holds}, expected {expected}")),
            Err(error) => Some(format!("{path}: {error}")),
        }
    };
    let (left, right) = lines.split_at(lines.len() / 2);
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| right.iter().filter_map(judge).collect::<Vec<_>>());
        let mut wrong: Vec<_> = left.iter().filter_map(judge).collect();
        wrong.extend(other.join().expect("no panic"));
        wrong
    });
    (lines.len(), wrong)
}

#[test]
fn public_tests() {
    let Some(folder) = std::env::var_os("PTX_DSL_LITMUS").map(PathBuf::from) else {
        eprintln!("skipped: PTX_DSL_LITMUS does not name a folder with public litmus tests");
        return;
    };
    let resources = "dartagnan/src/test/resources";
    let mut all_wrong = Vec::new();
    for (file, version) in [("PTXv7_5-expected.csv", Version::Ptx75), ("PTXv6_0-expected.csv", Version::Ptx60)] {
        let start = std::time::Instant::now();
        let (count, wrong) = public(&folder, &format!("{resources}/{file}"), version);
        eprintln!("{file}: {} of {count} verdicts in {:.1?}", count - wrong.len(), start.elapsed());
        all_wrong.extend(wrong);
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
}

/// Whether the first part of a forbidden conjunction is possible: otherwise the test shows nothing.
fn is_vacuous(text: &str) -> bool {
    let Ok(litmus) = reader::read(text) else { return false };
    let mut first = &litmus.condition;
    while let Condition::And(a, _) = first {
        first = a;
    }
    let conjunction = matches!(litmus.condition, Condition::And(..)) && litmus.quantifier == Quantifier::NotExists;
    conjunction && matches!(find(&litmus.program, Version::Ptx75, first), Ok(None))
}

/// Each file of `own/` has tests, separated by lines `---`. Each condition holds.
#[test]
fn own_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus/own");
    let mut count = 0;
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path()) {
        for test in std::fs::read_to_string(&file).expect("text").split("\n---\n") {
            count += 1;
            let name = test.lines().find(|line| line.starts_with("PTX ")).unwrap_or("no name");
            let cites = test.lines().any(|line| line.starts_with("// ") && line.contains(": "));
            match verdict(test, Version::Ptx75) {
                Ok(true) if is_vacuous(test) => {
                    wrong.push(format!("{name}: the first part of the condition is impossible"))
                }
                Ok(true) if cites => {}
                Ok(true) => wrong.push(format!("{name}: names no section of the manual")),
                Ok(false) => wrong.push(format!("{name}: the condition does not hold")),
                Err(error) => wrong.push(format!("{name}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 60, "only {count} tests");
}

/// Programs that are too large are errors, in bounded time.
#[test]
fn too_large() {
    let test = |instruction: &str, count: usize| {
        let row = format!(" {instruction} | {instruction} ;\n").repeat(count);
        format!("PTX large\n{{ x=0; }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{row}~exists (x == 99)\n")
    };
    let error = |text: &str| verdict(text, Version::Ptx75).expect_err("too large");
    assert!(error(&test("fence.sc.gpu", 5)).contains("too many orders"));
    assert!(error(&test("st.relaxed.gpu x, 1", 40)).contains("more than 64 events"));
    assert!(error(&test("atom.relaxed.gpu.add r0, x, 1", 8)).contains("more than"));
}
