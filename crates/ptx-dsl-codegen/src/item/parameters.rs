//! Parameters of a kernel with their Rust types.

use crate::names::RT;
use crate::source::{RustType, Source};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::Param;
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// How one parameter is passed from Rust.
pub struct Passing {
    /// Its type in the argument tuple.
    pub ty: TokenStream,
    /// Its type as a parameter of the closure that `on` returns.
    pub closure: TokenStream,
    /// A type parameter of `launch`, with its bound.
    pub generic: Option<TokenStream>,
    /// The `Arg` of the value `__ptx_a`.
    pub arg: TokenStream,
    /// An item that is an error at the type unless it suits the parameter.
    pub check: Option<TokenStream>,
    pub read_only: bool,
    /// The alignment of a pointer.
    pub pointer: Option<u32>,
}

/// How the `i`th parameter is passed.
pub fn passing(source: &Source<'_>, i: usize, p: &Param) -> Passing {
    let rt = RT;
    let align = p.ptr.map(|(_, align)| align.max(1));
    let g = format_ident!("__PtxA{i}");
    if is_tensor_map(p) && p.rust_type.is_none_or(|tokens| is_reference(source, tokens)) {
        let bound = quote!(#g: #rt::launch::IntoMap<'a>);
        return Passing::generic(g, bound, quote!(#rt::launch::IntoMap::into_map(__ptx_a)), None);
    }
    if let Some(tokens) = p.rust_type {
        return rust_passing(source, p, tokens, align);
    }
    if align.is_some() {
        let bound = quote!(#g: #rt::launch::IntoBuffer<'a>);
        return Passing::generic(g, bound, quote!(#rt::launch::IntoBuffer::into_buffer(__ptx_a)), align);
    }
    let size = p.size as usize;
    if p.array {
        return Passing::scalar(quote!([u8; #size]));
    }
    Passing::scalar(match p.ty {
        Ty::U64 | Ty::B64 => {
            let bound = quote!(#g: #rt::launch::IntoU64<'a>);
            return Passing::generic(g, bound, quote!(#rt::launch::IntoU64::into_u64(__ptx_a)), None);
        }
        Ty::S64 => quote!(i64),
        Ty::U32 | Ty::B32 => quote!(u32),
        Ty::S32 => quote!(i32),
        Ty::F32 => quote!(f32),
        Ty::F64 => quote!(f64),
        Ty::U16 | Ty::B16 | Ty::F16 | Ty::Bf16 => quote!(u16),
        Ty::S16 => quote!(i16),
        Ty::U8 | Ty::B8 => quote!(u8),
        Ty::S8 => quote!(i8),
        _ => quote!([u8; #size]),
    })
}

/// Can it be a tensor map: 128 bytes, aligned to 64?
fn is_tensor_map(p: &Param) -> bool {
    p.array && p.size == 128 && p.align >= 64
}

/// Is it `&T`?
fn is_reference(source: &Source<'_>, tokens: Span) -> bool {
    matches!((source.rust_type)(tokens), Some(RustType::Reference { mutable: false }))
}

fn rust_passing(source: &Source<'_>, p: &Param, tokens: Span, align: Option<u32>) -> Passing {
    let rt = RT;
    let size = p.size as usize;
    match (source.rust_type)(tokens) {
        Some(kind @ (RustType::Slice { .. } | RustType::Reference { .. })) => {
            if p.size != 8 || p.array {
                problem(
                    source,
                    format!("`{}` is passed as a slice, but a pointer parameter is `.u64`", p.name),
                    tokens,
                );
            }
            let (mutable, element) = match kind {
                RustType::Slice { mutable, element } => (mutable, element),
                other => {
                    problem(source, format!("`{}` has a Rust type that cannot be passed", p.name), tokens);
                    (matches!(other, RustType::Reference { mutable: true }), quote!(u8))
                }
            };
            let convert = if mutable { quote!(slice_mut) } else { quote!(slice) };
            let ty = if mutable { quote!(&'a mut [#element]) } else { quote!(&'a [#element]) };
            let closure = if mutable { quote!(&mut [#element]) } else { quote!(&[#element]) };
            Passing {
                ty,
                closure,
                generic: None,
                arg: quote!(#rt::launch::#convert(__ptx_a)),
                check: None,
                read_only: !mutable,
                pointer: Some(align.unwrap_or(1)),
            }
        }
        Some(RustType::Value(ty)) => {
            let check = match primitive_size(&ty) {
                Some(bytes) if bytes == size && !p.array => None,
                Some(_) => {
                    let declared = declared(p);
                    problem(source, format!("`{}` is {declared}, and a `{ty}` has another size", p.name), tokens);
                    None
                }
                None => Some(size_check(source, p, tokens, &ty)),
            };
            Passing { check, ..Passing::scalar(ty) }
        }
        None => {
            problem(source, format!("`{}` has no valid Rust type", p.name), tokens);
            Passing::scalar(quote!(u32))
        }
    }
}

/// An error at the type if it has another size than the parameter.
fn size_check(source: &Source<'_>, p: &Param, tokens: Span, ty: &TokenStream) -> TokenStream {
    let (size, declared) = (p.size as usize, declared(p));
    let text = format!(
        "[PTX0153] `{}` is {declared}, and the Rust type has another size\n  = help: pass a type of {size} bytes",
        p.name
    );
    quote_spanned! { source.places.here(tokens)=>
        const _: () = ::core::assert!(::core::mem::size_of::<#ty>() == #size, #text);
    }
}

/// The parameter as PTX declares it.
fn declared(p: &Param) -> String {
    if p.array { format!("an array of {} bytes", p.size) } else { format!("a `.{}`", p.ty.name()) }
}

/// The bytes of a primitive type.
fn primitive_size(ty: &TokenStream) -> Option<usize> {
    Some(match ty.to_string().as_str() {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" => 4,
        "u64" | "i64" | "f64" | "usize" | "isize" => 8,
        _ => return None,
    })
}

fn problem(source: &Source<'_>, message: String, at: Span) {
    source.problems.borrow_mut().push((message, at));
}

impl Passing {
    fn scalar(ty: TokenStream) -> Self {
        let arg = quote!(::ptx_dsl::runtime::launch::scalar::<#ty>(__ptx_a));
        Passing { closure: ty.clone(), ty, generic: None, arg, check: None, read_only: false, pointer: None }
    }

    /// A parameter without a Rust type: `launch` takes every type that satisfies the bound, a closure takes `Arg`.
    fn generic(name: Ident, bound: TokenStream, arg: TokenStream, pointer: Option<u32>) -> Self {
        let (ty, closure) = (name.to_token_stream(), quote!(::ptx_dsl::runtime::Arg<'_>));
        Passing { ty, closure, generic: Some(bound), arg, check: None, read_only: false, pointer }
    }
}
