//! Lists of Rust tokens, which is what the macros work on; a `TokenStream` is what comes in and goes out.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens of a stream; groups stay as they are.
pub fn list(stream: TokenStream) -> Vec<TokenTree> {
    let mut out = Vec::new();
    add(stream, &mut out);
    out
}

/// Puts the tokens of a stream behind others.
pub fn add(stream: TokenStream, out: &mut Vec<TokenTree>) {
    for tree in stream {
        out.push(tree);
    }
}

/// As a stream.
pub fn stream(trees: Vec<TokenTree>) -> TokenStream {
    trees.into_iter().collect()
}

/// The tokens of a text; none if it is not Rust.
pub fn read(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// `{ ... }`
pub fn block(trees: Vec<TokenTree>) -> Group {
    Group::new(Delimiter::Brace, stream(trees))
}
