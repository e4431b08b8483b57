//! Kinds of registers.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

/// A kind of register.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RowKind {
    /// A predicate.
    P,
    /// 16 bits, in a word.
    H,
    /// 32 bits.
    W,
    /// An f32. For an operand: the instruction does not distinguish NaNs. For a result: a NaN may be any.
    F,
    /// 64 bits.
    L,
}

impl RowKind {
    pub const fn bits(self) -> u32 {
        match self {
            RowKind::P => 1,
            RowKind::H => 16,
            RowKind::W | RowKind::F => 32,
            RowKind::L => 64,
        }
    }
}
