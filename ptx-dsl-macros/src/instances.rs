//! The Rust items of a kernel with listed const parameters: `gemm::<64, 2>` is the kernel `gemm_64_2`.
//!
//! They share one generic type. What a kernel implements, an instance implements for the type with its values. The function that makes a
//! value of the type requires the instance, with a message that lists all instances.

use crate::tokens::{Source, position};
use proc_macro2::{Ident, Literal, Span as RustSpan, TokenStream};
use ptx_dsl_codegen::{exported, primitive, rust_name};
use ptx_dsl_frontend::parse::repeat::Instances;
use ptx_dsl_frontend::span::Span;
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashSet;

/// The path of the type of the instance that is the `.entry`.
pub fn path(all: &[Instances], entry: &str, source: &Source) -> Option<TokenStream> {
    all.iter().find_map(|all| {
        let (values, _) = all.kernels.iter().find(|(_, name)| name == entry)?;
        let (module, ident, values) = (module(all, source), ident(all, source), arguments(all, values));
        Some(quote!(#module::#ident::<#(#values),*>))
    })
}

/// The name of all, at its place.
fn ident(all: &Instances, source: &Source) -> Ident {
    let mut ident = rust_name(&all.name);
    ident.set_span(source.span(Span::token(all.at)).0);
    ident
}

/// The module of the type.
fn module(all: &Instances, source: &Source) -> Ident {
    format_ident!("__ptx_{}_{}", all.name, position(source.span(Span::token(all.at)).0))
}

/// The values of an instance, as generic arguments.
fn arguments(all: &Instances, values: &[i64]) -> Vec<TokenStream> {
    let arguments = all.parameters.iter().zip(values).map(|((_, ty), value)| match ty.name() {
        "bool" => {
            let value = *value != 0;
            quote!(#value)
        }
        _ => {
            // without braces: rust-analyzer finds no items of a type that has blocks as arguments
            let (sign, value) = (value.is_negative().then(|| quote!(-)), Literal::u64_unsuffixed(value.unsigned_abs()));
            quote!(#sign #value)
        }
    });
    arguments.collect()
}

/// The generic type, and its alias and function. `made`: the entries that there are.
pub fn items(all: &Instances, made: &HashSet<&str>, source: &Source) -> TokenStream {
    let (ident, module) = (ident(all, source), module(all, source));
    let instance = format_ident!("__PtxInstance_{}", all.name);
    let (names, parameters): (Vec<_>, Vec<_>) = all
        .parameters
        .iter()
        .map(|(name, ty)| {
            let (name, ty) = (rust_name(name), primitive(ty.name()));
            (name.clone(), quote!(const #name: #ty))
        })
        .unzip();
    let kernels: Vec<_> = all.kernels.iter().filter(|(_, entry)| made.contains(entry.as_str())).collect();
    let impls = kernels.iter().map(|(values, _)| {
        let values = arguments(all, values);
        quote!(impl #instance<#(#values),*> for () {})
    });
    let instances = shown(all, &kernels);
    let doc = format!("The instances of the kernel `{}`: {instances}.", all.name);
    let places: Vec<String> = all.parameters.iter().map(|(name, _)| format!("{{{name}}}")).collect();
    let message = format!("the kernel `{}` has no instance `<{}>`", all.name, places.join(", "));
    let note = format!("its instances are {instances}");
    let path = quote!(#module::#ident::<#({ #names }),*>);
    let at = RustSpan::call_site().located_at(ident.span());
    let mut items = quote_spanned! {at=>
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        pub struct #ident<#(#parameters),*> {}
    };
    items.extend(quote! {
        impl<#(#parameters),*> ::core::ops::Deref for #ident<#({ #names }),*> {
            type Target = ::ptx_dsl::__private::kernel_fn::NoInstance;
            fn deref(&self) -> &Self::Target {
                ::ptx_dsl::__private::kernel_fn::NoInstance::none()
            }
        }

        #[allow(non_camel_case_types)]
        #[diagnostic::on_unimplemented(
            message = #message,
            label = "no such instance",
            note = #note,
            note = "add the value to the list of its const parameter"
        )]
        pub trait #instance<#(#parameters),*> {}
        #(#impls)*
    });
    let function = quote_spanned! {at=>
        #[doc = #doc]
        #[allow(non_snake_case, dead_code)]
        pub const fn #ident<#(#parameters),*>() -> #path
        where
            (): #module::#instance<#({ #names }),*>,
        {
            #path {}
        }
    };
    let exported = exported(&module, &ident, &items, &function);
    quote! {
        #exported
        #[allow(unused_imports, unreachable_pub)]
        pub use ::ptx_dsl::__private::kernel_fn::NoInstanceFn as _;
    }
}

/// `<64, 2>`, `<64, 4>` and so on; of many the first ones.
fn shown(all: &Instances, kernels: &[&(Vec<i64>, String)]) -> String {
    const MOST: usize = 12;
    let one = |(values, _): &&(Vec<i64>, String)| {
        let values = all.parameters.iter().zip(values).map(|((_, ty), value)| match ty.name() {
            "bool" => (*value != 0).to_string(),
            _ => value.to_string(),
        });
        format!("`<{}>`", values.collect::<Vec<_>>().join(", "))
    };
    let mut texts: Vec<String> = kernels.iter().take(MOST).map(one).collect();
    if kernels.len() > MOST {
        texts.push(format!("and {} more", kernels.len() - MOST));
    }
    texts.join(", ")
}
