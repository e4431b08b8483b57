//! A session runs the same passes whatever reads the module.

use crate::code;
use crate::diag::{Diagnostic, Severity};
use crate::levels::{self, Level, Selector};
use crate::lex::lex;
use crate::session::{Input, Session};
use crate::source::closure::as_module;

#[test]
fn a_name_in_a_closure_may_be_one_of_rust() {
    let text = "<sm_90, ptx 8.0> |x: &mut [f32]| { .reg .b32 %r; add.u32 %r, n, 1; @p ret; ret; }";
    let (tokens, found) = as_module(&lex(text).0.tokens, "k").expect("a kernel");
    let session = Session { in_rust: true, ..Session::default() };
    let compiled = session.compile(Input { tokens: &tokens, is_closure: true, found, ..Input::default() });
    let [value, predicate] = compiled.diagnostics.as_slice() else { panic!("{:#?}", compiled.diagnostics) };
    assert!(value.helps.last().unwrap().contains("`n: u32`"), "{value:?}");
    assert_eq!((value.code, predicate.code), (code::UNDECLARED, code::UNDECLARED));
    assert!(predicate.notes.iter().all(|note| !note.contains("capture")), "{predicate:?}");
}

#[test]
fn options_hold_for_all_passes() {
    let text = ".version 8.0 .target sm_90 .address_size 64
        .visible .entry a() { barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret; }
        .visible .entry b() { ret; }";
    let found = |session: Session| -> Vec<(u16, Severity)> {
        let (lexed, found) = lex(text);
        let compiled = session.compile(Input { tokens: &lexed.tokens, found, ..Input::default() });
        compiled.diagnostics.iter().map(|d| (d.code.number, d.severity)).collect()
    };
    let plain = Session::default();
    assert_eq!(found(plain), [(611, Severity::Error)]);
    assert_eq!(found(Session { entry: Some("b"), ..plain }), []);
    let warn = levels::set(&[(Level::Warn, Selector::Code(611))]);
    assert_eq!(found(Session { levels: &warn, ..plain }), [(611, Severity::Warning)]);
    assert_eq!(found(Session { target: Some("sm_80"), ..plain })[0].0, 302);
    let elsewhere = |found: &mut Vec<Diagnostic>| found.clear();
    assert_eq!(found(Session { elsewhere: Some(&elsewhere), ..plain }), []);
}
