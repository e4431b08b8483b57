//! The data that a loop on rows works on, and the forms of instructions that have one.

use super::super::registers::Row;
use super::kind::RowKind;
use crate::numerics::qual::Q;
use crate::numerics::simd::InstructionSet;
use std::cell::Cell;

/// The most operands of a form.
pub(super) const OPERANDS: usize = 4;

/// The most operands of a loop, which may be that of two instructions.
pub(super) const LOOP_OPERANDS: usize = 5;

/// The function that an instruction computes in one lane.
pub(in super::super) type One = fn(u64, u64, u64, u64) -> [u64; 2];

/// The place of the rows of an operand or a result.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowPlace {
    /// The row for warp 0 of the CTA.
    pub first: u32,
    /// Whether each warp has its own row, after the first; otherwise all warps share the first row.
    pub by_warp: bool,
}

/// The places of the operands and results of an instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct OperandPlaces {
    pub sources: [RowPlace; LOOP_OPERANDS],
    pub result: RowPlace,
    /// The place of the second result, if something needs it.
    pub second: Option<RowPlace>,
    /// Whether all lanes get a result, not only those that run, because nothing reads it in others.
    pub all: bool,
}

/// The sizes that loops need: this many warps, and this many rows of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowNeeds {
    pub warps: usize,
    words: usize,
    longs: usize,
    predicates: usize,
}

impl RowNeeds {
    /// The sizes that a loop needs to run for any of the warps of a CTA.
    pub fn of(rows: &RowLoop, places: &OperandPlaces, warps: usize) -> RowNeeds {
        let mut needs = RowNeeds { warps, ..RowNeeds::default() };
        let results = [Some(places.result), places.second];
        let results = rows.results.iter().zip(results.into_iter().flatten());
        for (kind, place) in rows.sources.iter().zip(places.sources).chain(results) {
            let end = place.first as usize + if place.by_warp { warps } else { 1 };
            let rows = match kind {
                RowKind::P => &mut needs.predicates,
                RowKind::L => &mut needs.longs,
                RowKind::H | RowKind::W | RowKind::F => &mut needs.words,
            };
            *rows = (*rows).max(end);
        }
        needs
    }

    /// The needs of two loops.
    pub fn and(self, other: RowNeeds) -> RowNeeds {
        RowNeeds {
            warps: self.warps.min(other.warps),
            words: self.words.max(other.words),
            longs: self.longs.max(other.longs),
            predicates: self.predicates.max(other.predicates),
        }
    }
}

/// The data of a loop: rows of registers.
pub(super) struct Loop<'c> {
    pub words: &'c [Cell<Row<u32>>],
    pub longs: &'c [Cell<Row<u64>>],
    pub predicates: &'c [Cell<u32>],
    /// The first warp.
    pub lo: u32,
    /// The lanes of each warp that run.
    pub masks: &'c [u32],
}

impl Loop<'_> {
    /// Are all rows that loops need inside?
    #[inline(always)]
    pub fn has(&self, needs: &RowNeeds) -> bool {
        self.lo as usize + self.masks.len() <= needs.warps
            && needs.words <= self.words.len()
            && needs.longs <= self.longs.len()
            && needs.predicates <= self.predicates.len()
    }
}

/// A loop compiled for one instruction set, whose rows must be inside. Only [`super::forms`] makes them, for each set.
pub(super) type CompiledLoop = unsafe fn(&Loop<'_>, &OperandPlaces);

/// A loop with the places of its operands and results.
pub(super) type LoopCall = (CompiledLoop, OperandPlaces);

/// A loop: the kinds of its operands and results.
pub(super) struct RowLoop {
    pub sources: &'static [RowKind],
    pub results: &'static [RowKind],
    /// The loops compiled for AVX-512 and AVX2; elsewhere than on x86-64, two copies of the portable loop.
    pub compiled: [CompiledLoop; 2],
}

impl RowLoop {
    /// The loop for an instruction set that has loops.
    pub fn compiled(&self, set: InstructionSet) -> CompiledLoop {
        match set {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            InstructionSet::Avx512 => self.compiled[0],
            _ => self.compiled[1],
        }
    }
}

/// A form of an instruction, and its loop.
pub(super) struct LoopForm {
    /// The sets of qualifiers that mean this form.
    pub sets: &'static [Q],
    /// The function of one lane.
    pub one: One,
    pub rows: RowLoop,
}
