//! The vocabulary of the table. An instruction is declared once, as data, in the file of its family in `isa/`.
//!
//! ```text
//! instr("mbarrier.inval").section("9.7.13.15.10").since(ptx(7, 0)).requires(sm(80))
//!     .syntax("mbarrier.inval{.shared{::cta}}.b64 [addr];")
//!     .operands(&[addr("addr", object().own_cta()).align(8)])
//!     .gates(&[gate(&[has(q::shared_cta)]).since(ptx(7, 8))])
//!     .host(Host::Warp).mbarrier(Mbarrier::Inval),
//! ```
//!
//! The syntax block is the manual's own notation: one form per `;`, then the sets (`.sem = { .release, .relaxed }`).
//! `{.x}` is optional, `{.sem.scope}` come together or not at all, `.shared{::cta}` stands for `.shared` and `.shared::cta`,
//! `.{a, b}` and `{.a, .b}`-sets are alternatives. `isa/syntax.rs` compiles a block, and only when its opcode is used.

use crate::qualifier::{Qualifier, q};
use crate::ty::Ty;
pub use effect::{Barrier, Carry, Control, Group, Issue, Mbarrier, Meeting, Step, Tensor};
use memory::{AddressSpace, Memory, Reach, Size, mbarrier as object, reads, writes};

pub mod address;
pub mod async_copy;
pub mod async_store;
pub mod atom;
pub mod bar;
pub mod bulk;
pub mod clusterlaunchcontrol;
pub mod compare;
pub mod compress;
pub mod control;
pub mod convert;
pub mod directive;
pub mod effect;
pub mod extended;
pub mod fabric;
pub mod fence;
pub mod float;
pub mod fragment;
pub mod half;
pub mod integer;
pub mod ld_st;
pub mod ldmatrix;
pub mod logic;
pub mod mbarrier;
pub mod memory;
pub mod misc;
pub mod mixed;
pub mod mma;
pub mod movement;
pub mod multimem;
pub mod prefetch;
pub mod sreg;
pub mod surface;
pub mod syntax;
pub mod target;
pub mod tcgen05;
pub mod tensor;
pub mod texture;
pub mod video;
pub mod warp;
pub mod wgmma;
pub mod wmma;

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
    /// ptxas accepts the last word of the opcode anywhere behind the others (CUB writes `vote.ballot.sync.b32`).
    pub movable: bool,
    /// The syntax block.
    pub syntax: &'static str,
    /// The meaning of the names in the syntax block.
    pub operands: &'static [OperandSpec],
    /// Further requirements of parts of it.
    pub gates: &'static [Gate],
    /// Rules that the syntax cannot express.
    pub rules: &'static [Rule],
    /// The manual's defaults of optional qualifiers: `(".sem", ".release")`.
    pub defaults: &'static [(&'static str, Qualifier)],
    /// How the host runs it.
    pub host: Host,
    /// Its effect on control flow.
    pub control: Control,
    /// Its effect on the condition code.
    pub carry: Carry,
    /// Its results depend on its operands alone, not on the thread or on memory.
    pub pure: bool,
    /// It takes many times as long as an addition: division, roots, transcendental functions.
    pub slow: bool,
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
}

/// How the macro calls the host's semantics of an instruction: `runtime::isa::<family>::<opcode with _ for .>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Checks and prints; a launch on the host fails with `Error::NotYet`.
    NotYet,
    /// `fn(Q, [u64; S]) -> [u64; D]`, lane by lane.
    Lane,
    /// `fn(&mut Ctx<M>, Q, [&Lanes; S], [&mut Lanes; D]) -> Result<(), Fault>`, once per warp.
    Warp,
    /// As `Warp`, but it may wait: `-> Result<Flow, Fault>`.
    Block,
    /// `mov`, `bra`, `brx.idx`, `call`, `ret`, `exit`: the macro emits it itself.
    Control,
}

/// A PTX ISA version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ptx(pub u32, pub u32);

/// `ptx(8, 6)`
pub const fn ptx(major: u32, minor: u32) -> Ptx {
    Ptx(major, minor)
}

/// A set of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// `sm_NN` or higher.
    Sm(u32),
    /// One of these. `sm_100a` means exactly that target; `sm_100f` means `sm_100f` or higher in the same family, `f` or `a`.
    /// Each with the version that introduced it there.
    Only(&'static [(&'static str, Ptx)]),
}

/// `sm(90)`: that target or higher.
pub const fn sm(number: u32) -> Targets {
    Targets::Sm(number)
}

/// All targets.
pub const ANY: Targets = Targets::Sm(0);

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

/// A condition of a gate or a rule.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// The qualifier (or type) is written, with its dot.
    Has(Qualifier),
    /// It is not.
    Not(Qualifier),
    /// One of them is written.
    HasAny(&'static [Qualifier]),
    /// The optional operand is given.
    Operand(&'static str),
    /// The destination is written as `_`.
    Sink(&'static str),
    /// The types that are written are these, in this order.
    Types(&'static [Ty]),
}

/// The qualifier is written.
pub const fn has(qualifier: Qualifier) -> When {
    When::Has(qualifier)
}
/// The qualifier is not written.
pub const fn not(qualifier: Qualifier) -> When {
    When::Not(qualifier)
}
/// One of the qualifiers is written.
pub const fn any(qualifiers: &'static [Qualifier]) -> When {
    When::HasAny(qualifiers)
}
/// The operand is given.
pub const fn operand(name: &'static str) -> When {
    When::Operand(name)
}
/// The destination is `_`.
pub const fn sink(name: &'static str) -> When {
    When::Sink(name)
}

/// The types are these, in this order.
pub const fn types(types: &'static [Ty]) -> When {
    When::Types(types)
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

/// A rule as a function: the error, and the number of its operand. After a line break the text may give an edit that compiles.
pub type Check = fn(&crate::hir::Instr) -> Option<(String, Option<usize>)>;

/// A rule that the syntax cannot express.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// These conditions never hold together. The text says why, as a sentence.
    Never(&'static [When], &'static str),
    /// When the first holds, the second must hold too.
    Needs(When, When, &'static str),
    /// Anything else: takes the instruction, returns the message and the number of its operand, if any.
    Custom(Check),
}

/// Whether an operand is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Written.
    Dst,
    /// Read.
    Src,
    /// `[...]`
    Addr,
    /// A label, function, table or parameter list, for `Control` instructions.
    Name,
}

/// The type of an operand.
#[derive(Debug, Clone, Copy)]
pub enum OpTy {
    /// Always this one.
    Ty(Ty),
    /// The type written for this slot of the syntax: `.type`, `.dtype`. A literal type in a form counts as the slot `.type`.
    Slot(&'static str),
    /// The slot's type; twice as wide with `.wide`.
    Wide(&'static str),
    /// A vector of values of the slot's type: as many as `.vec` says (1 without), or this fixed number.
    Vec(&'static str, u32),
    /// Always `{...}`. The number of values is the product of the numbers of the written qualifiers (`.16x128b` with `.x4`: 2 times 4).
    Many(Ty, &'static [(Qualifier, u32)]),
    /// Always `{...}` too: the function computes the type and number of values from the qualifiers. A fragment of a matrix, the
    /// coordinates of a tensor.
    Fragment(fn(&[Qualifier]) -> (Ty, u32)),
    /// The slot's type, or `{...}`: two or four equal parts of it, together as wide (`mov` packs and unpacks).
    Parts(&'static str),
    /// Coordinates of a texture or surface: as many values of the slot's type as the geometry needs, an array index first.
    Coords(&'static str),
    /// Offsets and gradients of a texture: a value of this type for each axis of the geometry.
    PerAxis(Ty),
    /// Not a value.
    None,
}

/// The meaning of a name in a syntax block.
#[derive(Debug, Clone, Copy)]
pub struct OperandSpec {
    /// The name in the block.
    pub name: &'static str,
    /// Whether it is read or written.
    pub role: Role,
    /// Its type.
    pub ty: OpTy,
    /// `_` is allowed here (where a form writes `_` itself it is required).
    pub sink: bool,
    /// Immediates: `None` = any constant of the type, or within the range; see `imm_only`, `no_imm`.
    pub range: Option<(i64, i64)>,
    /// Must be a constant.
    pub imm_only: bool,
    /// Must not be a constant.
    pub no_imm: bool,
    /// The register may be wider than the type (`ld`, `st`, `cvt`).
    pub wider: bool,
    /// Alignment of a constant address, in bytes (0: that of the access).
    pub align: u32,
    /// Only registers of the type, and untyped ones of its width; no signed one for an unsigned.
    pub exact: bool,
    /// The memory behind an address.
    pub memory: Option<Memory>,
}

const fn spec(name: &'static str, role: Role, ty: OpTy) -> OperandSpec {
    OperandSpec {
        name,
        role,
        ty,
        sink: false,
        range: None,
        imm_only: false,
        no_imm: false,
        wider: false,
        align: 0,
        exact: false,
        memory: None,
    }
}
/// A destination.
pub const fn dst(name: &'static str, ty: OpTy) -> OperandSpec {
    spec(name, Role::Dst, ty)
}
/// A source: register or constant.
pub const fn src(name: &'static str, ty: OpTy) -> OperandSpec {
    spec(name, Role::Src, ty)
}
/// An address, and the memory behind it.
pub const fn addr(name: &'static str, memory: Memory) -> OperandSpec {
    let mut spec = spec(name, Role::Addr, OpTy::None);
    spec.memory = Some(memory);
    spec
}
/// A label, function, table or list.
pub const fn name(name: &'static str) -> OperandSpec {
    spec(name, Role::Name, OpTy::None)
}
/// A fixed type.
pub const fn ty(ty: Ty) -> OpTy {
    OpTy::Ty(ty)
}
/// The type written for a slot.
pub const fn slot(slot: &'static str) -> OpTy {
    OpTy::Slot(slot)
}
/// The type written for `.type`, or the literal type of the form.
pub const T: OpTy = OpTy::Slot(".type");

impl OperandSpec {
    /// `_` is allowed.
    pub const fn or_sink(mut self) -> Self {
        self.sink = true;
        self
    }
    /// Range of constants, both ends included.
    pub const fn range(mut self, low: i64, high: i64) -> Self {
        self.range = Some((low, high));
        self
    }
    /// Constants only.
    pub const fn imm(mut self) -> Self {
        self.imm_only = true;
        self
    }
    /// Registers only.
    pub const fn reg(mut self) -> Self {
        self.no_imm = true;
        self
    }
    /// Only registers of the type, or untyped ones.
    pub const fn exact(mut self) -> Self {
        self.exact = true;
        self
    }
    /// The register may be wider.
    pub const fn wider(mut self) -> Self {
        self.wider = true;
        self
    }
    /// Alignment of a constant address.
    pub const fn align(mut self, bytes: u32) -> Self {
        self.align = bytes;
        self
    }
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
        host: Host::NotYet,
        control: Control::Next,
        carry: Carry::None,
        pure: false,
        slow: false,
        issue: Issue::Thread,
        barrier: Barrier::None,
        meeting: Meeting::None,
        mbarrier: Mbarrier::None,
        group: Group::None,
        tensor: Tensor::None,
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
    /// The last word of the opcode may stand anywhere behind the others.
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
        self.control = control;
        self
    }
    /// Its effect on the condition code.
    pub const fn carry(mut self, carry: Carry) -> Self {
        self.carry = carry;
        self
    }
    /// Its results depend on its operands alone. Arithmetic, which each lane computes for itself, need not say so.
    pub const fn pure(mut self) -> Self {
        self.pure = true;
        self
    }
    /// It takes many times as long as an addition.
    pub const fn slow(mut self) -> Self {
        self.slow = true;
        self
    }
    /// Which threads issue it together.
    pub const fn issue(mut self, issue: Issue) -> Self {
        self.issue = issue;
        self
    }
    /// The scope of a barrier instruction.
    pub const fn barrier(mut self, barrier: Barrier) -> Self {
        self.barrier = barrier;
        self
    }
    /// Its role in a synchronisation of threads.
    pub const fn meeting(mut self, meeting: Meeting) -> Self {
        self.meeting = meeting;
        self
    }
    /// Its effect on an mbarrier object.
    pub const fn mbarrier(mut self, mbarrier: Mbarrier) -> Self {
        self.mbarrier = mbarrier;
        self
    }
    /// Its role in a group of asynchronous operations.
    pub const fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }
    /// Its effect on Tensor Memory.
    pub const fn tensor(mut self, tensor: Tensor) -> Self {
        self.tensor = tensor;
        self
    }

    /// The specification of the operand with this name.
    pub fn operand(&self, name: &str) -> Option<&'static OperandSpec> {
        self.operands.iter().find(|spec| spec.name == name)
    }
}

/// The table: each family with its name, which is that of its file, in the manual's order.
#[rustfmt::skip]
pub static FAMILIES: &[(&str, &[Instr])] = &[
    ("integer", integer::LIST),
    ("extended", extended::LIST),
    ("float", float::LIST),
    ("half", half::LIST),
    ("mixed", mixed::LIST),
    ("compare", compare::LIST),
    ("logic", logic::LIST),
    ("movement", movement::LIST),
    ("convert", convert::LIST),
    ("convert", convert::narrow::LIST),
    ("ld_st", ld_st::LIST),
    ("prefetch", prefetch::LIST),
    ("address", address::LIST),
    ("atom", atom::LIST),
    ("texture", texture::LIST),
    ("surface", surface::LIST),
    ("fence", fence::LIST),
    ("bar", bar::LIST),
    ("mbarrier", mbarrier::LIST),
    ("clusterlaunchcontrol", clusterlaunchcontrol::LIST),
    ("warp", warp::LIST),
    ("async_store", async_store::LIST),
    ("async_copy", async_copy::LIST),
    ("bulk", bulk::LIST),
    ("tensor", tensor::LIST),
    ("multimem", multimem::LIST),
    ("fabric", fabric::LIST),
    ("compress", compress::LIST),
    ("wmma", wmma::LIST),
    ("mma", mma::LIST),
    ("ldmatrix", ldmatrix::LIST),
    ("wgmma", wgmma::LIST),
    ("control", control::LIST),
    ("video", video::LIST),
    ("tcgen05", tcgen05::alloc::LIST),
    ("tcgen05", tcgen05::ld_st::LIST),
    ("tcgen05", tcgen05::cp::LIST),
    ("tcgen05", tcgen05::mma::LIST),
    ("tcgen05", tcgen05::commit::LIST),
    ("misc", misc::LIST),
];

#[cfg(test)]
mod tests_arith;
#[cfg(test)]
mod tests_memory;
