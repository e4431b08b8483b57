//! `ptx!`: which form the input has.

use crate::closure;
use crate::editor;
use crate::elements;
use crate::expand;
use crate::expand::{Pass, kernels};
use crate::include;
use crate::instances;
use crate::layouts;
use crate::parts;
use crate::parts::{Module, Step};
use crate::tokens::Source;
use proc_macro2::{TokenStream, TokenTree};
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::session::{Input, Session, check_definitions};
use quote::quote;

/// `ptx!`
pub fn ptx(input: TokenStream, pass: Pass) -> TokenStream {
    let module = match parts::step(input) {
        Step::Call(tokens) => return tokens,
        Step::Module(module) => module,
    };
    let editor = if pass == Pass::Types { editor::call(&module) } else { TokenStream::new() };
    module_items(module, pass, &editor)
}

/// The items of a module whose parts are known. `editor`: what goes before them.
fn module_items(module: Module, pass: Pass, editor: &TokenStream) -> TokenStream {
    let definitions = module.definitions();
    let mut source = Source::of(&module);
    if !editor.is_empty() && source.marker.is_some() {
        // what follows the call of `editor!` is not looked at
        let is_closure = ptx_dsl_frontend::source::closure::bar(&source.tokens).is_some();
        return if is_closure { quote!({ #editor }) } else { editor.clone() };
    }
    if !definitions.is_empty() {
        let own = source.own..source.tokens.len();
        let found = check_definitions(&source.without_parts(), &source.tokens, own, source.hidden());
        let broken = found.iter().any(|d| d.severity == Severity::Error);
        let mut out = editor.clone();
        out.extend(expand::findings(&source, &found));
        out.extend(definitions.first().map(|definition| definition.item(&module, broken)));
        if let Some(definition) = definitions.first().filter(|_| !broken) {
            out.extend(layouts::of_part(definition.visibility(), &source));
        }
        return out;
    }
    let again = module.again();
    let again = quote!(ptx #again);
    let expanded = source.expand();
    let header = parse_header(&source.tokens).0;
    let host_code = header.as_ref().map(|header| header.host_code).unwrap_or_default();
    let mut notes = source.notes(header.is_some_and(|header| header.lines));
    if let Some(expanded) = &expanded {
        expanded.place_comments(&source.tokens, &mut notes);
    }
    let closure = closure::read(&source);
    let (tokens, found) = match &closure {
        None => (&source.tokens, Vec::new()),
        Some(Ok((tokens, found))) => (tokens, found.clone()),
        Some(Err(found)) => {
            let found = expand::findings(&source, found);
            return quote!(#editor #found);
        }
    };
    let own = match (pass, &closure) {
        (Pass::Types, None) => {
            Some(source.own..expanded.as_ref().map_or(source.tokens.len(), |expanded| expanded.written.len()))
        }
        _ => None,
    };
    let elsewhere = |found: &mut Vec<Diagnostic>| found.retain(|d| !source.is_broken(d.span));
    let types = |compiled: &Compiled| elements::other(compiled, &|span| source.rust(span));
    let session = Session {
        in_rust: true,
        elsewhere: expanded.as_ref().map(|_| &elsewhere as _),
        types: (pass == Pass::Types).then_some(&types as _),
        ..Session::default()
    };
    let compiled = session.compile(Input {
        tokens,
        expanded: expanded.as_ref(),
        is_closure: closure.is_some(),
        notes,
        own,
        hidden: source.hidden(),
        found,
    });
    let listed = expanded.as_ref().map_or(&[][..], |expanded| &expanded.instances);
    let (mut out, names) = kernels(&source, (&compiled, listed), (pass, host_code, &again));
    if pass == Pass::Types {
        let made = compiled.hir.functions.iter().map(|f| f.name.as_str()).collect();
        out.extend(listed.iter().map(|all| instances::items(all, &made, &source)));
    }
    if pass == Pass::Types && closure.is_none() {
        out.extend(layouts::items(&compiled.ast.layouts, &quote!(pub), &source));
    }
    match closure {
        Some(_) if pass == Pass::Types => quote!({ #editor #out #(#names())* }),
        _ => quote!(#editor #out),
    }
}

/// The second pass: the name of the macro, and its input.
pub fn code(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    match tokens.next() {
        Some(TokenTree::Ident(form)) if form == "include" => include::include(tokens.collect(), Pass::Code),
        _ => ptx(tokens.collect(), Pass::Code),
    }
}
