//! The 06xx rules: protocol checks of synchronisation, memory, Tensor Memory and the threads that execute an instruction. The 07xx
//! rules: performance, which a caller asks for.
//!
//! The rules are in one folder per topic and use the analyses of `ptx-dsl-analysis`. Their messages are in `errors/`, their codes in the
//! crate `ptx-dsl-catalogue`. A rule reports an error only if every path proves it; otherwise it warns or stays silent.

use crate::kernel::Kernel;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::provenance::Provenance;
use ptx_dsl_analysis::reaching::Reaching;
use ptx_dsl_analysis::{Flow, promote};
use ptx_dsl_isa::diag::{self, Diagnostic};
use ptx_dsl_isa::hir;

mod errors;
mod kernel;
mod may_synchronise;
mod memory;
mod pending;
mod performance;
mod spelling;
mod sync;
mod tensor;
#[cfg(test)]
mod tests;
mod threads;

/// Functions with more statements are not checked.
const LIMIT: usize = 200_000;

/// Checks the functions in `whole`, which have no errors, in ascending order.
pub fn check(module: &hir::Module, whole: &[hir::FuncId]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for id in whole {
        let Some(function) = module.functions.get(id.0 as usize) else { continue };
        if !function.body.is_empty() && function.body.len() <= LIMIT {
            out.extend(check_function(module, function, whole));
        }
    }
    deduplicate(&mut out);
    out
}

/// Checks the performance of the functions in `whole`: what is right, and slower than it need be.
pub fn check_performance(module: &hir::Module, whole: &[hir::FuncId]) -> Vec<Diagnostic> {
    let functions = whole.iter().filter_map(|id| module.functions.get(id.0 as usize));
    let mut out = Vec::new();
    for function in functions.filter(|f| !f.body.is_empty() && f.body.len() <= LIMIT) {
        let simple = promote::simplify(module, function, whole);
        let Some(flow) = Flow::new(module, simple.as_ref().unwrap_or(function)) else { continue };
        let lanes = Lanes::new(&flow);
        let (reaching, provenance) = (Reaching::new(&flow, &lanes), Provenance::new(&flow));
        let kernel = Kernel::new(&flow, &lanes, &reaching, &provenance);
        performance::check(&kernel);
        let mut found = kernel.findings();
        note_caller(function, &mut found);
        out.append(&mut found);
    }
    deduplicate(&mut out);
    out
}

/// Checks a function: its dead code as it is written, everything else with calls inlined and constant guards removed.
fn check_function(module: &hir::Module, function: &hir::Function, whole: &[hir::FuncId]) -> Vec<Diagnostic> {
    // A function with too many values is not analysed.
    let Some(written) = Flow::new(module, function) else { return Vec::new() };
    let lanes = Lanes::new(&written);
    let mut out = threads::unwritten::check(&written, &lanes);
    out.extend(threads::dead_code::check(&written, &lanes));
    let found = match promote::simplify(module, function, whole) {
        None => check_live(&written, &lanes),
        Some(seen) => Flow::new(module, &seen).and_then(|flow| check_live(&flow, &Lanes::new(&flow))),
    };
    let Some(found) = found else { return out };
    out.extend(found);
    note_caller(function, &mut out);
    out
}

/// Applies the rules to the instructions that may run. `None` if the function has too many values.
fn check_live(flow: &Flow, lanes: &Lanes) -> Option<Vec<Diagnostic>> {
    let Some(decided) = promote::remove_constant_guards(flow, lanes) else { return Some(rules(flow, lanes)) };
    let flow = Flow::new(flow.module, &decided)?;
    Some(rules(&flow, &Lanes::new(&flow)))
}

/// Applies the rules of all topics.
fn rules(flow: &Flow, lanes: &Lanes) -> Vec<Diagnostic> {
    let (reaching, provenance) = (Reaching::new(flow, lanes), Provenance::new(flow));
    let kernel = Kernel::new(flow, lanes, &reaching, &provenance);
    threads::check(&kernel);
    sync::check(&kernel);
    memory::check(&kernel);
    tensor::check(&kernel);
    kernel.findings()
}

/// Notes the kernel in findings of inlined callees.
fn note_caller(function: &hir::Function, found: &mut [Diagnostic]) {
    let (mut first, mut last) = (u32::MAX, 0);
    for statement in &function.body {
        if let hir::Stmt::Instr(i) = statement {
            (first, last) = (first.min(i.span.first), last.max(i.span.last));
        }
    }
    for d in found {
        if first <= last && (d.span.first < first || d.span.last > last) {
            d.notes.push(format!("this is what it does where `{}` calls it", function.name));
        }
    }
}

/// Keeps one finding for each code and span.
fn deduplicate(found: &mut Vec<Diagnostic>) {
    // Errors come before warnings.
    diag::sort(found);
    found.dedup_by_key(|d| (d.code, d.span));
}
