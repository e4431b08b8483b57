//! The collector buffers of a tensor core, which hold the matrices that `.collector` qualifiers reuse (PTX ISA 9.7.16.10).
//!
//! A buffer is a cache: reading it gives what its matrix gives. What matters is whether it holds the matrix of the operation.

use crate::numerics::matrix::format::Format;

/// A buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CollectorBuffer {
    A,
    B,
    /// A buffer of `.ws`, by number.
    Stationary(usize),
}

/// The effect of an operation on a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    Fill,
    Use,
    LastUse,
    Discard,
}

/// A matrix: where it is, its size and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// A descriptor, or an address in Tensor Memory.
    pub at: u64,
    pub in_tensor_memory: bool,
    pub lines: usize,
    pub k: usize,
    pub format: Format,
    pub transposed: bool,
    pub sparse: bool,
}

/// The matrices in the buffers of a CTA, or with `.cta_group::2` of a pair.
#[derive(Debug, Default)]
pub(crate) struct Collectors([Option<Matrix>; 6]);

/// The reason why a buffer cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The buffer is empty: no operation has filled it, or its contents were discarded.
    Empty,
    /// The buffer holds another matrix.
    Other(Matrix),
}

impl Collectors {
    /// An operation on `matrix`. The buffer keeps its matrix until another fills it, or it is discarded.
    pub fn operate(&mut self, buffer: CollectorBuffer, usage: Usage, matrix: Matrix) -> Result<(), Missing> {
        let index = match buffer {
            CollectorBuffer::A => 0,
            CollectorBuffer::B => 1,
            CollectorBuffer::Stationary(i) => 2 + i % 4,
        };
        let held = &mut self.0[index];
        if matches!(usage, Usage::Use | Usage::LastUse) {
            match held {
                None => return Err(Missing::Empty),
                Some(other) if *other != matrix => return Err(Missing::Other(*other)),
                Some(_) => {}
            }
        }
        match usage {
            Usage::Fill => *held = Some(matrix),
            Usage::Use => {}
            Usage::LastUse | Usage::Discard => *held = None,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: Matrix = Matrix {
        at: 64,
        in_tensor_memory: false,
        lines: 128,
        k: 16,
        format: Format::F16,
        transposed: false,
        sparse: false,
    };

    #[test]
    fn a_matrix_stays_until_its_last_use() {
        let mut c = Collectors::default();
        let other = Matrix { at: 80, ..MATRIX };
        for buffer in
            [CollectorBuffer::A, CollectorBuffer::B, CollectorBuffer::Stationary(0), CollectorBuffer::Stationary(3)]
        {
            assert_eq!(c.operate(buffer, Usage::Use, MATRIX), Err(Missing::Empty));
            for usage in [Usage::Fill, Usage::Use, Usage::Use] {
                c.operate(buffer, usage, MATRIX).unwrap();
            }
            assert_eq!(c.operate(buffer, Usage::LastUse, other), Err(Missing::Other(MATRIX)));
            c.operate(buffer, Usage::LastUse, MATRIX).unwrap();
            assert_eq!(c.operate(buffer, Usage::LastUse, MATRIX), Err(Missing::Empty));
            c.operate(buffer, Usage::Fill, MATRIX).unwrap();
            c.operate(buffer, Usage::Fill, other).unwrap();
            c.operate(buffer, Usage::Use, other).unwrap();
            c.operate(buffer, Usage::Discard, MATRIX).unwrap();
            assert_eq!(c.operate(buffer, Usage::Use, other), Err(Missing::Empty));
        }
    }

    #[test]
    fn buffers_are_apart() {
        let mut c = Collectors::default();
        c.operate(CollectorBuffer::Stationary(1), Usage::Fill, MATRIX).unwrap();
        c.operate(CollectorBuffer::Stationary(0), Usage::Discard, MATRIX).unwrap();
        c.operate(CollectorBuffer::A, Usage::Discard, MATRIX).unwrap();
        c.operate(CollectorBuffer::Stationary(1), Usage::Use, MATRIX).unwrap();
        assert_eq!(c.operate(CollectorBuffer::Stationary(2), Usage::Use, MATRIX), Err(Missing::Empty));
    }
}
