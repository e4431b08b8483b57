//! Reductions of asynchronous operations: element by element, as `red` does them.

use crate::isa::{atom, ld_st};
use crate::qual::{Q, Ty, q};

/// How an element of memory and an operand combine.
#[derive(Debug, Clone, Copy)]
pub struct Reduction {
    q: Q,
    ty: Ty,
    global: bool,
}

impl Reduction {
    /// That of an instruction, on elements of a type.
    pub fn of(q: Q, ty: Ty, global: bool) -> Self {
        Reduction { q, ty, global }
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        ld_st::element(self.ty) as usize
    }

    /// The new value of an element.
    pub fn combine(self, old: u64, operand: u64) -> u64 {
        atom::reduce(self.q, self.ty, (self.global, self.global && !self.q.has(q::noftz)), old, operand)
    }
}
