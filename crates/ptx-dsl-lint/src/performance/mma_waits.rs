//! Loops that wait for all of their products: the tensor cores have nothing to do until the next ones are issued.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Group, Role, Step};

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.calls || !flow.cfg.any(&is_product) {
        return;
    }
    let loops = Loops::new(&flow.cfg);
    if loops.irreducible() {
        return;
    }
    for (block, at, i) in flow.walk() {
        let waits_for_all = i.entry.effects.group == Group::Wgmma(Step::Wait) && i.constant("N") == Some(0);
        let Some(header) = loops.innermost(block).filter(|_| waits_for_all) else { continue };
        let inside = || flow.walk().filter(|(b, _, _)| loops.innermost(*b) == Some(header));
        let mut sums: Vec<u32> = Vec::new();
        for (_, _, product) in inside().filter(|(_, _, other)| is_product(other)) {
            for a in product.operands.iter().filter(|a| a.role == Role::Dst) {
                a.value.registers(&mut |r, lane| sums.push(flow.ssa.var(r, lane)));
            }
        }
        sums.sort_unstable();
        let reads = |at: u32| flow.ssa.uses(at).iter().any(|(var, _)| sums.binary_search(var).is_ok());
        let used = flow.walk().any(|(b, other, i)| loops.contains(header, b) && !is_product(i) && reads(other));
        let written = flow.walk().any(|(b, other, i)| {
            let writes = |(var, _): &(u32, _)| sums.binary_search(var).is_ok();
            loops.contains(header, b) && !is_product(i) && flow.ssa.defs(other).iter().any(writes)
        });
        if !sums.is_empty() && !used && !written {
            kernel.report(errors::waits_for_all(flow.instr(at).span));
        }
    }
}

fn is_product(i: &Instr) -> bool {
    i.entry.effects.group == Group::Wgmma(Step::Start)
}
