//! What is known of an expression for every value of its Rust constants: between which numbers it lies, and its low bits. A rule
//! that no value can keep is an error before rustc knows the value.

use super::expression::{Assertion, ConstId, Constants, Expression, RustType};
use super::{Const, Kind};
use crate::diag::Diagnostic;

/// The numbers that an integer expression can be.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    low: i128,
    high: i128,
    /// It is of type `.s64` for every value.
    signed: bool,
    /// So many low bits are those of `rest`.
    bits: u32,
    rest: u64,
}

const SIGNED: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

/// The lowest bits of a word.
fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

impl Bounds {
    fn known(c: Const) -> Bounds {
        let Const::Int { value, unsigned } = c else { return Bounds::any((0, 0)) };
        let n = if unsigned { i128::from(value) } else { i128::from(value.cast_signed()) };
        Bounds { low: n, high: n, signed: !unsigned, bits: 64, rest: value }
    }

    fn of(ty: RustType) -> Bounds {
        let (low, high) = match ty.signed() {
            true => (-1_i128 << (ty.bits() - 1), (1_i128 << (ty.bits() - 1)) - 1),
            false => (0, (1_i128 << ty.bits()) - 1),
        };
        Bounds { low, high, signed: high <= SIGNED.1, bits: 0, rest: 0 }
    }

    /// Any integer with these low bits.
    fn any((bits, rest): (u32, u64)) -> Bounds {
        Bounds { low: SIGNED.0, high: i128::from(u64::MAX), signed: false, bits, rest }
    }

    /// An integer between two numbers, unless 64 bits do not hold them or its type is not known.
    fn between(low: i128, high: i128, signed: bool, (bits, rest): (u32, u64)) -> Bounds {
        let (least, most) = if signed { SIGNED } else { (0, SIGNED.1) };
        match low >= least && high <= most {
            true => Bounds { low, high, signed, bits, rest },
            false if signed => Bounds { low: SIGNED.0, high: SIGNED.1, signed, bits, rest },
            false => Bounds::any((bits, rest)),
        }
    }

    fn truth(value: Option<bool>) -> Bounds {
        match value {
            Some(value) => Bounds::known(Const::truth(value)),
            None => Bounds { low: 0, high: 1, signed: true, bits: 0, rest: 0 },
        }
    }

    /// For a text, if it is more than the type says.
    fn shown(self) -> Option<String> {
        match (self.only(), self.low > 0, self.high < 0) {
            (Some(n), ..) => Some(n.to_string()),
            (None, true, _) => Some(format!("{} or more", self.low)),
            (None, _, true) => Some(format!("{} or less", self.high)),
            _ => None,
        }
    }

    fn only(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    /// The low bits that it shares with another value.
    fn low_bits(self) -> (u32, u64) {
        (self.bits, self.rest)
    }

    /// Is it not 0?
    fn holds(self) -> Option<bool> {
        match (self.low, self.high) {
            (0, 0) => Some(false),
            (low, high) if low > 0 || high < 0 || self.rest & mask(self.bits) != 0 => Some(true),
            _ => None,
        }
    }

    fn unary(self, operator: char) -> Bounds {
        match operator {
            '+' => self,
            '-' => Bounds::between(-self.high, -self.low, self.signed, (self.bits, self.rest.wrapping_neg())),
            '~' => Bounds::any((self.bits, !self.rest)),
            '!' => Bounds::truth(self.holds().map(|holds| !holds)),
            _ => Bounds::any((0, 0)),
        }
    }

    fn cast(self, unsigned: bool) -> Bounds {
        match (unsigned, self.low >= 0, self.high <= SIGNED.1) {
            (_, true, true) => Bounds { signed: !unsigned, ..self },
            (false, false, true) if self.signed => self,
            (true, false, _) if self.high < 0 => {
                let turn = 1_i128 << 64;
                Bounds { low: self.low + turn, high: self.high + turn, signed: false, ..self }
            }
            (true, ..) => Bounds::any(self.low_bits()),
            (false, ..) => Bounds { low: SIGNED.0, high: SIGNED.1, signed: true, ..self },
        }
    }

    fn binary(self, operator: &str, other: Bounds) -> Bounds {
        let (a, b, signed) = (self, other, self.signed && other.signed);
        let bits = a.bits.min(b.bits);
        let with = |f: fn(u64, u64) -> u64| (bits, f(a.rest, b.rest));
        let positive = a.low >= 0 && b.low >= 0;
        // both are compared as `.s64`, or as `.u64` which they are
        let comparable = signed || positive;
        let less = |a: Bounds, b: Bounds| match comparable {
            true if a.high < b.low => Some(true),
            true if a.low >= b.high => Some(false),
            _ => None,
        };
        let equal = match (a.only(), b.only()) {
            (Some(a), Some(b)) if comparable => Some(a == b),
            _ if (a.rest ^ b.rest) & mask(bits) != 0 => Some(false),
            _ if comparable && (a.high < b.low || b.high < a.low) => Some(false),
            _ => None,
        };
        let not = |truth: Option<bool>| truth.map(|truth| !truth);
        match operator {
            "+" => Bounds::between(a.low + b.low, a.high + b.high, signed, with(u64::wrapping_add)),
            "-" => Bounds::between(a.low - b.high, a.high - b.low, signed, with(u64::wrapping_sub)),
            "*" => {
                let all =
                    [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)].map(|(a, b)| a.checked_mul(b));
                // a factor of a power of two makes low bits known
                let zeros = |x: Bounds| (x.rest | !mask(x.bits)).trailing_zeros().min(x.bits);
                let (more_a, more_b) = (a.bits + zeros(b), b.bits + zeros(a));
                let low_bits = (more_a.min(more_b).min(64), a.rest.wrapping_mul(b.rest));
                match (all.iter().copied().min().flatten(), all.iter().copied().max().flatten()) {
                    (Some(low), Some(high)) => Bounds::between(low, high, signed, low_bits),
                    _ => Bounds::any(low_bits),
                }
            }
            "/" if positive && b.low > 0 => Bounds::between(a.low / b.high, a.high / b.low, signed, (0, 0)),
            "%" => match b.only() {
                Some(n)
                    if positive && n > 0 && (n as u64).is_power_of_two() && (n as u64).trailing_zeros() <= a.bits =>
                {
                    Bounds::known(Const::Int { value: a.rest % n as u64, unsigned: true })
                }
                _ if positive && b.low > 0 => Bounds::between(0, a.high.min(b.high - 1), false, (0, 0)),
                _ => Bounds::any((0, 0)),
            },
            "&" if positive => Bounds::between(0, a.high.min(b.high), signed, with(|a, b| a & b)),
            "&" => Bounds::any(with(|a, b| a & b)),
            "|" => Bounds::any(with(|a, b| a | b)),
            "^" => Bounds::any(with(|a, b| a ^ b)),
            "<<" => match b.only() {
                Some(n @ 0..=62) => {
                    let low_bits = ((a.bits + n as u32).min(64), a.rest << n);
                    let power = 1_i128 << n;
                    let (low, high) = (a.low.checked_mul(power), a.high.checked_mul(power));
                    low.zip(high)
                        .map_or(Bounds::any(low_bits), |(low, high)| Bounds::between(low, high, a.signed, low_bits))
                }
                _ => Bounds::any((0, 0)),
            },
            ">>" => match b.only() {
                Some(n @ 0..=63) if a.low >= 0 => Bounds::between(a.low >> n, a.high >> n, a.signed, (0, 0)),
                _ => Bounds::any((0, 0)),
            },
            "max" if positive => Bounds::between(a.low.max(b.low), a.high.max(b.high), signed, (0, 0)),
            "up" if positive => Bounds::between(a.low, a.high + b.high, signed, (0, 0)),
            "<" => Bounds::truth(less(a, b)),
            ">" => Bounds::truth(less(b, a)),
            "<=" => Bounds::truth(not(less(b, a))),
            ">=" => Bounds::truth(not(less(a, b))),
            "==" => Bounds::truth(equal),
            "!=" => Bounds::truth(not(equal)),
            "&&" => Bounds::truth(match (a.holds(), b.holds()) {
                (Some(true), Some(true)) => Some(true),
                (Some(false), _) | (_, Some(false)) => Some(false),
                _ => None,
            }),
            "||" => Bounds::truth(match (a.holds(), b.holds()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            }),
            _ => Bounds::any((0, 0)),
        }
    }
}

impl Constants {
    /// Takes out the rules that no value of the constants keeps, as errors.
    pub fn broken_by_all(&mut self) -> Vec<Diagnostic> {
        if self.assertions.is_empty() {
            return Vec::new();
        }
        let bounds = self.bounds();
        let of = |assertion: &Assertion| bounds.get(assertion.condition.0 as usize).and_then(|bounds| bounds.holds());
        let (broken, rest) = std::mem::take(&mut self.assertions).into_iter().partition(|a| of(a) == Some(false));
        self.assertions = rest;
        broken.into_iter().map(|assertion| self.for_all(assertion, &bounds)).collect()
    }

    /// Of each expression.
    fn bounds(&self) -> Vec<Bounds> {
        let mut all: Vec<Bounds> = Vec::with_capacity(self.all.len());
        for (expression, kind, _) in &self.all {
            let of = |id: &ConstId| all.get(id.0 as usize).copied().unwrap_or(Bounds::any((0, 0)));
            let bounds = match expression {
                _ if *kind != Kind::Int => Bounds::any((0, 0)),
                Expression::Rust(n) => Bounds::of(self.declarations[*n as usize].ty),
                Expression::Known(c) => Bounds::known(*c),
                Expression::Unary(operator, a) => of(a).unary(*operator),
                Expression::Binary(operator, a, b) if self.kind(*a) == Kind::Int => of(a).binary(operator, of(b)),
                Expression::Binary(..) => Bounds::truth(None),
                Expression::Choose(c, a, b) => match of(c).holds() {
                    Some(true) => of(a),
                    Some(false) => of(b),
                    None => Bounds::any((0, 0)),
                },
                Expression::Cast(unsigned, a) => of(a).cast(*unsigned),
            };
            all.push(bounds);
        }
        all
    }

    /// The finding, with what is known of the values.
    fn for_all(&self, Assertion { condition, finding, others }: Assertion, bounds: &[Bounds]) -> Diagnostic {
        // a multiple, where the least value says nothing
        let of_rest = matches!(self.all[condition.0 as usize].0, Expression::Unary('!', _));
        let filled = |text: &str| self.filled_for_all(text, |id| bounds[id.0 as usize].shown(), of_rest);
        let names: Vec<String> = self.declarations_of(condition).iter().map(|d| format!("`{}`", d.name)).collect();
        let mut out = Diagnostic { message: filled(&finding.message), ..finding };
        let edits = out.edits.iter_mut().map(|edit| &mut edit.text);
        for text in out.notes.iter_mut().chain(&mut out.helps).chain(edits) {
            *text = filled(text);
        }
        if !names.is_empty() {
            out = out.note(format!("every value of {} breaks this rule", names.join(" and ")));
        }
        match others {
            0 => out,
            1 => out.note("the same at another place"),
            n => out.note(format!("the same at {n} other places")),
        }
    }

    /// A text whose marks are numbers, `8 or more`, or as written: in code, and everywhere if `written`.
    fn filled_for_all(&self, text: &str, shown: impl Fn(ConstId) -> Option<String>, written: bool) -> String {
        let mut out = String::new();
        for piece in Constants::pieces(text) {
            let (id, _) = match piece {
                Ok(text) => {
                    out.push_str(text);
                    continue;
                }
                Err(mark) => mark,
            };
            let in_code = out.matches('`').count() % 2 == 1;
            let number = shown(id).filter(|text| !text.contains(' ') || !in_code && !written);
            out.push_str(&number.unwrap_or_else(|| match in_code {
                true => self.written(id, 1),
                false => format!("`{}`", self.written(id, 0)),
            }));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::*;
    use crate::code::{Code, Example, classes};
    use crate::constant::{ConstId, Declaration};
    use crate::span::Span;
    use ptx_dsl_test_support::random::Random;

    /// A code of findings, whichever.
    static CODE: Code = Code {
        number: 409,
        title: "",
        text: "",
        section: "",
        about: "",
        classes: &[classes::ILLEGAL],
        example: Example { wrong: "", right: "", is_rust: false },
    };

    fn constants(types: &[&str]) -> (Constants, Vec<ConstId>) {
        let mut constants = Constants::default();
        let declare = |ty: &&str| {
            let ty = RustType::from_name(ty).expect("a type");
            let name = ty.name().to_uppercase();
            constants.declare(Declaration { name, ty, value: None, names: Vec::new(), span: Span::default() })
        };
        let ids = types.iter().map(declare).collect();
        (constants, ids)
    }

    /// Does the value lie in the bounds?
    fn fits(bounds: Bounds, c: Const) -> bool {
        let Const::Int { value, unsigned } = c else { return false };
        let n = if unsigned { i128::from(value) } else { i128::from(value.cast_signed()) };
        let low_bits = (value ^ bounds.rest) & mask(bounds.bits) == 0;
        bounds.low <= n && n <= bounds.high && low_bits && (!bounds.signed || !unsigned)
    }

    #[test]
    fn all_values_lie_in_the_bounds() {
        let operators = [
            "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "max", "up", "<", ">", "<=", ">=", "==", "!=", "&&",
            "||",
        ];
        let mut random = Random::new(1);
        let mut draw = |n: usize| random.below(n);
        let numbers = [0, 1, 2, 3, 4, 7, 12, 64, 255, 1 << 31, i64::MAX.cast_unsigned(), 1 << 63, u64::MAX];
        let (mut compared, mut narrow) = (0, 0);
        for _ in 0..300 {
            let (mut constants, mut ids) = constants(&["u8", "i8", "bool", "u64", "i64"]);
            for _ in 0..24 {
                let (a, b, c) = (ids[draw(ids.len())], ids[draw(ids.len())], ids[draw(ids.len())]);
                let span = Span::default();
                let new = match draw(8) {
                    0 => Some(constants.number(numbers[draw(numbers.len())], span)),
                    1 => constants.unary(['-', '~', '!', '+'][draw(4)], a, span),
                    2 => constants.cast(draw(2) == 0, a, span),
                    3 => constants.choose(a, b, c, span),
                    _ => Some(constants.int(operators[draw(operators.len())], a, b)),
                };
                ids.extend(new);
            }
            let bounds = constants.bounds();
            let steps: Vec<Vec<u8>> = constants.all.iter().map(|(expression, ..)| expression.step().to_vec()).collect();
            for _ in 0..40 {
                let declared = [
                    Const::unsigned(draw(256) as u64),
                    Const::signed(draw(256) as i64 - 128),
                    Const::truth(draw(2) == 0),
                    Const::unsigned(numbers[draw(numbers.len())]),
                    Const::signed(numbers[draw(numbers.len())].cast_signed()),
                ];
                let mut all = vec![Const::signed(0); constants.all.len()];
                for (n, (expression, ..)) in constants.all.iter().enumerate() {
                    let by = |id: ConstId| matches!(all[id.0 as usize], Const::Int { value: 0, .. });
                    // a division by zero has no value, and neither has what follows
                    if constants.may_fail(expression) && matches!(expression, Expression::Binary(_, _, b) if by(*b)) {
                        break;
                    }
                    evaluate(&mut all, n, &steps[n], &declared, "");
                    assert!(fits(bounds[n], all[n]), "{expression:?} is {:?}, not in {:?}", all[n], bounds[n]);
                    compared += 1;
                    narrow += usize::from(bounds[n] != Bounds::any((0, 0)));
                }
            }
        }
        assert!(compared > 100_000 && narrow > compared / 2, "{compared} {narrow}");
    }

    /// What is reported if the rule is `left operator n`, with `value` in the message.
    fn reported(build: impl Fn(&mut Constants, ConstId) -> (ConstId, &'static str, i64)) -> Option<String> {
        let (mut constants, ids) = constants(&["u32"]);
        let (left, operator, n) = build(&mut constants, ids[0]);
        let text = format!("it is {}, `x+{}`", Constants::mark(left), Constants::mark(left));
        constants.require_number(left, operator, n, Diagnostic::error(&CODE, Span::default(), text));
        let found = constants.broken_by_all();
        assert_eq!(found.len() + constants.assertions.len(), 1);
        found.first().map(|d| format!("{}; {}", d.message, d.notes.join("; ")))
    }

    #[test]
    fn rules_that_no_value_keeps_are_reported() {
        let span = Span::default();
        let large = reported(|all, n| {
            let more = all.number(1025, span);
            (all.int("+", n, more), "<=", 1024)
        });
        assert_eq!(
            large.as_deref(),
            Some("it is 1025 or more, `x+(U32 + 1025)`; every value of `U32` breaks this rule")
        );
        let odd = reported(|all, n| {
            let (four, two) = (all.number(4, span), all.number(2, span));
            let product = all.int("*", four, n);
            let sum = all.int("+", product, two);
            (all.int("%", sum, four), "==", 0)
        });
        assert_eq!(odd.as_deref(), Some("it is 2, `x+2`; every value of `U32` breaks this rule"));
        assert_eq!(reported(|_, n| (n, ">=", 1)), None);
        assert_eq!(reported(|_, n| (n, "<=", 1024)), None);
        // 2^32 - 1 + 1 has more than 32 bits, and an expression 64
        assert_eq!(
            reported(|_, n| (n, ">=", 1 << 32)).as_deref(),
            Some("it is `U32`, `x+U32`; every value of `U32` breaks this rule")
        );
    }
}
