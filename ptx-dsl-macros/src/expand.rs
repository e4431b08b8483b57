//! The item form: turns a compiled module into Rust items, the findings first, then an item for each kernel.

use crate::instances;
use crate::report;
use crate::report::Problem;
use crate::rust_type::rust_type;
use crate::tokens::{self, Source};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use ptx_dsl_codegen as emit;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::hir::FuncId;
use ptx_dsl_frontend::parse::HostCode;
use ptx_dsl_frontend::parse::repeat::Instances;
use quote::{ToTokens, quote};
use std::borrow::Cow;
use std::cell::RefCell;

/// The kind of an expansion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pass {
    /// Findings, and a type for each kernel. The types ask for the other pass where kernels are compiled.
    Types,
    /// The compiled code of the kernels. There are no errors then.
    Code,
}

/// The items of all kernels, with findings in the first pass, and the Rust names of the kernels. `instances`: those of kernels with
/// listed const parameters. `again` is the input of the second pass.
pub fn kernels(
    source: &Source,
    (compiled, instances): (&Compiled, &[Instances]),
    (pass, host_code, again): (Pass, HostCode, &TokenStream),
) -> (TokenStream, Vec<Ident>) {
    let line = |s: ptx_dsl_frontend::span::Span| ptx_dsl_image::Line {
        number: source.line(s),
        of_piece: source.lines_of_piece(s.first),
    };
    let rust = |s| source.rust(s);
    let spans = |s| source.span(s);
    let place = |s| source.place(s);
    let instance = |name: &str| instances::path(instances, name, source);
    let expansion =
        Expansion { line: &line, spans: &spans, rust: &rust, file: None, place: &place, instance: &instance };
    match pass {
        Pass::Types => expansion.types(compiled, host_code, again),
        Pass::Code => (expansion.code(compiled), Vec::new()),
    }
}

/// Findings alone.
pub fn findings(source: &Source, found: &[Diagnostic]) -> TokenStream {
    report::items(found, &|s| source.span(s), &|s| source.place(s))
}

/// The attribute of the compiled code of kernels; `None` if there is none in any build. With `compiled` of any crate of the program the
/// feature `interpreted` has no effect: that crate wants it.
fn attribute(host_code: HostCode) -> Option<TokenStream> {
    match host_code {
        HostCode::Never => None,
        HostCode::Always => Some(TokenStream::new()),
        HostCode::ByBuild if cfg!(feature = "compiled") => Some(TokenStream::new()),
        HostCode::ByBuild if cfg!(feature = "interpreted") => None,
        // a development build interprets: rustc strips the code before it looks at it
        HostCode::ByBuild => Some(quote!(#[cfg(not(debug_assertions))])),
    }
}

/// The source of a module: PTX tokens in Rust, or PTX in a file.
pub struct Expansion<'a> {
    pub line: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> ptx_dsl_image::Line,
    pub spans: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> (Span, Span),
    /// The Rust tokens of a parameter's type.
    pub rust: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> TokenStream,
    pub file: Option<String>,
    /// `file:line:column` and the source line, for places that rustc cannot show.
    pub place: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> Option<String>,
    /// The path of the type of a kernel that is an instance.
    pub instance: &'a dyn Fn(&str) -> Option<TokenStream>,
}

impl Expansion<'_> {
    /// Findings first, then an item per kernel. If there are errors, the items are stubs, so that rustc goes on.
    pub fn types(self, compiled: &Compiled, host_code: HostCode, again: &TokenStream) -> (TokenStream, Vec<Ident>) {
        let problems = RefCell::new(Vec::new());
        let (name, rust_type) = self.of_source();
        let places = emit::Places { rust: self.rust, span: self.spans };
        let broken = compiled.failed();
        let texts = (!broken).then(|| compiled.entries());
        let alone = |kernel: &str| texts.as_ref()?.alone(kernel);
        let source = self.source(&name, &rust_type, &alone, (&places, &problems));
        let attribute = attribute(host_code);
        let attribute = attribute.as_ref();
        let mut out = report::items(&compiled.diagnostics, self.spans, self.place);
        let entries = entries(compiled);
        if self.names_halves(compiled) {
            out.extend(quote!(
                #[allow(unused_imports)]
                use ::ptx_dsl::__private::halves::*;
            ));
        }
        if let Some((id, first, at)) = entries.first() {
            let module = if broken { Cow::Borrowed(&compiled.hir) } else { ptx_dsl_image::for_engines(&compiled.hir) };
            let first = (first, &module.functions[id.0 as usize]);
            let text =
                emit::Text::new((&compiled.ptx, &compiled.lines), &module.constants, first, self.position(*at), broken);
            out.extend(text.items(source.places));
            for (entry, ..) in &entries {
                out.extend(emit::kernel(&module, *entry, &source, &text, broken, attribute));
            }
            if let (false, Some(attribute)) = (broken, attribute) {
                out.extend(quote! {
                    #attribute
                    const _: () = { ::ptx_dsl::__private::compile_kernels! { #again } };
                });
            }
        }
        for emit::Problem { message, at, help } in problems.into_inner() {
            let (first, last) = (self.spans)(at);
            out.extend(report::problem(&Problem {
                code: code::RUST_TYPE_MISMATCH,
                message,
                first,
                last,
                help: Some(help),
            }));
        }
        let mut names = Vec::new();
        for (_, name, at) in &entries {
            names.push(self.ident(name, *at));
        }
        (out, names)
    }

    /// Does the type of a parameter name `f16` or `bf16`?
    fn names_halves(&self, compiled: &Compiled) -> bool {
        let entries = compiled.hir.functions.iter().filter(|f| f.entry && f.defined);
        let types = entries.flat_map(|f| &f.params).filter_map(|param| param.rust_type);
        types.into_iter().any(|at| has_half((self.rust)(at)))
    }

    /// The compiled code of all kernels.
    pub fn code(self, compiled: &Compiled) -> TokenStream {
        let problems = RefCell::new(Vec::new());
        let (name, rust_type) = self.of_source();
        let places = emit::Places { rust: self.rust, span: self.spans };
        let source = self.source(&name, &rust_type, &|_| None, (&places, &problems));
        let entries = entries(compiled);
        let Some((id, first, at)) = entries.first() else { return TokenStream::new() };
        let module = ptx_dsl_image::for_engines(&compiled.hir);
        let first = (first, &module.functions[id.0 as usize]);
        let text =
            emit::Text::new((&compiled.ptx, &compiled.lines), &module.constants, first, self.position(*at), false);
        entries.iter().map(|(entry, ..)| emit::compiled(&module, *entry, &source, &text)).collect()
    }

    /// Functions that code generation asks of the source.
    #[allow(clippy::type_complexity)]
    fn of_source(
        &self,
    ) -> (
        impl Fn(&Ident, ptx_dsl_frontend::span::Span) -> Ident,
        impl Fn(ptx_dsl_frontend::span::Span) -> Option<ptx_dsl_image::rust_types::RustType<TokenStream>>,
    ) {
        (|name: &Ident, s| self.ident(name, s), |s| Some(rust_type((self.rust)(s))?.map(ToTokens::into_token_stream)))
    }

    fn source<'s>(
        &'s self,
        name: &'s dyn Fn(&Ident, ptx_dsl_frontend::span::Span) -> Ident,
        rust_type: &'s dyn Fn(ptx_dsl_frontend::span::Span) -> Option<ptx_dsl_image::rust_types::RustType<TokenStream>>,
        alone: &'s dyn Fn(&str) -> Option<String>,
        (places, problems): (&'s emit::Places<'s>, &'s RefCell<Vec<emit::Problem>>),
    ) -> emit::Source<'s> {
        let (line, file, instance) = (self.line, self.file.clone(), self.instance);
        emit::Source { line, name, rust_type, file, alone, instance, places, problems }
    }

    fn position(&self, at: ptx_dsl_frontend::span::Span) -> String {
        tokens::position((self.spans)(at).0)
    }

    /// A name with the span of the user's.
    fn ident(&self, name: &Ident, at: ptx_dsl_frontend::span::Span) -> Ident {
        let mut name = name.clone();
        name.set_span((self.spans)(at).0);
        name
    }
}

/// Do the tokens of a type have the name `f16` or `bf16`?
fn has_half(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => name == "f16" || name == "bf16",
        TokenTree::Group(group) => has_half(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The kernels of a module, with their Rust names.
fn entries(compiled: &Compiled) -> Vec<(FuncId, Ident, ptx_dsl_frontend::span::Span)> {
    let functions = (0..).zip(&compiled.hir.functions).filter(|(_, f)| f.entry && f.defined);
    functions.map(|(i, f)| (FuncId(i), emit::rust_name(&f.name), f.span)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreted_kernels_have_no_code() {
        assert!(attribute(HostCode::Never).is_none());
        assert!(attribute(HostCode::Always).is_some_and(|always| always.is_empty()));
        if !cfg!(any(feature = "compiled", feature = "interpreted")) {
            assert_eq!(
                attribute(HostCode::ByBuild).unwrap().to_string(),
                quote!(#[cfg(not(debug_assertions))]).to_string()
            );
        }
    }
}
