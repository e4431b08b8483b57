//! Sums of `tcgen05.mma` that depend on undefined values in shared memory or Tensor Memory, for the checked host.

use super::multiply::{A, COMPRESSED, Multiply};
use crate::machine::undefined::{OperandPiece, SharedOperands, UndefinedWords};
use crate::memory::tmem;
use crate::numerics::matrix::format::Format;
use crate::semantics::matrix::undefined::{MatrixLine, lines};
use crate::semantics::tcgen05::descriptor::instruction::{Accumulator, Scale};
use crate::semantics::tcgen05::descriptor::{Major, Shared};

impl Multiply {
    /// The words of D that get an undefined value: those of a row of A or a column of B with an undefined element or scale factor. What
    /// an operation adds to words that are undefined already is not listed. Undefined metadata of a row make it undefined, and a lookup table
    /// its columns.
    #[cold]
    pub(super) fn undefined_sums(&self, holds: &mut dyn SharedOperands) -> Vec<UndefinedWords> {
        if self.has_zeros() && self.form.sparse {
            // which elements meet zeros is not known
            return Vec::new();
        }
        let (base, column) = tmem::split(self.d);
        let columns = self.columns_with_undefined(holds);
        let mut all = Vec::new();
        for cta in 0..self.ctas() {
            for part in 0..self.path.parts() {
                let rows = self.rows_with_undefined(holds, cta, part);
                for (r, row) in rows.iter().enumerate() {
                    let Some(place) = self.path.pieces(r, self.instruction.n, base).nth(part) else { continue };
                    if self.disabled[cta] >> place.lane & 1 != 0 {
                        continue;
                    }
                    for n in place.n.clone() {
                        if let Some(origin) = row.product(&columns[n]) {
                            let at = column + n - place.n.start;
                            all.push(UndefinedWords { cta, lane: place.lane, columns: at..at + 1, origin });
                        }
                    }
                }
            }
        }
        all
    }

    /// Does an element that is multiplied with zero not matter, as of integers?
    fn has_zeros(&self) -> bool {
        matches!(self.instruction.d, Accumulator::S32 { .. })
    }

    /// The columns of B, of both CTAs.
    fn columns_with_undefined(&self, holds: &mut dyn SharedOperands) -> Vec<MatrixLine> {
        let shift = self.zero_columns.map_or(0, |z| z.shift as usize);
        let each = self.columns_of_b() - shift;
        let mut all = Vec::new();
        for cta in 0..self.ctas() {
            if self.form.lut {
                all.extend((0..each).map(|column| {
                    let table = self.words_of_table(column / 8).into_iter();
                    let undefined = table.filter_map(|(lane, at)| holds.word(cta, lane, at)).next();
                    undefined
                        .map_or_else(|| compressed(self.b, column as u32, |at| holds.piece(cta, at)), MatrixLine::whole)
                }));
                continue;
            }
            let matrix = self.shared_matrix(1, self.b);
            let format = (self.packing(1), self.has_zeros());
            all.extend(lines(&matrix, (shift, each), format, |at| holds.piece(cta, at)));
        }
        let i = &self.instruction;
        for (n, column) in all.iter_mut().enumerate() {
            if self.zero_columns.is_some_and(|z| z.is_zero(n as u32, i.n as u32, i.m as u32)) {
                *column = MatrixLine::ZERO;
            } else if self.form.sparse {
                // 4-bit elements go in pairs
                let wide = if i.formats[0] == Format::Tf32 { 2 } else { 4 };
                *column = column.selected(if self.form.kind.is_4bit() && !i.single { 8 } else { wide });
            }
        }
        self.add_factors(holds, 1, 0, &mut all);
        all
    }

    /// The rows of A in a CTA, for one of the parts of the accumulator.
    fn rows_with_undefined(&self, holds: &mut dyn SharedOperands, cta: usize, part: usize) -> Vec<MatrixLine> {
        let count = self.path.rows();
        let mut rows = match self.a {
            A::Shared(a) => {
                let format = (self.packing(0), self.has_zeros());
                lines(&self.shared_matrix(0, a), (0, count), format, |at| holds.piece(cta, at))
            }
            A::Tmem(address) => (0..count).map(|row| self.row_in_tmem(holds, (cta, address), row, part)).collect(),
        };
        self.add_factors(holds, 0, cta, &mut rows);
        if self.form.sparse {
            for (row, line) in rows.iter_mut().enumerate() {
                let Some(place) = self.path.pieces(row, self.instruction.n, 0).nth(part) else { continue };
                let mut words = self.words_of_indices(place.lane).into_iter();
                if let Some(origin) = words.find_map(|(lane, column)| holds.word(cta, lane, column)) {
                    *line = MatrixLine::whole(origin);
                }
            }
        }
        rows
    }

    /// A row of A in Tensor Memory.
    fn row_in_tmem(
        &self,
        holds: &mut dyn SharedOperands,
        (cta, address): (usize, u32),
        row: usize,
        part: usize,
    ) -> MatrixLine {
        let (base, column) = tmem::split(address);
        let packing = self.packing(0);
        let mut line = MatrixLine::DEFINED;
        let Some(place) = self.path.pieces(row, self.instruction.n, base).nth(part) else { return line };
        for number in 0..self.a_columns() / 4 {
            let mut piece = OperandPiece { undefined: 0, origin: None, bytes: [u8::MAX; 16] };
            for word in 0..4 {
                if let Some(origin) = holds.word(cta, place.lane, column + 4 * number + word) {
                    piece.undefined |= 15 << (4 * word);
                    piece.origin = piece.origin.or(Some(origin));
                }
            }
            line.add_along_k(packing, number * packing.elements(), &piece);
        }
        line
    }

    /// Lines of A (0) or B (1) with an undefined scale factor are undefined. With `.cta_group::2` the factors of B are in each CTA.
    fn add_factors(&self, holds: &mut dyn SharedOperands, side: usize, cta: usize, all: &mut [MatrixLine]) {
        let Some(scale) = self.instruction.scale else { return };
        let count = all.len();
        for (line, to) in all.iter_mut().enumerate() {
            if let Some(origin) = self.undefined_factor(holds, &scale, side, (cta, line, count)) {
                *to = MatrixLine::whole(origin);
            }
        }
    }

    /// The number of an undefined value among the scale factors of a line.
    fn undefined_factor(
        &self,
        holds: &mut dyn SharedOperands,
        scale: &Scale,
        side: usize,
        (cta, line, count): (usize, usize, usize),
    ) -> Option<u32> {
        (0..scale.vector).find_map(|i| {
            let place = self.place_of_factor(scale, side, (line, count), i);
            holds.word(cta, place.lane(0), place.column)
        })
    }
}

/// A column of B that `.decompress::lut::b` decompresses: undefined if all of its indices are.
fn compressed(b: Shared, column: u32, mut piece: impl FnMut(u32) -> OperandPiece) -> MatrixLine {
    let pieces: Vec<OperandPiece> = (0..3).map(|i| piece(b.piece(Major::K, column, i))).collect();
    let undefined = pieces.iter().rev().fold(0u64, |all, piece| all << 16 | u64::from(piece.undefined));
    let half = COMPRESSED / 2;
    let all = (1u64 << half) - 1;
    let is_undefined = undefined >> (half * b.half as usize) & all == all;
    match pieces.iter().find_map(|piece| piece.origin) {
        Some(origin) if is_undefined => MatrixLine::whole(origin),
        _ => MatrixLine::DEFINED,
    }
}
