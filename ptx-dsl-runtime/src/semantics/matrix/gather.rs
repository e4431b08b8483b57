//! Matrices in shared memory, by the canonical layouts: 16-byte pieces, decoded into tiles.

use crate::fault::FaultKind;
use crate::numerics::float16::{bf16_to_f32, f16_to_f32};
use crate::numerics::matrix::format::{Format, Packing, packed, pairs, s1z4m11, tf32, words};
use crate::numerics::matrix::shared::{Major, Shared};
use crate::numerics::matrix::tile::Tile;

/// Decodes the elements of a 16-byte piece and passes them to `put`.
#[inline(always)]
pub(crate) fn decode(packing: Packing, piece: &[u8; 16], put: impl FnOnce(&[f32])) {
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
pub(crate) fn bytes(shared: &[u8], at: u32) -> Result<&[u8; 16], FaultKind> {
    shared.get(at as usize..).and_then(|s| s.first_chunk()).ok_or(FaultKind::OutOfBounds {
        space: "shared",
        addr: at.into(),
        bytes: 16,
        size: shared.len() as u64,
    })
}

/// The numbers of pieces of a matrix of `lines` rows (or columns) of `k` elements: along the dimension that is not contiguous, and
/// along the contiguous one.
pub(crate) fn pieces(packing: Packing, major: Major, lines: usize, k: usize) -> (usize, usize) {
    match major {
        Major::K => (lines, k / packing.elements()),
        Major::Mn => (k, lines.div_ceil(packing.elements())),
    }
}

/// Reads `lines` rows of A, or columns of B, into a tile, from its line `to` on, and leaves out the first `skip`.
pub(crate) fn gather<const W: usize>(
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
