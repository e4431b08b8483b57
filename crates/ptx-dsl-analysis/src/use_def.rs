//! Use-def information of single instructions: which operands are destinations, which registers an instruction reads and writes.

use ptx_dsl_isa::hir::{Arg, FuncId, Instr, Operand, RegId};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::isa::effect::Carry;
use ptx_dsl_isa::qualifier::q;

/// Is the operand a destination? The `_` that a form spells out itself is one too.
pub fn is_destination(arg: &Arg) -> bool {
    arg.role == Role::Dst || matches!(arg.value, Operand::Sink)
}

/// The operands that an instruction writes.
pub fn destinations(i: &Instr) -> Vec<&Arg> {
    i.operands.iter().filter(|a| is_destination(a)).collect()
}

/// The operands that an instruction reads.
pub fn sources(i: &Instr) -> Vec<&Arg> {
    i.operands.iter().filter(|a| !is_destination(a)).collect()
}

/// Does the instruction read the condition code, does it write it?
pub fn carry_use(i: &Instr) -> (bool, bool) {
    match i.entry.effects.carry {
        Carry::None => (false, false),
        Carry::Out => (false, true),
        Carry::In => (true, i.has(q::cc)),
    }
}

/// An element of a register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegKey {
    /// The function of the register.
    pub func: FuncId,
    /// The register.
    pub reg: RegId,
    /// The element of a vector; 0 for others.
    pub element: u32,
}

/// The register number of the condition code.
const CARRY: RegId = RegId(u32::MAX);

impl RegKey {
    /// An element of a register.
    pub fn new(func: FuncId, reg: RegId, element: u32) -> Self {
        RegKey { func, reg, element }
    }

    /// The condition code of a function.
    pub fn carry(func: FuncId) -> Self {
        RegKey::new(func, CARRY, 0)
    }

    /// Is it the condition code?
    pub fn is_carry(self) -> bool {
        self.reg == CARRY
    }

    /// The register that an operand itself names.
    pub fn of(f: FuncId, o: &Operand) -> Option<Self> {
        o.register().map(|(reg, element)| RegKey::new(f, reg, element))
    }
}

/// The registers of an operand.
pub fn registers(f: FuncId, o: &Operand) -> Vec<RegKey> {
    let mut found = Vec::new();
    o.registers(&mut |reg, element| found.push(RegKey::new(f, reg, element)));
    found
}

/// The registers that an instruction reads and writes.
pub struct UseDef {
    /// The registers that are read.
    pub uses: Vec<RegKey>,
    /// The registers that are written.
    pub defs: Vec<RegKey>,
}

impl UseDef {
    /// The registers of an instruction of `f`. A guarded one also reads what it writes: lanes whose predicate is false keep the old value.
    pub fn of(f: FuncId, i: &Instr) -> Self {
        let (mut uses, mut defs) = (Vec::new(), Vec::new());
        for a in &i.operands {
            if is_destination(a) { &mut defs } else { &mut uses }.extend(registers(f, &a.value));
        }
        let (reads, writes) = carry_use(i);
        if reads {
            uses.push(RegKey::carry(f));
        }
        if writes {
            defs.push(RegKey::carry(f));
        }
        if let Some((p, _)) = &i.pred {
            uses.extend(registers(f, p));
            // lanes whose predicate is false keep the old value
            uses.extend_from_slice(&defs);
        }
        UseDef { uses, defs }
    }
}
