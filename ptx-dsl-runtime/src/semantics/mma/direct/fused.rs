//! The fused sums of tensor cores.

use super::elements::{Bf16, DirectElements, F16, Four, Tf32, Two, columns, rows};
use super::{DEEP, Floats, Job, ROWS, Sum};
use crate::numerics::lanes::Level;
use crate::numerics::matrix::dot::{LEAST, WIDE, finish};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::model::{Model, least_exponent};
use crate::numerics::matrix::tile::{NARROW, exponent};

/// Rows worked on at once: their sums and units stay in vector registers.
const HIGH: usize = 4;

/// Adds the products to `sums`, as [`dot::block`](crate::numerics::matrix::dot::block) does: all, or with
/// [`Sum::Halves`] those of both halves of each register as f16, one after the other. False, with nothing of use done, if products do not fit into f32 or there are infinities and NaNs.
#[inline(always)]
pub fn add<L: Level>(job: &Job<'_>, model: Model, sums: &mut Floats) -> bool {
    let (formats, halved) = (job.form.formats, matches!(job.sum, Sum::Halves(_)));
    let (parts, decoded): (&[_], _) = if halved { (&[Some(0), Some(2)], [Format::F16; 2]) } else { (&[None], formats) };
    // one call of each function: one that is not inlined would not have the instruction set, and call every instruction
    let mut factors = FusedFactors { a: [0.0; _], b: [[0.0; WIDE]; _], k: 0, chunk: 0 };
    for half in parts {
        factors.decode::<L>(formats, *half, job);
        if !factors.add::<L>(model, decoded, sums) {
            return false;
        }
    }
    true
}

/// A and B as f32.
struct FusedFactors {
    /// The elements of A as in registers: parts of k, each with 16 rows of `chunk` elements.
    a: [f32; ROWS * DEEP],
    /// The rows of B, by k.
    b: [[f32; WIDE]; DEEP],
    k: usize,
    chunk: usize,
}

impl FusedFactors {
    /// `half`: only these two elements of the four of each register.
    #[inline(always)]
    fn decode<L: Level>(&mut self, formats: [Format; 2], half: Option<u32>, job: &Job<'_>) {
        match (formats[0], half) {
            (Format::F16, _) => self.fill::<L, _>([&F16; 2], job),
            (Format::Bf16, _) => self.fill::<L, _>([&Bf16; 2], job),
            (Format::Tf32, _) => self.fill::<L, _>([&Tf32; 2], job),
            (_, Some(first)) => self.fill::<L, _>(formats.map(|f| Two(f.values(), first)).each_ref(), job),
            _ => self.fill::<L, _>(formats.map(|f| Four(f.values())).each_ref(), job),
        }
    }

    #[inline(always)]
    fn fill<L: Level, E: DirectElements>(&mut self, [of_a, of_b]: [&E; 2], job: &Job<'_>) {
        (self.k, self.chunk) = (4 * E::PER * job.b.n, 4 * E::PER);
        for (register, to) in job.a.each().iter().zip(self.a.chunks_exact_mut(32 * E::PER)) {
            rows::<L, E>(of_a, register, to);
        }
        for (register, to) in job.b.each().iter().zip(self.b.chunks_exact_mut(4 * E::PER)) {
            columns::<L, E>(of_b, register, to);
        }
    }

    /// Elements of `HIGH` rows in a part of k.
    #[inline(always)]
    fn rows(&self, block: usize, part: usize) -> [&[f32]; HIGH] {
        let chunk = self.chunk;
        let rows = &self.a[(part * ROWS + block * HIGH) * chunk..][..HIGH * chunk];
        let (low, high) = rows.split_at(2 * chunk);
        let ((a, b), (c, d)) = (low.split_at(chunk), high.split_at(chunk));
        [a, b, c, d]
    }

    /// Adds the products of all blocks, each by [`add`].
    #[inline(always)]
    fn add<L: Level>(&self, model: Model, formats: [Format; 2], sums: &mut Floats) -> bool {
        let finite = sums.as_flattened().iter().fold(true, |all, c| all & c.is_finite());
        let mut range = (i32::MAX, i32::MIN);
        let (mut a, mut b) = ([0; ROWS * DEEP], [[0; WIDE]; DEEP]);
        let least = formats.map(least_exponent);
        measure(&self.a[..ROWS * self.k], least[0], &mut a, &mut range);
        measure(self.b[..self.k].as_flattened(), least[1], b.as_flattened_mut(), &mut range);
        if !finite || range.0 < (*NARROW.start()).into() || range.1 > (*NARROW.end()).into() {
            return false;
        }
        let of_step = model.step.min(self.k) / self.chunk;
        for from in (0..self.k / self.chunk).step_by(of_step.max(1)) {
            for block in 0..ROWS / HIGH {
                let parts = from..from + of_step.max(1);
                self.step::<L>(model, (&a, &b), (block, parts), &mut sums[block * HIGH..][..HIGH]);
            }
        }
        true
    }

    /// Computes one step of a tensor core, for some rows.
    #[inline(always)]
    fn step<L: Level>(
        &self,
        model: Model,
        (of_a, of_b): (&[i32; ROWS * DEEP], &[[i32; WIDE]; DEEP]),
        (block, parts): (usize, std::ops::Range<usize>),
        c: &mut [[f32; WIDE]],
    ) {
        let (chunk, mut top) = (self.chunk, [[0; WIDE]; HIGH]);
        for (top, c) in top.iter_mut().zip(&*c) {
            top.iter_mut().zip(c).for_each(|(top, c)| *top = exponent(*c, model.least()).into());
        }
        for part in parts.clone() {
            let a = &of_a[(part * ROWS + block * HIGH) * chunk..][..HIGH * chunk];
            for (j, b) in of_b[part * chunk..][..chunk].iter().enumerate() {
                for (r, top) in top.iter_mut().enumerate() {
                    *top = L::raise_words(top, a[r * chunk + j], b);
                }
            }
        }
        let mut units = [[0.0; WIDE]; HIGH];
        for (unit, top) in units.as_flattened_mut().iter_mut().zip(top.as_flattened_mut()) {
            *top = (*top).max(LEAST.into());
            *unit = f32::from_bits(((i32::from(model.fraction) - *top + 127).clamp(1, 254) as u32) << 23);
        }
        let mut sums = [[0i32; WIDE]; HIGH];
        for part in parts {
            let a = self.rows(block, part);
            for (j, b) in self.b[part * chunk..][..chunk].iter().enumerate() {
                for r in 0..HIGH {
                    let (a, mut terms) = (a[r][j], [0.0; WIDE]);
                    for n in 0..WIDE {
                        terms[n] = a * b[n] * units[r][n];
                    }
                    let terms = L::truncate(&terms);
                    for n in 0..WIDE {
                        sums[r][n] = sums[r][n].wrapping_add(terms[n]);
                    }
                }
            }
        }
        for ((c, sums), top) in c.iter_mut().zip(&sums).zip(&top) {
            let mut total = [0.0; WIDE];
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total = f64::from(*sum));
            *c = finish(model, true, &total, top, c);
        }
    }
}

/// The exponents of numbers, and the least and the greatest of those that are no zeros.
#[inline(always)]
fn measure(values: &[f32], least: i16, exponents: &mut [i32], range: &mut (i32, i32)) {
    for (to, value) in exponents.iter_mut().zip(values) {
        let e = i32::from(exponent(*value, least));
        *range = (range.0.min(if *value == 0.0 { 0 } else { e }), range.1.max(e));
        *to = e;
    }
}
