//! Integer division in the address code of a loop.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use crate::performance::computes;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::ssa::Value;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::ty::Class;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let is_division = |i: &Instr| {
        matches!(i.opcode, op::div | op::rem)
            && i.types.first().is_some_and(|ty| matches!(ty.class(), Class::Unsigned | Class::Signed))
    };
    if !flow.cfg.any(&is_division) {
        return;
    }
    let in_addresses = in_addresses(flow);
    for (block, at, i) in flow.walk() {
        if !is_division(i) || !flow.cfg.in_loop(block) || !in_addresses[at as usize] {
            continue;
        }
        let divisor = match i.value("b") {
            Some(Operand::Imm(n)) if n.is_power_of_two() => continue,
            Some(Operand::Imm(n)) => Some(*n),
            _ => None,
        };
        kernel.report(errors::division(i.span, i.types.first().is_some_and(|ty| ty.bits() == 64), divisor));
    }
}

/// By instruction: an address of a load or a store is computed from its result.
fn in_addresses(flow: &Flow) -> Vec<bool> {
    let mut stack = Vec::new();
    for (_, at, i) in flow.walk() {
        if let Some((arg, _)) = plain_access(i) {
            arg.value.registers(&mut |r, lane| stack.push(flow.ssa.read(at, r, lane)));
        }
    }
    let mut seen = vec![false; flow.ssa.values.len()];
    let mut out = vec![false; flow.cfg.instrs.len()];
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut seen[v as usize], true) {
            continue;
        }
        match &flow.ssa.values[v as usize] {
            // What was loaded is not computed from the address that it came from.
            Value::Def { instr, .. } if !computes(flow.instr(*instr)) => {}
            Value::Def { instr, .. } => {
                out[*instr as usize] = true;
                flow.ssa.push_sources(v, &mut stack);
            }
            _ => flow.ssa.push_sources(v, &mut stack),
        }
    }
    out
}
