//! Facts about single instructions and operands that need no context.

use crate::names::function_of;
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::isa::{Host, Role};
use ptx_dsl_isa::ty::Ty;

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

/// The scalar parts of an operand, in order.
pub fn parts_of(o: &Operand) -> Vec<&Operand> {
    match o {
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            list.iter().flat_map(parts_of).collect()
        }
        Operand::Pair(a, b) => [parts_of(a), parts_of(b)].concat(),
        o => vec![o],
    }
}

/// The elements of a vector, or the one operand.
pub fn elements(o: &Operand) -> &[Operand] {
    match o {
        Operand::Vector(list) => list,
        o => std::slice::from_ref(o),
    }
}

/// How many `u64` a value of this type takes.
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

/// Does the instruction read the condition code, does it write it?
pub fn carry_use(i: &Instr) -> (bool, bool) {
    let o = i.entry.opcode;
    (matches!(o, "addc" | "subc" | "madc"), o.ends_with(".cc") || i.has(".cc"))
}

/// How many destinations the runtime's function has: `shfl.sync d[|p]` and friends have two even if one is written.
pub fn destination_count(i: &Instr, given: usize) -> usize {
    let two = matches!(i.entry.opcode, "shfl.sync" | "shfl" | "elect.sync")
        || (i.entry.opcode == "match" && i.has(".all"))
        || i.entry.opcode == "match.all.sync";
    if two { 2 } else { given }
}

/// The functions that a call may reach.
pub fn callees(i: &Instr) -> Vec<ptx_dsl_isa::hir::FuncId> {
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
    const SPACES: [&str; 5] = [".global", ".shared", ".local", ".const", ".param"];
    i.quals.iter().any(|q| SPACES.iter().any(|s| q == s || q.strip_prefix(s).is_some_and(|r| r.starts_with("::"))))
}

/// May it access global memory?
pub fn may_be_global(i: &Instr) -> bool {
    i.has(".global") || !names_space(i)
}

/// Does it order memory accesses, or may another thread observe it?
pub fn is_strong(i: &Instr) -> bool {
    i.has_any(&[".volatile", ".relaxed", ".acquire", ".release", ".mmio"])
}

/// The number of the barrier, if all threads of the CTA take part in it.
pub fn cta_barrier(i: &Instr) -> Option<u32> {
    let function = function_of(i.entry.opcode, i);
    if !matches!(function.as_str(), "bar_sync" | "barrier_sync") || i.pred.is_some() {
        return None;
    }
    match i.operands.as_slice() {
        [Arg { value: Operand::Imm(id @ 0..=15), .. }] => Some(*id as u32),
        _ => None,
    }
}

/// Does a warp that executes it wait for its own lanes alone?
pub fn is_warp_collective(i: &Instr) -> bool {
    const WARP: [&str; 5] = ["shfl_sync", "vote_sync", "redux_sync", "elect_sync", "bar_warp_sync"];
    let function = function_of(i.entry.opcode, i);
    WARP.contains(&function.as_str()) || function.starts_with("match")
}

/// Does it execute at once in a warp whose lanes all run: a warp collective with the full mask?
pub fn needs_full_warp_only(i: &Instr) -> bool {
    let full = |a: &Arg| matches!(a.value, Operand::Imm(mask) if mask as u32 == u32::MAX);
    is_warp_collective(i) && i.pred.is_none() && i.operands.last().is_some_and(full)
}

/// `mbarrier.try_wait`.
pub fn is_try_wait(i: &Instr) -> bool {
    i.entry.opcode == "mbarrier.try_wait"
}

/// Is its result a pure function of its operands, and does it cost more than a few host instructions?
pub fn is_costly_pure(i: &Instr) -> bool {
    let shared = i.has_any(&[".shared", ".shared::cta", ".shared::cluster", ".const"]);
    match i.entry.opcode {
        "clusterlaunchcontrol.query_cancel" | "isspacep" | "getctarank" => true,
        "mapa" => matches!(i.types.first(), Some(t) if t.bits() == 64),
        "ld" => shared && i.types.len() == 1 && i.types[0].bits() == 128,
        _ => false,
    }
}

/// Does the instruction change neither memory nor which lanes run?
pub fn is_passive(i: &Instr) -> bool {
    matches!(i.entry.host, Host::Lane) || matches!(i.entry.opcode, "mov" | "ld" | "cvta")
}
