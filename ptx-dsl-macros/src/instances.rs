//! The Rust items of a kernel with listed const parameters: `gemm::<64, 2>` is the kernel `gemm_64_2`.

use crate::tokens::Source;
use proc_macro2::{Literal, TokenStream};
use ptx_dsl_codegen::{primitive, rust_name};
use ptx_dsl_frontend::parse::repeat::Instances;
use ptx_dsl_frontend::span::Span;
use quote::{format_ident, quote};
use std::collections::HashSet;

/// A type alias and a function of the name. `made`: the entries that there are.
pub fn items(all: &Instances, made: &HashSet<&str>, source: &Source) -> TokenStream {
    let at = source.span(Span::token(all.at)).0;
    let mut ident = rust_name(&all.name);
    ident.set_span(at);
    let instance = format_ident!("__PtxInstance_{}", all.name, span = at);
    let (names, parameters): (Vec<_>, Vec<_>) = all
        .parameters
        .iter()
        .map(|(name, ty)| {
            let (name, ty) = (rust_name(name), primitive(ty.name()));
            (name.clone(), quote!(const #name: #ty))
        })
        .unzip();
    let kernels: Vec<_> = all.kernels.iter().filter(|(_, entry)| made.contains(entry.as_str())).collect();
    let impls = kernels.iter().map(|(values, entry)| {
        let mut kernel = rust_name(entry);
        kernel.set_span(at);
        let values = all.parameters.iter().zip(values).map(|((_, ty), value)| match ty.name() {
            "bool" => {
                let value = *value != 0;
                quote!(#value)
            }
            _ => {
                let value = Literal::i64_unsuffixed(*value);
                quote!({ #value })
            }
        });
        quote! {
            impl #instance<#(#values),*> for () {
                type Kernel = #kernel;
                const KERNEL: #kernel = #kernel();
            }
        }
    });
    let instances = shown(all, &kernels);
    let doc = format!("The instances of the kernel `{}`: {instances}.", all.name);
    let places: Vec<String> = all.parameters.iter().map(|(name, _)| format!("{{{name}}}")).collect();
    let message = format!("the kernel `{}` has no instance `<{}>`", all.name, places.join(", "));
    let note = format!("its instances are {instances}");
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #[diagnostic::on_unimplemented(
            message = #message,
            label = "no such instance",
            note = #note,
            note = "add the value to the list of its const parameter"
        )]
        pub trait #instance<#(#parameters),*> {
            type Kernel;
            const KERNEL: Self::Kernel;
        }
        #(#impls)*

        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        pub type #ident<#(#parameters),*> = <() as #instance<#({ #names }),*>>::Kernel;

        #[doc = #doc]
        #[allow(non_snake_case, dead_code)]
        pub const fn #ident<#(#parameters),*>() -> #ident<#({ #names }),*>
        where
            (): #instance<#({ #names }),*>,
        {
            <() as #instance<#({ #names }),*>>::KERNEL
        }
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
