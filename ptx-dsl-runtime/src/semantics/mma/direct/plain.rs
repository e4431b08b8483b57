//! Ordinary sums of f32.

use super::elements::{Bf16, DirectElements, F16, Four, Tf32, columns, rows};
use super::{Floats, Job, ROWS};
use crate::numerics::lanes::Level;
use crate::numerics::matrix::dot::WIDE;
use crate::numerics::matrix::format::Format;

/// Rows worked on at once: their sums stay in vector registers, and there are enough of them that none waits for its last addition.
const HIGH: usize = 8;
/// The most elements that the four lanes of a row have in a register.
const CHUNK: usize = 16;

/// Adds the products to `sums`, in ascending k.
#[inline(always)]
pub fn add<L: Level>(job: &Job<'_>, sums: &mut Floats) {
    let formats = job.form.formats;
    match formats[0] {
        Format::F16 => add_all::<L, _>([&F16; 2], job, sums),
        Format::Bf16 => add_all::<L, _>([&Bf16; 2], job, sums),
        Format::Tf32 => add_all::<L, _>([&Tf32; 2], job, sums),
        _ => add_all::<L, _>(formats.map(|f| Four(f.values())).each_ref(), job, sums),
    }
}

#[inline(always)]
fn add_all<L: Level, E: DirectElements>([of_a, of_b]: [&E; 2], job: &Job<'_>, sums: &mut Floats) {
    let chunk = 4 * E::PER;
    let (mut a, mut b) = ([0.0; ROWS * CHUNK], [[0.0; WIDE]; CHUNK]);
    let (a, b) = (&mut a[..ROWS * chunk], &mut b[..chunk]);
    for (pair, register) in job.a.each().chunks_exact(2).zip(job.b.each()) {
        for (register, to) in pair.iter().zip(a.chunks_exact_mut(8 * chunk)) {
            rows::<L, E>(of_a, register, to);
        }
        columns::<L, E>(of_b, register, b);
        for (a, sums) in a.chunks_exact(HIGH * chunk).zip(sums.as_chunks_mut::<HIGH>().0) {
            let mut all = *sums;
            for (j, b) in b.iter().enumerate() {
                for r in 0..HIGH {
                    let a = a[r * chunk + j];
                    if E::EXACT {
                        all[r] = L::multiply_add(&all[r], a, b);
                    } else {
                        for n in 0..WIDE {
                            all[r][n] += a * b[n];
                        }
                    }
                }
            }
            *sums = all;
        }
    }
}
