//! What a loop on rows works on, and the forms of instructions that have one.

use super::super::registers::Row;
use super::kind::Kind;
use crate::qual::Q;
use std::cell::Cell;

/// The most operands of a form.
pub(super) const OPERANDS: usize = 4;

/// What an instruction computes in one lane.
pub(in super::super) type One = fn(u64, u64, u64, u64) -> [u64; 2];

/// Where the operands and results of an instruction are.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// The row of each operand for warp 0 of the CTA, and the distance to that for the next one, 0 or 1.
    pub sources: [(usize, usize); OPERANDS],
    /// The same of results, whose rows follow each other.
    pub results: [usize; 2],
}

/// What a loop works on: rows of registers.
pub(super) struct Loop<'c> {
    pub words: &'c [Cell<Row<u32>>],
    pub longs: &'c [Cell<Row<u64>>],
    pub predicates: &'c [Cell<u32>],
    pub places: &'c Places,
    /// The first warp.
    pub lo: usize,
    /// The lanes of each warp that get a result.
    pub masks: &'c [u32],
    /// All lanes get one.
    pub all: bool,
}

/// A loop compiled for one instruction set. Only [`forms`] makes them, for each set.
pub(super) type Compiled = unsafe fn(&Loop<'_>);

/// A form of an instruction: the kinds of its operands, and its loops.
pub(super) struct Form {
    /// The qualifiers: sets that mean the same.
    pub sets: &'static [Q],
    pub sources: &'static [Kind],
    pub results: &'static [Kind],
    /// One lane.
    pub one: One,
    /// For AVX-512 and AVX2; elsewhere than on x86-64 twice the same.
    pub loops: [Compiled; 2],
}
