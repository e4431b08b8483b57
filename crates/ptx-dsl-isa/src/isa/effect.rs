//! What an instruction does besides computing: to control flow, to other threads, to asynchronous operations. Every entry of the
//! table says so by attributes; checks, analyses and code generation read these and do not ask for opcodes.

/// What an instruction does to control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The next instruction follows.
    Next,
    /// `bra`: goes to a label.
    Branch,
    /// `brx.idx`: goes to one label of a table.
    BranchTable,
    /// Calls a function.
    Call,
    /// Returns from a function; in a kernel the thread ends.
    Return,
    /// The thread ends.
    Exit,
    /// The kernel is aborted.
    Trap,
}

impl Control {
    /// Does a basic block end behind the instruction? A guarded trap does not end one: the kernel goes on or is gone.
    pub fn ends_block(self, guarded: bool) -> bool {
        match self {
            Control::Next | Control::Call => false,
            Control::Branch | Control::BranchTable | Control::Return | Control::Exit => true,
            Control::Trap => !guarded,
        }
    }
}

/// What an instruction does with the condition code `CC.CF` (9.7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// Nothing.
    None,
    /// Writes it: `add.cc`.
    Out,
    /// Reads it, and writes it if `.cc` is written: `addc`.
    In,
}

/// Which threads issue an instruction together. `.aligned` makes any instruction one of its warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issue {
    /// Each thread for itself.
    Thread,
    /// The lanes of a mask: `shfl.sync`, `bar.warp.sync`.
    Lanes,
    /// All lanes that the warp has: `bar.sync`, which is `barrier.sync.aligned`.
    Warp,
    /// All 32 lanes of a warp: `mma`, `ldmatrix`.
    FullWarp,
}

/// Whose threads an instruction of a barrier brings together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// It is none.
    None,
    /// Those of a warp.
    Warp,
    /// Those of a CTA.
    Cta,
    /// Those of a cluster.
    Cluster,
}

/// The side that an instruction takes where threads of several warps meet: the execution ordering of 9.7.16.6.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// None.
    None,
    /// Tells others to go on.
    Arrive,
    /// Waits for others.
    Wait,
    /// Both.
    Both,
}

/// What an instruction does with an mbarrier object (9.7.13.15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mbarrier {
    /// Nothing, but its asynchronous operation may complete on one.
    None,
    /// Makes one.
    Init,
    /// Ends its life.
    Inval,
    /// Arrives, perhaps with bytes to expect.
    Arrive,
    /// Arrives, and is expected no more.
    Drop,
    /// Expects bytes.
    ExpectTx,
    /// Completes bytes.
    CompleteTx,
    /// Asks whether a phase is over, or waits for it.
    Wait,
    /// Looks at a state or a layout.
    Query,
}

/// Groups of asynchronous operations that a thread starts, commits and waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Of none.
    None,
    /// `cp.async` (9.7.9.25.3).
    Copy(Step),
    /// `cp.async.bulk` and its relatives (9.7.9.25.4, 9.7.9.25.5): of bulk groups if `.bulk_group` is written.
    Bulk(Step),
    /// `wgmma.mma_async` (9.7.15).
    Wgmma(Step),
}

/// What an instruction is to such a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starts an operation.
    Start,
    /// Starts a hint, for which nobody waits: a prefetch.
    Hint,
    /// Closes the group of the operations so far.
    Commit,
    /// Waits until all but some groups have completed.
    Wait,
}

/// What an instruction has to do with Tensor Memory (9.7.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tensor {
    /// Nothing.
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
