//! The parts of a random kernel: registers of six classes, operations with a spelling and a meaning in plain Rust, control flow,
//! private memory of threads, and interaction of warps, CTAs and clusters.

/// Registers of a class, by number; `Class::R` has more, with fixed uses.
pub const GENERAL: u8 = 8;
/// Equal in all threads of a CTA.
pub const UNIFORM: std::ops::Range<u8> = 8..11;
/// The warp's number in the CTA, the lane, and the thread's number in the CTA.
pub const WARP: u8 = 11;
pub const LANE: u8 = 12;
pub const LINEAR: u8 = 13;
/// Counters of the enclosing loops, outermost first.
pub const COUNTERS: u8 = 14;
/// The deepest nesting of loops.
pub const DEPTH: u8 = 3;

/// Private bytes of each thread in each state space.
pub const OWN: u32 = 32;
/// Bytes of a thread's part of the result: its registers, then its private bytes in global memory. `main.txt` and `gpu.py` use it
/// too.
pub const RESULT: u32 = 160;
/// Words of the table that all threads read.
pub const TABLE: usize = 64;
/// Words of the constant bank.
pub const CONSTANTS: [u32; 8] = [3, 0x8000_0000, 77, 0xFFFF_FFFF, 0, 12345, 0x3F80_0000, 31];
/// Counters that all threads add to.
pub const TOTALS: usize = 4;

/// A class of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `.b32`
    R,
    /// `.b64`
    D,
    /// `.f32`
    F,
    /// `.pred`
    P,
    /// `.b16`
    H,
    /// `.f64`
    E,
}

impl Class {
    /// All classes in the order of their numbers.
    pub const ALL: [Class; 6] = [Class::R, Class::D, Class::F, Class::P, Class::H, Class::E];
    /// The number of registers that a thread may write freely.
    pub fn count(self) -> u8 {
        match self {
            Class::R => GENERAL,
            Class::D | Class::F | Class::P => 4,
            Class::H | Class::E => 2,
        }
    }
    /// All there are.
    pub fn all(self) -> u8 {
        match self {
            Class::R => COUNTERS + DEPTH,
            _ => self.count(),
        }
    }
    /// The first letters of the registers' names.
    pub fn prefix(self) -> &'static str {
        match self {
            Class::R => "%r",
            Class::D => "%d",
            Class::F => "%f",
            Class::P => "%p",
            Class::H => "%h",
            Class::E => "%e",
        }
    }
}

/// A source operand, as bits.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    Register(u8),
    Immediate(u64),
}

/// `@%p` or `@!%p`.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    pub register: u8,
    pub negated: bool,
}

/// The instructions that a kernel may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// `sm_90a`
    Hopper,
    /// `sm_100a`
    Blackwell,
}

/// An operation on registers: `$` stands for the result and then the operands.
pub struct Row {
    pub text: &'static str,
    /// Classes of the result and the operands.
    pub classes: &'static [Class],
    /// Bits of the operands to bits of the result.
    pub meaning: fn(&[u64]) -> u64,
    pub since: Target,
}

/// A row that every kernel may have.
pub const fn row(text: &'static str, classes: &'static [Class], meaning: fn(&[u64]) -> u64) -> Row {
    Row { text, classes, meaning, since: Target::Hopper }
}

#[derive(Debug, Clone, Copy)]
pub enum Special {
    TidX,
    TidY,
    NtidX,
    CtaidX,
    NctaidX,
    LaneId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Global,
    Shared,
    Local,
}

/// A place in the private bytes of a thread.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    Fixed(u32),
    /// The register, reduced to a multiple of the size within bounds.
    Computed(u8),
}

/// The type of a load or store.
#[derive(Debug, Clone, Copy)]
pub enum Width {
    U8,
    S8,
    U16,
    S16,
    U32,
    U64,
    F32,
}

impl Width {
    pub fn bytes(self) -> u32 {
        match self {
            Width::U8 | Width::S8 => 1,
            Width::U16 | Width::S16 => 2,
            Width::U32 | Width::F32 => 4,
            Width::U64 => 8,
        }
    }
    pub fn class(self) -> Class {
        match self {
            Width::U64 => Class::D,
            Width::F32 => Class::F,
            _ => Class::R,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Width::U8 => "u8",
            Width::S8 => "s8",
            Width::U16 => "u16",
            Width::S16 => "s16",
            Width::U32 => "u32",
            Width::U64 => "u64",
            Width::F32 => "f32",
        }
    }
}

/// The direction of a shuffle between the lanes of a warp.
#[derive(Debug, Clone, Copy)]
pub enum Mode {
    Idx,
    Up,
    Down,
    Bfly,
}

/// Warp instructions on `.b32`, with a predicate as result or operand.
#[derive(Debug, Clone, Copy)]
pub enum Collective {
    /// The second operand, the third, and a further result: whether the source was in range.
    Shuffle(Mode, Source, u32, u8),
    /// The ballot of a predicate.
    Ballot(u8),
    /// A vote of a predicate whose result is a predicate.
    Any(u8),
    All(u8),
    Match,
    Add,
    Min,
    Xor,
}

/// Arms of a tangle that are run.
pub const STEPS: u32 = 5;

/// The synchronisation of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// `bar.sync 0`
    Barrier,
    /// `barrier.sync` with a number of threads.
    Named,
    /// An mbarrier that they arrive on, waited for by its parity or by the state of the arrival.
    Parity,
    State,
    /// `bar.warp.sync`: the lanes of a warp only.
    Warp,
    /// `barrier.cluster`: the threads of all CTAs of the cluster.
    Cluster,
    /// An mbarrier of each CTA that all threads of the cluster arrive on.
    Remote,
}

/// Asynchronous operations of a thread on its private bytes. They are complete after the wait for them.
#[derive(Debug, Clone)]
pub enum Copies {
    /// `cp.async` from global to shared memory.
    Small { copies: Vec<Small>, wait: Wait },
    /// `cp.async.bulk` or `cp.reduce.async.bulk` with these places in 16 bytes, this size in bytes, and an operation of
    /// `copies::MERGES` that reduces.
    Bulk { direction: Direction, from: u32, to: u32, size: u32, merge: Option<usize>, mask: Option<u16> },
    /// `st.bulk` of zeros to shared memory.
    Zeros { at: u32, size: u32 },
}

/// A `cp.async`: bytes of global memory to bytes of shared memory.
#[derive(Debug, Clone, Copy)]
pub struct Small {
    pub from: u32,
    pub to: u32,
    pub size: u32,
    /// `.cg`
    pub global: bool,
    pub zeros: Zeros,
    pub guard: Option<Guard>,
}

/// The part of a `cp.async` that becomes zeros.
#[derive(Debug, Clone, Copy)]
pub enum Zeros {
    None,
    /// All but so many bytes: the register, at most the size.
    Behind(u8),
    /// All, if the predicate is true.
    If(u8),
}

/// The wait of a thread for its `cp.async`.
#[derive(Debug, Clone)]
pub enum Wait {
    All,
    /// Each is a group. After the wait for the oldest, the first four bytes it has copied are loaded, and so on.
    Groups(Vec<u8>),
    /// `cp.async.mbarrier.arrive`
    Arrive {
        noinc: bool,
    },
}

/// The source and destination of a bulk copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    GlobalToShared,
    /// A copy with a wait for the source alone before that for the copy.
    SharedToGlobal {
        read: bool,
    },
}

/// Matrix instructions of a whole warp.
#[derive(Debug, Clone)]
pub enum Matrix {
    /// A product of `matrices::MMAS`, with the first register of each operand, and a mask for the elements of A and B.
    Mma {
        which: usize,
        d: u8,
        a: u8,
        b: u8,
        c: u8,
        mask: u32,
    },
    /// `ldmatrix` and `stmatrix` of so many registers: a lane gives the row of this number times its own, plus that.
    Load {
        registers: Vec<u8>,
        trans: bool,
        step: u32,
        shift: u32,
    },
    Store {
        registers: Vec<u8>,
        trans: bool,
        step: u32,
        shift: u32,
    },
    /// `movmatrix`
    Move {
        to: u8,
        from: u8,
    },
}

/// The place of B of a `wgmma` in the warpgroup's shared bytes: two matrices of eight rows of 16 bytes, one for each half of k.
#[derive(Debug, Clone, Copy)]
pub struct Halves {
    /// In 16 bytes.
    pub first: usize,
    /// The distance of the second matrix from the first.
    pub apart: usize,
}

/// One statement.
#[derive(Debug, Clone)]
pub enum Stmt {
    Row {
        row: usize,
        to: u8,
        from: Vec<Source>,
        guard: Option<Guard>,
    },
    Special {
        to: u8,
        what: Special,
    },
    Load {
        space: Space,
        width: Width,
        to: u8,
        at: Place,
        guard: Option<Guard>,
    },
    Store {
        space: Space,
        width: Width,
        from: u8,
        at: Place,
        guard: Option<Guard>,
    },
    /// `atom.add` or `atom.exch` on private memory.
    Atom {
        space: Space,
        exchange: bool,
        to: u8,
        from: u8,
        at: Place,
        guard: Option<Guard>,
    },
    /// A vector of two or four `.b32`.
    Vector {
        space: Space,
        store: bool,
        registers: Vec<u8>,
        at: Place,
        guard: Option<Guard>,
    },
    /// Loads from the table or the constants, indexed by a register.
    Gather {
        constant: bool,
        to: u8,
        index: u8,
        guard: Option<Guard>,
    },
    /// Adds to one of the common counters.
    Total {
        which: u32,
        from: u8,
        guard: Option<Guard>,
    },
    /// By lanes below `lanes` of each warp, which are all active.
    Together {
        what: Collective,
        to: u8,
        from: u8,
        lanes: u32,
    },
    /// By whole warps.
    Matrix(Matrix),
    /// Starts copies, executes rows that do not matter to them, and waits.
    Copies {
        what: Copies,
        during: Vec<Stmt>,
    },
    /// By all threads of the cluster: each sends its value to the thread `shift` further on.
    Send {
        to: u8,
        from: u8,
        shift: u32,
        /// An operation of `copies::MERGES` if by `red.async`, else by `st.async`.
        merge: Option<usize>,
    },
    /// By all threads of the cluster: each sends the first half of its shared bytes to the second half of those of the same
    /// thread in the next CTA, by `cp.async.bulk`, or by `cp.reduce.async.bulk` with an operation of `copies::MERGES`.
    Deliver {
        merge: Option<usize>,
    },
    /// By all threads of the cluster: one copies 16 words of the table to all CTAs, from four times this word on, and each
    /// thread loads the word of its index.
    Multicast {
        to: u8,
        index: u8,
        first: u32,
    },
    /// By all threads: each gets the value of the thread `shift` further on.
    Exchange {
        to: u8,
        from: u8,
        shift: u32,
        meeting: Meeting,
    },
    /// By whole warpgroups: D and C, and A of four registers with a mask, are those from these on; B lies in their shared bytes.
    Warpgroup {
        d: u8,
        a: u8,
        mask: u32,
        b: Halves,
        adds: bool,
    },
    /// By all threads of the CTA: a box of the table from these coordinates on; each thread loads the word of its index.
    Tensor {
        to: u8,
        index: u8,
        at: Vec<i32>,
    },
    /// `bar.red.popc`, by all threads.
    Count {
        to: u8,
        from: u8,
    },
    Call {
        function: usize,
        to: u8,
        from: [u8; 2],
    },
    If {
        guard: Guard,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
        swapped: bool,
        uniform: bool,
    },
    /// `depth` selects its counter; a `bottom` loop runs at least once.
    Loop {
        depth: u8,
        trips: Source,
        bottom: bool,
        body: Vec<Stmt>,
    },
    /// Leaves this loop, or so many more.
    Break {
        guard: Guard,
        further: u8,
    },
    Continue {
        guard: Guard,
    },
    Switch {
        index: u8,
        arms: Vec<Vec<Stmt>>,
    },
    /// Three arms that jump into each other `STEPS` times: by the bits of the register to the next arm or the one after it. It
    /// has a counter like a loop, and two entries.
    Tangle {
        depth: u8,
        select: u8,
        arms: [Vec<Stmt>; 3],
    },
    /// Stores one register and ends the thread; in a function, returns it.
    Leave {
        guard: Guard,
        from: u8,
    },
}

/// A device function: its two parameters are the first registers, its result is the first.
#[derive(Debug, Clone)]
pub struct Function {
    pub body: Vec<Stmt>,
}

/// A kernel and how it is launched.
#[derive(Debug, Clone)]
pub struct Program {
    pub block: [u32; 2],
    pub grid: u32,
    /// CTAs of a cluster.
    pub cluster: u32,
    pub target: Target,
    /// Does the kernel have `.reqntid`?
    pub required: bool,
    /// The parameter.
    pub n: u32,
    /// The other parameter, a number in `tensors::TENSORS`.
    pub tensor: usize,
    pub functions: Vec<Function>,
    /// Writes every register once.
    pub start: Vec<Stmt>,
    pub body: Vec<Stmt>,
}

impl Program {
    pub fn threads(&self) -> u32 {
        self.block[0] * self.block[1]
    }
}
