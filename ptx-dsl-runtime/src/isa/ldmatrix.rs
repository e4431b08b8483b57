//! Matrices of 8x8 elements between shared memory and the registers of a warp (PTX ISA 9.7.14.5.15 to 9.7.14.5.17).
//!
//! Lane *l* holds two neighbours of row *l* / 4: columns 2 (*l* mod 4), in the low half, and the next one.

use super::{active, set};
use crate::fault::Fault;
use crate::kernel::Flow;
use crate::qual::Q;
use crate::{Ctx, Lanes, Monitor};

type Blocks = Result<Flow, Box<Fault>>;

/// `movmatrix d, a`: the transposed matrix.
pub fn movmatrix<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    _: Q,
    s: [&Lanes; S],
    mut d: [&mut Lanes; D],
) -> Blocks {
    if let Some(wait) = x.whole_warp("movmatrix")? {
        return Ok(Flow::Wait(wait));
    }
    let element = |row: usize, column: usize| s[0][4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    for l in active(x.mask) {
        let (row, column) = (l / 4, 2 * (l % 4));
        set(&mut d, 0, l, element(column, row) | element(column + 1, row) << 16);
    }
    Ok(Flow::Next)
}

semantics! {
    "movmatrix" => movmatrix,
}
