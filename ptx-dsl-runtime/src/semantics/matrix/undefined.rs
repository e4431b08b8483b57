//! Rows and columns of matrices in memory that hold undefined values, for the checked host.
//!
//! A sum is undefined if an element of its row of A or of its column of B is: rows and columns of padding stay undefined, and nobody
//! stores their sums. An integer that is multiplied with zero does not matter.

use crate::machine::undefined::OperandPiece;
use crate::numerics::matrix::format::Packing;
use crate::numerics::matrix::shared::Major;
use crate::observe::probe::layout::SharedMatrix;

/// A row of A or a column of B: its elements in the order of k, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatrixLine {
    /// Undefined elements.
    pub undefined: u128,
    /// Elements that make a product with an undefined one undefined.
    pub counts: u128,
    /// The number of an undefined value.
    pub origin: Option<u32>,
}

impl MatrixLine {
    /// A line whose elements are defined, and not zero as far as anybody knows.
    pub const DEFINED: MatrixLine = MatrixLine { undefined: 0, counts: u128::MAX, origin: None };
    /// A line of zeros.
    pub const ZERO: MatrixLine = MatrixLine { undefined: 0, counts: 0, origin: None };

    /// A line on whose elements all depend on one undefined value.
    pub fn whole(origin: u32) -> MatrixLine {
        MatrixLine { undefined: u128::MAX, counts: u128::MAX, origin: Some(origin) }
    }

    /// Takes the elements of a piece over. `k`: that of the first one.
    pub fn add_along_k(&mut self, packing: Packing, k: usize, piece: &OperandPiece) {
        for element in 0..packing.elements() {
            self.add(
                k + element,
                is_undefined(packing, element, piece),
                is_zero(packing, element, piece),
                piece.origin,
            );
        }
    }

    fn add(&mut self, k: usize, is_undefined: bool, is_zero: bool, origin: Option<u32>) {
        let bit = 1u128.checked_shl(k as u32).unwrap_or(0);
        if is_undefined {
            self.undefined |= bit;
            self.origin = self.origin.or(origin);
        } else if is_zero {
            self.counts &= !bit;
        }
    }

    /// The line of a matrix of which a sparse one selects half of each `chunk` elements: undefined if more than half of them are.
    pub fn selected(self, chunk: usize) -> MatrixLine {
        let mask = (1u128 << chunk) - 1;
        let mut parts = (0..128 / chunk).map(|i| (self.undefined >> (i * chunk) & mask).count_ones() as usize);
        if parts.any(|undefined| undefined > chunk / 2) {
            MatrixLine { undefined: u128::MAX, ..self }
        } else {
            MatrixLine::DEFINED
        }
    }

    /// The origin of an undefined sum of a row and a column.
    pub fn product(&self, column: &MatrixLine) -> Option<u32> {
        let of_row = self.origin.filter(|_| self.undefined & column.counts != 0);
        of_row.or_else(|| column.origin.filter(|_| column.undefined & self.counts != 0))
    }
}

/// The bits of an element of a piece.
fn bits(packing: Packing, element: usize) -> std::ops::Range<usize> {
    let width = packing.bytes() as usize * 8 / packing.elements();
    element * width..(element + 1) * width
}

/// Is an element undefined? It is if all of its bytes are.
fn is_undefined(packing: Packing, element: usize, piece: &OperandPiece) -> bool {
    let bits = bits(packing, element);
    (bits.start / 8..bits.end.div_ceil(8)).all(|byte| piece.undefined >> byte & 1 != 0)
}

fn is_zero(packing: Packing, element: usize, piece: &OperandPiece) -> bool {
    let bits = bits(packing, element);
    u128::from_le_bytes(piece.bytes) >> bits.start & ((1u128 << bits.len()) - 1) == 0
}

/// The lines of a matrix in shared memory: as many as asked for, the first one after those that the matrix leaves out. `zeros`: zeros
/// count as such, because the elements are integers. `piece`: the piece at an offset.
pub(crate) fn lines(
    matrix: &SharedMatrix,
    (first, count): (usize, usize),
    (packing, zeros): (Packing, bool),
    mut piece: impl FnMut(u32) -> OperandPiece,
) -> Vec<MatrixLine> {
    let mut all = vec![MatrixLine::DEFINED; count];
    for (line, number, at) in matrix.each() {
        let piece = piece(at);
        if piece.undefined == 0 && !zeros {
            continue;
        }
        let elements = packing.elements();
        let mut add = |line: usize, k: usize, element: usize| {
            if let Some(line) = line.checked_sub(first).and_then(|line| all.get_mut(line)) {
                let is_zero = zeros && is_zero(packing, element, &piece);
                line.add(k, is_undefined(packing, element, &piece), is_zero, piece.origin);
            }
        };
        for element in 0..elements {
            let along = number as usize * elements + element;
            match matrix.major {
                Major::K => add(line as usize, along, element),
                Major::Mn => add(along, line as usize, element),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::matrix::format::Format;

    #[test]
    fn an_element_is_undefined_if_all_of_its_bytes_are() {
        let half = Packing::Wide(Format::F16);
        let piece = OperandPiece { undefined: 0b1101, origin: Some(3), bytes: [0; 16] };
        let mut line = MatrixLine::DEFINED;
        line.add_along_k(half, 8, &piece);
        assert_eq!((line.undefined, line.origin), (1 << 9, Some(3)));
        // 6 bits: element 1 is in bytes 0 and 1, element 2 in bytes 1 and 2
        let six = Packing::Six(Format::E2m3);
        let of =
            |undefined| (0..4).map(|e| is_undefined(six, e, &OperandPiece { undefined, ..piece })).collect::<Vec<_>>();
        assert_eq!(of(0b011), [true, true, false, false]);
        assert_eq!(of(0b110), [false, false, true, true]);
    }

    #[test]
    fn products() {
        let undefined = MatrixLine { undefined: 0b10, counts: u128::MAX, origin: Some(1) };
        assert_eq!(undefined.product(&MatrixLine::DEFINED), Some(1));
        assert_eq!(MatrixLine::DEFINED.product(&undefined), Some(1));
        assert_eq!(undefined.product(&MatrixLine { counts: 0b01, ..MatrixLine::DEFINED }), None);
        assert_eq!(MatrixLine::ZERO.product(&undefined), None);
        // of four elements a sparse matrix selects two
        assert_eq!(MatrixLine { undefined: 0b0110, ..undefined }.selected(4).product(&MatrixLine::DEFINED), None);
        assert_eq!(MatrixLine { undefined: 0b0111, ..undefined }.selected(4).product(&MatrixLine::DEFINED), Some(1));
    }
}
