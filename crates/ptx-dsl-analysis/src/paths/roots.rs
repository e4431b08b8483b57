//! The inputs of a condition: a backward slice to parameters, special registers, loads and other instructions without register
//! operands. Conditions with disjoint inputs are independent.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Base, Operand};
use ptx_dsl_isa::isa::sreg::SpecialRegister;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// An input of a condition: a parameter or special register by name, or else the instruction that produces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Instr(u32),
    Param(u32, i64),
    Special(SpecialRegister),
    /// The slice is too large.
    Unknown,
}

pub(super) fn roots(flow: &Flow, p: Val) -> Vec<Root> {
    let ssa = &flow.ssa;
    let mut out = Vec::new();
    let mut seen = Vec::new();
    let mut stack = vec![p];
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        if seen.len() >= 48 {
            return vec![Root::Unknown];
        }
        seen.push(v);
        match &ssa.values[v as usize] {
            Value::Def { instr, old, .. } => {
                stack.extend(old);
                if own_roots(flow, *instr, &mut out) {
                    ssa.push_uses(*instr, &mut stack);
                }
            }
            Value::Phi { args, .. } => stack.extend(args),
            Value::Param => out.push(Root::Instr(NONE - 1 - v)),
            Value::Undef => {}
        }
    }
    out
}

/// Adds the inputs that an instruction reads other than registers. Returns whether its registers must be followed.
fn own_roots(flow: &Flow, at: u32, out: &mut Vec<Root>) -> bool {
    let i = flow.instr(at);
    if let Some(arg) = i.address() {
        out.push(match (i.opcode, &arg.value) {
            (op::ld, Operand::Address(Base::Var(var), o)) if i.has(q::param) => Root::Param(var.0, *o),
            _ => Root::Instr(at),
        });
        return false;
    }
    let before = out.len();
    for a in &i.operands {
        if let Operand::Sreg(register) = a.value {
            out.push(Root::Special(register));
        }
    }
    if out.len() == before && flow.ssa.uses(at).is_empty() {
        out.push(Root::Instr(at));
    }
    true
}
