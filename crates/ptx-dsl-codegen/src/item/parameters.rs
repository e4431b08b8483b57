//! Parameters of a kernel with their Rust types.

use crate::names::RT;
use crate::source::{Problem, Source};
use proc_macro2::{Ident, TokenStream, TokenTree};
use ptx_dsl_image::rust_types::{
    Primitive, RustType, declared, is_tensor_map, is_tensor_map_type, mistake, shown, what_suits,
};
use ptx_dsl_isa::constant::ConstId;
use ptx_dsl_isa::hir::{Base, Operand, Param, Stmt};
use ptx_dsl_isa::isa::MemoryOp;
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::{Class, Ty};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// The passing of one parameter from Rust.
pub struct Passing {
    /// The parameter's type in the argument tuple.
    pub ty: TokenStream,
    /// The parameter's type in the closure that `on` returns.
    pub closure: Closure,
    /// A type parameter of `launch`, with its bound.
    pub generic: Option<TokenStream>,
    /// The `Arg` of the value `__ptx_a`.
    pub arg: TokenStream,
    /// An item that is an error at the type unless it suits the parameter.
    pub check: Option<TokenStream>,
    pub read_only: bool,
    /// The alignment of a pointer.
    pub pointer: Option<u32>,
    /// The alignment, if only rustc knows it.
    pub rust_align: Option<ConstId>,
}

/// The type of a parameter of a closure.
pub enum Closure {
    /// A type of Rust or of this crate; the program's types do not occur in it.
    Known(TokenStream),
    /// A type that the program names, and that may be private.
    Value(TokenStream),
    /// `&[T]` or `&mut [T]` of such a type.
    Slice { mutable: bool, element: TokenStream },
}

impl Closure {
    /// The type that the program names.
    pub fn named(&self) -> Option<&TokenStream> {
        match self {
            Closure::Known(_) => None,
            Closure::Value(ty) | Closure::Slice { element: ty, .. } => Some(ty),
        }
    }

    /// Returns this passing with another type in place of the parameter's.
    pub fn with(&self, ty: &impl ToTokens) -> TokenStream {
        match self {
            Closure::Known(known) => known.clone(),
            Closure::Value(_) => quote!(#ty),
            Closure::Slice { mutable: true, .. } => quote!(&mut [#ty]),
            Closure::Slice { mutable: false, .. } => quote!(&[#ty]),
        }
    }
}

impl ToTokens for Closure {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.with(&self.named()));
    }
}

/// The passing of the `i`th parameter. `stem`: names that begin so belong to the kernel.
pub fn passing(source: &Source<'_>, (stem, i): (&str, usize), p: &Param, body: &[Stmt]) -> Passing {
    Passing { rust_align: p.rust_align, ..known_passing(source, (stem, i), p, body) }
}

fn known_passing(source: &Source<'_>, (stem, i): (&str, usize), p: &Param, body: &[Stmt]) -> Passing {
    let rt = RT;
    let align = p.ptr.map(|(_, align)| align.max(1));
    let g = format_ident!("__PtxA{i}");
    if is_tensor_map(p) && p.rust_type.is_none_or(|tokens| is_reference(source, tokens)) {
        let bound = quote!(#g: #rt::launch::IntoMap<'a>);
        let map = Passing::generic(g, bound, quote!(#rt::launch::IntoMap::into_map(__ptx_a)), None);
        return Passing { check: p.rust_type.and_then(|tokens| map_check(source, p, tokens)), ..map };
    }
    if let Some(tokens) = p.rust_type {
        return rust_passing(source, p, tokens, (&format_ident!("{stem}{i}"), align, body));
    }
    if align.is_some() {
        let bound = quote!(#g: #rt::launch::IntoBuffer<'a>);
        return Passing::generic(g, bound, quote!(#rt::launch::IntoBuffer::into_buffer(__ptx_a)), align);
    }
    let size = p.size as usize;
    if p.array {
        return Passing::scalar(quote!([::core::primitive::u8; #size]));
    }
    Passing::scalar(match p.ty {
        Ty::U64 | Ty::B64 => {
            let bound = quote!(#g: #rt::launch::IntoU64<'a>);
            return Passing::generic(g, bound, quote!(#rt::launch::IntoU64::into_u64(__ptx_a)), None);
        }
        Ty::S64 => quote!(::core::primitive::i64),
        Ty::U32 | Ty::B32 => quote!(::core::primitive::u32),
        Ty::S32 => quote!(::core::primitive::i32),
        Ty::F32 => quote!(::core::primitive::f32),
        Ty::F64 => quote!(::core::primitive::f64),
        Ty::U16 | Ty::B16 | Ty::F16 | Ty::Bf16 => quote!(::core::primitive::u16),
        Ty::S16 => quote!(::core::primitive::i16),
        Ty::U8 | Ty::B8 => quote!(::core::primitive::u8),
        Ty::S8 => quote!(::core::primitive::i8),
        _ => quote!([::core::primitive::u8; #size]),
    })
}

/// Is it `&T`?
fn is_reference(source: &Source<'_>, tokens: Span) -> bool {
    matches!((source.rust_type)(tokens), Some(RustType::Reference { mutable: false, .. }))
}

/// The type of a tensor map: an error of rustc if no type has its name.
fn map_check(source: &Source<'_>, p: &Param, tokens: Span) -> Option<TokenStream> {
    let ty = (source.rust_type)(tokens);
    if let Some((message, help)) = mistake(p, as_shown(ty.as_ref()).as_ref()) {
        source.problems.borrow_mut().push(Problem { message, at: tokens, help });
        return None;
    }
    let Some(RustType::Reference { element, .. }) = ty else { return None };
    // That type need not be imported.
    let named = is_path(&element) && !is_tensor_map_type(&shown(&element.to_string()));
    named.then(|| quote!(const _: ::core::option::Option<fn(&#element)> = ::core::option::Option::None;))
}

fn rust_passing(
    source: &Source<'_>,
    p: &Param,
    tokens: Span,
    (alias, align, body): (&Ident, Option<u32>, &[Stmt]),
) -> Passing {
    let ty = (source.rust_type)(tokens);
    if let Some((message, help)) = mistake(p, as_shown(ty.as_ref()).as_ref()) {
        source.problems.borrow_mut().push(Problem { message, at: tokens, help });
    }
    match ty {
        Some(RustType::Slice { mutable, element }) => {
            let (element, check) = named_once(element, alias);
            Passing { check, ..Passing::slice((mutable, &element), align) }
        }
        Some(RustType::Reference { mutable, .. }) => Passing::slice((mutable, &quote!(::core::primitive::u8)), align),
        Some(RustType::Value(ty)) => {
            let own = primitive_of(&ty).is_none();
            let shown = shown(&ty.to_string());
            let (ty, named) = named_once(ty, alias);
            let check = own.then(|| {
                let checks = value_checks(source, p, &loads(body, p), tokens, (&ty, shown));
                quote!(#named #checks)
            });
            let closure = if own { Closure::Value(ty.clone()) } else { Closure::Known(ty.clone()) };
            Passing { check, closure, ..Passing::scalar(ty) }
        }
        None => Passing::scalar(quote!(::core::primitive::u32)),
    }
}

/// A type that the program names, under another name, and the item that declares this name: if there is no such type, rustc says so
/// once, and not wherever the kernel mentions it.
fn named_once(ty: TokenStream, alias: &Ident) -> (TokenStream, Option<TokenStream>) {
    let Some(last) = ty.clone().into_iter().last().filter(|_| is_path(&ty) && primitive_of(&ty).is_none()) else {
        return (ty, None);
    };
    let alias = Ident::new(&alias.to_string(), proc_macro2::Span::call_site().located_at(last.span()));
    let item = quote!(#[doc(hidden)] #[allow(non_camel_case_types, dead_code)] type #alias = #ty;);
    (alias.to_token_stream(), Some(item))
}

/// A type as messages show it.
fn as_shown(ty: Option<&RustType<TokenStream>>) -> Option<RustType<String>> {
    ty.map(|ty| ty.clone().map(|tokens| shown(&tokens.to_string())))
}

/// The primitive type that these tokens are.
fn primitive_of(ty: &TokenStream) -> Option<&'static Primitive> {
    Primitive::of(&ty.to_string())
}

/// Is it `T` or `a::T`, without arguments?
fn is_path(ty: &TokenStream) -> bool {
    ty.clone().into_iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    })
}

/// Errors at the type if it has another size than the parameter, and at loads that do not suit its fields.
fn value_checks(
    source: &Source<'_>,
    p: &Param,
    loads: &[Load<'_>],
    tokens: Span,
    (ty, rust): (&TokenStream, String),
) -> TokenStream {
    let (name, size, what) = (&p.name, p.size as usize, declared(p));
    let at = source.places.here(tokens);
    let (given, suits) = if p.array { ("b8", String::new()) } else { (p.ty.name(), what_suits(p.ty)) };
    let own = kind(if p.array { &Ty::B8 } else { &p.ty });
    let align = if p.array {
        let align = p.align as usize;
        quote_spanned!(at=> ::core::option::Option::Some(#align))
    } else {
        quote!(::core::option::Option::None)
    };
    // errors of const evaluation name the constant
    let constant = Ident::new("parameter", at);
    let declared = quote_spanned! {at=>
        const #constant: () = ::ptx_dsl::__private::param::by_value::<#ty>().declared(&::ptx_dsl::__private::param::Declared {
            name: #name, what: #what, ty: (#given, ::ptx_dsl::__private::param::ParamKind::#own), suits: #suits,
            size: #size, align: #align, rust: #rust,
        });
    };
    let loads = loads.iter().map(|load| {
        let Load { offset, lanes, ty: access, span } = load;
        let (at, shown, bytes) = (source.places.here(*span), access.name(), access.bytes() as usize);
        let kind = kind(access);
        let constant = Ident::new("access", at);
        quote_spanned! {at=>
            const _: () = {
                const #constant: () = ::ptx_dsl::__private::param::by_value::<#ty>().access(&::ptx_dsl::__private::param::ParamAccess {
                    name: #name, ty: #shown, offset: #offset, size: #bytes, lanes: #lanes, kind: ::ptx_dsl::__private::param::ParamKind::#kind,
                });
            };
        }
    });
    quote!(#[allow(non_upper_case_globals, dead_code)] const _: () = { #declared }; #(#[allow(non_upper_case_globals, dead_code)] #loads)*)
}

/// A load from a parameter that names it.
pub struct Load<'m> {
    offset: usize,
    lanes: usize,
    ty: &'m Ty,
    span: Span,
}

/// The loads from a parameter.
fn loads<'m>(body: &'m [Stmt], p: &Param) -> Vec<Load<'m>> {
    let load = |stmt: &'m Stmt| {
        let Stmt::Instr(i) = stmt else { return None };
        let Some(Operand::Address(Base::Var(variable), offset)) = i.address().map(|arg| &arg.value) else {
            return None;
        };
        if Some(*variable) != p.var || !matches!(i.entry.effects.ordinary(), MemoryOp::Load) {
            return None;
        }
        let (ty, offset) = (i.types.last()?, usize::try_from(*offset).ok()?);
        let lanes = (i.bytes() as usize / (ty.bytes() as usize).max(1)).max(1);
        Some(Load { offset, lanes, ty, span: i.span })
    };
    body.iter().filter_map(load).collect()
}

/// The kind of a type, as the runtime calls it.
fn kind(ty: &Ty) -> TokenStream {
    match ty.class() {
        Class::Bits => quote!(Bits),
        _ if ty.is_float() => quote!(Float),
        _ => quote!(Integer),
    }
}

impl Passing {
    fn scalar(ty: TokenStream) -> Self {
        let arg = quote!(::ptx_dsl::__private::param::by_value::<#ty>().arg(__ptx_a));
        Passing {
            closure: Closure::Known(ty.clone()),
            ty,
            generic: None,
            arg,
            check: None,
            read_only: false,
            pointer: None,
            rust_align: None,
        }
    }

    /// `&[T]` or `&mut [T]`
    fn slice((mutable, element): (bool, &TokenStream), align: Option<u32>) -> Self {
        let (method, mutability) = if mutable { (quote!(slice_mut), quote!(mut)) } else { (quote!(slice), quote!()) };
        let closure = Closure::Slice { mutable, element: element.clone() };
        let known = primitive_of(element).is_some();
        Passing {
            ty: quote!(&'a #mutability [#element]),
            closure: if known { Closure::Known(closure.to_token_stream()) } else { closure },
            generic: None,
            arg: quote!(::ptx_dsl::__private::param::elements::<#element>().#method(__ptx_a)),
            check: None,
            read_only: !mutable,
            pointer: Some(align.unwrap_or(1)),
            rust_align: None,
        }
    }

    /// A parameter without a Rust type: `launch` takes every type that satisfies the bound, a closure takes `Arg`.
    fn generic(name: Ident, bound: TokenStream, arg: TokenStream, pointer: Option<u32>) -> Self {
        let (ty, closure) = (name.to_token_stream(), quote!(::ptx_dsl::__private::Arg<'_>));
        let closure = Closure::Known(closure);
        Passing { ty, closure, generic: Some(bound), arg, check: None, read_only: false, pointer, rust_align: None }
    }
}
