//! The arithmetic that adds a block of a product to C: as tensor cores add, exactly, or with block scaling of 4-bit elements.

use crate::machine::Ctx;
use crate::machine::geometry::Geometry;
use crate::numerics::accumulation::Numerics;
use crate::numerics::matrix::block_scale::{self, ScaleFactors};
use crate::numerics::matrix::dot::{self, Operands, Sums};
use crate::numerics::matrix::fragment::Cells;
use crate::numerics::matrix::model::{Model, To};
use crate::numerics::matrix::plain;
use crate::numerics::simd::InstructionSet;

/// The machine that computes a product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    /// 90 for `sm_90a`.
    pub target: u32,
    pub set: InstructionSet,
    pub numerics: Numerics,
}

impl Machine {
    pub fn of(x: &Ctx<'_>) -> Machine {
        let Geometry { target, numerics, .. } = x.geometry;
        Machine { target, set: x.set, numerics }
    }
}

/// The sums of a product of numbers that f32 holds.
#[derive(Clone, Copy)]
pub(crate) enum Arithmetic<'a> {
    /// Exact sums, which wrap or saturate.
    Integers {
        saturate: bool,
    },
    Fused(Model),
    /// 4-bit elements with these scale factors.
    Scaled(&'a ScaleFactors),
    /// Ordinary sums of f32, with scale factors or without.
    Plain(Option<&'a ScaleFactors>),
}

impl Arithmetic<'_> {
    /// The format of fused sums for these D and C. An f16 D of an f32 C is converted at the end.
    pub fn to([d, c]: [Cells; 2]) -> To {
        if d == Cells::Half && c == Cells::Half { To::F16 } else { To::F32 }
    }

    /// The bits of a block of D, from those of C.
    #[inline]
    pub fn block(
        self,
        set: InstructionSet,
        operands: &Operands<'_>,
        at: (usize, usize),
        c: &Sums<u32>,
        [of_d, of_c]: [Cells; 2],
    ) -> Sums<u32> {
        let sums = match self {
            Arithmetic::Integers { saturate } => {
                let mut all = *c;
                let sums = plain::block(operands, at.0, at.1);
                for (c, sum) in all.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                    let (old, sum) = (*c as i32, *sum as i32);
                    *c = if saturate { old.saturating_add(sum) } else { old.wrapping_add(sum) } as u32;
                }
                return all;
            }
            Arithmetic::Fused(model) => dot::block(set, model, operands, at, &of_c.floats(c)),
            Arithmetic::Plain(factors) => {
                let mut all = of_c.floats(c);
                let sums = match factors {
                    Some(factors) => block_scale::plain(operands, factors, at),
                    None => plain::block(operands, at.0, at.1),
                };
                for (c, sum) in all.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                    *c = dot::canonical(*c + sum);
                }
                all
            }
            Arithmetic::Scaled(factors) => block_scale::block(operands, factors, at, &of_c.floats(c)),
        };
        of_d.bits(&sums)
    }
}
