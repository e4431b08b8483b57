//! Accesses to Tensor Memory that are not in order.

use super::race::article;
use super::{NearMiss, Side, ThreadId};
use std::fmt;
use std::ops::Range;

/// Two accesses to the same lanes and columns of Tensor Memory, at least one of which writes, and what is missing between them
/// (9.7.16.6).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorRace {
    /// The lanes of the later access.
    pub lanes: Range<usize>,
    /// The columns of the later access.
    pub columns: Range<usize>,
    /// The rank of the CTA whose Tensor Memory it is.
    pub rank: u32,
    /// The operation of the thread of the fault: "load", "write by `tcgen05.mma`".
    pub access: &'static str,
    /// The other access, which came earlier in this run.
    pub other: Side,
    /// The lanes of the earlier access.
    pub other_lanes: Range<usize>,
    /// The columns of the earlier access.
    pub other_columns: Range<usize>,
    /// The order that is missing between the accesses.
    pub missing: TensorOrder,
    /// Whether both accesses are operations, which the manual does not execute in the order of issue.
    pub operations: bool,
    /// A synchronisation that would order the accesses if it were a little stronger.
    pub near_miss: Option<NearMiss>,
}

/// The order that is missing between two accesses to Tensor Memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorOrder {
    /// `tcgen05.wait` of the warp that came first.
    Wait,
    /// A commit after the operation that came first, and a wait for its mbarrier object.
    Commit,
    /// The first access is complete, but the threads have not synchronised.
    Synchronisation,
    /// `tcgen05.fence::before_thread_sync`, of the thread that came first.
    Before,
    /// `tcgen05.fence::after_thread_sync`, of the thread that comes now.
    After,
}

impl TensorRace {
    /// Whether one of the two `tcgen05.fence` is all that is missing. Compilers leave them out.
    pub fn is_fence(&self) -> bool {
        matches!(self.missing, TensorOrder::Before | TensorOrder::After)
    }

    /// Are both `tcgen05.mma`, which are not pipelined?
    pub(super) fn is_of_products(&self) -> bool {
        self.operations && [self.access, self.other.access].iter().all(|access| access.contains("tcgen05.mma"))
    }

    pub(super) fn section(&self) -> &'static str {
        match self.missing {
            TensorOrder::Wait => "9.7.16.8.5",
            TensorOrder::Commit => "9.7.16.12.1",
            TensorOrder::Synchronisation | TensorOrder::Before | TensorOrder::After => "9.7.16.6.3",
        }
    }

    /// Advice on how to order the accesses.
    pub(super) fn help(&self) -> &'static str {
        let of_other = self.near_miss.as_ref().filter(|miss| miss.why.is_of_other_thread());
        if let Some(miss) = of_other {
            return miss.help();
        }
        match self.missing {
            TensorOrder::Wait if self.other.access == "store" => {
                "put `tcgen05.wait::st` after the store, before other threads are told of it"
            }
            TensorOrder::Wait => "put `tcgen05.wait::ld` after the load, before other threads are told of it",
            TensorOrder::Commit => {
                "put `tcgen05.commit` to an mbarrier after it, a wait for that phase, and then `tcgen05.fence::after_thread_sync`"
            }
            TensorOrder::Synchronisation => {
                "let the other thread arrive at a barrier or an mbarrier object after its access, and wait for that before this one"
            }
            TensorOrder::Before => {
                "put `tcgen05.fence::before_thread_sync` after that access, before the threads synchronise"
            }
            TensorOrder::After => "put `tcgen05.fence::after_thread_sync` after the threads synchronise",
        }
    }

    pub(super) fn notes(&self, f: &mut fmt::Formatter<'_>, thread: Option<ThreadId>) -> fmt::Result {
        self.other.note(f)?;
        if thread.is_some_and(|own| own.rank != self.rank) {
            write!(f, "\n  = in the Tensor Memory of CTA rank {}", self.rank)?;
        }
        self.near_miss.iter().try_for_each(|miss| miss.note(f))
    }
}

impl fmt::Display for TensorRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lanes, columns) = (Span("lanes", &self.lanes), Span("columns", &self.columns));
        write!(f, "data race: this {} of {lanes} and {columns} of Tensor Memory ", self.access)?;
        let (a, other) = (article(self.other.access), self.other.access);
        let of = format_args!("of {} and {}", Span("lanes", &self.other_lanes), Span("columns", &self.other_columns));
        match self.missing {
            TensorOrder::Wait => write!(f, "comes after {a} {other} {of}, and its warp has not waited for that"),
            TensorOrder::Commit if self.operations => {
                write!(
                    f,
                    "comes after {a} {other} {of}, which has not been waited for, and nothing says which comes first"
                )
            }
            TensorOrder::Commit => write!(f, "comes after {a} {other} {of}, and nothing has waited for that"),
            TensorOrder::Synchronisation => write!(f, "and {a} {other} {of} are not ordered by any synchronisation"),
            TensorOrder::Before => {
                write!(f, "comes after {a} {other} {of}, and no `tcgen05.fence::before_thread_sync` follows that")
            }
            TensorOrder::After => {
                write!(f, "comes after {a} {other} {of}, and no `tcgen05.fence::after_thread_sync` precedes this")
            }
        }
    }
}

/// A range in words. The name is in the plural.
pub(super) struct Span<'a>(pub &'static str, pub &'a Range<usize>);

impl fmt::Display for Span<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1.len() {
            1 => write!(f, "{} {}", self.0.trim_end_matches('s'), self.1.start),
            _ => write!(f, "{} {} to {}", self.0, self.1.start, self.1.end.saturating_sub(1)),
        }
    }
}
