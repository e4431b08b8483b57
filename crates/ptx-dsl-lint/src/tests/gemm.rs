//! Mistakes in a fast GEMM: `tests/mutants/gemm/mutants.txt` says what is found of each.

use super::corpus;
use super::helps;
use ptx_dsl_isa::diag::Diagnostic;

const KERNEL: &str = include_str!("../../../../tests/mutants/gemm/gemm_bf16.ptx");
const MUTANTS: &str = include_str!("../../../../tests/mutants/gemm/mutants.txt");
/// How many of the mistakes the rules find at least, and how many there are.
const FOUND: usize = 41;
const ALL: usize = 41;

/// The module with one edit: the place of `from` that `which` names gets `to`.
fn edited(text: &str, which: &str, from: &str, to: &str) -> String {
    let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
    let at = match which.trim() {
        "all" => return text.replace(from, to),
        "" if places.len() == 1 => places[0],
        "" => panic!("`{from}` has {} places", places.len()),
        n => places[n.parse::<usize>().expect("a number") - 1],
    };
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}

/// A paragraph of the list: its name, the code that is wanted, and the module.
struct Mutant {
    name: String,
    code: Option<u16>,
    text: String,
}

fn mutant(paragraph: &str) -> Mutant {
    let mut lines = paragraph.lines().filter(|line| !line.starts_with('#'));
    let (name, wanted) = lines.next().and_then(|line| line.split_once(": ")).expect("a name and a code");
    let code = wanted.strip_prefix("PTX").map(|code| code.parse().expect("a code"));
    assert!(code.is_some() || wanted == "silent", "{name}: {wanted}");
    let mut text = KERNEL.to_owned();
    while let Some(line) = lines.next() {
        let (which, from) = line.strip_prefix("replace").and_then(|l| l.split_once(": ")).expect("an edit");
        let to = lines.next().and_then(|line| line.strip_prefix("with:")).expect("a text");
        text = edited(&text, which, from, to.trim());
    }
    assert_ne!(text, KERNEL, "{name}");
    Mutant { name: name.to_owned(), code, text }
}

fn codes(found: &[Diagnostic]) -> Vec<u16> {
    found.iter().map(|d| d.code.number).collect()
}

#[test]
fn mistakes_in_a_gemm() {
    corpus::hold(&corpus::below("tests/mutants/gemm"));
    let paragraphs = MUTANTS.split("\n\n").filter(|p| !p.lines().all(|line| line.starts_with('#') || line.is_empty()));
    let mutants: Vec<Mutant> = paragraphs.map(mutant).collect();
    assert!(mutants.len() >= ALL, "{}", mutants.len());
    let mut wrong = Vec::new();
    for Mutant { name, code, text } in &mutants {
        let (_, found) = helps::findings(text);
        let as_wanted = match code {
            Some(code) => codes(&found).contains(code),
            None => found.is_empty(),
        };
        if !as_wanted {
            let messages: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
            wrong.push(format!("{name}: {:?} {messages:?}", codes(&found)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are not as the list says:\n{}", wrong.len(), mutants.len(), wrong.join("\n"));
    let found = mutants.iter().filter(|m| m.code.is_some()).count();
    assert!(found >= FOUND, "{found} of {}", mutants.len());
}
