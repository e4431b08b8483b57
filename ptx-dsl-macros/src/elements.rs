//! Accesses of another floating-point type than the elements of the slice that Rust passes: `ld.global.f64` through `&mut [f32]`.

use crate::rust_type::{path_end, rust_type};
use proc_macro2::TokenStream;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_image::rust_types::{RustType, other_elements};

/// The accesses in a module without errors. `rust`: the Rust tokens of a type.
pub fn other(compiled: &Compiled, rust: &dyn Fn(Span) -> TokenStream) -> Vec<Diagnostic> {
    if compiled.failed() {
        return Vec::new();
    }
    other_elements(&compiled.hir, &|ty| match rust_type(rust(ty))? {
        RustType::Slice { element, .. } => path_end(&element),
        _ => None,
    })
}
