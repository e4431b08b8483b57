//! `tcgen05.st` is asynchronous: what it stores is there behind `tcgen05.wait::st` (9.7.16.8.5). Other threads are told of it
//! only then, and no operation that works on it is started before.

use super::super::dataflow::{Bits, each};
use super::super::memory::{owe, owed, settle};
use super::columns::{Overlap, overlap};
use super::meetings::Meetings;
use super::{Kernel, MOST, is, tells, waits_for_stores};
use crate::errors::tensor as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::Instr;
use ptx_dsl_table::isa::Tensor;

pub(super) fn check(kernel: &Kernel, meetings: &Meetings, out: &mut Vec<Diagnostic>) {
    let flow = kernel.flow;
    let mut stores = Vec::new();
    for (_, at, i) in flow.walk() {
        if is(i, Tensor::Store) && stores.len() < MOST {
            stores.push(at);
        }
    }
    if stores.is_empty() || !flow.cfg.any(&|i| is(i, Tensor::Operation)) {
        return;
    }
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if waits_for_stores(i) {
            for k in 0..stores.len() {
                settle(set, k);
            }
        } else if let Some(k) = stores.iter().position(|s| *s == at) {
            owe(set, k);
        }
    };
    let mut said = false;
    each(&flow.cfg, 2 * stores.len(), &step, &mut |_, at, i, set| {
        if said || !(is(i, Tensor::Operation) || tells(i)) {
            return;
        }
        for (k, &store) in stores.iter().enumerate() {
            if !owed(set, k) {
                continue;
            }
            // The operation of this thread, or that of one who waits for this one.
            let operation = if is(i, Tensor::Operation) { Some(at) } else { meetings.released(flow, at) };
            let Some(operation) = operation else { continue };
            let sure = match overlap(flow, kernel.from, store, operation) {
                Overlap::Never => continue,
                Overlap::Perhaps => false,
                Overlap::Certainly => true,
            };
            said = true;
            let told = if operation == at { None } else { Some(flow.instr(operation).span) };
            out.push(errors::store_not_awaited(i.span, i.entry.opcode, flow.instr(store).span, told, sure));
            return;
        }
    });
}
