//! Shuffles from one lane that their mask does not name (9.7.9.6): the value is undefined, and an error where it is certainly observed.

use crate::errors::completion;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{Kind, accesses, value_access};
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::hir::{Instr, Operand, RegId};
use ptx_dsl_isa::isa::effect::{Carry, MemoryOp};
use ptx_dsl_isa::isa::{Control, Host, Role};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The clamp and the segment mask of one segment of 32 lanes.
const ONE_SEGMENT: u32 = 0x1f;

/// Checks an instruction with a constant member mask.
pub(crate) fn check(kernel: &Kernel, at: u32, mask: u32) {
    let i = kernel.flow.instr(at);
    if i.opcode != op::shfl_sync || !i.has(q::idx) || i.constant("c").is_none_or(|c| c as u32 != ONE_SEGMENT) {
        return;
    }
    let (Some(arg), Some(lane)) = (i.operand("b"), i.constant("b")) else { return };
    let lane = lane as u32 & 31;
    if mask >> lane & 1 == 0 {
        kernel.report(completion::source_lane(arg.span, lane, mask, is_observed(kernel.flow, at)));
    }
}

/// Is what a shuffle returns certainly stored to global memory, an address, or the predicate of a branch? Values that are computed from it
/// are undefined like it.
fn is_observed(flow: &Flow, shuffle: u32) -> bool {
    let from = flow.cfg.block_of(shuffle);
    let Some((register, lane)) = flow.instr(shuffle).value("d").and_then(first_register) else { return false };
    if flow.instr(shuffle).pred.is_some() {
        return false;
    }
    let var = flow.ssa.var(register, lane);
    let mut undefined: Vec<Val> = flow.ssa.defs(shuffle).iter().filter(|(of, _)| *of == var).map(|(_, v)| *v).collect();
    for (block, at, i) in flow.walk() {
        let reads = |v: Val| undefined.contains(&flow.origin(v));
        if !flow.ssa.uses(at).iter().any(|(_, v)| reads(*v)) {
            continue;
        }
        let branches = i.entry.effects.control == Control::Branch && flow.guard(at).is_some_and(|(p, _)| reads(p));
        let happens = block == from && at > shuffle || block != from && flow.cfg.post_dominates(block, from);
        if happens && (branches || i.pred.is_none() && uses(flow, at, &reads)) {
            return true;
        }
        if i.pred.is_none() && is_undefined_with_any_source(i) {
            undefined.extend(flow.ssa.defs(at).iter().map(|(_, v)| *v));
        }
    }
    false
}

/// The register of a destination, without the predicate beside it.
fn first_register(o: &Operand) -> Option<(RegId, u32)> {
    match o {
        Operand::Pair(value, _) => value.register(),
        _ => o.register(),
    }
}

/// Does the instruction access memory through such a value, or store one to global memory?
fn uses(flow: &Flow, at: u32, is: &dyn Fn(Val) -> bool) -> bool {
    let i = flow.instr(at);
    let has = |o: &Operand| {
        let mut found = false;
        o.registers(&mut |r, lane| found |= is(flow.ssa.read(at, r, lane)));
        found
    };
    let (mut global, mut address) = (false, false);
    accesses(i, &mut |access| {
        global |= matches!(access.kind, Kind::In(q::global) | Kind::Generic);
        address |= has(&access.arg.value);
    });
    let stored = || i.operands.iter().any(|arg| !matches!(arg.role, Role::Addr | Role::Dst) && has(&arg.value));
    address || global && value_access(i) == MemoryOp::Store && stored()
}

/// Is the result undefined if one of the operands is?
fn is_undefined_with_any_source(i: &Instr) -> bool {
    let effects = &i.entry.effects;
    let computes = i.entry.host == Host::Lane && effects.carry == Carry::None && !effects.selectors;
    let product = matches!(i.opcode, op::mul | op::mad | op::mul24 | op::mad24);
    computes && !effects.merges && i.opcode != op::selp && !product
}
