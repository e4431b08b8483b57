//! Matrices of 8x8 elements between shared memory and the registers of a warp (PTX ISA 9.7.14.5.15 to 9.7.14.5.17).
//!
//! Lane *l* holds two neighbours of row *l* / 4: columns 2 (*l* mod 4), in the low half, and the next one.

use super::{active, own_shared_object, set, space};
use crate::fault::Fault;
use crate::kernel::Flow;
use crate::qual::{Q, q};
use crate::{Ctx, Lanes, Monitor};

type Blocks = Result<Flow, Box<Fault>>;

/// `ldmatrix r, [p]` of `.m8n8`: lanes 8 *i* to 8 *i* + 7 give the addresses of the rows of matrix *i*, 16 bytes each. With `.trans`
/// each matrix comes transposed.
pub fn ldmatrix<M: Monitor>(x: &mut Ctx<'_, M>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    if let Some(wait) = x.whole_warp("ldmatrix")? {
        return Ok(Flow::Wait(wait));
    }
    let space = space(q);
    for matrix in 0..d.len() {
        let mut rows = [[0u16; 8]; 8];
        for (r, row) in rows.iter_mut().enumerate() {
            let lane = 8 * matrix + r;
            let addr = s[0][lane];
            own_shared_object(x, space, addr, 16, lane, "a row of a matrix")?;
            let words = x.read(space, addr, 16, lane as u32)?;
            *row = std::array::from_fn(|c| (words[c / 4] >> (16 * (c % 4))) as u16);
        }
        for l in active(x.mask) {
            let (row, column) = (l / 4, 2 * (l % 4));
            let [low, high] = [column, column + 1].map(|c| if q.has(q::trans) { rows[c][row] } else { rows[row][c] });
            set(d, matrix, l, u64::from(low) | u64::from(high) << 16);
        }
    }
    Ok(Flow::Next)
}

/// `movmatrix d, a`: the transposed matrix.
pub fn movmatrix<M: Monitor>(x: &mut Ctx<'_, M>, _: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    if let Some(wait) = x.whole_warp("movmatrix")? {
        return Ok(Flow::Wait(wait));
    }
    let element = |row: usize, column: usize| s[0][4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    for l in active(x.mask) {
        let (row, column) = (l / 4, 2 * (l % 4));
        set(d, 0, l, element(column, row) | element(column + 1, row) << 16);
    }
    Ok(Flow::Next)
}

semantics! {
    block "ldmatrix" => ldmatrix,
    block "movmatrix" => movmatrix,
}
