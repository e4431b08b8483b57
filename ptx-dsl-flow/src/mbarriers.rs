//! What an mbarrier (PTX ISA 9.7.13.15) is told to wait for, against what can come: counts, bytes, phases; its life from
//! `init` to `inval`, and who may know of it. Named barriers count too (9.7.13.1).

use super::Flow;
use super::converge::{Places, Who};
use super::copies::mbarrier_wait;
use super::ctas::under;
use super::dataflow::Bits;
use super::lanes::{Fact, Lanes, Set};
use super::lives::{self, dominates};
use super::loops::Loops;
use super::memory::{Region, constant, debts, owe, owed, region, settle};
use super::phases::reaches;
use super::provenance::{Origin, Provenance};
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand};

/// An instruction with its place.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub block: u32,
    pub at: u32,
}

/// An object and what happens to it.
pub(super) struct Object {
    pub place: (u32, i64),
    pub inits: Vec<Site>,
    pub arrives: Vec<Site>,
    pub expects: Vec<Site>,
    pub copies: Vec<Site>,
    pub waits: Vec<Site>,
}

pub(super) struct Objects {
    pub list: Vec<Object>,
    /// Something of the kind has an address that is not known, or another CTA may reach the objects.
    pub unclear: bool,
    /// Objects whose address was mapped to other CTAs.
    pub mapped: Vec<u32>,
}

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    let has = |op: &str| flow.cfg.has(op);
    if has("mbarrier.") {
        let objects = objects(flow, from);
        if !objects.unclear && lanes.threads.exact.is_some() {
            never_initialised(flow, &objects, out);
        }
        lives::check(flow, lanes, places, from, &objects, out);
        super::phases::check(flow, lanes, places, from, &objects, out);
        if !objects.unclear {
            counts(flow, lanes, places, &objects, out);
            transactions(flow, &objects, out);
        } else if let Some(one) = super::phases::only(flow, from) {
            transactions(flow, &one, out);
        }
    }
    if has("mbarrier.init") || has("tcgen05.alloc") {
        lives::unseen(flow, lanes, places, from, out);
    }
    if has("bar") {
        named(flow, lanes, places, out);
    }
}

pub(super) fn place(r: &Region) -> Option<(u32, i64)> {
    match (r.base, r.bytes) {
        (Origin::Var(v), Some((o, _))) if !r.mapped => Some((v.0, o)),
        _ => None,
    }
}

pub(super) fn objects(flow: &Flow, from: &Provenance) -> Objects {
    let mut all = Objects { list: Vec::new(), unclear: false, mapped: Vec::new() };
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let op = i.entry.opcode;
            if op == "mapa" {
                if let Some(Operand::Reg(r, lane)) = i.operand("a").map(|a| &a.value)
                    && let Some(Origin::Var(v)) = from.address(flow.ssa.read(at, *r, *lane)).map(|a| a.base)
                {
                    all.mapped.push(v.0);
                } else if let Some(Operand::VarAddr(v, _)) = i.operand("a").map(|a| &a.value) {
                    all.mapped.push(v.0);
                }
                all.unclear = true;
                return;
            }
            let on = if op.starts_with("mbarrier.") || op == "cp.async.mbarrier.arrive" { "addr" } else { "mbar" };
            let Some(arg) = i.operand(on) else { return };
            if op == "mbarrier.pending_count" {
                return;
            }
            let many = i.begins(".multicast") || i.has(".cta_group::2");
            let Some(p) = region(flow, from, at, arg, 8).and_then(|r| place(&r)).filter(|_| !many) else {
                all.unclear = true;
                return;
            };
            let k = all.list.iter().position(|o| o.place == p).unwrap_or_else(|| {
                all.list.push(Object {
                    place: p,
                    inits: Vec::new(),
                    arrives: Vec::new(),
                    expects: Vec::new(),
                    copies: Vec::new(),
                    waits: Vec::new(),
                });
                all.list.len() - 1
            });
            let site = Site { block: here.get(), at };
            let o = &mut all.list[k];
            match op {
                "mbarrier.init" => put(&mut o.inits, site),
                "mbarrier.arrive" | "mbarrier.arrive_drop" => {
                    put(&mut o.arrives, site);
                    if i.has(".expect_tx") || i.entry.opcode.ends_with("expect_tx") || i.spelling.contains("expect_tx")
                    {
                        put(&mut o.expects, site);
                    }
                }
                "mbarrier.expect_tx" => put(&mut o.expects, site),
                "mbarrier.test_wait" | "mbarrier.try_wait" => put(&mut o.waits, site),
                "mbarrier.inval" | "mbarrier.check_layout" => {}
                "mbarrier.complete_tx" => put(&mut o.copies, site),
                "cp.async.mbarrier.arrive" | "tcgen05.commit" => put(&mut o.arrives, site),
                _ => put(&mut o.copies, site),
            }
        },
    );
    all
}

/// Blocks are not walked in the order of the text, but mostly.
fn put(list: &mut Vec<Site>, site: Site) {
    list.insert(list.partition_point(|s| s.at < site.at), site);
}

/// Is the instruction one of these, which are in the order of the text?
pub(super) fn among(list: &[Site], at: u32) -> bool {
    list.binary_search_by_key(&at, |s| s.at).is_ok()
}

pub(super) fn name(flow: &Flow, place: (u32, i64)) -> String {
    let name = flow.module.vars.get(place.0 as usize).map_or("", |v| v.name.as_str());
    if place.1 == 0 { name.to_string() } else { format!("{name}+{}", place.1) }
}

/// Can the block be reached from itself?
pub(super) fn in_loop(flow: &Flow, block: u32) -> bool {
    flow.cfg.in_loop(block)
}

fn many(set: &Set, n: usize) -> u64 {
    (0..n).filter(|t| set[t / 64] >> (t % 64) & 1 == 1).count() as u64
}

/// At most so many threads come there.
pub(super) fn most(who: &Who, lanes: &Lanes, n: usize) -> u64 {
    if who.elected { who.warps(lanes.threads).len() as u64 } else { many(&who.set, n) }
}

fn counts(flow: &Flow, lanes: &Lanes, places: &Places, objects: &Objects, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact else { return };
    for o in &objects.list {
        let [init] = o.inits.as_slice() else { continue };
        let Some(count) = constant(flow.cfg.instrs[init.at as usize], "count") else { continue };
        if in_loop(flow, init.block) || o.arrives.iter().any(|s| in_loop(flow, s.block)) {
            continue;
        }
        let mut come = 0u64;
        let mut clear = true;
        let mut over = None;
        for s in &o.arrives {
            let i = flow.cfg.instrs[s.at as usize];
            let who = places.who(flow, lanes, s.block, s.at);
            let each = match i.entry.opcode {
                // It adds one and takes it away, except with `.noinc`.
                "cp.async.mbarrier.arrive" => u64::from(i.has(".noinc")),
                "tcgen05.commit" => 1,
                _ if i.operand("count").is_some() => match constant(i, "count") {
                    Some(c) => c,
                    None => {
                        clear = false;
                        0
                    }
                },
                _ => 1,
            };
            clear &= i.entry.opcode != "mbarrier.arrive_drop";
            if !who.elected
                && !who.passed
                && surely(flow, lanes, *s)
                && each <= count
                && each.saturating_mul(most(&who, lanes, n)) > count
            {
                over = over.or(Some((i.span, each * most(&who, lanes, n))));
            }
            come = come.saturating_add(each.saturating_mul(most(&who, lanes, n)));
        }
        if !clear {
            continue;
        }
        let parity = |s: &Site| constant(flow.cfg.instrs[s.at as usize], "phaseParity");
        if let Some((span, come)) = over {
            let init = flow.cfg.instrs[init.at as usize].span;
            out.push(errors::more_arrive(span, &name(flow, o.place), count, come, init));
        }
        let first = o.waits.iter().find(|s| match parity(s) {
            Some(p) => p == 0,
            None => flow.cfg.instrs[s.at as usize].operand("state").is_some(),
        });
        // Who only looks once need not wait.
        if come < count
            && let Some(wait) = first
            && in_loop(flow, wait.block)
        {
            let span = flow.cfg.instrs[wait.at as usize].span;
            let init = flow.cfg.instrs[init.at as usize].span;
            out.push(errors::never_complete(span, &name(flow, o.place), count, come, init));
        } else if come <= count {
            second_phase(flow, o, out);
        }
    }
}

/// Objects in variables of the kernel that threads arrive on and wait for, and nobody initialises: other CTAs cannot, and functions
/// that are called are looked at too. An excerpt lacks that; it does not say how many threads there are either.
fn never_initialised(flow: &Flow, objects: &Objects, out: &mut Vec<Diagnostic>) {
    for o in objects.list.iter().filter(|o| o.inits.is_empty() && !o.arrives.is_empty() && !o.waits.is_empty()) {
        let sites = o.arrives.iter().chain(&o.waits).chain(&o.expects);
        let dynamic = flow.module.vars.get(o.place.0 as usize).is_none_or(|v| v.dynamic);
        if let Some(first) = sites.map(|s| s.at).min()
            && !dynamic
        {
            let name = name(flow, o.place);
            out.push(errors::never_initialised(flow.cfg.instrs[first as usize].span, &name));
        }
    }
}

/// Only one phase can complete, that of parity 0: who has arrived or copied and then waits for parity 1 waits for nothing.
fn second_phase(flow: &Flow, o: &Object, out: &mut Vec<Diagnostic>) {
    let begins = |at: u32| among(&o.arrives, at) || among(&o.copies, at);
    let mut said = false;
    // Whoever waits for what a copy brings, waits for the first phase too.
    let brought = o.copies.iter().any(|s| flow.cfg.instrs[s.at as usize].operand("dstMem").is_some());
    let first = |s: &&Site| constant(flow.cfg.instrs[s.at as usize], "phaseParity") == Some(1);
    if brought
        && o.copies.iter().chain(&o.arrives).all(|s| !in_loop(flow, s.block))
        && o.waits.iter().filter(first).count() == o.waits.len()
        && let Some(w) = o.waits.first()
        && let Some(arg) = flow.cfg.instrs[w.at as usize].operand("phaseParity")
    {
        out.push(errors::parity_of_no_phase(arg.span, &name(flow, o.place)));
        return;
    }
    let mut step = |at: u32, i: &Instr, set: &mut Bits| {
        if begins(at) {
            owe(set, 0);
        } else if mbarrier_wait(i) && constant(i, "phaseParity") != Some(1) && among(&o.waits, at) {
            settle(set, 0);
        }
    };
    debts(flow, 1, &mut step, &mut |_, at, i, set| {
        if !said
            && owed(set, 0)
            && among(&o.waits, at)
            && let Some(arg) = i.operand("phaseParity")
            && matches!(arg.value, Operand::Imm(1))
        {
            said = true;
            out.push(errors::parity_of_no_phase(arg.span, &name(flow, o.place)));
        }
    });
}

/// Bytes announced against bytes copied, where both are done equally often: one whenever the other, under one guard.
fn transactions(flow: &Flow, objects: &Objects, out: &mut Vec<Diagnostic>) {
    let loops = Loops::new(&flow.cfg);
    for o in &objects.list {
        let (Some(first), false) = (o.expects.first(), o.copies.is_empty()) else { continue };
        let guard = |s: &Site| {
            let g = flow.ssa.guard(s.at, flow.cfg.instrs[s.at as usize]);
            g.map(|(p, positive)| (flow.ssa.origin[p as usize], positive))
        };
        let with = |a: &Site, b: &Site| {
            a.block == b.block
                || (loops.same(a.block, b.block)
                    && dominates(&flow.cfg.idom, a.block, b.block)
                    && dominates(&flow.cfg.ipdom, b.block, a.block))
        };
        let same = |s: &Site| (with(first, s) || with(s, first)) && guard(s) == guard(first);
        // Behind a wait for the phase another one is under way.
        let sites = || o.expects.iter().chain(&o.copies);
        let before = |a: &Site, b: &Site| {
            if a.block == b.block { a.at < b.at } else { dominates(&flow.cfg.idom, a.block, b.block) }
        };
        let phases = o.waits.iter().any(|w| sites().any(|a| before(a, w)) && sites().any(|b| before(w, b)));
        if phases || !sites().all(same) {
            continue;
        }
        let expected = |s: &Site| {
            let i = flow.cfg.instrs[s.at as usize];
            constant(i, "txCount").or_else(|| constant(i, "tx_count"))
        };
        let copied = |s: &Site| {
            let i = flow.cfg.instrs[s.at as usize];
            match i.entry.opcode {
                "cp.async.bulk" | "cp.reduce.async.bulk" if !i.has(".ignore_oob") => constant(i, "size"),
                "clusterlaunchcontrol.try_cancel" => Some(16),
                "mbarrier.complete_tx" => constant(i, "txCount"),
                _ => None,
            }
        };
        let sum = |list: &[Site], f: &dyn Fn(&Site) -> Option<u64>| {
            list.iter().map(f).try_fold(0u64, |a, b| b.map(|b| a.saturating_add(b)))
        };
        let (Some(want), Some(come)) = (sum(&o.expects, &expected), sum(&o.copies, &copied)) else { continue };
        if want != come {
            let i = flow.cfg.instrs[first.at as usize];
            let arg = i.operand("txCount").or_else(|| i.operand("tx_count"));
            let copy = flow.cfg.instrs[o.copies[0].at as usize].span;
            out.push(errors::bytes_differ(arg.map_or(i.span, |a| a.span), &name(flow, o.place), want, come, copy));
        }
    }
}

/// Is a site run by all of `who.set`, once for each way there: does every branch on the way have a known, exact predicate?
pub(super) fn surely(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    certain(flow, lanes, s, false)
}

/// The same for each round of the loops that the site is in.
pub(super) fn each_round(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    certain(flow, lanes, s, true)
}

/// The same, but for predicates that are no function of the thread and stay what they are over all rounds.
pub(super) fn steadily(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    let steady = |p: u32| {
        let p = flow.ssa.origin[p as usize];
        let elected = matches!(lanes.facts.get(p as usize), Some(Fact::Pred(f)) if f.elected != [super::ssa::UNDEF; 2]);
        let before = flow.ssa.maker(p).is_some_and(|m| !in_loop(flow, lives::block_of(flow, m)));
        exact(flow, lanes, p) || elected || before
    };
    certain_by(flow, s, true, &steady)
}

/// Is it known for every thread whether it sees the predicate true?
fn exact(flow: &Flow, lanes: &Lanes, p: u32) -> bool {
    match lanes.facts.get(flow.ssa.origin[p as usize] as usize) {
        Some(Fact::Pred(f)) => {
            let (a, b) = (&lanes.sets[usize::from(f.yes)], &lanes.sets[usize::from(f.no)]);
            a.iter().zip(b).all(|(a, b)| a & b == 0)
        }
        _ => false,
    }
}

fn certain(flow: &Flow, lanes: &Lanes, s: Site, looped: bool) -> bool {
    certain_by(flow, s, looped, &|p| exact(flow, lanes, p))
}

fn certain_by(flow: &Flow, s: Site, looped: bool, known: &dyn Fn(u32) -> bool) -> bool {
    if flow.ssa.guard(s.at, flow.cfg.instrs[s.at as usize]).is_some_and(|(p, _)| !known(p)) {
        return false;
    }
    // Up the dominators: between each and the next there may be branches, but their ways all lead here again.
    let post = |b: u32, of: u32| {
        let mut at = of;
        loop {
            if at == b {
                return true;
            }
            let up = flow.cfg.ipdom.get(at as usize).copied().unwrap_or(super::cfg::NONE);
            if up == super::cfg::NONE || up == at {
                return false;
            }
            at = up;
        }
    };
    let mut at = s.block;
    loop {
        let up = flow.cfg.idom[at as usize];
        if up == super::cfg::NONE {
            return false;
        }
        if up == at {
            return true;
        }
        if !post(at, up) {
            let Some(branch) = flow.cfg.branch(up) else { return false };
            let i = flow.cfg.instrs[branch as usize];
            let direct = flow.cfg.blocks[up as usize].succ.iter().any(|e| e.to == at)
                && flow.cfg.blocks[at as usize].pred.iter().filter(|p| !looped || !under(flow, at, p.0)).count() == 1;
            // Where the other way leaves the loop, each round comes here.
            let leaves = || {
                let others = flow.cfg.blocks[up as usize].succ.iter().filter(|e| e.to != at);
                looped
                    && in_loop(flow, up)
                    && reaches(flow, s.block, up)
                    && others.into_iter().all(|e| !reaches(flow, e.to, s.block))
            };
            let told = direct && (flow.ssa.guard(branch, i).is_some_and(|(p, _)| known(p)) || leaves());
            if !told {
                return false;
            }
        }
        at = up;
    }
}

/// As what these threads count at a barrier, after others: each warp as 32, once, whose lanes may come to it at several places.
fn by_warps(met: &mut Set, set: &Set, n: usize) -> u64 {
    let mut come = 0;
    for w in 0..n.div_ceil(32) {
        let lanes = |s: &Set| (s[w / 2] >> (32 * (w % 2))) as u32;
        let (old, new) = (lanes(met), lanes(set));
        if new != 0 && (old == 0 || old & new != 0) {
            come += 32;
        }
    }
    met.iter_mut().zip(set).for_each(|(a, b)| *a |= b);
    come
}

/// Named barriers with a number of threads that is not the number of those who come.
fn named(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact else { return };
    struct Named {
        id: u64,
        count: u64,
        come: u64,
        /// The threads that come.
        set: Set,
        sure: bool,
        wait: Option<u32>,
    }
    let mut list: Vec<Named> = Vec::new();
    let mut unclear = false;
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let op = i.entry.opcode;
            if !(op.starts_with("bar.") || op.starts_with("barrier.")) || op.contains("warp") || op.contains("cluster")
            {
                return;
            }
            let Some(id) = constant(i, "a") else {
                unclear = true;
                return;
            };
            let s = Site { block: here.get(), at };
            let who = places.who(flow, lanes, s.block, s.at);
            let sure = i.operand("b").is_none_or(|_| constant(i, "b").is_some())
                && surely(flow, lanes, s)
                && !who.elected
                && !who.passed
                && !in_loop(flow, s.block);
            let count = constant(i, "b").unwrap_or(0);
            let wait = (!op.contains("arrive")).then_some(at);
            match list.iter_mut().find(|x| x.id == id) {
                Some(x) => {
                    x.come += by_warps(&mut x.set, &who.set, n);
                    x.sure &= sure && x.count == count;
                    x.wait = x.wait.or(wait);
                }
                None => {
                    let mut set = [0; super::lanes::THREADS / 64];
                    let come = by_warps(&mut set, &who.set, n);
                    list.push(Named { id, count, come, set, sure, wait });
                }
            }
        },
    );
    for x in list {
        if !unclear
            && x.sure
            && x.count > 0
            && x.come > 0
            && x.come % x.count != 0
            && let Some(at) = x.wait
        {
            let i = flow.cfg.instrs[at as usize];
            out.push(errors::barrier_count(i.operand("b").map_or(i.span, |b| b.span), x.id, x.count, x.come));
        }
    }
}
