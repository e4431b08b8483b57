//! What the statements of a function mean together, for lints, code generation and the interpreter.
//!
//! | file | analysis |
//! |---|---|
//! | `cfg.rs`, `graph.rs` | basic blocks and edges; postorder, dominators (Cooper, Harvey and Kennedy), strongly connected components |
//! | `ssa.rs` | static single assignment: values, phis, uses; a solver for facts about values |
//! | `dataflow.rs` | forward data flow over sets of bits |
//! | `divergence.rs` | regions between divergent branches and their post-dominators |
//! | `loops.rs`, `induction.rs`, `fold.rs` | natural loops; their counters, iteration by iteration; constant folding |
//! | `issue.rs` | how many threads issue an instruction together |
//! | `lanes.rs`, `threads.rs`, `reaching.rs`, `sites.rs` | which threads see a predicate true; sets of threads; who reaches a place; how often |
//! | `ctas.rs`, `ranks.rs` | what differs between CTAs; values by the rank of a CTA in its cluster |
//! | `provenance.rs`, `region.rs`, `accesses.rs` | where an address comes from; the bytes behind it; the accesses of an instruction |
//! | `guards.rs`, `paths.rs` | guards that are constant; paths through the graph on which conditions agree |
//! | `inline.rs`, `promote.rs` | calls replaced by their bodies; private memory promoted to registers |

use ptx_dsl_isa::hir;
use ptx_dsl_isa::isa::Control;

pub mod accesses;
pub mod cfg;
pub mod ctas;
pub mod dataflow;
pub mod divergence;
pub mod fold;
pub mod graph;
pub mod guards;
pub mod induction;
pub mod inline;
pub mod issue;
pub mod lanes;
pub mod loops;
pub mod paths;
pub mod promote;
pub mod provenance;
pub mod ranks;
pub mod reaching;
pub mod region;
pub mod sites;
pub mod ssa;
pub mod threads;

/// A function with its control-flow graph and its values.
pub struct Flow<'h> {
    /// The module.
    pub module: &'h hir::Module,
    /// The function.
    pub function: &'h hir::Function,
    /// Its blocks.
    pub cfg: cfg::Cfg<'h>,
    /// Its values.
    pub ssa: ssa::Ssa,
    /// The function calls others: what they do is not known.
    pub calls: bool,
}

impl<'h> Flow<'h> {
    /// `None` if its values are too many to follow.
    pub fn new(module: &'h hir::Module, function: &'h hir::Function) -> Option<Flow<'h>> {
        let cfg = cfg::Cfg::new(function);
        let ssa = ssa::Ssa::new(function, &cfg)?;
        let calls = cfg.any(&|i| i.entry.control == Control::Call);
        Some(Flow { module, function, cfg, ssa, calls })
    }

    /// An instruction by its number.
    pub fn instr(&self, at: u32) -> &'h hir::Instr {
        self.cfg.instrs[at as usize]
    }

    /// The value of the predicate that guards an instruction.
    pub fn guard(&self, at: u32) -> Option<(ssa::Val, bool)> {
        match &self.instr(at).pred {
            Some((hir::Operand::Reg(r, lane), positive)) => Some((self.ssa.read(at, *r, *lane), *positive)),
            _ => None,
        }
    }

    /// The value that this one can only be.
    pub fn origin(&self, v: ssa::Val) -> ssa::Val {
        self.ssa.origin[v as usize]
    }

    /// What an instruction reads by the operand of this name, if that is a register.
    pub fn source(&self, at: u32, name: &str) -> Option<ssa::Val> {
        match self.instr(at).value(name)? {
            hir::Operand::Reg(r, lane) => Some(self.ssa.read(at, *r, *lane)),
            _ => None,
        }
    }

    /// The name of a variable in memory.
    pub fn variable(&self, var: u32) -> &'h str {
        match self.module.vars.get(var as usize) {
            Some(v) => &v.name,
            None => "",
        }
    }

    /// A variable's name: that of its register.
    pub fn name(&self, var: u32) -> &'h str {
        let Some(r) = self.ssa.register(var) else { return "" };
        match self.function.regs.get(r as usize) {
            Some(r) => &r.name,
            None => "",
        }
    }

    /// Where an instruction names a variable: the operand, or all of it if that is the guard.
    pub fn place(&self, i: &hir::Instr, var: u32) -> ptx_dsl_isa::span::Span {
        for a in &i.operands {
            let mut found = false;
            a.value.registers(&mut |r, lane| found |= self.ssa.var(r, lane) == var);
            if found && a.role != ptx_dsl_isa::isa::Role::Dst {
                return a.span;
            }
        }
        i.span
    }

    /// All reachable instructions, block by block: the block, the number of the instruction, the instruction.
    pub fn walk(&self) -> Walk<'_, 'h> {
        Walk { cfg: &self.cfg, blocks: self.cfg.rpo.iter(), block: 0, left: 0..0 }
    }
}

/// See [`Flow::walk`].
pub struct Walk<'a, 'h> {
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
