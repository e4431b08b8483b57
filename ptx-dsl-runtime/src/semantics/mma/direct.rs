//! Products of 16 rows and dense elements of 8, 16 or 32 bits, from registers to registers: the frequent forms of `mma`.
//!
//! The same sums as those of [`dot`], without tiles. Fragments nearly have the right order: a register of A has four lanes
//! for each of its rows, and two registers of C, interleaved, are rows. Only B is transposed. [`multiply`] leaves infinities, NaNs and
//! products that f32 does not hold exactly to the tiles.

mod accumulator;
mod elements;
mod fused;
mod plain;
#[cfg(test)]
mod tests;

use super::Sources;
use super::form::MmaForm;
use crate::numerics::lanes::Words;
use crate::numerics::lanes::{Destination, Level, Source, array};
use crate::numerics::matrix::dot::{WIDE, canonical};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::model::Model;
use crate::numerics::simd::{InstructionSet, dispatch};

/// Rows of A.
const ROWS: usize = 16;
/// The most k.
const DEEP: usize = 32;
/// Terms whose sum fits into an i32.
const TERMS: usize = 16;

/// The arithmetic that adds products.
#[derive(Clone, Copy)]
pub(super) enum Sum {
    /// Fused sums, as of tensor cores.
    Fused(Model),
    /// Sums of elements of 8 bits on `sm_90`: both halves of each register as f16, one after the other, then C.
    Halves(Model),
    /// Ordinary sums of f32.
    Plain,
    /// Exact sums, which wrap or saturate.
    Integers { saturate: bool },
}

/// A product.
pub(super) struct Job<'a> {
    form: &'a MmaForm,
    a: FragmentRegisters<'a>,
    b: FragmentRegisters<'a>,
    c: FragmentRegisters<'a>,
    sum: Sum,
}

/// The registers of an operand, four at most.
struct FragmentRegisters<'a> {
    all: [&'a Words; 4],
    n: usize,
}

impl<'a> FragmentRegisters<'a> {
    /// The registers of an operand; `None` if there are more than four. `spare` has those that are not words.
    fn new(s: &[Source<'a>], spare: &mut std::slice::Iter<'a, Words>) -> Option<FragmentRegisters<'a>> {
        let mut all = [&[0; 32]; 4];
        for (i, source) in s.iter().enumerate() {
            *all.get_mut(i)? = match source {
                Source::Words(words) => words,
                Source::Lanes(_) => spare.next()?,
            };
        }
        Some(FragmentRegisters { all, n: s.len() })
    }

    #[inline(always)]
    fn each(&self) -> &[&'a Words] {
        &self.all[..self.n]
    }
}

/// The sources among the registers of A, B and C that are not words, as words.
pub(super) fn spare(s: &Sources<'_>) -> Vec<Words> {
    let all = s.a.iter().chain(s.b).chain(s.c);
    all.filter(|s| matches!(s, Source::Lanes(_))).map(|s| s.words().into_owned()).collect()
}

impl<'a> Job<'a> {
    /// The product; `None` if this file does not implement the form. `spare` is [`spare`] of the sources.
    pub fn new(form: &'a MmaForm, s: &Sources<'a>, spare: &'a [Words], sum: Sum) -> Option<Job<'a>> {
        let bits = form.formats.map(Format::bits);
        let chunk = if matches!(sum, Sum::Halves(_)) { 8 } else { chunk(form.formats[0]) };
        let of_step = if let Sum::Fused(model) = sum { model.step.min(form.k) } else { chunk };
        let dense = !form.sparse && !form.packed && form.scale.is_none() && form.m == ROWS && form.k <= DEEP;
        let simple = bits[0] == bits[1] && matches!(bits[0], 8 | 16 | 32) && form.formats[0] != Format::S1z4m11;
        let fits = form.k.is_multiple_of(chunk) && of_step.is_multiple_of(chunk) && of_step <= TERMS;
        if !(dense && simple && fits) {
            return None;
        }
        let mut spare = spare.iter();
        let mut registers = |s| FragmentRegisters::new(s, &mut spare);
        Some(Job { form, a: registers(s.a)?, b: registers(s.b)?, c: registers(s.c)?, sum })
    }
}

/// Elements that the four lanes of a row have in a register.
const fn chunk(format: Format) -> usize {
    match format.bits() {
        8 => 16,
        16 => 8,
        _ => 4,
    }
}

/// Sets D. False, with nothing done, if there are numbers of other ranges.
pub(super) fn multiply(set: InstructionSet, job: &Job<'_>, d: &mut [Destination<'_>]) -> bool {
    // processors of x86-64 without AVX2 are few
    #[cfg(target_arch = "x86_64")]
    return dispatch!(set, [level::<crate::numerics::lanes::Avx512>, level::<crate::numerics::lanes::Avx2>, nothing],
        (job: &Job<'_> = job, d: &mut [Destination<'_>] = d) -> bool);
    #[cfg(not(target_arch = "x86_64"))]
    dispatch!(set, level::<crate::numerics::lanes::Base>, (job: &Job<'_> = job, d: &mut [Destination<'_>] = d) -> bool)
}

/// Leaves the product to the tiles.
#[cfg(target_arch = "x86_64")]
fn nothing(_: &Job<'_>, _: &mut [Destination<'_>]) -> bool {
    false
}

#[inline(always)]
fn level<L: Level>(job: &Job<'_>, d: &mut [Destination<'_>]) -> bool {
    let ([of_d, of_c], mut sums) = (job.form.cells, [[0.0; WIDE]; ROWS]);
    let c = |r| accumulator::load(of_c, &job.c.all, r);
    if let Sum::Fused(_) = job.sum {
        for (r, sums) in sums.iter_mut().enumerate() {
            *sums = accumulator::floats(of_c, &c(r));
        }
    }
    // one call of each function: one that is not inlined would not have the instruction set, and call every instruction
    match job.sum {
        Sum::Plain | Sum::Integers { .. } => plain::add::<L>(job, &mut sums),
        Sum::Fused(model) | Sum::Halves(model) => {
            if !fused::add::<L>(job, model, &mut sums) {
                return false;
            }
        }
    }
    if let Sum::Integers { saturate } = job.sum {
        accumulator::store(of_d, d, |r| {
            let c = c(r);
            array(|n| {
                let (old, sum) = (c[n] as i32, sums[r][n] as i32);
                if saturate { old.saturating_add(sum) as u32 } else { old.wrapping_add(sum) as u32 }
            })
        });
        return true;
    }
    if let Sum::Plain | Sum::Halves(_) = job.sum {
        for (r, sums) in sums.iter_mut().enumerate() {
            let c = accumulator::floats(of_c, &c(r));
            *sums = array(|n| canonical(c[n] + sums[n]));
        }
    }
    accumulator::store_floats(of_d, d, &sums);
    true
}

/// Sums, in each row the even columns first.
type Floats = [[f32; WIDE]; ROWS];
