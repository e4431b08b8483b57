//! The rules 06xx: what the flow of a kernel shows about synchronisation, memory, Tensor Memory and the threads that run it.
//!
//! The rules stand in folders by topic. They use the analyses of `ptx-dsl-analysis`; their messages are in `errors/`, their list is
//! `rules.rs`. A rule says error only where every path proves it; else it warns or is silent.

use crate::kernel::Kernel;
use ptx_dsl_analysis::{Flow, lanes, promote, provenance, reaching};
use ptx_dsl_isa::diag::{self, Diagnostic};
use ptx_dsl_isa::hir;

mod errors;
mod kernel;
mod memory;
mod pending;
pub mod rules;
mod spelling;
mod sync;
mod synchronisation;
mod tensor;
#[cfg(test)]
mod tests;
mod threads;

/// More statements than this are a generated module of a size where seconds matter more than hints.
const LIMIT: usize = 200_000;

/// Checks the functions in `whole`, all of whose statements are in the typed module: those in ascending order.
pub fn check(module: &hir::Module, whole: &[hir::FuncId]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for id in whole {
        let Some(function) = module.functions.get(id.0 as usize) else { continue };
        if function.body.is_empty() || function.body.len() > LIMIT {
            continue;
        }
        let mut found = Vec::new();
        // A function of which there is too much to say is not looked at.
        let _ = look(module, function, whole, &mut found);
        out.append(&mut found);
    }
    once(&mut out);
    out
}

fn look(
    module: &hir::Module,
    function: &hir::Function,
    whole: &[hir::FuncId],
    out: &mut Vec<Diagnostic>,
) -> Option<()> {
    let written = Flow::new(module, function)?;
    let lanes = lanes::Lanes::new(&written);
    threads::dead_code::check(&written, &lanes, out);
    // What stands in the text is there as it stands; all else is asked of what the kernel does.
    match promote::seen(module, function, whole) {
        None => live(&written, &lanes, out)?,
        Some(seen) => {
            let flow = Flow::new(module, &seen)?;
            live(&flow, &lanes::Lanes::new(&flow), out)?;
        }
    }
    called(function, out);
    Some(())
}

/// Applies the rules to what may run.
fn live(flow: &Flow, lanes: &lanes::Lanes, out: &mut Vec<Diagnostic>) -> Option<()> {
    match promote::decided(flow, lanes) {
        None => rules(flow, lanes, out),
        Some(decided) => {
            let flow = Flow::new(flow.module, &decided)?;
            rules(&flow, &lanes::Lanes::new(&flow), out);
        }
    }
    Some(())
}

fn rules(flow: &Flow, lanes: &lanes::Lanes, out: &mut Vec<Diagnostic>) {
    let places = reaching::Places::new(flow, lanes);
    let from = provenance::Provenance::new(flow);
    let kernel = Kernel { flow, lanes, places: &places, from: &from };
    threads::check(&kernel, out);
    sync::check(&kernel, out);
    memory::check(&kernel, out);
    tensor::check(&kernel, out);
}

/// Says of what stands in another function which kernel calls it so.
fn called(function: &hir::Function, found: &mut [Diagnostic]) {
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

/// One finding for each code and place: functions that two kernels call, and several debts of one `ret`, are said once.
fn once(found: &mut Vec<Diagnostic>) {
    // An error says more than a warning, and comes first.
    diag::sort(found);
    found.dedup_by_key(|d| (d.code, d.span));
}
