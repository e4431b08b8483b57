//! Information that the macro supplies beside the typed module: source lines, Rust types of parameters, and the printed PTX.

use crate::values::{Places, Values};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::constant::Constants;
use ptx_dsl_isa::hir::{Function, Instr};
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

/// The line of a statement.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Line in the file of the kernel, 0 if unknown.
    pub number: u32,
    /// The file and line of a statement in a piece, then those where the piece is used, the innermost first.
    pub of_piece: Vec<(String, u32)>,
}

impl From<u32> for Line {
    fn from(number: u32) -> Self {
        Line { number, of_piece: Vec::new() }
    }
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

/// A type, as far as the macros tell types apart.
pub enum RustType<T> {
    /// `&[T]` or `&mut [T]`, with its `T`.
    Slice {
        /// Is it `&mut`?
        mutable: bool,
        /// `T`.
        element: T,
    },
    /// A reference to a type that is no slice.
    Reference {
        /// Is it `&mut`?
        mutable: bool,
        /// The element type of a slice in place of this type: `f32` of `&f32`, `&[f32; 4]` or `&Vec<f32>`.
        element: T,
    },
    /// Anything else.
    Value(T),
}

impl<T> RustType<T> {
    /// Converts the type inside.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> RustType<U> {
        match self {
            RustType::Slice { mutable, element } => RustType::Slice { mutable, element: to(element) },
            RustType::Reference { mutable, element } => RustType::Reference { mutable, element: to(element) },
            RustType::Value(value) => RustType::Value(to(value)),
        }
    }
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

/// A line up to a comment.
fn without_comment(line: &str) -> &str {
    let end = [line.find(" //"), line.find(" /*")].into_iter().flatten().min();
    &line[..end.unwrap_or(line.len())]
}

/// The printed module, by line.
pub struct Printed<'m> {
    lines: Vec<&'m str>,
    /// The line of each instruction, from 1.
    line_of: &'m [u32],
}

impl<'m> Printed<'m> {
    /// `line_of` gives the line of each instruction in `ptx`, from 1.
    pub fn new(ptx: &'m str, line_of: &'m [u32]) -> Self {
        Printed { lines: ptx.lines().collect(), line_of }
    }

    /// The number of the instruction's line (0 if unknown) and its text.
    pub(crate) fn line(&self, instr: &Instr) -> (u32, &'m str) {
        let line = self.line_of.get(instr.index as usize).copied().unwrap_or(0);
        let text = self.lines.get((line as usize).wrapping_sub(1)).map_or("", |line| without_comment(line).trim());
        (line, text)
    }
}
