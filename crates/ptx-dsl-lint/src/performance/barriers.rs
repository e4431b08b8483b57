//! A barrier right after the same barrier: nothing happens between the two that the second could order.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use crate::performance::computes;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Barrier, Meeting};
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    for block in &flow.cfg.rpo {
        let mut last: Option<&Instr> = None;
        for at in flow.cfg.range(*block) {
            let i = flow.instr(at);
            if meets(i) {
                if let Some(first) = last.filter(|first| same(first, i)) {
                    kernel.report(errors::needless_barrier(i.span, first.span));
                }
                last = Some(i);
            } else if !computes(i) && !i.has(q::param) {
                last = None;
            }
        }
    }
}

/// Do all threads of the CTA meet here, without a guard and without a result?
fn meets(i: &Instr) -> bool {
    let effects = &i.entry.effects;
    effects.barrier == Barrier::Cta
        && effects.meeting == Meeting::Both
        && i.pred.is_none()
        && i.operands.iter().all(|a| !ptx_dsl_analysis::use_def::is_destination(a))
}

/// Do both name the same barrier and thread count, by constants?
fn same(a: &Instr, b: &Instr) -> bool {
    let constants = |i: &Instr| -> Option<Vec<u64>> {
        let constant = |value: &Operand| if let Operand::Imm(n) = value { Some(*n) } else { None };
        i.operands.iter().map(|a| constant(&a.value)).collect()
    };
    a.opcode == b.opcode && constants(a).is_some_and(|of_a| constants(b) == Some(of_a))
}
