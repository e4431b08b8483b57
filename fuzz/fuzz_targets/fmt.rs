//! Runs `ptx-dsl fmt` on any bytes as PTX text. Formatting again must not change the text, and legal text must print as before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_dsl_frontend::{compile, lex::lex};

#[path = "../../ptx-dsl/src/bin/ptx-dsl/layout.rs"]
mod layout;

fuzz_target!(|bytes: &[u8]| {
    if let Some(once) = layout::layout(bytes) {
        assert_eq!(layout::layout(&once).as_ref(), Some(&once));
        // In a wrong text white space may decide where parsing continues.
        let printed = |text: &[u8]| {
            let (lexed, _) = lex(&String::from_utf8_lossy(text));
            Some(compile(&lexed.tokens)).filter(|c| !c.failed()).map(|c| c.ptx)
        };
        assert_eq!(printed(bytes), printed(&once));
    }
});
