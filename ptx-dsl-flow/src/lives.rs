//! The life of an mbarrier (PTX ISA 9.7.13.15.9, 9.7.13.15.10): from `init` to `inval`, and who may know of it.

use super::Flow;
use super::converge::{Places, Who, every_lane};
use super::copies::mbarrier_wait;
use super::dataflow::Bits;
use super::lanes::Lanes;
use super::mbarriers::{Objects, Site, in_loop, name, place};
use super::memory::{bytes, debts, owe, owed, plain, region, settle};
use super::provenance::{Origin, Provenance};
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::Instr;
use ptx_dsl_table::list::List;

/// `init` of what is initialised, data on top of a live object, and objects that other CTAs cannot know of yet.
pub(super) fn check(
    flow: &Flow,
    lanes: &Lanes,
    places: &Places,
    from: &Provenance,
    objects: &Objects,
    out: &mut Vec<Diagnostic>,
) {
    after_inval(flow, from, out);
    let inits: Vec<(Site, (u32, i64))> =
        objects.list.iter().flat_map(|o| o.inits.iter().map(|s| (*s, o.place))).take(64).list();
    let n = inits.len();
    let who = inits.iter().map(|(s, _)| places.who(flow, lanes, s.block, s.at)).list();
    // First n: initialised and not invalidated. Next n: not published to the cluster.
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = inits.iter().position(|x| x.0.at == at) {
            owe(set, k);
            owe(set, n + k);
        } else if i.entry.opcode == "mbarrier.inval" {
            let on = i.operand("addr").and_then(|a| region(flow, from, at, a, 8)).and_then(|r| place(&r));
            (0..n).filter(|k| on.is_none_or(|p| p == inits[*k].1)).for_each(|k| settle(set, k));
        } else if i.entry.opcode == "fence" && !i.spelling.starts_with("fence.proxy") {
            let here = places.who(flow, lanes, block_of(flow, at), at);
            for (k, who) in who.iter().enumerate() {
                let common = (0..here.set.len()).any(|w| here.set[w] & who.set[w] != 0);
                if common && !(here.elected && who.passed || here.passed && who.elected) {
                    settle(set, n + k);
                }
            }
        } else if i.entry.opcode == "barrier.cluster.arrive" && !i.has(".relaxed") {
            (0..n).for_each(|k| settle(set, n + k));
        }
    };
    let guard = |at: u32| {
        let g = flow.ssa.guard(at, flow.cfg.instrs[at as usize]);
        g.map(|(p, positive)| (flow.ssa.origin[p as usize], positive))
    };
    let mut said = vec![false; n];
    debts(flow, 2 * n, &mut |at, i, s| step(at, i, s), &mut |b, at, i, set| {
        let touched = plain(i).and_then(|(arg, writes)| {
            region(flow, from, at, arg, bytes(i)).filter(|r| r.bytes.is_some()).map(|r| (arg, r, writes))
        });
        for k in 0..n {
            let (site, object) = inits[k];
            if said[k] || !(owed(set, k) || owed(set, n + k)) {
                continue;
            }
            let again = inits.iter().any(|x| x.0.at == at && x.1 == object);
            let data = touched.as_ref().filter(|(_, r, _)| {
                r.base == Origin::Var(ptx_dsl_table::hir::VarId(object.0))
                    && r.bytes.is_some_and(|(a, e)| a < object.1 + 8 && object.1 < e && e != i64::MAX)
            });
            let span = flow.cfg.instrs[site.at as usize].span;
            if (again || data.is_some()) && owed(set, k) && !in_loop(flow, b) {
                let first = if site.block == b { site.at < at } else { flow.cfg.dominates(site.block, b) };
                let runs = guard(site.at).is_none() || guard(site.at) == guard(at);
                if first && runs {
                    said[k] = true;
                    out.push(match data {
                        Some((arg, _, writes)) if !again => {
                            errors::data_on_object(arg.span, &name(flow, object), span, *writes)
                        }
                        _ => errors::init_twice(i.span, &name(flow, object), span),
                    });
                }
            }
            if i.entry.opcode == "barrier.cluster.arrive"
                && i.has(".relaxed")
                && owed(set, n + k)
                && objects.mapped.contains(&object.0)
            {
                said[k] = true;
                out.push(errors::not_published(i.span, &name(flow, object), span));
            }
        }
    });
}

pub(super) fn block_of(flow: &Flow, at: u32) -> u32 {
    flow.cfg.block_of(at)
}

/// Is `a` above `b` in a tree of dominators?
pub(super) fn dominates(tree: &[u32], a: u32, b: u32) -> bool {
    let mut at = b;
    loop {
        if at == a {
            return true;
        }
        let up = tree.get(at as usize).copied().unwrap_or(super::cfg::NONE);
        if up == super::cfg::NONE || up == at {
            return false;
        }
        at = up;
    }
}

/// What one thread initialises or a warp allocates, and all threads use, with nothing that makes them wait for it.
pub(super) fn unseen(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact.filter(|n| *n > 1) else { return };
    let mut made: Vec<(Who, (u32, i64), u32, bool)> = Vec::new();
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let alloc = i.entry.opcode == "tcgen05.alloc";
            if i.entry.opcode != "mbarrier.init" && !alloc {
                return;
            }
            let arg = i.address();
            if let Some(p) = arg.and_then(|a| region(flow, from, at, a, 4)).and_then(|r| place(&r))
                && made.len() < 64
            {
                made.push((places.who(flow, lanes, here.get(), at), p, at, alloc));
            }
        },
    );
    let meets = |i: &Instr| {
        let op = i.entry.opcode;
        op.starts_with("bar.")
            || op.starts_with("barrier.")
            || mbarrier_wait(i)
            || matches!(op, "atom" | "red" | "call" | "griddepcontrol" | "elect.sync" | "match.sync")
            || (op.ends_with(".sync") && n <= 32)
            || (op == "ld" && [".acquire", ".relaxed", ".volatile"].iter().any(|q| i.has(q)))
    };
    // Met on some way; a wait of the object itself is no meeting.
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let own = mbarrier_wait(i)
            && i.operand("addr")
                .and_then(|a| region(flow, from, at, a, 8))
                .and_then(|r| place(&r))
                .is_some_and(|p| made.iter().any(|m| m.1 == p));
        let relevant = i.entry.opcode != "elect.sync" || n <= 32;
        if meets(i) && !own && relevant {
            set.set(0);
        }
    };
    let at_start = super::dataflow::simple(&flow.cfg, 1, super::dataflow::Meet::Any, &mut |at, i, s| step(at, i, s));
    let mut said = Vec::new();
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            let op = i.entry.opcode;
            let uses = (op.starts_with("mbarrier.") && !matches!(op, "mbarrier.init" | "mbarrier.pending_count"))
                || (op == "ld" && !set.has(0));
            let arg = i.address();
            if uses
                && !set.has(0)
                && let Some(p) = arg.and_then(|a| region(flow, from, at, a, 4)).and_then(|r| place(&r))
                && let Some(m) = made.iter().find(|m| m.1 == p && m.3 == (op == "ld"))
                && !said.contains(&p)
            {
                let who = places.who(flow, lanes, b, at);
                let all = every_lane(flow, lanes, &who, b, at) && (0..n).all(|t| who.set[t / 64] >> (t % 64) & 1 == 1);
                let other = (0..n).find(|t| m.0.set[t / 64] >> (t % 64) & 1 == 0);
                if all && (other.is_some() || m.0.elected) {
                    said.push(p);
                    let made = flow.cfg.instrs[m.2 as usize];
                    out.push(errors::not_seen(i.span, &name(flow, p), other, made.span, made.entry.opcode));
                }
            }
            step(at, i, &mut set);
        }
    }
}

/// Uses of an object behind its `mbarrier.inval`, with no `init` and no meeting with a thread that might do one between.
fn after_inval(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let object = |at: u32, i: &Instr| {
        let arg = i.operand("addr").or_else(|| i.operand("mbar"))?;
        region(flow, from, at, arg, 8).and_then(|r| place(&r))
    };
    let mut ends: Vec<(u32, (u32, i64))> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if i.entry.opcode == "mbarrier.inval"
                && ends.len() < 64
                && let Some(p) = object(at, i)
            {
                ends.push((at, p));
            }
        },
    );
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let op = i.entry.opcode;
        if let Some(k) = ends.iter().position(|e| e.0 == at) {
            owe(set, k);
        } else if op == "mbarrier.init" {
            let on = object(at, i);
            (0..ends.len()).filter(|k| on.is_none_or(|p| p == ends[*k].1)).for_each(|k| settle(set, k));
        } else if op.starts_with("bar") || op.ends_with(".sync") || matches!(op, "call" | "atom" | "ld") {
            (0..ends.len()).for_each(|k| settle(set, k));
        }
    };
    let mut said = Vec::new();
    debts(flow, ends.len(), &mut |at, i, s| step(at, i, s), &mut |_, at, i, set| {
        if matches!(i.entry.opcode, "mbarrier.init" | "mbarrier.check_layout") {
            return;
        }
        let Some(p) = object(at, i) else { return };
        if let Some(k) = (0..ends.len()).find(|k| ends[*k].1 == p && owed(set, *k))
            && !said.contains(&p)
            && (flow.ssa.guard(ends[k].0, flow.cfg.instrs[ends[k].0 as usize]).is_none())
        {
            said.push(p);
            out.push(errors::after_inval(i.span, &name(flow, p), flow.cfg.instrs[ends[k].0 as usize].span));
        }
    });
}
