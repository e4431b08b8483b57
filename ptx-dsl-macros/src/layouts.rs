//! Layouts of tiles as Rust constants: `layout Tile = f16[128, 64] swizzle 128;` is `Tile` in Rust, too.

use crate::tokens::Source;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_frontend::parse::{NamedLayout, parse, repeat};
use quote::{format_ident, quote, quote_spanned};

/// The constants of the layouts that a module declares itself. Those of a part are beside the part.
pub fn items(layouts: &[NamedLayout], visibility: &TokenStream, source: &Source) -> TokenStream {
    let own = layouts.iter().filter(|layout| !source.is_of_part(layout.name.span));
    own.map(|layout| item(layout, visibility, source)).collect()
}

/// The constants of the layouts in the part that a module defines.
pub fn of_part(visibility: &TokenStream, source: &Source) -> TokenStream {
    if !source.tokens.iter().any(|token| token.word() == Some("layout")) {
        return TokenStream::new();
    }
    let free = source.tokens.iter().map(|token| token.id + 1).max().unwrap_or(0);
    let layouts = parse(&repeat::expand(&source.tokens, free).tokens).0.layouts;
    items(&layouts, visibility, source)
}

fn item(named: &NamedLayout, visibility: &TokenStream, source: &Source) -> TokenStream {
    let at = source.span(named.name.span).0;
    let name = Ident::new(&named.name.text, at);
    let element = format_ident!(
        "{}",
        match named.element {
            "f16" => "F16",
            "bf16" => "Bf16",
            "tf32" => "Tf32",
            "f32" => "F32",
            "f64" => "F64",
            "u16" | "s16" | "b16" => "U16",
            "s32" => "S32",
            "u32" | "b32" => "U32",
            "s64" => "S64",
            "u64" | "b64" => "U64",
            _ => "U8",
        }
    );
    let swizzle = match named.layout.swizzle().name() {
        "none" => format_ident!("None"),
        "128_atom_32" => format_ident!("B128Atom32"),
        bytes => format_ident!("B{bytes}"),
    };
    let (rows, columns) = (named.layout.rows(), named.layout.columns());
    let doc = format!("`{}[{rows}, {columns}] swizzle {}`", named.element, named.layout.swizzle().name());
    let layouts = quote!(::ptx_dsl::tensor_map);
    quote_spanned! {at=>
        #[doc = #doc]
        #[allow(non_upper_case_globals, dead_code)]
        #visibility const #name: #layouts::Layout =
            #layouts::Layout::new(#layouts::ElementType::#element, [#rows, #columns], #layouts::Swizzle::#swizzle);
    }
}
