//! A function under analysis: its control-flow graph and its SSA values, with common queries on both.

use crate::cfg::Cfg;
use crate::ssa::{Ssa, Val};
use ptx_dsl_isa::hir::{Function, Instr, Module, NamedRegion, Operand};
use ptx_dsl_isa::isa::{Control, Role};
use ptx_dsl_isa::span::Span;

/// A function with its control-flow graph and its values.
pub struct Flow<'h> {
    /// The module.
    pub module: &'h Module,
    /// The function.
    pub function: &'h Function,
    /// The control-flow graph: basic blocks and edges.
    pub cfg: Cfg<'h>,
    /// The SSA values.
    pub ssa: Ssa,
    /// The function has calls, which may do anything.
    pub calls: bool,
}

impl<'h> Flow<'h> {
    /// `None` if it has too many values.
    pub fn new(module: &'h Module, function: &'h Function) -> Option<Flow<'h>> {
        let cfg = Cfg::new(function);
        let ssa = Ssa::new(function, &cfg)?;
        let calls = cfg.any(&|i| i.entry.effects.control == Control::Call);
        Some(Flow { module, function, cfg, ssa, calls })
    }

    /// An instruction by its number.
    pub fn instr(&self, at: u32) -> &'h Instr {
        self.cfg.instrs[at as usize]
    }

    /// The value of the predicate that guards an instruction.
    pub fn guard(&self, at: u32) -> Option<(Val, bool)> {
        match &self.instr(at).pred {
            Some((Operand::Reg(r, lane), positive)) => Some((self.ssa.read(at, *r, *lane), *positive)),
            _ => None,
        }
    }

    /// The value after copies and trivial phis.
    pub fn origin(&self, v: Val) -> Val {
        self.ssa.origin[v as usize]
    }

    /// The value of the operand of this name, if it is a register.
    pub fn source(&self, at: u32, name: &str) -> Option<Val> {
        match self.instr(at).value(name)? {
            Operand::Reg(r, lane) => Some(self.ssa.read(at, *r, *lane)),
            _ => None,
        }
    }

    /// The name of a variable in memory.
    pub fn variable_name(&self, var: u32) -> &'h str {
        match self.module.vars.get(var as usize) {
            Some(v) => &v.name,
            None => "",
        }
    }

    /// The name of a place in a variable: that of the variable or of the region there, and the offset from its first byte.
    pub fn place_name(&self, var: u32, offset: i64) -> (&'h str, i64) {
        let variable = self.variable_name(var);
        let here = |region: &&'h NamedRegion| {
            let function = region.function.as_ref();
            let within =
                u64::try_from(offset).is_ok_and(|at| (region.offset..region.offset + region.bytes).contains(&at));
            within && region.variable == variable && function.is_none_or(|name| *name == self.function.name)
        };
        // those of the function are behind those of the module
        match self.module.regions.iter().rev().find(here) {
            Some(region) => (&region.name, offset - region.offset.cast_signed()),
            None => (variable, offset),
        }
    }

    /// The name of the variable, or of the region in it, in which bytes are, if it is known where they begin.
    pub fn name_of_bytes(&self, var: u32, bytes: Option<(i64, i64)>) -> &'h str {
        bytes.map_or_else(|| self.variable_name(var), |(first, _)| self.place_name(var, first).0)
    }

    /// The name of the register of an SSA variable.
    pub fn register_name(&self, var: u32) -> &'h str {
        let Some(r) = self.ssa.register(var) else { return "" };
        match self.function.regs.get(r as usize) {
            Some(r) => &r.name,
            None => "",
        }
    }

    /// The span of the operand that reads a variable, or of the whole instruction if that is the guard.
    pub fn operand_span(&self, i: &Instr, var: u32) -> Span {
        for a in &i.operands {
            let mut found = false;
            a.value.registers(&mut |r, lane| found |= self.ssa.var(r, lane) == var);
            if found && a.role != Role::Dst {
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
    cfg: &'a Cfg<'h>,
    blocks: std::slice::Iter<'a, u32>,
    block: u32,
    /// The instructions of the block that are left.
    left: std::ops::Range<u32>,
}

impl<'h> Iterator for Walk<'_, 'h> {
    type Item = (u32, u32, &'h Instr);

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
