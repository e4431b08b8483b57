//! Operands: always the same for a kind and a position, so that only results have to be kept.
//!
//! A quarter each: combinations of special values; values near a boundary, for the operands together; random bits; and numbers of
//! moderate size.

use super::kind::{Format, Kind};
use crate::Random;

/// Parts of the operands of a form; each has its own digest.
pub const PARTS: usize = 4;
/// Names of the parts.
pub const PART_NAMES: [&str; PARTS] = ["special values", "values near boundaries", "any bits", "middling values"];

/// Operands of a form.
const COUNT: usize = 16_384;
/// For an operand with so few bits, all of its values.
const ALL: usize = 65_536;

/// The number of operands that forms of these kinds have.
pub fn count(kinds: &[Kind]) -> usize {
    match kinds {
        [one] if one.half().unwrap_or(*one).bits() <= 16 => ALL,
        _ => COUNT,
    }
}

/// The operands: a list for each of the kinds. Kept results are those of seed 0.
pub fn operands(kinds: &[Kind], seed: u64) -> Vec<Vec<u64>> {
    let count = count(kinds);
    let mut all = vec![Vec::with_capacity(count); kinds.len()];
    let of_kinds = kinds.iter().fold(kinds.len() as u64, |seed, k| seed * 31 + *k as u64 + 1);
    let mut random = Random::new(of_kinds ^ seed << 32);
    let mut special: Vec<Vec<u64>> = kinds.iter().map(|k| k.special()).collect();
    if let [one] = special.as_mut_slice() {
        one.extend(kinds[0].edges());
    }
    for i in 0..count {
        let one = match (i / (count / PARTS), kinds) {
            _ if count == ALL => vec![every(kinds[0], i as u64)],
            (0, _) => specials(kinds, &special, i, &mut random),
            (1, _) => together(kinds, &mut random),
            (2, _) => kinds.iter().map(|k| random.next() & mask(*k)).collect(),
            _ => kinds.iter().map(|k| halves(*k, |k| middling(k, &mut random))).collect(),
        };
        all.iter_mut().zip(one).for_each(|(list, v)| list.push(v));
    }
    all
}

fn mask(k: Kind) -> u64 {
    u64::MAX >> (64 - k.bits())
}

/// The `i`-th value of a kind; for pairs the high half has another order.
fn every(k: Kind, i: u64) -> u64 {
    match k.half() {
        Some(_) => i | ((i.wrapping_mul(0x6335) + 0x1234) & 0xffff) << 16,
        None => i & mask(k),
    }
}

/// A value of the kind, or of each of its halves.
fn halves(k: Kind, mut value: impl FnMut(Kind) -> u64) -> u64 {
    match k.half() {
        Some(half) => value(half) | value(half) << 16,
        None => value(k),
    }
}

/// Special values: the `i`-th combination if all of them fit.
fn specials(kinds: &[Kind], special: &[Vec<u64>], i: usize, random: &mut Random) -> Vec<u64> {
    let all: usize = special.iter().map(Vec::len).product();
    let mut rest = i;
    let one = |(k, special): (&Kind, &Vec<u64>)| {
        let at = if all <= COUNT / PARTS { rest % special.len() } else { random.below(special.len()) };
        rest /= special.len();
        let other = special[random.below(special.len())];
        if k.half().is_some() { special[at] | other << 16 } else { special[at] }
    };
    kinds.iter().zip(special).map(one).collect()
}

/// Related operands: products, quotients and sums near the boundaries of subnormal, infinite and zero results; integers that are
/// nearly equal.
fn together(kinds: &[Kind], random: &mut Random) -> Vec<u64> {
    let mut out = vec![0; kinds.len()];
    let pairs = if kinds.iter().any(|k| k.half().is_some()) { 2 } else { 1 };
    for pair in 0..pairs {
        let mut near = Near::new(random);
        for (n, k) in kinds.iter().enumerate() {
            let one = k.half().unwrap_or(*k);
            let v = match one.format() {
                Some(f) => near.float(f, n, random),
                None => near.integer(one, n, random),
            };
            if pair == 0 || k.half().is_some() {
                out[n] |= v << (16 * pair);
            }
        }
    }
    out
}

/// The traits that the operands of one instruction share.
struct Near {
    /// The exponent of the result, counted from the least one, or from the largest one if negative.
    exponent: i64,
    /// The exponent of the first operand.
    first: i64,
    quotient: bool,
    integer: u64,
}

impl Near {
    fn new(random: &mut Random) -> Near {
        let exponent = [-2, -1, -1, 0, 0, 0, 0, 1, -12, -24, 2, 11][random.below(12)];
        Near { exponent, first: 0, quotient: random.below(3) == 0, integer: random.next() }
    }

    fn float(&mut self, f: Format, n: usize, random: &mut Random) -> u64 {
        let (least, most) = (1 - f.bias(), f.bias());
        // The largest exponents in one case of four, and those in the middle in one.
        let target = match self.integer & 3 {
            0 => most - self.exponent.abs() % 3,
            1 => self.exponent,
            _ => least + self.exponent,
        };
        let exponent = match n {
            0 => {
                self.first = match random.below(4) {
                    0 => target,
                    1 => 0,
                    _ => target / 2 + random.below(2 * f.mant as usize + 2) as i64 - i64::from(f.mant),
                };
                self.first.clamp(least - i64::from(f.mant), most)
            }
            1 if self.quotient => self.first - target,
            1 => target - self.first,
            _ => target + random.below(2 * f.mant as usize + 6) as i64 - i64::from(f.mant) - 3,
        };
        let mantissa = mantissa(f, random);
        let power = f.power(exponent);
        // A subnormal has fewer bits.
        let bits = if power >> f.mant != 0 { mantissa } else { mantissa >> (f.mant - power.max(1).ilog2()) };
        let value = if power >= f.inf() { f.inf() - 1 - mantissa % 3 } else { power | bits };
        if random.below(2) == 0 { value } else { value | f.sign() }
    }

    fn integer(&mut self, k: Kind, n: usize, random: &mut Random) -> u64 {
        let mask = mask(k);
        if n == 0 {
            self.integer = run(random);
        }
        let by = random.below(5) as u64;
        mask & match random.below(5) {
            0 => self.integer,
            1 => self.integer.wrapping_add(by),
            2 => self.integer.wrapping_sub(by),
            3 => self.integer.wrapping_neg().wrapping_add(by),
            _ => run(random),
        }
    }
}

/// Ones between two positions, or zeros.
fn run(random: &mut Random) -> u64 {
    let (from, to) = (random.below(64), random.below(64));
    let ones = u64::MAX << from ^ u64::MAX << to;
    if random.below(2) == 0 { ones } else { !ones }
}

/// Mantissas of few bits, of nearly all bits, and random ones.
fn mantissa(f: Format, random: &mut Random) -> u64 {
    let mask = (1u64 << f.mant) - 1;
    let small = random.below(3) as u64;
    mask & match random.below(6) {
        0 => small,
        1 => small.wrapping_neg(),
        2 => (1 << (f.mant - 1)) + small - 1,
        3 => 1 << random.below(f.mant as usize) | 1 << random.below(f.mant as usize),
        4 => run(random),
        _ => random.next(),
    }
}

/// A number of a size that programs use.
fn middling(k: Kind, random: &mut Random) -> u64 {
    let Some(f) = k.format() else {
        return mask(k)
            & match random.below(4) {
                0 => random.below(70) as u64,
                1 => random.below(300) as u64,
                2 => (random.below(100) as u64).wrapping_neg(),
                _ => random.next() >> random.below(64),
            };
    };
    let range = if random.below(2) == 0 { 8 } else { 2 * f.mant as usize };
    let e = random.below(2 * range) as i64 - range as i64;
    let value = f.power(e.clamp(1 - f.bias(), f.bias())) | mantissa(f, random);
    if random.below(2) == 0 { value } else { value | f.sign() }
}
