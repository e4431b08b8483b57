//! The memory accesses of an instruction, from its table entry: address operand, state space, size, alignment, read or write.

use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::isa::memory::{AddressSpace, Memory, Reach, Size};
use ptx_dsl_isa::isa::{self, Mbarrier, MemoryOp, OperandSpec, Role};
use ptx_dsl_isa::meaning::access::space;
use ptx_dsl_isa::qualifier::{MULTICAST, Qualifier, q};

/// The kind of address that an operand is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// An address in the space that the qualifier names.
    In(Qualifier),
    /// Generic.
    Generic,
    /// Generic, of an object in shared memory.
    Object,
    /// In shared memory, in either form.
    Shared,
    /// Generic, of a tensor map: in global memory, constants or parameters.
    Map,
}

/// One address of an instruction, and its use.
pub struct Access<'h> {
    /// The address operand.
    pub arg: &'h Arg,
    /// The kind of the address.
    pub kind: Kind,
    /// The entry of the instruction.
    pub entry: &'static isa::Instr,
    /// Reaches the shared memory of the own CTA only.
    pub own: bool,
    /// The result, if it reaches only the own CTA because it returns one.
    pub own_for_result: Option<&'h Arg>,
    /// The memory is written.
    pub writes: bool,
    /// In bytes; 0 if unknown.
    pub size: u32,
    /// In bytes.
    pub align: u32,
}

impl Access<'_> {
    /// The narrowest qualifier for shared memory that the instruction takes.
    pub fn shared(&self) -> Qualifier {
        [q::shared, q::shared_cta].into_iter().find(|q| self.takes(*q)).unwrap_or(q::shared_cluster)
    }

    /// Has the instruction a form with this qualifier?
    pub fn takes(&self, qualifier: Qualifier) -> bool {
        let forms = isa::syntax::forms(self.entry);
        forms.iter().flat_map(|form| &form.slots).any(|slot| slot.alts.contains(&qualifier))
    }
}

/// Does the instruction access the same address in several CTAs of the cluster?
pub fn multicast(i: &Instr) -> bool {
    i.has_any(MULTICAST)
}

/// Calls `each` with the accesses of an instruction to memory that has a state space.
pub fn accesses<'h>(i: &'h Instr, each: &mut dyn FnMut(Access<'h>)) {
    let mut spaces = Vec::new();
    for arg in &i.operands {
        let (Role::Addr, Some(spec)) = (arg.role, i.entry.operand(arg.name)) else { continue };
        let Some(memory) = spec.memory else { continue };
        if memory.access == isa::memory::Access::Hint || memory.space == AddressSpace::TensorMemory {
            continue;
        }
        if spaces.is_empty() {
            spaces = qualifiers(i);
        }
        // The location of function parameters is unknown here.
        if spaces.first() == Some(&q::param_func) {
            return;
        }
        each(access(i, arg, spec, &memory, &spaces));
    }
}

/// The first address written outside of global and local memory, or the address of an object that is initialised.
pub fn written(i: &Instr) -> Option<&Arg> {
    let mut found = None;
    accesses(i, &mut |access| {
        let elsewhere = matches!(access.kind, Kind::In(q::global | q::local));
        if found.is_none() && !elsewhere && (access.writes || i.entry.effects.mbarrier == Mbarrier::Init) {
            found = Some(access.arg);
        }
    });
    found
}

/// The qualifiers that name a state space, in their order.
fn qualifiers(i: &Instr) -> Vec<Qualifier> {
    i.quals.iter().copied().filter(|q| space(*q).is_some() || *q == q::param_func).collect()
}

fn access<'h>(i: &'h Instr, arg: &'h Arg, spec: &OperandSpec, memory: &Memory, spaces: &[Qualifier]) -> Access<'h> {
    let in_qualifier = |n: usize, otherwise: Kind| match spaces.get(n) {
        Some(q) => Kind::In(*q),
        None => otherwise,
    };
    let kind = match memory.space {
        AddressSpace::Qualifier(n) => in_qualifier(n, Kind::Generic),
        AddressSpace::Shared(n) => in_qualifier(n, Kind::Object),
        AddressSpace::AnyShared => Kind::Shared,
        AddressSpace::TensorMap => Kind::Map,
        AddressSpace::TensorMemory => Kind::Generic,
    };
    let own_space = |n: usize| own(in_qualifier(n, Kind::Generic));
    let own_for_result = if memory.reach == Reach::OwnCtaForResult && !own(kind) { result(i) } else { None };
    let own = match memory.reach {
        Reach::BySpace => own(kind),
        Reach::OwnCta => true,
        Reach::LikeQualifier(n) => own_space(n),
        Reach::PairOrLikeQualifier(n) => own_space(n) && !i.has(q::cta_group_2),
        Reach::OwnCtaForResult => own(kind) || own_for_result.is_some(),
    };
    let size = size(i, memory.size);
    let align = if spec.align > 0 { spec.align } else { size };
    Access {
        arg,
        kind,
        entry: i.entry,
        own,
        own_for_result,
        writes: memory.access == isa::memory::Access::Write,
        size: if i.fulfils_any(memory.partial) { 0 } else { size },
        align: if i.fulfils_any(memory.unaligned) { 1 } else { align.max(1) },
    }
}

fn own(kind: Kind) -> bool {
    matches!(kind, Kind::In(q::shared_cta | q::shared))
}

/// The destination, if it is not `_`.
fn result(i: &Instr) -> Option<&Arg> {
    i.operands.iter().find(|arg| arg.role == Role::Dst && !matches!(arg.value, Operand::Sink))
}

/// In bytes; 0 if unknown.
fn size(i: &Instr, size: Size) -> u32 {
    let bytes = match size {
        Size::Type => i.bytes(),
        Size::Bytes(n) => u64::from(n),
        Size::Operand(name) => i.constant(name).unwrap_or(0),
        Size::Unknown => 0,
    };
    u32::try_from(bytes).unwrap_or(0)
}

/// The memory operation on values of the instruction's type: `ld`, `st`, `atom`, `red`. Matrices and blocks of bytes do not count.
pub fn value_access(i: &Instr) -> MemoryOp {
    let operation = i.entry.effects.ordinary();
    if operation == MemoryOp::None {
        return operation;
    }
    let of_values = |spec: &OperandSpec| matches!(spec.memory, Some(memory) if memory.size == Size::Type);
    if i.entry.operands.iter().any(of_values) { operation } else { MemoryOp::None }
}

/// Is it a wait for the phase of an mbarrier?
pub fn mbarrier_wait(i: &Instr) -> bool {
    i.entry.effects.mbarrier == Mbarrier::Wait
}
