//! Rust constants in emitted code: an array with the value of each expression, texts that const evaluation puts together, and checks
//! that it makes.

mod names;

use crate::names::{RT, primitive};
use proc_macro2::{Ident, Literal, TokenStream};
use ptx_dsl_isa::constant::{self, Assertion, ConstId, Constants, Count, Cut, Declaration, Expression};
use ptx_dsl_isa::hir::{Function, Patch, Var};
use ptx_dsl_isa::span::Span;
use quote::{format_ident, quote, quote_spanned};
use std::borrow::Cow;

/// The macro's knowledge of places in the source.
pub struct Places<'a> {
    /// The Rust tokens of a range.
    pub rust: &'a dyn Fn(Span) -> TokenStream,
    /// The first and the last Rust token of a range.
    pub span: &'a dyn Fn(Span) -> (proc_macro2::Span, proc_macro2::Span),
}

impl Places<'_> {
    /// The place of a range, for names of emitted code.
    pub fn here(&self, span: Span) -> proc_macro2::Span {
        proc_macro2::Span::call_site().located_at((self.span)(span).0)
    }
}

/// The constants of a module in emitted code.
pub struct Values<'m> {
    constants: &'m Constants,
    /// Tells for each declaration whether it depends on a parameter of the kernel.
    dependent: Vec<bool>,
    /// The identifier that the names of the kernel's items begin with.
    first: Ident,
    /// Are the items in the `impl` of the kernel, because they depend on its const parameters?
    generic: bool,
    /// The module has errors: there are no values.
    stub: bool,
}

impl<'m> Values<'m> {
    /// `first`: the first kernel of the module, and its function.
    pub fn new(constants: &'m Constants, (first, function): (&Ident, &Function), stub: bool) -> Self {
        let generic = !function.rust.generics.is_empty();
        Values { constants, dependent: names::dependent(constants), first: first.clone(), generic, stub }
    }

    /// Do items of the kernel's `impl` hold the values?
    pub fn is_generic(&self) -> bool {
        self.generic
    }

    /// `const N: u32, const M: u32` and `N, M`.
    pub fn parameters(&self, function: &Function) -> (Vec<TokenStream>, Vec<Ident>) {
        let declarations =
            function.rust.generics.iter().filter_map(|id| match self.constants.all.get(id.0 as usize)?.0 {
                Expression::Rust(n) => self.constants.declarations.get(n as usize),
                _ => None,
            });
        let both = declarations.map(|d| {
            let (name, ty) = (crate::rust_name(&d.name), primitive(d.ty.name()));
            (quote!(const #name: #ty), name)
        });
        both.unzip()
    }

    fn array(&self) -> TokenStream {
        if self.generic {
            return quote!(Self::__PTX_CONSTANTS);
        }
        let name = format_ident!("__PTX_{}_CONSTANTS", self.first);
        quote!(#name)
    }

    fn value(&self, id: ConstId) -> TokenStream {
        let (array, n) = (self.array(), Literal::u32_unsuffixed(id.0));
        quote!(#array[#n])
    }

    /// The value as `u32`.
    pub fn number(&self, id: ConstId) -> TokenStream {
        if self.stub {
            return quote!(0);
        }
        let value = self.value(id);
        quote!(#value.to_u32())
    }

    /// The count as `u32`.
    pub fn count(&self, n: Count) -> TokenStream {
        match n {
            Count::Known(n) => {
                let n = u32::try_from(n).unwrap_or(u32::MAX);
                quote!(#n)
            }
            Count::Rust(id) => self.number(id),
        }
    }

    /// The values, as a reference.
    pub fn all(&self) -> TokenStream {
        if self.stub || self.constants.is_empty() {
            return quote!(&[]);
        }
        self.array()
    }

    /// A text with marks, as a `&'static str`.
    pub fn text(&self, text: &str) -> TokenStream {
        let cut = Cut::new(text);
        if self.stub {
            let text = self.constants.shown(text);
            return quote!(#text);
        }
        if cut.cuts.is_empty() {
            return quote!(#text);
        }
        let (rt, all, longest) = (RT, self.all(), cut.longest());
        let (text, cuts) = (cut.text, Literal::byte_string(&cut.cuts));
        quote!(const { &#rt::constant::Text::<#longest>::filled(#text, #cuts, #all) }.as_str())
    }

    /// A text with marks, as it is, for the runtime to fill in.
    pub fn marked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.stub { Cow::Owned(self.constants.shown(text)) } else { Cow::Borrowed(text) }
    }

    /// A memory image with values in it, as a `&'static [u8]`. `end`: where it ends, if that depends on them, and the most there can be.
    pub fn image(&self, bytes: &[u8], patches: &[Patch], vars: &[Var], end: Option<(ConstId, usize)>) -> TokenStream {
        let image = Literal::byte_string(bytes);
        if self.stub || patches.is_empty() && end.is_none() {
            return quote!(#image);
        }
        let (rt, known, all) = (RT, bytes.len(), self.all());
        let patch = |Patch { var, at, width, value, single }: &Patch| {
            let base = var.and_then(|var| vars[var.0 as usize].rust).map(|layout| layout.offset);
            constant::patch(base, (*at, *width), *value, *single)
        };
        let patches: Vec<u8> = patches.iter().flat_map(patch).collect();
        let patches = Literal::byte_string(&patches);
        let Some((end, most)) = end else {
            return quote!(const { &#rt::constant::patched::<#known>(#image, #patches, #all) });
        };
        let end = self.number(end);
        if self.generic {
            // no length of an array depends on const parameters
            let most = known + most;
            return quote!(const { &#rt::constant::patched::<#most>(#image, #patches, #all) }.split_at(#end as ::core::primitive::usize).0);
        }
        quote!(const { &#rt::constant::patched::<{ #end as ::core::primitive::usize }>(#image, #patches, #all) })
    }

    /// The items of the module: declared constants, and unless they depend on parameters, the values and the checks.
    pub fn items(&self, places: &Places<'_>) -> TokenStream {
        if self.constants.is_empty() || self.stub {
            return TokenStream::new();
        }
        let declared = self.declared_items(false, places);
        let rest = if self.generic { TokenStream::new() } else { self.values(places) };
        quote!(#declared #rest)
    }

    /// The values and the checks, in the `impl` of a kernel with parameters.
    pub fn in_impl(&self, places: &Places<'_>) -> TokenStream {
        if !self.generic || self.stub {
            return TokenStream::new();
        }
        let declared = self.declared_items(true, places);
        let values = self.values(places);
        quote!(#declared #values)
    }

    /// The declared constants: those that depend on parameters of the kernel, or the others.
    fn declared_items(&self, dependent: bool, places: &Places<'_>) -> TokenStream {
        let items = (0..).zip(&self.constants.declarations).filter_map(|(n, d)| {
            let value = d.value.filter(|_| self.dependent[n as usize] == dependent)?;
            let (name, ty) = (self.declared_name(n, d), primitive(d.ty.name()));
            let value = self.with_names((places.rust)(value), d);
            Some(quote!(#[doc(hidden)] #[allow(non_upper_case_globals)] const #name: #ty = #value;))
        });
        items.collect()
    }

    /// An expression that makes rustc check an instance of a kernel with parameters.
    pub fn force(&self) -> TokenStream {
        if self.generic && !self.stub { quote!(let () = Self::__PTX_CHECKS;) } else { TokenStream::new() }
    }

    /// The constant or the parameter, as an expression.
    fn declared(&self, n: u32, declaration: &Declaration) -> TokenStream {
        let name = self.declared_name(n, declaration);
        match declaration.value {
            Some(_) if self.dependent[n as usize] => quote!(Self::#name),
            _ => quote!(#name),
        }
    }

    fn declared_name(&self, n: u32, declaration: &Declaration) -> Ident {
        match declaration.value {
            Some(_) => format_ident!("__PTX_{}_{}_{}", self.first, declaration.name, n),
            None => crate::rust_name(&declaration.name),
        }
    }

    fn values(&self, places: &Places<'_>) -> TokenStream {
        let (rt, length) = (RT, self.constants.all.len());
        let declared: Vec<TokenStream> =
            (0..).zip(&self.constants.declarations).map(|(n, d)| self.declaration(n, d)).collect();
        // an expression that may have no value ends a call, which is at its place
        let (mut calls, mut steps, mut first) = (Vec::new(), Vec::new(), 0);
        for (n, (expression, _, span)) in self.constants.all.iter().enumerate() {
            steps.extend(expression.step());
            let fails = self.constants.may_fail(expression);
            if !fails && n + 1 < length {
                continue;
            }
            let (at, bytes) = (places.here(*span), Literal::byte_string(&steps));
            let why = match fails {
                true => format!(
                    "[PTX0155] `{}` has no value: it divides by zero",
                    self.constants.written(ConstId(n as u32), 0)
                ),
                false => String::new(),
            };
            calls.push(
                quote_spanned!(at=> ::ptx_dsl::__private::constant::evaluate(&mut all, #first, #bytes, &declared, #why);),
            );
            (steps, first) = (Vec::new(), n + 1);
        }
        let array = if self.generic {
            format_ident!("__PTX_CONSTANTS")
        } else {
            format_ident!("__PTX_{}_CONSTANTS", self.first)
        };
        let checks = self.checks(places);
        let checks = if self.generic {
            quote!(#[doc(hidden)] const __PTX_CHECKS: () = { #(#checks)* };)
        } else {
            quote!(#(const _: () = { #checks };)*)
        };
        quote! {
            #[doc(hidden)]
            #[allow(non_upper_case_globals, clippy::all)]
            const #array: &[#rt::constant::Const] = &{
                let declared = [#(#declared),*];
                let mut all = [#rt::constant::Const::signed(0); #length];
                #(#calls)*
                all
            };
            #checks
        }
    }

    /// The value of a declaration.
    fn declaration(&self, n: u32, declaration: &Declaration) -> TokenStream {
        let (rt, name) = (RT, self.declared(n, declaration));
        match declaration.ty.name() {
            "f32" => quote!(#rt::constant::Const::f32(#name)),
            "f64" => quote!(#rt::constant::Const::F64(#name)),
            "bool" => quote!(#rt::constant::Const::truth(#name)),
            _ if declaration.ty.signed() => quote!(#rt::constant::Const::signed(#name as ::core::primitive::i64)),
            _ => quote!(#rt::constant::Const::unsigned(#name as ::core::primitive::u64)),
        }
    }

    /// Statements that fail const evaluation unless the assertions hold, those at one place together: rustc reports the first of them.
    fn checks(&self, places: &Places<'_>) -> Vec<TokenStream> {
        let same_place = |a: &Assertion, b: &Assertion| a.finding.span == b.finding.span;
        let of_place = self.constants.assertions.chunk_by(same_place);
        of_place.map(|all| all.iter().map(|assertion| self.check(assertion, places)).collect()).collect()
    }

    fn check(&self, Assertion { condition, finding, others }: &Assertion, places: &Places<'_>) -> TokenStream {
        let mut text = format!("[{}] {}", finding.code, finding.message);
        for note in &finding.notes {
            text.push_str("\n  = note: ");
            text.push_str(note);
        }
        match others {
            0 => {}
            1 => text.push_str("\n  = note: the same at another place"),
            n => text.push_str(&format!("\n  = note: the same at {n} other places")),
        }
        for help in &finding.helps {
            text.push_str("\n  = help: ");
            text.push_str(help);
        }
        let (all, cut, condition) = (self.all(), Cut::new(&text), Literal::u32_unsuffixed(condition.0));
        let (text, cuts) = (cut.text, Literal::byte_string(&cut.cuts));
        quote_spanned!(places.here(finding.span)=> ::ptx_dsl::__private::constant::check(#all, #condition, #text, #cuts);)
    }
}

/// The name of a kernel, with marks for its const parameters.
pub fn entry_name(f: &Function) -> String {
    let mut name = f.name.clone();
    for parameter in &f.rust.generics {
        name.push('_');
        name.push_str(&Constants::name_mark(*parameter));
    }
    name
}
