//! Matrix instructions of warps (PTX ISA 9.7.15): spellings and meanings. Elements are where the manual's figures show them,
//! and sums are those of tensor cores of `sm_90` (docs/model/numerics.md).

use super::program::{Class, Matrix};

/// Elements of A and B.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Element {
    /// A float with this many exponent and fraction bits.
    Float(u32, u32),
    /// Bytes with so many exponent and fraction bits. `sm_90` multiplies them as f16: the first two of each four, then the others, then C is
    /// added.
    Small(u32, u32),
    Double,
    Integer {
        bits: u32,
        a_signed: bool,
        b_signed: bool,
        saturates: bool,
    },
    /// One bit, combined by AND or XOR.
    Bit {
        and: bool,
    },
}

/// The type of C and D.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sum {
    F32,
    F16,
    F64,
    S32,
}

/// A form of `mma`.
#[derive(Debug)]
pub struct Mma {
    /// The text after `mma.sync.aligned.`
    pub text: &'static str,
    /// Rows of A, and elements of a row.
    m: usize,
    k: usize,
    /// Bits of an element of A and B.
    bits: usize,
    element: Element,
    pub sum: Sum,
}

impl Mma {
    /// Registers of A, of B, and of C and D.
    pub fn registers(&self) -> (usize, usize, usize) {
        let register = if self.element == Element::Double { 64 } else { 32 };
        let sums = if self.sum == Sum::F16 { 2 } else { 1 };
        (self.m * self.k * self.bits / register / 32, 8 * self.k * self.bits / register / 32, self.m * 8 / 32 / sums)
    }
}

/// The registers of C and D.
pub fn class(sum: Sum) -> Class {
    match sum {
        Sum::F32 => Class::F,
        Sum::F64 => Class::E,
        Sum::F16 | Sum::S32 => Class::R,
    }
}

const F16: Element = Element::Float(5, 10);
const BF16: Element = Element::Float(8, 7);
const TF32: Element = Element::Float(8, 10);
const E4M3: Element = Element::Small(4, 3);
const E5M2: Element = Element::Small(5, 2);

const fn mma(text: &'static str, [m, k]: [usize; 2], bits: usize, element: Element, sum: Sum) -> Mma {
    Mma { text, m, k, bits, element, sum }
}

const fn integer(text: &'static str, shape: [usize; 2], bits: u32, a_signed: bool, b_signed: bool) -> Mma {
    mma(text, shape, bits as usize, Element::Integer { bits, a_signed, b_signed, saturates: false }, Sum::S32)
}

pub const MMAS: &[Mma] = &[
    mma("m16n8k16.row.col.f32.f16.f16.f32", [16, 16], 16, F16, Sum::F32),
    mma("m16n8k8.row.col.f32.f16.f16.f32", [16, 8], 16, F16, Sum::F32),
    mma("m16n8k16.row.col.f16.f16.f16.f16", [16, 16], 16, F16, Sum::F16),
    mma("m16n8k16.row.col.f32.bf16.bf16.f32", [16, 16], 16, BF16, Sum::F32),
    mma("m16n8k8.row.col.f32.bf16.bf16.f32", [16, 8], 16, BF16, Sum::F32),
    mma("m16n8k8.row.col.f32.tf32.tf32.f32", [16, 8], 32, TF32, Sum::F32),
    mma("m16n8k4.row.col.f32.tf32.tf32.f32", [16, 4], 32, TF32, Sum::F32),
    mma("m16n8k32.row.col.f32.e4m3.e4m3.f32", [16, 32], 8, E4M3, Sum::F32),
    mma("m16n8k32.row.col.f32.e5m2.e5m2.f32", [16, 32], 8, E5M2, Sum::F32),
    mma("m8n8k4.row.col.f64.f64.f64.f64", [8, 4], 64, Element::Double, Sum::F64),
    integer("m16n8k32.row.col.s32.s8.u8.s32", [16, 32], 8, true, false),
    integer("m16n8k16.row.col.s32.s8.s8.s32", [16, 16], 8, true, true),
    integer("m8n8k16.row.col.s32.u8.s8.s32", [8, 16], 8, false, true),
    mma(
        "m16n8k32.row.col.satfinite.s32.s8.s8.s32",
        [16, 32],
        8,
        Element::Integer { bits: 8, a_signed: true, b_signed: true, saturates: true },
        Sum::S32,
    ),
    integer("m16n8k64.row.col.s32.u4.s4.s32", [16, 64], 4, false, true),
    integer("m8n8k32.row.col.s32.s4.s4.s32", [8, 32], 4, true, true),
    mma("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", [16, 256], 1, Element::Bit { and: false }, Sum::S32),
    mma("m8n8k128.row.col.s32.b1.b1.s32.and.popc", [8, 128], 1, Element::Bit { and: true }, Sum::S32),
];

/// The registers of a lane: A, B, and C.
pub type Lane = [Vec<u64>; 3];

/// D of each lane.
pub fn product(form: &Mma, lanes: &[Lane]) -> Vec<Vec<u64>> {
    let double = form.element == Element::Double;
    // elements of a register; a column of four lanes has four times as many in a row
    let each = if double { 1 } else { 32 / form.bits };
    let mask = u64::MAX >> (64 - form.bits);
    let element = |operand: usize, line: usize, k: usize| {
        let (block, lane, at) = (k / (4 * each), k / each % 4, k % each);
        let rows = if operand == 0 { form.m / 8 } else { 1 };
        lanes[line % 8 * 4 + lane][operand][line / 8 + rows * block] >> (at * form.bits) & mask
    };
    let mut d: Vec<Vec<u64>> = lanes.iter().map(|lane| vec![0; lane[2].len()]).collect();
    for (row, column) in (0..form.m).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let lane = row % 8 * 4 + column / 2;
        let (register, shift) = match form.sum {
            Sum::F16 => (row / 8, column % 2 * 16),
            _ => (row / 8 * 2 + column % 2, 0),
        };
        let pairs = (0..form.k).map(|k| (element(0, row, k), element(1, column, k)));
        let c = lanes[lane][2][register] >> shift;
        d[lane][register] |= sum(form, pairs, c) << shift;
    }
    d
}

fn sum(form: &Mma, pairs: impl Iterator<Item = (u64, u64)>, c: u64) -> u64 {
    match form.element {
        Element::Double => {
            let float = f64::from_bits;
            pairs.fold(float(c), |sum, (a, b)| float(a).mul_add(float(b), sum)).to_bits()
        }
        Element::Bit { and } => {
            let ones = pairs.filter(|(a, b)| (if and { a & b } else { a ^ b }) != 0).count();
            u64::from((c as u32).wrapping_add(ones as u32))
        }
        Element::Integer { bits, a_signed, b_signed, saturates } => {
            let number = |x: u64, signed: bool| {
                if signed && x >> (bits - 1) != 0 { x as i64 - (1 << bits) } else { x as i64 }
            };
            let sum: i64 = pairs.map(|(a, b)| number(a, a_signed) * number(b, b_signed)).sum::<i64>();
            let sum = sum + i64::from(c as i32);
            let sum = if saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
            u64::from(sum as u32)
        }
        Element::Small(exponent, fraction) => {
            let pairs: Vec<_> = pairs.map(|(a, b)| [a, b].map(|x| as_f16(x, exponent, fraction))).collect();
            let half = |sum: u64, first: usize| {
                let these = pairs.iter().enumerate().filter(|(k, _)| k % 4 / 2 == first);
                let products = these.map(|(_, [a, b])| product_of(number(*a, 5, 10), number(*b, 5, 10)));
                fused(products.chain([number(sum, 8, 23)]).collect(), Sum::F32)
            };
            let products = f32::from_bits(half(half(0, 0), 1) as u32);
            let sum = products + f32::from_bits(c as u32);
            u64::from(if sum.is_nan() { 0x7FFF_FFFF } else { sum.to_bits() })
        }
        Element::Float(exponent, fraction) => {
            // tf32 has its fraction in the upper bits of 23
            let drop = if fraction == 10 && exponent == 8 { 13 } else { 0 };
            let products = pairs
                .map(|(a, b)| product_of(number(a >> drop, exponent, fraction), number(b >> drop, exponent, fraction)));
            let c = if form.sum == Sum::F16 { number(c, 5, 10) } else { number(c, 8, 23) };
            fused(products.chain([c]).collect(), form.sum)
        }
    }
}

/// A byte with so many exponent and fraction bits as f16, which has all their values.
fn as_f16(byte: u64, exponent_bits: u32, fraction: u32) -> u64 {
    let (sign, magnitude) = ((byte >> 7) << 15, byte & 0x7F);
    // without infinities only all ones are no number
    if exponent_bits == 4 && magnitude == 0x7F {
        return sign | 0x7E00;
    }
    let (stored, digits) = (magnitude >> fraction, magnitude & ((1 << fraction) - 1));
    if exponent_bits == 5 {
        return sign | magnitude << 8;
    }
    match (stored, digits) {
        (0, 0) => sign,
        // a subnormal number of them is a normal f16
        (0, _) => {
            let top = digits.ilog2();
            sign | u64::from(15 - 6 + top - fraction) << 10 | (digits << (10 - top) & 0x3FF)
        }
        _ => sign | (stored + 15 - 7) << 10 | digits << (10 - fraction),
    }
}

/// A float: `significand` times 2 to the power of `exponent - fraction`.
#[derive(Clone, Copy)]
enum Number {
    Finite { significand: i128, exponent: i32, fraction: i32 },
    Infinite { negative: bool },
    Nan,
}
use Number::{Finite, Infinite, Nan};

fn number(bits: u64, exponent_bits: u32, fraction: u32) -> Number {
    let stored = (bits >> fraction) as i32 & ((1 << exponent_bits) - 1);
    let digits = (bits & ((1 << fraction) - 1)) as i128;
    let negative = bits >> (exponent_bits + fraction) & 1 != 0;
    if stored == (1 << exponent_bits) - 1 {
        return if digits == 0 { Infinite { negative } } else { Nan };
    }
    let significand = if stored == 0 { digits } else { digits | 1 << fraction };
    let exponent = stored.max(1) - ((1 << (exponent_bits - 1)) - 1);
    Finite { significand: if negative { -significand } else { significand }, exponent, fraction: fraction as i32 }
}

fn product_of(a: Number, b: Number) -> Number {
    let negative = |x: Number| match x {
        Finite { significand, .. } => significand < 0,
        Infinite { negative } => negative,
        Nan => false,
    };
    match (a, b) {
        (Finite { significand: a, exponent: e, fraction }, Finite { significand: b, exponent: f, .. }) => {
            Finite { significand: a * b, exponent: e + f, fraction: 2 * fraction }
        }
        (Nan, _) | (_, Nan) | (Finite { significand: 0, .. }, _) | (_, Finite { significand: 0, .. }) => Nan,
        _ => Infinite { negative: negative(a) != negative(b) },
    }
}

/// Adds terms cut to 25 bits below the greatest exponent.
fn fused(terms: Vec<Number>, to: Sum) -> u64 {
    let infinite = |sign: bool| terms.iter().any(|t| matches!(t, Infinite { negative } if *negative == sign));
    let (nan, infinity, top) = if to == Sum::F16 { (0x7FFF, 0x7C00, 15) } else { (0x7FFF_FFFF, 0x7F80_0000, 31) };
    if terms.iter().any(|t| matches!(t, Nan)) || infinite(false) && infinite(true) {
        return nan;
    }
    if infinite(false) || infinite(true) {
        return infinity | u64::from(infinite(true)) << top;
    }
    let finite = || {
        terms.iter().filter_map(|t| match *t {
            Finite { significand, exponent, fraction } if significand != 0 => Some((significand, exponent, fraction)),
            _ => None,
        })
    };
    let greatest = finite().map(|t| t.1).max().unwrap_or(0).max(-133);
    let unit = greatest - 25;
    let cut = |(significand, exponent, fraction): (i128, i32, i32)| {
        let by = exponent - fraction - unit;
        // division cuts towards zero
        if by >= 0 { significand << by } else { significand / (1 << (-by).min(100)) }
    };
    let sum: i128 = finite().map(cut).sum();
    let (exponent_bits, fraction) = if to == Sum::F16 { (5, 10) } else { (8, 23) };
    let bits = rounded(sum.unsigned_abs(), unit, exponent_bits, fraction, to == Sum::F16);
    if bits == 0 { 0 } else { bits | u64::from(sum < 0) << top }
}

/// `magnitude` times 2 to the power of `unit`: to nearest even, or cut.
fn rounded(magnitude: u128, unit: i32, exponent_bits: i32, fraction: i32, nearest: bool) -> u64 {
    if magnitude == 0 {
        return 0;
    }
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = (magnitude.ilog2() as i32 + unit).max(1 - bias);
    let dropped = exponent - fraction - unit;
    let mut digits = if dropped > 0 { magnitude >> dropped.min(127) } else { magnitude << -dropped };
    if nearest && dropped > 0 {
        let (rest, half) = (magnitude - (digits << dropped), 1u128 << (dropped - 1));
        digits += u128::from(rest > half || rest == half && digits & 1 != 0);
    }
    // digits of a normal number have a leading one, which adds to the exponent
    let bits = ((exponent + bias - 1) as u128 * (1 << fraction) + digits) as u64;
    bits.min(((1 << exponent_bits) - 1) << fraction)
}

/// `ldmatrix` and `stmatrix`: the bytes of a warp's shared memory at which a row of a matrix begins, for the lane that gives it.
pub fn row_at(lane: u32, step: u32, shift: u32) -> usize {
    (lane * step + shift) as usize % 64 * 16
}

/// The row and column of the first and second half of a lane's register.
pub fn places(lane: usize, trans: bool) -> [(usize, usize); 2] {
    let (row, column) = (lane / 4, lane % 4 * 2);
    if trans { [(column, row), (column + 1, row)] } else { [(row, column), (row, column + 1)] }
}

/// The spelling of `ldmatrix` or `stmatrix`, up to the operands.
pub fn opcode(matrix: &Matrix) -> String {
    let (name, registers, trans) = match matrix {
        Matrix::Load { registers, trans, .. } => ("ldmatrix", registers, trans),
        Matrix::Store { registers, trans, .. } => ("stmatrix", registers, trans),
        _ => return "movmatrix.sync.aligned.m8n8.trans.b16".to_owned(),
    };
    let trans = if *trans { ".trans" } else { "" };
    format!("{name}.sync.aligned.m8n8.x{}{trans}.shared.b16", registers.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ones times ones, and the register counts of the manual's tables.
    #[test]
    fn sums_of_ones() {
        for form in MMAS {
            let (a, b, c) = form.registers();
            let one = match form.element {
                Element::Float(5, _) => 0x3C00_3C00,
                Element::Float(8, 7) => 0x3F80_3F80,
                Element::Small(4, _) => 0x3838_3838,
                Element::Small(..) => 0x3C3C_3C3C,
                Element::Float(..) => 0x3F80_0000,
                Element::Double => 1f64.to_bits(),
                Element::Integer { bits: 8, .. } => 0x0101_0101,
                Element::Integer { .. } => 0x1111_1111,
                Element::Bit { and: true } => 0xFFFF_FFFF,
                Element::Bit { .. } => 0,
            };
            let lanes: Vec<Lane> = (0..32).map(|_| [vec![one; a], vec![one; b], vec![0; c]]).collect();
            let k = form.k as u32;
            let all = match form.sum {
                Sum::F32 => u64::from((k as f32).to_bits()),
                Sum::F16 => 0x4C00_4C00,
                Sum::F64 => f64::from(k).to_bits(),
                Sum::S32 if one == 0 => 0,
                Sum::S32 => k.into(),
            };
            assert!(product(form, &lanes).iter().flatten().all(|d| *d == all), "{}", form.text);
        }
        assert_eq!(MMAS[0].registers(), (4, 2, 4));
        assert_eq!(MMAS[2].registers(), (4, 2, 2));
        assert_eq!(MMAS[9].registers(), (1, 1, 2));
    }

    #[test]
    fn bytes_as_f16() {
        // 1, 448, the least, -1.75 times the least normal, no number
        for (byte, half) in [(0x38, 0x3C00), (0x7E, 0x5F00), (1, 0x1800), (0x8E, 0xA700), (0x7F, 0x7E00), (3, 0x1E00)] {
            assert_eq!(as_f16(byte, 4, 3), half, "{byte:#x}");
        }
        assert_eq!(as_f16(0xFC, 5, 2), 0xFC00);
        assert_eq!(as_f16(1, 5, 2), 0x100);
    }

    #[test]
    fn rounding() {
        // 1 + 2^-24: cut, and to nearest even in f16
        assert_eq!(rounded((1 << 24) + 1, -24, 8, 23, false), 0x3F80_0000);
        assert_eq!(rounded(0x1801, -12, 5, 10, true), 0x3E00);
        assert_eq!(rounded(0x1806, -12, 5, 10, true), 0x3E02);
        assert_eq!(rounded(1, -149, 8, 23, false), 1);
        assert_eq!(rounded(1, 200, 8, 23, false), 0x7F80_0000);
        assert_eq!(rounded(1, -24, 5, 10, true), 1);
    }
}
