//! Any bytes as PTX text: what `ptx-dsl fmt` lays out stays as it is the second time, and, if it is right, prints
//! as it did before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_dsl_frontend::{compile, lex::lex};

#[path = "../../ptx-dsl/src/bin/ptx-dsl/layout.rs"]
mod layout;

fuzz_target!(|bytes: &[u8]| {
    if let Some(once) = layout::layout(bytes) {
        assert_eq!(layout::layout(&once).as_ref(), Some(&once));
        // Of a wrong text white space may decide what is left of it.
        let printed = |text: &[u8]| {
            let (lexed, _) = lex(&String::from_utf8_lossy(text));
            Some(compile(&lexed.tokens)).filter(|c| !c.failed()).map(|c| c.ptx)
        };
        assert_eq!(printed(bytes), printed(&once));
    }
});
