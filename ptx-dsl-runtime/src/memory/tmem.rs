//! Tensor Memory of a CTA: 128 lanes of 512 columns of 32 bits (PTX ISA 9.7.16.1).

use std::ops::Range;

use crate::fault::FaultKind;

/// Lanes (rows).
pub const LANES: usize = 128;
/// Columns.
pub const COLUMNS: usize = 512;
/// Columns are allocated in units of this many.
pub const UNIT: usize = 32;

/// The lane and column of a Tensor Memory address: lane in the high half, column in the low one.
///
/// Only the seven low bits of the lane count: compilers add 128 times the rank in a pair of CTAs to the lane of their own Tensor Memory.
pub const fn split(taddr: u32) -> (usize, usize) {
    ((taddr >> 16) as usize % LANES, (taddr & 0xffff) as usize)
}

/// The memory, and which of its columns are allocated.
#[derive(Debug, Clone, Default)]
pub struct Tmem {
    /// Lane after lane; empty until something is allocated.
    words: Vec<u32>,
    /// A bit per unit of columns.
    allocated: u16,
}

impl Tmem {
    /// Marks columns as allocated or free. Their contents stay.
    pub fn set_allocated(&mut self, columns: Range<usize>, allocated: bool) {
        if allocated && self.words.is_empty() {
            self.words = vec![0; LANES * COLUMNS];
        }
        for unit in columns.start / UNIT..columns.end.div_ceil(UNIT).min(COLUMNS / UNIT) {
            if allocated {
                self.allocated |= 1 << unit;
            } else {
                self.allocated &= !(1 << unit);
            }
        }
    }

    /// Sets the allocated columns: a bit per unit.
    pub fn hold(&mut self, units: u16) {
        if units != 0 && self.words.is_empty() {
            self.words = vec![0; LANES * COLUMNS];
        }
        self.allocated = units;
    }

    /// A fault if these lanes or columns do not exist, or a column is not allocated.
    pub fn check(&self, lanes: Range<usize>, columns: Range<usize>) -> Result<(), FaultKind> {
        let help = "stay inside of the columns that `tcgen05.alloc` has given";
        let wrong = |what: String| Err(FaultKind::TensorMemory { what, help });
        if lanes.end > LANES || columns.end > COLUMNS {
            return wrong(format!(
                "lanes {lanes:?} and columns {columns:?} reach past the {LANES} lanes and {COLUMNS} columns of Tensor Memory"
            ));
        }
        match (columns.start / UNIT..columns.end.div_ceil(UNIT)).find(|u| self.allocated & 1 << u == 0) {
            Some(unit) => {
                let first = columns.start.max(unit * UNIT);
                wrong(format!("column {first} of Tensor Memory is not allocated"))
            }
            None => Ok(()),
        }
    }

    /// The columns of a lane; empty before the first allocation.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> &[u32] {
        self.words.get(lane * COLUMNS..(lane + 1) * COLUMNS).unwrap_or_default()
    }

    /// The columns of a lane, to write.
    #[inline(always)]
    pub fn lane_mut(&mut self, lane: usize) -> &mut [u32] {
        self.words.get_mut(lane * COLUMNS..(lane + 1) * COLUMNS).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seven_bits_of_a_lane_count() {
        assert_eq!(split(0x0060_0005), (96, 5));
        assert_eq!(split(0x00e0_0005), (96, 5), "of rank 1 in a pair");
        assert_eq!(split(0xffff_01ff), (127, 511));
        // columns do not wrap
        assert_eq!(split(0x0000_0200), (0, 512));
    }
}
