//! Matrices in shared memory that are read with another layout than they were written with.

use super::At;
use std::fmt;

/// A matrix in shared memory that is read with another layout than a tensor copy has written it with, or whose descriptor gives two of
/// its elements the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixLayout {
    /// The operand: `A`, `B`; of `ldmatrix` and `tcgen05.cp`, `the matrix`.
    pub operand: &'static str,
    /// The layout of the read in words: "A is read without swizzling".
    pub read: String,
    /// The box that was written there, unless the descriptor is wrong by itself.
    pub written: Option<WrittenBox>,
    /// The section of the manual.
    pub section: &'static str,
    /// Advice on how to fix the layout.
    pub help: String,
}

/// A box that a tensor copy has written to shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenBox {
    /// The statement of the copy: the index in [`KernelInfo::sites`](crate::kernel::KernelInfo::sites).
    pub site: u32,
    /// The statement of the copy in words, if known.
    pub at: Option<At>,
    /// The layout of the box in words: "with 128-byte swizzling".
    pub how: String,
}

impl fmt::Display for MatrixLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(WrittenBox { at, how, .. }) = &self.written else { return f.write_str(&self.read) };
        match at {
            Some(at) => write!(f, "{}, but `{}` ({}) wrote it {how}", self.read, at.text, at.short()),
            None => write!(f, "{}, but a tensor copy wrote it {how}", self.read),
        }
    }
}
