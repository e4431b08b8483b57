//! Prints what parses of any bytes, right or not: the printed text must parse and print the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_dsl_frontend::{lex::lex, parse::parse, print::print};

/// The printed text, if it parses without an error.
fn printed(text: &str) -> Option<String> {
    let (lexed, early) = lex(text);
    let (module, found) = parse(&lexed.tokens);
    (early.is_empty() && found.is_empty()).then(|| print(&module, &|_| None))
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(once) = printed(&String::from_utf8_lossy(bytes)) {
        let twice = printed(&once);
        assert_eq!(twice.as_ref(), Some(&once));
    }
});
