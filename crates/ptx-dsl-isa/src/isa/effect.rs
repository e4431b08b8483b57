//! Effects of an instruction besides computing: on control flow, memory, other threads, asynchronous operations. Every entry of the
//! table has these attributes; checks, analyses and code generation read them instead of listing opcodes.

use super::class::InstrClass;

/// The effects and properties of an instruction.
#[derive(Debug, Clone, Copy)]
pub struct Effects {
    /// Its effect on control flow.
    pub control: Control,
    /// Its effect on the condition code.
    pub carry: Carry,
    /// Its results depend on its operands alone, not on the thread or on memory.
    pub pure: bool,
    /// Its result is the address that it takes, in another window: addresses that stay in a window keep their distances.
    pub translates: bool,
    /// Its operands are parts of its result, which may be undefined where another part is not: a logical operation, or one that packs.
    pub merges: bool,
    /// It takes many times as long as an addition: division, roots, transcendental functions.
    pub slow: bool,
    /// What it does to memory.
    pub memory: MemoryOp,
    /// The proxy of these accesses.
    pub proxy: Proxy,
    /// An asynchronous operation makes these accesses, not the executing thread.
    pub asynchronous: bool,
    /// The fence that it is.
    pub fence: Fence,
    /// The threads that issue it together.
    pub issue: Issue,
    /// The scope of a barrier instruction.
    pub barrier: Barrier,
    /// Its role in a synchronisation of threads.
    pub meeting: Meeting,
    /// Its effect on an mbarrier object.
    pub mbarrier: Mbarrier,
    /// Its role in a group of asynchronous operations.
    pub group: Group,
    /// Its effect on Tensor Memory.
    pub tensor: Tensor,
    /// It allocates or frees memory of the heap.
    pub heap: bool,
    /// It moves or reads the stack pointer.
    pub stack: bool,
    /// Its operands may have selectors and signs. Engines get them as a number, the last operand.
    pub selectors: bool,
    /// Its class in a mix of instructions, where its other effects do not decide it ([`Instr::class_in_mix`](super::entry::Instr::class_in_mix)).
    pub class: Option<InstrClass>,
    /// Its floating-point operations on each element: 1 for an addition, 2 for `fma`, 0 for what Nsight Compute does not count, such as a
    /// minimum.
    pub flops: u8,
}

impl Effects {
    /// Those of an instruction that each thread issues for itself and that only computes results.
    pub const NONE: Effects = Effects {
        control: Control::Next,
        carry: Carry::None,
        pure: false,
        translates: false,
        merges: false,
        slow: false,
        memory: MemoryOp::None,
        proxy: Proxy::Generic,
        asynchronous: false,
        fence: Fence::None,
        issue: Issue::Thread,
        barrier: Barrier::None,
        meeting: Meeting::None,
        mbarrier: Mbarrier::None,
        group: Group::None,
        tensor: Tensor::None,
        heap: false,
        stack: false,
        selectors: false,
        class: None,
        flops: 0,
    };

    /// What the executing thread itself does to memory, through the generic proxy.
    pub fn ordinary(&self) -> MemoryOp {
        if self.asynchronous || self.proxy != Proxy::Generic { MemoryOp::None } else { self.memory }
    }
}

/// The effect of an instruction on control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// None: the next instruction follows.
    Next,
    /// `bra`: branches to a label.
    Branch,
    /// `brx.idx`: branches to one label of a table.
    BranchTable,
    /// Calls a function.
    Call,
    /// Returns from a function; in a kernel the thread exits.
    Return,
    /// The thread exits.
    Exit,
    /// The kernel is aborted.
    Trap,
}

impl Control {
    /// Does the instruction end a basic block? A guarded trap does not: the kernel continues or is aborted.
    pub fn ends_block(self, guarded: bool) -> bool {
        match self {
            Control::Next | Control::Call => false,
            Control::Branch | Control::BranchTable | Control::Return | Control::Exit => true,
            Control::Trap => !guarded,
        }
    }
}

/// The effect of an instruction on the condition code `CC.CF` (9.7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// None.
    None,
    /// Writes it: `add.cc`.
    Out,
    /// Reads it, and writes it if `.cc` is written: `addc`.
    In,
}

/// What an instruction does to memory. Opaque objects (mbarriers, tensor maps, textures) and Tensor Memory are not memory here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOp {
    /// Nothing.
    None,
    /// Reads it.
    Load,
    /// Writes it.
    Store,
    /// Reads and writes it in one operation that returns the old value.
    Atomic,
    /// Reads and writes it in one operation without a result.
    Reduction,
    /// Reads it at one address and writes it at another.
    Copy,
}

impl MemoryOp {
    /// Does it read and write memory in one operation?
    pub fn is_atomic(self) -> bool {
        matches!(self, MemoryOp::Atomic | MemoryOp::Reduction)
    }

    /// Does it write values that are not copied from memory?
    pub fn stores(self) -> bool {
        self == MemoryOp::Store || self.is_atomic()
    }

    /// Does its result come from memory?
    pub fn returns(self) -> bool {
        matches!(self, MemoryOp::Load | MemoryOp::Atomic)
    }
}

/// The proxy of an access (8.2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proxy {
    /// That of loads and stores. Loads through the read-only proxy count as generic.
    Generic,
    /// That of bulk copies and of matrices in shared memory.
    Async,
    /// That of another address of the same memory: a multimem address.
    Alias,
    /// That of other devices of the fabric.
    Fabric,
}

/// The fences of 9.7.13.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fence {
    /// No fence.
    None,
    /// Orders memory operations of the generic proxy.
    Memory,
    /// Orders the initialisation of mbarrier objects only.
    MbarrierInit,
    /// Orders accesses of different proxies.
    Proxy,
}

/// Which threads issue an instruction together. `.aligned` makes any instruction one of its warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issue {
    /// Each thread by itself.
    Thread,
    /// The lanes of a mask: `shfl.sync`, `bar.warp.sync`.
    Lanes,
    /// All existing lanes of the warp: `bar.sync`, which is `barrier.sync.aligned`.
    Warp,
    /// All 32 lanes of a warp: `mma`, `ldmatrix`.
    FullWarp,
}

/// The scope of a barrier instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Not a barrier.
    None,
    /// The threads of a warp.
    Warp,
    /// The threads of a CTA.
    Cta,
    /// The threads of a cluster.
    Cluster,
}

/// The role of an instruction in the synchronisation of several warps: the execution ordering of 9.7.16.6.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// None.
    None,
    /// Lets others continue.
    Arrive,
    /// Waits for others.
    Wait,
    /// Both.
    Both,
}

/// The effect of an instruction on an mbarrier object (9.7.13.15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mbarrier {
    /// None, but its asynchronous operation may complete on one.
    None,
    /// Initialises it.
    Init,
    /// Invalidates it.
    Inval,
    /// Arrives, optionally with bytes to expect.
    Arrive,
    /// Arrives, and lowers the expected count.
    Drop,
    /// Expects bytes.
    ExpectTx,
    /// Completes bytes.
    CompleteTx,
    /// Tests or waits for the completion of a phase.
    Wait,
    /// Reads a state or a layout.
    Query,
}

impl Mbarrier {
    /// Does the instruction arrive?
    pub fn arrives(self) -> bool {
        matches!(self, Mbarrier::Arrive | Mbarrier::Drop)
    }
}

/// Groups of asynchronous operations that a thread starts, commits and waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Not in a group.
    None,
    /// `cp.async` (9.7.9.25.3).
    Copy(Step),
    /// `cp.async.bulk` and its relatives (9.7.9.25.4, 9.7.9.25.5): in bulk groups if `.bulk_group` is written.
    Bulk(Step),
    /// `wgmma.mma_async` (9.7.15).
    Wgmma(Step),
}

/// The role of an instruction in such a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starts an operation.
    Start,
    /// Starts a hint that nothing waits for: a prefetch.
    Hint,
    /// Closes the group of the operations so far.
    Commit,
    /// Waits until all but some groups have completed.
    Wait,
}

/// The effect of an instruction on Tensor Memory (9.7.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tensor {
    /// None.
    None,
    /// A warp allocates columns; with `.cta_group::2` a warp of each CTA of the pair (9.7.16.7).
    Alloc,
    /// A warp frees columns, likewise.
    Dealloc,
    /// A warp gives up the right to allocate, likewise.
    Relinquish,
    /// A warp reads columns into registers, asynchronously (9.7.16.8).
    Load,
    /// A warp writes columns from registers, asynchronously.
    Store,
    /// A warp waits for its loads or its stores.
    Wait,
    /// A thread starts an asynchronous product of matrices.
    Mma,
    /// A thread starts an asynchronous copy or shift.
    Copy,
    /// An mbarrier tracks the operations that a thread has started.
    Commit,
    /// Orders the accesses of a thread with those of others (9.7.16.11).
    Fence,
}

impl Tensor {
    /// Does a thread start an asynchronous operation: `mma`, `cp`, `shift`?
    pub fn is_operation(self) -> bool {
        matches!(self, Tensor::Mma | Tensor::Copy)
    }
}
