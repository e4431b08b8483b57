//! The emitter makes text. What the user has written is not put into it, since it would lose its place: a name stands for it until
//! rustc has read the text.

use proc_macro::{Group, TokenStream, TokenTree};
use ptx_dsl_emit::code::{Code, Name};
use std::cell::RefCell;

/// Nothing in emitted code begins like this: names of kernels come behind `__ptx_`.
const PREFIX: &str = "__ptxhole";

/// The tokens of the user, by the numbers of their names.
#[derive(Default)]
pub struct Holes(RefCell<Vec<TokenStream>>);

impl Holes {
    /// The name that stands for these tokens.
    pub fn keep(&self, tokens: TokenStream) -> Name {
        let mut all = self.0.borrow_mut();
        all.push(tokens);
        Name(format!("{PREFIX}{}", all.len() - 1))
    }

    /// Emitted code as tokens, with those of the user in their places.
    pub fn tokens(&self, code: &Code) -> TokenStream {
        let text = code.as_str();
        let read: TokenStream = text.parse().unwrap_or_else(|_| {
            "::core::compile_error! { \"ptx-dsl has made code that is not Rust; please report this\" }"
                .parse()
                .unwrap_or_default()
        });
        if text.contains(PREFIX) { self.filled(read) } else { read }
    }

    fn filled(&self, tokens: TokenStream) -> TokenStream {
        let mut out = TokenStream::new();
        for tree in tokens {
            match tree {
                TokenTree::Group(g) => {
                    let mut filled = Group::new(g.delimiter(), self.filled(g.stream()));
                    filled.set_span(g.span());
                    out.extend([TokenTree::Group(filled)]);
                }
                TokenTree::Ident(name) => match self.of(&name.to_string()) {
                    Some(tokens) => out.extend(tokens),
                    None => out.extend([TokenTree::Ident(name)]),
                },
                other => out.extend([other]),
            }
        }
        out
    }

    fn of(&self, name: &str) -> Option<TokenStream> {
        let number: usize = name.strip_prefix(PREFIX)?.parse().ok()?;
        self.0.borrow().get(number).cloned()
    }
}
