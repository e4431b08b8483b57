//! Every code has an explanation, and its examples are what they say.

use super::*;
use crate::lex::lex;

/// The codes that a module gives, without repetition.
fn codes(text: &str, about: u16) -> Vec<u16> {
    let (lexed, mut diagnostics) = lex(text);
    diagnostics.extend(crate::compile(&lexed.tokens).diagnostics);
    // Most examples read registers that nothing wrote, which is beside their point.
    let beside = |d: &&crate::diag::Diagnostic| d.code != 620 || about == 620;
    let mut codes: Vec<u16> = diagnostics.iter().filter(beside).map(|d| d.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn examples_give_their_code_and_nothing_else() {
    let mut wrong = Vec::new();
    for e in EXPLANATIONS.iter().flat_map(|l| l.iter()).filter(|e| !e.is_rust()) {
        // Its example is a bulk copy.
        if e.code == 417 && !crate::isa::FAMILIES.iter().any(|f| f.1.iter().any(|i| i.opcode == "cp.async.bulk")) {
            continue;
        }
        let got = codes(&e.wrong(), e.code);
        if got != [e.code] {
            wrong.push(format!("the wrong example of PTX{:04} gives {got:?}", e.code));
        }
        let got = codes(&e.right(), e.code);
        if !got.is_empty() {
            wrong.push(format!("the right example of PTX{:04} gives {got:?}", e.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_of_the_catalogue_is_explained() {
    // The numbers as they stand in the source: `error(207, ...)`, with or without a line break, and constants of lists.
    let sources = [
        include_str!("../errors.rs"),
        include_str!("../errors/kernel.rs"),
        include_str!("../errors/flow.rs"),
        include_str!("../errors/order.rs"),
        include_str!("../errors/protocol.rs"),
        include_str!("../errors/completion.rs"),
        include_str!("../parse/errors.rs"),
    ];
    let mut missing = Vec::new();
    for source in sources {
        for (i, _) in
            source.match_indices("error(").chain(source.match_indices("warning(")).chain(source.match_indices("found("))
        {
            let rest = source[i..].split_once('(').unwrap().1.trim_start();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if let Ok(code) = digits.parse::<u16>()
                && explanation(code).is_none()
            {
                missing.push(code);
            }
        }
    }
    missing.dedup();
    assert!(missing.is_empty(), "no explanation of {missing:?}");
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
