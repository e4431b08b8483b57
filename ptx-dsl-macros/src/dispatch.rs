//! `ptx!`: which form the input has.

use crate::closure;
use crate::expand::kernels;
use crate::tokens::Source;
use proc_macro2::TokenStream;
use ptx_dsl_frontend::parse::parse_header;

/// `ptx!`
pub fn ptx(input: TokenStream) -> TokenStream {
    let source = Source::new(input);
    let (_, used, _) = parse_header(&source.tokens);
    if let Some(bar) = closure::bar(&source.tokens, used) {
        return closure::closure(&source, bar);
    }
    let compiled = ptx_dsl_frontend::compile(&source.tokens);
    let (items, _) = kernels(&source, &compiled);
    items
}
