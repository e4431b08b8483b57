//! `ptx!`: which form the input has.

use crate::closure;
use crate::elements;
use crate::expand;
use crate::expand::{Pass, kernels};
use crate::include;
use crate::instances;
use crate::parts;
use crate::parts::Step;
use crate::tokens::Source;
use proc_macro2::{TokenStream, TokenTree};
use ptx_dsl_frontend::check_parts;
use ptx_dsl_frontend::diag::{Severity, show_uses};
use ptx_dsl_frontend::hints;
use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::parse::repeat::{beside_part, has_pieces};
use quote::quote;

/// `ptx!`
pub fn ptx(input: TokenStream, pass: Pass) -> TokenStream {
    let module = match parts::step(input) {
        Step::Call(tokens) => return tokens,
        Step::Module(module) => module,
    };
    let definitions = module.definitions();
    let mut source = Source::of(&module);
    if !definitions.is_empty() {
        let mut found = beside_part(&source.without_parts());
        found.extend(check_parts(&source.tokens, source.own..source.tokens.len(), source.hidden()));
        hints::constants(&source.tokens, false, &mut found);
        let broken = found.iter().any(|d| d.severity == Severity::Error);
        let mut out = expand::findings(&source, &found);
        out.extend(definitions.first().map(|definition| definition.item(&module, broken)));
        return out;
    }
    let again = module.again();
    let again = quote!(ptx #again);
    let expanded = source.expand();
    let (header, used, _) = parse_header(&source.tokens);
    let always = header.as_ref().is_some_and(|header| header.compiled);
    let mut notes = source.notes(header.is_some_and(|header| header.lines));
    if let Some(expanded) = &expanded {
        expanded.place_comments(&source.tokens, &mut notes);
    }
    if let Some(bar) = closure::bar(&source.tokens, used) {
        return closure::closure(&source, bar, (expanded.as_ref(), notes), (pass, always, &again));
    }
    let written = expanded.as_ref().map_or(&source.tokens, |expanded| &expanded.written);
    let alone = match pass {
        Pass::Types if has_pieces(&written[source.own..]) => {
            check_parts(written, source.own..written.len(), source.hidden())
        }
        _ => Vec::new(),
    };
    let mut compiled = ptx_dsl_frontend::compile_in_rust(&source.tokens, notes);
    if pass == Pass::Types && !compiled.failed() {
        elements::check(&mut compiled, &|span| source.rust(span));
    }
    expand::place(&source, (expanded.as_ref(), &alone), &mut compiled.diagnostics);
    hints::constants(written, false, &mut compiled.diagnostics);
    show_uses(&alone, &mut compiled.diagnostics);
    let listed = expanded.as_ref().map_or(&[][..], |expanded| &expanded.instances);
    let mut out = kernels(&source, (&compiled, listed), (pass, always, &again)).0;
    if pass == Pass::Types {
        let made = compiled.hir.functions.iter().map(|f| f.name.as_str()).collect();
        out.extend(listed.iter().map(|all| instances::items(all, &made, &source)));
    }
    out
}

/// The second pass: the name of the macro, and its input.
pub fn code(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    match tokens.next() {
        Some(TokenTree::Ident(form)) if form == "include" => include::include(tokens.collect(), Pass::Code),
        _ => ptx(tokens.collect(), Pass::Code),
    }
}
