//! Accesses to Tensor Memory, for monitors.

use crate::sync::tensor_pipeline::Pipeline;
use std::ops::Range;

/// A rectangle of the Tensor Memory of a CTA of the cluster.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorArea {
    /// The rank of the CTA.
    pub rank: u32,
    /// Lanes.
    pub lanes: Range<usize>,
    /// Columns.
    pub columns: Range<usize>,
    /// The operand of an operation that the area holds: `D`, `A`, `the scales of A`, `the scales of B`, `the sparsity metadata`,
    /// `the lookup table`. Else empty.
    pub operand: &'static str,
}

/// The agent that accesses Tensor Memory.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorBy {
    /// `tcgen05.ld` or `tcgen05.st` of the warp: complete at its next `tcgen05.wait`.
    Warp,
    /// An operation that the thread issues, after this many commits: complete when the next one arrives.
    #[allow(missing_docs)]
    Operation { commits: u64, pipeline: Pipeline },
    /// `tcgen05.alloc`, which writes nothing, but gives the columns to the CTA.
    Alloc {
        /// `.cta_group::2`: the peer CTA of the pair has allocated them too.
        with_peer: bool,
    },
    /// `tcgen05.dealloc`
    Dealloc,
}

/// An access to Tensor Memory, or an operation that makes it from now on.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TensorAccess<'a> {
    /// The agent that makes the access.
    pub by: TensorBy,
    /// The areas that are read.
    pub reads: &'a [TensorArea],
    /// The areas that are written.
    pub writes: &'a [TensorArea],
    /// Whether the host requires `tcgen05.fence`: see [`Host::tensor_fences`](crate::api::host::Host::tensor_fences).
    pub fences: bool,
}
