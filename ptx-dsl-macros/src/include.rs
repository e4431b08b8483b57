//! `include_ptx!("file.ptx")`: `ptx!` for a file. Like that of `include_str!`, the path is relative to the Rust file that
//! contains it. A PTX file has no header, so levels of findings follow its name: `include_ptx!("file.ptx", allow(PTX0516))`.

mod search;
mod signature;

use crate::elements;
use crate::expand::{Expansion, Pass};
use crate::report;
use crate::report::Problem;
use crate::tokens::Source;
use proc_macro2::{Span, TokenStream};
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::parse::{FileOptions, parse_file_options};
use ptx_dsl_frontend::session::{self, Session};
use ptx_dsl_frontend::span::Span as Tokens;
use ptx_dsl_image::Line;
use quote::quote;
use signature::Types;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Signature};

/// The name of a file, and the tokens after it.
struct Input {
    name: LitStr,
    /// The signatures, and the other tokens after the name.
    signatures: syn::Result<(Vec<Signature>, TokenStream)>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input
            .parse()
            .map_err(|e: syn::Error| syn::Error::new(e.span(), "`include_ptx!` takes a string, the path of a file"))?;
        let signatures = signature::split(input);
        if signatures.is_err() {
            let _: TokenStream = input.parse()?;
        }
        Ok(Input { name, signatures })
    }
}

/// Expands the macro.
pub fn include(input: TokenStream, pass: Pass) -> TokenStream {
    let again = quote!(include #input);
    let Input { name, signatures } = match syn::parse2(input) {
        Ok(input) => input,
        Err(e) => return fail(e.to_string(), e.span()),
    };
    let (signatures, rest) = match signatures {
        Ok(both) => both,
        Err(e) => return signature::malformed(&e),
    };
    let (name, span, rest) = (name.value(), name.span(), Source::new(rest));
    let path = path(&name, span);
    match std::fs::read_to_string(&path) {
        Ok(text) => expand((&name, span), (&text, &path), (&signatures, &rest), (pass, again)),
        Err(e) => fail(format!("cannot read `{}`: {e}", path.display()), span),
    }
}

/// The file of that name. If the compiler does not tell which file contains the macro, the package is searched.
fn path(name: &str, span: Span) -> PathBuf {
    if let Some(mut path) = span.unwrap().local_file() {
        path.pop();
        path.push(name);
        return path;
    }
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(".".into());
    search::search(Path::new(&package), name).unwrap_or(name.into())
}

fn fail(message: String, span: Span) -> TokenStream {
    let help = Some("write `include_ptx!(\"kernel.ptx\")`, relative to this file".to_owned());
    report::problem(&Problem { code: code::NO_INCLUDED_FILE, message, first: span, last: span, help })
}

/// Expands the file's text; `rest` are the tokens after its name and the signatures.
fn expand(
    (name, span): (&str, Span),
    (text, path): (&str, &Path),
    (signatures, rest): (&[Signature], &Source),
    (pass, again): (Pass, TokenStream),
) -> TokenStream {
    let (FileOptions { levels, host_code }, mut wrong) = parse_file_options(&rest.tokens);
    let (lexed, found) = lex(text);
    let (signed, out) = (RefCell::new(Types::new(lexed.ranges.len())), RefCell::new(TokenStream::new()));
    let rust_of = |s| match signed.borrow().get(s) {
        Some(ty) => ty.clone(),
        None => text.get(lexed.bytes(s)).unwrap_or_default().parse().unwrap_or_default(),
    };
    let types = |compiled: &Compiled| elements::other(compiled, &rust_of);
    // What is wrong with them is reported where they stand.
    wrong.append(&mut levels::errors(&levels));
    let levels: Vec<_> = levels.into_iter().filter(|l| levels::errors(&[*l]).is_empty()).collect();
    let session = Session {
        levels: &levels,
        change: Some(&|module| *out.borrow_mut() = signed.borrow_mut().apply(signatures, module)),
        types: (pass == Pass::Types).then_some(&types),
        ..Session::default()
    };
    let compiled = session.compile(session::Input {
        tokens: &lexed.tokens,
        notes: lexed.notes(),
        found,
        ..session::Input::default()
    });
    let (types, mut out) = (signed.into_inner(), out.into_inner());
    let bytes = |s| if types.get(s).is_some() { 0..0 } else { lexed.bytes(s) };
    let rust = |s| match types.get(s) {
        Some(ty) => ty.clone(),
        None => text.get(bytes(s)).unwrap_or_default().parse().unwrap_or_default(),
    };
    out.extend(report::items(&wrong, &|s| rest.span(s), &|_| None));
    let lines = Lines::new(text);
    let at = |s: ptx_dsl_frontend::span::Span| lines.line_column(bytes(s).start);
    let place = |s: ptx_dsl_frontend::span::Span| {
        if types.get(s).is_some() {
            return None;
        }
        let (line, column) = at(s);
        let shown = lines.text(line.saturating_sub(1)).trim_end();
        Some(format!("{name}:{line}:{column}\n  | {shown}"))
    };
    let line = |s| Line::from(at(s).0 as u32);
    let about = about_parameters(&compiled, &types);
    let spans = |s| {
        let parameter = about.iter().find(|(finding, _)| *finding == s).map_or(s, |(_, ty)| *ty);
        types.span(parameter).unwrap_or((span, span))
    };
    let expansion = Expansion {
        line: &line,
        spans: &spans,
        rust: &rust,
        file: Some(name.to_owned()),
        place: &place,
        instance: &|_| None,
    };
    if pass == Pass::Code {
        return expansion.code(&compiled);
    }
    out.extend(expansion.types(&compiled, host_code, &again).0);
    // rustc rebuilds when the file changes.
    let absolute = std::path::absolute(path);
    let absolute = absolute.as_deref().unwrap_or(path).to_string_lossy();
    out.extend(quote!(
        const _: &[::core::primitive::u8] = ::core::include_bytes!(#absolute);
    ));
    out
}

/// The places of findings in the file that are about a parameter, each with the type in its signature: rustc shows them there.
fn about_parameters(compiled: &Compiled, types: &Types) -> Vec<(Tokens, Tokens)> {
    let parameters = || compiled.hir.functions.iter().flat_map(|f| &f.params);
    let of = |label: Tokens| match types.get(label) {
        Some(_) => Some(label),
        None => parameters().find(|p| p.span == label)?.rust_type,
    };
    let found = compiled.diagnostics.iter().filter(|d| types.get(d.span).is_none());
    found.filter_map(|d| Some((d.span, d.labels.iter().find_map(|(label, _)| of(*label))?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::{Delimiter, Group, TokenTree};

    #[test]
    fn a_string_comes_first() {
        let read =
            |tokens| syn::parse2::<Input>(tokens).ok().map(|i| (i.name.value(), i.signatures.unwrap().1.to_string()));
        let found = |name: &str, rest: &str| Some((name.to_owned(), rest.to_owned()));
        assert_eq!(read(quote!("a/b.ptx")), found("a/b.ptx", ""));
        assert_eq!(read(quote!(r#"a\b"#, allow(PTX0516))), found("a\\b", ", allow (PTX0516)"));
        let literal = TokenTree::Group(Group::new(Delimiter::None, quote!("\u{e9}.ptx")));
        assert_eq!(read(quote!(#literal)), found("\u{e9}.ptx", ""), "the `$name` of a macro");
        for none in [quote!(), quote!(5), quote!(b"x"), quote!(name), quote!(concat!("a", "b"))] {
            assert_eq!(read(none.clone()), None, "{none}");
        }
    }
}
