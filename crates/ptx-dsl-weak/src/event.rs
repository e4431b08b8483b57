//! Events: the operations that the memory consistency model relates.

/// The set of threads that an operation synchronises with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// `.cta`
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    Sys,
}

/// The semantics of an operation. Everything but `Weak` is strong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// `.weak`
    Weak,
    /// `.relaxed`
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcqRel,
    /// `.sc`, of fences alone
    Sc,
}

impl Order {
    /// The operation can begin a release pattern by itself.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::Sc)
    }

    /// The operation can end an acquire pattern by itself.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::Sc)
    }
}

/// The path of an access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proxy {
    /// Ordinary loads, stores and atomics.
    Generic,
    /// Surface instructions.
    Surface,
    /// Texture instructions.
    Texture,
    /// `ld.const`
    Constant,
    /// Bulk copies, `tcgen05` operands in shared memory, responses of `try_cancel`.
    Async,
}

/// The kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The initial value of a place.
    Init,
    /// A read; the read of an atomic operation too.
    Read,
    /// A write; the write of an atomic operation too.
    Write,
    /// `fence`
    Fence,
    /// `fence.proxy.*`: the event's proxy says which.
    ProxyFence,
    /// `fence.proxy.alias`
    AliasFence,
    /// `barrier.cta`: the execution says which ones meet.
    Barrier(Barrier),
    /// Arrival on an mbarrier object.
    Arrive(Arrival),
    /// A `test_wait` or `try_wait` that returned true.
    Wait {
        /// The index of the mbarrier object.
        object: usize,
        /// The parity that it waits for.
        parity: i64,
    },
    /// `barrier.cluster.arrive`, of one instance.
    ClusterArrive(i64),
    /// `barrier.cluster.wait`, of one instance.
    ClusterWait(i64),
    /// A wait for the thread's own asynchronous operations, or a `tcgen05.fence`.
    Completion,
}

/// A `barrier.cta`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// The execution of the barrier: a static number.
    pub instance: i64,
    /// The barrier resource.
    pub resource: i64,
    /// The number of threads that meet, where the instruction says it.
    pub threads: Option<i64>,
    /// `barrier.cta.arrive`
    pub arrives: bool,
    /// The thread never leaves the barrier.
    pub blocked: bool,
}

/// The effect of an operation on an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The index of the mbarrier object.
    pub object: usize,
    /// Pending arrivals that it takes.
    pub count: i64,
    /// Bytes that it adds to the tx-count; below 0 those that are complete.
    pub tx: i64,
}

/// An operation in an execution.
#[derive(Clone, Debug)]
pub struct Event {
    /// The thread; of an asynchronous operation the issuer.
    pub thread: usize,
    /// The kind of the event.
    pub kind: Kind,
    /// The memory semantics of the operation.
    pub order: Order,
    /// The scope of a strong operation.
    pub scope: Option<Scope>,
    /// The proxy of the access.
    pub proxy: Proxy,
    /// The index of the place that it accesses.
    pub place: Option<usize>,
    /// The value that it reads or writes.
    pub value: i64,
    /// The instruction in the thread's code.
    pub at: usize,
}

impl Event {
    /// Is the event a read or a write?
    pub fn is_memory(&self) -> bool {
        self.is_read() || self.is_write()
    }

    /// Is the event a write, or an initial write?
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Init)
    }

    /// Is the event a read?
    pub fn is_read(&self) -> bool {
        self.kind == Kind::Read
    }
}
