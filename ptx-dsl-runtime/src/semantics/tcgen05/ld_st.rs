//! `tcgen05.ld`, `tcgen05.ld.red`, `tcgen05.st`, `tcgen05.wait` (PTX ISA 9.7.16.8): between Tensor Memory and the registers of
//! a whole warp.
//!
//! Loads and stores complete at once, although the manual allows it until `tcgen05.wait`: registers are variables of the emitted
//! code. `mma`, `cp` and `shift` do complete later, so a load without a wait sees the old data.

use std::ops::Range;

use super::alloc::{agreed, leader};
use super::layout::{Cell, Fragment, MoveShape};
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::memory::tmem;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::Sync;
use crate::semantics::{Blocks, active, warp};

/// A checked access.
struct TmemAccess {
    fragment: &'static Fragment,
    /// Lane and column of the start of each piece of columns.
    pieces: [(usize, usize); 2],
    /// Columns of Tensor Memory for a column of the fragment: 2 with `.pack::16b` and `.unpack::16b`.
    stretch: usize,
}

impl TmemAccess {
    /// Lane and column of Tensor Memory of a cell.
    #[inline(always)]
    fn at(&self, c: Cell) -> (usize, usize) {
        let (lane, column) = self.pieces[c.second as usize];
        (lane + c.row, column + c.column * self.stretch)
    }
}

/// Decodes the operands and checks the access.
fn access(
    x: &mut Ctx<'_>,
    q: Q,
    s: &[Source<'_>],
    registers: usize,
    write: bool,
    opcode: &str,
) -> Result<TmemAccess, Box<Fault>> {
    let lane = leader(x);
    let taddr = agreed(x, s.first().copied(), "the Tensor Memory address")? as u32;
    let fragment = MoveShape::of(q).fragment();
    let stretch = 1 + (q.has(q::pack_16b) || q.has(q::unpack_16b)) as usize;
    let width = fragment.span(registers) * stretch;
    let second = if fragment.split {
        taddr.wrapping_add(agreed(x, s.get(1).copied(), "`immHalfSplitoff`")? as u32)
    } else {
        taddr
    };
    let pieces = [tmem::split(taddr), tmem::split(second)];
    if write && fragment.split {
        apart(pieces, fragment.rows, width).map_err(|kind| x.fault(kind, lane))?;
    }
    for (row, column) in &pieces[..1 + fragment.split as usize] {
        let (lanes, columns) = (*row..row + fragment.rows, *column..column + width);
        quarter(x, &lanes, lane, opcode)?;
        x.tmem().check(lanes.clone(), columns.clone()).map_err(|kind| x.fault(kind, lane))?;
        x.tensor().access(lanes, columns, write, lane)?;
    }
    Ok(TmemAccess { fragment, pieces, stretch })
}

/// A fault if the two pieces that an instruction stores have a cell in common: two lanes would write it.
fn apart(pieces: [(usize, usize); 2], rows: usize, width: usize) -> Result<(), FaultKind> {
    let [(row, column), (other_row, other_column)] = pieces;
    if row.abs_diff(other_row) >= rows || column.abs_diff(other_column) >= width {
        return Ok(());
    }
    let what = format!(
        "the halves of `tcgen05.st` overlap: each stores {width} columns, one from column {column} on, the other from column \
         {other_column} on"
    );
    Err(FaultKind::TensorMemory { what, help: "make `immHalfSplitoff` at least the number of columns of a half" })
}

/// A warp reaches a quarter of the lanes, by its number in its warpgroup (9.7.16.8.1).
fn quarter(x: &Ctx<'_>, lanes: &Range<usize>, lane: u32, opcode: &str) -> Result<(), Box<Fault>> {
    let first = x.warp as usize % 4 * 32;
    if lanes.start >= first && lanes.end <= first + 32 {
        return Ok(());
    }
    let what = format!(
        "`{opcode}` of warp {} accesses lanes {} to {} of Tensor Memory, and the warp reaches lanes {first} to {}",
        x.warp,
        lanes.start,
        lanes.end - 1,
        first + 31
    );
    let help = "add 32 times the number of the warp in its warpgroup to the lane of the address";
    Err(x.fault(FaultKind::TensorMemory { what, help }, lane))
}

/// Loads into the first registers of `d`.
fn load(x: &Ctx<'_>, a: &TmemAccess, d: &mut [Destination<'_>]) {
    let (tmem, mask) = (x.tmem(), x.mask);
    let row = |lane, column| tmem.lane(lane).get(column..).unwrap_or_default();
    let rows_are_lanes = a.fragment.registers() == 1 && a.fragment.columns == 1;
    if rows_are_lanes && a.stretch == 1 {
        // each lane has a piece of one row
        for l in active(mask) {
            let (lane, column) = a.at(a.fragment.cell(l, 0));
            for (d, &word) in d.iter_mut().zip(row(lane, column)) {
                d.set(l, word.into());
            }
        }
        return;
    }
    // the layout is a sum: what the lane adds, and what the register adds
    let by_lane: [Cell; 32] = std::array::from_fn(|l| a.fragment.cell(l, 0));
    for (r, d) in d.iter_mut().enumerate() {
        let of = a.fragment.cell(0, r);
        for l in active(mask) {
            let c = Cell { row: by_lane[l].row + of.row, column: by_lane[l].column + of.column, ..by_lane[l] };
            let (lane, column) = a.at(c);
            let word = match *row(lane, column) {
                [low, high, ..] if a.stretch == 2 => low & 0xffff | high << 16,
                [word, ..] => word,
                [] => 0,
            };
            d.set(l, word.into());
        }
    }
}

/// Tells the engine which registers hold what nothing has written.
fn report_loaded(x: &mut Ctx<'_>, a: &TmemAccess, registers: usize) {
    if x.monitor.is_on() {
        x.tensor().loaded(registers, |r, l| a.at(a.fragment.cell(l, r)));
    }
}

/// Stores registers. True if that changes a cell.
fn store(x: &mut Ctx<'_>, a: &TmemAccess, s: &[Source<'_>]) -> bool {
    let mask = x.mask;
    let tmem = x.tmem_mut();
    let mut changed = 0;
    let mut put = |cell: Option<&mut u32>, word: u32| {
        if let Some(cell) = cell {
            changed |= *cell ^ word;
            *cell = word;
        }
    };
    let rows_are_lanes = a.fragment.registers() == 1 && a.fragment.columns == 1;
    if rows_are_lanes && a.stretch == 1 {
        for l in active(mask) {
            let (lane, column) = a.at(a.fragment.cell(l, 0));
            let row = tmem.lane_mut(lane).get_mut(column..).unwrap_or_default();
            for (s, cell) in s.iter().zip(row) {
                put(Some(cell), s.lane(l) as u32);
            }
        }
        return changed != 0;
    }
    let by_lane: [Cell; 32] = std::array::from_fn(|l| a.fragment.cell(l, 0));
    for (r, s) in s.iter().enumerate() {
        let of = a.fragment.cell(0, r);
        for l in active(mask) {
            let c = Cell { row: by_lane[l].row + of.row, column: by_lane[l].column + of.column, ..by_lane[l] };
            let (lane, column) = a.at(c);
            let (row, word) = (tmem.lane_mut(lane), s.lane(l) as u32);
            if a.stretch == 2 {
                put(row.get_mut(column), word & 0xffff);
                put(row.get_mut(column + 1), word >> 16);
            } else {
                put(row.get_mut(column), word);
            }
        }
    }
    changed != 0
}

/// `tcgen05.ld r, [taddr]{, immHalfSplitoff}`
pub fn tcgen05_ld(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("tcgen05.ld")? {
        return Ok(Flow::Wait(wait));
    }
    let a = access(x, q, s, d.len(), false, "tcgen05.ld")?;
    load(x, &a, d);
    report_loaded(x, &a, d.len());
    Ok(Flow::Next)
}

/// `tcgen05.ld.red r, redval, [taddr]{, immHalfSplitoff}`: each lane also gets the least or greatest of what it loads.
pub fn tcgen05_ld_red(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("tcgen05.ld.red")? {
        return Ok(Flow::Wait(wait));
    }
    let Some((redval, r)) = d.split_last_mut() else { return Ok(Flow::Next) };
    let a = access(x, q, s, r.len(), false, "tcgen05.ld.red")?;
    load(x, &a, r);
    report_loaded(x, &a, r.len());
    for l in active(x.mask) {
        redval.set(l, warp::reduce(q, r.iter().map(|r| r.lane(l) as u32)).into());
    }
    Ok(Flow::Next)
}

/// `tcgen05.st [taddr]{, immHalfSplitoff}, r`
pub fn tcgen05_st(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], _: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("tcgen05.st")? {
        return Ok(Flow::Wait(wait));
    }
    let operands = 1 + MoveShape::of(q).fragment().split as usize;
    let r = s.get(operands..).unwrap_or_default();
    let a = access(x, q, s, r.len(), true, "tcgen05.st")?;
    if store(x, &a, r) {
        x.changed();
    }
    if !x.findings.undefined.is_empty() {
        // of two columns each has a half
        let last = a.stretch - 1;
        x.tensor().stored(|r, l| {
            let (lane, column) = a.at(a.fragment.cell(l, r));
            [(lane, column), (lane, column + last)]
        });
    }
    Ok(Flow::Next)
}

/// `tcgen05.wait::ld`, `tcgen05.wait::st`: loads and stores are over already, the lanes of the warp meet.
pub fn tcgen05_wait(x: &mut Ctx<'_>, q: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("tcgen05.wait")? {
        return Ok(Flow::Wait(wait));
    }
    x.report_sync(Sync::TensorWait { stores: q.has(q::st) }, x.mask)?;
    Ok(Flow::Next)
}

semantics! {
    registers "tcgen05.ld" => tcgen05_ld,
    registers "tcgen05.ld.red" => tcgen05_ld_red,
    registers "tcgen05.st" => tcgen05_st,
    block "tcgen05.wait" => tcgen05_wait,
}

#[cfg(test)]
mod tests;
