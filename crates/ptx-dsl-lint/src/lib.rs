//! What one kernel is enough to decide about the way its threads go through it: who reaches a place,
//! what an instruction owes until another discharges it, what a register's address is the address of.
//!
//! `inline` and `scalars` make one body of a kernel and what it calls and spills. `cfg` cuts a body into blocks, `ssa`
//! names every value of a register, `dataflow` carries sets of bits over blocks, `paths` looks for one way through them. On
//! these stand `lanes` (which threads make a predicate true), `converge` (who may be at a place), `provenance` (where an
//! address comes from) and `memory` (places in memory, and what is owed); the rules are in the other files. A rule says error
//! only where every path proves it; else it warns or is silent.

use ptx_dsl_isa::diag::{self, Diagnostic};
use ptx_dsl_isa::hir;
use ptx_dsl_isa::opcode::op;

mod accesses;
mod ask;
mod beyond;
mod cfg;
mod clusters;
mod completion;
mod conflicts;
mod converge;
mod copied;
mod copies;
mod ctas;
mod dataflow;
mod drops;
mod elected;
mod errors;
mod expects;
mod fold;
mod granularity;
mod induction;
mod inline;
mod lanes;
mod lives;
mod loops;
mod matrices;
mod mbarriers;
mod meeting;
mod memory;
mod named_barriers;
mod obligations;
mod ordinary;
mod paths;
mod phases;
mod protocol;
mod provenance;
mod proxies;
mod races;
mod ranks;
mod refills;
mod requests;
mod rings;
pub mod rules;
mod scalars;
mod scopes;
mod spaces;
mod ssa;
mod states;
mod tensor;
mod tensor_loads;
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
    ordinary::check(&written, &lanes, out);
    // What stands in the text is there as it stands; all else is asked of what the kernel does.
    match scalars::seen(module, function, whole) {
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
    match scalars::decided(flow, lanes) {
        None => rules(flow, lanes, out),
        Some(decided) => {
            let flow = Flow::new(flow.module, &decided)?;
            rules(&flow, &lanes::Lanes::new(&flow), out);
        }
    }
    Some(())
}

fn rules(flow: &Flow, lanes: &lanes::Lanes, out: &mut Vec<Diagnostic>) {
    let place = converge::Places::new(flow, lanes);
    converge::check(flow, lanes, &place, out);
    obligations::check(flow, out);
    let from = provenance::Provenance::new(flow);
    tensor_loads::check(flow, &from, out);
    protocol::check(flow, lanes, &place, &from, out);
    spaces::check(flow, &from, out);
    mbarriers::check(flow, lanes, &place, &from, out);
    rings::check(flow, lanes, &place, &from, out);
    copies::check(flow, lanes, &place, &from, out);
    proxies::check(flow, lanes, &place, &from, out);
    tensormaps::check(flow, &from, out);
    matrices::check(flow, out);
    clusters::check(flow, lanes, &place, &from, out);
    beyond::check(flow, out);
    scopes::check(flow, &from, out);
    completion::check(flow, lanes, &from, out);
    elected::check(flow, lanes, &place, &from, out);
    refills::check(flow, &from, out);
    expects::check(flow, &from, out);
    copied::check(flow, lanes, &place, &from, out);
    races::check(flow, lanes, &place, &from, out);
    tensor::check(flow, lanes, &place, &from, out);
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
        let calls = cfg.any(&|i| i.opcode == op::call);
        Some(Flow { module, function, cfg, ssa, calls })
    }

    /// An instruction by its number.
    fn instr(&self, at: u32) -> &'h hir::Instr {
        self.cfg.instrs[at as usize]
    }

    /// The value of the predicate that guards an instruction.
    fn guard(&self, at: u32) -> Option<(ssa::Val, bool)> {
        match &self.instr(at).pred {
            Some((hir::Operand::Reg(r, lane), positive)) => Some((self.ssa.read(at, *r, *lane), *positive)),
            _ => None,
        }
    }

    /// The value that this one can only be.
    fn origin(&self, v: ssa::Val) -> ssa::Val {
        self.ssa.origin[v as usize]
    }

    /// What an instruction reads by the operand of this name, if that is a register.
    fn source(&self, at: u32, name: &str) -> Option<ssa::Val> {
        match ask::value(self.instr(at), name)? {
            hir::Operand::Reg(r, lane) => Some(self.ssa.read(at, *r, *lane)),
            _ => None,
        }
    }

    /// The name of a variable in memory.
    fn variable(&self, var: u32) -> &'h str {
        match self.module.vars.get(var as usize) {
            Some(v) => &v.name,
            None => "",
        }
    }

    /// A variable's name: that of its register.
    fn name(&self, var: u32) -> &'h str {
        let Some(r) = self.ssa.register(var) else { return "" };
        match self.function.regs.get(r as usize) {
            Some(r) => &r.name,
            None => "",
        }
    }

    /// Where an instruction names a variable: the operand, or all of it if that is the guard.
    fn place(&self, i: &hir::Instr, var: u32) -> ptx_dsl_isa::span::Span {
        for a in &i.operands {
            let mut found = false;
            ssa::registers(&a.value, &mut |r, lane| found |= self.ssa.var(r, lane) == var);
            if found && a.role != ptx_dsl_isa::isa::Role::Dst {
                return a.span;
            }
        }
        i.span
    }

    /// All reachable instructions, block by block: the block, the number of the instruction, the instruction.
    fn walk(&self) -> Walk<'_, 'h> {
        Walk { cfg: &self.cfg, blocks: self.cfg.rpo.iter(), block: 0, left: 0..0 }
    }
}

/// See [`Flow::walk`].
struct Walk<'a, 'h> {
    cfg: &'a cfg::Cfg<'h>,
    blocks: std::slice::Iter<'a, u32>,
    block: u32,
    /// Of the block.
    left: std::ops::Range<u32>,
}

impl<'h> Iterator for Walk<'_, 'h> {
    type Item = (u32, u32, &'h hir::Instr);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(at) = self.left.next() {
                return Some((self.block, at, self.cfg.instrs[at as usize]));
            }
            self.block = *self.blocks.next()?;
            self.left = self.cfg.range(self.block);
        }
    }
}
