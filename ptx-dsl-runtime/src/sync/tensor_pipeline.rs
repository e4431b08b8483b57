//! The order in which tensor core operations execute (PTX ISA 9.7.16.6.2).

/// The hardware queue that an operation goes through; operations of one queue stay in order where the manual says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `tcgen05.mma` and its variants.
    Mma,
    /// `tcgen05.cp`
    Cp,
    /// `tcgen05.cp` of shape `.4x256b`, the one that stays after a `tcgen05.shift`.
    Cp4x256b,
    /// `tcgen05.shift`
    Shift,
}

/// The pipeline of an operation: which others execute in the order of issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// The queue of the operation.
    pub unit: Unit,
    /// Equal for two `tcgen05.mma` of the same accumulator, shape and kind, which stay in order. 0 for other units.
    pub key: u64,
    /// `.cta_group::2`
    pub pair: bool,
}

impl Pipeline {
    /// Does an operation that is issued later execute after this one (9.7.16.6.2)?
    pub(crate) fn precedes(&self, later: &Pipeline) -> bool {
        use Unit::*;
        let in_order = match (self.unit, later.unit) {
            (Mma, Mma) => self.key == later.key,
            (Cp | Cp4x256b | Shift, Mma) | (Mma, Cp | Cp4x256b | Shift) | (Shift, Cp4x256b) => true,
            (Cp | Cp4x256b, Cp | Cp4x256b | Shift) | (Shift, Cp | Shift) => false,
        };
        self.pair == later.pair && in_order
    }
}
