//! Phases of an mbarrier (PTX ISA 9.7.13.15): which one a wait is for, and what must not complete one.

use super::Flow;
use super::converge::Places;
use super::copies::mbarrier_wait;
use super::ctas::Ctas;
use super::dataflow::{Bits, Meet, forward};
use super::lanes::Lanes;
use super::mbarriers::{Object, Objects, Site, among, each_round, in_loop, most, name, place, steadily, surely};
use super::memory::{MOST, constant, owe, owed, region, settle};
use super::provenance::{Origin, Provenance};
use super::ssa::Val;
use crate::errors::order as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand};
use ptx_dsl_table::list::List;

pub(super) fn check(
    flow: &Flow,
    lanes: &Lanes,
    places: &Places,
    from: &Provenance,
    objects: &Objects,
    out: &mut Vec<Diagnostic>,
) {
    states(flow, from, out);
    parities(flow, lanes, places, objects, out);
    pending(flow, lanes, places, objects, out);
    if flow.cfg.any(&multicast) {
        somewhere(flow, from, out);
    }
    if !objects.unclear {
        relaxed(flow, from, objects, out);
    }
}

/// The object whose address is not known, if all bytes that are expected and copied in the kernel are for one address: a stage
/// of a ring.
pub(super) fn only(flow: &Flow, from: &Provenance) -> Option<Objects> {
    let mut key: Option<On> = None;
    let mut clear = true;
    let site = |at, block| Site { block, at };
    let (mut expects, mut copies, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = u32::MAX;
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let op = i.entry.opcode;
            let expecting = op == "mbarrier.expect_tx" || (arrives(i) && i.spelling.contains("expect_tx"));
            let copying = i.operand("mbar").is_some() || op == "mbarrier.complete_tx";
            if mbarrier_wait(i) {
                waits.push(site(at, here.get()));
            }
            if !expecting && !copying {
                return;
            }
            let arg = i.operand("addr").filter(|_| op.starts_with("mbarrier.")).or_else(|| i.operand("mbar"));
            let r = arg.and_then(|a| region(flow, from, at, a, 8)).filter(|r| !r.mapped);
            let now = r.and_then(|r| {
                if let Origin::Var(v) = r.base {
                    base = v.0;
                }
                place(&r).map(|p| On::Place(p.0, p.1)).or_else(|| r.value.map(|v| On::Value(v.0, v.1)))
            });
            let elsewhere = i.begins(".multicast") || i.has(".cta_group::2");
            clear &= now.is_some()
                && !elsewhere
                && *key.get_or_insert(now.unwrap_or(On::Value(0, 0))) == now.unwrap_or(On::Value(0, 1));
            if expecting { expects.push(site(at, here.get())) } else { copies.push(site(at, here.get())) }
        },
    );
    let whole = clear && !expects.is_empty() && !copies.is_empty();
    let object = Object { place: (base, 0), inits: Vec::new(), arrives: Vec::new(), expects, copies, waits };
    whole.then(|| Objects { list: vec![object], unclear: true, mapped: Vec::new() })
}

/// What an object's address is: a place in a variable, or else a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum On {
    Place(u32, i64),
    Value(Val, i64),
}

fn on(flow: &Flow, from: &Provenance, at: u32, i: &Instr) -> Option<On> {
    let arg = i.operand("addr").or_else(|| i.operand("mbar"))?;
    let r = region(flow, from, at, arg, 8)?;
    place(&r).map(|p| On::Place(p.0, p.1)).or_else(|| r.value.map(|v| On::Value(v.0, v.1)))
}

fn arrives(i: &Instr) -> bool {
    matches!(i.entry.opcode, "mbarrier.arrive" | "mbarrier.arrive_drop")
}

/// The arrival that made a state, through copies of it.
fn state_of(flow: &Flow, at: u32, o: &Operand) -> Option<u32> {
    let mut now = (at, o);
    for _ in 0..16 {
        let Operand::Reg(r, lane) = now.1 else { return None };
        let m = flow.ssa.maker(flow.ssa.read(now.0, *r, *lane))?;
        let made = flow.cfg.instrs[m as usize];
        if arrives(made) {
            return Some(m);
        }
        now = (m, &made.operand("a").filter(|_| made.entry.opcode == "mov")?.value);
    }
    None
}

/// Waits by a state: it is that of this object, and of the phase that is under way.
fn states(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut list: Vec<(u32, Option<On>)> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            let kept = i.operand("state").is_some_and(|s| matches!(s.value, Operand::Reg(..)));
            if arrives(i) && kept && list.len() < MOST {
                list.push((at, on(flow, from, at, i)));
            }
        },
    );
    if list.is_empty() {
        return;
    }
    // For each arrival: nothing else yet; waited for; and then another arrival came.
    let begin = |set: &mut Bits, k: usize, n: usize| (0..3).for_each(|b| set.put(3 * k + b, b == n));
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if !arrives(i) {
            return;
        }
        let here = on(flow, from, at, i);
        for (k, (site, object)) in list.iter().enumerate() {
            if *site == at {
                begin(set, k, 0);
            } else if object.is_some() && *object == here && i.pred.is_none() && set.has(3 * k + 1) {
                set.unset(3 * k + 1);
                set.set(3 * k + 2);
            }
        }
    };
    let mut block = |b: u32, set: &mut Bits| {
        for at in flow.cfg.range(b) {
            step(at, flow.cfg.instrs[at as usize], set);
        }
    };
    let mut edge = |b: u32, way: usize, set: &mut Bits| {
        let Some(at) = passed(flow, b, way) else { return };
        let i = flow.cfg.instrs[at as usize];
        let here = on(flow, from, at, i);
        let made = i.operand("state").and_then(|s| state_of(flow, at, &s.value));
        for (k, (site, object)) in list.iter().enumerate() {
            if (made == Some(*site) || (object.is_some() && *object == here)) && set.has(3 * k) {
                set.unset(3 * k);
                set.set(3 * k + 1);
            }
        }
    };
    let at_start = forward(&flow.cfg, 3 * list.len(), Meet::Any, &mut block, &mut edge);
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if let Some(arg) =
                i.operand("state").filter(|_| mbarrier_wait(i) || i.entry.opcode == "mbarrier.pending_count")
                && let Some(made) = state_of(flow, at, &arg.value)
                && let Some(k) = list.iter().position(|l| l.0 == made)
            {
                let arrival = flow.cfg.instrs[made as usize];
                if i.entry.opcode == "mbarrier.pending_count" {
                    if !arrival.has(".noComplete") {
                        out.push(errors::count_of_other_state(arg.span, arrival.span));
                    }
                } else if let (Some(On::Place(v, o)), Some(On::Place(w, p))) = (list[k].1, on(flow, from, at, i))
                    && (v, o) != (w, p)
                {
                    out.push(errors::state_of_other(arg.span, &name(flow, (v, o)), &name(flow, (w, p)), arrival.span));
                } else if set.has(3 * k + 2) {
                    let sure = !set.has(3 * k) && !set.has(3 * k + 1);
                    out.push(errors::state_of_past(arg.span, arrival.span, sure));
                }
            }
            step(at, i, &mut set);
        }
    }
}

/// The wait that a predicate is the answer of, and the value of the predicate if it says yes. Compilers of C take it through
/// numbers, 1 for yes.
fn answer(flow: &Flow, p: Val) -> Option<(u32, bool)> {
    let (mut v, mut yes) = (p, true);
    for _ in 0..24 {
        let m = flow.ssa.maker(v)?;
        let i = flow.cfg.instrs[m as usize];
        let with = |name: &str, n: u64| constant(i, name).is_some_and(|c| c == n);
        let (next, same) = match i.entry.opcode {
            _ if mbarrier_wait(i) => return Some((m, yes)),
            "mov" | "cvt" => ("a", true),
            "and" if with("b", 1) => ("a", true),
            "xor" if with("b", 1) => ("a", false),
            "not" if i.has(".pred") => ("a", false),
            "selp" if with("a", 1) && with("b", 0) => ("c", true),
            "selp" if with("a", 0) && with("b", 1) => ("c", false),
            "setp" if i.operands.len() == 3 && (with("b", 0) || with("b", 1)) && (i.has(".eq") || i.has(".ne")) => {
                ("a", i.has(".eq") == with("b", 1))
            }
            _ => return None,
        };
        yes = yes == same;
        let Operand::Reg(r, lane) = i.operand(next)?.value else { return None };
        v = flow.ssa.read(m, r, lane);
    }
    None
}

/// The wait that has succeeded where this way is taken.
fn passed(flow: &Flow, b: u32, way: usize) -> Option<u32> {
    let branch = flow.cfg.branch(b)?;
    let (p, _) = flow.ssa.guard(branch, flow.cfg.instrs[branch as usize])?;
    let (wait, yes) = answer(flow, p)?;
    (flow.cfg.blocks[b as usize].succ[way].when == Some(yes)).then_some(wait)
}

/// Waits that come again with the same constant parity, though each round completes a phase.
fn parities(flow: &Flow, lanes: &Lanes, places: &Places, objects: &Objects, out: &mut Vec<Diagnostic>) {
    // Each wait is compared with each arrival by ways in the graph; for very many that would cost seconds.
    let mut budget = 5_000_000 / flow.cfg.blocks.len().max(1);
    for o in &objects.list {
        let mut parity = None;
        let one = o.waits.iter().all(|s| {
            let p = constant(flow.cfg.instrs[s.at as usize], "phaseParity");
            p.is_some() && *parity.get_or_insert(p) == p
        });
        // One that begins anew begins with parity 0 again.
        if !one || o.waits.is_empty() || o.inits.iter().any(|s| in_loop(flow, s.block)) || o.inits.len() > 1 {
            continue;
        }
        let begins = |at: u32| among(&o.arrives, at);
        // 0: waited for; 1: then something arrived.
        let step = |from: u32, to: u32, set: &mut Bits| {
            if (from..to).any(begins) && set.has(0) {
                set.set(1);
            }
        };
        let mut block = |b: u32, set: &mut Bits| {
            let range = flow.cfg.range(b);
            step(range.start, range.end, set);
        };
        let mut edge = |b: u32, way: usize, set: &mut Bits| {
            if passed(flow, b, way).is_some_and(|at| among(&o.waits, at)) {
                set.set(0);
                set.unset(1);
            }
        };
        let any = forward(&flow.cfg, 2, Meet::Any, &mut block, &mut edge);
        let every = forward(&flow.cfg, 2, Meet::Every, &mut block, &mut edge);
        let count = o.inits.first().and_then(|s| constant(flow.cfg.instrs[s.at as usize], "count"));
        let rounds = |sites: &[&Site]| -> Option<u64> {
            let n = lanes.threads.exact?;
            let each = |s: &&Site| {
                let i = flow.cfg.instrs[s.at as usize];
                let each = if i.operand("count").is_some() { constant(i, "count")? } else { 1 };
                let plain = arrives(i) && i.entry.opcode != "mbarrier.arrive_drop";
                let who = places.who(flow, lanes, s.block, s.at);
                (plain && each_round(flow, lanes, **s)).then(|| each * most(&who, lanes, n))
            };
            sites.iter().map(each).sum()
        };
        for w in &o.waits {
            let i = flow.cfg.instrs[w.at as usize];
            let Some(arg) = i.operand("phaseParity") else { continue };
            let ways =
                (0..flow.cfg.blocks[w.block as usize].succ.len()).find(|n| passed(flow, w.block, *n) == Some(w.at));
            let Some(next) = ways.map(|n| flow.cfg.blocks[w.block as usize].succ[n].to) else { continue };
            let before = |at_start: &[Bits]| {
                let mut set = at_start[w.block as usize].clone();
                step(flow.cfg.blocks[w.block as usize].first, w.at, &mut set);
                set.has(1)
            };
            let (own, always) = (before(&any), before(&every));
            let again = reaches(flow, next, w.block);
            // What arrives between one wait and the next: in the loop, or behind the wait before.
            let cost = if again { 1 } else { o.arrives.len() * (1 + o.waits.len()) };
            let Some(left) = budget.checked_sub(cost) else { return };
            budget = left;
            let between: Vec<&Site> = match again {
                true => o.arrives.iter().filter(|s| in_loop(flow, s.block)).list(),
                false => o.arrives.iter().filter(|s| behind(flow, o, s, w)).list(),
            };
            if between.is_empty() || !(own || again) {
                continue;
            }
            // Where the wait is for one thing and the loop for another, few arrivals may make many rounds.
            let whole = rounds(&between).zip(count).map(|(n, c)| n == c);
            // What arrives in some rounds only completes a phase in some only.
            let steady = || between.iter().all(|s| steadily(flow, lanes, **s));
            let single = count == Some(1) && between.len() == 1;
            let exact = whole == Some(true) || (own && single && steady());
            if exact || (own && whole.is_none() && count.is_none() && steady()) {
                let sure = exact && (again || always);
                out.push(errors::parity_again(arg.span, &name(flow, o.place), again, sure));
                break;
            }
        }
    }
}

/// Does the arrival come behind another wait and before this one?
fn behind(flow: &Flow, o: &Object, s: &Site, w: &Site) -> bool {
    let after = |a: &Site, b: &Site| {
        let first = flow.cfg.blocks[a.block as usize].succ.iter().any(|e| reaches(flow, e.to, b.block));
        (a.block == b.block && a.at < b.at) || (a.block != b.block && first)
    };
    after(s, w) && o.waits.iter().any(|v| v.at != w.at && after(v, s))
}

/// Is there a way from one block to another?
pub(super) fn reaches(flow: &Flow, a: u32, b: u32) -> bool {
    let mut seen = vec![false; flow.cfg.blocks.len()];
    let mut stack = vec![a];
    while let Some(x) = stack.pop() {
        if x == b {
            return true;
        }
        if !std::mem::replace(&mut seen[x as usize], true) {
            stack.extend(flow.cfg.blocks[x as usize].succ.iter().map(|e| e.to));
        }
    }
    false
}

/// Counts that an operation cannot take from what is pending.
fn pending(flow: &Flow, lanes: &Lanes, places: &Places, objects: &Objects, out: &mut Vec<Diagnostic>) {
    for o in &objects.list {
        let [init] = o.inits.as_slice() else { continue };
        let at_init = flow.cfg.instrs[init.at as usize];
        let Some(most_pending) = constant(at_init, "count") else { continue };
        let mut said = false;
        for s in &o.arrives {
            let i = flow.cfg.instrs[s.at as usize];
            let Some(c) = constant(i, "count").filter(|_| arrives(i)) else { continue };
            let span = i.operand("count").map_or(i.span, |a| a.span);
            let never = i.has(".noComplete");
            let who = places.who(flow, lanes, s.block, s.at);
            let together =
                lanes.threads.exact.filter(|_| never && !who.elected && !who.passed && surely(flow, lanes, *s));
            let all = together.map_or(c, |n| c.saturating_mul(most(&who, lanes, n)));
            if c > most_pending || (never && all >= most_pending) {
                out.push(errors::more_than_pending(span, &name(flow, o.place), all, most_pending, never, at_init.span));
                said = true;
                break;
            }
        }
        // One thread alone, in one block: its arrivals one after the other.
        let plain = o.copies.is_empty() && o.expects.is_empty() && !objects.unclear;
        let block = o.arrives.first().map(|s| s.block);
        let one = lanes.threads.exact.is_some_and(|n| {
            o.arrives.iter().all(|s| {
                let who = places.who(flow, lanes, s.block, s.at);
                Some(s.block) == block && most(&who, lanes, n) == 1 && surely(flow, lanes, *s)
            })
        });
        if said || !plain || !one || block.is_none_or(|b| in_loop(flow, b)) {
            continue;
        }
        let mut left = most_pending;
        for s in &o.arrives {
            let i = flow.cfg.instrs[s.at as usize];
            let c = if i.operand("count").is_some() { constant(i, "count") } else { Some(1) };
            let Some(c) = c.filter(|_| i.entry.opcode == "mbarrier.arrive") else { break };
            let never = i.has(".noComplete");
            if c > left || (never && c == left) {
                let span = i.operand("count").map_or(i.span, |a| a.span);
                out.push(errors::more_than_pending(span, &name(flow, o.place), c, left, never, at_init.span));
                break;
            }
            left = if c == left { most_pending } else { left - c };
        }
    }
}

fn multicast(i: &Instr) -> bool {
    i.begins(".multicast::cluster") && i.operand("dstMem").is_some()
}

/// Copies for several CTAs, where only some of these expect the bytes and all wait.
fn somewhere(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let ctas = Ctas::new(flow);
    let mut copies: Vec<(u32, (u32, i64))> = Vec::new();
    let mut expects: Vec<(Site, (u32, i64))> = Vec::new();
    let mut waits: Vec<(Site, (u32, i64))> = Vec::new();
    let mut unclear = false;
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let expecting =
                matches!(i.entry.opcode, "mbarrier.expect_tx") || (arrives(i) && i.spelling.contains("expect_tx"));
            if !multicast(i) && !expecting && !mbarrier_wait(i) {
                return;
            }
            let arg = i.operand("addr").or_else(|| i.operand("mbar"));
            let known = arg.and_then(|a| region(flow, from, at, a, 8)).and_then(|r| place(&r));
            let Some(p) = known else {
                // Somebody expects them elsewhere.
                unclear |= expecting;
                return;
            };
            let site = Site { block: here.get(), at };
            if expecting {
                unclear |= i.begins(".multicast");
                expects.push((site, p));
            } else if mbarrier_wait(i) {
                waits.push((site, p));
            } else {
                copies.push((at, p));
            }
        },
    );
    if unclear || expects.len() > MOST || waits.len() > MOST {
        return;
    }
    for (at, p) in copies {
        let i = flow.cfg.instrs[at as usize];
        let told = expects.iter().filter(|e| e.1 == p).list();
        let only = told.iter().map(|e| ctas.conditions(flow, e.0.block, e.0.at)).list();
        let Some(first) = only.first().filter(|c| !c.is_empty()) else { continue };
        // All of them under one condition, and a wait that is not.
        let Some((q, v)) = first.iter().find(|c| only.iter().all(|o| o.contains(c))) else { continue };
        let free = waits.iter().filter(|w| w.1 == p).find(|w| {
            let when = ctas.conditions(flow, w.0.block, w.0.at);
            !when.contains(&(*q, *v))
        });
        let Some(wait) = free else { continue };
        let several = constant(i, "ctaMask").map(|m| m.count_ones() > 1);
        if several == Some(false) {
            continue;
        }
        let spans = (flow.cfg.instrs[told[0].0.at as usize].span, flow.cfg.instrs[wait.0.at as usize].span);
        out.push(errors::expected_somewhere(spans.0, &name(flow, p), i.span, spans.1, several.is_some()));
        break;
    }
}

/// Arrivals that publish nothing, on objects whose waits acquire what was stored.
fn relaxed(flow: &Flow, from: &Provenance, objects: &Objects, out: &mut Vec<Diagnostic>) {
    let orders = |i: &Instr| {
        (matches!(i.entry.opcode, "fence" | "membar")
            && !i.spelling.starts_with("fence.proxy")
            && !i.spelling.starts_with("fence.mbarrier"))
            || i.entry.opcode.starts_with("tcgen05.fence")
            || i.entry.opcode.starts_with("bar")
    };
    for o in &objects.list {
        let relaxed =
            |s: &Site| arrives(flow.cfg.instrs[s.at as usize]) && flow.cfg.instrs[s.at as usize].has(".relaxed");
        let acquires = |s: &&Site| !flow.cfg.instrs[s.at as usize].has(".relaxed");
        let Some(wait) = o.waits.iter().find(acquires) else { continue };
        if o.arrives.is_empty() || !o.arrives.iter().all(relaxed) || !o.expects.is_empty() || !o.copies.is_empty() {
            continue;
        }
        // Stored before, with nothing that orders it between; and shared memory that somebody loads behind the wait.
        let mut step = |at: u32, i: &Instr, set: &mut Bits| {
            let shared = i.entry.opcode == "st"
                && i.address()
                    .and_then(|a| region(flow, from, at, a, 4))
                    .is_some_and(|r| r.space == ptx_dsl_table::hir::Space::Shared);
            if shared {
                owe(set, 0);
            } else if orders(i) {
                settle(set, 0);
            }
        };
        let mut said = None;
        super::memory::debts(flow, 1, &mut step, &mut |_, at, i, set| {
            if said.is_none() && owed(set, 0) && among(&o.arrives, at) {
                said = Some(i.span);
            }
        });
        if let Some(span) = said {
            out.push(errors::no_release_on_object(span, &name(flow, o.place), flow.cfg.instrs[wait.at as usize].span));
        }
    }
}
