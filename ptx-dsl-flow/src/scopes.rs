//! Who sees what: scopes that hold both sides of a synchronisation (PTX ISA 8.5), release and acquire on one object (8.8),
//! flags that are polled.

use super::Flow;
use super::copies::mbarrier_wait;
use super::ctas::{Conditions, Ctas, apart};
use super::loops::Loops;
use super::memory::{MOST, Region, constant, debts, owe, owed, region, settle};
use super::provenance::{Origin, Provenance};
use super::ssa::{Val, Value};
use crate::errors::order as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand, Space};
use ptx_dsl_table::span::Span;

pub(super) fn check(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let has = |op: &str| flow.cfg.any(&|i| i.entry.opcode == op);
    if has("mapa") {
        remote(flow, from, out);
        waits(flow, from, out);
    }
    let strong = flow.cfg.any(&|i| strong(i) || i.has(".relaxed"));
    if !strong {
        return;
    }
    if !flow.calls {
        polled(flow, from, out);
    }
    if flow.function.entry && !flow.calls {
        flags(flow, from, out);
    }
}

/// Scopes from narrow to wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

fn scope(i: &Instr) -> Scope {
    let has = |q: &str| i.has(q);
    if has(".cta") {
        Scope::Cta
    } else if has(".cluster") {
        Scope::Cluster
    } else if has(".sys") || has(".volatile") || has(".mmio") {
        Scope::Sys
    } else if has(".gpu") || has(".gl") || matches!(i.entry.opcode, "atom" | "red") {
        Scope::Gpu
    } else {
        Scope::Cta
    }
}

/// A load, store or atomic operation of the memory model's strong kind.
fn strong(i: &Instr) -> bool {
    match i.entry.opcode {
        "ld" | "st" => [".acquire", ".release", ".relaxed", ".volatile", ".mmio"].iter().any(|q| i.has(q)),
        "atom" | "red" => true,
        _ => false,
    }
}

fn acquires(i: &Instr) -> bool {
    (i.has(".acquire") || i.has(".acq_rel")) && matches!(i.entry.opcode, "ld" | "atom" | "red")
}

fn releases(i: &Instr) -> bool {
    (i.has(".release") || i.has(".acq_rel")) && matches!(i.entry.opcode, "st" | "atom" | "red")
}

/// A fence that orders memory in the generic proxy.
fn fence(i: &Instr) -> bool {
    matches!(i.entry.opcode, "fence" | "membar")
        && !i.spelling.starts_with("fence.proxy")
        && !i.spelling.starts_with("fence.mbarrier_init")
        && !i.spelling.starts_with("membar.proxy")
}

/// Operations on the memory of another CTA, of a scope that ends at the own one.
fn remote(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    flow.walk(
        |_| {},
        |at, i| {
            let op = i.entry.opcode;
            let object = matches!(
                op,
                "mbarrier.arrive" | "mbarrier.arrive_drop" | "mbarrier.expect_tx" | "mbarrier.complete_tx"
            );
            if !i.has(".cta") || !(object || strong(i)) {
                return;
            }
            let Some(arg) = i.address() else { return };
            if region(flow, from, at, arg, 8).is_none_or(|r| !r.mapped || r.space != Space::Shared) {
                return;
            }
            if object {
                let relaxed = i.has(".relaxed") && !op.contains("_tx");
                out.push(errors::scope_too_narrow(i.span, !relaxed));
            } else if !i.has(".shared") && !i.has(".shared::cta") {
                out.push(errors::peer_out_of_scope(i.span, op, acquires(i) || releases(i)));
            }
        },
    );
}

/// Waits of the scope of their CTA, where other CTAs arrive.
fn waits(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    // Variables on whose mapped address somebody arrives with cluster scope, and whether anybody stores into another CTA.
    let mut wide: Vec<u32> = Vec::new();
    let mut stores = false;
    flow.walk(
        |_| {},
        |at, i| {
            let Some(arg) = i.address() else { return };
            let arrives = i.entry.opcode.starts_with("mbarrier.arrive");
            let mapped = || region(flow, from, at, arg, 8).filter(|r| r.mapped);
            if i.entry.opcode == "st" {
                stores |= !i.has(".shared") && !i.has(".shared::cta") && mapped().is_some();
            } else if arrives
                && i.has(".cluster")
                && !i.has(".relaxed")
                && let Some(Region { base: Origin::Var(v), .. }) = mapped()
            {
                wide.push(v.0);
            }
        },
    );
    let mut said = false;
    flow.walk(
        |_| {},
        |at, i| {
            // Without a scope it is that of the CTA, which is what everybody writes where no data comes from the others.
            let narrow = i.has(".cta") || stores;
            if said || !narrow || !mbarrier_wait(i) || i.has(".cluster") || i.has(".relaxed") {
                return;
            }
            let base = i.operand("addr").and_then(|a| region(flow, from, at, a, 8)).map(|r| r.base);
            if let Some(Origin::Var(v)) = base
                && wide.contains(&v.0)
            {
                said = true;
                out.push(errors::wait_too_narrow(i.span));
            }
        },
    );
}

/// A loop that reads a flag again and again.
struct Poll {
    /// Its blocks.
    blocks: Vec<u32>,
    span: Span,
    base: Option<Origin>,
}

/// What may stand in a loop that only waits.
fn idle(i: &Instr) -> bool {
    matches!(
        i.entry.opcode,
        "ld" | "setp"
            | "bra"
            | "nanosleep"
            | "and"
            | "or"
            | "xor"
            | "mov"
            | "cvt"
            | "add"
            | "sub"
            | "selp"
            | "atom"
            | "not"
            | "mbarrier.try_wait"
            | "mbarrier.test_wait"
            | "shr"
            | "shl"
    )
}

/// Does the predicate come from the read?
fn made_of(flow: &Flow, p: Val, read: u32) -> bool {
    let mut stack = vec![p];
    let mut budget = 64;
    let mut seen = Vec::new();
    while let Some(v) = stack.pop() {
        budget -= 1;
        if budget == 0 || seen.contains(&v) {
            continue;
        }
        seen.push(v);
        match &flow.ssa.values[v as usize] {
            Value::Def { instr, old, .. } => {
                if *instr == read {
                    return true;
                }
                stack.extend(flow.ssa.uses(*instr).iter().map(|u| u.1));
                stack.extend(old);
            }
            Value::Phi { args, .. } => stack.extend(args),
            Value::Undef | Value::Param => {}
        }
    }
    false
}

fn polls(flow: &Flow, from: &Provenance) -> Vec<Poll> {
    let loops = Loops::new(&flow.cfg);
    // Of each loop, at its head.
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); flow.cfg.blocks.len()];
    for &b in &flow.cfg.rpo {
        if let Some(h) = loops.of(b) {
            members[h as usize].push(b);
        }
    }
    let mut out = Vec::new();
    for blocks in members {
        if blocks.is_empty() || blocks.len() > 8 || out.len() >= MOST {
            continue;
        }
        let mut instrs: Vec<(u32, &Instr)> = Vec::new();
        for b in &blocks {
            instrs.extend(flow.cfg.range(*b).map(|at| (at, flow.cfg.instrs[at as usize])));
        }
        if !instrs.iter().all(|(_, i)| idle(i)) {
            continue;
        }
        let reads = |i: &Instr| match i.entry.opcode {
            // Volatile accesses to shared memory are older than the memory model, and mostly within a warp.
            "ld" => i.has(".relaxed") || (i.has(".volatile") && !i.begins(".shared")),
            "atom" => !acquires(i),
            "mbarrier.try_wait" | "mbarrier.test_wait" => i.has(".relaxed"),
            _ => false,
        };
        let Some(&(at, read)) = instrs.iter().find(|(_, i)| reads(i)) else { continue };
        if instrs.iter().any(|(_, i)| acquires(i)) {
            continue;
        }
        let leaves = blocks.iter().filter_map(|b| flow.cfg.branch(*b)).any(|branch| {
            flow.ssa.guard(branch, flow.cfg.instrs[branch as usize]).is_some_and(|(p, _)| made_of(flow, p, at))
        });
        if leaves {
            let arg = read.address();
            let base = arg.and_then(|a| region(flow, from, at, a, 4)).map(|r| r.base);
            out.push(Poll { blocks, span: read.span, base });
        }
    }
    out
}

/// A loop that waits for a flag without acquire, then plain loads.
fn polled(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let polls = polls(flow, from);
    if polls.is_empty() {
        return;
    }
    let inside = |k: usize, at: u32| polls[k].blocks.iter().any(|b| flow.cfg.range(*b).contains(&at));
    let mut said = false;
    let mut step = |at: u32, i: &Instr, set: &mut super::dataflow::Bits| {
        let op = i.entry.opcode;
        if let Some(k) = (0..polls.len()).find(|k| inside(*k, at)) {
            owe(set, k);
        } else if op.starts_with("bar")
            || fence(i)
            || op.starts_with("tcgen05.fence")
            || matches!(op, "griddepcontrol")
            || i.has(".acquire")
            || i.has(".acq_rel")
            || (mbarrier_wait(i) && !i.has(".relaxed"))
        {
            (0..polls.len()).for_each(|k| settle(set, k));
        }
    };
    debts(flow, polls.len(), &mut step, &mut |_, at, i, set| {
        let space = |q: &&str| i.has(q);
        let plain = i.entry.opcode == "ld"
            && ![
                ".volatile",
                ".relaxed",
                ".acquire",
                ".mmio",
                ".nc",
                ".local",
                ".param",
                ".param::entry",
                ".param::func",
                ".const",
            ]
            .iter()
            .any(space);
        if said || !plain || (0..polls.len()).any(|k| inside(k, at)) {
            return;
        }
        if let Some(k) = (0..polls.len()).find(|k| owed(set, *k)) {
            said = true;
            out.push(errors::polled_without_acquire(i.span, polls[k].span));
        }
    });
}

/// An access to a flag.
struct Flag {
    at: u32,
    region: Region,
    scope: Scope,
    acquires: bool,
    releases: bool,
    reads: bool,
    /// Writes something other than 0.
    writes: bool,
    weak: bool,
    where_: Conditions,
}

/// Flags in global or shared memory.
fn flags(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let ctas = Ctas::new(flow);
    let mut list: Vec<Flag> = Vec::new();
    // Synchronising accesses to who knows where.
    let (mut unknown_acquire, mut unknown_release, mut fences) = (false, false, false);
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            fences |= fence(i);
            let op = i.entry.opcode;
            if !matches!(op, "ld" | "st" | "atom" | "red") || i.has(".local") || i.has(".param") || i.has(".const") {
                return;
            }
            let arg = i.address();
            let region = arg.and_then(|a| region(flow, from, at, a, super::memory::bytes(i)));
            let Some(region) = region.filter(|r| r.base != Origin::None && list.len() < MOST) else {
                unknown_acquire |= acquires(i);
                unknown_release |= releases(i);
                return;
            };
            let zero = i.operand("b").is_some_and(|b| matches!(b.value, Operand::Imm(0)));
            list.push(Flag {
                at,
                scope: scope(i),
                acquires: acquires(i),
                releases: releases(i),
                reads: matches!(op, "ld" | "atom"),
                writes: matches!(op, "atom" | "red") || (op == "st" && !zero),
                weak: !strong(i),
                where_: ctas.conditions(flow, here.get(), at),
                region,
            });
        },
    );
    let span = |f: &Flag| flow.cfg.instrs[f.at as usize].span;
    // Flags and data often share a buffer: what may be the other side keeps quiet, what is told of is certainly one place.
    let maybe = |a: &Flag, b: &Flag| a.region.base == b.region.base && a.region.may_meet(&b.region);
    let same = |a: &Flag, b: &Flag| a.region.meets(flow, &b.region);
    // One of the two sides has no order.
    if !fences {
        if let Some((a, w)) = unpaired(&list, unknown_release, &maybe, &same, true) {
            out.push(errors::one_sided(span(a), span(w), true));
        } else if let Some((r, l)) = unpaired(&list, unknown_acquire, &maybe, &same, false) {
            out.push(errors::one_sided(span(r), span(l), false));
        }
    }
    // Scopes that do not hold both.
    'flags: for r in list.iter().filter(|f| f.releases) {
        for a in list.iter().filter(|f| f.acquires && f.at != r.at && same(f, r)) {
            if a.region.mapped || r.region.mapped || r.region.space != Space::Global {
                continue;
            }
            let (narrow, wide) = if a.scope < r.scope { (a, r) } else { (r, a) };
            let between = apart(&a.where_, &r.where_);
            if narrow.scope == Scope::Cta && (between || wide.scope >= Scope::Gpu) {
                out.push(errors::flag_scope(span(narrow), span(wide), between));
                break 'flags;
            }
        }
    }
    // One place of all CTAs, and atomic operations that are atomic in one.
    for f in list.iter().filter(|f| f.scope == Scope::Cta && !f.weak && f.writes && !f.acquires && !f.releases) {
        let i = flow.cfg.instrs[f.at as usize];
        if matches!(i.entry.opcode, "atom" | "red")
            && f.region.space == Space::Global
            && f.region.bytes.is_some()
            && f.where_.is_empty()
        {
            out.push(errors::atomic_in_one_cta(i.span, i.entry.opcode));
            break;
        }
    }
    // A fence for the own CTA before a flag that others poll.
    narrow_fences(flow, from, out);
}

/// An access that synchronises, and one of the other kind on the same object, if none of those does.
fn unpaired<'a>(
    list: &'a [Flag],
    unknown: bool,
    maybe: &dyn Fn(&Flag, &Flag) -> bool,
    same: &dyn Fn(&Flag, &Flag) -> bool,
    acquire: bool,
) -> Option<(&'a Flag, &'a Flag)> {
    if unknown {
        return None;
    }
    for f in list.iter().filter(|f| if acquire { f.acquires } else { f.releases }) {
        let mut other = None;
        let mut paired = f.region.mapped || (f.acquires && f.releases);
        for g in list.iter().filter(|g| maybe(f, g)) {
            paired |= if acquire { g.releases } else { g.acquires };
            // What resets a flag gives nothing to anybody; a lock is taken by what acquires it.
            let resets = !g.writes && !f.writes;
            let counts = if acquire {
                !g.reads && !resets || g.reads && g.writes && g.at != f.at
            } else {
                g.reads && g.at != f.at
            };
            if counts && !g.acquires && !g.releases && same(f, g) {
                other = other.or(Some(g));
            }
        }
        if !paired && let Some(g) = other {
            return Some((f, g));
        }
    }
    None
}

/// `membar.cta`, then a flag of wider scope that the kernel polls.
fn narrow_fences(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let narrow = |i: &Instr| fence(i) && (i.has(".cta") || i.spelling.ends_with(".cta"));
    let Some(first) = flow.cfg.find(&narrow) else { return };
    if flow.cfg.any(&|i| fence(i) && !narrow(i)) {
        return;
    }
    let polls = polls(flow, from);
    let polled = |b: Origin| polls.iter().any(|p| p.base == Some(b));
    let mut step = |_: u32, i: &Instr, set: &mut super::dataflow::Bits| {
        if narrow(i) {
            owe(set, 0);
        }
    };
    let mut said = false;
    debts(flow, 1, &mut step, &mut |_, at, i, set| {
        let flag =
            matches!(i.entry.opcode, "st" | "atom" | "red") && strong(i) && !releases(i) && scope(i) >= Scope::Gpu;
        if said || !flag || !owed(set, 0) {
            return;
        }
        let arg = i.address();
        let inside = polls.iter().any(|p| p.span == i.span);
        if let Some(r) = arg.and_then(|a| region(flow, from, at, a, 4))
            && r.space == Space::Global
            && r.base != Origin::None
            && polled(r.base)
            && !inside
            && constant(i, "b") != Some(0)
        {
            said = true;
            out.push(errors::fence_scope(first.span, i.span));
        }
    });
}
