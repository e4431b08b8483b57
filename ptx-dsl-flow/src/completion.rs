//! What is taken for done too early: bulk stores whose source alone was waited for (PTX ISA 9.7.9.25.6), matrices that nobody
//! waits for (9.7.16.6.4), the grid before this one (9.7.13.13).

use super::Flow;
use super::dataflow::{Bits, Meet, simple};
use super::memory::{Groups, MOST, Region, bytes, constant, debts, owe, owed, plain, region};
use super::provenance::{Origin, Provenance};
use crate::errors::completion as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Space};

pub(super) fn check(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let has = |op: &str| flow.cfg.has(op);
    if has("cp.async.bulk") || has("cp.reduce.async.bulk") {
        stores(flow, from, out);
    }
    if has("tcgen05.mma") && has("tcgen05.ld") && flow.function.entry && !flow.calls {
        results(flow, out);
    }
    if has("griddepcontrol") && flow.function.entry && !flow.calls {
        grid(flow, from, out);
    }
}

/// Tells other threads of the device that something is done.
fn publishes(i: &Instr, fenced: bool) -> bool {
    let wide = i.has(".gpu") || i.has(".sys");
    let shared = i.begins(".shared");
    let op = i.entry.opcode;
    if shared || !matches!(op, "st" | "red" | "atom") {
        return false;
    }
    (wide && (i.has(".release") || i.has(".acq_rel")))
        || (fenced && (op != "st" || i.has(".relaxed") || i.has(".volatile")))
}

/// `cp.async.bulk.wait_group.read` says that the source was read, not that the destination is written.
fn stores(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut copies = Vec::new();
    let mut target: Vec<Option<Region>> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if i.has(".bulk_group") && i.operand("srcMem").is_some() && copies.len() < MOST {
                copies.push(at);
                let size = constant(i, "size").unwrap_or(0);
                target.push(i.operand("dstMem").and_then(|a| region(flow, from, at, a, size)));
            }
        },
    );
    if copies.is_empty() {
        return;
    }
    let groups = Groups { copies };
    // Behind the groups: a fence of the device since.
    let fence = groups.bits();
    let step = |at: u32, i: &Instr, set: &mut Bits| match i.entry.opcode {
        "cp.async.bulk.commit_group" => groups.commit(set),
        "cp.async.bulk.wait_group" if !i.has(".read") => {
            groups.wait(set, constant(i, "N").unwrap_or(0) as usize, false);
        }
        "call" => groups.wait(set, 0, true),
        "fence" if [".gpu", ".sys"].iter().any(|q| i.has(q)) && !i.spelling.starts_with("fence.acquire") => {
            set.set(fence);
        }
        "membar" if i.has(".gl") || i.has(".sys") => set.set(fence),
        _ => {
            if let Some(k) = groups.copies.iter().position(|c| *c == at) {
                groups.start(set, k);
                set.unset(fence);
            }
        }
    };
    let at_start = simple(&flow.cfg, groups.bits() + 1, Meet::Any, &mut |at, i, s| step(at, i, s));
    let mut said = false;
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            let open = |k: &usize| groups.open(&set, *k).is_some();
            let copy = |k: usize| flow.cfg.instrs[groups.copies[k] as usize].span;
            if !said
                && let Some((arg, false)) = plain(i)
                && let Some(here) = region(flow, from, at, arg, bytes(i))
                && let Some(k) = (0..target.len())
                    .find(|k| open(k) && target[*k].is_some_and(|t| t.space == Space::Global && t.meets(flow, &here)))
            {
                said = true;
                out.push(errors::destination_read(arg.span, copy(k)));
            }
            if !said
                && publishes(i, set.has(fence))
                && let Some(k) = (0..target.len()).find(open)
            {
                said = true;
                out.push(errors::published_early(i.span, copy(k)));
            }
            step(at, i, &mut set);
        }
    }
}

/// The results of MMAs are read, and no thread of the kernel waits for any mbarrier.
fn results(flow: &Flow, out: &mut Vec<Diagnostic>) {
    if flow.cfg.any(&super::copies::mbarrier_wait) {
        return;
    }
    let first = flow.cfg.find(&|i| i.entry.opcode.starts_with("tcgen05.mma"));
    let committed = flow.cfg.any(&|i| i.entry.opcode == "tcgen05.commit");
    let Some(first) = first else { return };
    let mut step = |_: u32, i: &Instr, set: &mut Bits| {
        if i.entry.opcode.starts_with("tcgen05.mma") {
            owe(set, 0);
        }
    };
    let mut said = false;
    debts(flow, 1, &mut step, &mut |_, _, i, set| {
        if !said && i.entry.opcode.starts_with("tcgen05.ld") && owed(set, 0) {
            said = true;
            out.push(errors::result_not_awaited(i.span, first.span, committed));
        }
    });
}

/// Global memory that is used before `griddepcontrol.wait` and behind it too, or read before it only: what the grid before
/// writes is there behind the wait.
fn grid(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let Some(wait) = flow.cfg.find(&waits) else { return };
    let mut step = |_: u32, i: &Instr, set: &mut Bits| {
        if waits(i) {
            set.set(0);
        }
    };
    let at_start = simple(&flow.cfg, 1, Meet::Any, &mut step);
    let mut before: Vec<(Origin, ptx_dsl_table::span::Span)> = Vec::new();
    let mut after: Vec<Origin> = Vec::new();
    // Reads before, and whether there are any behind.
    let mut first: Option<ptx_dsl_table::span::Span> = None;
    let mut reads = false;
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if set.has(0) {
                // Whatever may read global memory.
                let op = i.entry.opcode;
                let other =
                    [".shared", ".param", ".const", ".local"].iter().any(|o| i.quals.iter().any(|q| q.starts_with(o)));
                reads |= (op.starts_with("ld") && !other)
                    || ["cp.", "atom", "red", "tex", "tld4", "suld", "multimem", "wmma.load"]
                        .iter()
                        .any(|p| op.starts_with(p));
            } else if first.is_none()
                && i.entry.opcode == "ld"
                && (i.has(".global") || i.quals.iter().all(|q| super::provenance::space(q).is_none()))
                && !i.has(".nc")
            {
                first = i.operand("a").map(|a| a.span);
            }
            if let Some((arg, _)) = plain(i)
                && let Some(r) = region(flow, from, at, arg, bytes(i))
                && r.space == Space::Global
                && !i.has(".nc")
                && r.base != Origin::None
            {
                if set.has(0) {
                    after.push(r.base);
                } else if before.len() < MOST {
                    before.push((r.base, arg.span));
                }
            }
            step(at, i, &mut set);
        }
    }
    if let Some((_, span)) = before.iter().find(|(base, _)| after.contains(base)) {
        out.push(errors::before_the_grid(*span, wait.span, true));
    } else if let Some(span) = first.filter(|_| !reads) {
        out.push(errors::before_the_grid(span, wait.span, false));
    }
}

fn waits(i: &Instr) -> bool {
    i.entry.opcode.starts_with("griddepcontrol") && i.spelling.contains("wait")
}
