//! What emitted code does with Rust constants, as bytes: a call evaluates hundreds of expressions, fills a text or checks a rule, so
//! that rustc has few tokens to compile.

use super::expression::{ConstId, Constants, Expression};
use super::text::{Text, longest};
use super::{Const, Piece};

/// Bytes of an expression: what it is, and three numbers.
pub const STEP: usize = 13;
/// Bytes of a value in a text: where it is, its number, and 1 if it is a part of a name.
const CUT: usize = 9;
/// Bytes of a value in a memory image.
const PATCH: usize = 21;
/// A patch that stands at a known place.
const NOWHERE: u32 = u32::MAX;
/// The longest message with its values. A longer one has none.
const MESSAGE: usize = 8192;

/// The operators of two operands, in the order of their codes.
const BINARY: [&str; 20] =
    ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "max", "up", "<", ">", "<=", ">=", "==", "!=", "&&", "||"];
/// The code of the first of them.
const FIRST: u8 = 128;

impl Expression {
    /// As bytes, for [`evaluate`].
    pub fn step(&self) -> [u8; STEP] {
        let low_high = |bits: u64| (bits as u32, (bits >> 32) as u32);
        let (code, a, b, c) = match self {
            Expression::Rust(n) => (b'r', *n, 0, 0),
            Expression::Known(Const::Int { value, unsigned }) => {
                let (low, high) = low_high(*value);
                (if *unsigned { b'u' } else { b'i' }, low, high, 0)
            }
            Expression::Known(Const::F32(bits)) => (b'f', *bits, 0, 0),
            Expression::Known(Const::F64(value)) => {
                let (low, high) = low_high(value.to_bits());
                (b'd', low, high, 0)
            }
            Expression::Unary(operator, a) => (*operator as u8, a.0, 0, 0),
            Expression::Cast(unsigned, a) => (if *unsigned { b'U' } else { b'S' }, a.0, 0, 0),
            Expression::Choose(c, a, b) => (b'?', c.0, a.0, b.0),
            Expression::Binary(operator, a, b) => {
                let code = BINARY.iter().position(|known| known == operator).unwrap_or(0);
                (FIRST + code as u8, a.0, b.0, 0)
            }
        };
        let mut bytes = [code; STEP];
        for (to, n) in bytes[1..].chunks_mut(4).zip([a, b, c]) {
            to.copy_from_slice(&n.to_le_bytes());
        }
        bytes
    }
}

/// A text with marks, as emitted code has it: without values, and where they are, for [`Text::filled`].
pub struct Cut {
    /// The text without values.
    pub text: String,
    /// Where values are.
    pub cuts: Vec<u8>,
}

impl Cut {
    /// Cuts a text at its marks.
    pub fn new(text: &str) -> Cut {
        let mut cut = Cut { text: String::new(), cuts: Vec::new() };
        for piece in Constants::pieces(text) {
            match piece {
                Ok(text) => cut.text.push_str(text),
                Err((id, name)) => {
                    cut.cuts.extend((cut.text.len() as u32).to_le_bytes());
                    cut.cuts.extend(id.0.to_le_bytes());
                    cut.cuts.push(u8::from(name));
                }
            }
        }
        cut
    }

    /// The text with values, at run time.
    pub fn filled(&self, all: &[Const]) -> String {
        let mut filled = String::new();
        let mut done = 0;
        for cut in self.cuts.chunks_exact(CUT) {
            let (at, n) = (number(cut, 0) as usize, number(cut, 4) as usize);
            filled.push_str(&self.text[done..at]);
            if let Some(value) = all.get(n) {
                let piece = if cut[8] != 0 { Piece::Name(*value) } else { Piece::Value(*value) };
                filled.push_str(Text::<{ longest(0, 1) }>::new(&[piece]).as_str());
            }
            done = at;
        }
        filled + &self.text[done..]
    }

    /// The most bytes that the text can have.
    pub fn longest(&self) -> usize {
        longest(self.text.len(), self.cuts.len() / CUT)
    }
}

/// A value of a memory image as bytes, for [`patched`]: its place after `base`, its width, and whether a floating-point number is an
/// `f32`.
pub fn patch(base: Option<ConstId>, (at, width): (u32, u32), value: ConstId, single: bool) -> [u8; PATCH] {
    let mut bytes = [u8::from(single); PATCH];
    let numbers = [base.map_or(NOWHERE, |id| id.0), at, width, value.0, 0];
    for (to, n) in bytes[..PATCH - 1].chunks_mut(4).zip(numbers) {
        to.copy_from_slice(&n.to_le_bytes());
    }
    bytes
}

// A call costs const evaluation ten times what an operator does, so these have few.

const fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at] as u32 | (bytes[at + 1] as u32) << 8 | (bytes[at + 2] as u32) << 16 | (bytes[at + 3] as u32) << 24
}

/// Evaluates expressions, the first of which has the number `first`, each from those before it. Panics with `why` at the caller if
/// one has no value.
#[track_caller]
pub const fn evaluate(all: &mut [Const], first: usize, steps: &[u8], declared: &[Const], why: &str) {
    let (mut at, mut next) = (0, first);
    while at < steps.len() {
        let Some(value) = value(all, steps, at, declared) else { panic!("{}", why) };
        all[next] = value;
        (at, next) = (at + STEP, next + 1);
    }
}

const fn value(all: &[Const], steps: &[u8], at: usize, declared: &[Const]) -> Option<Const> {
    let (code, a) = (steps[at], number(steps, at + 1));
    let first = a as usize;
    Some(match code {
        b'r' => declared[first],
        b'i' | b'u' => {
            let value = a as u64 | (number(steps, at + 5) as u64) << 32;
            Const::Int { value, unsigned: code == b'u' }
        }
        b'f' => Const::F32(a),
        b'd' => Const::F64(f64::from_bits(a as u64 | (number(steps, at + 5) as u64) << 32)),
        b'U' | b'S' => return all[first].cast(code == b'U'),
        b'?' => return all[first].choose(all[number(steps, at + 5) as usize], all[number(steps, at + 9) as usize]),
        code if code < FIRST => return all[first].unary(code as char),
        code => return all[first].binary(BINARY[(code - FIRST) as usize], all[number(steps, at + 5) as usize]),
    })
}

/// Panics with a text at the caller unless the condition holds.
#[track_caller]
pub const fn check(all: &[Const], condition: usize, text: &str, cuts: &[u8]) {
    if all[condition].holds() {
        return;
    }
    if longest(text.len(), cuts.len() / CUT) > MESSAGE {
        panic!("{}", text)
    }
    let text = Text::<MESSAGE>::filled(text, cuts, all);
    panic!("{}", text.as_str())
}

impl<const N: usize> Text<N> {
    /// Fills values in. `N` is at least [`Cut::longest`].
    pub const fn filled(text: &str, cuts: &[u8], all: &[Const]) -> Self {
        let (mut filled, text, mut done, mut n) = (Text::new(&[]), text.as_bytes(), 0, 0);
        while n < cuts.len() {
            let at = number(cuts, n) as usize;
            filled.copy(text, done, at);
            let value = all[number(cuts, n + 4) as usize];
            filled.value(if cuts[n + 8] != 0 { Piece::Name(value) } else { Piece::Value(value) });
            (done, n) = (at, n + CUT);
        }
        filled.copy(text, done, text.len());
        filled
    }
}

/// The bytes of a memory image with the low bytes of constants in some places ([`patch`]), and zeros after them.
pub const fn patched<const N: usize>(bytes: &[u8], patches: &[u8], all: &[Const]) -> [u8; N] {
    let mut image = [0; N];
    image.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
    let mut n = 0;
    while n < patches.len() {
        let (base, at, width) = (number(patches, n), number(patches, n + 4), number(patches, n + 8));
        let begin = if base == NOWHERE { 0 } else { all[base as usize].to_u32() };
        let bits = all[number(patches, n + 12) as usize].bits(patches[n + PATCH - 1] != 0);
        let mut byte = 0;
        while byte < width as usize {
            image[(begin + at) as usize + byte] = (bits >> (8 * byte)) as u8;
            byte += 1;
        }
        n += PATCH;
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    #[test]
    fn steps_give_what_expressions_say() {
        let mut constants = Constants::default();
        let known = [Const::signed(-7), Const::unsigned(u64::MAX), Const::f32(1.5), Const::F64(-0.25)];
        let ids = known.map(|c| constants.known(c, Span::default()));
        let [seven, most, single, double] = ids;
        let mut expected: Vec<Const> = known.to_vec();
        for (n, operator) in BINARY.into_iter().enumerate() {
            let (a, b) = if n % 2 == 0 { (seven, most) } else { (most, seven) };
            constants.int(operator, a, b);
            let of = |id: ConstId| known[id.0 as usize];
            expected.extend(of(a).binary(operator, of(b)));
        }
        for operator in ['-', '~', '!', '+'] {
            constants.unary(operator, seven, Span::default());
            expected.extend(known[0].unary(operator));
        }
        for negated in [single, double] {
            constants.unary('-', negated, Span::default());
        }
        expected.extend([Const::f32(-1.5), Const::F64(0.25)]);
        constants.cast(true, seven, Span::default());
        constants.choose(seven, most, seven, Span::default());
        expected.extend([Const::Int { value: (-7_i64).cast_unsigned(), unsigned: true }, Const::unsigned(u64::MAX)]);
        let steps: Vec<u8> = constants.all.iter().flat_map(|(expression, ..)| expression.step()).collect();
        let mut all = vec![Const::signed(0); constants.all.len()];
        evaluate(&mut all, 0, &steps, &[], "");
        assert_eq!(all, expected);
    }

    #[test]
    fn values_go_where_the_marks_were() {
        let all = [Const::signed(-12), Const::f32(1.0)];
        let marked = format!(
            "k_{}: é {}{}",
            Constants::name_mark(ConstId(0)),
            Constants::mark(ConstId(0)),
            Constants::mark(ConstId(1))
        );
        let cut = Cut::new(&marked);
        assert_eq!(Text::<100>::filled(&cut.text, &cut.cuts, &all).as_str(), "k_n12: é -120f3F800000");
        assert_eq!(Text::<100>::filled("plain", &[], &all).as_str(), "plain");
        assert!(cut.longest() >= 22);
    }

    #[test]
    fn images_have_values_at_known_and_at_computed_places() {
        let all = [Const::signed(3), Const::signed(-2), Const::F64(0.5)];
        let patches = [patch(None, (1, 2), ConstId(1), false), patch(Some(ConstId(0)), (1, 4), ConstId(2), true)];
        assert_eq!(patched::<9>(&[9, 9, 9, 9], &patches.concat(), &all), [9, 0xFE, 0xFF, 9, 0, 0, 0, 0x3F, 0]);
    }

    #[test]
    #[should_panic(expected = "`TILE` is 5")]
    fn a_rule_that_does_not_hold_shows_values() {
        let cut = Cut::new(&format!("`TILE` is {}", Constants::mark(ConstId(0))));
        let all = [Const::signed(5), Const::truth(true), Const::truth(false)];
        check(&all, 1, &cut.text, &cut.cuts);
        check(&all, 2, &cut.text, &cut.cuts);
    }
}
