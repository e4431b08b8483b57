//! Kinds of registers.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

/// A kind of register.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
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

impl Kind {
    pub const fn bits(self) -> u32 {
        match self {
            Kind::P => 1,
            Kind::H => 16,
            Kind::W | Kind::F => 32,
            Kind::L => 64,
        }
    }
}
