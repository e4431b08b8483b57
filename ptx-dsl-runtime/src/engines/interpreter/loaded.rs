//! Registers that must not be read before an instruction that orders accesses to registers, for the checked host: those that
//! `tcgen05.ld` writes before `tcgen05.wait::ld` (PTX ISA 9.7.16.8), and those that a thread writes and `wgmma.mma_async` reads before
//! `wgmma.fence` (9.7.15.7.1). A `mov` copies what it reads, so its result waits as well; a constant waits for nothing, because compilers
//! insert such copies anywhere.

use super::liveness::register;
use crate::numerics::qual::{Q, q};
use ptx_dsl_isa::image::{Action, Image, Instr, Region, Register};
use ptx_dsl_isa::isa::effect::Tensor;
use ptx_dsl_isa::isa::{Group, Step};
use ptx_dsl_isa::opcode::{Opcode, op};
use std::sync::Arc;

/// The rule that registers follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LoadRule {
    /// The registers that `tcgen05.ld` loads.
    #[default]
    Loads,
    /// The registers that `wgmma.mma_async` reads.
    Products,
}

/// The effect of an instruction on loaded registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadedUse {
    /// The results are pending from now on.
    Load,
    /// The registers are no longer pending.
    Wait,
    Copy,
    /// The instruction must not read pending registers.
    Use,
}

impl LoadedUse {
    fn of(rule: LoadRule, i: &Instr, qualifiers: Q) -> LoadedUse {
        let Action::Opcode { opcode, .. } = i.action else { return LoadedUse::Copy };
        let effects = opcode.entries().next().map(|e| e.instr.effects);
        match (rule, effects.map(|e| (e.tensor, e.group))) {
            (LoadRule::Loads, Some((Tensor::Load, _))) => LoadedUse::Load,
            (LoadRule::Loads, Some((Tensor::Wait, _))) if !qualifiers.has(q::st) => LoadedUse::Wait,
            (LoadRule::Products, Some((_, Group::Wgmma(Step::Start)))) => LoadedUse::Use,
            // with an operand it is a check
            (LoadRule::Products, _) if opcode == op::wgmma_fence && i.sources.is_empty() => LoadedUse::Wait,
            _ if opcode == op::mov => LoadedUse::Copy,
            // an argument of a device function
            (LoadRule::Products, _) if opcode == op::ld && qualifiers.has(q::param_func) => LoadedUse::Copy,
            (LoadRule::Loads, _) => LoadedUse::Use,
            (LoadRule::Products, _) => LoadedUse::Load,
        }
    }
}

/// The registers of A and D that a `wgmma.mma_async` reads: its first four sources, unless that is a descriptor, and those before the
/// last one.
fn fragments<'i>(image: &'i Image, i: &'i Instr) -> impl Iterator<Item = Register> + 'i {
    let is_word = |r: Register| image.registers.get(r as usize) == Some(&32);
    let a = if i.sources.first().and_then(register).is_some_and(is_word) { 4 } else { 0 };
    let end = i.sources.len().saturating_sub(1);
    let d = end.saturating_sub(i.results.len())..end;
    i.sources.iter().take(a).chain(&i.sources[d]).filter_map(register)
}

/// The registers that a rule is about, and copies of them.
#[derive(Debug, Default, Clone)]
pub(super) struct Loaded {
    rule: LoadRule,
    /// The number of each register among the loaded ones.
    numbers: Vec<Option<u32>>,
    count: usize,
}

impl Loaded {
    pub fn new(rule: LoadRule, image: &Image) -> Loaded {
        let mut numbers = vec![None; image.registers.len()];
        let mut count = 0;
        let all = || image.regions.iter().flat_map(Region::instructions);
        loop {
            let before = count;
            for i in all() {
                let has = |r: Register| numbers[r as usize].is_some();
                // with the copies that are read, or of what is loaded
                let found: Vec<Register> = match (rule, LoadedUse::of(rule, i, Q::NONE)) {
                    (LoadRule::Loads, LoadedUse::Load) => i.results.iter().flatten().copied().collect(),
                    (LoadRule::Loads, LoadedUse::Copy) if i.sources.iter().filter_map(register).any(has) => {
                        i.results.iter().flatten().copied().collect()
                    }
                    (LoadRule::Products, LoadedUse::Use) => fragments(image, i).collect(),
                    (LoadRule::Products, LoadedUse::Copy) if i.results.iter().flatten().copied().any(has) => {
                        i.sources.iter().filter_map(register).collect()
                    }
                    _ => continue,
                };
                for r in found {
                    let number: &mut Option<u32> = &mut numbers[r as usize];
                    if number.is_none() {
                        *number = Some(count);
                        count += 1;
                    }
                }
            }
            if count == before {
                return Loaded { rule, numbers, count: count as usize };
            }
        }
    }

    fn number(&self, r: Register) -> Option<usize> {
        self.numbers.get(r as usize).copied().flatten().map(|n| n as usize)
    }
}

/// The effect of an instruction on loaded registers, and the registers.
#[derive(Debug)]
pub(super) struct Touch {
    pub rule: LoadRule,
    kind: LoadedUse,
    opcode: Option<Opcode>,
    reads: Vec<Register>,
    writes: Vec<Register>,
}

impl Touch {
    /// The effect of this instruction; `None` if it has no loaded registers.
    pub fn new(i: &Instr, qualifiers: Q, loaded: &Loaded) -> Option<Touch> {
        if loaded.count == 0 {
            return None;
        }
        let (rule, kind) = (loaded.rule, LoadedUse::of(loaded.rule, i, qualifiers));
        let opcode = if let Action::Opcode { opcode, .. } = i.action { Some(opcode) } else { None };
        let is_loaded = |r: &Register| loaded.number(*r).is_some();
        let reads: Vec<_> = i.sources.iter().filter_map(register).filter(is_loaded).collect();
        let writes: Vec<_> = i.results.iter().flatten().copied().filter(is_loaded).collect();
        let reads_matter = (rule, kind) != (LoadRule::Products, LoadedUse::Load);
        let touches = kind == LoadedUse::Wait || reads_matter && !reads.is_empty() || !writes.is_empty();
        touches.then_some(Touch { rule, kind, opcode, reads, writes })
    }
}

/// A value that is not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    /// The load, and the register that it loads.
    pub site: u32,
    pub opcode: Option<Opcode>,
    pub from: Register,
    /// The number of waits of the warp before the load.
    waits: u32,
}

/// The loaded registers of a CTA.
#[derive(Debug, Clone)]
pub(super) struct PendingRegisters {
    loaded: Arc<Loaded>,
    /// The number of waits of each warp.
    waits: Vec<u32>,
    /// The value of each register in each warp.
    values: Vec<Option<Value>>,
}

impl PendingRegisters {
    /// The state at the start; `None` if no register is loaded.
    pub fn new(loaded: &Arc<Loaded>, warps: usize) -> Option<PendingRegisters> {
        let count = loaded.count;
        let new =
            || PendingRegisters { loaded: loaded.clone(), waits: vec![0; warps], values: vec![None; count * warps] };
        (count != 0).then(new)
    }

    /// Clears the state: no load is in flight.
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

    /// Applies an instruction that runs in warp `w`. Returns the register that it reads too early, with its value.
    pub fn touch(&mut self, site: u32, touch: &Touch, w: usize) -> Option<(Register, Value)> {
        match touch.kind {
            LoadedUse::Wait => self.waits[w] += 1,
            LoadedUse::Load => {
                let waits = self.waits[w];
                touch
                    .writes
                    .iter()
                    .for_each(|&r| self.set(r, w, Some(Value { site, opcode: touch.opcode, from: r, waits })));
            }
            LoadedUse::Copy => {
                let value = touch.reads.iter().find_map(|r| self.of(*r, w));
                touch.writes.iter().for_each(|r| self.set(*r, w, value));
            }
            LoadedUse::Use => {
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
