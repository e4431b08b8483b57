//! Registers that `tcgen05.ld` writes, until `tcgen05.wait::ld` (PTX ISA 9.7.16.8), for the checked host: an instruction that reads one
//! before is a finding. A `mov` copies what it reads, so that its result is not there yet either.

use super::op::Op;
use super::runner::Runner;
use super::suspects::{Suspects, register};
use crate::fault::FaultKind;
use crate::isa::Done;
use crate::monitor::Monitor;
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
struct Value {
    /// The load, and the register that it loads.
    site: u32,
    from: Register,
    /// Waits of the warp before it.
    waits: u32,
}

/// The loaded registers of a CTA.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    suspects: Arc<Suspects>,
    /// By warp: `tcgen05.wait::ld` so far.
    waits: Vec<u32>,
    /// By register and warp.
    values: Vec<Option<Value>>,
}

impl Pending {
    /// `None` if nothing is loaded.
    pub fn new(suspects: &Arc<Suspects>, warps: usize) -> Option<Pending> {
        let count = suspects.loaded.count;
        let new = || Pending { suspects: suspects.clone(), waits: vec![0; warps], values: vec![None; count * warps] };
        (count != 0).then(new)
    }

    /// Nothing is in flight.
    pub fn reset(&mut self) {
        self.values.fill(None);
    }

    fn at(&self, r: Register, w: usize) -> Option<usize> {
        Some(self.suspects.loaded.number(r)? * self.waits.len() + w)
    }

    fn of(&self, r: Register, w: usize) -> Option<Value> {
        self.values[self.at(r, w)?].filter(|value| value.waits == self.waits[w])
    }

    fn set(&mut self, r: Register, w: usize, value: Option<Value>) {
        if let Some(at) = self.at(r, w) {
            self.values[at] = value;
        }
    }
}

impl<M: Monitor> Runner<'_, '_, M> {
    /// An instruction runs in these lanes of warp `k`.
    pub(super) fn touch(&mut self, op: &Op<M>, touch: &Touch, k: usize, lanes: u32) -> Done {
        let w = self.lo + k;
        let Some(pending) = &mut self.registers.pending else { return Ok(()) };
        match touch.kind {
            Kind::Wait => pending.waits[w] += 1,
            Kind::Load => {
                let waits = pending.waits[w];
                touch.writes.iter().for_each(|&r| pending.set(r, w, Some(Value { site: op.site, from: r, waits })));
            }
            Kind::Copy => {
                let value = touch.reads.iter().find_map(|r| pending.of(*r, w));
                touch.writes.iter().for_each(|r| pending.set(*r, w, value));
            }
            Kind::Use => {
                let found = touch.reads.iter().find_map(|r| Some((*r, pending.of(*r, w)?)));
                touch.writes.iter().for_each(|r| pending.set(*r, w, None));
                if let Some((r, value)) = found {
                    // one report for a load
                    let all = self.registers.pending.iter_mut().flat_map(|p| &mut p.values);
                    all.filter(|v| **v == Some(value)).for_each(|v| *v = None);
                    return self.not_there(op, (r, value), lanes);
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn not_there(&mut self, op: &Op<M>, (r, value): (Register, Value), lanes: u32) -> Done {
        if !self.x.geometry.tensor_registers {
            return Ok(());
        }
        // instructions that only compute have no number, which is 0 here: the load stands for them
        self.x.at(if op.site == 0 { value.site } else { op.site }, op.order);
        let name = |r: Register| self.image.names.get(r as usize).cloned().unwrap_or_default();
        let load = self.x.geometry.statement(value.site, "`tcgen05.ld`");
        let kind = FaultKind::PendingRegister { register: name(r), from: name(value.from), load };
        let lane = lanes.trailing_zeros().min(31);
        self.x.found(kind, lane).map_err(|kind| self.x.fault(kind, lane))
    }
}
