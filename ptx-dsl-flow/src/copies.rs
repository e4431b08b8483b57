//! Copies that go on by themselves (PTX ISA 9.7.9.25): what they read and write is left alone until a wait says that they are
//! done.

use super::Flow;
use super::converge::Places;
use super::dataflow::{Bits, Meet, simple};
use super::lanes::Lanes;
use super::memory::{Groups, MOST, Region, bytes, constant, debts, leaves, owe, owed, plain, region, settle};
use super::provenance::{Origin, Provenance};
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::Instr;
use ptx_dsl_table::list::List;

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let has = |op: &str| flow.cfg.has(op);
    if has("cp.async") {
        groups(flow, from, out);
    }
    if has("cp.async.bulk") || has("cp.reduce.async.bulk") {
        stores(flow, lanes, places, from, out);
        loads(flow, from, out);
    }
}

/// Lets threads of the CTA meet.
fn meets(i: &Instr) -> bool {
    let op = i.entry.opcode;
    op.starts_with("bar.")
        || op.starts_with("barrier.")
        || op.starts_with("mbarrier.")
        || op.ends_with(".sync")
        || op == "call"
}

/// `cp.async`: groups of the thread (9.7.9.25.3).
fn groups(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut copies = Vec::new();
    let mut target: Vec<Option<Region>> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if i.entry.opcode == "cp.async" && copies.len() < MOST {
                copies.push(at);
                let size = constant(i, "cp-size").unwrap_or(0);
                target.push(i.operand("dst").and_then(|a| region(flow, from, at, a, size)));
            }
        },
    );
    let groups = Groups { copies };
    let step = |at: u32, i: &Instr, set: &mut Bits| match i.entry.opcode {
        "cp.async" => {
            if let Some(k) = groups.copies.iter().position(|c| *c == at) {
                groups.start(set, k);
            }
        }
        "cp.async.commit_group" => groups.commit(set),
        "cp.async.wait_group" => groups.wait(set, constant(i, "N").unwrap_or(0) as usize, false),
        "cp.async.wait_all" | "cp.async.mbarrier.arrive" | "call" => groups.wait(set, 0, true),
        _ => {}
    };
    let at_start = simple(&flow.cfg, groups.bits(), Meet::Any, &mut |at, i, s| step(at, i, s));
    let mut said = Vec::new();
    let alone = alone(flow, from, &target);
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if let Some((arg, writes)) = plain(i)
                && let Some(here) = region(flow, from, at, arg, bytes(i))
            {
                // The same bytes; or a variable that only these copies write, and none of them can be done.
                let none_done = |base: Origin| {
                    let of = |k: &usize| target[*k].is_some_and(|t| t.base == base);
                    alone.contains(&base)
                        && !writes
                        && (0..target.len()).filter(of).all(|k| !groups.perhaps_done(&set, k))
                };
                let hit = (0..groups.copies.len()).find(|k| {
                    groups.open(&set, *k).is_some()
                        && target[*k]
                            .is_some_and(|t| t.meets(flow, &here) || (t.base == here.base && none_done(t.base)))
                });
                if let Some(k) = hit
                    && !said.contains(&k)
                {
                    said.push(k);
                    let copy = flow.cfg.instrs[groups.copies[k] as usize];
                    let never = groups.open(&set, k) == Some(true);
                    out.push(errors::copy_not_awaited(arg.span, copy.span, writes, never));
                }
            }
            if leaves(i)
                && i.pred.is_none()
                && flow.function.entry
                && said.is_empty()
                && let Some(k) = (0..groups.copies.len()).find(|k| groups.open(&set, *k).is_some())
            {
                said.push(k);
                let copy = flow.cfg.instrs[groups.copies[k] as usize];
                out.push(errors::leaves_with(i.span, copy.span, "cp.async", groups.open(&set, k) == Some(true)));
            }
            step(at, i, &mut set);
        }
    }
}

/// Shared variables that nothing but `cp.async` with a known target writes.
fn alone(flow: &Flow, from: &Provenance, target: &[Option<Region>]) -> Vec<Origin> {
    let mut vars = target.iter().flatten().filter(|t| !t.mapped).map(|t| t.base).list();
    vars.retain(|v| matches!(v, Origin::Var(_)));
    if target.iter().any(|t| t.is_none_or(|t| !matches!(t.base, Origin::Var(_)))) || flow.calls {
        return Vec::new();
    }
    flow.walk(
        |_| {},
        |at, i| {
            let writer = match plain(i) {
                Some((arg, true)) => Some(arg),
                Some(_) => None,
                None if i.entry.opcode == "cp.async" => None,
                None => i.operand("dstMem").or_else(|| i.operand("addr").filter(|_| i.entry.opcode.starts_with("st."))),
            };
            let Some(arg) = writer else { return };
            let global = i.has(".global") || i.has(".local") || i.has(".bulk_group");
            match region(flow, from, at, arg, 0).map(|r| r.base) {
                Some(base @ Origin::Var(_)) => vars.retain(|v| *v != base),
                _ if global => {}
                _ => vars.clear(),
            }
        },
    );
    vars
}

/// Copies out of shared memory: groups of the thread that issued them (9.7.9.25.6).
fn stores(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut copies = Vec::new();
    let mut source: Vec<Option<Region>> = Vec::new();
    let mut map: Vec<Option<Region>> = Vec::new();
    let mut block = Vec::new();
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            if i.has(".bulk_group") && i.operand("srcMem").is_some() && copies.len() < MOST {
                copies.push(at);
                block.push(here.get());
                let size = constant(i, "size").unwrap_or(0);
                source.push(i.operand("srcMem").and_then(|a| region(flow, from, at, a, size)));
                map.push(i.operand("tensorMap").and_then(|a| region(flow, from, at, a, 128)));
            }
        },
    );
    if copies.is_empty() {
        return;
    }
    let groups = Groups { copies };
    let n = groups.copies.len();
    // Behind the groups two bits for each copy: it may be going on, for those who did not wait; something may have told them.
    let told = groups.bits();
    let step = |at: u32, i: &Instr, set: &mut Bits| match i.entry.opcode {
        "cp.async.bulk.commit_group" => groups.commit(set),
        "cp.async.bulk.wait_group" => groups.wait(set, constant(i, "N").unwrap_or(0) as usize, false),
        "call" => {
            groups.wait(set, 0, true);
            (0..n).for_each(|k| {
                set.unset(told + 2 * k);
                set.set(told + 2 * k + 1);
            });
        }
        _ => {
            if let Some(k) = groups.copies.iter().position(|c| *c == at) {
                groups.start(set, k);
                set.set(told + 2 * k);
                set.unset(told + 2 * k + 1);
            } else if meets(i) {
                for k in 0..n {
                    if set.has(told + 2 * k) && groups.open(set, k).is_none() {
                        set.unset(told + 2 * k);
                        set.set(told + 2 * k + 1);
                    }
                }
            }
        }
    };
    let at_start = simple(&flow.cfg, groups.bits() + 2 * n, Meet::Any, &mut |at, i, s| step(at, i, s));
    let mut said = vec![false; n];
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            let written = match plain(i) {
                Some((arg, true)) => Some((arg, region(flow, from, at, arg, bytes(i)))),
                _ if i.entry.opcode == "tensormap.replace" => {
                    i.operand("addr").map(|a| (a, region(flow, from, at, a, 128)))
                }
                _ => None,
            };
            for k in 0..n {
                if said[k] {
                    continue;
                }
                let copy = flow.cfg.instrs[groups.copies[k] as usize];
                let open = groups.open(&set, k);
                if let Some((arg, Some(target))) = &written {
                    let hit = |r: &Option<Region>| r.as_ref().is_some_and(|r| r.meets(flow, target));
                    if (hit(&source[k]) || hit(&map[k])) && open.is_some() {
                        said[k] = true;
                        out.push(errors::source_rewritten(arg.span, copy.span, open == Some(true), hit(&map[k])));
                    } else if hit(&source[k])
                        && set.has(told + 2 * k)
                        && !set.has(told + 2 * k + 1)
                        && others(flow, lanes, places, (block[k], groups.copies[k]), (b, at))
                    {
                        said[k] = true;
                        out.push(errors::source_rewritten_by_others(arg.span, copy.span));
                    }
                }
                if leaves(i) && i.pred.is_none() && flow.function.entry && open.is_some() {
                    said[k] = true;
                    out.push(errors::leaves_with_copy(i.span, copy.span, open == Some(true)));
                }
            }
            step(at, i, &mut set);
        }
    }
}

/// Is there certainly a thread at the second place that does not come to the first?
fn others(flow: &Flow, lanes: &Lanes, places: &Places, first: (u32, u32), second: (u32, u32)) -> bool {
    let Some(n) = lanes.threads.exact else { return false };
    let a = places.who(flow, lanes, first.0, first.1);
    let b = places.who(flow, lanes, second.0, second.1);
    let has = |s: &super::lanes::Set, t: usize| s[t / 64] >> (t % 64) & 1 == 1;
    let all = super::converge::every_lane(flow, lanes, &b, second.0, second.1);
    let one = a.elected && n > 1;
    all && (0..n).all(|t| has(&b.set, t)) && (one || (0..n).any(|t| !has(&a.set, t)))
}

/// Is it a wait for the phase of an mbarrier?
pub(super) fn mbarrier_wait(i: &Instr) -> bool {
    matches!(i.entry.opcode, "mbarrier.try_wait" | "mbarrier.test_wait")
}

/// Copies into shared memory that an mbarrier tells the end of.
fn loads(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    struct Load {
        at: u32,
        into: Region,
        mbar: Region,
        map: Option<Region>,
        waited: bool,
    }
    let mut list: Vec<Load> = Vec::new();
    let mut waits: Vec<Option<Region>> = Vec::new();
    let mut other = flow.calls;
    flow.walk(
        |_| {},
        |at, i| {
            if mbarrier_wait(i) {
                waits.push(i.operand("addr").and_then(|a| region(flow, from, at, a, 8)));
            } else if i.has(".mbarrier::complete_tx::bytes") && i.operand("dstMem").is_some() {
                let size = constant(i, "size").unwrap_or(0);
                let into = i.operand("dstMem").and_then(|a| region(flow, from, at, a, size));
                let mbar = i.operand("mbar").and_then(|a| region(flow, from, at, a, 8));
                let map = i.operand("tensorMap").and_then(|a| region(flow, from, at, a, 128));
                match (into, mbar) {
                    (Some(into), Some(mbar)) if list.len() < MOST => {
                        list.push(Load { at, into, mbar, map, waited: false });
                    }
                    _ => other = true,
                }
            }
        },
    );
    let known = |r: &Region| matches!(r.base, Origin::Var(_)) && r.bytes.is_some() && !r.mapped;
    if list.is_empty() || other || waits.iter().any(|w| !w.as_ref().is_some_and(known)) {
        return;
    }
    list.retain(|l| {
        known(&l.mbar) && !l.into.mapped && !flow.cfg.instrs[l.at as usize].has(".shared::cluster.shared::cta")
    });
    let waits = waits.into_iter().flatten().list();
    for l in &mut list {
        l.waited = waits.iter().any(|w| w.may_meet(&l.mbar));
    }
    let mut said = vec![false; list.len()];
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = list.iter().position(|l| l.at == at) {
            owe(set, k);
        } else if mbarrier_wait(i) {
            let on = i.operand("addr").and_then(|a| region(flow, from, at, a, 8));
            for (k, l) in list.iter().enumerate() {
                if on.is_none_or(|w| w.may_meet(&l.mbar)) {
                    settle(set, k);
                }
            }
        } else if meets(i) || i.entry.opcode == "fence" {
            // Another thread may have waited for it.
            (0..list.len()).filter(|k| list[*k].waited).for_each(|k| settle(set, k));
        }
    };
    debts(flow, list.len(), &mut |at, i, s| step(at, i, s), &mut |_, at, i, set| {
        let touched = match plain(i) {
            Some((arg, writes)) => Some((arg, region(flow, from, at, arg, bytes(i)), writes)),
            None if i.entry.opcode == "tensormap.replace" => {
                i.operand("addr").map(|a| (a, region(flow, from, at, a, 128), true))
            }
            None if i.has(".bulk_group") => {
                i.operand("srcMem").map(|a| (a, region(flow, from, at, a, constant(i, "size").unwrap_or(0)), false))
            }
            None => None,
        };
        let Some((arg, Some(here), writes)) = touched else { return };
        for (k, l) in list.iter().enumerate() {
            let map = l.map.as_ref().is_some_and(|m| m.meets(flow, &here)) && writes;
            if !said[k] && owed(set, k) && (l.into.meets(flow, &here) || map) {
                said[k] = true;
                let copy = flow.cfg.instrs[l.at as usize];
                out.push(errors::load_unfinished(arg.span, copy.span, writes, map, l.waited, i.has(".bulk_group")));
            }
        }
    });
    for (k, l) in list.iter().enumerate() {
        if !l.waited && !said[k] && flow.function.entry {
            said[k] = true;
            let copy = flow.cfg.instrs[l.at as usize];
            let name = match l.mbar.base {
                Origin::Var(v) => flow.module.vars.get(v.0 as usize).map_or("", |v| v.name.as_str()),
                _ => "",
            };
            out.push(errors::nobody_waits(copy.span, name));
            break;
        }
    }
}
