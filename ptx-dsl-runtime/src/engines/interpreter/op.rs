//! An instruction as data: its operands and results.

use super::suspects::Suspects;
use super::watched::Watched;
use crate::machine::Ctx;
use crate::numerics::qual::Q;
use crate::observe::monitor::Order;
use crate::semantics::{OnWarp, sreg};
use ptx_dsl_isa::image::{Action, Guard, Instr, Register, Source};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, Varies, special};

/// The function of an instruction that does not wait.
pub(super) type WarpFunction = OnWarp<()>;

/// An instruction.
pub(super) struct Op {
    pub q: Q,
    pub site: u32,
    /// The number of the instruction in the image.
    pub number: u32,
    /// The memory order of the instruction, for monitors.
    pub order: Order,
    pub guard: Option<Guard>,
    pub sources: Vec<Operand>,
    pub results: Vec<Option<Register>>,
    /// The registers that may be undefined, if the monitor asks for them.
    pub watched: Option<Box<Watched>>,
}

impl Op {
    pub fn new(i: &Instr, q: Q, suspects: Option<&Suspects>) -> Self {
        let sources = i.sources.iter().map(operand).collect();
        let order = match i.action {
            Action::Opcode { opcode, .. } => Order::of_opcode(opcode, |word| q.has(word)),
            _ => Order::default(),
        };
        let watched = suspects.map(|suspects| Watched::new(i, q, suspects));
        Op { q, order, site: i.site, number: 0, guard: i.guard, sources, results: i.results.clone(), watched }
    }

    /// The registers that the instruction reads.
    pub fn reads(&self) -> impl Iterator<Item = Register> {
        let operands = self.sources.iter().filter_map(|source| match source {
            Operand::Register(r) | Operand::Not(r) | Operand::Address { base: r, .. } => Some(*r),
            Operand::Constant(_) | Operand::Special(_) | Operand::Frame { .. } => None,
        });
        self.guard.map(|guard| guard.register).into_iter().chain(operands)
    }

    /// Whether the instruction is watched even if no load has read unwritten memory.
    pub fn is_watched(&self) -> bool {
        self.watched.as_ref().is_some_and(|watched| watched.always)
    }
}

/// An operand.
pub(super) enum Operand {
    Register(Register),
    Not(Register),
    Constant(u64),
    Special(Special),
    Address { base: Register, offset: i64 },
    Frame { at: u64 },
}

/// A special register.
pub(super) struct Special {
    pub register: SpecialRegister,
    /// The function that reads the register in a lane.
    pub read: fn(&Ctx<'_>, usize) -> u64,
    /// Whether the register is the same in all threads of a CTA.
    pub uniform: bool,
}

/// An operand with the function of its special register.
pub(super) fn operand(source: &Source) -> Operand {
    match *source {
        Source::Register { register } => Operand::Register(register),
        Source::Not { register } => Operand::Not(register),
        Source::Constant { value } | Source::Variable { value, .. } => Operand::Constant(value),
        Source::Address { base, offset: 0 } => Operand::Register(base),
        Source::Address { base, offset } => Operand::Address { base, offset },
        Source::Frame { at } => Operand::Frame { at },
        Source::Special { register } => {
            let varies = register.row().varies;
            let uniform = matches!(varies, Varies::Never | Varies::WithRank | Varies::WithCluster | Varies::WithCta);
            Operand::Special(Special { register, read: sreg::reader(register), uniform })
        }
    }
}

impl Special {
    /// The axis of the register: 0 for `%tid.x`, 1 for the row of the thread.
    pub fn axis(&self) -> Option<usize> {
        match self.register {
            special::tid_x => Some(0),
            special::tid_y => Some(1),
            _ => None,
        }
    }
}
