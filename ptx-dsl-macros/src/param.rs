//! `#[derive(Param)]`: structs that kernels take by value.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Index, Member, Token, parse_quote};

/// The implementation, or what is wrong with the struct.
pub fn derive(input: TokenStream) -> TokenStream {
    syn::parse2(input).and_then(implementation).unwrap_or_else(Error::into_compile_error)
}

fn implementation(mut input: DeriveInput) -> Result<TokenStream, Error> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(error(name.span(), "a parameter of a kernel is a struct", "make it a struct with `#[repr(C)]`"));
    };
    representation(&input.attrs, name)?;
    let field = |(n, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(n)),
    };
    let members: Vec<Member> = match &data.fields {
        Fields::Unit => Vec::new(),
        fields => fields.iter().enumerate().map(field).collect(),
    };
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let names = members.iter().map(|member| quote!(#member).to_string());
    let shown = name.to_string();
    let mut bounds: Vec<syn::WherePredicate> = Vec::new();
    for parameter in input.generics.type_params() {
        let parameter = &parameter.ident;
        bounds.push(parse_quote!(#parameter: ::ptx_dsl::Param));
    }
    if !bounds.is_empty() {
        input.generics.make_where_clause().predicates.extend(bounds);
    }
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #parameters ::ptx_dsl::Param for #name #arguments #clause {
            const SHAPE: &'static ::ptx_dsl::__private::param::ParamShape = &::ptx_dsl::__private::param::ParamShape {
                name: #shown,
                size: ::core::mem::size_of::<Self>(),
                align: ::core::mem::align_of::<Self>(),
                parts: ::ptx_dsl::__private::param::Parts::Fields(&[#(
                    ::ptx_dsl::__private::param::Field {
                        name: #names,
                        offset: ::core::mem::offset_of!(Self, #members),
                        shape: <#types as ::ptx_dsl::Param>::SHAPE,
                    }
                ),*]),
            };

            fn write(&self, __ptx_bytes: &mut [::core::primitive::u8]) {
                #(
                    let __ptx_from = ::core::mem::offset_of!(Self, #members);
                    let __ptx_size = ::core::mem::size_of::<#types>();
                    ::ptx_dsl::Param::write(&self.#members, &mut __ptx_bytes[__ptx_from..__ptx_from + __ptx_size]);
                )*
            }
        }
    })
}

/// An error unless the struct is `#[repr(C)]`.
fn representation(attributes: &[Attribute], name: &Ident) -> Result<(), Error> {
    let (mut c, mut packed) = (false, None);
    for attribute in attributes.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            c |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            if meta.path.is_ident("packed") {
                packed = Some(meta.path.get_ident().map_or(name.span(), Ident::span));
            }
            if !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                let _: TokenStream = meta.input.step(|at| match at.token_tree() {
                    Some((token, rest)) => Ok((token.into(), rest)),
                    None => Ok((TokenStream::new(), *at)),
                })?;
            }
            Ok(())
        })?;
    }
    match packed {
        Some(at) => Err(error(at, "a packed struct has no alignment for its fields", "remove `packed`")),
        None if !c => {
            Err(error(name.span(), &format!("rustc may order the fields of `{name}` as it likes"), "add `#[repr(C)]`"))
        }
        None => Ok(()),
    }
}

fn error(at: Span, message: &str, help: &str) -> Error {
    Error::new(at, format!("[PTX0153] {message}\n  = help: {help}"))
}
