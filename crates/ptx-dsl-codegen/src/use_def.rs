//! Use-def information of single instructions: which registers they read and write.

use crate::instr::{carry_use, is_destination};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand, RegId};

/// An element of a register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegKey {
    pub func: FuncId,
    pub reg: RegId,
    pub element: u32,
}

/// The register number of the condition code.
const CARRY: RegId = RegId(u32::MAX);

impl RegKey {
    pub fn new(func: FuncId, reg: RegId, element: u32) -> Self {
        RegKey { func, reg, element }
    }

    /// The condition code of a function.
    pub fn carry(func: FuncId) -> Self {
        RegKey::new(func, CARRY, 0)
    }

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

/// What an instruction reads and what it writes.
pub struct UseDef {
    pub uses: Vec<RegKey>,
    pub defs: Vec<RegKey>,
}

impl UseDef {
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
