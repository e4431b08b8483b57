//! The kinds of access that the checked host records.

/// The kind of access of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RecordKind {
    #[default]
    Load,
    Store,
    Atomic,
    /// The initialisation of an mbarrier object.
    Init,
    /// The invalidation of an mbarrier object. What it leaves counts as never written.
    Inval,
    /// An operation on an mbarrier object.
    Mbarrier,
    /// A load by a copy in flight.
    CopyLoad,
    CopyStore,
    CopyReduction,
    /// A store in the generic proxy for a thread: `cp.async`, `st.async`.
    AsyncStore,
    AsyncReduction,
    /// An operand in shared memory of `wgmma` or `tcgen05`.
    Operand,
    /// A read of a tensor map by a tensor copy.
    TensorMap,
    /// The end of a CTA, no access.
    End,
}

impl RecordKind {
    pub fn name(self) -> &'static str {
        match self {
            RecordKind::Load => "load",
            RecordKind::Store => "store",
            RecordKind::Atomic => "atomic operation",
            RecordKind::Init => "`mbarrier.init` or `.inval`",
            RecordKind::Inval => "`mbarrier.inval`",
            RecordKind::Mbarrier => "operation on the mbarrier object",
            RecordKind::CopyLoad => "read by an asynchronous copy",
            RecordKind::CopyStore => "write by an asynchronous copy",
            RecordKind::AsyncStore => "asynchronous store",
            RecordKind::CopyReduction | RecordKind::AsyncReduction => "asynchronous reduction",
            RecordKind::Operand => "read by a matrix operation",
            RecordKind::TensorMap => "read of the tensor map",
            RecordKind::End => "end of the CTA",
        }
    }

    pub fn writes(self) -> bool {
        use RecordKind::*;
        !matches!(self, Load | Inval | Mbarrier | CopyLoad | Operand | TensorMap)
    }

    /// Whether the access is a store through the generic proxy, which other proxies see only after a proxy fence.
    pub fn needs_fence(self) -> bool {
        matches!(self, RecordKind::Store | RecordKind::Atomic | RecordKind::AsyncStore | RecordKind::AsyncReduction)
    }

    /// Whether the access is an atomic operation on each element.
    pub fn reduces(self) -> bool {
        matches!(self, RecordKind::CopyReduction | RecordKind::AsyncReduction)
    }

    /// Whether the access ends at a time of its own.
    pub fn is_asynchronous(self) -> bool {
        use RecordKind::*;
        matches!(self, CopyLoad | CopyStore | CopyReduction | AsyncStore | AsyncReduction | Operand)
    }
}
