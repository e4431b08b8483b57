//! The kinds of faults: their sections of the manual, and what to do about them. [`words`](super::words) is what they say.

use super::{MatrixBounds, MatrixLayout, Race, TensorRace, TensorUnwritten};

/// The kind of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside of its buffer, or of its window of shared, local, const or param memory.
    OutOfBounds {
        /// state space
        space: &'static str,
        /// address given by the instruction
        addr: u64,
        /// size of the access
        bytes: u32,
        /// size of that memory
        size: u64,
    },
    /// An access through the address of a variable that is not entirely within this variable (checked host).
    OutsideVariable {
        /// state space
        space: &'static str,
        /// address given by the instruction
        addr: u64,
        /// size of the access
        bytes: u32,
        /// name of the variable
        variable: String,
        /// offset of the access from the first byte of the variable
        offset: i64,
        /// size of the variable
        size: u64,
    },
    /// An access to a part of a thread's stack that is not in use (checked host).
    FreedStack {
        /// address given by the instruction
        addr: u64,
    },
    /// An address that is not a multiple of the access size.
    Misaligned {
        /// state space
        space: &'static str,
        /// address given by the instruction
        addr: u64,
        /// required alignment
        align: u32,
    },
    /// A store to a read-only buffer, `.const` or a kernel parameter.
    ReadOnly {
        /// state space
        space: &'static str,
        /// address given by the instruction
        addr: u64,
    },
    /// An address outside of the window that the instruction names.
    WrongWindow {
        /// address given by the instruction
        addr: u64,
        /// the window that the instruction requires
        wanted: String,
    },
    /// Shared memory of a CTA that has exited.
    ExitedCta {
        /// rank of the CTA in the cluster
        rank: u32,
    },
    /// A CTA rank that the cluster does not have.
    NoSuchRank {
        /// rank given by the instruction
        rank: u32,
        /// CTAs in the cluster
        size: u32,
    },
    /// A read of memory that no thread has written (checked host).
    Uninitialised {
        /// state space
        space: &'static str,
        /// address given by the instruction
        addr: u64,
    },
    /// A use of a register with a value that no instruction of the thread has written (checked host).
    UndefinedRegister {
        /// name of the register
        register: String,
        /// the name of the register that the thread has not written, from which the value comes
        from: String,
        /// the statement that has read that register first, if another one has before; else empty
        read: String,
        /// the use of the value: "used as an address"
        what: String,
        /// Whether a thread, perhaps another one, has stored the value in between.
        stored: bool,
    },
    /// A read of a register that `tcgen05.ld` loads, before its `tcgen05.wait::ld` (checked host).
    PendingRegister {
        /// name of the register
        register: String,
        /// the name of the register that is loaded, from which the value comes
        from: String,
        /// the load
        load: String,
    },
    /// `wgmma.mma_async` reads a register that the warp has written since its last `wgmma.fence` (checked host).
    UnfencedRegister {
        /// name of the register
        register: String,
        /// the name of the written register, whose value was copied
        from: String,
        /// the instruction that has written that register
        by: String,
    },
    /// An instruction touches a register of D or A that belongs to a `wgmma.mma_async` in flight.
    HeldRegister {
        /// the register, and the operation in flight that holds it
        what: String,
        /// advice on how to fix the access
        help: &'static str,
    },
    /// A data race (checked host).
    DataRace(Box<Race>),
    /// Accesses to Tensor Memory that are not in order (checked host).
    TensorRace(Box<TensorRace>),
    /// A read of Tensor Memory that nothing has written (checked host).
    TensorUnwritten(Box<TensorUnwritten>),
    /// A matrix in shared memory that is read with another layout than a tensor copy has written it with (checked host).
    MatrixLayout(Box<MatrixLayout>),
    /// A matrix whose descriptor leads out of shared memory.
    MatrixOutOfBounds(Box<MatrixBounds>),
    /// An operation on memory that is not a live mbarrier object: never initialised, or invalidated.
    MbarrierNotLive {
        /// offset in shared memory
        offset: u32,
    },
    /// An ordinary access to the eight bytes of a live mbarrier object, or `mbarrier.init` on one.
    MbarrierMisused {
        /// offset in shared memory
        offset: u32,
        /// the access
        what: String,
    },
    /// A count outside of its range.
    MbarrierCount {
        /// the count that is out of range
        what: String,
    },
    /// An arrival count above the pending count of the phase.
    MbarrierOverArrive {
        /// offset in shared memory
        offset: u32,
        /// arrivals asked for
        count: u64,
        /// pending count
        pending: u64,
    },
    /// An arrival after the last participant has dropped.
    MbarrierNothingExpected,
    /// A `.noComplete` that completes the phase.
    NoCompleteCompletes,
    /// A tx-count outside of -(2^20-1) to 2^20-1.
    MbarrierTxCount {
        /// offset in shared memory
        offset: u32,
        /// the tx-count that would result
        tx: i64,
    },
    /// A wait for a phase that is neither the current one nor the one before.
    MbarrierPhase {
        /// description of the error
        what: String,
    },
    /// A wait for a phase after which others are complete, so that its parity names a later one (checked host). Phases count from 0.
    MbarrierLateWait {
        /// offset in shared memory
        offset: u32,
        /// the object in words, with its name if it has one
        object: String,
        /// the phase that the thread means
        wanted: u64,
        /// number of complete phases
        complete: u64,
        /// parity given by the instruction
        parity: u64,
    },
    /// A `clusterlaunchcontrol.try_cancel` after a failed response was observed.
    TryCancelAfterFailure,
    /// A multicast response (or another asynchronous write) for a CTA that has exited.
    MulticastExitedCta {
        /// rank of the CTA in the cluster
        rank: u32,
    },
    /// A `get_first_ctaid` of a failed response.
    FirstCtaidOfFailure,
    /// Wrong use of `bar`/`barrier`.
    Barrier {
        /// barrier number
        id: u32,
        /// description of the error
        what: String,
    },
    /// Wrong use of `barrier.cluster`.
    ClusterBarrier {
        /// description of the error
        what: String,
    },
    /// Wrong member mask of a warp-wide instruction, or an aligned one in divergent code.
    Members {
        /// description of the error
        what: String,
    },
    /// A use of what `shfl.sync` reads from a lane that the member mask does not name.
    ShuffleSource {
        /// lane that reads
        lane: u32,
        /// lane that it reads from
        from: u32,
        /// member mask
        mask: u32,
    },
    /// Wrong use of Tensor Memory: allocation, lanes, columns.
    TensorMemory {
        /// description of the error
        what: String,
        /// a fix, or ""
        help: &'static str,
    },
    /// A field of an instruction, shared-memory or zero-column-mask descriptor of tcgen05 that has no meaning.
    Descriptor {
        /// the descriptor, and its field
        field: &'static str,
        /// description of the error
        what: String,
    },
    /// A tcgen05 instruction issued by the wrong threads (Table 46), or without its peer CTA.
    IssueGranularity {
        /// description of the error
        what: String,
        /// a fix, or ""
        help: &'static str,
    },
    /// The index of `brx.idx` is past the end of its table.
    BranchIndex {
        /// entries of the table
        count: u64,
    },
    /// An indirect call of a function that is not in its list or does not match its prototype.
    CallTarget,
    /// Recursive calls need more stack than a thread has.
    StackOverflow {
        /// bytes a thread has
        bytes: u64,
    },
    /// `trap`
    Trap,
    /// `trap` in a kernel that reads the address of the memory of a cooperative launch, and the launch is not cooperative
    NotCooperative,
    /// A failed `assert` of CUDA C++.
    Assertion {
        /// the condition
        message: String,
        /// the source file
        file: String,
        /// line in the source file
        line: u32,
        /// the function
        function: String,
    },
    /// Undefined behaviour of another kind, with the manual's section and a fix.
    Undefined {
        /// description of the error
        what: String,
        /// section of the PTX ISA, or ""
        section: &'static str,
        /// advice on how to fix the error, or ""
        help: &'static str,
    },
    /// No thread can run and nothing is in flight.
    Deadlock {
        /// one line per group of threads: where it waits, and for what
        waiting: Vec<String>,
    },
    /// The step budget of the launch is used up.
    StepLimit {
        /// regions run
        turns: u64,
        /// label of the region that ran last
        region: String,
        /// labels of the heads of the loops that contain it, the innermost first
        loops: Vec<String>,
    },
    /// The launch was cancelled through its handle.
    Cancelled {
        /// label of the region that ran
        region: String,
    },
    /// A PTX feature that the host does not have yet.
    NotYet {
        /// the qualifier, field or type
        what: String,
    },
    /// The emitted code and the machine disagree; a bug of ptx-dsl.
    Internal(String),
}

impl FaultKind {
    /// Short for [`FaultKind::Undefined`].
    pub fn undefined(what: impl Into<String>, section: &'static str, help: &'static str) -> FaultKind {
        FaultKind::Undefined { what: what.into(), section, help }
    }

    /// The PTX ISA section with the rule, or "".
    pub fn section(&self) -> &'static str {
        use FaultKind::*;
        match self {
            OutOfBounds { .. } | ReadOnly { .. } | WrongWindow { .. } | NoSuchRank { .. } => "5.1",
            OutsideVariable { .. } => "5.4",
            FreedStack { .. } => "9.7.17.2",
            Misaligned { .. } => "6.4.1.1",
            ExitedCta { .. } => "9.7.9.23",
            Uninitialised { .. } | UndefinedRegister { .. } => "5.1",
            DataRace(race) if race.is_end() => "9.7.9.23",
            DataRace(race) if race.fence.is_some() => "9.7.13.4",
            DataRace(_) => "8.7.1",
            TensorRace(race) => race.section(),
            TensorUnwritten(_) => "9.7.16.1",
            PendingRegister { .. } => "9.7.16.8.5",
            UnfencedRegister { .. } => "9.7.15.7.1",
            HeldRegister { .. } => "9.7.15.7.3",
            MbarrierNotLive { .. } | MbarrierMisused { .. } => "9.7.13.15.1",
            MbarrierCount { .. } => "9.7.13.15.2",
            MbarrierTxCount { .. } => "9.7.13.15.3",
            MbarrierOverArrive { .. } => "9.7.13.15.13",
            MbarrierNothingExpected => "9.7.13.15.14",
            NoCompleteCompletes => "9.7.13.15.13",
            MbarrierPhase { .. } | MbarrierLateWait { .. } => "9.7.13.15.16",
            TryCancelAfterFailure | MulticastExitedCta { .. } => "9.7.13.17",
            FirstCtaidOfFailure => "9.7.13.18",
            Barrier { .. } => "9.7.13.1",
            ClusterBarrier { .. } => "9.7.13.3",
            Members { .. } => "9.7.13.2",
            ShuffleSource { .. } => "9.7.9.6",
            BranchIndex { .. } => "9.7.12.4",
            CallTarget | StackOverflow { .. } => "9.7.12.5",
            TensorMemory { .. } => "9.7.16.1",
            Descriptor { .. } => "9.7.16.4",
            MatrixLayout(layout) => layout.section,
            MatrixOutOfBounds(bounds) => bounds.section,
            IssueGranularity { .. } => "9.7.16.5",
            Trap | NotCooperative => "9.7.19.4",
            Undefined { section, .. } => section,
            Assertion { .. } | Deadlock { .. } | StepLimit { .. } | Cancelled { .. } | NotYet { .. } | Internal(_) => {
                ""
            }
        }
    }

    /// A fix, or "".
    pub fn help(&self) -> &'static str {
        use FaultKind::*;
        match self {
            OutOfBounds { .. } => "compare the index with the number of elements before the access",
            OutsideVariable { .. } => {
                "compare the index with the size of the variable before the access; nothing says what lies after it"
            }
            FreedStack { .. } => "`alloca` it again, or `stackrestore` after the last access",
            Misaligned { align: 32.., .. } => {
                "align the variable with `.align`, and make every offset into it a multiple of that, such as the size of a stage"
            }
            Misaligned { .. } => {
                "align the variable with `.align`; an ordinary access can also be made in smaller pieces"
            }
            ReadOnly { .. } => "pass the buffer as `&mut [T]`",
            WrongWindow { .. } => "make the address with `cvta` or `mapa` for the state space the instruction names",
            ExitedCta { .. } => {
                "keep the CTA alive until its peers are done: `barrier.cluster.arrive` and `.wait` at the end"
            }
            NoSuchRank { .. } => "ranks are below `%cluster_nctarank`",
            UndefinedRegister { .. } => "write the register on every path that leads here",
            Uninitialised { .. } => "store to it first, and synchronise if another thread stores",
            MbarrierNotLive { .. } => "`mbarrier.init` it first, and let the other threads see that by a barrier",
            MbarrierMisused { .. } => "`mbarrier.inval` the object before its memory is used for something else",
            MbarrierCount { .. } => "counts are 1 to 2^20-1",
            MbarrierOverArrive { .. } => {
                "initialise the object with the number of arrivals of a phase, or let a thread that arrives in each round of a loop wait \
                 for the phase of the round before"
            }
            MbarrierNothingExpected => "initialise the object again, or let one participant fewer drop",
            NoCompleteCompletes => "leave out `.noComplete` on the last arrival of the phase",
            MbarrierTxCount { .. } => {
                "`expect_tx` exactly the bytes that the asynchronous operations of the phase write"
            }
            MbarrierPhase { .. } | MbarrierLateWait { .. } => "wait for each phase before the next one can complete",
            TryCancelAfterFailure => "leave the loop once `query_cancel.is_canceled` says false",
            MulticastExitedCta { .. } => "wait for the response before the CTA ends",
            FirstCtaidOfFailure => "test `query_cancel.is_canceled` first",
            Barrier { id: 16.., .. } => {
                "a CTA has the barriers 0 to 15: compute a number in this range, or use mbarrier objects"
            }
            Barrier { .. } => "all threads use the same count, and each arrives once before the barrier completes",
            ClusterBarrier { .. } => "each thread alternates `barrier.cluster.arrive` and `barrier.cluster.wait`",
            BranchIndex { .. } => "compare the index with the length of the `.branchtargets` list first",
            CallTarget => "take the address of one of the functions that `.calltargets` or `.callprototype` allows",
            Members { .. } => "name exactly the lanes that execute the instruction together",
            ShuffleSource { .. } => "read from a lane of the mask, or name the lane in it",
            Descriptor { .. } => "build the descriptor field by field as the manual's table has it",
            Undefined { help, .. }
            | HeldRegister { help, .. }
            | TensorMemory { help, .. }
            | IssueGranularity { help, .. } => help,
            StackOverflow { .. } => "end the recursion earlier, or use a loop",
            StepLimit { .. } => {
                "if the kernel needs that long, raise `Launch::step_limit`, or `--step-limit` of `ptx-dsl run`"
            }
            TensorRace(race) => race.help(),
            TensorUnwritten(read) => read.help(),
            PendingRegister { .. } => {
                "execute `tcgen05.wait::ld.sync.aligned` between the load and the first use of its registers"
            }
            UnfencedRegister { .. } => {
                "execute `wgmma.fence.sync.aligned` between the last write to A or D and the `wgmma.mma_async` that reads it"
            }
            NotCooperative => "launch it with `Launch::cooperative`, or `--cooperative` of `ptx-dsl run`",
            DataRace(_)
            | MatrixLayout(_)
            | MatrixOutOfBounds(_)
            | Trap
            | Assertion { .. }
            | Deadlock { .. }
            | Cancelled { .. }
            | NotYet { .. }
            | Internal(_) => "",
        }
    }

    /// The option by which the checked host leaves out faults of this kind, if ptxas makes them harmless; or "".
    pub(super) fn option(&self) -> &'static str {
        match self {
            FaultKind::PendingRegister { .. } => {
                "ptxas makes the first reader wait; `Host::tensor_registers(false)`, or `--allow PTX0605` of `ptx-dsl run`, \
                 allows it"
            }
            FaultKind::TensorRace(race) if race.is_fence() => {
                "ptxas generates no instruction for the fence; `Host::tensor_fences(false)`, or `--allow PTX0679` of \
                 `ptx-dsl run`, allows to leave it out"
            }
            FaultKind::TensorRace(race) if race.is_of_products() => {
                "`Host::mma_in_order(true)`, or `--mma-in-order` of `ptx-dsl run`, executes the products of a thread in the order of \
                 issue, which the manual promises for the same accumulator and shape only"
            }
            FaultKind::MatrixLayout(layout) if layout.written.is_some() => {
                "if the tensor is permuted in global memory, or its map is for other data, `Host::checked().any_layout()`, or `--any-layout` of `ptx-dsl run`, allows it"
            }
            _ => "",
        }
    }
}
