//! Instructions on rows: loops over all warps of a cohort, compiled for each instruction set.

use super::code::{Op, Operand};
use super::operation::Runner;
use super::registers::Row;
use crate::monitor::Monitor;
use crate::qual::Q;
use crate::simd::InstructionSet;
use ptx_dsl_isa::image::{Instr, Register};
use ptx_dsl_isa::opcode::Opcode;
use std::cell::Cell;

/// Rows of operands that are no rows in registers.
pub(super) struct Scratch {
    pub words: Vec<Cell<Row<u32>>>,
    pub longs: Vec<Cell<Row<u64>>>,
}

impl Scratch {
    pub fn new(warps: usize) -> Self {
        let _ = warps;
        Scratch { words: Vec::new(), longs: Vec::new() }
    }
}

pub(super) struct RowFunction;

pub(super) fn find(_: Opcode, _: Q, _: &Instr, _: &dyn Fn(&Register) -> u8, _: InstructionSet) -> Option<RowFunction> {
    None
}

pub(super) fn run<M: Monitor>(_: &mut Runner<'_, '_, M>, op: &Op<M>, _: &RowFunction) {
    let _ = matches!(op.sources[0], Operand::Constant(_));
}
