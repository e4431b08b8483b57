//! What one kernel is enough to decide about the way its threads go through it: who reaches a place,
//! what an instruction owes until another discharges it, what a register's address is the address of.
//!
//! `inline` and `scalars` make one body of a kernel and what it calls and spills. `cfg` cuts a body into blocks, `ssa`
//! names every value of a register, `dataflow` carries sets of bits over blocks, `paths` looks for one way through them. On
//! these stand `lanes` (which threads make a predicate true), `converge` (who may be at a place), `provenance` (where an
//! address comes from) and `memory` (places in memory, and what is owed); the rules are in the other files. A rule says error
//! only where every path proves it; else it warns or is silent.

use ptx_dsl_table::diag::{self, Diagnostic};
use ptx_dsl_table::hir;

mod accesses;
mod cfg;
mod clusters;
mod completion;
mod converge;
mod copies;
mod ctas;
mod dataflow;
mod elected;
mod errors;
mod granularity;
mod inline;
mod lanes;
mod lives;
mod loops;
mod matrices;
mod mbarriers;
mod meeting;
mod memory;
mod obligations;
mod ordinary;
mod paths;
mod phases;
mod protocol;
mod provenance;
mod proxies;
mod races;
mod scalars;
mod scopes;
mod spaces;
mod ssa;
mod tensormaps;
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

/// Checks the functions in `whole`, all of whose statements are in the typed module: those in ascending order.
pub fn check(module: &hir::Module, whole: &[hir::FuncId]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for function in whole.iter().filter_map(|id| module.functions.get(id.0 as usize)) {
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
    ordinary::check(&written, &lanes, out);
    // What stands in the text is there as it stands; all else is asked of what the kernel does.
    let Some(seen) = scalars::seen(module, function, whole) else {
        rules(&written, &lanes, out);
        return Some(());
    };
    let flow = Flow::new(module, &seen)?;
    let lanes = lanes::Lanes::new(&flow);
    match scalars::decided(&flow, &lanes) {
        Some(decided) => {
            let flow = Flow::new(module, &decided)?;
            rules(&flow, &lanes::Lanes::new(&flow), out);
        }
        None => rules(&flow, &lanes, out),
    }
    called(function, out);
    Some(())
}

fn rules(flow: &Flow, lanes: &lanes::Lanes, out: &mut Vec<Diagnostic>) {
    let place = converge::Places::new(flow, lanes);
    converge::check(flow, lanes, &place, out);
    obligations::check(flow, out);
    let from = provenance::Provenance::new(flow);
    protocol::check(flow, lanes, &place, &from, out);
    spaces::check(flow, &from, out);
    mbarriers::check(flow, lanes, &place, &from, out);
    copies::check(flow, lanes, &place, &from, out);
    proxies::check(flow, lanes, &place, &from, out);
    tensormaps::check(flow, &from, out);
    matrices::check(flow, out);
    clusters::check(flow, lanes, &place, &from, out);
    scopes::check(flow, &from, out);
    completion::check(flow, &from, out);
    elected::check(flow, lanes, &place, &from, out);
    races::check(flow, lanes, &place, &from, out);
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

impl<'h> Flow<'h> {
    fn new(module: &'h hir::Module, function: &'h hir::Function) -> Option<Flow<'h>> {
        let cfg = cfg::Cfg::new(function);
        let ssa = ssa::Ssa::new(function, &cfg)?;
        let calls = cfg.any(&|i| i.entry.opcode == "call");
        Some(Flow { module, function, cfg, ssa, calls })
    }

    /// A variable's name: that of its register.
    fn name(&self, var: u32) -> &'h str {
        self.ssa.register(var).and_then(|r| self.function.regs.get(r as usize)).map_or("", |r| r.name.as_str())
    }

    /// Where an instruction names a variable: the operand, or all of it if that is the guard.
    fn place(&self, i: &hir::Instr, var: u32) -> ptx_dsl_table::span::Span {
        for a in i.operands.iter().filter(|a| a.role != ptx_dsl_table::isa::Role::Dst) {
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
        self.walk_blocks(&mut start, &mut each);
    }

    /// Apart, so that it is not compiled for each rule.
    fn walk_blocks(&self, start: &mut dyn FnMut(u32), each: &mut dyn FnMut(u32, &'h hir::Instr)) {
        for &b in &self.cfg.rpo {
            start(b);
            for i in self.cfg.range(b) {
                each(i, self.cfg.instrs[i as usize]);
            }
        }
    }
}
