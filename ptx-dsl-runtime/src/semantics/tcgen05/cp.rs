//! `tcgen05.cp` (PTX ISA 9.7.16.9.2): from shared memory to Tensor Memory, multicast to the quarters of warps, 4-bit and
//! 6-bit elements decompressed on the way.
//!
//! With `.cta_group::2` each CTA of the pair copies from its own shared memory, at the same offsets.

use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::machine::tensor::{Area, TensorCta, TensorJob, Unit};
use crate::machine::undefined::{SharedOperands, UndefinedWords};
use crate::memory::{little_endian, tmem};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::observe::probe::layout::{DescriptorOf, SharedMatrix};
use crate::semantics::active;
use crate::semantics::tcgen05::descriptor::{ABSOLUTE, Major, Shared, Swizzle, wrong};

#[cfg(test)]
mod tests;

/// Bytes of the unit that shared memory layouts are made of, 128 bits.
const CHUNK: usize = 16;
/// Columns that a chunk fills.
const COLUMNS: usize = 4;

/// The lanes that the rows go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CpRows {
    /// `.128x256b`, `.128x128b`: each row goes to the lane of the same number.
    All128,
    /// `.4x256b`: one row goes to each quarter, 32 lanes apart, to the lane of the address in that quarter.
    Four,
    /// `.64x128b.warpx2::02_13`: warps 0 and 2 get the two halves, and so do warps 1 and 3.
    Pairs02_13,
    /// `.64x128b.warpx2::01_23`: warps 0 and 1 get the two halves, and so do warps 2 and 3.
    Pairs01_23,
    /// `.32x128b.warpx4`: every warp gets all of them.
    Times4,
}

impl CpRows {
    const fn count(self) -> usize {
        match self {
            CpRows::All128 => 128,
            CpRows::Four => 4,
            CpRows::Pairs02_13 | CpRows::Pairs01_23 => 64,
            CpRows::Times4 => 32,
        }
    }

    /// The lanes that row `row` goes to, relative to the address.
    fn lanes(self, row: usize) -> impl Iterator<Item = usize> {
        let quarters: &[usize] = match (self, row / 32) {
            (CpRows::All128 | CpRows::Four, _) => &[0],
            (CpRows::Pairs02_13, 0) => &[0, 1],
            (CpRows::Pairs02_13, _) => &[2, 3],
            (CpRows::Pairs01_23, 0) => &[0, 2],
            (CpRows::Pairs01_23, _) => &[1, 3],
            (CpRows::Times4, _) => &[0, 1, 2, 3],
        };
        let within = match self {
            CpRows::All128 => row,
            CpRows::Four => row * 32,
            _ => row % 32,
        };
        quarters.iter().map(move |quarter| quarter * 32 + within)
    }
}

/// The decompression of elements to 8 bits (9.7.16.9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CpFormat {
    /// `.b6x16_p32`: 12 bytes of elements, 4 bytes of padding; an element has two zero bits above it.
    B6,
    /// `.b4x16_p64`: 8 bytes of elements, 8 bytes of padding; an element has two zero bits on either side.
    B4,
}

impl CpFormat {
    fn decompress(self, chunk: [u8; CHUNK]) -> [u8; CHUNK] {
        let bits = u128::from_le_bytes(chunk);
        std::array::from_fn(|i| match self {
            CpFormat::B6 => (bits >> (6 * i)) as u8 & 0x3f,
            CpFormat::B4 => ((bits >> (4 * i)) as u8 & 0xf) << 2,
        })
    }
}

/// The descriptor of the matrix to copy, which is K-major.
fn source(word: u64) -> Result<Shared, FaultKind> {
    let source = Shared::decode(word, "the matrix to copy", false)?;
    if source.absolute {
        return wrong(ABSOLUTE, "1 is for rows of 48 bytes, which `tcgen05.cp` does not have");
    }
    if source.swizzle == Swizzle::B128Atom32 {
        // Table 53 has it for MN-major matrices alone
        let what = "1, 32-byte atoms, is for matrices of `tcgen05.mma` that are transposed".into();
        return Err(FaultKind::Descriptor {
            field: "swizzling mode (bits 61-63) of the shared-memory descriptor",
            what,
        });
    }
    Ok(source)
}

/// A copy under way.
#[derive(Debug)]
struct CpCopy {
    rows: CpRows,
    /// chunks of a row
    chunks: usize,
    format: Option<CpFormat>,
    source: Shared,
    lane: usize,
    column: usize,
    ctas: usize,
}

impl CpCopy {
    fn lanes(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.rows.count()).flat_map(move |row| self.rows.lanes(row).map(move |lane| (row, self.lane + lane)))
    }

    /// The offset of a chunk of a row.
    fn at(&self, row: usize, chunk: usize) -> u32 {
        self.source.piece(Major::K, row as u32, chunk as u32)
    }

    /// The bytes of a chunk from which a word of Tensor Memory comes.
    fn bytes_of(&self, word: usize) -> std::ops::Range<usize> {
        let bytes = match self.format {
            Some(CpFormat::B6) => 3,
            Some(CpFormat::B4) => 2,
            None => 4,
        };
        bytes * word..bytes * (word + 1)
    }

    fn columns(&self) -> std::ops::Range<usize> {
        self.column..self.column + self.chunks * COLUMNS
    }
}

impl TensorJob for CpCopy {
    fn unit(&self) -> Unit {
        if self.rows == CpRows::Four { Unit::Cp4x256b } else { Unit::Cp }
    }

    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind> {
        for cta in ctas {
            for (row, lane) in self.lanes() {
                cta.tmem.check(lane..lane + 1, self.columns())?;
                for chunk in 0..self.chunks {
                    let at = self.at(row, chunk) as u64;
                    let size = cta.shared.len() as u64;
                    let outside = FaultKind::OutOfBounds { space: "shared", addr: at, bytes: CHUNK as u32, size };
                    let [low, high, ..] = little_endian::load(cta.shared, at, CHUNK as u32).ok_or(outside)?;
                    let mut bits = u128::from(high) << 64 | u128::from(low);
                    if let Some(format) = self.format {
                        bits = u128::from_le_bytes(format.decompress(bits.to_le_bytes()));
                    }
                    let to = &mut cta.tmem.lane_mut(lane)[self.column + chunk * COLUMNS..][..COLUMNS];
                    to.iter_mut().enumerate().for_each(|(i, w)| *w = (bits >> (32 * i)) as u32);
                }
            }
        }
        Ok(())
    }

    fn writes(&self) -> Vec<Area> {
        let ctas = 0..self.ctas;
        let all = |cta, lanes| Area { cta, lanes, columns: self.columns(), operand: "" };
        match self.rows {
            CpRows::Four => ctas.flat_map(|cta| self.lanes().map(move |(_, lane)| all(cta, lane..lane + 1))).collect(),
            _ => ctas.map(|cta| all(cta, self.lane..self.lane + tmem::LANES)).collect(),
        }
    }

    fn undefined(&self, holds: &mut dyn SharedOperands) -> Vec<UndefinedWords> {
        let mut all = Vec::new();
        for cta in 0..self.ctas {
            for row in 0..self.rows.count() {
                for chunk in 0..self.chunks {
                    let piece = holds.piece(cta, self.at(row, chunk));
                    let Some(origin) = piece.origin else { continue };
                    for word in (0..COLUMNS).filter(|word| self.bytes_of(*word).all(|b| piece.undefined >> b & 1 != 0))
                    {
                        let first = self.column + chunk * COLUMNS + word;
                        let lanes = self.rows.lanes(row).map(|lane| self.lane + lane);
                        all.extend(lanes.map(|lane| UndefinedWords { cta, lane, columns: first..first + 1, origin }));
                    }
                }
            }
        }
        all
    }

    fn matrices(&self) -> Vec<SharedMatrix> {
        let (lines, pieces) = (0..self.rows.count() as u32, 0..self.chunks as u32);
        let (operand, of) = ("the matrix", DescriptorOf::Cp);
        vec![SharedMatrix { operand, of, format: None, descriptor: self.source, major: Major::K, lines, pieces }]
    }

    fn operands(&self) -> Vec<(usize, std::ops::Range<u32>)> {
        let chunks = (0..self.rows.count()).flat_map(|row| (0..self.chunks).map(move |chunk| (row, chunk)));
        let bytes = chunks.map(|(row, chunk)| self.at(row, chunk)).map(|at| at..at.saturating_add(CHUNK as u32));
        let bytes: Vec<_> = bytes.collect();
        (0..self.ctas).flat_map(|cta| bytes.iter().map(move |b| (cta, b.clone()))).collect()
    }

    fn bytes(&self) -> Vec<(usize, std::ops::Range<u32>)> {
        let used = match self.format {
            Some(CpFormat::B6) => 12,
            Some(CpFormat::B4) => 8,
            None => CHUNK as u32,
        };
        self.operands().into_iter().map(|(cta, b)| (cta, b.start..b.start.saturating_add(used))).collect()
    }
}

/// `tcgen05.cp [taddr], s-desc`
pub fn tcgen05_cp(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    let (rows, chunks) = if q.has(q::_128x256b) {
        (CpRows::All128, 2)
    } else if q.has(q::_4x256b) {
        (CpRows::Four, 2)
    } else if q.has(q::_128x128b) {
        (CpRows::All128, 1)
    } else if q.has(q::_64x128b) {
        (if q.has(q::warpx2_02_13) { CpRows::Pairs02_13 } else { CpRows::Pairs01_23 }, 1)
    } else {
        (CpRows::Times4, 1)
    };
    let format = if q.has(q::b6x16_p32) {
        Some(CpFormat::B6)
    } else if q.has(q::b4x16_p64) {
        Some(CpFormat::B4)
    } else {
        None
    };
    let pair = q.has(q::cta_group_2);
    let operand = |at: usize, l: usize| s.get(at).map_or(0, |v| v[l]);
    for l in active(x.mask) {
        let (lane, column) = tmem::split(operand(0, l) as u32);
        let source = source(operand(1, l)).map_err(|kind| x.fault(kind, l as u32))?;
        let copy = CpCopy { rows, chunks, format, source, lane, column, ctas: 1 + usize::from(pair) };
        x.tensor().issue(pair, l as u32, Box::new(copy))?;
    }
    Ok(())
}

semantics! {
    warp "tcgen05.cp" => tcgen05_cp,
}
