//! Tensor Memory (PTX ISA 9.7.16): matching allocations, CTA pairs, early exits, `commit`, `wait::st` and fences.

use crate::kernel::Kernel;
use ptx_dsl_isa::isa::Tensor;

mod allocation;
mod both;
mod columns;
mod commit;
mod fences;
mod ops;
mod pair;
mod participation;
mod release;
mod stores;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let uses = flow.cfg.any(&|i| i.entry.effects.tensor != Tensor::None);
    if !uses || !flow.function.entry || flow.calls {
        return;
    }
    if !pair::check(kernel) {
        release::check(kernel);
    }
    allocation::check(kernel);
    commit::check(kernel);
    both::check(kernel);
    let participation = participation::Participation::new(kernel);
    stores::check(kernel, &participation);
    fences::check(kernel, &participation);
}
