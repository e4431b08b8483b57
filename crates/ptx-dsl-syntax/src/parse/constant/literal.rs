//! Literals of Rust as values of constants, and their arithmetic.

use crate::ast::Expr;
use ptx_dsl_isa::constant::{Const, Kind, RustType};

/// What a text is as a literal of a type.
pub(super) enum Literal {
    Value(Const),
    OutOfRange,
    /// It is not a literal of the type.
    None,
}

pub(super) fn literal(text: &str, negative: bool, ty: RustType) -> Literal {
    if ty.name() == "bool" {
        return match (text, negative) {
            ("true", false) => Literal::Value(Const::truth(true)),
            ("false", false) => Literal::Value(Const::truth(false)),
            _ => Literal::None,
        };
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Literal::None;
    }
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let digits = plain.strip_suffix(ty.name()).unwrap_or(&plain);
    let number = match (ty.kind(), digits.as_bytes()) {
        (Kind::F32, _) if digits.contains('.') || digits.len() < plain.len() || digits.contains(['e', 'E']) => {
            let Ok(value) = digits.parse::<f32>() else { return Literal::None };
            return Literal::Value(Const::f32(if negative { -value } else { value }));
        }
        (Kind::F64, _) if digits.contains('.') || digits.len() < plain.len() || digits.contains(['e', 'E']) => {
            let Ok(value) = digits.parse::<f64>() else { return Literal::None };
            return Literal::Value(Const::F64(if negative { -value } else { value }));
        }
        (Kind::F32 | Kind::F64, _) => return Literal::None,
        (_, [b'0', b'x', rest @ ..]) => number(rest, 16),
        (_, [b'0', b'b', rest @ ..]) => number(rest, 2),
        (_, [b'0', b'o', rest @ ..]) => number(rest, 8),
        (_, rest) => number(rest, 10),
    };
    let Some(number) = number else { return Literal::None };
    let largest = match (ty.signed(), negative) {
        (true, true) => 1u128 << (ty.bits() - 1),
        (true, false) => (1u128 << (ty.bits() - 1)) - 1,
        (false, true) => return Literal::None,
        (false, false) => (1u128 << ty.bits()) - 1,
    };
    if number > largest {
        return Literal::OutOfRange;
    }
    let value = number as u64;
    Literal::Value(if negative { Const::signed(value.wrapping_neg() as i64) } else { Const::unsigned(value) })
}

/// Digits of a radix.
fn number(digits: &[u8], radix: u32) -> Option<u128> {
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.is_empty() || digits.starts_with('+') { None } else { u128::from_str_radix(digits, radix).ok() }
}

/// The value of an expression of integer literals, if Rust computes it in the type: no step may overflow.
pub(super) fn arithmetic(e: &Expr, ty: RustType) -> Option<Const> {
    if ty.name() == "bool" {
        return truth(e, 0).map(Const::truth);
    }
    if ty.kind() != Kind::Int {
        return None;
    }
    let value = steps(e, ty, 0)?;
    Some(if value < 0 { Const::signed(value as i64) } else { Const::unsigned(value as u64) })
}

/// The value of a comparison, or of comparisons with `&&`, `||` and `!`. Numbers in it may have any type of integers.
fn truth(e: &Expr, depth: u32) -> Option<bool> {
    if depth > DEEPEST {
        return None;
    }
    let of = |e| truth(e, depth + 1);
    let number = |e| {
        let types = ["u64", "i64"].map(RustType::from_name);
        types.into_iter().flatten().find_map(|ty| steps(e, ty, depth + 1))
    };
    Some(match e {
        // the value of a constant
        Expr::Int { value: value @ (0 | 1), text: None, .. } => *value == 1,
        Expr::Unary('!', a, _) => !of(a)?,
        Expr::Binary("&&", a, b, _) => of(a)? && of(b)?,
        Expr::Binary("||", a, b, _) => of(a)? || of(b)?,
        Expr::Binary(operator, a, b, _) => {
            let (a, b) = (number(a)?, number(b)?);
            match *operator {
                "==" => a == b,
                "!=" => a != b,
                "<" => a < b,
                "<=" => a <= b,
                ">" => a > b,
                ">=" => a >= b,
                _ => return None,
            }
        }
        _ => return None,
    })
}

const DEEPEST: u32 = 64;

fn steps(e: &Expr, ty: RustType, depth: u32) -> Option<i128> {
    if depth > DEEPEST {
        return None;
    }
    let of = |e| steps(e, ty, depth + 1);
    let value = match e {
        // `017` is octal in PTX alone
        Expr::Int { value, text, .. } if !text.as_ref().is_some_and(|text| octal(text)) => i128::from(*value),
        Expr::Unary('-', a, _) if ty.signed() => -of(a)?,
        // `(A == 0) as u32`, `N as u64`
        Expr::Cast(to, a, _) if RustType::from_name(to.text.trim_start_matches('.')) == Some(ty) => {
            match truth(a, depth + 1) {
                Some(truth) => truth.into(),
                None => of(a)?,
            }
        }
        Expr::Binary(operator, a, b, _) => {
            let (a, b) = (of(a)?, of(b)?);
            match *operator {
                "+" => a + b,
                "-" => a - b,
                "*" => a.checked_mul(b)?,
                "/" => a.checked_div(b)?,
                "%" => a.checked_rem(b)?,
                "&" => a & b,
                "|" => a | b,
                "^" => a ^ b,
                ">>" if (0..i128::from(ty.bits())).contains(&b) => a >> b,
                "<<" if (0..i128::from(ty.bits())).contains(&b) => {
                    // bits beyond the type are lost
                    let shifted = a << b;
                    return fits(shifted, ty).then_some(shifted);
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    fits(value, ty).then_some(value)
}

fn octal(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit()
}

/// Does an integer type have the value?
pub(in crate::parse) fn fits(value: i128, ty: RustType) -> bool {
    let bits = ty.bits();
    match ty.signed() {
        true => (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&value),
        false => (0..1i128 << bits).contains(&value),
    }
}
