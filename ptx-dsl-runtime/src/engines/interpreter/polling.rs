//! The state that a polling loop depends on: the registers that decide where it goes and what it does to memory, and the memory
//! that it reads.
//!
//! A warp that comes back to a region with the same values in these registers does the same again, as long as memory stays as it
//! is.

use super::code::interned;
use super::liveness::{register, successors};
use crate::kernel::flow::Pc;
use crate::memory::address::AddrSpace;
use crate::numerics::qual::Ty;
use crate::semantics;
use ptx_dsl_isa::image::{Action, End, Image, Instr, Place, Region, Register, Source, Transfer};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::isa::effect::{Effects, Mbarrier, MemoryOp};
use ptx_dsl_isa::isa::sreg::Varies;
use std::collections::{HashMap, VecDeque};

/// A loop with all that it is nested in.
#[derive(Debug, Default)]
pub(super) struct Loop {
    /// The registers that decide what the loop does, in order.
    pub registers: Vec<Register>,
    /// The loads, tests and atomic operations of the loop; first come those of the innermost loop.
    pub reads: Vec<Read>,
    /// Statements outside of the loop that could change what it reads.
    pub writers: Vec<u32>,
}

/// A load, a test or an atomic operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    pub site: u32,
    pub address: Source,
    /// The state space of the address, and the type of an element; not of an mbarrier object.
    pub memory: Option<(AddrSpace, Ty)>,
}

/// The loops of a kernel, by region; `None` for a region in none, or in one that reads a clock on which it depends.
#[derive(Debug, Default)]
pub(super) struct PollingLoops {
    known: HashMap<Pc, Option<Loop>>,
}

impl PollingLoops {
    pub fn of(&mut self, image: &Image, pc: Pc) -> Option<&Loop> {
        self.known.entry(pc).or_insert_with(|| find(image, pc)).as_ref()
    }
}

/// The regions that come before and after `pc` in a cycle.
fn members(image: &Image, pc: Pc) -> Vec<bool> {
    let n = image.regions.len();
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (from, region) in image.regions.iter().enumerate() {
        for to in successors(&region.end).into_iter().filter(|to| *to < n) {
            behind[from].push(to);
            before[to].push(from);
        }
    }
    let reach = |edges: &[Vec<usize>]| {
        let mut seen = vec![false; n];
        let mut work: Vec<usize> = edges.get(usize::from(pc)).cloned().unwrap_or_default();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                work.extend(&edges[at]);
            }
        }
        seen
    };
    let (after, earlier) = (reach(&behind), reach(&before));
    after.into_iter().zip(earlier).map(|(a, b)| a && b).collect()
}

/// The regions of a shortest way from `pc` back to it, by breadth-first search.
fn shortest_cycle(image: &Image, pc: Pc) -> Vec<usize> {
    let start = usize::from(pc);
    let mut from = vec![None; image.regions.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for to in image.regions.get(at).map(|region| successors(&region.end)).unwrap_or_default() {
            if to == start {
                return std::iter::successors(Some(at), |at| from[*at]).collect();
            }
            if to < from.len() && from[to].is_none() {
                from[to] = Some(at);
                queue.push_back(to);
            }
        }
    }
    Vec::new()
}

fn find(image: &Image, pc: Pc) -> Option<Loop> {
    let members = members(image, pc);
    // the stack of a recursive call is state too
    if !image.saved.is_empty() || !members.get(usize::from(pc)).copied().unwrap_or(false) {
        return None;
    }
    let regions: Vec<_> = image.regions.iter().zip(&members).filter(|(_, inside)| **inside).map(|(r, _)| r).collect();
    let mut slice = Slice { wanted: vec![false; image.registers.len()], clock: false, changed: true };
    while std::mem::take(&mut slice.changed) {
        for region in &regions {
            region.results.iter().for_each(|t| slice.transfer(t));
            region.body.iter().for_each(|i| slice.instr(i));
            match &region.end {
                End::Branch { guard, .. } => slice.want(guard.register),
                End::Switch { index, .. } => slice.source(index),
                End::Block { instr, .. } => slice.all(instr),
                End::Call { pointer, callees, .. } => {
                    pointer.iter().for_each(|p| slice.source(p));
                    callees.iter().for_each(|c| slice.transfer(&c.arguments));
                }
                End::Return { address, .. } => slice.want(*address),
                End::Goto { .. } | End::Exit {} => {}
            }
        }
    }
    if slice.clock {
        return None;
    }
    // those of the innermost loop first
    let inner = shortest_cycle(image, pc);
    let (mut reads, mut others) = (Vec::new(), Vec::new());
    for (at, region) in image.regions.iter().enumerate().filter(|(at, _)| members[*at]) {
        let list = if inner.contains(&at) { &mut reads } else { &mut others };
        let polls = region.instructions().filter(|i| reads_memory(i));
        let read = |i: &Instr| Some(Read { site: i.site, address: *i.sources.first()?, memory: memory(image, i) });
        list.extend(polls.filter_map(read));
    }
    reads.append(&mut others);
    let outside = image.regions.iter().zip(&members).filter(|(_, inside)| !**inside).map(|(r, _)| r);
    let mut writers: Vec<u32> = outside.flat_map(Region::instructions).filter(|i| writes(i)).map(|i| i.site).collect();
    writers.sort_unstable();
    writers.dedup();
    let registers = (0..).zip(&slice.wanted).filter(|(_, wanted)| **wanted).map(|(r, _)| r).collect();
    Some(Loop { registers, reads, writers })
}

fn effects(i: &Instr) -> Option<Effects> {
    let Action::Opcode { opcode, .. } = i.action else { return None };
    opcode.entries().next().map(|e| e.instr.effects)
}

/// The state space of the memory that an instruction reads, and the type of its elements.
fn memory(image: &Image, i: &Instr) -> Option<(AddrSpace, Ty)> {
    let Action::Opcode { qualifiers, .. } = i.action else { return None };
    let q = interned(image.qualifiers.get(qualifiers as usize)?);
    effects(i)?.memory.returns().then(|| (semantics::space(q), q.ty[0]))
}

fn reads_memory(i: &Instr) -> bool {
    effects(i).is_some_and(|e| e.memory.returns() || e.mbarrier == Mbarrier::Wait)
}

fn writes(i: &Instr) -> bool {
    effects(i).is_some_and(|e| {
        e.memory.stores() || e.memory == MemoryOp::Copy || matches!(e.mbarrier, Mbarrier::Arrive | Mbarrier::Drop)
    })
}

/// The registers that matter: a backward slice.
struct Slice {
    wanted: Vec<bool>,
    /// A value that matters changes with time.
    clock: bool,
    changed: bool,
}

impl Slice {
    fn want(&mut self, r: Register) {
        if let Some(wanted) = self.wanted.get_mut(r as usize) {
            self.changed |= !std::mem::replace(wanted, true);
        }
    }

    fn source(&mut self, source: &Source) {
        if let Source::Special { register } = source {
            self.clock |= register.row().varies == Varies::InTime;
        }
        if let Some(r) = register(source) {
            self.want(r);
        }
    }

    /// Marks all registers that an instruction reads.
    fn all(&mut self, i: &Instr) {
        i.sources.iter().for_each(|s| self.source(s));
        i.guard.iter().for_each(|g| self.want(g.register));
    }

    /// Marks the registers that an instruction reads, unless it only computes results that do not matter.
    fn instr(&mut self, i: &Instr) {
        let computes = match i.action {
            Action::Move { .. } => true,
            Action::Opcode { opcode, .. } => opcode.entries().next().is_some_and(|e| e.instr.host == Host::Lane),
        };
        if !computes || i.results.iter().flatten().any(|r| self.wanted.get(*r as usize).copied().unwrap_or(true)) {
            self.all(i);
        }
    }

    fn transfer(&mut self, t: &Transfer) {
        for (from, _) in &t.moves {
            if let Place::Values { list } = from {
                list.iter().for_each(|s| self.source(s));
            }
        }
    }
}
