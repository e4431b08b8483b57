//! `shfl.sync` of whole warps whose lanes all take part and use the same source offset and clamp: one permutation for all warps of a
//! cohort. All others call [`crate::semantics::warp`] warp by warp.

use super::op::{Op, Operand};
use super::registers::{Row, Scalar};
use super::runner::Runner;
use crate::numerics::lanes::Level;
use crate::semantics::warp::{ShuffleMode, mode, source};

use crate::numerics::simd::{InstructionSet, dispatch};
use ptx_dsl_isa::image::Instr;
use ptx_dsl_isa::opcode::{Opcode, op};
use std::cell::Cell;

/// The mode of a `shfl.sync` with all members. `None` for other instructions.
pub(super) fn find(opcode: Opcode, q: crate::numerics::qual::Q, i: &Instr) -> Option<ShuffleMode> {
    use ptx_dsl_isa::image::Source;
    let full = matches!(i.sources.last(), Some(Source::Constant { value }) if *value as u32 == u32::MAX);
    (opcode == op::shfl_sync && full && i.sources.len() == 4).then(|| mode(q))
}

impl Runner<'_, '_> {
    /// Runs a shuffle for all warps of the cohort. False, with nothing done, if it is not of this kind.
    pub fn shuffle(&mut self, mode: ShuffleMode, op: &Op) -> bool {
        let x = &self.x;
        if self.apart || x.cur.mask != u32::MAX || x.cur.resumed || !x.scheduling.always_first {
            return false;
        }
        let (Some(b), Some(c)) = (self.uniform(&op.sources[1]), self.uniform(&op.sources[2])) else { return false };
        let Operand::Register(a) = op.sources[0] else { return false };
        let (mut at, mut in_range) = ([0; 32], 0);
        for (l, at) in (0..).zip(&mut at) {
            let (from, ok) = source(mode, l, b as u32, c as u32);
            *at = from;
            in_range |= u32::from(ok) << l;
        }
        // the last warp may have lanes that do not exist: no lane reads them
        if let Scalar::Affine { .. } = self.scalar(a) {
            let scalar = self.scalar(a);
            (self.lo..self.lo + self.n).for_each(|w| self.registers.spread(scalar, a, w));
            self.registers.set_scalar(self.lo, a, Scalar::Rows);
        }
        let [d, p] = [0, 1].map(|i| op.results.get(i).copied().flatten());
        let scalar = self.scalar(a);
        let from = self.registers.row(a, self.lo);
        (self.all, self.guarded) = (true, true);
        if let Some(d) = d {
            match scalar {
                Scalar::Uniform(_) => self.set(Some(d), scalar),
                _ => {
                    let to = self.registers.row(d, self.lo);
                    permute(self.x.set, &self.registers.words, (from, to, self.n), &at);
                    self.registers.set_scalar(self.lo, d, Scalar::Rows);
                }
            }
        }
        if let Some(p) = p {
            match in_range {
                0 | u32::MAX => self.set(Some(p), Scalar::Uniform((in_range & 1).into())),
                mask => {
                    let to = self.registers.row(p, self.lo);
                    self.registers.masks[to..to + self.n].iter().for_each(|m| m.set(mask));
                    self.registers.set_scalar(self.lo, p, Scalar::Rows);
                }
            }
        }
        true
    }
}

/// Lane `l` of the rows from `to` on gets lane `at[l]` of those from `from` on.
fn permute(set: InstructionSet, rows: &[Cell<Row<u32>>], of: (usize, usize, usize), at: &[u32; 32]) {
    dispatch!(set, [each::<crate::numerics::lanes::Avx512>, each::<crate::numerics::lanes::Avx2>, each::<crate::numerics::lanes::Base>], (
        rows: &[Cell<Row<u32>>] = rows, of: (usize, usize, usize) = of, at: &[u32; 32] = at
    ) -> ());
}

#[inline(always)]
fn each<V: Level>(rows: &[Cell<Row<u32>>], (from, to, n): (usize, usize, usize), at: &[u32; 32]) {
    for k in 0..n {
        let row = rows[from + k].get();
        rows[to + k].set(Row(V::pick(&row.0, at)));
    }
}
