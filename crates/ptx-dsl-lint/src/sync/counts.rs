//! Arrivals and transaction bytes of an mbarrier against its count and its `expect_tx` (PTX ISA 9.7.13.15.2).

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use crate::sync::objects::{Object, Objects, arrivals_of, object_name, parity, single_stage};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::reaching::max_threads;
use ptx_dsl_analysis::sites::{Site, any_in_loop, contains_site, guard, in_loop};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Group, Mbarrier, Step};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// Checks counts of arrivals and bytes, and objects without `init`.
pub(crate) fn check(kernel: &Kernel, objects: &Objects) {
    if !objects.unknown_init && kernel.lanes.cta_size.exact.is_some() {
        never_initialised(kernel, objects);
    }
    if !objects.incomplete {
        counts(kernel, objects);
        transactions(kernel, objects);
    } else if let Some(one) = single_stage(kernel) {
        transactions(kernel, &one);
    }
}

fn counts(kernel: &Kernel, objects: &Objects) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    for o in &objects.list {
        let [init] = o.inits.as_slice() else { continue };
        let Some(count) = flow.instr(init.at).constant("count") else { continue };
        if in_loop(flow, init.block) || any_in_loop(flow, &o.arrives) {
            continue;
        }
        let mut arrivals = 0u64;
        let mut clear = true;
        let mut over = None;
        for s in &o.arrives {
            let i = flow.instr(s.at);
            let present = kernel.threads_at(s.block, s.at);
            let each = arrivals_of(i).unwrap_or_else(|| {
                clear = false;
                0
            });
            if !present.elected
                && !present.not_elected
                && kernel.executes_exactly(*s)
                && each <= count
                && each.saturating_mul(max_threads(&present, lanes, n)) > count
            {
                over = over.or(Some((i.span, each * max_threads(&present, lanes, n))));
            }
            arrivals = arrivals.saturating_add(each.saturating_mul(max_threads(&present, lanes, n)));
        }
        if !clear {
            continue;
        }

        if let Some((span, arrivals)) = over {
            let init = flow.instr(init.at).span;
            kernel.report(errors::more_arrive(span, &object_name(flow, o.place), count, arrivals, init));
        }
        // A single test need not wait.
        if arrivals < count
            && let Some(wait) = first_wait(flow, &o.waits)
            && in_loop(flow, wait.block)
        {
            let span = flow.instr(wait.at).span;
            let init = flow.instr(init.at).span;
            kernel.report(errors::never_complete(span, &object_name(flow, o.place), count, arrivals, init));
        } else if arrivals <= count {
            second_phase(kernel, o);
        }
    }
}

/// The first wait that may be for the first phase.
fn first_wait<'o>(flow: &Flow, waits: &'o [Site]) -> Option<&'o Site> {
    for wait in waits {
        let first = match parity(flow, wait) {
            Some(p) => p == 0,
            None => flow.instr(wait.at).operand("state").is_some(),
        };
        if first {
            return Some(wait);
        }
    }
    None
}

/// Objects of the kernel with arrivals and waits but without `init`. Excerpts lack it too; they do not give the number of threads
/// either.
fn never_initialised(kernel: &Kernel, objects: &Objects) {
    let flow = kernel.flow;
    for o in &objects.list {
        let (true, Some(arrival), Some(wait)) = (o.inits.is_empty(), o.arrives.first(), o.waits.first()) else {
            continue;
        };
        let mut first = arrival.at.min(wait.at);
        if let Some(expect) = o.expects.first() {
            first = first.min(expect.at);
        }
        if let Some(var) = flow.module.vars.get(o.place.0 as usize)
            && !var.is_open()
        {
            kernel.report(errors::never_initialised(flow.instr(first).span, &object_name(flow, o.place)));
        }
    }
}

/// Only phase 0 can complete: a wait for parity 1 after an arrival or copy never waits.
fn second_phase(kernel: &Kernel, o: &Object) {
    let flow = kernel.flow;
    if let Some(w) = o.waits.first()
        && brought_once(flow, o)
        && let Some(arg) = flow.instr(w.at).operand("phaseParity")
    {
        kernel.report(errors::parity_of_no_phase(arg.span, &object_name(flow, o.place)));
        return;
    }
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if contains_site(&o.arrives, at) || contains_site(&o.copies, at) {
            begin_pending(set, 0);
        } else if mbarrier_wait(i) && i.constant("phaseParity") != Some(1) && contains_site(&o.waits, at) {
            resolve(set, 0);
        }
    };
    let mut reported = false;
    for_each_pending(flow, 1, &step, &mut |_, at, i, set| {
        if !reported
            && is_pending(set, 0)
            && contains_site(&o.waits, at)
            && let Some(arg) = i.operand("phaseParity")
            && matches!(arg.value, Operand::Imm(1))
        {
            reported = true;
            kernel.report(errors::parity_of_no_phase(arg.span, &object_name(flow, o.place)));
        }
    });
}

/// Are all waits for parity 1, in a kernel where copies complete one phase?
fn brought_once(flow: &Flow, o: &Object) -> bool {
    let mut brought = false;
    for s in &o.copies {
        brought |= flow.instr(s.at).operand("dstMem").is_some();
    }
    for s in &o.waits {
        brought &= parity(flow, s) == Some(1);
    }
    brought && !any_in_loop(flow, &o.copies) && !any_in_loop(flow, &o.arrives)
}

/// Expected bytes against copied bytes, if both execute equally often and under one guard.
fn transactions(kernel: &Kernel, objects: &Objects) {
    let loops = Loops::new(&kernel.flow.cfg);
    for o in &objects.list {
        balance(kernel, &loops, o);
    }
}

fn balance(kernel: &Kernel, loops: &Loops, o: &Object) {
    let flow = kernel.flow;
    let (Some(first), Some(copy)) = (o.expects.first(), o.copies.first()) else { return };
    let with = |a: &Site, b: &Site| {
        a.block == b.block
            || (loops.same_loops(a.block, b.block)
                && flow.cfg.dominates(a.block, b.block)
                && flow.cfg.post_dominates(b.block, a.block))
    };
    for list in [&o.expects, &o.copies] {
        for s in list {
            if !(with(first, s) || with(s, first)) || guard(flow, s.at) != guard(flow, first.at) {
                return;
            }
        }
    }
    // After a wait for the phase the next one is in progress.
    let before = |a: &Site, b: &Site| {
        if a.block == b.block { a.at < b.at } else { flow.cfg.dominates(a.block, b.block) }
    };
    for w in &o.waits {
        let (mut some_before, mut some_behind) = (false, false);
        for list in [&o.expects, &o.copies] {
            for s in list {
                some_before |= before(s, w);
                some_behind |= before(w, s);
            }
        }
        if some_before && some_behind {
            return;
        }
    }
    let (mut expected_bytes, mut copied_bytes) = (0u64, 0u64);
    for s in &o.expects {
        let Some(n) = expected(flow.instr(s.at)) else { return };
        expected_bytes = expected_bytes.saturating_add(n);
    }
    for s in &o.copies {
        let Some(n) = copied(flow.instr(s.at)) else { return };
        copied_bytes = copied_bytes.saturating_add(n);
    }
    if expected_bytes != copied_bytes {
        let i = flow.instr(first.at);
        let arg = i.operand("txCount").or(i.operand("tx_count"));
        let span = if let Some(arg) = arg { arg.span } else { i.span };
        kernel.report(errors::bytes_differ(
            span,
            &object_name(flow, o.place),
            expected_bytes,
            copied_bytes,
            flow.instr(copy.at).span,
            o.copies.iter().all(|s| flow.instr(s.at).opcode == op::clusterlaunchcontrol_try_cancel),
        ));
    }
}

/// The bytes that an instruction expects.
fn expected(i: &Instr) -> Option<u64> {
    i.constant("txCount").or(i.constant("tx_count"))
}

/// The bytes that an instruction completes.
fn copied(i: &Instr) -> Option<u64> {
    let effects = i.entry.effects;
    if effects.mbarrier == Mbarrier::CompleteTx {
        i.constant("txCount")
    } else if i.opcode == op::clusterlaunchcontrol_try_cancel {
        Some(16)
    } else if effects.group == Group::Bulk(Step::Start) && !i.has(q::ignore_oob) {
        i.constant("size")
    } else {
        None
    }
}
