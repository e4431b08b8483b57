//! The address of a parameter in place of its value: `mov` of its name where `ld.param` is meant (PTX ISA 9.7.9.5).

use crate::errors::single_threads as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Base, Instr, Operand, Param};
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::span::Span;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry {
        return;
    }
    for (_, at, i) in flow.walk().filter(|(_, _, i)| i.opcode == op::mov) {
        let Some(Operand::VarAddr(var, 0)) = i.value("a") else { continue };
        let Some(parameter) = flow.function.params.iter().find(|p| p.var == Some(*var)) else { continue };
        if is_scalar(parameter)
            && let Some((register, v)) = flow.ssa.defs(at).first()
            && let Some(used) = used_as_value(flow, *v)
        {
            let register = flow.register_name(*register);
            kernel.report(errors::address_for_value(i.span, used, register, parameter.ty.name(), &parameter.name));
        }
    }
}

/// Is the parameter one value, and no pointer?
fn is_scalar(p: &Param) -> bool {
    !p.array && p.ptr.is_none()
}

/// A use that makes sense for the value and not for the address, if nothing uses the register as an address.
fn used_as_value(flow: &Flow, v: Val) -> Option<Span> {
    let (mut seen, mut stack) = (Vec::new(), vec![v]);
    while let Some(v) = stack.pop() {
        if seen.len() > 64 {
            return None;
        }
        if !seen.contains(&v) {
            seen.push(v);
            stack.extend(flow.ssa.users(v).iter().filter(|user| keeps_address(flow, v, **user)));
        }
    }
    let mut first = None;
    for (_, at, i) in flow.walk() {
        let uses = flow.ssa.uses(at).iter().any(|(_, v)| seen.contains(v));
        if uses && is_address_use(flow, at, i, &seen) {
            return None;
        }
        let computes = flow.ssa.defs(at).iter().any(|(_, v)| seen.contains(v));
        if uses && !computes {
            first = first.or(Some(i.span));
        }
    }
    first
}

/// Is the user of an address still one: a copy, a sum, another form?
fn keeps_address(flow: &Flow, v: Val, user: Val) -> bool {
    match &flow.ssa.values[user as usize] {
        Value::Phi { .. } => true,
        Value::Def { instr, .. } if flow.instr(*instr).opcode == op::mad => {
            flow.source(*instr, "c").is_some_and(|c| flow.origin(c) == flow.origin(v))
        }
        Value::Def { instr, .. } => {
            matches!(flow.instr(*instr).opcode, op::mov | op::add | op::sub | op::cvta | op::cvt | op::selp)
        }
        _ => false,
    }
}

/// Is one of the values the address of an access, or passed on to where it may become one?
fn is_address_use(flow: &Flow, at: u32, i: &Instr, values: &[Val]) -> bool {
    let is_address = |o: &Operand| match o {
        Operand::Address(Base::Reg(r), _) => values.contains(&flow.ssa.read(at, *r, 0)),
        Operand::Addresses(_) => true,
        _ => false,
    };
    i.entry.effects.control == Control::Call || i.opcode == op::cvta || i.operands.iter().any(|a| is_address(&a.value))
}
