//! Bounds on the distance of numbers, and the first numbers that are farther apart.

use super::watched::Contents;
use crate::numerics::float16::{bf16_to_f32, f16_to_f32};
use std::ops::Range;

/// How far the elements of a buffer may be apart on two devices: by `bound`, or by `bound` times the larger magnitude. Equal bits and two
/// NaNs always agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub(super) number: Number,
    bound: f64,
}

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    F16,
    Bf16,
    F32,
    F64,
}

impl Bound {
    /// Sets the bound of `half::f16`, elements of 16 bits.
    pub fn f16(bound: f64) -> Self {
        Bound { number: Number::F16, bound }
    }

    /// Sets the bound of `half::bf16`, elements of 16 bits.
    pub fn bf16(bound: f64) -> Self {
        Bound { number: Number::Bf16, bound }
    }

    /// For elements of 32 bits.
    pub fn f32(bound: f64) -> Self {
        Bound { number: Number::F32, bound }
    }

    /// For elements of 64 bits.
    pub fn f64(bound: f64) -> Self {
        Bound { number: Number::F64, bound }
    }

    fn accepts(self, one: &[u8], other: &[u8]) -> bool {
        let (Some(a), Some(b)) = (self.number.of(one), self.number.of(other)) else { return false };
        // an infinity is at no distance from a finite number that a bound could allow
        let is_near = a.is_finite() && b.is_finite() && (a - b).abs() <= self.bound * a.abs().max(b.abs()).max(1.0);
        one == other || (a.is_nan() && b.is_nan()) || is_near
    }
}

impl Number {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Number::F16 | Number::Bf16 => 2,
            Number::F32 => 4,
            Number::F64 => 8,
        }
    }

    /// The number with these bytes, if there are as many as it has.
    pub fn of(self, bytes: &[u8]) -> Option<f64> {
        let half = |bytes: &[u8]| bytes.try_into().ok().map(u16::from_le_bytes);
        match self {
            Number::F16 => half(bytes).map(|bits| f64::from(f16_to_f32(bits))),
            Number::Bf16 => half(bytes).map(|bits| f64::from(bf16_to_f32(bits))),
            Number::F32 => bytes.try_into().ok().map(|bytes| f64::from(f32::from_le_bytes(bytes))),
            Number::F64 => bytes.try_into().ok().map(f64::from_le_bytes),
        }
    }
}

/// The element in which two buffers differ.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The number of the first element that differs.
    pub index: usize,
    /// The bytes of the element in the buffer.
    pub bytes: Range<usize>,
    /// How many elements differ, and how many there are.
    pub count: (usize, usize),
    /// The type of the elements, if a bound says it.
    pub number: Option<Number>,
}

/// The first element that differs, if one does.
pub(super) fn first_difference(one: &Contents, other: &Contents, bound: Option<Bound>) -> Option<Found> {
    if one.bytes == other.bytes {
        return None;
    }
    let size = bound.map_or(one.element, |bound| bound.number.bytes());
    let differs = |(a, b): (&[u8], &[u8])| !bound.map_or(a == b, |bound| bound.accepts(a, b));
    let pairs = || one.bytes.chunks(size).zip(other.bytes.chunks(size));
    let index = pairs().position(differs)?;
    let all = pairs().count();
    let count = (pairs().filter(|pair| differs(*pair)).count(), all);
    let bytes = index * size..((index + 1) * size).min(one.bytes.len());
    Some(Found { index, bytes, count, number: bound.map(|bound| bound.number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_absolute_below_one_and_relative_above() {
        let accepts = |a: f32, b: f32| Bound::f32(0.01).accepts(&a.to_le_bytes(), &b.to_le_bytes());
        assert!(accepts(0.0, 0.009) && !accepts(0.0, 0.011));
        assert!(accepts(1000.0, 1009.0) && !accepts(1000.0, 1011.0) && !accepts(-1000.0, 1000.0));
        assert!(accepts(f32::NAN, -f32::NAN) && !accepts(f32::NAN, 0.0));
        assert!(accepts(f32::INFINITY, f32::INFINITY) && !accepts(f32::INFINITY, f32::MAX));
        assert!(!Bound::f64(1e9).accepts(&[0; 4], &[1; 4]), "no number has half of its bytes");
        let accepts = |a: u16, b: u16| Bound::f16(0.01).accepts(&a.to_le_bytes(), &b.to_le_bytes());
        assert!(accepts(0x3c00, 0x3c01) && !accepts(0x3c00, 0x3d00), "1 and its neighbour; 1 and 1.25");
    }

    #[test]
    fn the_first_difference_is_counted_in_elements() {
        let contents = |bytes| Contents { name: "x".to_owned(), argument: 0, element: 4, bytes, start: 0 };
        let (one, mut other) = (contents(vec![0; 18]), contents(vec![0; 18]));
        assert!(first_difference(&one, &other, None).is_none());
        (other.bytes[9], other.bytes[17]) = (1, 1);
        let found = first_difference(&one, &other, None).unwrap();
        assert_eq!((found.index, found.bytes, found.count), (2, 8..12, (2, 5)));
    }
}
