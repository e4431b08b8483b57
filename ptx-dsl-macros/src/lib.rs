//! The procedural macros of ptx-dsl: `ptx!` and `include_ptx!`. This crate is thin: `ptx-dsl-frontend` checks the tokens,
//! `ptx-dsl-codegen` generates the host code, and `report` shows errors.
#![cfg_attr(ptx_dsl_nightly, feature(proc_macro_diagnostic, proc_macro_span))]

mod closure;
mod dispatch;
mod elements;
mod expand;
mod hash;
mod include;
mod instances;
mod param;
mod parts;
mod report;
mod rust_type;
mod tokens;

use proc_macro::TokenStream;

/// A PTX module inside Rust, checked while rustc runs.
///
/// Item form: `ptx! { <sm_90, ptx 8.0> .visible .entry name(...) { ... } }` makes for each kernel a type `name` and a function `name` that
/// returns its value. The type has `PTX`, `ENTRY_PTX` (this kernel with what it needs of the module) and `NAME`. `name.launch(...)`,
/// `launch_raw` and `on` are methods of the function through the trait `KernelFn`, which is in the prelude and where the kernel is.
/// `name().launch(...)` works without the trait. The name is not a pattern: `let name = 2.0;` compiles. As a type it cannot stand beside a
/// module of its name: next to `mod saxpy` write `saxpy::saxpy.launch(...)` or `use saxpy::*;` instead of `use saxpy::saxpy;` (E0255).
///
/// Expression form: `ptx!(<sm_90, ptx 8.0> |x: &[f32], n: u32| { ... })` is a kernel as a value. Performance directives follow
/// the parameters: `|x: &[f32]| .maxntid 256 .minnctapersm 2 { ... }`. The kernel's name in the PTX text comes from its position
/// and content, `kernel_52_16_1f2e3d4c`, so that the texts of several closures can be combined. It captures nothing: Rust values
/// are passed as parameters, and constants go into the header.
///
/// Constants of Rust: `const TILE: u32 = crate::TILE;` in the module or a body, or `const TILE: u32 = TILE` in the header. They stand
/// in operands, offsets, sizes and directives; the text gets their values in const evaluation. A kernel can have const parameters,
/// `.visible .entry gemm<const BM: u32 in [64, 128], const STAGES: u32 in 2..=4>(...)`. Each instance is a kernel with a name of its own:
/// `gemm::<128, 4>::ENTRY_PTX`, and `gemm::<128, 4>.launch(...)`. `@for I in 0..4 { mov.u32 %r{I}, I; }` repeats code, and
/// `@if I > 0 { ... } else { ... }` selects it. docs/constants.md says what may stand where.
///
/// Parts are shared by modules: `ptx! { <sm_90, ptx 8.0> pub part ring { .inline wait(.shared .b64 at, .b32 parity) { ... } } }` defines
/// one, and in another `ptx!`, `use crate::ring;` after the header lets a kernel write `ring::wait!(full, %parity);`. docs/parts.md
/// has the rules.
///
/// The text keeps doc comments, `/// ...`, as comments; rustc drops others. With `lines` in the header, `<sm_90, ptx 8.0, lines>`, it has
/// `.file` and `.loc` with the lines of the Rust file, as rustc names it (like `file!()`). Debuggers get them from `ptxas -lineinfo`.
///
/// In both forms, `kernel.on(&host, launch)` gives a Rust closure that takes the kernel's parameters and launches it. It is
/// `Clone` and owns copies of the host and the launch, so it can be returned, stored and sent to a thread.
///
/// A crate with debug assertions, as in a development build, interprets its kernels and costs rustc nothing for them. With `compiled`
/// in the header, `<sm_90, ptx 8.0, compiled>`, it compiles them, as optimised builds always do.
#[proc_macro]
pub fn ptx(input: TokenStream) -> TokenStream {
    dispatch::ptx(input.into(), expand::Pass::Types).into()
}

/// The same for a file: `include_ptx!("kernels/saxpy.ptx")`. Like that of `include_str!`, the path is relative to the file that
/// contains it. The text keeps the comments of the file. Levels of findings and `compiled`, which `ptx!` has in its header, follow the name:
/// `include_ptx!("kernels/saxpy.ptx", allow(PTX0516), compiled)`.
///
/// `include_ptx!("kernels/saxpy.ptx", fn saxpy(x: &[f32], y: &mut [f32], a: f32, n: u32))` gives the parameters of a kernel Rust types, in
/// their order, with the checks that they have in `ptx!`. Names need not agree, but the name of another parameter is an error. Without a
/// signature the macro does not know what the elements of a pointer are, or whether the kernel writes them: a pointer takes every slice,
/// and PTX0158 and the error for a store through `&[T]` have nothing to compare.
///
/// rust-analyzer does not say which file contains a macro. There the path is tried from each directory of the package
/// (`CARGO_MANIFEST_DIR`) that has Rust files. If several have such a file, the first wins whose Rust files contain the path as a
/// string. Give kernel files different names, and the editor finds the same file as rustc.
#[proc_macro]
pub fn include_ptx(input: TokenStream) -> TokenStream {
    include::include(input.into(), expand::Pass::Types).into()
}

/// Makes a `#[repr(C)]` struct a parameter of kernels by value, for `.param .align A .b8 name[N]`.
///
/// Its fields are numbers, arrays, and other such structs. Size and alignment are compared with the parameter, and each `ld.param` that
/// names the parameter with the field at its offset (PTX0161). There is no `unsafe`, and bytes between fields are passed as zeros.
#[proc_macro_derive(Param)]
pub fn param(input: TokenStream) -> TokenStream {
    param::derive(input.into()).into()
}

/// What the other macros expand to where kernels are compiled: the code of the kernels. The input is the name of the macro, `ptx` or
/// `include`, and its input.
#[doc(hidden)]
#[proc_macro]
pub fn compile_kernels(input: TokenStream) -> TokenStream {
    dispatch::code(input.into()).into()
}
