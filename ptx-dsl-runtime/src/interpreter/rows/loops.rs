//! What a loop on rows works on, and the forms of instructions that have one.

use super::super::registers::Row;
use super::kind::Kind;
use crate::qual::Q;
use std::cell::Cell;

/// The most operands of a form.
pub(super) const OPERANDS: usize = 4;

/// The operands and the results of a loop: rows of registers, and where they begin.
pub(super) struct Loop<'c> {
    pub words: &'c [Cell<Row<u32>>],
    pub longs: &'c [Cell<Row<u64>>],
    pub predicates: &'c [Cell<u32>],
    /// The row of each operand for the first warp, and the distance to that for the next one, 0 or 1.
    pub sources: [(usize, usize); OPERANDS],
    pub results: [usize; 2],
    /// The lanes of each warp that get a result.
    pub masks: &'c [u32],
    /// All lanes get one.
    pub all: bool,
}

/// A loop compiled for one instruction set. Only [`forms`] makes them, for each set.
pub(super) type Compiled = unsafe fn(&Loop<'_>);

/// A form of an instruction: the kinds of its operands, and its loops.
pub(super) struct Form {
    pub q: Q,
    pub sources: &'static [Kind],
    pub results: &'static [Kind],
    /// One lane.
    pub one: fn([u64; 4]) -> [u64; 2],
    /// For AVX-512, AVX2, and the base of the target.
    pub loops: [Compiled; 3],
}
