//! Small programs: threads of instructions on named places.

use crate::event::{Order, Proxy, Scope};

/// A program with its initial state.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The names under which memory is accessed.
    pub places: Vec<Place>,
    /// The initial value of each location.
    pub locations: Vec<i64>,
    /// The expected arrivals of each mbarrier object.
    pub mbarriers: Vec<i64>,
}

/// A name of a location.
#[derive(Clone, Debug)]
pub struct Place {
    /// The name of the location.
    pub name: String,
    /// The location: the bytes after the address.
    pub location: usize,
    /// The virtual address. Those of generic aliases differ.
    pub address: usize,
}

/// A thread and where it runs.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// The CTA of the thread, a number within the GPU.
    pub cta: i64,
    /// The cluster of the thread, a number within the GPU.
    pub cluster: i64,
    /// The GPU of the thread.
    pub gpu: i64,
    /// The instructions of the thread.
    pub code: Vec<Instruction>,
    /// The initial values of its registers.
    pub registers: Vec<Option<i64>>,
}

impl Thread {
    /// Whether one scope of a thread includes another thread.
    pub fn includes(&self, other: &Thread, scope: Scope) -> bool {
        match scope {
            Scope::Sys => true,
            Scope::Gpu => self.gpu == other.gpu,
            Scope::Cluster => self.gpu == other.gpu && self.cluster == other.cluster,
            Scope::Cta => self.gpu == other.gpu && self.cluster == other.cluster && self.cta == other.cta,
        }
    }
}

/// A register or a constant.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// The index of a register.
    Register(usize),
    /// A constant.
    Constant(i64),
}

/// The semantics, scope and proxy of an access to memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The semantics.
    pub order: Order,
    /// The scope of a strong access.
    pub scope: Option<Scope>,
    /// The proxy.
    pub proxy: Proxy,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug)]
pub enum Arithmetic {
    /// The second one: `mov` and `exch`.
    Second,
    /// `add`
    Add,
    /// `sub`
    Sub,
    /// `mul`
    Mul,
    /// `div`; 0 where the divisor is.
    Div,
    /// `and`
    And,
    /// `or`
    Or,
    /// `xor`
    Xor,
}

impl Arithmetic {
    /// The result.
    pub fn of(self, a: i64, b: i64) -> i64 {
        match self {
            Arithmetic::Second => b,
            Arithmetic::Add => a.wrapping_add(b),
            Arithmetic::Sub => a.wrapping_sub(b),
            Arithmetic::Mul => a.wrapping_mul(b),
            Arithmetic::Div => a.checked_div(b).unwrap_or(0),
            Arithmetic::And => a & b,
            Arithmetic::Or => a | b,
            Arithmetic::Xor => a ^ b,
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Compare {
    /// The result.
    pub fn of(self, a: i64, b: i64) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }
}

/// An instruction.
#[allow(missing_docs)] // The names of the fields say it.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// `ld`
    Load { register: usize, place: usize, access: Access },
    /// `st`
    Store { place: usize, value: Operand, access: Access },
    /// `atom` and `red`. With `compare` it is `cas`.
    Atomic {
        register: Option<usize>,
        place: usize,
        operation: Arithmetic,
        value: Operand,
        compare: Option<Operand>,
        access: Access,
    },
    /// `fence.acq_rel`, `fence.sc`, `fence.acquire`, `fence.release`
    Fence { order: Order, scope: Scope },
    /// `fence.proxy.*`
    ProxyFence(Proxy),
    /// `fence.proxy.alias`
    AliasFence,
    /// `barrier.cta`
    Barrier { arrives: bool, instance: i64, resource: Operand, threads: Option<Operand> },
    /// Arithmetic on registers.
    Compute { register: usize, operation: Arithmetic, a: Operand, b: Operand },
    /// A branch to an instruction.
    Branch { compare: Compare, a: Operand, b: Operand, target: usize },
    /// `mbarrier.arrive`, with `tx` bytes expected.
    Arrive { object: usize, order: Order, scope: Scope, count: i64, tx: i64 },
    /// `mbarrier.try_wait.parity`: 1 or 0 in the register.
    TryWait { register: usize, object: usize, parity: i64, order: Order, scope: Scope },
    /// `barrier.cluster.arrive`, of one instance.
    ClusterArrive { order: Order, instance: i64 },
    /// `barrier.cluster.wait`, of one instance.
    ClusterWait { instance: i64 },
    /// An asynchronous operation.
    Async(Async),
    /// A wait for asynchronous operations of the thread, or an instruction that orders them.
    Await(Await),
}

/// An asynchronous operation: it runs beside the thread, in program order after what the thread did before.
#[allow(missing_docs)] // The names of the fields say it.
#[derive(Clone, Copy, Debug)]
pub enum Async {
    /// `cp.async`
    Copy { to: usize, from: usize },
    /// `cp.async.bulk`: completes on an mbarrier object with this many bytes, or in a bulk group.
    Bulk { to: usize, from: usize, object: Option<(usize, i64)> },
    /// `st.async`
    Store { to: usize, value: i64, object: (usize, i64) },
    /// `clusterlaunchcontrol.try_cancel`: writes 1 as its response.
    TryCancel { to: usize, object: usize },
    /// `tcgen05.mma`: adds what it reads in shared memory to Tensor Memory.
    Mma { to: usize, from: usize },
    /// `tcgen05.cp`
    Tcgen05Copy { to: usize, from: usize },
    /// `tcgen05.st`
    Tcgen05Store { to: usize, value: i64 },
    /// `tcgen05.ld`
    Tcgen05Load { register: usize, from: usize },
    /// `tcgen05.commit`
    Commit { object: usize },
}

/// Waits and fences of asynchronous operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Await {
    /// `cp.async.wait_all`
    Copies,
    /// `cp.async.bulk.wait_group 0`
    BulkGroups,
    /// `cp.async.bulk.wait_group.read 0`
    BulkGroupsRead,
    /// `tcgen05.wait::ld`
    Tcgen05Loads,
    /// `tcgen05.wait::st`
    Tcgen05Stores,
    /// `tcgen05.fence::before_thread_sync`
    BeforeThreadSync,
    /// `tcgen05.fence::after_thread_sync`
    AfterThreadSync,
}
