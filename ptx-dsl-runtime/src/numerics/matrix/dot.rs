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
use crate::numerics::lanes::{Level, array};
use crate::numerics::simd::{InstructionSet, dispatch};

/// Columns of B worked on at once.
pub(crate) const WIDE: usize = 8;
/// Rows of A worked on at once.
pub(crate) const HIGH: usize = 4;
/// Sums of products: a row of A, a column of B.
pub(crate) type Sums<T = f32> = [[T; WIDE]; HIGH];

/// Terms whose sum fits into an i32.
const TERMS: usize = 16;
/// The least E, below the subnormals of f32: an H200 drops bits below 2^(-133 - F). That shows only where nearly all cancels.
pub(crate) const LEAST: i16 = -133;
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

    /// Whether an operand holds an infinity or a NaN.
    #[inline(always)]
    fn has_special(&self, c: &[f32]) -> bool {
        self.a.range == Range::Special || self.b.range == Range::Special || !c.iter().all(|c| c.is_finite())
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
    return dispatch!(set, [level::<crate::numerics::lanes::Avx512>, level::<crate::numerics::lanes::Avx2>, level::<crate::numerics::lanes::Base>],
        (model: Model = model, o: &Operands<'_> = o, at: (usize, usize) = at, c: &Sums = c) -> Sums);
    #[cfg(not(target_arch = "x86_64"))]
    dispatch!(set, level::<crate::numerics::lanes::Base>,
        (model: Model = model, o: &Operands<'_> = o, at: (usize, usize) = at, c: &Sums = c) -> Sums)
}

#[inline(always)]
fn level<L: Level>(model: Model, o: &Operands<'_>, at: (usize, usize), c: &Sums) -> Sums {
    let mut sums = *c;
    let (k, step) = (o.a.k, model.step.max(1));
    let mut from = 0;
    while from < k {
        let to = k.min(from.saturating_add(step));
        let narrow = o.a.range == Range::Narrow && o.b.range == Range::Narrow;
        if o.positions.is_none() && o.scales.is_none() {
            sums = if narrow {
                dense::<L, f32>(model, o, at, from..to, &sums)
            } else {
                dense::<L, f64>(model, o, at, from..to, &sums)
            };
        } else {
            for (r, c) in sums.iter_mut().enumerate() {
                *c = if narrow {
                    row::<L, f32>(model, o, at, (r, from..to), c)
                } else {
                    row::<L, f64>(model, o, at, (r, from..to), c)
                };
            }
        }
        from = to;
    }
    sums
}

/// A type in which products are exact.
trait Product: Copy + Default {
    /// Nonzero sums of products are no subnormal numbers of f32.
    const NARROW: bool;
    fn of(value: f32) -> Self;
    /// 2 to this power, or the nearest that there is.
    fn power(e: i32) -> Self;
    fn times(self, other: Self) -> Self;
    /// The integer part.
    fn truncated<L: Level>(values: &[Self; WIDE]) -> [i32; WIDE];
}

impl Product for f32 {
    // exponents of products are -100 at least, and F is 25 at most
    const NARROW: bool = true;
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
    const NARROW: bool = false;
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

/// All rows of one step, without positions and scale factors: the rows share what is loaded of B.
#[inline(always)]
fn dense<L: Level, P: Product>(
    model: Model,
    o: &Operands<'_>,
    (row, column): (usize, usize),
    ks: std::ops::Range<usize>,
    c: &Sums,
) -> Sums {
    // each row by itself: LLVM does not vectorise maps of arrays of arrays
    let least = model.least();
    let mut top = [[0i16; WIDE]; HIGH];
    for (top, c) in top.iter_mut().zip(c) {
        *top = c.map(|c| exponent(c, least));
    }
    let (ea, eb) = (&o.a.exponents(row)[ks.clone()], &o.b.exponents(column)[ks.clone()]);
    for (ea, eb) in ea.iter().zip(eb) {
        for (top, ea) in top.iter_mut().zip(ea) {
            *top = L::raise(top, *ea, eb);
        }
    }
    let mut units = [[P::of(0.0); WIDE]; HIGH];
    for (units, top) in units.iter_mut().zip(&mut top) {
        *top = top.map(|e| e.max(LEAST));
        *units = top.map(|e| P::power(i32::from(model.fraction) - i32::from(e)));
    }
    let (a, b) = (&o.a.group(row)[ks.clone()], &o.b.group(column)[ks.clone()]);
    let mut total = [[0f64; WIDE]; HIGH];
    for (a, b) in a.chunks(TERMS).zip(b.chunks(TERMS)) {
        let mut sums = [[0i32; WIDE]; HIGH];
        for (a, b) in a.iter().zip(b) {
            let b = b.map(P::of);
            for ((sums, a), units) in sums.iter_mut().zip(a).zip(&units) {
                let a = P::of(*a);
                let terms: [P; WIDE] = array(|n| a.times(b[n]).times(units[n]));
                for (sum, term) in sums.iter_mut().zip(P::truncated::<L>(&terms)) {
                    *sum = sum.wrapping_add(term);
                }
            }
        }
        for (total, sums) in total.iter_mut().zip(&sums) {
            total.iter_mut().zip(sums).for_each(|(t, s)| *t += f64::from(*s));
        }
    }
    let mut out = *c;
    for (r, out) in out.iter_mut().enumerate() {
        *out = finish(model, P::NARROW, &total[r], &top[r].map(i32::from), &c[r]);
    }
    if o.has_special(c.as_flattened()) {
        for (r, (out, c)) in out.iter_mut().zip(c).enumerate() {
            let step = RowTerms { model, o, row, column, r };
            step.special(ks.clone(), c, &|k| k, out);
        }
    }
    out
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
    let step = RowTerms { model, o, row, column, r };
    match o.positions(row) {
        None => step.sums::<L, P>(ks, c, |k| k),
        Some(positions) => step.sums::<L, P>(ks, c, |k| positions[k][r] as usize),
    }
}

/// The terms of a row and `WIDE` columns.
#[derive(Clone, Copy)]
struct RowTerms<'a> {
    model: Model,
    o: &'a Operands<'a>,
    row: usize,
    column: usize,
    r: usize,
}

impl RowTerms<'_> {
    /// `place` is the k in B of an element of A.
    #[inline(always)]
    fn sums<L: Level, P: Product>(
        self,
        ks: std::ops::Range<usize>,
        c: &[f32; WIDE],
        place: impl Fn(usize) -> usize,
    ) -> [f32; WIDE] {
        let RowTerms { model, o, row, column, r } = self;
        let least = model.least();
        let mut top = c.map(|c| exponent(c, least));
        let mut no_number = [false; WIDE];
        let all = [ks.clone()];
        let blocks = o.scales.map(|s| self.blocks(s, ks.clone()));
        let blocks: &[_] = blocks.as_deref().unwrap_or(&all);
        for ks in blocks {
            let (scale, most) = (self.scale(ks.start), self.greatest::<L>(ks.clone(), &place));
            for n in 0..WIDE {
                top[n] = top[n].max(most[n] + scale[n]);
                no_number[n] |= scale[n] >= NAN_SCALE;
            }
        }
        let top = top.map(|e| e.max(LEAST));
        let mut total = [0f64; WIDE];
        let (a, b) = (o.a.group(row), o.b.group(column));
        if ks.end > a.len() || ks.end > b.len() {
            // the compiler sees that the loops stay inside
            return *c;
        }
        for ks in blocks {
            let scale = self.scale(ks.start);
            let units: [P; WIDE] =
                array(|n| P::power(i32::from(model.fraction) - i32::from(top[n]) + i32::from(scale[n])));
            let mut from = ks.start;
            while from < ks.end {
                let to = ks.end.min(from + TERMS);
                let mut sums = [0i32; WIDE];
                for (k, a) in (from..to).zip(&a[from..to]) {
                    let (a, b) = (P::of(a[r]), &b[place(k)]);
                    let terms: [P; WIDE] = array(|n| a.times(P::of(b[n])).times(units[n]));
                    let terms = P::truncated::<L>(&terms);
                    for (sum, term) in sums.iter_mut().zip(terms) {
                        *sum = sum.wrapping_add(term);
                    }
                }
                total.iter_mut().zip(sums).for_each(|(t, s)| *t += f64::from(s));
                from = to;
            }
        }
        let mut out = finish(model, P::NARROW, &total, &top.map(i32::from), c);
        if o.has_special(c) {
            self.special(ks.clone(), c, &place, &mut out);
        }
        if o.scales.is_some() {
            out.iter_mut().zip(no_number).filter(|(_, nan)| *nan).for_each(|(out, _)| *out = NAN);
        }
        out
    }

    /// Sums with infinities and NaNs.
    #[cold]
    fn special(
        self,
        ks: std::ops::Range<usize>,
        c: &[f32; WIDE],
        place: &dyn Fn(usize) -> usize,
        out: &mut [f32; WIDE],
    ) {
        let (a, b) = (self.o.a.group(self.row), self.o.b.group(self.column));
        for n in 0..WIDE {
            let products = ks.clone().map(|k| f64::from(a[k][self.r]) * f64::from(b[place(k)][n]));
            let sum = products.sum::<f64>() + f64::from(c[n]);
            if !sum.is_finite() {
                out[n] = if sum.is_nan() { NAN } else { sum as f32 };
            }
        }
    }

    /// The greatest exponents of products, without those of scale factors.
    #[inline(always)]
    fn greatest<L: Level>(self, ks: std::ops::Range<usize>, place: impl Fn(usize) -> usize) -> [i16; WIDE] {
        let (ea, eb) = (self.o.a.exponents(self.row), self.o.b.exponents(self.column));
        let mut most = [2 * ZERO; WIDE];
        for (k, ea) in ks.clone().zip(&ea[ks]) {
            let (ea, eb) = (ea[self.r], &eb[place(k)]);
            most = L::raise(&most, ea, eb);
        }
        most
    }

    /// The parts of k that have scale factors of their own.
    fn blocks(self, scales: Scales<'_>, ks: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
        let each = self.o.a.k / scales.vector;
        let all = ks.start / each..ks.end.div_ceil(each);
        all.map(|i| (i * each).max(ks.start)..((i + 1) * each).min(ks.end)).collect()
    }

    /// The exponents of the scale factors at a k.
    #[inline(always)]
    fn scale(self, k: usize) -> [i16; WIDE] {
        let Some(Scales { a, b, vector }) = self.o.scales else { return [0; WIDE] };
        let i = k * vector / self.o.a.k;
        array(|n| a[self.row * HIGH + self.r][i] + b[self.column * WIDE + n][i])
    }
}

/// Adds C to exact sums of multiples of 2^(top - F), and rounds.
#[inline(always)]
pub(crate) fn finish(
    model: Model,
    narrow: bool,
    total: &[f64; WIDE],
    top: &[i32; WIDE],
    c: &[f32; WIDE],
) -> [f32; WIDE] {
    let fraction = i32::from(model.fraction);
    let sums: [f64; WIDE] = array(|n| {
        let up = f64::power(fraction - top[n]);
        let down = f64::power(top[n] - fraction);
        (total[n] + (f64::from(c[n]) * up).trunc()) * down
    });
    // one loop for each, without branches
    match model.to {
        // without a product the sum is C, which has no more bits
        To::F32 if narrow => sums.map(|sum| f64::from_bits(sum.to_bits() & (u64::MAX << 29)) as f32 + 0.0),
        To::F32 => sums.map(cut::<29>),
        To::F32Of13 => sums.map(cut::<39>),
        To::F16 => sums.map(nearest_half),
    }
}

/// Rounds a sum of at most 53 bits to f32, towards zero, without its last fraction bits. A zero is positive.
#[inline(always)]
pub(crate) fn cut<const DROPPED: i32>(sum: f64) -> f32 {
    let bits = sum.to_bits();
    // below the least normal number the last bit that counts is that of all subnormals
    let (scale, back) = (f64::power(178 - DROPPED), f64::power(DROPPED - 178));
    let subnormal = ((sum * scale).trunc() * back) as f32;
    let normal = f64::from_bits(bits & (u64::MAX << DROPPED)) as f32;
    (if sum.abs() < f64::from(f32::MIN_POSITIVE) { subnormal } else { normal }) + 0.0
}

/// Rounds a sum to the nearest f16.
#[inline(always)]
fn nearest_half(sum: f64) -> f32 {
    // to f32, with the last bit set if something is left, so that rounding again rounds right
    let bits = sum.to_bits();
    let kept = f64::from_bits(bits & (u64::MAX << 29)) as f32;
    let odd = u32::from(bits & (u64::MAX >> 35) != 0);
    half(f32::from_bits(kept.to_bits() | odd)) + 0.0
}

/// A NaN as the one of tensor cores.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> f32 {
    if value.is_nan() { NAN } else { value }
}

/// A number as the nearest f16.
#[inline(always)]
fn half(value: f32) -> f32 {
    crate::numerics::float16::f16_to_f32(crate::numerics::float16::f32_to_f16(value))
}

#[cfg(test)]
mod tests;
