//! Registers that `tcgen05.ld` writes, until `tcgen05.wait::ld` (PTX ISA 9.7.16.8), for the checked host. A `mov` copies what it reads, so
//! that its result is not there yet either.

use super::liveness::register;
use crate::qual::{Q, q};
use ptx_dsl_isa::image::{Action, End, Image, Instr, Register};
use ptx_dsl_isa::isa::effect::Tensor;
use ptx_dsl_isa::opcode::op;
use std::sync::Arc;

/// What an instruction does with loaded registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Wait,
    Copy,
    Use,
}

impl Kind {
    fn of(i: &Instr, qualifiers: Q) -> Kind {
        let Action::Opcode { opcode, .. } = i.action else { return Kind::Copy };
        match opcode.entries().next().map(|e| e.instr.effects.tensor) {
            Some(Tensor::Load) => Kind::Load,
            Some(Tensor::Wait) if !qualifiers.has(q::st) => Kind::Wait,
            _ if opcode == op::mov => Kind::Copy,
            _ => Kind::Use,
        }
    }
}

/// The registers that hold what `tcgen05.ld` loads, and copies of them.
#[derive(Debug, Default, Clone)]
pub(super) struct Loaded {
    /// By register: its number among them.
    numbers: Vec<Option<u32>>,
    count: usize,
}

impl Loaded {
    pub fn new(image: &Image) -> Loaded {
        let mut numbers = vec![None; image.registers.len()];
        let mut count = 0;
        let all = || {
            image.regions.iter().flat_map(|region| {
                let block = if let End::Block { instr, .. } = &region.end { Some(instr) } else { None };
                region.body.iter().chain(block)
            })
        };
        loop {
            let before = count;
            for i in all() {
                let holds = match Kind::of(i, Q::NONE) {
                    Kind::Load => true,
                    Kind::Copy => i.sources.iter().filter_map(register).any(|r| numbers[r as usize].is_some()),
                    Kind::Wait | Kind::Use => false,
                };
                for r in i.results.iter().flatten().filter(|_| holds) {
                    let number: &mut Option<u32> = &mut numbers[*r as usize];
                    if number.is_none() {
                        *number = Some(count);
                        count += 1;
                    }
                }
            }
            if count == before {
                return Loaded { numbers, count: count as usize };
            }
        }
    }

    fn number(&self, r: Register) -> Option<usize> {
        self.numbers.get(r as usize).copied().flatten().map(|n| n as usize)
    }
}

/// What an instruction does with loaded registers, and which.
#[derive(Debug)]
pub(super) struct Touch {
    kind: Kind,
    reads: Vec<Register>,
    writes: Vec<Register>,
}

impl Touch {
    /// `None` if it has none of them.
    pub fn new(i: &Instr, qualifiers: Q, loaded: &Loaded) -> Option<Touch> {
        if loaded.count == 0 {
            return None;
        }
        let kind = Kind::of(i, qualifiers);
        let is_loaded = |r: &Register| loaded.number(*r).is_some();
        let reads: Vec<_> = i.sources.iter().filter_map(register).filter(is_loaded).collect();
        let writes: Vec<_> = i.results.iter().flatten().copied().filter(is_loaded).collect();
        let touches = kind == Kind::Wait || !reads.is_empty() || !writes.is_empty();
        touches.then_some(Touch { kind, reads, writes })
    }
}

/// A value that is not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    /// The load, and the register that it loads.
    pub site: u32,
    pub from: Register,
    /// Waits of the warp before it.
    waits: u32,
}

/// The loaded registers of a CTA.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    loaded: Arc<Loaded>,
    /// By warp: `tcgen05.wait::ld` so far.
    waits: Vec<u32>,
    /// By register and warp.
    values: Vec<Option<Value>>,
}

impl Pending {
    /// `None` if nothing is loaded.
    pub fn new(loaded: &Arc<Loaded>, warps: usize) -> Option<Pending> {
        let count = loaded.count;
        let new = || Pending { loaded: loaded.clone(), waits: vec![0; warps], values: vec![None; count * warps] };
        (count != 0).then(new)
    }

    /// Nothing is in flight.
    pub fn reset(&mut self) {
        self.values.fill(None);
    }

    fn at(&self, r: Register, w: usize) -> Option<usize> {
        Some(self.loaded.number(r)? * self.waits.len() + w)
    }

    fn of(&self, r: Register, w: usize) -> Option<Value> {
        self.values[self.at(r, w)?].filter(|value| value.waits == self.waits[w])
    }

    fn set(&mut self, r: Register, w: usize, value: Option<Value>) {
        if let Some(at) = self.at(r, w) {
            self.values[at] = value;
        }
    }

    /// An instruction runs in warp `w`: the register that it reads too early, with its value.
    pub fn touch(&mut self, site: u32, touch: &Touch, w: usize) -> Option<(Register, Value)> {
        match touch.kind {
            Kind::Wait => self.waits[w] += 1,
            Kind::Load => {
                let waits = self.waits[w];
                touch.writes.iter().for_each(|&r| self.set(r, w, Some(Value { site, from: r, waits })));
            }
            Kind::Copy => {
                let value = touch.reads.iter().find_map(|r| self.of(*r, w));
                touch.writes.iter().for_each(|r| self.set(*r, w, value));
            }
            Kind::Use => {
                let found = touch.reads.iter().find_map(|r| Some((*r, self.of(*r, w)?)));
                touch.writes.iter().for_each(|r| self.set(*r, w, None));
                if let Some((_, value)) = found {
                    // one report for a load
                    self.values.iter_mut().filter(|v| **v == Some(value)).for_each(|v| *v = None);
                }
                return found;
            }
        }
        None
    }
}
