//! Comparisons: what a `.CmpOp` means, and whether it holds for two integers.

use ptx_dsl_isa::qualifier::{Qualifier, q};

/// `.CmpOp` of integers. `.lo`, `.ls`, `.hi`, `.hs` are unsigned (9.7.6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Equal.
    Eq,
    /// The operands differ.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Compare {
    /// The comparison that a qualifier names.
    pub fn of(qualifier: Qualifier) -> Option<Compare> {
        Some(match qualifier {
            q::eq => Compare::Eq,
            q::ne => Compare::Ne,
            q::lt | q::lo => Compare::Lt,
            q::le | q::ls => Compare::Le,
            q::gt | q::hi => Compare::Gt,
            q::ge | q::hs => Compare::Ge,
            _ => return None,
        })
    }
}

/// The result of a comparison of two numbers of `bits` bits.
pub fn holds(op: Compare, signed: bool, bits: u32, x: u64, y: u64) -> bool {
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let (x, y) = (x & mask, y & mask);
    let wide = |n: u64| if signed { ((n << (64 - bits)) as i64) >> (64 - bits) } else { 0 };
    let order = if signed { wide(x).cmp(&wide(y)) } else { x.cmp(&y) };
    match op {
        Compare::Eq => order.is_eq(),
        Compare::Ne => order.is_ne(),
        Compare::Lt => order.is_lt(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        Compare::Ge => order.is_ge(),
    }
}
