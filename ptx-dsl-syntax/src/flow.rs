//! What one kernel is enough to decide about the way its threads go through it (DESIGN section 5): who reaches a place,
//! what an instruction owes until another discharges it, what a register's address is the address of.
//!
//! [`cfg`] cuts a body into blocks, [`ssa`] names every value of a register, [`dataflow`] carries sets of bits over blocks.
//! On these stand [`lanes`] (which threads make a predicate true), [`converge`] (who may be at a place) and
//! [`provenance`] (where an address comes from); the rules are in `converge`, [`obligations`], [`protocol`], [`spaces`]
//! and [`ordinary`]. A rule says error only where every path proves it; else it warns or is silent.

use crate::diag::Diagnostic;
use crate::hir;

mod cfg;
mod clusters;
mod converge;
mod copies;
mod dataflow;
mod granularity;
mod lanes;
mod matrices;
mod mbarriers;
mod meeting;
mod memory;
mod obligations;
mod ordinary;
mod protocol;
mod provenance;
mod proxies;
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

/// Checks one function, all of whose statements are in the typed module.
pub(crate) fn check(module: &hir::Module, function: &hir::Function) -> Vec<Diagnostic> {
    if function.body.is_empty() || function.body.len() > LIMIT {
        return Vec::new();
    }
    let cfg = cfg::Cfg::new(function);
    let Some(ssa) = ssa::Ssa::new(function, &cfg) else { return Vec::new() };
    let calls = cfg.instrs.iter().any(|i| i.entry.opcode == "call");
    let flow = Flow { module, function, cfg, ssa, calls };
    let mut out = Vec::new();
    let lanes = lanes::Lanes::new(&flow);
    let place = converge::Places::new(&flow, &lanes);
    converge::check(&flow, &lanes, &place, &mut out);
    obligations::check(&flow, &mut out);
    let from = provenance::Provenance::new(&flow);
    protocol::check(&flow, &place, &from, &mut out);
    spaces::check(&flow, &from, &mut out);
    mbarriers::check(&flow, &lanes, &place, &from, &mut out);
    copies::check(&flow, &lanes, &place, &from, &mut out);
    proxies::check(&flow, &from, &mut out);
    matrices::check(&flow, &mut out);
    clusters::check(&flow, &lanes, &place, &from, &mut out);
    ordinary::check(&flow, &lanes, &mut out);
    out
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
