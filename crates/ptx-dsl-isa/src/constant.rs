//! Constants of PTX (PTX ISA 4.5): 64-bit integers, and `f64` for floating point. The front end folds them, and emitted code
//! evaluates those that depend on Rust constants, so all functions are `const`.

mod bounds;
mod expression;
mod program;
mod text;

pub use expression::{Assertion, ConstId, Constants, Count, Declaration, Expression, Kind, Named, RustType};
pub use program::{Cut, STEP, check, evaluate, patch, patched};
pub use text::{Piece, Text, longest};

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

impl Const {
    /// An integer of type `.s64`.
    pub const fn signed(value: i64) -> Const {
        Const::Int { value: value as u64, unsigned: false }
    }

    /// The literal with this value: it is unsigned only if it is no `.s64`.
    pub const fn unsigned(value: u64) -> Const {
        Const::Int { value, unsigned: value > i64::MAX as u64 }
    }

    /// `0f...`
    pub const fn f32(value: f32) -> Const {
        Const::F32(value.to_bits())
    }

    /// A truth value.
    pub const fn truth(value: bool) -> Const {
        Const::signed(value as i64)
    }

    /// Is it anything but the integer 0?
    pub const fn holds(self) -> bool {
        !matches!(self, Const::Int { value: 0, .. })
    }

    /// The bits of an operand. A floating-point number is an `f32` if `single`, else an `f64`.
    pub const fn bits(self, single: bool) -> u64 {
        match self {
            Const::Int { value, .. } => value,
            Const::F32(bits) if single => bits as u64,
            Const::F32(bits) => (f32::from_bits(bits) as f64).to_bits(),
            Const::F64(value) if single => (value as f32).to_bits() as u64,
            Const::F64(value) => value.to_bits(),
        }
    }

    /// As 32 bits; the largest number if it has more.
    pub const fn to_u32(self) -> u32 {
        let bits = self.bits(false);
        if bits > u32::MAX as u64 { u32::MAX } else { bits as u32 }
    }

    /// The value of a unary operator; `None` if the constant is of the wrong kind.
    pub const fn unary(self, operator: char) -> Option<Const> {
        Some(match (operator, self) {
            ('+', c) => c,
            ('-', Const::Int { value, unsigned }) => Const::Int { value: value.wrapping_neg(), unsigned },
            ('~', Const::Int { value, .. }) => Const::Int { value: !value, unsigned: true },
            ('!', Const::Int { value, .. }) => Const::truth(value == 0),
            ('-', Const::F64(v)) => Const::F64(-v),
            ('-', Const::F32(bits)) => Const::F32(bits ^ 0x8000_0000),
            _ => return None,
        })
    }

    /// `(.u64) c`; ptxas casts integers only.
    pub const fn cast(self, unsigned: bool) -> Option<Const> {
        match self {
            Const::Int { value, .. } => Some(Const::Int { value, unsigned }),
            Const::F64(_) | Const::F32(_) => None,
        }
    }

    /// `self ? yes : no`. All three are integers, says ptxas.
    pub const fn choose(self, yes: Const, no: Const) -> Option<Const> {
        match (self, yes, no) {
            (Const::Int { value: 0, .. }, Const::Int { .. }, no @ Const::Int { .. }) => Some(no),
            (Const::Int { .. }, yes @ Const::Int { .. }, Const::Int { .. }) => Some(yes),
            _ => None,
        }
    }

    /// The value of a binary operator; `None` if it divides by zero, or mixes kinds.
    pub const fn binary(self, operator: &str, other: Const) -> Option<Const> {
        match (self, other) {
            (Const::Int { value: a, unsigned: ua }, Const::Int { value: b, unsigned: ub }) => {
                integer(operator.as_bytes(), a, b, ua, ub)
            }
            (Const::F64(a), Const::F64(b)) => float(operator.as_bytes(), a, b),
            _ => None,
        }
    }
}

/// Follows ptxas: the result is `.u64` if either side is; `%` and `~` always give `.u64`; shifts have the type of the left side
/// and use the low six bits of the right one; comparisons give `.s64`. Layouts also use `max` and `up`, which rounds up to a multiple.
const fn integer(operator: &[u8], a: u64, b: u64, ua: bool, ub: bool) -> Option<Const> {
    let unsigned = ua || ub;
    let (sa, sb) = (a as i64, b as i64);
    let (less, equal) = (if unsigned { a < b } else { sa < sb }, a == b);
    let (value, unsigned) = match operator {
        b"+" => (a.wrapping_add(b), unsigned),
        b"-" => (a.wrapping_sub(b), unsigned),
        b"*" => (a.wrapping_mul(b), unsigned),
        b"/" | b"%" if b == 0 => return None,
        b"/" if unsigned => (a / b, true),
        b"/" => (sa.wrapping_div(sb) as u64, false),
        b"%" => (a % b, true),
        b"&" => (a & b, unsigned),
        b"|" => (a | b, unsigned),
        b"^" => (a ^ b, unsigned),
        b"<<" => (a.wrapping_shl(b as u32), ua),
        b">>" if ua => (a.wrapping_shr(b as u32), true),
        b">>" => (sa.wrapping_shr(b as u32) as u64, false),
        b"max" => (if a < b { b } else { a }, unsigned),
        b"up" if b == 0 => return None,
        b"up" => match a.checked_next_multiple_of(b) {
            Some(value) => (value, unsigned),
            None => (u64::MAX, true),
        },
        b"<" => return Some(Const::truth(less)),
        b">" => return Some(Const::truth(!less && !equal)),
        b"<=" => return Some(Const::truth(less || equal)),
        b">=" => return Some(Const::truth(!less)),
        b"==" => return Some(Const::truth(equal)),
        b"!=" => return Some(Const::truth(!equal)),
        b"&&" => return Some(Const::truth(a != 0 && b != 0)),
        b"||" => return Some(Const::truth(a != 0 || b != 0)),
        _ => return None,
    };
    Some(Const::Int { value, unsigned })
}

const fn float(operator: &[u8], a: f64, b: f64) -> Option<Const> {
    Some(match operator {
        b"+" => Const::F64(a + b),
        b"-" => Const::F64(a - b),
        b"*" => Const::F64(a * b),
        b"/" if b == 0.0 => return None,
        b"/" => Const::F64(a / b),
        b"<" => Const::truth(a < b),
        b">" => Const::truth(a > b),
        b"<=" => Const::truth(a <= b),
        b">=" => Const::truth(a >= b),
        b"==" => Const::truth(a == b),
        b"!=" => Const::truth(a != b),
        _ => return None,
    })
}

/// Registers of a multiprocessor.
const REGISTERS: u32 = 65_536;
/// Threads of a multiprocessor.
const THREADS: u32 = 2048;

/// Registers of a thread when the kernel starts, as ptxas 13.5 chooses them for `setmaxnreg`: `.maxnreg`, or with `.minnctapersm` and
/// a number of threads the share of a thread, but not more than any `setmaxnreg.inc` requests (`most`). Else 0: ptxas ignores
/// `setmaxnreg`.
pub const fn registers(maxnreg: Option<u32>, minnctapersm: Option<u32>, dims: Option<[u32; 3]>, most: u32) -> u32 {
    if let Some(n) = maxnreg {
        let n = if n > 256 { 256 } else { n.next_multiple_of(8) };
        return if n < 24 { 24 } else { n };
    }
    let (Some(ctas), Some([x, y, z])) = (minnctapersm, dims) else { return 0 };
    let threads = x as u64 * y as u64 * z as u64;
    if threads == 0 || threads > THREADS as u64 || ctas == 0 || threads * ctas as u64 > THREADS as u64 {
        return 0;
    }
    // the warps are spread over four units
    let warps = ((threads as u32).div_ceil(32) * ctas).next_multiple_of(4);
    let share = REGISTERS / (32 * warps) / 8 * 8;
    if share < most { share } else { most }
}
