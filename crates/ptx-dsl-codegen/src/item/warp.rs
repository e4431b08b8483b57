//! The warp's state: a struct with a field for each register, or for its rows.

use crate::emit::Emitter;
use crate::names::ty;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeMap;

/// Fields that are compared in one loop: rustc takes time for each branch, and for the square of what stands between two.
const TOGETHER: usize = 50;

/// `struct Warp` with what it implements, and its methods for calls.
pub fn warp_state(e: &Emitter<'_>) -> TokenStream {
    let (mut fields, mut names, mut zeros) = (Vec::new(), Vec::new(), Vec::new());
    let mut by_type: BTreeMap<(u32, u32), Vec<Ident>> = BTreeMap::new();
    for (name, (bits, period)) in &e.fields {
        let name = format_ident!("{name}");
        let ty = ty(*bits);
        let rows = if *period > 1 { 32 / *period as usize } else { 32 };
        let (field, zero) = match (bits, period) {
            // the mask of a predicate
            (1, 1) => (quote!(u32), quote!(0)),
            (1, _) => (quote!([#ty; #rows]), quote!([false; #rows])),
            _ => (quote!([#ty; #rows]), quote!([0; #rows])),
        };
        fields.push(quote!(#name: #field));
        zeros.push(zero);
        by_type.entry((*bits, *period)).or_default().push(name.clone());
        names.push(name);
    }
    let frames = e.frames();
    let has_frames = !frames.is_empty();
    let stack = if has_frames {
        quote!(frame: [u64; 32], used: [u64; 32], stack: [::std::vec::Vec<u64>; 32],)
    } else {
        quote!()
    };
    if has_frames {
        for (name, of, zero) in [
            ("frame", (64, 1), quote!([0; 32])),
            ("used", (64, 1), quote!([0; 32])),
            ("stack", (0, 0), quote!([const { ::std::vec::Vec::new() }; 32])),
        ] {
            by_type.entry(of).or_default().push(format_ident!("{name}"));
            names.push(format_ident!("{name}"));
            zeros.push(zero);
        }
    }
    let together = by_type.values().flat_map(|names| names.chunks(TOGETHER));
    let same = together.map(|names| quote!(if [#(&self.#names),*] != [#(&other.#names),*] { return false; }));
    // `Copy` makes `clone` a copy of bytes
    let copy = if has_frames { quote!() } else { quote!(Copy) };
    quote! {
        // rows of registers begin where cache lines do
        #[repr(align(64))]
        #[derive(Clone, #copy)]
        pub struct Warp { #(#fields,)* #stack }

        impl Default for Warp {
            fn default() -> Warp {
                const ZERO: Warp = Warp { #(#names: #zeros,)* };
                ZERO
            }
        }

        impl PartialEq for Warp {
            fn eq(&self, other: &Warp) -> bool {
                #(#same)*
                true
            }
        }
    }
}

/// The function that tells whether warps hold the same in fields that are read once for a cohort, and the method of `Kernel` that
/// calls it.
pub fn agreement(e: &Emitter<'_>, module: &Ident) -> (TokenStream, TokenStream) {
    let fields: Vec<&Ident> = e.hoist.read_once.iter().collect();
    if fields.is_empty() {
        return (quote!(), quote!());
    }
    // a statement for each: rustc has no stack for a chain of thousands of `&&`
    let function = quote! {
        pub fn agree(a: &Warp, b: &Warp) -> bool {
            #(if a.#fields != b.#fields { return false; })*
            true
        }
    };
    let method = quote! {
        fn agree(__ptx_a: &#module::Warp, __ptx_b: &#module::Warp) -> bool {
            #module::agree(__ptx_a, __ptx_b)
        }
    };
    (function, method)
}
