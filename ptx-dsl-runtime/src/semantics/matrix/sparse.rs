//! Metadata of sparse matrices of `mma.sp` and `wgmma.mma_async.sp` (PTX ISA 9.7.14.6.1, 9.7.15.6.1).

use crate::fault::FaultKind;
use crate::numerics::lanes::Source;
use crate::numerics::matrix::dot::HIGH;
use crate::numerics::matrix::format::Format;

/// Two 2-bit positions for each chunk of a row, a 32-bit word of several chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metadata<'a> {
    pub register: Source<'a>,
    /// The lanes of each four that hold the metadata.
    pub selector: usize,
    /// `::ordered_metadata`: the first position of two is less than the second.
    pub ordered: bool,
    pub section: &'static str,
}

/// Elements of a sparse A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SparseElements {
    /// One of two elements is kept, in positions of halves.
    Tf32,
    /// Two of four.
    Single,
    /// Four of eight, in pairs.
    Pairs,
}

impl SparseElements {
    pub fn of(format: Format, packed: bool) -> SparseElements {
        match format {
            Format::Tf32 => SparseElements::Tf32,
            Format::U4 | Format::S4 => SparseElements::Pairs,
            Format::E2m1 if packed => SparseElements::Pairs,
            _ => SparseElements::Single,
        }
    }

    /// Stored elements of a chunk.
    fn stored(self) -> usize {
        match self {
            SparseElements::Tf32 => 1,
            SparseElements::Single => 2,
            SparseElements::Pairs => 4,
        }
    }
}

impl Metadata<'_> {
    /// The 4-bit index of a chunk of a row.
    ///
    /// Elements of 16 and 32 bits: a lane has four chunks of row *g* and, in the upper half, of row *g* + 8. Two lanes of a group have
    /// them if there are eight. Others: a lane has eight chunks of one row; lanes alternate between rows *g* and *g* + 8.
    fn index(&self, wide: bool, chunks: usize, row: usize, chunk: usize) -> u32 {
        let group = row % 8 * 4;
        let lower = row / 8;
        let (lane, shift) = if wide {
            (self.selector * (chunks / 4) + chunk / 4, lower * 16 + chunk % 4 * 4)
        } else {
            (self.selector * 2 + lower + chunk / 8 * 2, chunk % 8 * 4)
        };
        self.register.lane((group + lane) & 31) as u32 >> shift & 15
    }

    /// The k of each stored element, in the order of a tile of rows of A.
    pub fn positions(&self, elements: SparseElements, wide: bool, k: usize) -> Result<Vec<[u8; HIGH]>, FaultKind> {
        let stored = elements.stored();
        let chunks = k / stored;
        let mut positions = vec![[0; HIGH]; 16 / HIGH * k];
        for row in 0..16 {
            for chunk in 0..chunks {
                let index = self.index(wide, chunks, row, chunk);
                let (first, second) = (index & 3, index >> 2);
                let legal = match elements {
                    SparseElements::Tf32 => matches!(index, 0b1110 | 0b0100),
                    _ if self.ordered => first < second,
                    _ => first != second,
                };
                if !legal {
                    return Err(FaultKind::undefined(
                        format!("{index:#06b} is not an index of sparsity metadata (chunk {chunk} of row {row} of A)"),
                        self.section,
                        "give each index in the manual's list, in the lanes that the selector says",
                    ));
                }
                for i in 0..stored {
                    let within = match elements {
                        SparseElements::Tf32 => first / 2,
                        SparseElements::Single => [first, second][i],
                        SparseElements::Pairs => 2 * [first, second][i / 2] + i as u32 % 2,
                    };
                    let at = chunk * 2 * stored + within as usize;
                    positions[row / HIGH * k + chunk * stored + i][row % HIGH] = at as u8;
                }
            }
        }
        Ok(positions)
    }
}
