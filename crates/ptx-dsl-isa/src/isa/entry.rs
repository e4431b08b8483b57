//! An entry of the table: one section of the manual about one opcode, with its forms, gates, rules and effects.

use super::class::InstrClass;
use super::effect::{
    Barrier, Carry, Control, Effects, Fence, Group, Issue, Mbarrier, Meeting, MemoryOp, Proxy, Step, Tensor,
};
use super::operand::{OpTy, OperandSpec};
use super::version::{ANY, Ptx, Targets};
use super::violation::Violation;
use super::when::When;
use crate::qualifier::Qualifier;
use crate::written::Written;

/// One instruction of the manual: a section, its forms and rules. Several entries may share an opcode (`add` has four).
#[derive(Debug, Clone, Copy)]
pub struct Instr {
    /// The dotted opcode, the part whose order is fixed: `mbarrier.arrive_drop`, `ld`, `add`.
    pub opcode: &'static str,
    /// Section of the manual.
    pub section: &'static str,
    /// First PTX ISA version.
    pub since: Ptx,
    /// First version that no longer has it (`shfl` without `.sync`), and the targets that this is for.
    pub until: Option<(Ptx, Targets)>,
    /// Targets that have it.
    pub requires: Targets,
    /// Qualifiers that directly follow the opcode, in the order of the form: ptxas reads them as a part of it (`mad.lo`,
    /// `cvta.to`). All others come in any order.
    pub first: &'static [&'static str],
    /// ptxas accepts the last word of the opcode anywhere after the others (CUB writes `vote.ballot.sync.b32`).
    pub movable: bool,
    /// The syntax block.
    pub syntax: &'static str,
    /// The meaning of the names in the syntax block.
    pub operands: &'static [OperandSpec],
    /// Further requirements of parts of it.
    pub gates: &'static [Gate],
    /// Rules that the syntax cannot express.
    pub rules: &'static [Rule],
    /// The manual's defaults of optional qualifiers: `(".sem", q::release)`. [`Order::of`](crate::meaning::order::Order::of) reads those of
    /// `.sem` and `.scope`.
    pub defaults: &'static [(&'static str, Qualifier)],
    /// How the host runs it.
    pub host: Host,
    /// What it does besides computing results.
    pub effects: Effects,
}

impl Instr {
    /// Does it multiply matrices in registers and add to others: `mma`, `wmma.mma`, `wgmma.mma_async`?
    pub fn adds_products(&self) -> bool {
        let sum = |o: &OperandSpec| o.name == "c" && matches!(o.ty, OpTy::Fragment(_));
        self.effects.group == Group::Wgmma(Step::Start) || self.operands.iter().any(sum)
    }
}

/// How both engines call the host's semantics of an instruction: `runtime::semantics::<family>::<opcode with _ for .>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Checks and prints; a launch on the host fails with `Error::NotYet`, which says why. The text completes "not yet:".
    NotYet(&'static str),
    /// `fn(Q, [u64; S]) -> [u64; D]`, lane by lane.
    Lane,
    /// `fn(&mut Ctx<M>, Q, &[&Lanes], &mut [&mut Lanes]) -> Result<(), Fault>`, once per warp.
    Warp,
    /// As `Warp`, but it may wait: `-> Result<Flow, Fault>`.
    Block,
    /// As `Block`, for instructions of many registers, which stay as wide as they are: `&[Source]`, `&mut [Destination]`.
    Registers,
    /// `mov`, `bra`, `brx.idx`, `call`, `ret`, `exit`: the engines do it themselves.
    Control,
}

impl Host {
    /// Not yet, for no other reason than that nobody has written it.
    pub const UNWRITTEN: Host = Host::NotYet("it is not written");

    /// May its function wait?
    pub const fn waits(self) -> bool {
        matches!(self, Host::Block | Host::Registers)
    }

    /// Does the host run it?
    pub const fn runs(self) -> bool {
        !matches!(self, Host::NotYet(_))
    }
}

/// A gate: when all conditions hold, at least this version and one of these targets is needed.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// All of these.
    pub when: &'static [When],
    /// Version, if more than the instruction's own.
    pub since: Option<Ptx>,
    /// Targets, if fewer than the instruction's own.
    pub requires: Option<Targets>,
}

/// Starts a gate.
pub const fn gate(when: &'static [When]) -> Gate {
    Gate { when, since: None, requires: None }
}

impl Gate {
    /// The version it needs.
    pub const fn since(mut self, version: Ptx) -> Gate {
        self.since = Some(version);
        self
    }
    /// The targets it needs.
    pub const fn requires(mut self, targets: Targets) -> Gate {
        self.requires = Some(targets);
        self
    }
}

/// A rule as a function: what is wrong with an instruction, if anything.
pub type Check = fn(&Written) -> Option<Violation>;

/// A rule that the syntax cannot express.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// These conditions never hold together. The text says why, as a sentence.
    Never(&'static [When], &'static str),
    /// When the first holds, the second must hold too.
    Needs(When, When, &'static str),
    /// A constant operand is a multiple of a number.
    Multiple(Multiple),
    /// Anything else.
    Custom(Check),
}

/// An operand that is a multiple of a number.
#[derive(Debug, Clone, Copy)]
pub struct Multiple {
    /// Its name in the syntax block.
    pub operand: &'static str,
    /// The number.
    pub of: u64,
    /// What the operand is, as a reader knows it.
    pub what: &'static str,
    /// The number, with its meaning.
    pub unit: &'static str,
}

/// Starts an entry.
pub const fn instr(opcode: &'static str) -> Instr {
    Instr {
        opcode,
        section: "",
        since: Ptx(1, 0),
        until: None,
        requires: ANY,
        first: &[],
        movable: false,
        syntax: "",
        operands: &[],
        gates: &[],
        rules: &[],
        defaults: &[],
        host: Host::UNWRITTEN,
        effects: Effects::NONE,
    }
}

impl Instr {
    /// Section of the manual.
    pub const fn section(mut self, section: &'static str) -> Self {
        self.section = section;
        self
    }
    /// First version.
    pub const fn since(mut self, version: Ptx) -> Self {
        self.since = version;
        self
    }
    /// Removed in this version, for these targets.
    pub const fn until(mut self, version: Ptx, targets: Targets) -> Self {
        self.until = Some((version, targets));
        self
    }
    /// Targets.
    pub const fn requires(mut self, targets: Targets) -> Self {
        self.requires = targets;
        self
    }
    /// Qualifiers that directly follow the opcode.
    pub const fn first(mut self, qualifiers: &'static [&'static str]) -> Self {
        self.first = qualifiers;
        self
    }
    /// The last word of the opcode may stand anywhere after the others.
    pub const fn movable(mut self) -> Self {
        self.movable = true;
        self
    }
    /// The syntax block.
    pub const fn syntax(mut self, syntax: &'static str) -> Self {
        self.syntax = syntax;
        self
    }
    /// The operands.
    pub const fn operands(mut self, operands: &'static [OperandSpec]) -> Self {
        self.operands = operands;
        self
    }
    /// The gates.
    pub const fn gates(mut self, gates: &'static [Gate]) -> Self {
        self.gates = gates;
        self
    }
    /// The rules.
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }
    /// Defaults of optional qualifiers.
    pub const fn defaults(mut self, defaults: &'static [(&'static str, Qualifier)]) -> Self {
        self.defaults = defaults;
        self
    }
    /// How the host runs it.
    pub const fn host(mut self, host: Host) -> Self {
        self.host = host;
        self
    }
    /// Its effect on control flow.
    pub const fn control(mut self, control: Control) -> Self {
        self.effects.control = control;
        self
    }
    /// Its effect on the condition code.
    pub const fn carry(mut self, carry: Carry) -> Self {
        self.effects.carry = carry;
        self
    }
    /// Its results depend on its operands alone. Arithmetic, which each lane computes for itself, need not say so.
    pub const fn pure(mut self) -> Self {
        self.effects.pure = true;
        self
    }
    /// Its result is the address that it takes, in another window, and depends on its operands alone.
    pub const fn translates(mut self) -> Self {
        self.effects.translates = true;
        self.pure()
    }
    /// Its operands are parts of its result.
    pub const fn merges(mut self) -> Self {
        self.effects.merges = true;
        self
    }
    /// It allocates or frees memory of the heap.
    pub const fn heap(mut self) -> Self {
        self.effects.heap = true;
        self
    }
    /// It moves or reads the stack pointer.
    pub const fn stack(mut self) -> Self {
        self.effects.stack = true;
        self
    }
    /// Its operands may have selectors and signs.
    pub const fn selectors(mut self) -> Self {
        self.effects.selectors = true;
        self
    }
    /// Its class in a mix of instructions.
    pub const fn class(mut self, class: InstrClass) -> Self {
        self.effects.class = Some(class);
        self
    }
    /// Its floating-point operations on each element.
    pub const fn flops(mut self, flops: u8) -> Self {
        self.effects.flops = flops;
        self
    }
    /// It takes many times as long as an addition.
    pub const fn slow(mut self) -> Self {
        self.effects.slow = true;
        self
    }
    /// What the executing thread does to memory.
    pub const fn memory(mut self, memory: MemoryOp) -> Self {
        self.effects.memory = memory;
        self
    }
    /// The proxy of these accesses.
    pub const fn proxy(mut self, proxy: Proxy) -> Self {
        self.effects.proxy = proxy;
        self
    }
    /// What the asynchronous operation that it starts does to memory, through this proxy.
    pub const fn asynchronous(mut self, memory: MemoryOp, proxy: Proxy) -> Self {
        self.effects.asynchronous = true;
        self.memory(memory).proxy(proxy)
    }
    /// The fence that it is.
    pub const fn fence(mut self, fence: Fence) -> Self {
        self.effects.fence = fence;
        self
    }
    /// Which threads issue it together.
    pub const fn issue(mut self, issue: Issue) -> Self {
        self.effects.issue = issue;
        self
    }
    /// The scope of a barrier instruction.
    pub const fn barrier(mut self, barrier: Barrier) -> Self {
        self.effects.barrier = barrier;
        self
    }
    /// Its role in a synchronisation of threads.
    pub const fn meeting(mut self, meeting: Meeting) -> Self {
        self.effects.meeting = meeting;
        self
    }
    /// Its effect on an mbarrier object.
    pub const fn mbarrier(mut self, mbarrier: Mbarrier) -> Self {
        self.effects.mbarrier = mbarrier;
        self
    }
    /// Its role in a group of asynchronous operations.
    pub const fn group(mut self, group: Group) -> Self {
        self.effects.group = group;
        self
    }
    /// Its effect on Tensor Memory.
    pub const fn tensor(mut self, tensor: Tensor) -> Self {
        self.effects.tensor = tensor;
        self
    }

    /// The specification of the operand with this name.
    pub fn operand(&self, name: &str) -> Option<&'static OperandSpec> {
        self.operands.iter().find(|spec| spec.name == name)
    }
}
