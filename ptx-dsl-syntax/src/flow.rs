//! What one kernel is enough to decide about the way its threads go through it (DESIGN section 5): who reaches a place,
//! what an instruction owes until another discharges it, what a register's address is the address of.
//!
//! [`inline`] puts what is called in the place of the call, [`cfg`] cuts a body into blocks, [`ssa`] names every value of a
//! register, [`dataflow`] carries sets of bits over blocks, [`paths`] looks for one way through them. On these stand [`lanes`]
//! (which threads make a predicate true), [`converge`] (who may be at a place), [`provenance`] (where an address comes from)
//! and [`memory`] (places in memory, and what is owed); the rules are in the other files. A rule says
//! error only where every path proves it; else it warns or is silent.

use crate::diag::Diagnostic;
use crate::hir;

mod cfg;
mod clusters;
mod completion;
mod converge;
mod copies;
mod dataflow;
mod elected;
mod granularity;
mod inline;
mod lanes;
mod matrices;
mod mbarriers;
mod meeting;
mod memory;
mod obligations;
mod ordinary;
mod paths;
mod protocol;
mod provenance;
mod proxies;
mod races;
mod spaces;
mod ssa;
#[cfg(test)]
mod tests;

/// All that the rules look at.
struct Flow<'h> {
    module: &'h hir::Module,
    function: &'h hir::Function,
    cfg: cfg::Cfg<'h>,
    ssa: ssa::Ssa,
    /// The function calls others: what they do is not known.
    calls: bool,
}

/// More statements than this are a generated module of a size where seconds matter more than hints.
const LIMIT: usize = 200_000;

/// Checks functions, all of whose statements are in the typed module: each with what it calls of them.
pub(crate) fn check_all(module: &hir::Module, functions: &[hir::FuncId]) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut good = vec![false; module.functions.len()];
    for id in functions {
        if let Some(slot) = good.get_mut(id.0 as usize) {
            *slot = true;
        }
    }
    for id in functions {
        let found = check(module, *id, &good);
        // A function that several call has its mistakes once.
        out.extend(found.into_iter().filter(|d| seen.insert((d.code, d.span.first, d.span.last))));
    }
    out
}

fn check(module: &hir::Module, id: hir::FuncId, good: &[bool]) -> Vec<Diagnostic> {
    let Some(function) = module.functions.get(id.0 as usize) else { return Vec::new() };
    if function.body.is_empty() || function.body.len() > LIMIT {
        return Vec::new();
    }
    let mut out = Vec::new();
    match inline::inline(module, id, good) {
        None => rules(module, function, Which::All, &mut out),
        Some(whole) => {
            rules(module, &whole, Which::Protocol, &mut out);
            // What is never so in one call may be so in another.
            rules(module, function, Which::Ordinary, &mut out);
        }
    }
    out
}

/// Which rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Protocol,
    Ordinary,
}

fn rules(module: &hir::Module, function: &hir::Function, which: Which, out: &mut Vec<Diagnostic>) {
    let cfg = cfg::Cfg::new(function);
    let ssa = ssa::Ssa::new(function, &cfg);
    let calls = cfg.instrs.iter().any(|i| i.entry.opcode == "call");
    let flow = Flow { module, function, cfg, ssa, calls };
    let lanes = lanes::Lanes::new(&flow);
    if which != Which::Protocol {
        ordinary::check(&flow, &lanes, out);
    }
    if which == Which::Ordinary {
        return;
    }
    let place = converge::Places::new(&flow, &lanes);
    converge::check(&flow, &lanes, &place, out);
    obligations::check(&flow, out);
    let from = provenance::Provenance::new(&flow);
    protocol::check(&flow, &lanes, &place, &from, out);
    spaces::check(&flow, &from, out);
    mbarriers::check(&flow, &lanes, &place, &from, out);
    copies::check(&flow, &lanes, &place, &from, out);
    proxies::check(&flow, &from, out);
    matrices::check(&flow, out);
    clusters::check(&flow, &lanes, &place, &from, out);
    completion::check(&flow, &from, out);
    elected::check(&flow, &lanes, &place, &from, out);
    races::check(&flow, &lanes, &place, &from, out);
}

impl<'h> Flow<'h> {
    /// A variable's name: that of its register.
    fn name(&self, var: u32) -> &'h str {
        self.ssa.register(var).and_then(|r| self.function.regs.get(r as usize)).map_or("", |r| r.name.as_str())
    }

    /// Where an instruction names a variable: the operand, or all of it if that is the guard.
    fn place(&self, i: &hir::Instr, var: u32) -> crate::span::Span {
        for a in i.operands.iter().filter(|a| a.role != crate::isa::Role::Dst) {
            let mut found = false;
            ssa::registers(&a.value, &mut |r, lane| found |= self.ssa.var(r, lane) == var);
            if found {
                return a.span;
            }
        }
        i.span
    }

    /// Walks all reachable instructions, block by block; `start` is told each block first.
    fn walk(&self, mut start: impl FnMut(u32), mut each: impl FnMut(u32, &'h hir::Instr)) {
        for &b in &self.cfg.rpo {
            start(b);
            for i in self.cfg.range(b) {
                each(i, self.cfg.instrs[i as usize]);
            }
        }
    }
}
