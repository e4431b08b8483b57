//! Tests of the rules: the corpus of diagnostics, and the time that the analysis takes.

use crate::rules::RULES;

#[path = "../../../tests/support/corpus.rs"]
mod corpus;
mod gemm;
#[path = "../../../tests/support/helps.rs"]
mod helps;
mod time;

/// The modules of `tests/diagnostics` about the rules of 06xx, and those that are right in every respect.
#[test]
fn corpus_of_the_rules() {
    let cases = corpus::of_codes(600..700);
    for rule in RULES {
        let wrong = cases.iter().filter(|case| case.marks().iter().any(|mark| mark.code == rule.code)).count();
        assert!(wrong >= 2, "{wrong} modules have a mark with PTX{:04}; two are wanted", rule.code);
    }
    corpus::hold(&cases);
}

/// The public bugs of `tests/bugs`, which the suite also runs on the host.
#[test]
fn corpus_of_public_bugs() {
    corpus::hold(&corpus::below("tests/bugs"));
}
