//! The execution of one thread, instruction by instruction, as far as its registers are known: loaded values and parameters are not.
//! Loops with a constant trip count run as they do in the kernel; a loop whose end is unknown goes on.

use crate::dataflow::Bits;
use crate::flow::Flow;
use crate::fold::fold;
use crate::induction::Thread;
use crate::loops::Loops;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::opcode::op;

/// A thread before one of its instructions.
pub struct Execution<'a, 'h> {
    flow: &'a Flow<'h>,
    loops: &'a Loops,
    /// Blocks from which threads only exit.
    ends: &'a [bool],
    thread: Thread,
    /// By variable: the value of the register.
    registers: Vec<Option<u64>>,
    block: u32,
    at: u32,
}

/// The point at which an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The execution stands before an instruction that the thread executes.
    At(u32),
    /// The execution stands before an instruction whose guard is unknown.
    Perhaps(u32),
    /// The thread has exited, or where it goes on is unknown.
    Over,
}

impl<'a, 'h> Execution<'a, 'h> {
    /// A thread before its first instruction. `ends`: by block, whether threads only exit from there.
    pub fn new(flow: &'a Flow<'h>, loops: &'a Loops, ends: &'a [bool], thread: Thread) -> Execution<'a, 'h> {
        let mut execution = Execution { flow, loops, ends, thread, registers: Vec::new(), block: 0, at: 0 };
        execution.enter(flow.cfg.rpo.first().copied());
        execution
    }

    /// The instruction that comes next.
    pub fn position(&self) -> Position {
        match self.guard_holds() {
            _ if self.block == self.flow.cfg.exit => Position::Over,
            Some(_) => Position::At(self.at),
            None => Position::Perhaps(self.at),
        }
    }

    /// Does the guard of the next instruction hold? `None`: unknown.
    pub fn guard_holds(&self) -> Option<bool> {
        match &self.flow.cfg.instrs.get(self.at as usize)?.pred {
            None => Some(true),
            Some((p, positive)) => Some((self.operand(p)? != 0) == *positive),
        }
    }

    /// The value of an operand. Addresses count from the start of their variable.
    pub fn operand(&self, o: &Operand) -> Option<u64> {
        match o {
            Operand::Imm(n) => Some(*n),
            Operand::VarAddr(_, offset) => Some(*offset as u64),
            Operand::Reg(r, lane) => *self.registers.get(self.flow.ssa.var(*r, *lane) as usize)?,
            Operand::NotReg(r) => Some(u64::from(self.operand(&Operand::Reg(*r, 0))? == 0)),
            Operand::Sreg(register) => self.thread.special(*register),
            _ => None,
        }
    }

    /// Executes the next instruction.
    pub fn step(&mut self) {
        let i = self.flow.instr(self.at);
        let holds = self.guard_holds();
        if holds != Some(false) {
            self.write_results(i, holds.is_some());
        }
        if i.entry.effects.control == Control::Trap && holds == Some(true) {
            self.block = self.flow.cfg.exit;
        } else if self.at + 1 < self.flow.cfg.range(self.block).end {
            self.at += 1;
        } else {
            let next = self.successor(holds);
            self.enter(next);
        }
    }

    /// Writes the results of an instruction that the thread executes, or perhaps executes.
    fn write_results(&mut self, i: &Instr, certain: bool) {
        // The elected lane is the one that is followed.
        let elects = i.opcode == op::elect_sync;
        let result = if certain { fold(i, &mut |o| self.operand(o)) } else { None };
        let first = match i.operands.first().map(|a| &a.value) {
            Some(Operand::Reg(r, lane)) => Some(self.flow.ssa.var(*r, *lane)),
            _ => None,
        };
        for (var, _) in self.flow.ssa.defs(self.at) {
            let var = *var as usize;
            if var >= self.registers.len() {
                self.registers.resize(var + 1, None);
            }
            self.registers[var] = match first {
                _ if elects && certain => Some(1),
                Some(of) if of as usize == var => result,
                _ => None,
            };
        }
    }

    /// The block that follows. A loop goes on where its condition is unknown, and a thread does not exit early. What an unknown condition
    /// leaves out at most changes registers, which are unknown behind it.
    fn successor(&mut self, holds: Option<bool>) -> Option<u32> {
        let flow = self.flow;
        let succ = &flow.cfg.blocks[self.block as usize].succ;
        let (Some(branch), None) = (flow.cfg.branch(self.block), holds) else {
            let conditional = holds.and_then(|holds| {
                let (_, positive) = flow.guard(self.at)?;
                succ.iter().find(|e| e.when == Some(holds == positive))
            });
            return match conditional {
                Some(e) => Some(e.to),
                None if succ.len() == 1 => Some(succ[0].to),
                None => None,
            };
        };
        flow.guard(branch)?;
        let header = self.loops.innermost(self.block);
        let inside = |b: u32| header.is_some_and(|h| self.loops.contains(h, b));
        let ways: [&dyn Fn(u32) -> bool; 2] = [&inside, &|b| !self.ends[b as usize]];
        for fits in ways {
            let mut fitting = succ.iter().filter(|e| fits(e.to));
            if let (Some(only), None) = (fitting.next(), fitting.next()) {
                return Some(only.to);
            }
        }
        self.pass_by()
    }

    /// The block behind the region of an unknown branch, in which only registers change.
    fn pass_by(&mut self) -> Option<u32> {
        let cfg = &self.flow.cfg;
        let join = cfg.ipdom[self.block as usize];
        let mut seen = Bits::none(cfg.blocks.len());
        let mut stack = Vec::new();
        cfg.push_successors(self.block, &mut stack);
        while let Some(b) = stack.pop() {
            if b == join || seen.has(b as usize) {
                continue;
            }
            seen.set(b as usize);
            if b == cfg.exit || cfg.range(b).any(|at| !passes(self.flow.instr(at))) {
                return None;
            }
            for at in cfg.range(b) {
                for (var, _) in self.flow.ssa.defs(at) {
                    if let Some(register) = self.registers.get_mut(*var as usize) {
                        *register = None;
                    }
                }
            }
            cfg.push_successors(b, &mut stack);
        }
        Some(join).filter(|b| *b != crate::cfg::NONE)
    }

    /// Goes to the first instruction of a block, or of those that follow it without a branch.
    fn enter(&mut self, block: Option<u32>) {
        let cfg = &self.flow.cfg;
        let mut next = block;
        for _ in 0..=cfg.blocks.len() {
            let Some(b) = next else { break };
            if b == cfg.exit || !cfg.range(b).is_empty() {
                (self.block, self.at) = (b, cfg.blocks[b as usize].first);
                return;
            }
            next = cfg.blocks[b as usize].succ.first().map(|e| e.to);
        }
        self.block = cfg.exit;
    }
}

/// May an execution leave the instruction out? Operations in groups must be known.
fn passes(i: &Instr) -> bool {
    use ptx_dsl_isa::isa::{Group, Step};
    let group = i.entry.effects.group;
    let starts = matches!(group, Group::Copy(Step::Start | Step::Hint) | Group::Bulk(Step::Start | Step::Hint));
    (group == Group::None || starts) && matches!(i.entry.effects.control, Control::Next | Control::Branch)
}
