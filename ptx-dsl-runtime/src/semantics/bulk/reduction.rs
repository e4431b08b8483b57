//! Reductions of asynchronous operations: element by element, as `red` does them but for subnormals.

use crate::numerics::qual::{Q, Ty};
use crate::semantics::{atom, ld_st};

/// The function that combines an element of memory and an operand.
#[derive(Debug, Clone, Copy)]
pub struct Reduction {
    q: Q,
    ty: Ty,
    global: bool,
    ftz: bool,
}

impl Reduction {
    /// The reduction of an instruction on elements of a type. Sums keep subnormals, unlike those of `red`.
    pub fn of(q: Q, ty: Ty, global: bool) -> Self {
        Reduction { q, ty, global, ftz: false }
    }

    /// The reduction, which flushes subnormal operands and sums of f32 to zero if `ftz` holds.
    pub fn flushing(self, ftz: bool) -> Self {
        Reduction { ftz, ..self }
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        ld_st::element(self.ty) as usize
    }

    /// The new value of an element.
    pub fn combine(self, old: u64, operand: u64) -> u64 {
        atom::reduce(self.q, self.ty, (self.global, self.ftz), old, operand)
    }
}
