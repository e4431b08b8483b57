//! The checked host's record of undefined registers: the instructions that are watched, and the lanes whose values no instruction
//! of their thread has written.

use super::liveness::{Walk, register};
use super::loaded::Touch;
use super::sums::Sums;
use super::suspects::{Carry, Suspects};
use crate::machine::origins::Root;
use crate::numerics::qual::{Q, q};
use ptx_dsl_isa::image::{Action, Image, Instr, NO_SITE, Region, Register, Source};
use ptx_dsl_isa::isa::effect::{self, MemoryOp};
use ptx_dsl_isa::isa::{Group, Issue, Step, Tensor};
use ptx_dsl_isa::opcode::op;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The layout in memory of the values that an instruction stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchedLayout {
    /// Elements after each other, at the address of each lane: `st`.
    Vector,
    /// `stmatrix`
    Matrices,
    /// Words of Tensor Memory: `tcgen05.st`.
    Tensor,
    /// The value is not stored as it is: atomic operations.
    Changed,
}

/// The uses that a watched instruction makes of registers that may be undefined.
#[derive(Debug)]
pub(super) struct Watched {
    /// Whether the instruction is always watched, because its registers may be undefined from the start, or not loaded yet. Other
    /// instructions are watched once an instruction of the CTA has made an undefined value.
    pub always: bool,
    pub carry: Carry,
    /// The factors and addends, if the instruction is a product of matrices.
    pub sums: Option<Sums>,
    /// The sources that have to be defined, with their descriptions.
    pub needed: Vec<(Register, &'static str)>,
    /// The range of the stored values among the sources, if the instruction is a store: the first one and the end.
    pub stored: Option<(usize, usize)>,
    /// The layout of the stored values in memory.
    pub layout: WatchedLayout,
    /// Whether the guard decides what happens to memory or other threads.
    pub effect: bool,
    /// The effects of the instruction on registers that wait for another instruction.
    pub touches: Vec<Touch>,
}

impl Watched {
    pub fn new(i: &Instr, qualifiers: Q, suspects: &Suspects) -> Box<Watched> {
        let guard = i.guard.map(|g| g.register);
        let mut all = i.sources.iter().filter_map(register).chain(guard).chain(i.results.iter().flatten().copied());
        let touches: Vec<_> = suspects.loaded.iter().filter_map(|of| Touch::new(i, qualifiers, of)).collect();
        let always = !touches.is_empty() || all.any(|r| suspects.has(r));
        let effects = match i.action {
            Action::Opcode { opcode, .. } => opcode.entries().next().map(|e| e.instr.effects),
            Action::Move { .. } => None,
        };
        let memory = effects.map_or(MemoryOp::None, |e| e.memory);
        let barrier = effects.is_some_and(|e| e.barrier != effect::Barrier::None);
        let wgmma = effects.is_some_and(|e| e.group == Group::Wgmma(Step::Start));
        let tensor = effects.is_some_and(|e| matches!(e.tensor, Tensor::Mma | Tensor::Copy));
        let width = |r: Register| suspects.widths.get(r as usize).copied();
        let needed = i.sources.iter().enumerate().filter_map(|(at, source)| match *source {
            Source::Address { base, .. } => Some((base, "used as an address")),
            Source::Register { register } if barrier => Some((register, "used as an operand of a barrier")),
            Source::Register { register } if tensor => {
                Some((register, "used as an operand of an asynchronous operation"))
            }
            Source::Register { register } if is_compared(i, qualifiers, at) => {
                Some((register, "compared with what is in memory"))
            }
            // others are elements
            Source::Register { register } if wgmma && width(register) == Some(64) => {
                Some((register, "used as a descriptor of a matrix"))
            }
            Source::Register { register } if wgmma && width(register) == Some(1) => {
                Some((register, "used as `scale-d`"))
            }
            _ => None,
        });
        let to_tensor = effects.is_some_and(|e| e.tensor == Tensor::Store);
        // the address, with `.16x32bx2` two of them
        let first = 1 + usize::from(to_tensor && qualifiers.has(q::_16x32bx2));
        let stores = (memory.stores() || to_tensor) && i.sources.len() > first;
        Box::new(Watched {
            always,
            carry: Carry::of(i),
            sums: Sums::new(i, qualifiers, &suspects.widths),
            needed: needed.collect(),
            stored: stores.then_some((first, i.sources.len())),
            layout: match i.action {
                Action::Opcode { opcode: op::st, .. } => WatchedLayout::Vector,
                _ if to_tensor => WatchedLayout::Tensor,
                _ if memory == MemoryOp::Store && effects.is_some_and(|e| e.issue == Issue::FullWarp) => {
                    WatchedLayout::Matrices
                }
                _ => WatchedLayout::Changed,
            },
            effect: barrier || memory != MemoryOp::None,
            touches,
        })
    }
}

/// Is this source of an instruction the value that `atom.cas` compares with what is in memory?
fn is_compared(i: &Instr, qualifiers: Q, source: usize) -> bool {
    // an address, and two values of one source or, of 128 bits, two
    let last = i.sources.len().saturating_sub(1) / 2;
    (1..=last).contains(&source)
        && matches!(i.action, Action::Opcode { opcode: op::atom, .. })
        && qualifiers.has(q::cas)
}

/// The statements whose values are followed, by site: `ld`; `atom.exch`, which gives the old value and puts another one in its place; and
/// operations on matrices in shared memory. A load whose value nothing reads is a finding at once.
pub(super) fn followed(image: &Image, qualifiers: &[Q]) -> Arc<[bool]> {
    let mut read = vec![false; image.registers.len()];
    for at in 0..image.regions.len() {
        Walk { read: &mut |r| read[r as usize] = true, write: &mut |_| {} }.region(image, at);
    }
    let all = image.regions.iter().flat_map(Region::instructions);
    let is_followed = |i: &&Instr| match i.action {
        Action::Opcode { opcode: op::ld, .. } => i.results.iter().flatten().any(|r| read[*r as usize]),
        Action::Opcode { opcode: op::atom, qualifiers: q, .. } => qualifiers[q as usize].has(q::exch),
        Action::Opcode { opcode, .. } => opcode.entries().next().is_some_and(|e| {
            let effects = &e.instr.effects;
            effects.group == Group::Wgmma(Step::Start) || effects.tensor.is_operation()
        }),
        _ => false,
    };
    let mut by_site = Vec::new();
    // those without a number cannot be told from others
    for i in all.filter(|i| i.site != NO_SITE).filter(is_followed) {
        let site = i.site as usize;
        by_site.resize(by_site.len().max(site + 1), false);
        by_site[site] = true;
    }
    by_site.into()
}

/// The undefined lanes of the registers of a CTA.
#[derive(Debug, Clone)]
pub(super) struct UndefinedRegisters {
    suspects: Arc<Suspects>,
    warps: usize,
    /// The undefined lanes of each register and warp that has some, and their origin.
    all: FxHashMap<(Register, usize), (u32, Root)>,
    /// A load has read what nothing has written, or a shuffle from a lane outside of its mask: all instructions are watched, not only
    /// those with suspected registers.
    pub spread: bool,
}

impl UndefinedRegisters {
    pub fn new(suspects: &Arc<Suspects>, warps: usize) -> UndefinedRegisters {
        let mut new =
            UndefinedRegisters { suspects: suspects.clone(), warps, all: FxHashMap::default(), spread: false };
        new.reset();
        new
    }

    /// Forgets all undefined values.
    pub fn reset(&mut self) {
        self.all.clear();
        self.spread = false;
        for r in self.suspects.registers() {
            self.all
                .extend((0..self.warps).map(|w| ((r, w), (u32::MAX, Root::Register { register: r, read: NO_SITE }))));
        }
    }

    /// Is every register defined?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The lanes of a warp in which a register is undefined, and where that comes from.
    pub fn of(&self, r: Register, w: usize) -> Option<(u32, &Root)> {
        self.all.get(&(r, w)).map(|(lanes, root)| (*lanes, root))
    }

    /// Sets the state of a register whose lanes get a value, which is undefined in some of them.
    pub fn set(&mut self, r: Register, w: usize, lanes: u32, undefined: Option<(u32, Root)>) {
        let old = self.of(r, w).map_or(0, |(old, _)| old & !lanes);
        match undefined {
            Some((new, root)) if new & lanes != 0 => {
                self.spread |= !matches!(root, Root::Register { .. });
                self.all.insert((r, w), (old | new & lanes, root));
            }
            _ if old == 0 => {
                self.all.remove(&(r, w));
                self.spread &= !self.all.is_empty();
            }
            _ => {
                self.all.entry((r, w)).and_modify(|(lanes, _)| *lanes = old);
            }
        }
    }
}
