//! Information that the macro supplies beside the typed module: source lines, Rust types of parameters, and the printed PTX.

use crate::values::{Places, Values};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::rust_types::RustType;
use ptx_dsl_image::{Line, Printed};
use ptx_dsl_isa::constant::Constants;
use ptx_dsl_isa::hir::Function;
use ptx_dsl_isa::span::Span;
use quote::{format_ident, quote};
use std::cell::RefCell;

/// The macro's answers to code generation about the source.
pub struct Source<'a> {
    /// Line in the Rust (or included) file.
    pub line: &'a dyn Fn(Span) -> Line,
    /// The identifier for a name that the user wrote at this place.
    pub name: &'a dyn Fn(&Ident, Span) -> Ident,
    /// The Rust type of a parameter; `None` if the tokens are no type.
    pub rust_type: &'a dyn Fn(Span) -> Option<RustType<TokenStream>>,
    /// The file as fault reports name it; `None` for the file of the invocation.
    pub file: Option<String>,
    /// The text of a kernel without what it does not need; `None` if it needs all of the module.
    pub alone: &'a dyn Fn(&str) -> Option<String>,
    /// The path of the type of a kernel that is an instance of another one: `gemm::<64, 2>`.
    pub instance: &'a dyn Fn(&str) -> Option<TokenStream>,
    /// Places of Rust constants.
    pub places: &'a Places<'a>,
    /// Mistakes that code generation finds in the types of parameters.
    pub problems: &'a RefCell<Vec<Problem>>,
}

/// A mistake in the type of a parameter.
pub struct Problem {
    /// One sentence.
    pub message: String,
    /// The type.
    pub at: Span,
    /// An edit.
    pub help: String,
}

/// The printed module: one constant for all its kernels.
pub struct Text<'m> {
    /// The type that holds it, unless it depends on the kernel's parameters.
    name: Ident,
    /// Distinguishes this module in the names of hidden items.
    pub(crate) at: String,
    ptx: &'m str,
    pub(crate) printed: Printed<'m>,
    /// The Rust constants in it.
    pub values: Values<'m>,
}

impl<'m> Text<'m> {
    /// Named after the first kernel, and `at`, which no other module of the file has. `line_of` gives the line of each instruction in
    /// `ptx`, from 1. `stub`: the module has errors.
    pub fn new(
        (ptx, line_of): (&'m str, &'m [u32]),
        constants: &'m Constants,
        (first, function): (&Ident, &Function),
        at: String,
        stub: bool,
    ) -> Self {
        // `format_ident` drops the `r#` of an argument
        let first = format_ident!("{}_{}", first, at);
        let name = format_ident!("__PTX_{}", first);
        let values = Values::new(constants, (&first, function), stub);
        Text { name, at, ptx, printed: Printed::new(ptx, line_of), values }
    }

    /// The constants of the module.
    pub fn items(&self, places: &Places<'_>) -> TokenStream {
        let values = self.values.items(places);
        if self.values.is_generic() {
            return values;
        }
        let (name, ptx) = (&self.name, self.values.text(self.ptx));
        // rustc evaluates an associated constant where it is used, another one always
        quote! {
            #values
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            struct #name;
            impl #name {
                const PTX: &'static ::core::primitive::str = #ptx;
            }
        }
    }

    /// The text, in the `impl` of a kernel.
    pub(crate) fn value(&self) -> TokenStream {
        let name = &self.name;
        if self.values.is_generic() { self.values.text(self.ptx) } else { quote!(#name::PTX) }
    }
}
