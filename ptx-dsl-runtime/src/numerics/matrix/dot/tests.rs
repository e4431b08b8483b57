//! Fused sums against integers of unlimited size: every term as a multiple of 2^-400.

use super::*;
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::model::least_exponent;
use ptx_dsl_test_support::random::Random;

/// A number as (significand, exponent of its last bit), and its exponent as stored.
fn split(v: f32, least: i32) -> Option<(i128, i32, i32)> {
    let bits = v.to_bits();
    let (field, mantissa) = ((bits >> 23 & 255) as i32, (bits & 0x7f_ffff) as i128);
    let (m, e) = if field == 0 { (mantissa, -149) } else { (mantissa | 1 << 23, field - 150) };
    let top = 127 - m.leading_zeros() as i32 + e;
    (m != 0).then(|| (if bits >> 31 != 0 { -m } else { m }, e, top.max(least)))
}

/// m * 2^e, truncated to a multiple of 2^unit, in units of that.
fn cut(m: i128, e: i32, unit: i32) -> i128 {
    let sign = m.signum();
    let shift = e - unit;
    if shift >= 0 {
        m << shift
    } else if shift < -126 {
        0
    } else {
        sign * (m.abs() >> -shift)
    }
}

/// sum * 2^unit as f32 (with this many fraction bits, towards zero) or f16 (to nearest even), by search among all that are near.
fn round(sum: i128, unit: i32, to: To) -> f32 {
    if sum == 0 {
        return 0.0;
    }
    let top = 127 - sum.abs().leading_zeros() as i32 + unit;
    let (bits, least, most) = match to {
        To::F32 => (23, -126, 127),
        To::F32Of13 => (13, -126, 127),
        To::F16 => (10, -14, 15),
    };
    let last = top.max(least) - bits;
    let shift = last - unit;
    let magnitude = sum.abs();
    let mut units = if shift <= 0 { magnitude << -shift } else { magnitude >> shift.min(127) };
    if to == To::F16 && shift > 0 {
        let rest = magnitude - (units << shift);
        let half = 1i128 << (shift - 1);
        units += i128::from(rest > half || rest == half && units & 1 == 1);
    }
    let value = units as f64 * 2f64.powi(last);
    let value = if value >= 2f64.powi(most + 1) { f64::INFINITY } else { value };
    (if sum < 0 && value != 0.0 { -value } else { value }) as f32
}

fn reference(model: Model, a: &[f32], b: &[f32], c: f32, least: [i32; 2], scale: i32) -> f32 {
    let mut sum = c;
    for (a, b) in a.chunks(model.step.min(a.len())).zip(b.chunks(model.step.min(b.len()))) {
        let exact = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() + f64::from(sum);
        if !exact.is_finite() {
            sum = if exact.is_nan() { f32::from_bits(0x7fff_ffff) } else { exact as f32 };
            continue;
        }
        let mut terms: Vec<(i128, i32, i32)> = Vec::new();
        terms.extend(split(sum, if model.to == To::F16 { -14 } else { -126 }));
        for (a, b) in a.iter().zip(b) {
            if let (Some(a), Some(b)) = (split(*a, least[0]), split(*b, least[1])) {
                terms.push((a.0 * b.0, a.1 + b.1 + scale, a.2 + b.2 + scale));
            }
        }
        let unit = terms.iter().map(|t| t.2).max().unwrap_or(0).max(-133) - i32::from(model.fraction);
        sum = round(terms.iter().map(|t| cut(t.0, t.1, unit)).sum(), unit, model.to);
    }
    sum
}

/// A value of a format, f32 if `None`: anything, of one magnitude, or a power of two.
fn value(random: &mut Random, format: Option<Format>, style: u64) -> f32 {
    let bits = random.next() as u32;
    let v = match format {
        None => f32::from_bits((random.next() as u32) << 12 ^ bits),
        Some(Format::F16) => crate::numerics::float16::f16_to_f32(bits as u16),
        Some(Format::Bf16) => f32::from_bits(bits << 16),
        Some(Format::Tf32) => f32::from_bits(bits << 13),
        Some(small) => small.values()[bits as usize & 255],
    };
    let least = format.map_or(-126, least_exponent);
    match style {
        0 => v,
        1 if random.next().is_multiple_of(4) => 0.0,
        1 if v.is_finite() => f32::from_bits(v.to_bits() & 0x807f_ffff | (127 + (random.next() % 4) as u32) << 23),
        2 if v.is_finite() && least > -30 => v,
        2 => f32::from_bits(v.to_bits() & 0x83ff_ffff),
        _ if v.is_finite() => v,
        _ => -1.0,
    }
}

#[test]
fn sums_are_those_of_exact_integers() {
    let formats = [Format::F16, Format::Bf16, Format::Tf32, Format::E4m3, Format::E5m2, Format::E2m1];
    let models = [
        Model { fraction: 23, step: 4, to: To::F32 },
        Model { fraction: 24, step: 8, to: To::F32 },
        Model { fraction: 25, step: usize::MAX, to: To::F32 },
        Model { fraction: 13, step: usize::MAX, to: To::F32Of13 },
    ];
    let sets = [crate::numerics::simd::best(true), InstructionSet::Base];
    let r = &mut Random::new(7);
    for round in 0..400 {
        let format = formats[round % formats.len()];
        let to_f16 = matches!(format, Format::F16 | Format::E4m3 | Format::E5m2) && round % 5 == 0;
        let model = models[round % models.len()];
        let model = if to_f16 { Model { to: To::F16, ..model } } else { model };
        let k = [4, 8, 16, 32][r.below(4_usize)];
        let (mut a, mut b) = (Tile::<HIGH>::new(HIGH, k), Tile::<WIDE>::new(WIDE, k));
        let style = (round / 6 % 4) as u64;
        a.data.as_flattened_mut().iter_mut().for_each(|v| *v = value(r, Some(format), style));
        b.data.as_flattened_mut().iter_mut().for_each(|v| *v = value(r, Some(format), style));
        let mut c: Sums = Default::default();
        let of_c = if to_f16 { Some(Format::F16) } else { None };
        c.as_flattened_mut().iter_mut().for_each(|v| *v = value(r, of_c, style));
        let least = least_exponent(format);
        a.measure(least);
        b.measure(least);
        for set in sets {
            let found = block(set, model, &Operands::dense(&a, &b), (0, 0), &c);
            for row in 0..HIGH {
                for n in 0..WIDE {
                    let of_a: Vec<f32> = a.data.iter().map(|v| v[row]).collect();
                    let of_b: Vec<f32> = b.data.iter().map(|v| v[n]).collect();
                    let want = reference(model, &of_a, &of_b, c[row][n], [i32::from(least); 2], 0);
                    let found = found[row][n];
                    assert_eq!(
                        found.to_bits(),
                        want.to_bits(),
                        "{format:?} {model:?}: {of_a:?} {of_b:?} + {}: {found:e}, not {want:e}",
                        c[row][n]
                    );
                }
            }
        }
    }
}
