//! The procedural macros of ptx-dsl: `ptx!` and `include_ptx!`. Thin on purpose: tokens in, the front end
//! (`ptx-dsl-syntax`) checks, `ptx-dsl-emit` writes the host closure, `report` shows what is wrong.
#![cfg_attr(ptx_dsl_nightly, feature(proc_macro_diagnostic, proc_macro_span))]

mod closure;
mod expand;
mod holes;
mod include;
mod report;
mod rust_type;
mod tokens;
mod trees;

use proc_macro::TokenStream;

/// A PTX module inside Rust, checked while rustc runs.
///
/// Item form: `ptx! { <sm_90, ptx 8.0> .visible .entry name(...) { ... } }` makes one Rust item per kernel, with `PTX`,
/// `NAME`, `launch` and `launch_raw`. Expression form: `ptx!(<sm_90, ptx 8.0> |x: &[f32], n: u32| { ... })` is a kernel as
/// a value.
#[proc_macro]
pub fn ptx(input: TokenStream) -> TokenStream {
    trees::stream(expand::ptx(input))
}

/// The same for a file, relative to the file that includes it: `include_ptx!("kernels/saxpy.ptx")`. Levels of findings, which
/// `ptx!` has in its header, stand behind the name: `include_ptx!("kernels/saxpy.ptx", allow(PTX0516))`.
#[proc_macro]
pub fn include_ptx(input: TokenStream) -> TokenStream {
    trees::stream(include::include(input))
}
