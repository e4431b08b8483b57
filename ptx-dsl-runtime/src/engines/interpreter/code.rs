//! The code of a kernel: its image with functions in place of opcodes.

use super::affine::AffineRule;
use super::kinds::KindSet;
use super::liveness::Liveness;
use super::loaded::PendingRegisters;
use super::mbarrier::Fast;
use super::memory::{CompiledAccess, MemoryAccess};
use super::nans::AnyNan;
use super::op::{Op, WarpFunction};
use super::registers::{Constants, Registers};
use super::rows::RowFunction;
use super::shuffle;
use super::suspects::Suspects;
use super::watched::{self, UndefinedRegisters};
use crate::kernel::Flow;
use crate::kernel::Pc;
use crate::machine::geometry::Geometry;
use crate::memory::address::AddrSpace;
use crate::numerics::qual::{Q, Qualifiers};
use crate::numerics::simd::InstructionSet;
use crate::semantics::list::calls;
use crate::semantics::warp::ShuffleMode;
use crate::semantics::{Call, Lane, OnRegisters, OnWarp, arith, space};
use ptx_dsl_isa::image::{self, Action, Guard, Image, Register, Source, Transfer};
use ptx_dsl_isa::isa::effect::{Barrier, Meeting};
use ptx_dsl_isa::opcode::{Opcode, op};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The code of a kernel.
pub(super) struct Code {
    pub image: Arc<Image>,
    pub regions: Vec<Region>,
    pub constants: Constants,
    /// The registers that may be undefined, if the monitor asks for variables.
    suspects: Option<Arc<Suspects>>,
    /// The sites of loads whose values are followed, if any are.
    pub followed: Arc<[bool]>,
    /// The liveness of the registers, computed when lanes diverge.
    liveness: OnceLock<Liveness>,
}

/// A region.
pub(super) struct Region {
    pub end: End,
    pub body: Vec<Instr>,
    /// The registers that `body` uses.
    pub registers: KindSet,
    /// The instruction at the end of the region that may wait, if there is one.
    pub block: Option<Block>,
    /// The instructions of the region, with its end.
    pub instructions: u64,
    /// The work of a warp in it beyond that of as many plain instructions: an atomic operation or a barrier counts for many.
    pub work: u64,
}

/// The work of an atomic operation of a warp, in instructions.
const ATOMIC: u64 = 64;
/// The work of a barrier.
const BARRIER: u64 = 16;
/// The work of both with a monitor, which sees each lane.
const MONITORED: u64 = 4;

/// The work of an instruction beyond that of a plain one.
fn work(i: &image::Instr) -> u64 {
    let Action::Opcode { opcode, .. } = i.action else { return 0 };
    let Some(effects) = opcode.entries().next().map(|entry| entry.instr.effects) else { return 0 };
    let of_barrier = if effects.barrier == Barrier::None { 0 } else { BARRIER };
    if effects.memory.is_atomic() { ATOMIC } else { of_barrier }
}

/// The terminator of a region.
pub(super) enum End {
    Goto(Pc),
    Branch {
        guard: Guard,
        taken: Pc,
        fall: Pc,
    },
    /// A terminator that the image describes.
    Other,
}

impl End {
    fn of(end: &image::End) -> End {
        match *end {
            image::End::Goto { to } => End::Goto(to),
            image::End::Branch { guard, taken, fall } => End::Branch { guard, taken, fall },
            _ => End::Other,
        }
    }
}

/// An instruction, and how it runs.
pub(super) struct Instr {
    pub op: Op,
    pub run: Run,
}

/// The strategy by which an instruction runs.
pub(super) enum Run {
    /// Lane by lane.
    Lane { one: Lane, rows: Option<RowFunction>, rule: Option<AffineRule>, registers: Vec<Register> },
    /// Warp by warp, or once if all lanes do the same.
    Warp { function: WarpFunction, once: Once },
    /// An arrival at an mbarrier object; `drop`: it lowers the expected count.
    Arrive { function: WarpFunction, drop: bool },
    /// `mov`.
    Move { from: u32, to: u32 },
    /// `mov` of one register or constant.
    Copy,
    /// A load, a store, or an addition to memory, of elements in plain registers.
    Memory { access: MemoryAccess, compiled: CompiledAccess, function: WarpFunction },
    /// No function: the host has no such instruction, and a launch has refused it.
    Nothing,
}

/// The condition under which an instruction on warps can run once, if its operands are uniform.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Once {
    /// The instruction can always run once: its result depends on its operands alone.
    Always,
    /// The instruction can always run once, also on affine addresses: it translates them.
    Translation,
    /// The instruction can run once if all lanes load the same from this state space, and no monitor sees the load.
    Load(AddrSpace),
    Never,
}

impl Once {
    fn of(opcode: Opcode, q: Q) -> Once {
        let space = space(q);
        match opcode.entries().next() {
            Some(entry) if entry.instr.effects.translates => Once::Translation,
            Some(entry) if entry.instr.effects.pure => Once::Always,
            _ if opcode == op::ld && !space.is_of_lanes() => Once::Load(space),
            _ => Once::Never,
        }
    }
}

/// The function of an instruction that may wait.
#[derive(Clone, Copy)]
pub(super) enum BlockFunction {
    Lanes(OnWarp<Flow>),
    Registers(OnRegisters),
}

/// An instruction that may wait.
pub(super) struct Block {
    pub op: Op,
    pub function: BlockFunction,
    /// The number of the barrier, if all threads of the CTA take part in it.
    pub barrier: Option<u32>,
    /// The function by which a `shfl.sync` of whole warps finds its source.
    pub shuffle: Option<ShuffleMode>,
    /// Whether the instruction is a `mbarrier.try_wait` that may have a fast path.
    pub waits: bool,
}

impl Code {
    /// `variables`: a monitor wants to know what registers and variables hold.
    pub fn new(image: &Arc<Image>, set: InstructionSet, variables: bool) -> Self {
        let calls: HashMap<Opcode, Call> = calls().into_iter().collect();
        let qualifiers: Vec<Q> = image.qualifiers.iter().map(interned).collect();
        let any_nan = AnyNan::new(image, &qualifiers);
        let suspects = variables.then(|| Arc::new(Suspects::new(image)));
        let mut decoder = Decoder {
            image,
            calls,
            qualifiers,
            any_nan,
            set,
            constants: Constants::default(),
            suspects: suspects.clone(),
            next: 0,
        };
        let regions = image.regions.iter().map(|r| decoder.region(r)).collect();
        let followed = if variables { watched::followed(image, &decoder.qualifiers) } else { Arc::default() };
        Code {
            image: image.clone(),
            regions,
            constants: decoder.constants,
            suspects,
            followed,
            liveness: OnceLock::new(),
        }
    }

    /// Registers for a CTA.
    pub fn registers(&self, geometry: &Geometry<'_>) -> Registers {
        let mut registers = Registers::new(&self.image, geometry, &self.constants);
        if let Some(suspects) = &self.suspects {
            let warps = registers.warps;
            registers.undefined = Some(UndefinedRegisters::new(suspects, warps));
            registers.pending = suspects.loaded.each_ref().map(|of| PendingRegisters::new(of, warps));
        }
        registers
    }

    /// Does no thread that is at region `pc` read what this register holds?
    pub fn is_dead(&self, r: Register, pc: Pc) -> bool {
        let live = || self.liveness.get_or_init(|| Liveness::new(&self.image));
        self.image.saved.is_empty() && !live().is_live(pc.into(), r)
    }

    /// The transfer of results with which a region begins if a call returns to it.
    pub fn results(&self, pc: usize) -> Option<&Transfer> {
        self.image.regions[pc].results.as_ref()
    }

    pub fn end(&self, pc: usize) -> &image::End {
        &self.image.regions[pc].end
    }
}

/// The qualifiers as a constant. There are as many as kernels write, and each is made once.
pub(super) fn interned(set: &image::Qualifiers) -> Q {
    static ALL: Mutex<Option<HashMap<image::Qualifiers, &'static Qualifiers>>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    let qualifiers = match all.get(set) {
        Some(known) => *known,
        None => {
            let new: &'static Qualifiers = Box::leak(Box::new(Qualifiers::new(&set.written, &set.types)));
            all.insert(set.clone(), new);
            new
        }
    };
    Q::of(qualifiers)
}

struct Decoder<'i> {
    image: &'i Image,
    calls: HashMap<Opcode, Call>,
    qualifiers: Vec<Q>,
    any_nan: AnyNan,
    set: InstructionSet,
    constants: Constants,
    suspects: Option<Arc<Suspects>>,
    /// The number of the next instruction.
    next: u32,
}

impl Decoder<'_> {
    fn region(&mut self, region: &image::Region) -> Region {
        let body = region.body.iter().map(|i| self.instr(i)).collect();
        let block = if let image::End::Block { instr, .. } = &region.end { self.block(instr) } else { None };
        let used = region.body.iter().flat_map(|i| {
            let bases = i.sources.iter().filter_map(|s| match s {
                Source::Address { base, .. } => Some(*base),
                _ => None,
            });
            let results = i.results.iter().flatten().copied();
            registers(i).into_iter().chain(bases).chain(results).chain(i.guard.map(|g| g.register))
        });
        let registers = KindSet::of(used);
        let times = if self.suspects.is_some() { MONITORED } else { 1 };
        let work = times * region.instructions().map(work).sum::<u64>();
        let instructions = region.body.len() as u64 + 1;
        Region { end: End::of(&region.end), body, registers, block, instructions, work }
    }

    fn block(&mut self, i: &image::Instr) -> Option<Block> {
        let number = self.number();
        let Action::Opcode { opcode, qualifiers, .. } = i.action else { return None };
        let function = match *self.calls.get(&opcode)? {
            Call::Block(function) => BlockFunction::Lanes(function),
            Call::Registers(function) => BlockFunction::Registers(function),
            Call::Lane(_) | Call::Warp(_) => return None,
        };
        let effects = opcode.entries().next()?.instr.effects;
        let barrier = match i.sources[..] {
            [Source::Constant { value: id @ 0..=15 }]
                if (effects.barrier, effects.meeting) == (Barrier::Cta, Meeting::Both) =>
            {
                Some(id as u32)
            }
            _ => None,
        };
        let q = self.qualifiers[qualifiers as usize];
        let shuffle = shuffle::find(opcode, q, i);
        let waits = Fast::of(opcode, q, i) == Some(Fast::Wait);
        let op = Op { number, ..Op::new(i, q, self.suspects.as_deref()) };
        Some(Block { op, function, barrier, shuffle, waits })
    }

    fn instr(&mut self, i: &image::Instr) -> Instr {
        let (run, q) = match i.action {
            Action::Move { from, to } => (self.movement(i, from, to), Q::NONE),
            Action::Opcode { opcode, qualifiers, carry_out } => {
                let q = self.qualifiers[qualifiers as usize];
                (self.run(i, opcode, q, carry_out), q)
            }
        };
        Instr { op: Op { number: self.number(), ..Op::new(i, q, self.suspects.as_deref()) }, run }
    }

    /// The number of an instruction.
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn movement(&self, i: &image::Instr, from: u32, to: u32) -> Run {
        match (&i.sources[..], &i.results[..]) {
            ([_], [_]) => Run::Copy,
            _ => Run::Move { from, to },
        }
    }

    /// A memory access in plain registers, and its loops.
    fn access(&self, i: &image::Instr, opcode: Opcode, q: Q) -> Option<(MemoryAccess, CompiledAccess)> {
        let access = MemoryAccess::of(opcode, q, i, &self.image.registers)?;
        let compiled = CompiledAccess::of(&access, self.set)?;
        Some((access, compiled))
    }

    fn run(&mut self, i: &image::Instr, opcode: Opcode, q: Q, carry_out: bool) -> Run {
        if carry_out && opcode == op::mad {
            return Run::Lane { one: arith::MAD_CC, rows: None, rule: None, registers: registers(i) };
        }
        match self.calls.get(&opcode) {
            Some(Call::Lane(one)) => {
                let widths = |r: &Register| self.image.registers[*r as usize];
                let any_nan = i.results.iter().all(|r| r.is_some_and(|r| self.any_nan.has(r)));
                let constants = &mut self.constants;
                let rows = RowFunction::find(opcode, q, i, &self.image.registers, any_nan, self.set, constants);
                Run::Lane { one: *one, rows, rule: AffineRule::of(opcode, q, i, &widths), registers: registers(i) }
            }
            Some(Call::Warp(function)) => match self.access(i, opcode, q) {
                Some((access, compiled)) => Run::Memory { access, compiled, function: *function },
                None => match Fast::of(opcode, q, i) {
                    Some(Fast::Arrive { drop }) => Run::Arrive { function: *function, drop },
                    _ => Run::Warp { function: *function, once: Once::of(opcode, q) },
                },
            },
            _ => Run::Nothing,
        }
    }
}

/// The registers among the operands of an instruction.
fn registers(i: &image::Instr) -> Vec<Register> {
    let register = |s: &Source| match s {
        Source::Register { register } | Source::Not { register } => Some(*register),
        _ => None,
    };
    i.sources.iter().filter_map(register).collect()
}
