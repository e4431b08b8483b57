//! What a multiplication reads in Tensor Memory besides D: A, scale factors and sparsity metadata.

use super::tile::{Tile, decode};
use super::{A, Multiply, bad_address};
use crate::fault::FaultKind;
use crate::isa::tcgen05::descriptor::instruction::{Kind, Scale};
use crate::isa::tcgen05::layout::DataPath;
use crate::mem::tmem::{self, LANES, Tmem};

/// Lanes of a partition of Tensor Memory: what a warp can reach.
const PARTITION: usize = 32;
/// Columns that a row of A takes: 32 bytes.
pub(super) const A_COLUMNS: usize = 8;

/// Scale factors of a row or column, in ascending k.
pub(super) type Factors = [f64; 4];

impl Multiply {
    /// The rows of A that one part of the accumulator works on. Every part has its own, in its own lanes.
    pub(super) fn a_of_part(&self, address: u32, tmem: &Tmem, part: usize) -> Result<Tile<4>, FaultKind> {
        let rows = self.path.rows();
        let mut tile = Tile::new(rows, self.stored_k());
        let (base, column) = tmem::split(address);
        tmem.check(0..LANES, column..column + A_COLUMNS)?;
        let packing = self.packing(0);
        for row in 0..rows {
            let Some(place) = self.path.pieces(row, self.instruction.n, base).nth(part) else { continue };
            let words = &tmem.lane(place.lane)[column..column + A_COLUMNS];
            for (i, four) in words.chunks_exact(4).enumerate() {
                let mut piece = [0; 16];
                for (bytes, word) in piece.chunks_exact_mut(4).zip(four) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                decode(packing, &piece, |v| tile.put_along_k(row, i * packing.elements(), v));
            }
        }
        Ok(tile)
    }

    /// Scale factors of the rows of A (0) that a CTA holds, or of all columns of B (1).
    ///
    /// Factor `i` of line `l` is byte `id + i` of the word in lane `l % 32` of a partition and column `l / 32`, and
    /// every partition has a copy. With layout B (the 2x2 one) the upper half of the columns of B is in the upper two
    /// partitions.
    pub(super) fn factors(&self, tmem: &Tmem, scale: &Scale, side: usize) -> Result<Vec<Factors>, FaultKind> {
        let lines = if side == 0 { self.path.rows() } else { self.instruction.n };
        let halves = if side == 1 && self.path == DataPath::B { 2 } else { 1 };
        let each = lines.div_ceil(halves);
        // the two highest bits may hold the scale factor ID, which is in the instruction descriptor too
        let (base, column) = tmem::split(self.scales[side] & 0x3fff_ffff);
        let name = ["A", "B"][side];
        if base != 0 {
            return bad_address(format!(
                "the address of the scale factors of {name} begins at lane {base}, not at lane 0"
            ));
        }
        tmem.check(0..LANES, column..column + each.div_ceil(PARTITION))?;
        let values = scale.format.values();
        let mask = u32::MAX >> (32 - 8 * scale.vector);
        let partitions = 4 / halves;
        (0..lines)
            .map(|line| {
                let (half, l) = (line / each, line % each);
                let word = |p: usize| tmem.lane(p * PARTITION + l % PARTITION)[column + l / PARTITION];
                let bytes = |p: usize| word(half * partitions + p) >> (8 * scale.id[side]) & mask;
                let first = bytes(0);
                if (1..partitions).any(|p| bytes(p) != first) {
                    let what = format!(
                        "the copies of the scale factors of line {line} of {name} differ between partitions of 32 lanes"
                    );
                    let help = "copy them to all partitions: `tcgen05.cp.32x128b.warpx4`";
                    return Err(FaultKind::undefined(what, "9.7.16.10.7", help));
                }
                let bytes = first.to_le_bytes();
                Ok(std::array::from_fn(|i| if i < scale.vector { values[bytes[i] as usize].into() } else { 1.0 }))
            })
            .collect()
    }

    /// Which k each stored element of A stands for, in the order of a [`Tile`] of rows of A.
    ///
    /// A row has a 4-bit index for each chunk: two 2-bit positions in it. For 16- and 32-bit elements the word in
    /// lane `r % 8 + 8 * (half of K) + r / 16 * 16` has those of row `r`, in its low half if `r % 16 < 8`; for
    /// smaller ones two columns of lane `r`, low bits first.
    pub(super) fn positions(&self, tmem: &Tmem) -> Result<Vec<[u8; 4]>, FaultKind> {
        let (rows, k) = (self.path.rows(), self.stored_k());
        let wide = matches!(self.form.kind, Kind::F16 | Kind::Tf32);
        let (_, column) = tmem::split(self.metadata);
        tmem.check(0..LANES, column..column + self.metadata_columns())?;
        let mut positions = vec![[0; 4]; rows.div_ceil(4) * k];
        let chunks = if wide { 8 } else { 16 };
        let stored = k / chunks;
        for row in 0..rows {
            for chunk in 0..chunks {
                let (lane, column, shift) = if wide {
                    (row % 8 + 8 * (chunk / 4) + row / 16 * 16, column, row / 8 % 2 * 16 + chunk % 4 * 4)
                } else {
                    (row, column + chunk / 8, chunk % 8 * 4)
                };
                let index = tmem.lane(lane)[column] >> shift & 15;
                let legal = match self.form.kind {
                    Kind::Tf32 => matches!(index, 0b1110 | 0b0100),
                    _ => matches!(index, 0b0100 | 0b1000 | 0b1100 | 0b1001 | 0b1101 | 0b0110 | 0b1110),
                };
                if !legal {
                    return Err(FaultKind::undefined(
                        format!("{index:#06b} is no index of sparsity metadata (chunk {chunk} of row {row} of A)"),
                        "9.7.16.10.8",
                        "store the metadata in Tensor Memory before the multiplication, in the manual's layout",
                    ));
                }
                for i in 0..stored {
                    let two_bits = |i: usize| (index >> (2 * i) & 3) as usize;
                    let within = match stored {
                        // tf32: one element; the positions count halves of one
                        1 => two_bits(0) / 2,
                        2 => two_bits(i),
                        // 4-bit elements go in pairs
                        _ => 2 * two_bits(i / 2) + i % 2,
                    };
                    let at = chunk * (2 * stored) + within;
                    positions[row / 4 * k + chunk * stored + i][row % 4] = at as u8;
                }
            }
        }
        Ok(positions)
    }

    /// Columns that the sparsity metadata take.
    pub(super) fn metadata_columns(&self) -> usize {
        if matches!(self.form.kind, Kind::F16 | Kind::Tf32) { 1 } else { 2 }
    }

    /// The rows of A of a CTA that is in shared memory or Tensor Memory.
    pub(super) fn a_in_tmem(&self) -> Option<u32> {
        match self.a {
            A::Tmem(address) => Some(address),
            A::Shared(_) => None,
        }
    }
}
