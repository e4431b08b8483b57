//! What the checked host keeps of undefined registers: the instructions that are watched, and the lanes that hold what no instruction
//! of their thread has written.

use super::liveness::register;
use super::loaded::Touch;
use super::suspects::{Carry, Suspects};
use crate::qual::Q;
use ptx_dsl_isa::image::{Action, Instr, Register, Source};
use ptx_dsl_isa::isa::effect::{self, MemoryOp};
use std::rc::Rc;
use std::sync::Arc;

/// What a watched instruction does with registers that may be undefined.
#[derive(Debug)]
pub(super) struct Watched {
    pub carry: Carry,
    /// Its sources that have to be defined, with what they are.
    pub needed: Vec<(Register, &'static str)>,
    /// What it stores, if it is a store: the first one and the end among its sources.
    pub stored: Option<(usize, usize)>,
    /// Its guard decides what happens to memory or other threads.
    pub effect: bool,
    /// What it does with registers that wait for another instruction.
    pub touches: Vec<Touch>,
}

impl Watched {
    /// `None` if no register of the instruction is suspected or loaded.
    pub fn new(i: &Instr, qualifiers: Q, suspects: &Suspects) -> Option<Box<Watched>> {
        let suspected = |r: &Register| suspects.number(*r).is_some();
        let guard = i.guard.map(|g| g.register);
        let mut all = i.sources.iter().filter_map(register).chain(guard).chain(i.results.iter().flatten().copied());
        let touches: Vec<_> = suspects.loaded.iter().filter_map(|of| Touch::new(i, qualifiers, of)).collect();
        if touches.is_empty() && (suspects.count == 0 || !all.any(|r| suspected(&r))) {
            return None;
        }
        let effects = match i.action {
            Action::Opcode { opcode, .. } => opcode.entries().next().map(|e| e.instr.effects),
            Action::Move { .. } => None,
        };
        let memory = effects.map_or(MemoryOp::None, |e| e.memory);
        let barrier = effects.is_some_and(|e| e.barrier != effect::Barrier::None);
        let needed = i.sources.iter().filter_map(|source| match *source {
            Source::Address { base, .. } if suspected(&base) => Some((base, "an address")),
            Source::Register { register } if barrier && suspected(&register) => {
                Some((register, "an operand of a barrier"))
            }
            _ => None,
        });
        let stores = memory.stores() && i.sources.len() > 1;
        Some(Box::new(Watched {
            carry: Carry::of(i),
            needed: needed.collect(),
            stored: stores.then_some((1, i.sources.len())),
            effect: barrier || memory != MemoryOp::None,
            touches,
        }))
    }
}

/// The undefined lanes of the watched registers of a CTA.
#[derive(Debug, Clone)]
pub(super) struct Undefined {
    suspects: Arc<Suspects>,
    warps: usize,
    /// By register and warp.
    lanes: Vec<u32>,
    /// The register that nobody has written, from which the value comes.
    roots: Vec<Register>,
    all: Rc<[Register]>,
}

impl Undefined {
    /// `None` if no register is suspected.
    pub fn new(suspects: &Arc<Suspects>, registers: usize, warps: usize) -> Option<Undefined> {
        if suspects.count == 0 {
            return None;
        }
        let mut all = vec![0; suspects.count];
        for r in 0..registers as Register {
            if let Some(n) = suspects.number(r) {
                all[n] = r;
            }
        }
        let mut new = Undefined {
            suspects: suspects.clone(),
            warps,
            lanes: vec![0; suspects.count * warps],
            roots: vec![0; suspects.count * warps],
            all: all.into(),
        };
        new.reset();
        Some(new)
    }

    /// Nobody has written anything.
    pub fn reset(&mut self) {
        self.lanes.fill(u32::MAX);
        for (n, r) in self.all.iter().enumerate() {
            self.roots[n * self.warps..(n + 1) * self.warps].fill(*r);
        }
    }

    /// The lanes of a warp in which a register is undefined, and where that comes from.
    pub fn of(&self, r: Register, w: usize) -> (u32, Register) {
        match self.suspects.number(r) {
            Some(n) => (self.lanes[n * self.warps + w], self.roots[n * self.warps + w]),
            None => (0, r),
        }
    }

    /// Lanes of a register get a value, which is undefined in some of them.
    pub fn set(&mut self, r: Register, w: usize, lanes: u32, undefined: (u32, Register)) {
        let Some(n) = self.suspects.number(r) else { return };
        let at = n * self.warps + w;
        self.lanes[at] = self.lanes[at] & !lanes | undefined.0 & lanes;
        if undefined.0 & lanes != 0 {
            self.roots[at] = undefined.1;
        }
    }
}
