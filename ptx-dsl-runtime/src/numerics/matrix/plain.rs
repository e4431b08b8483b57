//! Ordinary sums, in ascending order of k.

use super::dot::{HIGH, Operands, Sums, WIDE};

/// Adds in ascending k. The block is small enough for its sums to stay in vector registers.
#[inline(always)]
pub(crate) fn dense(a: &[[f32; HIGH]], b: &[[f32; WIDE]]) -> Sums {
    let mut sums = [[0.0; WIDE]; HIGH];
    for (a, b) in a.iter().zip(b) {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    sums
}

/// [`dense`] with a sparse A: a stored element of A is multiplied by the element of B at its position.
#[inline(always)]
pub(crate) fn sparse(a: &[[f32; HIGH]], positions: &[[u8; HIGH]], b: &[[f32; WIDE]]) -> Sums {
    let mut sums = [[0.0; WIDE]; HIGH];
    for (a, at) in a.iter().zip(positions) {
        for row in 0..HIGH {
            let b = &b[at[row] as usize];
            for (sum, b) in sums[row].iter_mut().zip(b) {
                *sum += a[row] * b;
            }
        }
    }
    sums
}

/// The sums of a block, without C and scale factors. Those of products of bytes are exact.
pub(crate) fn block(o: &Operands<'_>, row: usize, column: usize) -> Sums {
    let (a, b) = (o.a.group(row), o.b.group(column));
    match o.positions(row) {
        Some(positions) => sparse(a, positions, b),
        None => dense(a, b),
    }
}
