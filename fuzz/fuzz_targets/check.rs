//! Runs the front end on any bytes as PTX text. It must accept what it printed, and print the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_dsl_frontend::{compile, diag::Severity, lex::lex};

fuzz_target!(|bytes: &[u8]| {
    let (lexed, early) = lex(&String::from_utf8_lossy(bytes));
    let compiled = compile(&lexed.tokens);
    if early.is_empty() && !compiled.failed() {
        let (again, _) = lex(&compiled.ptx);
        let second = compile(&again.tokens);
        // PTX text has no header, which may have set the levels of lints
        let mut wrong = second.diagnostics.iter().filter(|d| d.severity == Severity::Error && !d.code.has_level());
        assert!(wrong.next().is_none(), "{:?}", second.diagnostics);
        assert_eq!(second.ptx, compiled.ptx);
    }
});
