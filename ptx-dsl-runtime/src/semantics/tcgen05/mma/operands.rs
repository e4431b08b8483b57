//! Operands of a multiplication in Tensor Memory besides D: A, scale factors, sparsity metadata, lookup tables.

use super::multiply::{A, Multiply, bad_address};
use crate::fault::FaultKind;
use crate::memory::tmem::{self, LANES, Tmem};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::tile::Tile;
use crate::semantics::matrix::gather::decode;
use crate::semantics::tcgen05::descriptor::instruction::{MmaKind, Scale};
use crate::semantics::tcgen05::layout::DataPath;

/// Lanes of a partition of Tensor Memory: what a warp can reach.
const PARTITION: usize = 32;
/// Columns of a lookup table: eight bytes.
pub(super) const LUT_COLUMNS: usize = 2;
/// Columns between the scale factors of 128 lines that are in the same word and the next ones.
const STRIDE: usize = 4;

/// Scale factors of a row or column, in ascending k.
pub(super) type FactorRow = [f64; 8];

/// The k of each stored element of A, in the order of a [`Tile`] of rows of A.
pub(super) type Positions = Vec<[u8; 4]>;

/// The place of a scale factor in Tensor Memory.
pub(super) struct FactorPlace {
    /// The lane of the first copy.
    first: usize,
    pub column: usize,
    pub byte: usize,
}

impl FactorPlace {
    /// The lane of a copy.
    pub fn lane(&self, copy: usize) -> usize {
        self.first + copy * PARTITION
    }
}

/// The place of an index of sparsity metadata: a word of Tensor Memory, and its first bit there.
struct IndexPlace {
    lane: usize,
    column: usize,
    shift: usize,
}

impl Multiply {
    /// The rows of A that one part of the accumulator works on. Every part has its own, in its own lanes.
    pub(super) fn a_of_part(&self, address: u32, tmem: &Tmem, part: usize) -> Result<Tile<4>, FaultKind> {
        let rows = self.path.rows();
        let mut tile = Tile::new(rows, self.stored_k());
        let (base, column) = tmem::split(address);
        let columns = self.a_columns();
        tmem.check(0..LANES, column..column + columns)?;
        let packing = self.packing(0);
        for row in 0..rows {
            let Some(place) = self.path.pieces(row, self.instruction.n, base).nth(part) else { continue };
            let words = &tmem.lane(place.lane)[column..column + columns];
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

    /// Columns of Tensor Memory that a row of A takes.
    pub(super) fn a_columns(&self) -> usize {
        self.stored_k() / self.packing(0).elements() * 4
    }

    /// `.ashift`: in each partition the row of every lane but the last becomes that of the next lane.
    pub(super) fn shift_a(&self, address: u32, tmem: &mut Tmem) {
        let (_, column) = tmem::split(address);
        for lane in (0..LANES).filter(|lane| lane % PARTITION != PARTITION - 1) {
            for c in column..column + self.a_columns() {
                let below = tmem.lane(lane + 1)[c];
                tmem.lane_mut(lane)[c] = below;
            }
        }
    }

    /// Scale factors of the rows of A (0) that a CTA holds, or of all columns of B (1).
    ///
    /// Factor `i` of line `l` is byte `id + i` of the word in lane `l % 32` of a partition and column `l / 32`; bytes after
    /// the fourth are in the words of the next four columns (eight, for more than 128 lines). Every partition has a copy.
    /// With layout B (the 2x2 one) the upper half of the columns of B is in the upper two partitions. Where the factors of
    /// A are spread there is one copy: line `l` in lane `l`, the bytes after the fourth in the next column.
    pub(super) fn factors(&self, tmem: &Tmem, scale: &Scale, side: usize) -> Result<Vec<FactorRow>, FaultKind> {
        let lines = if side == 0 { self.path.rows() } else { self.instruction.n };
        let halves = self.halves(side);
        // the two highest bits may hold the scale factor ID, which is in the instruction descriptor too
        let (base, column) = tmem::split(self.scales[side] & 0x3fff_ffff);
        let name = ["A", "B"][side];
        if base != 0 {
            return bad_address(format!(
                "the address of the scale factors of {name} begins at lane {base}, not at lane 0"
            ));
        }
        let columns = self.scale_columns(scale, side);
        tmem.check(0..LANES, column..column + columns)?;
        let values = scale.format.values();
        let partitions = if scale.spread && side == 0 { 1 } else { 4 / halves };
        (0..lines)
            .map(|line| {
                let mut factors = [1.0; 8];
                for (i, factor) in factors.iter_mut().take(scale.vector).enumerate() {
                    let place = self.place_of_factor(scale, side, (line, lines), i);
                    let get = |p: usize| tmem.lane(place.lane(p))[place.column].to_le_bytes()[place.byte];
                    let first = get(0);
                    if (1..partitions).any(|p| get(p) != first) {
                        let what = format!(
                            "the copies of the scale factors of line {line} of {name} differ between partitions of 32 lanes"
                        );
                        let help = "copy them to all partitions: `tcgen05.cp.32x128b.warpx4`";
                        return Err(FaultKind::undefined(what, "9.7.16.10.7", help));
                    }
                    *factor = values[first as usize].into();
                }
                Ok(factors)
            })
            .collect()
    }

    /// The number of parts of the lines of A (0) or B (1) whose scale factors are in partitions of their own.
    fn halves(&self, side: usize) -> usize {
        if side == 1 && self.path == DataPath::B { 2 } else { 1 }
    }

    /// The place of factor `i` of a line of A (0) or B (1), which has this many.
    pub(super) fn place_of_factor(
        &self,
        scale: &Scale,
        side: usize,
        (line, lines): (usize, usize),
        i: usize,
    ) -> FactorPlace {
        let halves = self.halves(side);
        let each = lines.div_ceil(halves);
        let (half, l) = (line / each, line % each);
        let (_, column) = tmem::split(self.scales[side] & 0x3fff_ffff);
        let (word, byte) = ((scale.id[side] + i) / 4, (scale.id[side] + i) % 4);
        if scale.spread && side == 0 {
            return FactorPlace { first: l, column: column + word * each.div_ceil(LANES), byte };
        }
        let first = half * (4 / halves) * PARTITION + l % PARTITION;
        FactorPlace { first, column: column + word * each.div_ceil(LANES) * STRIDE + l / PARTITION, byte }
    }

    /// Columns that the scale factors of A (0) or B (1) take, from the first to the last.
    pub(super) fn scale_columns(&self, scale: &Scale, side: usize) -> usize {
        let lines = if side == 0 { self.path.rows() } else { self.instruction.n };
        let each = if side == 1 && self.path == DataPath::B { lines.div_ceil(2) } else { lines };
        let more = (scale.id[side] + scale.vector - 1) / 4;
        if scale.spread && side == 0 {
            (more + 1) * each.div_ceil(LANES)
        } else {
            more * each.div_ceil(LANES) * STRIDE + each.div_ceil(PARTITION)
        }
    }

    /// Stored elements of A that an index of the metadata is for, and how many indices a row has.
    fn chunks(&self) -> (usize, usize) {
        let stored = match self.instruction.formats[0] {
            Format::Tf32 => 1,
            _ if self.form.kind.is_4bit() && !self.instruction.single => 4,
            _ => 2,
        };
        (stored, self.stored_k() / stored)
    }

    /// The k of the stored elements of A. Each part of the accumulator has its own metadata, as it has its own A.
    ///
    /// A row has a 4-bit index for each chunk: two 2-bit positions in it. For 16- and 32-bit elements the word in
    /// lane `r % 8 + 8 * (half of K) + r / 16 * 16` has those of the row in lane `r`, in its low half if `r % 16 < 8`, and
    /// the sparsity selector says which of two columns it is. For smaller ones they are in the columns of lane `r`, eight
    /// in each, low bits first.
    pub(super) fn positions(&self, tmem: &Tmem, part: usize) -> Result<Positions, FaultKind> {
        let (rows, k) = (self.path.rows(), self.stored_k());
        let (_, column) = tmem::split(self.metadata);
        let column = column + self.instruction.selector;
        tmem.check(0..LANES, column..column + self.metadata_columns())?;
        let mut positions = vec![[0; 4]; rows.div_ceil(4) * k];
        let (stored, chunks) = self.chunks();
        for row in 0..rows {
            let Some(place) = self.path.pieces(row, self.instruction.n, 0).nth(part) else { continue };
            let r = place.lane;
            for chunk in 0..chunks {
                let IndexPlace { lane, column, shift } = self.place_of_index(r, chunk);
                let index = tmem.lane(lane)[column] >> shift & 15;
                let legal = match self.form.kind {
                    MmaKind::Tf32 => matches!(index, 0b1110 | 0b0100),
                    _ => matches!(index, 0b0100 | 0b1000 | 0b1100 | 0b1001 | 0b1101 | 0b0110 | 0b1110),
                };
                if !legal {
                    return Err(FaultKind::undefined(
                        format!("{index:#06b} is not an index of sparsity metadata (chunk {chunk} of row {row} of A)"),
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

    /// The place of the index of a chunk of the row in lane `r`.
    fn place_of_index(&self, r: usize, chunk: usize) -> IndexPlace {
        let (base, column) = tmem::split(self.metadata);
        let column = column + self.instruction.selector;
        if self.form.kind.is_wide() {
            let lane = base + r % 8 + 8 * (chunk / 4) + r / 16 * 16;
            IndexPlace { lane, column, shift: r / 8 % 2 * 16 + chunk % 4 * 4 }
        } else {
            IndexPlace { lane: base + r, column: column + chunk / 8, shift: chunk % 8 * 4 }
        }
    }

    /// The words, as lane and column, with the indices of the row in lane `r`.
    pub(super) fn words_of_indices(&self, r: usize) -> Vec<(usize, usize)> {
        let (_, chunks) = self.chunks();
        let mut all: Vec<_> =
            (0..chunks).map(|chunk| self.place_of_index(r, chunk)).map(|p| (p.lane, p.column)).collect();
        all.dedup();
        all
    }

    /// The words, as lane and column, of the lookup table of a group of eight columns of B.
    pub(super) fn words_of_table(&self, group: usize) -> [(usize, usize); LUT_COLUMNS] {
        let (base, column) = tmem::split(self.lut);
        std::array::from_fn(|i| (base + group, column + i))
    }

    /// Columns that the sparsity metadata take, from the one that the selector says.
    pub(super) fn metadata_columns(&self) -> usize {
        if self.form.kind.is_wide() { 1 } else { self.chunks().1.div_ceil(8) }
    }

    /// The lookup table of `.decompress::lut::b` for the eighth `group` of eight columns of B that a CTA holds: eight
    /// elements in two columns of lane `group`.
    pub(super) fn table(&self, tmem: &Tmem, group: usize) -> Result<[f32; 8], FaultKind> {
        let (base, column) = tmem::split(self.lut);
        tmem.check(base + group..base + group + 1, column..column + LUT_COLUMNS)?;
        let words = &tmem.lane(base + group)[column..column + LUT_COLUMNS];
        let values = Format::E4m3.values();
        Ok(std::array::from_fn(|i| values[words[i / 4].to_le_bytes()[i % 4] as usize]))
    }

    /// The rows of A of a CTA that is in shared memory or Tensor Memory.
    pub(super) fn a_in_tmem(&self) -> Option<u32> {
        match self.a {
            A::Tmem(address) => Some(address),
            A::Shared(_) => None,
        }
    }
}
