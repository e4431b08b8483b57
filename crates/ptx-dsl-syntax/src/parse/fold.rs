//! Constant folding (PTX ISA 4.5): 64-bit integers, `f64` for floating point.

use crate::ast::Expr;

/// A constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Const {
    /// Of type `.s64`, or `.u64` if `unsigned`.
    Int {
        /// The 64 bits.
        value: u64,
        /// `.u64` rather than `.s64`.
        unsigned: bool,
    },
    /// `0f...`: the bits of an `f32`. It is no operand of arithmetic (PTX ISA 4.5.2).
    F32(u32),
    /// Of type `.f64`.
    F64(f64),
}

/// The value of an expression; `None` if it names anything but `WARP_SZ`, divides by zero, or mixes kinds.
pub fn fold(expr: &Expr) -> Option<Const> {
    Some(match expr {
        Expr::Int { value, unsigned, .. } => Const::Int { value: *value, unsigned: *unsigned },
        Expr::F32(bits, _) => Const::F32(*bits),
        Expr::F64(bits, _) => Const::F64(f64::from_bits(*bits)),
        Expr::Name(name, None) if name.text == "WARP_SZ" => signed(32),
        Expr::Name(..) | Expr::Call(..) => return None,
        Expr::Unary(op, e, _) => match (op, fold(e)?) {
            ('+', c) => c,
            ('-', Const::Int { value, unsigned }) => Const::Int { value: value.wrapping_neg(), unsigned },
            ('~', Const::Int { value, .. }) => Const::Int { value: !value, unsigned: true },
            ('!', Const::Int { value, .. }) => signed(i64::from(value == 0)),
            ('-', Const::F64(v)) => Const::F64(-v),
            ('-', Const::F32(bits)) => Const::F32(bits ^ 0x8000_0000),
            _ => return None,
        },
        Expr::Cast(ty, e, _) => match fold(e)? {
            Const::Int { value, .. } => Const::Int { value, unsigned: ty.text == ".u64" },
            // ptxas casts integers only.
            Const::F64(_) | Const::F32(_) => return None,
        },
        // All three are integers, says ptxas.
        Expr::Ternary(c, a, b, _) => match (fold(c)?, fold(a)?, fold(b)?) {
            (Const::Int { value: 0, .. }, Const::Int { .. }, b @ Const::Int { .. }) => b,
            (Const::Int { .. }, a @ Const::Int { .. }, Const::Int { .. }) => a,
            _ => return None,
        },
        Expr::Binary(op, a, b, _) => match (fold(a)?, fold(b)?) {
            (Const::Int { value: a, unsigned: ua }, Const::Int { value: b, unsigned: ub }) => {
                integer(op, a, b, ua, ub)?
            }
            (Const::F64(a), Const::F64(b)) => float(op, a, b)?,
            _ => return None,
        },
    })
}

fn signed(v: i64) -> Const {
    Const::Int { value: v as u64, unsigned: false }
}

/// Follows ptxas: the result is `.u64` if either side is; `%` and `~` always give `.u64`; shifts have the type of the left side
/// and use the low six bits of the right one; comparisons give `.s64`.
fn integer(op: &str, a: u64, b: u64, ua: bool, ub: bool) -> Option<Const> {
    let u = ua || ub;
    let (sa, sb) = (a as i64, b as i64);
    let (less, equal) = (if u { a < b } else { sa < sb }, a == b);
    let both = |value| Const::Int { value, unsigned: u };
    let left = |value| Const::Int { value, unsigned: ua };
    Some(match op {
        "+" => both(a.wrapping_add(b)),
        "-" => both(a.wrapping_sub(b)),
        "*" => both(a.wrapping_mul(b)),
        "/" if u => both(a.checked_div(b)?),
        "/" => both((b != 0).then(|| sa.wrapping_div(sb) as u64)?),
        "%" => Const::Int { value: a.checked_rem(b)?, unsigned: true },
        "&" => both(a & b),
        "|" => both(a | b),
        "^" => both(a ^ b),
        "<<" => left(a.wrapping_shl(b as u32)),
        ">>" if ua => left(a.wrapping_shr(b as u32)),
        ">>" => left(sa.wrapping_shr(b as u32) as u64),
        _ => signed(i64::from(match op {
            "<" => less,
            ">" => !less && !equal,
            "<=" => less || equal,
            ">=" => !less,
            "==" => equal,
            "!=" => !equal,
            "&&" => a != 0 && b != 0,
            "||" => a != 0 || b != 0,
            _ => return None,
        })),
    })
}

fn float(op: &str, a: f64, b: f64) -> Option<Const> {
    Some(match op {
        "+" => Const::F64(a + b),
        "-" => Const::F64(a - b),
        "*" => Const::F64(a * b),
        "/" if b == 0.0 => return None,
        "/" => Const::F64(a / b),
        "<" => signed(i64::from(a < b)),
        ">" => signed(i64::from(a > b)),
        "<=" => signed(i64::from(a <= b)),
        ">=" => signed(i64::from(a >= b)),
        "==" => signed(i64::from(a == b)),
        "!=" => signed(i64::from(a != b)),
        _ => return None,
    })
}
