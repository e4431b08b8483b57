//! `fn k(x: &mut [f32], n: u32)` after the name of a file: Rust types for the parameters of its kernels.

use crate::report;
use crate::report::Problem;
use crate::rust_type::rust_type;
use proc_macro2::{Span, TokenStream};
use ptx_dsl_codegen::rust_name;
use ptx_dsl_frontend::ast::{Function, Item, Module};
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::span::Span as Tokens;
use ptx_dsl_image::rust_types::RustType;
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{FnArg, Pat, PatIdent, Signature, Token};

/// The signatures, and the other tokens after the name of the file.
pub fn split(input: ParseStream<'_>) -> syn::Result<(Vec<Signature>, TokenStream)> {
    let (mut signatures, mut rest) = (Vec::new(), TokenStream::new());
    while !input.is_empty() {
        if input.peek(Token![,]) && input.peek2(Token![fn]) {
            let _: Token![,] = input.parse()?;
            signatures.push(input.parse()?);
        } else {
            rest.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
    }
    Ok((signatures, rest))
}

/// The error for tokens after `fn` that are no signature.
pub fn malformed(e: &syn::Error) -> TokenStream {
    problem(e.span(), format!("this is not a signature of a kernel: {e}"), "write `fn name(x: &[f32], n: u32)`")
}

/// Rust types with the numbers that stand for them in spans: after those of the file's tokens.
pub struct Types {
    first: u32,
    types: Vec<TokenStream>,
}

impl Types {
    /// None. `tokens`: the tokens of the file.
    pub fn new(tokens: usize) -> Self {
        Types { first: tokens as u32, types: Vec::new() }
    }

    /// The type that a span stands for; `None` if it is one of the file.
    pub fn get(&self, span: Tokens) -> Option<&TokenStream> {
        self.types.get(span.first.checked_sub(self.first)? as usize)
    }

    /// The first and the last token of a type.
    pub fn span(&self, span: Tokens) -> Option<(Span, Span)> {
        let mut tokens = self.get(span)?.clone().into_iter().map(|token| token.span());
        let first = tokens.next()?;
        Some((first, tokens.last().unwrap_or(first)))
    }

    /// Gives the parameters of the kernels their types. Returns errors as tokens.
    pub fn apply(&mut self, signatures: &[Signature], module: &mut Module) -> TokenStream {
        let mut out = TokenStream::new();
        for (n, signature) in signatures.iter().enumerate() {
            let name = &signature.ident;
            if signatures[..n].iter().any(|earlier| earlier.ident == *name) {
                out.extend(problem(name.span(), format!("`{name}` has two signatures"), "remove one"));
                continue;
            }
            match self.typed(signature, module) {
                Ok(()) => {}
                Err(error) => out.extend(error),
            }
        }
        out
    }

    fn typed(&mut self, signature: &Signature, module: &mut Module) -> Result<(), TokenStream> {
        let name = &signature.ident;
        let plain = signature.generics.params.is_empty() && signature.variadic.is_none();
        if let syn::ReturnType::Type(_, ty) = &signature.output {
            return Err(problem(ty.span(), "a kernel returns nothing".into(), "remove the type of the result"));
        }
        if !plain || signature.constness.is_some() || signature.asyncness.is_some() || signature.abi.is_some() {
            return Err(problem(
                name.span(),
                "this is not a signature of a kernel".into(),
                "write `fn name(x: &[f32], n: u32)`",
            ));
        }
        let mut kernels = Vec::new();
        let mut found = None;
        for item in &mut module.items {
            if let Item::Function(f) = item
                && f.entry
                && f.body.is_some()
            {
                kernels.push(format!("`{}`", rust_name(&f.name.text)));
                if rust_name(&f.name.text) == *name {
                    found = Some(f);
                }
            }
        }
        let Some(kernel) = found else {
            let known =
                if kernels.is_empty() { "it has none".into() } else { format!("it has {}", kernels.join(", ")) };
            return Err(problem(name.span(), format!("the file has no kernel `{name}`"), &known));
        };
        let declared: usize = kernel.params.iter().map(|p| p.names.len()).sum();
        if declared != signature.inputs.len() {
            let (s, given) = (if declared == 1 { "" } else { "s" }, signature.inputs.len());
            let message = format!("`{name}` has {declared} parameter{s}, but the signature has {given}");
            let names = kernel.params.iter().flat_map(|p| &p.names).map(|d| format!("`{}`", d.name.text));
            let names: Vec<String> = names.collect();
            let help = if names.is_empty() { "write `()`".into() } else { format!("they are {}", names.join(", ")) };
            return Err(problem(name.span(), message, &help));
        }
        let wrong = names_of_others(signature, kernel);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let declarators = kernel.params.iter_mut().flat_map(|p| &mut p.names);
        for (declarator, input) in declarators.zip(&signature.inputs) {
            let FnArg::Typed(input) = input else {
                return Err(problem(input.span(), "a kernel is not a method".into(), "write a name and a type"));
            };
            let tokens = input.ty.to_token_stream();
            declarator.read_only = matches!(rust_type(tokens.clone()), Some(RustType::Slice { mutable: false, .. }));
            declarator.rust_type = Some(Tokens::token(self.first + self.types.len() as u32));
            self.types.push(tokens);
        }
        Ok(())
    }
}

/// Errors at names that other parameters of the kernel have. Names that the file does not have are free: those of compilers say nothing.
fn names_of_others(signature: &Signature, kernel: &Function) -> TokenStream {
    let names: Vec<String> =
        kernel.params.iter().flat_map(|p| &p.names).map(|d| rust_name(&d.name.text).to_string()).collect();
    let mut out = TokenStream::new();
    for (n, input) in signature.inputs.iter().enumerate() {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(PatIdent { ident, .. }) = &*input.pat else { continue };
        let given = ident.to_string();
        if names[n] != given && names.contains(&given) {
            let message = format!("`{given}` stands for the parameter `{}` of `{}`", names[n], signature.ident);
            let order: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            out.extend(problem(ident.span(), message, &format!("the order in the file is {}", order.join(", "))));
        }
    }
    out
}

fn problem(at: Span, message: String, help: &str) -> TokenStream {
    report::problem(&Problem {
        code: code::NO_INCLUDED_FILE,
        message,
        first: at,
        last: at,
        help: Some(help.to_owned()),
    })
}
