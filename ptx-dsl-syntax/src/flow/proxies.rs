//! The generic and the asynchronous proxy (PTX ISA 8.2.4, 9.7.13.4): what threads wrote, a bulk copy, `wgmma` or `tcgen05` reads
//! after a proxy fence only.

use super::Flow;
use super::dataflow::Bits;
use super::memory::{MOST, Region, bytes, constant, debts, owe, owed, plain, region, settle};
use super::provenance::Provenance;
use crate::diag::Diagnostic;
use crate::errors::protocol as errors;
use crate::hir::{Instr, Space};

pub(super) fn check(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if flow.calls {
        return;
    }
    let any = |f: &dyn Fn(&Instr) -> bool| flow.cfg.instrs.iter().any(|i| f(i));
    if any(&reads_source) {
        sources(flow, from, out);
    }
    if any(&|i| matrix(i).is_some()) {
        matrices(flow, from, out);
    }
    if any(&fills) {
        reused(flow, from, out);
    }
}

/// Reads shared memory as the source of a bulk copy.
fn reads_source(i: &Instr) -> bool {
    i.operand("srcMem").is_some() && i.has(".shared::cta") && (i.has(".bulk_group") || i.has(".shared::cluster"))
}

/// Writes shared memory by the asynchronous proxy.
fn fills(i: &Instr) -> bool {
    (i.operand("dstMem").is_some() && !i.has(".bulk_group"))
        || matches!(i.entry.opcode, "clusterlaunchcontrol.try_cancel" | "st.async" | "red.async" | "st.bulk")
}

/// Reads matrices in shared memory: what the instruction is called.
fn matrix(i: &Instr) -> Option<&'static str> {
    let op = i.entry.opcode;
    match op {
        "wgmma.mma_async" | "wgmma.mma_async.sp" | "tcgen05.cp" => Some(op),
        _ if op.starts_with("tcgen05.mma") => Some("tcgen05.mma"),
        _ => None,
    }
}

/// A fence between the generic and the asynchronous proxy, in shared memory.
fn fences(i: &Instr) -> bool {
    i.spelling.starts_with("fence.proxy.async") && !i.has(".global")
}

/// Stores of threads into shared memory.
fn stores(flow: &Flow, from: &Provenance) -> Option<Vec<(u32, Region)>> {
    let mut list = Vec::new();
    let mut too_many = false;
    flow.walk(
        |_| {},
        |at, i| {
            let Some((arg, true)) = plain(i) else { return };
            let Some(r) = region(flow, from, at, arg, bytes(i)).filter(|r| r.space == Space::Shared) else { return };
            too_many |= list.len() >= MOST;
            list.push((at, r));
        },
    );
    (!too_many).then_some(list)
}

/// Stores, then a bulk copy of the same bytes.
fn sources(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let Some(list) = stores(flow, from) else { return };
    // Who else writes a variable: copies, or other CTAs, or somebody whose address is not known.
    let mut filled: Vec<Region> = Vec::new();
    let mut unclear = false;
    flow.walk(
        |_| {},
        |at, i| {
            if fills(i) || i.entry.opcode == "cp.async" {
                let arg = i.operand("dstMem").or_else(|| i.operand("dst")).or_else(|| i.operand("addr"));
                match arg.and_then(|a| region(flow, from, at, a, 0)) {
                    Some(r) if !r.mapped => filled.push(r),
                    _ => unclear = true,
                }
            } else if let Some((arg, true)) = plain(i)
                && !i.has(".global")
                && !i.has(".local")
            {
                // A store to who knows where.
                let r = region(flow, from, at, arg, 0);
                unclear |= r.is_none_or(|r| r.base == super::provenance::Origin::None);
            }
        },
    );
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = list.iter().position(|s| s.0 == at) {
            owe(set, k);
        } else if fences(i) {
            (0..list.len()).for_each(|k| settle(set, k));
        }
    };
    let mut said = false;
    debts(flow, list.len(), &mut |at, i, s| step(at, i, s), &mut |_, at, i, set| {
        if said || !reads_source(i) {
            return;
        }
        let Some(arg) = i.operand("srcMem") else { return };
        let Some(here) = region(flow, from, at, arg, constant(i, "size").unwrap_or(0)) else { return };
        // Either the bytes are the same, or nobody else writes to the variable and no store to it is fenced.
        let of_it = |r: &Region| r.base == here.base && here.base != super::provenance::Origin::None;
        let all = !unclear
            && !filled.iter().any(|r| r.base == here.base || r.base == super::provenance::Origin::None)
            && list.iter().enumerate().all(|(k, s)| !of_it(&s.1) || owed(set, k));
        let hit =
            (0..list.len()).find(|k| owed(set, *k) && (list[*k].1.meets(flow, &here) || (all && of_it(&list[*k].1))));
        if let Some(k) = hit {
            said = true;
            out.push(errors::no_proxy_fence(arg.span, i.entry.opcode, flow.cfg.instrs[list[k].0 as usize].span));
        }
    });
}

/// Matrices that only threads have written: no copy into shared memory, and no proxy fence on the way.
fn matrices(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.cfg.instrs.iter().any(|i| fills(i) || fences(i)) {
        return;
    }
    let Some(list) = stores(flow, from) else { return };
    let mut said = false;
    let mut step = |at: u32, _: &Instr, set: &mut Bits| {
        if list.iter().any(|s| s.0 == at) {
            owe(set, 0);
        }
    };
    let operands = |i: &Instr| i.operands.iter().any(|a| a.name.ends_with("desc"));
    let first = list.first().map(|s| flow.cfg.instrs[s.0 as usize].span);
    debts(flow, 1, &mut step, &mut |_, _, i, set| {
        if let (Some(op), Some(first), false) = (matrix(i), first, said)
            && operands(i)
            && owed(set, 0)
        {
            said = true;
            let arg = i.operands.iter().find(|a| a.name.ends_with("desc"));
            out.push(errors::no_proxy_fence(arg.map_or(i.span, |a| a.span), op, first));
        }
    });
}

/// Loads of threads, then an asynchronous operation that writes over what they read. By the thread itself, in straight order,
/// this may still be right where something orders the two that is not seen here: a hint.
fn reused(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut list = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if let Some((arg, false)) = plain(i)
                && let Some(r) = region(flow, from, at, arg, bytes(i)).filter(|r| r.space == Space::Shared)
                && list.len() < MOST
            {
                list.push((at, r));
            }
        },
    );
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = list.iter().position(|s| s.0 == at) {
            owe(set, k);
        } else if fences(i) {
            (0..list.len()).for_each(|k| settle(set, k));
        }
    };
    let mut said = false;
    debts(flow, list.len(), &mut |at, i, s| step(at, i, s), &mut |_, at, i, set| {
        if said || !fills(i) {
            return;
        }
        let arg = i.operand("dstMem").or_else(|| i.operand("addr")).or_else(|| i.operand("a"));
        let Some(arg) = arg else { return };
        let size = if i.entry.opcode.starts_with("cluster") { 16 } else { constant(i, "size").unwrap_or(0) };
        let Some(here) = region(flow, from, at, arg, size) else { return };
        if let Some(k) = (0..list.len()).find(|k| owed(set, *k) && list[*k].1.meets(flow, &here)) {
            said = true;
            out.push(errors::reused_without_fence(arg.span, i.entry.opcode, flow.cfg.instrs[list[k].0 as usize].span));
        }
    });
}
