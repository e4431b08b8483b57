//! What a random kernel is made of: registers of six classes, operations that each have a spelling and a meaning in plain
//! Rust, control flow, memory that a thread has to itself, and what warps, CTAs and clusters do together.

/// Registers of a class, by number; `Class::R` has more, of fixed use.
pub const GENERAL: u8 = 8;
/// The same in all threads of a CTA.
pub const UNIFORM: std::ops::Range<u8> = 8..11;
/// The warp's number in the CTA, the lane, and the thread's number in the CTA.
pub const WARP: u8 = 11;
pub const LANE: u8 = 12;
pub const LINEAR: u8 = 13;
/// Counters of the loops around, from the outermost.
pub const COUNTERS: u8 = 14;
/// Loops in loops, at most.
pub const DEPTH: u8 = 3;

/// Bytes that each thread has to itself in each state space.
pub const OWN: u32 = 32;
/// Bytes of a thread's part of the result: its registers, then what it has to itself in global memory. `main.txt` and
/// `gpu.py` count by it too.
pub const RESULT: u32 = 160;
/// Words of the table that all read.
pub const TABLE: usize = 64;
/// Words of the constant bank.
pub const CONSTANTS: [u32; 8] = [3, 0x8000_0000, 77, 0xFFFF_FFFF, 0, 12345, 0x3F80_0000, 31];
/// Counters that all add to.
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
    /// In the order of their numbers.
    pub const ALL: [Class; 6] = [Class::R, Class::D, Class::F, Class::P, Class::H, Class::E];
    /// How many a thread may write freely.
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

/// Something read, as bits.
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

/// An operation on registers: `$` stands for the result and then the operands.
pub struct Row {
    pub text: &'static str,
    /// Of the result and the operands.
    pub classes: &'static [Class],
    /// Bits of the operands to bits of the result.
    pub meaning: fn(&[u64]) -> u64,
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

/// Where in the bytes that a thread has to itself.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    Fixed(u32),
    /// The register, cut to a multiple of the size that is inside.
    Computed(u8),
}

/// What is loaded or stored.
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

/// How the lanes of a warp shuffle.
#[derive(Debug, Clone, Copy)]
pub enum Mode {
    Idx,
    Up,
    Down,
    Bfly,
}

/// What lanes do together, on `.b32` and with a predicate as result or operand.
#[derive(Debug, Clone, Copy)]
pub enum Collective {
    /// The second operand, the third, and what else is written: whether the source was in range.
    Shuffle(Mode, Source, u32, u8),
    /// Of a predicate.
    Ballot(u8),
    /// As a predicate, of one.
    Any(u8),
    All(u8),
    Match,
    Add,
    Min,
    Xor,
}

/// Arms of a tangle that are run.
pub const STEPS: u32 = 5;

/// What threads wait with for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// `bar.sync 0`
    Barrier,
    /// `barrier.sync` with a number of threads.
    Named,
    /// An mbarrier that they arrive on, by its parity or by what the arrive gave.
    Parity,
    State,
    /// `bar.warp.sync`: the lanes of a warp only.
    Warp,
    /// `barrier.cluster`: the threads of all CTAs of the cluster.
    Cluster,
    /// The same, with an mbarrier of each CTA that all arrive on.
    Remote,
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
    /// `atom.add` or `atom.exch` on what a thread has to itself.
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
    /// From the table or the constants, by a register.
    Gather {
        constant: bool,
        to: u8,
        index: u8,
        guard: Option<Guard>,
    },
    /// To one of the counters of all.
    Total {
        which: u32,
        from: u8,
        guard: Option<Guard>,
    },
    /// By lanes below `lanes` of each warp: all that are here.
    Together {
        what: Collective,
        to: u8,
        from: u8,
        lanes: u32,
    },
    /// By all threads: each gets what the thread `shift` further on has.
    Exchange {
        to: u8,
        from: u8,
        shift: u32,
        meeting: Meeting,
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
    /// `depth` says which counter it has; a `bottom` loop is run once at least.
    Loop {
        depth: u8,
        trips: Source,
        bottom: bool,
        body: Vec<Stmt>,
    },
    /// Out of this loop, or of so many more.
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
    /// Three arms that jump from one into another, `STEPS` times: by the bits of the register to the next or the one after
    /// it. It has a counter as a loop has. Its ways in are two.
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
    /// Is the block in the kernel?
    pub required: bool,
    /// The parameter.
    pub n: u32,
    pub functions: Vec<Function>,
    pub body: Vec<Stmt>,
}

impl Program {
    pub fn threads(&self) -> u32 {
        self.block[0] * self.block[1]
    }
}
