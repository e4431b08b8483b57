//! Accesses of another floating-point type than the elements of the slice that Rust passes: `ld.global.f64` through `&mut [f32]`.

use crate::rust_type::{path_end, rust_type};
use proc_macro2::TokenStream;
use ptx_dsl_codegen::RustType;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::diag::{Diagnostic, sort};
use ptx_dsl_frontend::hir::{Function, Stmt};
use ptx_dsl_frontend::isa::MemoryOp;
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::ty::Ty;

/// Adds these findings to the others. `rust`: the Rust tokens of a type.
pub fn check(compiled: &mut Compiled, rust: &dyn Fn(Span) -> TokenStream) {
    let mut found = Vec::new();
    for kernel in compiled.hir.functions.iter().filter(|f| f.entry && f.defined) {
        let elements: Vec<_> = kernel.params.iter().map(|p| element(rust(p.rust_type?))).collect();
        if may_differ(kernel, &elements) {
            accesses(compiled, kernel, &elements, &mut found);
        }
    }
    if found.is_empty() {
        return;
    }
    // what is wrong with levels was reported with the other findings
    levels::apply(&compiled.ast.levels, &mut found);
    compiled.diagnostics.append(&mut found);
    sort(&mut compiled.diagnostics);
}

/// The PTX type of the elements of a slice of floating-point numbers, and what Rust calls it.
fn element(tokens: TokenStream) -> Option<(Ty, String)> {
    let Some(RustType::Slice { element, .. }) = rust_type(tokens) else { return None };
    let name = path_end(&element)?;
    float(Ty::from_name(&name)?).map(|ty| (ty, name))
}

/// Is there an access of another floating-point type than some slice has? Only then its address matters.
fn may_differ(kernel: &Function, elements: &[Option<(Ty, String)>]) -> bool {
    let accessed = |stmt: &Stmt| match stmt {
        Stmt::Instr(i) if i.entry.effects.memory != MemoryOp::None => i.types.last().copied().and_then(float),
        _ => None,
    };
    kernel.body.iter().filter_map(accessed).any(|access| elements.iter().flatten().any(|(ty, _)| *ty != access))
}

fn float(ty: Ty) -> Option<Ty> {
    matches!(ty, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64).then_some(ty)
}

/// Integers may be any bits of the elements, so only floating-point accesses are compared.
fn accesses(compiled: &Compiled, kernel: &Function, elements: &[Option<(Ty, String)>], found: &mut Vec<Diagnostic>) {
    ptx_dsl_codegen::accesses_of_parameters(&compiled.hir, kernel, &mut |parameter, i, _| {
        let Some(Some((element, name))) = elements.get(parameter) else { return };
        let Some(access) = i.types.last().copied().and_then(float).filter(|access| access != element) else { return };
        let p = &kernel.params[parameter];
        let message =
            format!("this accesses `.{}` values through `{}`, whose elements are `{name}`", access.name(), p.name);
        let d = Diagnostic::warning(158, i.span, message)
            .label(p.span, format!("`{}` is declared here", p.name))
            .help(format!("access `.{}` values, or declare a slice of `{}`", element.name(), access.name()));
        if !found.contains(&d) {
            found.push(d);
        }
    });
}
