//! `ptx!`: which form the input has.

use crate::closure;
use crate::elements;
use crate::expand::{Pass, kernels};
use crate::hints;
use crate::include;
use crate::tokens::Source;
use proc_macro2::{TokenStream, TokenTree};
use ptx_dsl_frontend::parse::parse_header;
use quote::quote;

/// `ptx!`
pub fn ptx(input: TokenStream, pass: Pass) -> TokenStream {
    let again = quote!(ptx #input);
    let mut source = Source::new(input);
    let expanded = source.expand();
    let (header, used, _) = parse_header(&source.tokens);
    let always = header.is_some_and(|header| header.compiled);
    if let Some(bar) = closure::bar(&source.tokens, used) {
        return closure::closure(&source, bar, expanded.as_ref(), (pass, always, &again));
    }
    let mut compiled = ptx_dsl_frontend::compile_in_rust(&source.tokens);
    if pass == Pass::Types && !compiled.failed() {
        elements::check(&mut compiled, &|span| source.rust(span));
    }
    if let Some(expanded) = &expanded {
        expanded.report(&mut compiled.diagnostics);
    }
    let written = expanded.as_ref().map_or(&source.tokens, |expanded| &expanded.written);
    hints::constants(written, false, &mut compiled.diagnostics);
    kernels(&source, &compiled, (pass, always, &again)).0
}

/// The second pass: the name of the macro, and its input.
pub fn code(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    match tokens.next() {
        Some(TokenTree::Ident(form)) if form == "include" => include::include(tokens.collect(), Pass::Code),
        _ => ptx(tokens.collect(), Pass::Code),
    }
}
