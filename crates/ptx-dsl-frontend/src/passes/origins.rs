//! Where findings come from in the source that the PTX was made of: what `.loc` says of their instructions.

use crate::diag::Diagnostic;
use crate::hir::{Module, Stmt};

/// Adds a note to each finding in an instruction with a place.
pub fn note(module: &Module, found: &mut [Diagnostic]) {
    if module.origins.places.is_empty() || found.is_empty() {
        return;
    }
    // the first and the last token of each instruction, and its number
    let mut all = Vec::new();
    for function in &module.functions {
        for stmt in &function.body {
            if let Stmt::Instr(i) = stmt {
                all.push((i.span.first, i.span.last, i.index));
            }
        }
    }
    all.sort_unstable();
    for d in found {
        let after = all.partition_point(|(first, ..)| *first <= d.span.first);
        let Some((_, last, index)) = after.checked_sub(1).and_then(|at| all.get(at)) else { continue };
        let places = module.origins.in_words(*index);
        if d.span.last <= *last && !places.is_empty() {
            d.notes.push(format!("it comes from {}", places.join(", inlined at ")));
        }
    }
}
