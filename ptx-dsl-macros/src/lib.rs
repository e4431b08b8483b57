//! The procedural macros of ptx-dsl: `ptx!` and `include_ptx!`. This crate is thin: `ptx-dsl-frontend` checks the tokens,
//! `ptx-dsl-codegen` generates the host code, and `report` shows errors.
#![cfg_attr(ptx_dsl_nightly, feature(proc_macro_diagnostic, proc_macro_span))]

mod closure;
mod dispatch;
mod editor;
mod elements;
mod expand;
mod hash;
mod include;
mod instances;
mod layouts;
mod param;
mod parts;
mod report;
mod rust_type;
mod tokens;

use proc_macro::TokenStream;

/// A PTX module inside Rust, checked at compile time.
///
/// Item form: `ptx! { <sm_90, ptx 8.0> .visible .entry name(...) { ... } }` makes for each kernel a type `name` and a function `name` that
/// returns a value of the type. The type has `PTX`, `ENTRY_PTX` (this kernel and what it needs from the module) and `NAME`.
/// `name.launch(...)`, `launch_raw` and `on` are methods of the function through the trait `KernelFn`, which the prelude exports and the
/// macro imports where the kernel is. `name().launch(...)` works without the trait. A local variable may have the same name:
/// `let name = 2.0;` compiles. As a type, the name cannot stand beside a module of the same name: next to `mod saxpy`, write
/// `saxpy::saxpy.launch(...)` or `use saxpy::*;` instead of `use saxpy::saxpy;` (E0255).
///
/// Expression form: `ptx!(<sm_90, ptx 8.0> |x: &[f32], n: u32| { ... })` is a kernel as a value. Performance directives follow the
/// parameters: `|x: &[f32]| .maxntid 256 .minnctapersm 2 { ... }`. The kernel's name in the PTX text comes from its position and content,
/// `kernel_52_16_1f2e3d4c`, so that the texts of several closures can be combined. The kernel captures nothing: Rust values are passed as
/// parameters, and constants go into the header.
///
/// Rust constants: `const TILE: u32 = crate::TILE;` in the module or a body, or `const TILE: u32 = TILE` in the header. They can be used in
/// operands, offsets, sizes and directives; the text gets their values in const evaluation. A kernel can have const parameters,
/// `.visible .entry gemm<const BM: u32 in [64, 128], const STAGES: u32 in 2..=4>(...)`. Each instance is a kernel with its own name:
/// `gemm::<128, 4>::ENTRY_PTX`, and `gemm::<128, 4>.launch(...)`. `@for I in 0..4 { mov.u32 %r{I}, I; }` repeats code,
/// `{%d0..=%d31}` lists registers, and
/// `@if I > 0 { ... } else { ... }` selects it. The page
/// [Constants](https://github.com/ptx-dsl/ptx-dsl/blob/main/docs/guide/constants.md) says what can be used where.
///
/// Modules share parts: `ptx! { <sm_90, ptx 8.0> pub part ring { .inline wait(.shared .b64 at, .b32 parity) { ... } } }` defines one, and
/// in another `ptx!`, `use crate::ring;` after the header lets a kernel write `ring::wait!(full, %parity);`. The page
/// [Parts](https://github.com/ptx-dsl/ptx-dsl/blob/main/docs/guide/parts.md) has the rules.
///
/// The text keeps doc comments, `/// ...`, as comments; rustc drops others. With `lines` in the header, `<sm_90, ptx 8.0, lines>`, the text
/// has `.file` and `.loc` directives with the lines of the Rust file, named as in `file!()`. `ptxas -lineinfo` passes them to debuggers.
///
/// In both forms, `kernel.on(&host, launch)` returns a Rust closure that takes the kernel's parameters and launches it. The closure is
/// `Clone` and owns copies of the host and the launch, so it can be returned, stored and sent to a thread.
///
/// A crate with debug assertions, as in a development build, interprets its kernels and costs rustc nothing for them. With `compiled`
/// in the header, `<sm_90, ptx 8.0, compiled>`, it compiles them, as optimised builds do; with `interpreted`, no build does.
#[proc_macro]
pub fn ptx(input: TokenStream) -> TokenStream {
    dispatch::ptx(input.into(), expand::Pass::Types).into()
}

/// The macro `ptx!` for a file: `include_ptx!("kernels/saxpy.ptx")`. As with `include_str!`, the path is relative to the file that contains the
/// macro. The text keeps the comments of the file. Levels of findings, `compiled` and `interpreted`, which `ptx!` has in its header, follow the path:
/// `include_ptx!("kernels/saxpy.ptx", allow(PTX0516), compiled)`.
///
/// `include_ptx!("kernels/saxpy.ptx", fn saxpy(x: &[f32], y: &mut [f32], a: f32, n: u32))` gives the parameters of a kernel Rust types, in
/// order, with the same checks as in `ptx!`. Names need not match, but the name of another parameter is an error. Without a signature the
/// macro does not know the element types of a pointer, or whether the kernel writes them: a pointer takes any slice, and PTX0158 and the
/// error for a store through `&[T]` have nothing to compare.
///
/// rust-analyzer does not tell a macro which file contains it. There the path is tried relative to each directory of the package
/// (`CARGO_MANIFEST_DIR`) that has Rust files. If several directories have such a file, the first one wins whose Rust files contain the
/// path as a string. If kernel files have distinct names, the editor finds the same file as rustc.
#[proc_macro]
pub fn include_ptx(input: TokenStream) -> TokenStream {
    include::include(input.into(), expand::Pass::Types).into()
}

/// Makes a `#[repr(C)]` struct a by-value kernel parameter, for `.param .align A .b8 name[N]`.
///
/// Its fields are numbers, arrays, and other such structs. Size and alignment are checked against the parameter, and each `ld.param` that
/// names the parameter is checked against the field at its offset (PTX0161). The derived code has no `unsafe`, and bytes between fields are
/// passed as zeros.
#[proc_macro_derive(Param)]
pub fn param(input: TokenStream) -> TokenStream {
    param::derive(input.into()).into()
}

/// The other macros expand to this where kernels are compiled. It expands to the code of the kernels. The input is the name of the macro,
/// `ptx` or `include`, and its input.
#[doc(hidden)]
#[proc_macro]
pub fn compile_kernels(input: TokenStream) -> TokenStream {
    dispatch::code(input.into()).into()
}

/// In rust-analyzer `ptx!` begins with a call of this macro with its own input. It expands to items that lead from the tokens to what
/// is known of them. Nothing else expands it.
#[doc(hidden)]
#[proc_macro]
pub fn editor(input: TokenStream) -> TokenStream {
    editor::expand(input.into()).into()
}
