//! Block scaling: scale factors, and sums of 4-bit elements.

use super::dot::{HIGH, NAN_SCALE, Operands, Sums, WIDE};
use super::format::Format;
use super::model::least_exponent;
use super::plain;
use super::tile::exponent;
use crate::numerics::lanes::Source;
use crate::numerics::qual::{Q, q};

/// The scale factors of a row or column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The number of scale factors.
    pub vector: usize,
    pub format: Format,
}

impl Scale {
    /// The scaling of an `mma`.
    pub fn of(q: Q) -> Option<Scale> {
        let vector = if q.has(q::scale_vec_4X) {
            4
        } else if q.has(q::scale_vec_2X) || q.has(q::kind_mxf4) {
            2
        } else {
            1
        };
        let format = if q.has(q::ue4m3) { Format::Ue4m3 } else { Format::Ue8m0 };
        q.has(q::block_scale).then_some(Scale { vector, format })
    }
}

/// Factors of the rows of A and the columns of B, in ascending k.
#[derive(Debug, Clone)]
pub(crate) struct ScaleFactors {
    pub vector: usize,
    /// The exponents of the factors as stored.
    pub exponents: [Vec<[i16; 8]>; 2],
    /// The significands of the factors, in [0, 2).
    significands: [Vec<[f64; 8]>; 2],
}

/// Bits of a 4-bit product's sum that are kept below the greatest exponent.
const FRACTION: i32 = 35;
/// Elements whose products are added exactly.
const GROUP: usize = 16;

impl ScaleFactors {
    /// The factors of 16 rows and eight columns: `values(side, line, i)`.
    pub fn new(scale: Scale, lines: [usize; 2], values: impl Fn(usize, usize, usize) -> f32) -> ScaleFactors {
        let least = least_exponent(scale.format);
        let of = |side: usize| -> (Vec<[i16; 8]>, Vec<[f64; 8]>) {
            let line = |line: usize| {
                let (mut exponents, mut significands) = ([0; 8], [0.0; 8]);
                for i in 0..scale.vector.min(8) {
                    let value = values(side, line, i);
                    let e = if scale.format == Format::Ue8m0 && value != 0.0 {
                        // 2^-127 is a subnormal f32
                        if value < f32::MIN_POSITIVE { -127 } else { exponent(value, -127) }
                    } else {
                        exponent(value, least)
                    };
                    exponents[i] = if value.is_nan() { NAN_SCALE } else { e };
                    significands[i] = if value == 0.0 { 0.0 } else { f64::from(value) * 2f64.powi(-i32::from(e)) };
                }
                (exponents, significands)
            };
            (0..lines[side]).map(line).unzip()
        };
        let [a, b] = [of(0), of(1)];
        ScaleFactors { vector: scale.vector, exponents: [a.0, b.0], significands: [a.1, b.1] }
    }

    /// Factor `i` of a line.
    fn value(&self, side: usize, line: usize, i: usize) -> f64 {
        let e = self.exponents[side][line][i];
        if e >= NAN_SCALE { f64::NAN } else { self.significands[side][line][i] * 2f64.powi(e.into()) }
    }

    /// Gathers the factors from the operands of an `mma`: a register with the factors of A, its byte selector and its thread
    /// selector, then the three operands of B. The factors of A are in a pair of lanes of each four, for rows *g* and *g* + 8;
    /// those of B in one.
    pub fn of_registers(scale: Scale, s: &[Source<'_>]) -> ScaleFactors {
        let operand = |i: usize, lane: usize| s.get(i).map_or(0, |v| v.lane(lane));
        let values = scale.format.values();
        ScaleFactors::new(scale, [16, 8], |side, line, i| {
            let [byte, thread] = [1, 2].map(|n| operand(3 * side + n, 0) as usize);
            let lane = line % 8 * 4 + if side == 0 { thread % 2 * 2 + line / 8 } else { thread % 4 };
            values[operand(3 * side, lane).to_le_bytes()[(byte + i) % 4] as usize]
        })
    }
}

/// A block of a product of 4-bit elements: sixteen products are added exactly and multiplied by both factors. Such terms, with the
/// exponents of the factors, and C are added as in [`dot`](super::dot).
pub(crate) fn block(o: &Operands<'_>, factors: &ScaleFactors, (row, column): (usize, usize), c: &Sums) -> Sums {
    let group = (o.a.k / (o.a.k / GROUP).max(1)).max(1);
    let groups = o.a.k / group;
    let terms: Vec<Sums> = (0..groups).map(|g| part(o, (row, column), g * group..(g + 1) * group)).collect();
    let mut out = *c;
    for (r, out) in out.iter_mut().enumerate() {
        for (n, out) in out.iter_mut().enumerate() {
            let factor = |side: usize, g: usize| {
                let (line, i) = ([row * HIGH + r, column * WIDE + n][side], g * factors.vector / groups);
                (i32::from(factors.exponents[side][line][i]), factors.significands[side][line][i])
            };
            let scales: Vec<(i32, f64)> = (0..groups)
                .map(|g| {
                    let [(ea, a), (eb, b)] = [factor(0, g), factor(1, g)];
                    (ea + eb, a * b)
                })
                .collect();
            let sums = terms.iter().map(|t| f64::from(t[r][n]));
            *out = sum(scales, sums, *out);
        }
    }
    out
}

/// A block-scaled product in f32: the sum of each scale factor's elements, times both factors.
pub(crate) fn plain(o: &Operands<'_>, factors: &ScaleFactors, (row, column): (usize, usize)) -> Sums {
    let each = o.a.k / factors.vector.max(1);
    let mut out = Sums::default();
    for i in 0..factors.vector {
        let sums = part(o, (row, column), i * each..(i + 1) * each);
        for (r, out) in out.iter_mut().enumerate() {
            for (n, out) in out.iter_mut().enumerate() {
                let factor = |side: usize| factors.value(side, [row * HIGH + r, column * WIDE + n][side], i);
                *out += (f64::from(sums[r][n]) * factor(0) * factor(1)) as f32;
            }
        }
    }
    out
}

/// The sum of terms with the exponents and significands of their factors, and C.
fn sum(scales: Vec<(i32, f64)>, sums: impl Iterator<Item = f64>, c: f32) -> f32 {
    if c.is_nan() || scales.iter().any(|s| s.0 >= i32::from(NAN_SCALE)) {
        return f32::from_bits(0x7fff_ffff);
    }
    if c.is_infinite() {
        return c;
    }
    let least = -300;
    let top = scales.iter().map(|s| s.0).chain([exponent(c, -126).into()]).max().unwrap_or(least).max(least);
    let term = |value: f64, e: i32| (value * 2f64.powi(FRACTION + e - top)).trunc();
    let own = (f64::from(c) * 2f64.powi(FRACTION - top)).trunc();
    let total: f64 = scales.iter().zip(sums).map(|((e, factor), sum)| term(sum * factor, *e)).sum::<f64>() + own;
    super::dot::cut::<29>(total * 2f64.powi(top - FRACTION))
}

/// Exact sums of some k.
fn part(o: &Operands<'_>, (row, column): (usize, usize), ks: std::ops::Range<usize>) -> Sums {
    let (a, b) = (&o.a.group(row)[ks.clone()], o.b.group(column));
    match o.positions(row) {
        Some(positions) => plain::sparse(a, &positions[ks], b),
        None => plain::dense(a, &b[ks]),
    }
}
