//! Reads of Tensor Memory that nothing has written.

use super::ThreadId;
use super::tensor_race::Span;
use std::fmt;
use std::ops::Range;

/// A read of lanes and columns of Tensor Memory that nothing has written since they were allocated (9.7.16.1).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorUnwritten {
    /// The lanes of the read.
    pub lanes: Range<usize>,
    /// The columns of the read.
    pub columns: Range<usize>,
    /// The rank of the CTA whose Tensor Memory it is.
    pub rank: u32,
    /// The operation of the thread of the fault: "load", "read by `tcgen05.mma`".
    pub access: &'static str,
    /// [`TensorArea::operand`](crate::observe::monitor::TensorArea::operand)
    pub operand: &'static str,
    /// Whether `tcgen05.mma` has accumulated onto the unwritten words.
    pub only_added: bool,
}

impl TensorUnwritten {
    pub(super) fn help(&self) -> &'static str {
        match self.operand {
            _ if self.only_added => {
                "let the first `tcgen05.mma` of the sum not read D, by an `enable-input-d` that is false, or write all of D first"
            }
            "" => "`tcgen05.st`, `tcgen05.cp` or `tcgen05.mma` writes to Tensor Memory",
            "D" => "the first `tcgen05.mma` of a sum does not read D: its predicate `enable-input-d` is false",
            "A" => "write A with `tcgen05.st` or `tcgen05.cp` first, in all lanes that the product reads",
            _ => "copy them there with `tcgen05.cp` first",
        }
    }

    pub(super) fn notes(&self, f: &mut fmt::Formatter<'_>, thread: Option<ThreadId>) -> fmt::Result {
        match thread {
            Some(own) if own.rank != self.rank => write!(f, "\n  = in the Tensor Memory of CTA rank {}", self.rank),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for TensorUnwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.access)?;
        if !self.operand.is_empty() {
            write!(f, " of {} in", self.operand)?;
        } else {
            f.write_str(" of")?;
        }
        let (lanes, columns) = (Span("lanes", &self.lanes), Span("columns", &self.columns));
        write!(f, " {lanes} and {columns} of Tensor Memory, ")?;
        f.write_str(match self.only_added {
            true => "where `tcgen05.mma` has added to what nothing has written",
            false => "which nothing has written",
        })
    }
}
