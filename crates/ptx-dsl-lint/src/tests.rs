//! Tests of the rules: the corpus of diagnostics, and the time that the analysis takes.

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
    for rule in ptx_dsl_catalogue::rules() {
        let wrong = cases.iter().filter(|case| case.marks().iter().any(|mark| mark.code == rule.number)).count();
        assert!(wrong >= 2, "{wrong} modules have a mark with {rule}; two are wanted");
    }
    corpus::hold(&cases);
}

/// The modules of `tests/diagnostics` about performance. Each rule has one that it finds and one that it does not.
#[test]
fn corpus_of_performance() {
    let cases = corpus::of_codes(700..800);
    for rule in ptx_dsl_catalogue::of_performance().filter(|rule| rule.number <= 706) {
        let of_rule = corpus::of_codes(rule.number..rule.number + 1);
        let wrong = of_rule.iter().filter(|case| !case.marks().is_empty()).count();
        assert!(wrong >= 1 || rule == ptx_dsl_catalogue::LOCAL_ARRAY, "no module has a mark with {rule}");
        assert!(wrong < of_rule.len(), "each module has a mark with {rule}");
    }
    corpus::hold(&cases);
}

/// The public bugs of `tests/bugs`, which the suite also runs on the host.
#[test]
fn corpus_of_public_bugs() {
    corpus::hold(&corpus::below("tests/bugs"));
}
