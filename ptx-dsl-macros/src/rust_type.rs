//! The Rust types of a kernel's parameters, as far as the macros distinguish them.

use proc_macro2::TokenStream;
use ptx_dsl_image::rust_types::RustType;
use syn::{GenericArgument, PathArguments, Type, TypeReference, parse_quote};

/// Parses a type; `None` if these tokens are not one.
pub fn rust_type(tokens: TokenStream) -> Option<RustType<Type>> {
    Some(match plain(syn::parse2(tokens).ok()?) {
        Type::Reference(TypeReference { mutability, elem, .. }) => {
            let mutable = mutability.is_some();
            match plain(*elem) {
                Type::Slice(slice) => RustType::Slice { mutable, element: *slice.elem },
                other => RustType::Reference { mutable, element: element(other) },
            }
        }
        value => RustType::Value(value),
    })
}

/// The element type of a slice in place of this reference.
fn element(behind: Type) -> Type {
    match behind {
        Type::Array(array) => *array.elem,
        Type::Path(path) => {
            let last = path.path.segments.last();
            match last.map(|last| (last.ident.to_string(), &last.arguments)) {
                Some((name, _)) if name == "str" => parse_quote!(u8),
                Some((name, PathArguments::AngleBracketed(arguments))) if name == "Vec" || name == "Buffer" => {
                    match arguments.args.first() {
                        Some(GenericArgument::Type(element)) => element.clone(),
                        _ => Type::Path(path),
                    }
                }
                _ => Type::Path(path),
            }
        }
        other => other,
    }
}

/// The last name of a path: `f16` of `half::f16`.
pub fn path_end(ty: &Type) -> Option<String> {
    match ty {
        Type::Group(group) => path_end(&group.elem),
        Type::Path(path) if path.qself.is_none() => {
            let plain = path.path.segments.iter().all(|s| s.arguments.is_empty());
            plain.then(|| path.path.segments.last().map(|s| s.ident.to_string()))?
        }
        _ => None,
    }
}

/// The type without the invisible group that a macro's `$ty` puts around it.
fn plain(ty: Type) -> Type {
    match ty {
        Type::Group(group) => plain(*group.elem),
        ty => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::{Delimiter, Group, TokenTree};
    use quote::quote;

    /// The kind of a type, and the last name of the path of the type or its element.
    fn read(tokens: TokenStream) -> Option<(&'static str, Option<String>)> {
        Some(match rust_type(tokens)? {
            RustType::Slice { mutable: false, element } => ("slice", path_end(&element)),
            RustType::Slice { mutable: true, element } => ("mutable slice", path_end(&element)),
            RustType::Reference { mutable: false, .. } => ("reference", None),
            RustType::Reference { mutable: true, .. } => ("mutable reference", None),
            RustType::Value(value) => ("value", path_end(&value)),
        })
    }

    /// Wraps it like a macro's `$ty`.
    fn group(tokens: TokenStream) -> TokenStream {
        TokenTree::Group(Group::new(Delimiter::None, tokens)).into()
    }

    #[test]
    fn a_reference_has_what_a_slice_would_have() {
        for (tokens, wanted) in [
            (quote!(&f32), "f32"),
            (quote!(&mut [f32; 4]), "f32"),
            (quote!(&std::vec::Vec<(u8, u8)>), "(u8 , u8)"),
            (quote!(&Buffer<i64>), "i64"),
            (quote!(&str), "u8"),
            (quote!(&TensorMap), "TensorMap"),
            (quote!(&Option<f32>), "Option < f32 >"),
        ] {
            let Some(RustType::Reference { element, .. }) = rust_type(tokens) else { panic!("{wanted}") };
            assert_eq!(quote!(#element).to_string(), wanted);
        }
    }

    #[test]
    fn types_are_told_apart() {
        let some = |kind, end: &str| Some((kind, Some(end.to_owned())));
        assert_eq!(read(quote!(u32)), some("value", "u32"));
        assert_eq!(read(quote!(::half::f16)), some("value", "f16"));
        assert_eq!(read(group(group(quote!(f32)))), some("value", "f32"));
        assert_eq!(read(quote!(&[f32])), some("slice", "f32"));
        assert_eq!(read(quote!(&'a mut [half::bf16])), some("mutable slice", "bf16"));
        assert_eq!(read(group(quote!(&[f32]))), some("slice", "f32"));
        let element = group(quote!(i8));
        assert_eq!(read(quote!(&[#element])), some("slice", "i8"));
        assert_eq!(read(quote!(&[Complex<f32>])), Some(("slice", None)));
        assert_eq!(read(quote!(&[f32; 4])), Some(("reference", None)));
        assert_eq!(read(quote!(&mut T)), Some(("mutable reference", None)));
        assert_eq!(read(quote!([u8; { 2 * N }])), Some(("value", None)));
        assert_eq!(read(quote!((u8, u8))), Some(("value", None)));
        for none in [quote!(), quote!(&), quote!(u32 u32), quote!(Vec < u8), quote!(5), quote!({})] {
            assert_eq!(read(none.clone()), None, "{none}");
        }
    }
}
