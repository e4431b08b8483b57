//! The kernel that code is generated for: facts about registers, variables and memory accesses. All stages read it, none changes it.

use crate::frames::{Frames, is_local};
use crate::instr::elements;
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_isa::hir::{Base, FuncId, Function, Instr, Module, Operand, RegId, Space, VarId};
use ptx_dsl_isa::isa::{MemoryOp, Role, fragment};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{PARAM, Qualifier, SHARED, q};
use ptx_dsl_isa::ty::Ty;
use std::collections::BTreeSet;

/// A kernel of a module.
pub struct Kernel<'m> {
    /// The module, from [`for_engines`](crate::for_engines).
    pub module: &'m Module,
    /// The entry function.
    pub entry: FuncId,
    /// The entry function with its live ranges split.
    pub function: &'m Function,
    /// Functions that a thread may enter again before they return.
    pub recursive: BTreeSet<u32>,
    /// The frames of these functions.
    pub frames: Frames,
}

impl Kernel<'_> {
    /// The qualifiers of an instruction as its semantics read them: without types, with what operands say besides.
    pub fn qualifiers(&self, i: &Instr) -> Vec<Qualifier> {
        let mut flags: Vec<Qualifier> = i.quals.iter().copied().filter(|q| q.ty().is_none()).collect();
        flags.extend(self.param_space(i));
        // A descriptor of A in shared memory, or an address in Tensor Memory: only the brackets tell.
        if i.operand("a-tmem").is_some() {
            flags.push(q::a_tmem);
        }
        // A predicate in place of a source size.
        if i.operand("ignore-src").is_some() {
            flags.push(q::ignore_src);
        }
        // A state, or `_` in its place.
        if matches!(i.operand("state"), Some(a) if a.role == Role::Dst && !matches!(a.value, Operand::Sink)) {
            flags.push(q::state);
        }
        flags.extend(fragment::order(&i.quals));
        flags
    }

    /// The width of a register; 1 for predicates.
    pub fn reg_bits(&self, f: FuncId, reg: RegId) -> u32 {
        self.function_of(f).value_bits(reg)
    }

    /// The function, with its live ranges split if it is the entry.
    pub fn function_of(&self, f: FuncId) -> &Function {
        if f == self.entry { self.function } else { &self.module.functions[f.0 as usize] }
    }

    /// Bytes of static shared memory, aligned for the dynamic shared memory after it.
    pub fn static_shared(&self) -> u32 {
        let align = self.module.vars.iter().filter(|v| v.dynamic).map(|v| v.align).fold(16, u32::max);
        self.static_variables_end().next_multiple_of(align)
    }

    /// The end of the last variable in static shared memory.
    pub fn static_variables_end(&self) -> u32 {
        self.module.functions[self.entry.0 as usize].shared_size
    }

    /// The address of a variable in its own space.
    pub fn var_address(&self, var: VarId, offset: i64) -> u64 {
        let v = &self.module.vars[var.0 as usize];
        let base = match v.space {
            Space::Global => ptx_dsl_isa::hir::GLOBALS + u64::from(v.offset),
            Space::Shared if v.dynamic => u64::from(self.static_shared()),
            _ => u64::from(v.offset),
        };
        base.wrapping_add(offset as u64)
    }

    /// The address of a variable for an instruction; a `generic` one names no state space.
    pub fn var_address_for(&self, generic: bool, var: VarId, offset: i64) -> u64 {
        let window = if generic { u64::from(window(self.module.vars[var.0 as usize].space)) << 56 } else { 0 };
        window | self.var_address(var, offset)
    }

    /// Has each activation of `f` its own copy of the variable?
    pub fn is_framed(&self, f: FuncId, var: VarId) -> bool {
        let var = &self.module.vars[var.0 as usize];
        is_local(var) && self.recursive.contains(&f.0)
    }

    /// `.param` alone does not say whose parameter it is; the variable does.
    pub fn param_space(&self, i: &Instr) -> Option<Qualifier> {
        if !i.has_any(PARAM) || i.entry.effects.memory == MemoryOp::None {
            return None;
        }
        let of_function = i.has(q::param_func)
            || i.operands.iter().any(|a| match a.value {
                Operand::Address(Base::Var(v), _) => self.module.vars[v.0 as usize].space == Space::ParamFunc,
                _ => false,
            });
        Some(if of_function { q::param_func } else { q::param_entry })
    }

    /// The offset of the kernel parameter that the instruction loads, if it does nothing else.
    pub fn loaded_parameter(&self, i: &Instr, base: Base, at: i64) -> Option<u32> {
        let (Base::Var(v), None) = (base, &i.pred) else { return None };
        let var = &self.module.vars[v.0 as usize];
        let size = i64::from(i.types[0].bits() / 8);
        let inside = at >= 0 && at + size <= i64::from(var.size) && (i64::from(var.offset) + at) % size == 0;
        let loads = var.space == Space::ParamEntry && i.has_any(PARAM);
        if loads && inside { Some(var.offset + at as u32) } else { None }
    }

    /// A load or store of one to four elements of 8 to 64 bits in plain registers: how many.
    pub fn simple_access(&self, f: FuncId, i: &Instr) -> Option<usize> {
        let [ty] = i.types[..] else { return None };
        let ([first, second], memory @ (8 | 16 | 32 | 64)) = (&i.operands[..], ty.bits()) else { return None };
        let store = i.opcode != op::ld;
        let (values, address) = if store { (second, first) } else { (first, second) };
        if !matches!(address.value, Operand::Address(..)) {
            return None;
        }
        let n = i.elements() as usize;
        let right_count = match &values.value {
            Operand::Vector(list) => n == list.len() && n <= 4,
            _ => n == 1,
        };
        let fits = |o: &Operand| match o {
            Operand::Reg(r, _) => matches!(self.reg_bits(f, *r), b @ 8..=64 if b >= memory),
            Operand::Imm(_) | Operand::VarAddr(..) | Operand::Sreg(_) => store && memory >= 32,
            _ => false,
        };
        (right_count && elements(&values.value).iter().all(fits)).then_some(n)
    }

    /// A load whose lanes are equal where their addresses are.
    pub fn loads_same_from_same(&self, f: FuncId, i: &Instr) -> bool {
        let space = i.has_any(SHARED)
            || i.has_any(&[q::global, q::_const, q::param_entry])
            || (i.has(q::param) && self.param_space(i) == Some(q::param_entry));
        space && self.simple_access(f, i) == Some(1)
    }

    /// `red.add` or `atom.add` of one integer.
    pub fn is_simple_add(&self, f: FuncId, i: &Instr) -> bool {
        let adds = i.has(q::add)
            && i.types.len() == 1
            && matches!(i.types[0], Ty::U32 | Ty::S32 | Ty::U64)
            && !i.has_any(&[q::v2, q::v4, q::v8, q::volatile, q::L2_cache_hint]);
        let fits = |o: &Operand| match o {
            Operand::Reg(r, _) => self.reg_bits(f, *r) == i.types[0].bits(),
            Operand::Imm(_) => true,
            _ => false,
        };
        let [address, value] = sources(i)[..] else { return false };
        adds && matches!(address.value, Operand::Address(..))
            && fits(&value.value)
            && destinations(i).iter().all(|a| fits(&a.value) || matches!(a.value, Operand::Sink))
    }
}

/// The window of a state space among generic addresses.
pub fn window(space: Space) -> u8 {
    match space {
        Space::Global => 0,
        Space::Shared => 1,
        Space::Local | Space::ParamFunc => 2,
        Space::Const => 3,
        Space::ParamEntry => 4,
    }
}
