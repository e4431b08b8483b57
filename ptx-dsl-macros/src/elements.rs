//! Accesses of another floating-point type than the elements of the slice that Rust passes: `ld.global.f64` through `&mut [f32]`.

use crate::rust_type::{path_end, rust_type};
use proc_macro2::TokenStream;
use ptx_dsl_codegen::RustType;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::diag::sort;
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::span::Span;

/// Adds these findings to the others. `rust`: the Rust tokens of a type.
pub fn check(compiled: &mut Compiled, rust: &dyn Fn(Span) -> TokenStream) {
    let mut found = ptx_dsl_codegen::rust_types::other_elements(&compiled.hir, &|ty| match rust_type(rust(ty))? {
        RustType::Slice { element, .. } => path_end(&element),
        _ => None,
    });
    if found.is_empty() {
        return;
    }
    // what is wrong with levels was reported with the other findings
    levels::apply(&compiled.ast.levels, &mut found);
    compiled.diagnostics.append(&mut found);
    sort(&mut compiled.diagnostics);
}
