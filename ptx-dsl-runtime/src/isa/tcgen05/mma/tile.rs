//! Matrices of a multiplication, decoded to f32 and laid out for the inner product.

use crate::fault::FaultKind;
use crate::isa::float16::{bf16_to_f32, f16_to_f32};
use crate::isa::tcgen05::descriptor::{Major, Shared};
use crate::isa::tcgen05::format::{Format, Packing, packed, pairs, s1z4m11, tf32, words};

/// A matrix of rows (of A) or columns (of B), `W` of them side by side: element (line, k) is
/// `data[line / W * k_size + k][line % W]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile<const W: usize> {
    pub data: Vec<[f32; W]>,
    /// Elements of a line.
    pub k: usize,
}

impl<const W: usize> Tile<W> {
    /// Zeros. `lines` is a multiple of `W`.
    pub fn new(lines: usize, k: usize) -> Tile<W> {
        Tile { data: vec![[0.0; W]; lines.div_ceil(W) * k], k }
    }

    /// `W` lines.
    #[inline(always)]
    pub fn group(&self, i: usize) -> &[[f32; W]] {
        &self.data[i * self.k..(i + 1) * self.k]
    }

    /// Elements of a line, from `k` on.
    #[inline(always)]
    pub fn put_along_k(&mut self, line: usize, k: usize, values: &[f32]) {
        let at = line / W * self.k + k;
        for (group, &v) in self.data[at..at + values.len()].iter_mut().zip(values) {
            group[line % W] = v;
        }
    }

    /// Element `k` of several lines, from `line` on; lines past the last do not count.
    #[inline(always)]
    pub fn put_across(&mut self, line: usize, k: usize, values: &[f32]) {
        if line.is_multiple_of(W) && values.len().is_multiple_of(W) {
            for (i, v) in values.chunks_exact(W).enumerate() {
                if let Some(group) = self.data.get_mut((line / W + i) * self.k + k) {
                    group.copy_from_slice(v);
                }
            }
            return;
        }
        for (line, &v) in (line..).zip(values) {
            if let Some(group) = self.data.get_mut(line / W * self.k + k) {
                group[line % W] = v;
            }
        }
    }

    /// Every element with the other sign.
    pub fn negate(&mut self) {
        for v in self.data.as_flattened_mut() {
            *v = -*v;
        }
    }
}

/// Decodes the elements of a 16-byte piece and passes them to `put`.
#[inline(always)]
pub(super) fn decode(packing: Packing, piece: &[u8; 16], put: impl FnOnce(&[f32])) {
    match packing {
        Packing::Wide(Format::F16) => put(&pairs(piece, f16_to_f32)),
        Packing::Wide(Format::Tf32) => put(&words(piece, tf32)),
        Packing::Wide(Format::S1z4m11) => put(&pairs(piece, s1z4m11)),
        Packing::Wide(_) => put(&pairs(piece, bf16_to_f32)),
        Packing::Bytes(format) => {
            let table = format.values();
            put(&piece.map(|x| table[x as usize]));
        }
        Packing::Middle(format) => {
            let table = format.values();
            put(&piece.map(|x| table[(x >> 2 & 15) as usize]));
        }
        Packing::Six(format) => put(&packed::<16, 6>(piece, format.values())),
        Packing::FourPadded(format) => put(&packed::<16, 4>(piece, format.values())),
        Packing::Four(format) => put(&packed::<32, 4>(piece, format.values())),
    }
}

/// The bytes of a piece of shared memory.
#[inline(always)]
pub(super) fn bytes(shared: &[u8], at: u32) -> Result<&[u8; 16], FaultKind> {
    shared.get(at as usize..).and_then(|s| s.first_chunk()).ok_or(FaultKind::OutOfBounds {
        space: "shared",
        addr: at.into(),
        bytes: 16,
        size: shared.len() as u64,
    })
}

/// Which pieces of a matrix of `lines` rows (or columns) of `k` elements there are: along the dimension that is not
/// contiguous, and along the one that is.
pub(super) fn pieces(packing: Packing, major: Major, lines: usize, k: usize) -> (usize, usize) {
    match major {
        Major::K => (lines, k / packing.elements()),
        Major::Mn => (k, lines.div_ceil(packing.elements())),
    }
}

/// Reads `lines` rows of A, or columns of B, into a tile, from its line `to` on, and leaves out the first `skip`.
pub(super) fn gather<const W: usize>(
    tile: &mut Tile<W>,
    to: usize,
    shared: &[u8],
    (from, major, packing): (Shared, Major, Packing),
    (lines, skip): (usize, usize),
) -> Result<(), FaultKind> {
    let (outer, inner) = pieces(packing, major, lines, tile.k);
    let size = packing.elements();
    match major {
        Major::K => {
            for line in skip..outer {
                for i in 0..inner {
                    let piece = bytes(shared, from.piece(major, line as u32, i as u32))?;
                    decode(packing, piece, |v| tile.put_along_k(to + line - skip, i * size, v));
                }
            }
        }
        Major::Mn => {
            for k in 0..outer {
                for i in 0..inner {
                    let piece = bytes(shared, from.piece(major, k as u32, i as u32))?;
                    let first = i * size;
                    decode(packing, piece, |v| {
                        let drop = skip.saturating_sub(first).min(v.len());
                        let end = v.len().min(lines - first);
                        if drop < end {
                            tile.put_across(to + first + drop - skip, k, &v[drop..end]);
                        }
                    });
                }
            }
        }
    }
    Ok(())
}
