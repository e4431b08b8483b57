//! Constants of a kernel: qualifiers of its instructions.

use crate::names::RT;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::qualifier::Qualifier;
use ptx_dsl_isa::ty::Ty;
use quote::{format_ident, quote};

/// The qualifiers and types of each constant.
#[derive(Default)]
pub struct Constants(Vec<(Vec<Qualifier>, Vec<Ty>)>);

impl Constants {
    /// The constant for an instruction's qualifiers and types, and its item if it is new.
    pub fn qualifiers(&mut self, kernel: &Kernel<'_>, i: &Instr) -> (Ident, Option<TokenStream>) {
        let flags = kernel.qualifiers(i);
        if let Some(n) = self.0.iter().position(|(f, t)| *f == flags && *t == i.types) {
            return (format_ident!("Q{n}"), None);
        }
        let rt = RT;
        let name = format_ident!("Q{}", self.0.len());
        let names = flags.iter().map(|f| format_ident!("{}", f.constant()));
        let types = i.types.iter().map(|t| format_ident!("{t:?}"));
        let item = quote! {
            const #name: #rt::Q =
                #rt::Q::of(&const { #rt::Qualifiers::new(&[#(#rt::q::#names),*], &[#(#rt::Ty::#types),*]) });
        };
        self.0.push((flags, i.types.clone()));
        (name, Some(item))
    }
}
