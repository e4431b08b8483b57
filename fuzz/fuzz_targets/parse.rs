//! Parses any bytes as PTX text: a module and diagnostics, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_dsl_frontend::{lex::lex, parse::parse};

fuzz_target!(|bytes: &[u8]| {
    let (lexed, _) = lex(&String::from_utf8_lossy(bytes));
    let _ = parse(&lexed.tokens);
});
