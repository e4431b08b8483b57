//! `tcgen05.st` is asynchronous and completes at `tcgen05.wait::st` (9.7.16.8.5). That wait must stand before an operation on the
//! data, and before the arrival that lets another thread use it.

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use crate::pending::{begin_pending, is_pending, resolve};
use crate::tensor::tcgen05::columns::{Overlap, overlap};
use crate::tensor::tcgen05::ops::{MOST, has_role, signals, waits_for_stores};
use crate::tensor::tcgen05::participation::Participation;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Tensor;

pub(crate) fn check(kernel: &Kernel, participation: &Participation) {
    let flow = kernel.flow;
    // The stores, each with whether no wait can follow it.
    let (mut stores, mut never) = (Vec::new(), Vec::new());
    for (block, at, i) in flow.walk() {
        if has_role(i, Tensor::Store) && stores.len() < MOST {
            stores.push(at);
            never.push(!waited_later(kernel, block, at));
        }
    }
    if stores.is_empty() || !flow.cfg.any(&|i| i.entry.effects.tensor.is_operation()) {
        return;
    }
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if waits_for_stores(i) {
            for k in 0..stores.len() {
                resolve(set, k);
            }
        } else if let Some(k) = stores.iter().position(|s| *s == at) {
            begin_pending(set, k);
        }
    };
    let mut reported = false;
    for_each_instr(&flow.cfg, 2 * stores.len(), &step, &mut |_, at, i, set| {
        if reported || !(i.entry.effects.tensor.is_operation() || signals(i)) {
            return;
        }
        for (k, &store) in stores.iter().enumerate() {
            if !is_pending(set, k) {
                continue;
            }
            // An operation of this thread, or one of a thread that waits for this arrival.
            let operation = if i.entry.effects.tensor.is_operation() {
                Some(at)
            } else {
                participation.released_operation(flow, at, never[k])
            };
            let Some(operation) = operation else { continue };
            let sure = match overlap(kernel, store, operation) {
                Overlap::Never => continue,
                Overlap::Perhaps => false,
                Overlap::Certainly => true,
            };
            reported = true;
            let released = if operation == at { None } else { Some(flow.instr(operation).span) };
            kernel.report(errors::store_not_awaited(i.span, i.entry.opcode, flow.instr(store).span, released, sure));
            return;
        }
    });
}

/// Can a wait for stores follow the instruction?
fn waited_later(kernel: &Kernel, block: u32, at: u32) -> bool {
    let cfg = &kernel.flow.cfg;
    let later = kernel.flow.cfg.reachable_from([block]);
    let waits = |at: u32| waits_for_stores(kernel.flow.instr(at));
    cfg.range(block).any(|k| k > at && waits(k))
        || cfg.rpo.iter().any(|b| later[*b as usize] && cfg.range(*b).any(waits))
}
