//! Facts about single instructions and operands that need no context.

use ptx_dsl_isa::hir::{Arg, Base, FuncId, Instr, Operand, Param, VarId};
use ptx_dsl_isa::isa::effect::{Barrier, Control, Issue, Mbarrier, Meeting};
use ptx_dsl_isa::isa::memory::AddressSpace;
use ptx_dsl_isa::isa::{Host, OperandSpec};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{PARAM, SHARED, q};
use ptx_dsl_isa::ty::Ty;

/// The elements of a vector, or the one operand.
pub fn elements(o: &Operand) -> &[Operand] {
    match o {
        Operand::Vector(list) => list,
        o => std::slice::from_ref(o),
    }
}

/// The number of `u64` words of a value of this type.
pub fn words(ty: Option<Ty>) -> usize {
    if ty == Some(Ty::B128) { 2 } else { 1 }
}

/// A constant as the bits of its type, zero-extended; full width where the type is unknown.
pub fn truncated(v: u64, ty: Option<Ty>) -> u64 {
    match ty.map(Ty::bits) {
        Some(bits @ 1..=63) => v & ((1 << bits) - 1),
        _ => v,
    }
}

/// The plain bits type of this width.
pub fn bits_type(bits: u32) -> Option<Ty> {
    Some(match bits {
        8 => Ty::B8,
        16 => Ty::B16,
        32 => Ty::B32,
        _ => Ty::B64,
    })
}

/// The number of destinations of the runtime's function: `shfl.sync d[|p]` and friends have two even if one is written.
pub fn destination_count(i: &Instr, given: usize) -> usize {
    match i.opcode {
        op::shfl | op::shfl_sync | op::elect_sync => 2,
        op::match_ if i.has(q::all) => 2,
        _ => given,
    }
}

/// The functions that a call may reach.
pub fn callees(i: &Instr) -> Vec<FuncId> {
    let mut found = Vec::new();
    for arg in &i.operands {
        match &arg.value {
            Operand::Func(f) => return vec![*f],
            Operand::Funcs(list) => found = list.clone(),
            _ => {}
        }
    }
    found
}

/// Does the instruction name a state space for its addresses?
pub fn names_space(i: &Instr) -> bool {
    i.has_any(SHARED) || i.has_any(PARAM) || i.has_any(&[q::global, q::local, q::_const])
}

/// Is an operand of it a generic address, where it is the address of a variable? That of a tensor map always is.
pub fn is_generic(i: &Instr, a: &Arg) -> bool {
    let tensor_map = |spec: &OperandSpec| spec.memory.is_some_and(|m| m.space == AddressSpace::TensorMap);
    !names_space(i) || i.entry.operand(a.name).is_some_and(tensor_map)
}

/// May it access global memory?
pub fn may_be_global(i: &Instr) -> bool {
    i.has(q::global) || !names_space(i)
}

/// The number of the barrier, if all threads of the CTA take part in it.
pub fn cta_barrier(i: &Instr) -> Option<u32> {
    if (i.entry.effects.barrier, i.entry.effects.meeting) != (Barrier::Cta, Meeting::Both) || i.pred.is_some() {
        return None;
    }
    match i.operands.as_slice() {
        [Arg { value: Operand::Imm(id @ 0..=15), .. }] => Some(*id as u32),
        _ => None,
    }
}

/// Does a warp that executes it wait for lanes of its own alone?
pub fn is_warp_collective(i: &Instr) -> bool {
    i.entry.effects.issue == Issue::Lanes
}

/// Does it execute at once in a warp whose lanes all run: a warp collective with the full mask?
pub fn needs_full_warp_only(i: &Instr) -> bool {
    let full = |a: &Arg| matches!(a.value, Operand::Imm(mask) if mask as u32 == u32::MAX);
    is_warp_collective(i) && i.pred.is_none() && i.operands.last().is_some_and(full)
}

/// May it wait for the phase of an mbarrier: `mbarrier.try_wait`?
pub fn is_try_wait(i: &Instr) -> bool {
    i.entry.host.waits() && i.entry.effects.mbarrier == Mbarrier::Wait
}

/// Is its result the same for lanes whose operands are the same, and does the runtime compute it for the warp?
pub fn is_uniform_for_uniform(i: &Instr) -> bool {
    let wide_load = i.opcode == op::ld && matches!(i.types[..], [ty] if ty.bits() == 128);
    i.entry.effects.pure || (wide_load && (i.has_any(SHARED) || i.has(q::_const)))
}

/// A plain copy of registers, or a `mov` that packs or unpacks.
pub fn is_move(i: &Instr) -> bool {
    i.entry.host == Host::Control && i.entry.effects.control == Control::Next
}

/// Does the instruction change neither memory nor which lanes run?
pub fn is_passive(i: &Instr) -> bool {
    i.entry.host == Host::Lane || is_move(i) || matches!(i.opcode, op::ld | op::cvta)
}

/// The arguments (or the results) of a call.
pub fn list_of<'i>(instr: &'i Instr, name: &str) -> &'i [Operand] {
    match instr.operand(name) {
        Some(Arg { value: Operand::List(list), .. }) => list,
        _ => &[],
    }
}

/// The variable or the register of a parameter or a result.
pub fn home(param: &Param) -> Option<Operand> {
    let register = |r| match param.lanes {
        1 => Operand::Reg(r, 0),
        n => Operand::Vector((0..n).map(|lane| Operand::Reg(r, lane)).collect()),
    };
    param.var.map(|v| Operand::VarAddr(v, 0)).or(param.reg.map(register))
}

/// The variable whose address the operand is.
pub fn variable(o: &Operand) -> Option<VarId> {
    match o {
        Operand::VarAddr(v, 0) | Operand::Address(Base::Var(v), 0) => Some(*v),
        _ => None,
    }
}
