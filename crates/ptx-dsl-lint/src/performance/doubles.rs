//! Arithmetic in `.f64` between conversions from and to `.f32`: in C, a constant without its `f`.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use crate::performance::computes;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::ty::Ty;

/// Operations that are followed from the last conversion.
const DEPTH: u32 = 8;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let readers = readers(flow);
    for (_, at, i) in flow.walk() {
        if !converts(i, Ty::F32, Ty::F64) {
            continue;
        }
        let Some(sum) = flow.source(at, "a") else { continue };
        let mut constants = 0;
        let made_of_floats = is_narrow(flow, &readers, sum, DEPTH, &mut constants);
        let arithmetic = flow.ssa.maker(flow.origin(sum)).map(|at| flow.instr(at));
        if let Some(operation) = arithmetic.filter(|_| made_of_floats && constants > 0) {
            kernel.report(errors::double(operation.span, i.span));
        }
    }
}

/// Is it `cvt.to.from`?
fn converts(i: &Instr, to: Ty, from: Ty) -> bool {
    i.opcode == op::cvt && i.types == [to, from]
}

/// By value: how many instructions read it.
fn readers(flow: &Flow) -> Vec<u32> {
    let mut readers = vec![0; flow.ssa.values.len()];
    for (_, at, _) in flow.walk() {
        for (_, v) in flow.ssa.uses(at) {
            readers[flow.origin(*v) as usize] += 1;
        }
    }
    readers
}

/// Is the value an `.f32` that was made wider, or computed from such values and constants for one reader?
fn is_narrow(flow: &Flow, readers: &[u32], v: Val, depth: u32, constants: &mut u32) -> bool {
    let v = flow.origin(v);
    let Value::Def { instr, old: None, .. } = &flow.ssa.values[v as usize] else { return false };
    let i = flow.instr(*instr);
    if converts(i, Ty::F64, Ty::F32) {
        return true;
    }
    if depth == 0 || i.types != [Ty::F64] || !computes(i) || readers[v as usize] != 1 {
        return false;
    }
    i.operands.iter().skip(1).all(|a| match &a.value {
        Operand::Imm(_) => {
            *constants += 1;
            true
        }
        Operand::Reg(r, lane) => is_narrow(flow, readers, flow.ssa.read(*instr, *r, *lane), depth - 1, constants),
        _ => false,
    })
}
