//! `tcgen05.shift.down` (PTX ISA 9.7.16.9.3): the rows of a warp's quarter of Tensor Memory move down by one row.
//!
//! Of the 32 lanes from the one of the address on, all but the last get the 32 bytes of the next lane. The last lane stays as it
//! is; `tcgen05.cp.4x256b`, which is ordered after a shift, can fill it with the following row, such as a halo element of
//! `.im2col::w::128`.

use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::machine::tensor::{Area, TensorCta, TensorJob, Unit};
use crate::memory::tmem;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::semantics::active;

/// Lanes of a warp's quarter.
const ROWS: usize = 32;
/// 32 bytes.
const COLUMNS: usize = 8;

/// A shift in flight.
#[derive(Debug)]
struct Shift {
    lane: usize,
    column: usize,
    ctas: usize,
}

impl TensorJob for Shift {
    fn unit(&self) -> Unit {
        Unit::Shift
    }

    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind> {
        let columns = self.column..self.column + COLUMNS;
        for cta in ctas {
            cta.tmem.check(self.lane..self.lane + ROWS, columns.clone())?;
            for lane in self.lane..self.lane + ROWS - 1 {
                let next: [u32; COLUMNS] = std::array::from_fn(|i| cta.tmem.lane(lane + 1)[self.column + i]);
                cta.tmem.lane_mut(lane)[columns.clone()].copy_from_slice(&next);
            }
        }
        Ok(())
    }

    fn reads(&self) -> Vec<Area> {
        self.areas(self.lane + 1..self.lane + ROWS)
    }

    fn writes(&self) -> Vec<Area> {
        self.areas(self.lane..self.lane + ROWS - 1)
    }
}

impl Shift {
    fn areas(&self, lanes: std::ops::Range<usize>) -> Vec<Area> {
        let columns = self.column..self.column + COLUMNS;
        (0..self.ctas).map(|cta| Area { cta, lanes: lanes.clone(), columns: columns.clone(), operand: "" }).collect()
    }
}

/// `tcgen05.shift.down [taddr]`
pub fn tcgen05_shift(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    let pair = q.has(q::cta_group_2);
    for l in active(x.mask) {
        let (lane, column) = tmem::split(s.first().map_or(0, |v| v[l]) as u32);
        if !lane.is_multiple_of(ROWS) {
            let what = format!("the lane of `tcgen05.shift`'s address is {lane}, and must be a multiple of {ROWS}");
            return Err(x.fault(FaultKind::TensorMemory { what, help: "" }, l as u32));
        }
        x.tensor().issue(pair, l as u32, Box::new(Shift { lane, column, ctas: 1 + usize::from(pair) }))?;
    }
    Ok(())
}

semantics! {
    warp "tcgen05.shift" => tcgen05_shift,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tmem::{LANES, Tmem};

    #[test]
    fn thirty_one_rows_move() {
        let mut tmem = Tmem::default();
        tmem.set_allocated(32..64, true);
        let cell = |lane: usize, column: usize| (lane * 1000 + column) as u32;
        for lane in 0..LANES {
            for column in 32..64 {
                tmem.lane_mut(lane)[column] = cell(lane, column);
            }
        }
        let shift = Shift { lane: 64, column: 40, ctas: 1 };
        shift.run(&mut [TensorCta { tmem: &mut tmem, shared: &[] }]).unwrap();
        for lane in 0..LANES {
            for column in 32..64 {
                let moved = (64..95).contains(&lane) && (40..48).contains(&column);
                assert_eq!(
                    tmem.lane(lane)[column],
                    cell(if moved { lane + 1 } else { lane }, column),
                    "{lane} {column}"
                );
            }
        }
        let outside = Shift { lane: 64, column: 57, ctas: 1 };
        let fault = outside.run(&mut [TensorCta { tmem: &mut tmem, shared: &[] }]);
        assert!(matches!(fault, Err(FaultKind::TensorMemory { .. })));
    }
}
