//! Rings of mbarriers: arrays of objects that a loop uses stage by stage (PTX ISA 9.7.13.15).

use crate::kernel::Kernel;
use crate::sync::rings::uses::Rings;
use crate::tensor::descriptors::{Matrix, matrices};
use ptx_dsl_isa::opcode::op;

pub(crate) mod counts;
mod lifetime;
mod objects;
mod overlaid;
mod parities;
mod peers;
mod released;
mod room;
mod stages;
pub(crate) mod uses;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls || !flow.cfg.has(op::mbarrier_init) {
        return;
    }
    let Some(rings) = Rings::new(kernel) else { return };
    objects::check(kernel, &rings);
    lifetime::check(kernel, &rings);
    counts::check(kernel, &rings);
    parities::check(kernel, &rings);
    peers::check(kernel, &rings);
    released::check(kernel, &rings);
    let matrices: Option<Vec<Matrix>> = matrices(kernel).map(|list| list.into_iter().map(|(_, m)| m).collect());
    room::check(kernel, &rings, matrices.as_deref());
    overlaid::check(kernel, &rings, matrices.as_deref());
}
