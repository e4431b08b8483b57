//! The procedural macros of ptx-dsl: `ptx!` and `include_ptx!`. Thin on purpose: tokens in, the front end
//! (`ptx-dsl-frontend`) checks, `ptx-dsl-codegen` writes the host closure, `report` shows what is wrong.
#![cfg_attr(ptx_dsl_nightly, feature(proc_macro_diagnostic, proc_macro_span))]

mod closure;
mod expand;
mod include;
mod report;
mod rust_type;
mod tokens;

use proc_macro::TokenStream;

/// A PTX module inside Rust, checked while rustc runs.
///
/// Item form: `ptx! { <sm_90, ptx 8.0> .visible .entry name(...) { ... } }` makes one Rust item per kernel, with `PTX`,
/// `NAME`, `launch`, `launch_raw` and `on`.
///
/// Expression form: `ptx!(<sm_90, ptx 8.0> |x: &[f32], n: u32| { ... })` is a kernel as a value. Performance directives stand behind the
/// parameters: `|x: &[f32]| .maxntid 256 .minnctapersm 2 { ... }`. The kernel's name in the PTX text is made of its place and its text,
/// `kernel_52_16_1f2e3d4c`, so that the texts of several closures can be put together. It captures nothing: values of Rust are its
/// parameters.
///
/// `kernel.on(&host, launch)` gives a Rust closure that takes the kernel's parameters and launches it, in both forms. It is `Clone`, and owns
/// copies of the host and the launch, so that it can be returned, stored and sent to a thread.
#[proc_macro]
pub fn ptx(input: TokenStream) -> TokenStream {
    expand::ptx(input.into()).into()
}

/// The same for a file: `include_ptx!("kernels/saxpy.ptx")`. The path is relative to the file in which it is written, as that of
/// `include_str!`. Levels of findings, which `ptx!` has in its header, stand behind the name:
/// `include_ptx!("kernels/saxpy.ptx", allow(PTX0516))`.
///
/// rust-analyzer does not say in which file a macro stands. There the path is tried from each directory of the package
/// (`CARGO_MANIFEST_DIR`) that has Rust files; where several have such a file, the first counts whose Rust files hold the path as a
/// string. Give files of kernels different names, and the editor finds what rustc finds.
#[proc_macro]
pub fn include_ptx(input: TokenStream) -> TokenStream {
    include::include(input.into()).into()
}
