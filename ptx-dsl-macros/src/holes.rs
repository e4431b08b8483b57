//! The emitter makes text. What the user has written is not put into it, since it would lose its place: a name stands for it until
//! rustc has read the text.

use crate::trees;
use proc_macro::{Group, TokenStream, TokenTree};
use ptx_dsl_codegen::code::{Code, Name};
use std::cell::RefCell;

/// Nothing in emitted code begins like this: names of kernels come behind `__ptx_`.
const PREFIX: &str = "__ptxhole";

/// The names, each with the tokens of the user that it stands for.
#[derive(Default)]
pub struct Holes(RefCell<Vec<(String, TokenStream)>>);

impl Holes {
    /// The name that stands for these tokens.
    pub fn keep(&self, tokens: TokenStream) -> Name {
        let mut all = self.0.borrow_mut();
        let name = format!("{PREFIX}{}", all.len());
        all.push((name.clone(), tokens));
        Name(name)
    }

    /// Emitted code as tokens, with those of the user in their places.
    pub fn tokens(&self, code: &Code, out: &mut Vec<TokenTree>) {
        let text = code.as_str();
        let read = match text.parse() {
            Ok(read) => read,
            Err(_) => {
                trees::read("::core::compile_error! { \"ptx-dsl has made code that is not Rust; please report this\" }")
            }
        };
        if text.contains(PREFIX) { self.fill(read, out) } else { trees::add(read, out) }
    }

    fn fill(&self, tokens: TokenStream, out: &mut Vec<TokenTree>) {
        for tree in tokens {
            match &tree {
                TokenTree::Group(g) => {
                    let mut inner = Vec::new();
                    self.fill(g.stream(), &mut inner);
                    let mut filled = Group::new(g.delimiter(), trees::stream(inner));
                    filled.set_span(g.span());
                    out.push(TokenTree::Group(filled));
                }
                TokenTree::Ident(name) => match self.of(&name.to_string()) {
                    Some(tokens) => trees::add(tokens, out),
                    None => out.push(tree),
                },
                _ => out.push(tree),
            }
        }
    }

    fn of(&self, name: &str) -> Option<TokenStream> {
        if !name.starts_with(PREFIX) {
            return None;
        }
        for (hole, tokens) in self.0.borrow().as_slice() {
            if hole == name {
                return Some(tokens.clone());
            }
        }
        None
    }
}
