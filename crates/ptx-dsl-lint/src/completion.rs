//! What is taken for done too early: bulk stores whose source alone was waited for (PTX ISA 9.7.9.25.6), matrices that nobody
//! waits for (9.7.16.6.4), the grid before this one (9.7.13.13).

use super::Flow;
use super::ask::begins_any;
use super::dataflow::{Bits, each};
use super::lanes::{Lanes, Shared};
use super::memory::{Groups, MOST, Region, behind, bytes, constant, debts, owe, owed, plain, region};
use super::provenance::{Origin, Provenance, in_space};
use crate::errors::completion as errors;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Base, Instr, Operand, Space};
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Class;

pub(super) fn check(flow: &Flow, lanes: &Lanes, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let has = |op: &str| flow.cfg.has(op);
    if has("cp.async.bulk") || has("cp.reduce.async.bulk") {
        stores(flow, lanes, from, out);
    }
    if has("tcgen05.mma") && has("tcgen05.ld") && flow.function.entry && !flow.calls {
        results(flow, out);
    }
    if has("griddepcontrol") && flow.function.entry && !flow.calls {
        grid(flow, from, out);
    }
}

/// Tells other threads of the device that something is done: a store or an atomic operation on a flag.
fn publishes(flow: &Flow, lanes: &Lanes, at: u32, i: &Instr, fenced: bool) -> bool {
    let atomic = matches!(i.entry.opcode, "red" | "atom");
    if i.begins(".shared") || !(atomic || i.entry.opcode == "st") {
        return false;
    }
    let wide = i.has(".gpu") || i.has(".sys");
    let releases = wide && (i.has(".release") || i.has(".acq_rel"));
    let strong = fenced && (atomic || i.has(".relaxed") || i.has(".volatile"));
    (releases || strong) && (!atomic || on_flag(flow, lanes, at, i))
}

/// Is an atomic operation one on a flag? Compilers also accumulate data by atomic operations with a release: in floating
/// point, or each lane in a place of its own.
fn on_flag(flow: &Flow, lanes: &Lanes, at: u32, i: &Instr) -> bool {
    let integer = i.types.iter().all(|t| matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed));
    let one_place = match i.address().map(|a| &a.value) {
        Some(Operand::Address(Base::Reg(r), _)) => lanes.shared(flow.ssa.read(at, *r, 0)) >= Shared::Warp,
        _ => true,
    };
    integer && one_place
}

/// `cp.async.bulk.wait_group.read` says that the source was read, not that the destination is written.
fn stores(flow: &Flow, lanes: &Lanes, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut groups = Groups { copies: Vec::new() };
    let mut target: Vec<Option<Region>> = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.has(".bulk_group") && i.operand("srcMem").is_some() && groups.copies.len() < MOST {
            groups.copies.push(at);
            target.push(behind(flow, from, at, "dstMem", constant(i, "size").unwrap_or(0)));
        }
    }
    if !target.is_empty() {
        early(flow, lanes, from, &groups, &target, out);
    }
}

fn early(
    flow: &Flow,
    lanes: &Lanes,
    from: &Provenance,
    groups: &Groups,
    target: &[Option<Region>],
    out: &mut Vec<Diagnostic>,
) {
    // Behind the groups: a fence of the device since.
    let fence = groups.bits();
    let step = |at: u32, i: &Instr, set: &mut Bits| match i.entry.opcode {
        "cp.async.bulk.commit_group" => groups.commit(set),
        "cp.async.bulk.wait_group" if !i.has(".read") => {
            groups.wait(set, constant(i, "N").unwrap_or(0) as usize, false);
        }
        "call" => groups.wait(set, 0, true),
        "fence" if i.has_any(&[".gpu", ".sys"]) && !i.spelling.starts_with("fence.acquire") => {
            set.set(fence);
        }
        "membar" if i.has(".gl") || i.has(".sys") => set.set(fence),
        _ => {
            if let Some(k) = groups.copy(at) {
                groups.start(set, k);
                set.unset(fence);
            }
        }
    };
    let mut said = false;
    each(&flow.cfg, groups.bits() + 1, &step, &mut |_, at, i, set| {
        if said {
            return;
        }
        if let Some((arg, false)) = plain(i)
            && let Some(here) = region(flow, from, at, arg, bytes(i))
        {
            for (k, t) in target.iter().enumerate() {
                if let Some(t) = t
                    && t.space == Space::Global
                    && groups.open(set, k).is_some()
                    && t.meets(flow, &here)
                {
                    said = true;
                    out.push(errors::destination_read(arg.span, flow.instr(groups.copies[k]).span));
                    return;
                }
            }
        }
        if publishes(flow, lanes, at, i, set.has(fence))
            && let Some((k, _)) = groups.first_open(set)
        {
            said = true;
            out.push(errors::published_early(i.span, flow.instr(groups.copies[k]).span));
        }
    });
}

/// The results of MMAs are read, and no thread of the kernel waits for any mbarrier.
fn results(flow: &Flow, out: &mut Vec<Diagnostic>) {
    if flow.cfg.any(&super::copies::mbarrier_wait) {
        return;
    }
    let first = flow.cfg.find(&|i| i.entry.opcode.starts_with("tcgen05.mma"));
    let committed = flow.cfg.any(&|i| i.entry.opcode == "tcgen05.commit");
    let Some(first) = first else { return };
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if i.entry.opcode.starts_with("tcgen05.mma") {
            owe(set, 0);
        }
    };
    let mut said = false;
    debts(flow, 1, &step, &mut |_, _, i, set| {
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
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if waits(i) {
            set.set(0);
        }
    };
    let mut before: Vec<(Origin, Span)> = Vec::new();
    let mut after: Vec<Origin> = Vec::new();
    // Reads before, and whether there are any behind.
    let mut first: Option<Span> = None;
    let mut reads = false;
    each(&flow.cfg, 1, &step, &mut |_, at, i, set| {
        let behind = set.has(0);
        if behind {
            reads |= may_read(i);
        } else if first.is_none()
            && i.entry.opcode == "ld"
            && (i.has(".global") || !in_space(i))
            && !i.has(".nc")
            && let Some(arg) = i.operand("a")
        {
            first = Some(arg.span);
        }
        if let Some((arg, _)) = plain(i)
            && let Some(r) = region(flow, from, at, arg, bytes(i))
            && r.space == Space::Global
            && !i.has(".nc")
            && r.base != Origin::None
        {
            if behind {
                after.push(r.base);
            } else if before.len() < MOST {
                before.push((r.base, arg.span));
            }
        }
    });
    for (base, span) in &before {
        if after.contains(base) {
            out.push(errors::before_the_grid(*span, wait.span, true));
            return;
        }
    }
    if let (Some(span), false) = (first, reads) {
        out.push(errors::before_the_grid(span, wait.span, false));
    }
}

/// May it read global memory?
fn may_read(i: &Instr) -> bool {
    let op = i.entry.opcode;
    let other = i.begins(".shared") || i.begins(".param") || i.begins(".const") || i.begins(".local");
    (op.starts_with("ld") && !other)
        || begins_any(op, &["cp.", "atom", "red", "tex", "tld4", "suld", "multimem", "wmma.load"])
}

fn waits(i: &Instr) -> bool {
    i.entry.opcode.starts_with("griddepcontrol") && i.spelling.contains("wait")
}
