//! Rust types of parameters in a file that nobody compiles, as far as their text tells.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_image::rust_types::{RustType, other_elements, shown, wrong_types};

/// Finds what is wrong with the types. `text`: the text of a type; empty if a repetition made it.
pub fn check(compiled: &Compiled, text: &dyn Fn(Span) -> String) -> Vec<Diagnostic> {
    let ty = |span| match text(span) {
        unknown if unknown.is_empty() => Some(RustType::Value(TokenStream::new())),
        text => rust_type(text.parse().ok()?),
    };
    let mut found = Vec::new();
    if !compiled.failed() {
        found = other_elements(&compiled.hir, &|span| match ty(span)? {
            RustType::Slice { element, .. } => path_end(element),
            _ => None,
        });
    }
    found.append(&mut wrong_types(&compiled.hir, &|span| Some(ty(span)?.map(|tokens| shown(&tokens.to_string())))));
    // the spans of the next file begin at 0
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}

/// A type, as far as the macros tell types apart.
fn rust_type(tokens: TokenStream) -> Option<RustType<TokenStream>> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut rest = match trees.as_slice() {
        [] => return None,
        [TokenTree::Punct(and), rest @ ..] if and.as_char() == '&' => rest,
        _ => return Some(RustType::Value(tokens)),
    };
    if let [TokenTree::Punct(quote), TokenTree::Ident(_), behind @ ..] = rest
        && quote.as_char() == '\''
    {
        rest = behind;
    }
    let mutable = matches!(rest.first(), Some(TokenTree::Ident(word)) if word == "mut");
    match &rest[usize::from(mutable)..] {
        [] => None,
        [TokenTree::Group(slice)] if slice.delimiter() == Delimiter::Bracket && !is_array(slice.stream()) => {
            Some(RustType::Slice { mutable, element: slice.stream() })
        }
        rest => Some(RustType::Reference { mutable, element: element(rest) }),
    }
}

/// What a slice in place of a reference would have: `f32` of `f32`, `[f32; 4]` or `Vec<f32>`.
fn element(referred: &[TokenTree]) -> TokenStream {
    match referred {
        [TokenTree::Group(array)] => {
            let semicolon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ';');
            array.stream().into_iter().take_while(|tree| !semicolon(tree)).collect()
        }
        [TokenTree::Ident(vec), TokenTree::Punct(_), inner @ .., TokenTree::Punct(_)] if vec == "Vec" => {
            inner.iter().cloned().collect()
        }
        all => all.iter().cloned().collect(),
    }
}

/// `f32; 4`
fn is_array(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ';'))
}

/// The last name of a path: `f16` of `half::f16`.
fn path_end(tokens: TokenStream) -> Option<String> {
    let mut name = None;
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) => name = Some(word.to_string()),
            TokenTree::Punct(p) if p.as_char() == ':' => {}
            _ => return None,
        }
    }
    name
}
