//! Fused dot products with truncation: what a tensor core computes, bit for bit.
//!
//! The exponent of a product is the sum of the exponents of its factors as stored, so its significand is in [0, 4). Let E be the
//! greatest exponent of the products and of C; zeros do not count. Every term is truncated towards zero to a multiple of 2^(E - F), F
//! the [`Model`]'s fraction, and all are added exactly. The sum is rounded once.
//!
//! A product of f32 (f64 if exponents are extreme), times 2^(F - E), is exact; its integer part is below 2^27. Sixteen of them fit into
//! an i32.

use super::model::{Model, To};
use super::tile::{Range, Tile, ZERO, exponent};
use crate::lanes::Level;
use crate::simd::{InstructionSet, dispatch};

/// Columns of B worked on at once.
pub(crate) const WIDE: usize = 8;
/// Rows of A worked on at once.
pub(crate) const HIGH: usize = 4;
/// Sums of products: a row of A, a column of B.
pub(crate) type Sums<T = f32> = [[T; WIDE]; HIGH];

/// Terms whose sum fits into an i32.
const TERMS: usize = 16;
/// The least E, below the subnormals of f32: an H200 drops bits below 2^(-133 - F). That shows only where nearly all cancels.
const LEAST: i16 = -133;
/// The NaN of tensor cores; f16 has 0x7fff.
const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// The matrices of a product.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    /// Measured.
    pub a: &'a Tile<HIGH>,
    pub b: &'a Tile<WIDE>,
    /// The k of each stored element of a sparse A, in the order of the tile.
    pub positions: Option<&'a [[u8; HIGH]]>,
    pub scales: Option<Scales<'a>>,
}

/// Exponents of the scale factors of the rows of A and the columns of B: so many for blocks of k in ascending order.
#[derive(Clone, Copy)]
pub(crate) struct Scales<'a> {
    pub vector: usize,
    pub a: &'a [[i16; 8]],
    pub b: &'a [[i16; 8]],
}

/// The exponent of a scale factor that is NaN.
pub(crate) const NAN_SCALE: i16 = 8192;

impl<'a> Operands<'a> {
    pub fn dense(a: &'a Tile<HIGH>, b: &'a Tile<WIDE>) -> Self {
        Operands { a, b, positions: None, scales: None }
    }

    /// Positions of `HIGH` rows.
    #[inline(always)]
    pub fn positions(&self, row: usize) -> Option<&'a [[u8; HIGH]]> {
        self.positions.map(|p| &p[row * self.a.k..(row + 1) * self.a.k])
    }
}

/// `HIGH` rows and `WIDE` columns of the product, plus C.
#[inline]
pub(crate) fn block(set: InstructionSet, model: Model, o: &Operands<'_>, at: (usize, usize), c: &Sums) -> Sums {
    #[cfg(target_arch = "x86_64")]
    return dispatch!(set, [level::<crate::lanes::Avx512>, level::<crate::lanes::Avx2>, level::<crate::lanes::Base>],
        (model: Model = model, o: &Operands<'_> = o, at: (usize, usize) = at, c: &Sums = c) -> Sums);
    #[cfg(not(target_arch = "x86_64"))]
    dispatch!(set, level::<crate::lanes::Base>,
        (model: Model = model, o: &Operands<'_> = o, at: (usize, usize) = at, c: &Sums = c) -> Sums)
}

#[inline(always)]
fn level<L: Level>(model: Model, o: &Operands<'_>, at: (usize, usize), c: &Sums) -> Sums {
    let mut sums = *c;
    let (k, step) = (o.a.k, model.step.max(1));
    let mut from = 0;
    while from < k {
        let to = k.min(from.saturating_add(step));
        for (r, c) in sums.iter_mut().enumerate() {
            *c = if o.a.range == Range::Narrow && o.b.range == Range::Narrow {
                row::<L, f32>(model, o, at, (r, from..to), c)
            } else {
                row::<L, f64>(model, o, at, (r, from..to), c)
            };
        }
        from = to;
    }
    sums
}

/// A type in which products are exact.
trait Product: Copy {
    fn of(value: f32) -> Self;
    /// 2 to this power, or the nearest that there is.
    fn power(e: i32) -> Self;
    fn times(self, other: Self) -> Self;
    /// The integer part.
    fn truncated<L: Level>(values: &[Self; WIDE]) -> [i32; WIDE];
}

impl Product for f32 {
    #[inline(always)]
    fn of(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn power(e: i32) -> f32 {
        f32::from_bits(((e + 127).clamp(1, 254) as u32) << 23)
    }
    #[inline(always)]
    fn times(self, other: f32) -> f32 {
        self * other
    }
    #[inline(always)]
    fn truncated<L: Level>(values: &[f32; WIDE]) -> [i32; WIDE] {
        L::truncate(values)
    }
}

impl Product for f64 {
    #[inline(always)]
    fn of(value: f32) -> f64 {
        value.into()
    }
    #[inline(always)]
    fn power(e: i32) -> f64 {
        f64::from_bits(((e + 1023).clamp(1, 2046) as u64) << 52)
    }
    #[inline(always)]
    fn times(self, other: f64) -> f64 {
        self * other
    }
    #[inline(always)]
    fn truncated<L: Level>(values: &[f64; WIDE]) -> [i32; WIDE] {
        L::truncate_f64(values)
    }
}

/// A row and `WIDE` columns of one step.
#[inline(always)]
fn row<L: Level, P: Product>(
    model: Model,
    o: &Operands<'_>,
    (row, column): (usize, usize),
    (r, ks): (usize, std::ops::Range<usize>),
    c: &[f32; WIDE],
) -> [f32; WIDE] {
    let (a, b) = (o.a.group(row), o.b.group(column));
    let (ea, eb) = (o.a.exponents(row), o.b.exponents(column));
    let positions = o.positions(row);
    let place = |k: usize| positions.map_or(k, |p| p[k][r] as usize);
    let least = if model.to == To::F16 { -14 } else { -126 };
    let mut top = c.map(|c| exponent(c, least));
    let mut raise = |ks: std::ops::Range<usize>, scale: &[i16; WIDE]| {
        let mut most = [2 * ZERO; WIDE];
        for k in ks {
            let (ea, eb) = (ea[k][r], &eb[place(k)]);
            for (most, eb) in most.iter_mut().zip(eb) {
                *most = (*most).max(ea + eb);
            }
        }
        for n in 0..WIDE {
            top[n] = top[n].max(most[n] + scale[n]);
        }
    };
    let vector = o.scales.map_or(1, |s| s.vector);
    let block = o.a.k / vector;
    let scale = |i: usize| -> [i16; WIDE] {
        let Some(Scales { a, b, .. }) = o.scales else { return [0; WIDE] };
        std::array::from_fn(|n| a[row * HIGH + r][i] + b[column * WIDE + n][i])
    };
    let blocks = (ks.start / block..ks.end.div_ceil(block))
        .map(|i| (i, (i * block).max(ks.start)..((i + 1) * block).min(ks.end)));
    let mut no_number = [false; WIDE];
    for (i, ks) in blocks.clone() {
        let scale = scale(i);
        raise(ks, &scale);
        no_number.iter_mut().zip(scale).for_each(|(nan, s)| *nan |= s >= NAN_SCALE);
    }
    let top = top.map(|e| e.max(LEAST));
    let mut total = [0f64; WIDE];
    for (i, ks) in blocks {
        let scale = scale(i);
        let units: [P; WIDE] =
            std::array::from_fn(|n| P::power(i32::from(model.fraction) - i32::from(top[n]) + i32::from(scale[n])));
        let mut from = ks.start;
        while from < ks.end {
            let to = ks.end.min(from + TERMS);
            let mut sums = [0i32; WIDE];
            for k in from..to {
                let (a, b) = (P::of(a[k][r]), &b[place(k)]);
                let terms: [P; WIDE] = std::array::from_fn(|n| a.times(P::of(b[n])).times(units[n]));
                let terms = P::truncated::<L>(&terms);
                for (sum, term) in sums.iter_mut().zip(terms) {
                    *sum = sum.wrapping_add(term);
                }
            }
            total.iter_mut().zip(sums).for_each(|(t, s)| *t += f64::from(s));
            from = to;
        }
    }
    let special = o.a.range == Range::Special || o.b.range == Range::Special || !c.iter().all(|c| c.is_finite());
    let mut out = finish(model, &total, &top, c);
    if special {
        for n in 0..WIDE {
            let products = ks.clone().map(|k| f64::from(a[k][r]) * f64::from(b[place(k)][n]));
            let sum = products.sum::<f64>() + f64::from(c[n]);
            if !sum.is_finite() {
                out[n] = if sum.is_nan() { NAN } else { sum as f32 };
            }
        }
    }
    if o.scales.is_some() {
        out.iter_mut().zip(no_number).filter(|(_, nan)| *nan).for_each(|(out, _)| *out = NAN);
    }
    out
}

/// Adds C to exact sums of multiples of 2^(top - F), and rounds.
#[inline(always)]
fn finish(model: Model, total: &[f64; WIDE], top: &[i16; WIDE], c: &[f32; WIDE]) -> [f32; WIDE] {
    let fraction = i32::from(model.fraction);
    std::array::from_fn(|n| {
        let up = f64::power(fraction - i32::from(top[n]));
        let down = f64::power(i32::from(top[n]) - fraction);
        let sum = (total[n] + (f64::from(c[n]) * up).trunc()) * down;
        rounded(model.to, sum)
    })
}

/// Rounds a sum of at most 53 bits. A zero is positive.
#[inline(always)]
pub(crate) fn rounded(to: To, sum: f64) -> f32 {
    let bits = sum.to_bits();
    let magnitude = bits & (u64::MAX >> 1);
    let value = match to {
        To::F32 | To::F32Of13 => {
            let dropped = if to == To::F32 { 29 } else { 39 };
            // below the least normal number the last bit that counts is that of all subnormals
            let (scale, back) = (f64::power(178 - dropped), f64::power(dropped - 178));
            if magnitude < (1023 - 126) << 52 {
                ((sum * scale).trunc() * back) as f32
            } else {
                f64::from_bits(bits & (u64::MAX << dropped)) as f32
            }
        }
        To::F16 => {
            // to f32, with the last bit set if something is left, so that rounding again rounds right
            let cut = f64::from_bits(bits & (u64::MAX << 29)) as f32;
            let odd = if bits & (u64::MAX >> 35) != 0 { 1 } else { 0 };
            half(f32::from_bits(cut.to_bits() | odd))
        }
    };
    value + 0.0
}

/// A NaN as the one of tensor cores.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> f32 {
    if value.is_nan() { NAN } else { value }
}

/// A number as the nearest f16.
#[inline(always)]
fn half(value: f32) -> f32 {
    crate::isa::float16::f16_to_f32(crate::isa::float16::f32_to_f16(value))
}

#[cfg(test)]
mod tests;
