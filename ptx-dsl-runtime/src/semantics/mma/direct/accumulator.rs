//! Rows of C and D in registers.
//!
//! Of words, two registers have the even and the odd columns of eight rows; of halves, one has both. In a row of sums the even
//! columns come first: then its halves are four lanes of a register each.

use super::ROWS;
use crate::numerics::float16::{f16_to_f32, f32_to_f16};
use crate::numerics::lanes::Words;
use crate::numerics::lanes::{Destination, array};
use crate::numerics::matrix::dot::WIDE;
use crate::numerics::matrix::fragment::Cells;

/// The bits of a row, the even columns first.
pub type AccumulatorRow = [u32; WIDE];

/// A row of C, in at most four registers.
#[inline(always)]
pub fn load(cells: Cells, registers: &[&Words; 4], row: usize) -> AccumulatorRow {
    let (half, first) = (row / 8 % 2, row % 8 * 4);
    let mut all = [0; WIDE];
    let (even, odd) = all.split_at_mut(4);
    match cells {
        Cells::Word => {
            even.copy_from_slice(&registers[2 * half][first..first + 4]);
            odd.copy_from_slice(&registers[2 * half + 1][first..first + 4]);
        }
        Cells::Half => {
            let words = &registers[half][first..first + 4];
            for t in 0..4 {
                (even[t], odd[t]) = (words[t] & 0xffff, words[t] >> 16);
            }
        }
    }
    all
}

/// Stores D, of which `row` computes the bits of a row.
#[inline(always)]
pub fn store(cells: Cells, d: &mut [Destination<'_>], row: impl Fn(usize) -> AccumulatorRow) {
    match cells {
        Cells::Word => {
            for (half, pair) in d.chunks_exact_mut(2).enumerate() {
                // written in place: whoever reads a whole register that was stored in parts waits for the stores
                if let [Destination::Words(even), Destination::Words(odd)] = pair {
                    words(half, even, odd, &row);
                } else {
                    let (mut even, mut odd) = ([0; 32], [0; 32]);
                    words(half, &mut even, &mut odd, &row);
                    pair.iter_mut().zip([&even, &odd]).for_each(|(d, words)| d.put(words));
                }
            }
        }
        Cells::Half => {
            for (half, d) in d.iter_mut().enumerate() {
                let mut words = [0; 32];
                for (g, words) in words.chunks_exact_mut(4).enumerate() {
                    let row = row(8 * half + g);
                    for t in 0..4 {
                        words[t] = row[t] | row[4 + t] << 16;
                    }
                }
                d.put(&words);
            }
        }
    }
}

/// Sets the two registers of eight rows.
#[inline(always)]
fn words(half: usize, even: &mut Words, odd: &mut Words, row: &impl Fn(usize) -> AccumulatorRow) {
    for (g, (even, odd)) in even.chunks_exact_mut(4).zip(odd.chunks_exact_mut(4)).enumerate() {
        let row = row(8 * half + g);
        let (first, second) = row.split_at(4);
        even.copy_from_slice(first);
        odd.copy_from_slice(second);
    }
}

/// Stores sums as D.
#[inline(always)]
pub fn store_floats(cells: Cells, d: &mut [Destination<'_>], sums: &[[f32; WIDE]; ROWS]) {
    match cells {
        Cells::Word => store(Cells::Word, d, |r| array(|n| sums[r][n].to_bits())),
        Cells::Half => store(Cells::Half, d, |r| array(|n| f32_to_f16(sums[r][n]).into())),
    }
}

/// Elements of C as f32.
#[inline(always)]
pub fn floats(cells: Cells, row: &AccumulatorRow) -> [f32; WIDE] {
    match cells {
        Cells::Word => array(|n| f32::from_bits(row[n])),
        Cells::Half => array(|n| f16_to_f32(row[n] as u16)),
    }
}
