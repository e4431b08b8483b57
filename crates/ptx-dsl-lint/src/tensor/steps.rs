//! Consecutive products of `wgmma` that go along the rows of their operands: a row ends with the swizzle of the descriptors (PTX ISA
//! 9.7.15.5.1.2).

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use crate::tensor::descriptors::{is_product, step_between};
use ptx_dsl_isa::hir::{Instr, RegId};

/// Rows of an atom.
const ATOM: i64 = 8;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.cfg.any(&is_product) {
        return;
    }
    // The first product of a sum, which reads from the start of the rows.
    let mut sum: Option<(u32, u32)> = None;
    for (block, at, i) in flow.walk().filter(|(_, _, i)| is_product(i)) {
        let first = match sum {
            Some((of, first)) if of == block && accumulators(flow.instr(first)) == accumulators(i) => first,
            _ => {
                sum = Some((block, at));
                continue;
            }
        };
        if let Some((step, width)) = step_between(kernel, first, at)
            && (width..ATOM * width).contains(&step)
        {
            let place = |i: &Instr| i.operand("b-desc").map_or(i.span, |arg| arg.span);
            kernel.report(errors::step_past_the_row(place(i), step, width, place(flow.instr(first))));
            return;
        }
    }
}

/// The first register of the accumulators.
fn accumulators(i: &Instr) -> Option<(RegId, u32)> {
    let mut first = None;
    i.operand("d")?.value.registers(&mut |r, lane| {
        first.get_or_insert((r, lane));
    });
    first
}
