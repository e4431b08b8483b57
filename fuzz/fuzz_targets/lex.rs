//! Lexes any bytes as PTX text: tokens and diagnostics, no panic, and every span is within the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_dsl_frontend::lex::lex;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (lexed, diagnostics) = lex(&text);
    for span in diagnostics.iter().map(|d| d.span) {
        let range = lexed.bytes(span);
        assert!(range.start <= range.end && range.end <= text.len());
    }
});
