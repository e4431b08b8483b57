//! The kinds of access that the checked host records.

/// The kind of access of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum What {
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

impl What {
    pub fn name(self) -> &'static str {
        match self {
            What::Load => "load",
            What::Store => "store",
            What::Atomic => "atomic operation",
            What::Init => "`mbarrier.init` or `.inval`",
            What::Inval => "`mbarrier.inval`",
            What::Mbarrier => "operation on the mbarrier object",
            What::CopyLoad => "read by an asynchronous copy",
            What::CopyStore => "write by an asynchronous copy",
            What::AsyncStore => "asynchronous store",
            What::CopyReduction | What::AsyncReduction => "asynchronous reduction",
            What::Operand => "read by a matrix operation",
            What::TensorMap => "read of the tensor map",
            What::End => "end of the CTA",
        }
    }

    pub fn writes(self) -> bool {
        use What::*;
        !matches!(self, Load | Inval | Mbarrier | CopyLoad | Operand | TensorMap)
    }

    /// Whether the access is a store through the generic proxy, which other proxies see only after a proxy fence.
    pub fn needs_fence(self) -> bool {
        matches!(self, What::Store | What::Atomic | What::AsyncStore | What::AsyncReduction)
    }

    /// Whether the access is an atomic operation on each element.
    pub fn reduces(self) -> bool {
        matches!(self, What::CopyReduction | What::AsyncReduction)
    }

    /// Whether the access ends at a time of its own.
    pub fn is_asynchronous(self) -> bool {
        use What::*;
        matches!(self, CopyLoad | CopyStore | CopyReduction | AsyncStore | AsyncReduction | Operand)
    }
}
