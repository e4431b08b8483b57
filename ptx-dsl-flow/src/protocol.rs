//! Cluster launch control (PTX ISA 9.7.13.17, 9.7.13.18), the cluster barrier (9.7.13.3), mbarriers before their init
//! (9.7.13.15.9).

use super::Flow;
use super::converge::Places;
use super::dataflow::{Bits, Meet, simple};
use super::lanes::Lanes;
use super::paths::{Paths, Step};
use super::provenance::Provenance;
use super::ssa::{Val, Value};
use crate::errors::{completion, flow as errors};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Base, Instr, Operand};
use ptx_dsl_table::isa::Role;

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let has = |prefix: &str| flow.cfg.has(prefix);
    if has("clusterlaunchcontrol.") {
        responses(flow, out);
        first_ctaid(flow, lanes, places, out);
        asked_again(flow, lanes, out);
    }
    if has("barrier.cluster.") {
        cluster_barrier(flow, lanes, out);
    }
    if has("mbarrier.init") {
        before_init(flow, from, out);
    }
}

fn mbarrier_wait(i: &Instr) -> bool {
    matches!(i.entry.opcode, "mbarrier.try_wait" | "mbarrier.test_wait")
}

/// Lets threads meet, or might: what others did before is then done.
fn meets(i: &Instr) -> bool {
    let op = i.entry.opcode;
    op.starts_with("bar.")
        || op.starts_with("barrier.")
        || op.ends_with(".sync")
        || matches!(op, "call" | "atom" | "red" | "griddepcontrol" | "match" | "fence" | "membar")
        || (op == "ld" && [".acquire", ".relaxed", ".volatile"].iter().any(|q| i.has(q)))
        || mbarrier_wait(i)
}

/// The response of `try_cancel` is there when a wait on its mbarrier says so.
fn responses(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut reads = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if i.entry.opcode != "clusterlaunchcontrol.query_cancel" {
                return;
            }
            for (_, v) in flow.ssa.uses(at) {
                let Some(maker) = flow.ssa.maker(*v) else { continue };
                let made = flow.cfg.instrs[maker as usize];
                match made.entry.opcode {
                    "ld" => reads.push(maker),
                    // Put together from halves, or from quarters.
                    "mov" => {
                        let parts = |m: u32| flow.ssa.uses(m).iter().filter_map(|u| flow.ssa.maker(u.1));
                        for half in parts(maker) {
                            reads.push(half);
                            if flow.cfg.instrs[half as usize].entry.opcode == "mov" {
                                reads.extend(parts(half));
                            }
                        }
                    }
                    _ => {}
                }
            }
        },
    );
    reads.retain(|r| flow.cfg.instrs[*r as usize].entry.opcode == "ld");
    let asks = flow.cfg.find(&|i| i.entry.opcode == "clusterlaunchcontrol.try_cancel");
    let (Some(asks), false) = (asks, reads.is_empty()) else { return };
    let waits = flow.calls || flow.cfg.any(&mbarrier_wait);
    // 0: asked, and neither a wait nor any meeting of threads since; 1: asked, and no wait since; 2: asked, and then a wait.
    let step = |i: &Instr, set: &mut Bits| {
        if i.entry.opcode == "clusterlaunchcontrol.try_cancel" {
            set.set(0);
            set.set(1);
            set.unset(2);
        } else if mbarrier_wait(i) || i.entry.opcode == "call" {
            let asked = set.has(1);
            set.clear();
            set.put(2, asked);
        } else if i.entry.opcode != "fence" && meets(i) {
            set.unset(0);
        }
    };
    let at_start = simple(&flow.cfg, 3, Meet::Any, &mut |_, i, s| step(i, s));
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if reads.contains(&at) && (set.has(0) || (set.has(1) && !waits)) {
                out.push(errors::response_not_awaited(i.span, asks.span, !set.has(2)));
                return;
            }
            step(i, &mut set);
        }
    }
}

/// `get_first_ctaid` of a failed response is undefined.
fn first_ctaid(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let canceled = |v: u32| places.canceled.contains(&flow.ssa.origin[v as usize]);
    // A predicate that goes into a number or a formula may guard in ways that are not followed here.
    let mut elsewhere = false;
    flow.walk(
        |_| {},
        |at, i| {
            let guard = flow.ssa.guard(at, i).map(|g| g.0);
            elsewhere |= flow.ssa.uses(at).iter().any(|u| canceled(u.1) && Some(u.1) != guard);
        },
    );
    let block_of = std::cell::Cell::new(0);
    flow.walk(
        |b| block_of.set(b),
        |at, i| {
            if i.entry.opcode != "clusterlaunchcontrol.query_cancel" || i.has(".is_canceled") {
                return;
            }
            let guard = flow.ssa.guard(at, i);
            let known = match guard {
                Some((p, positive)) if canceled(p) => Some(positive),
                _ => {
                    let known = places.canceled.iter().map(|c| places.known(flow, block_of.get(), *c));
                    known.fold(None, |a, b| if a == Some(true) { a } else { b.or(a) })
                }
            };
            match known {
                Some(true) => {}
                Some(false) => out.push(errors::first_ctaid(i.span, true, true)),
                None if guard.is_none() && !elsewhere && flow.function.entry => {
                    // Sure where nothing ever asks, or where what asked leads here whatever the answer is.
                    let sure = (places.canceled.is_empty() && !flow.calls)
                        || flow.ssa.uses(at).iter().any(|u| straight(flow, lanes, u.1, at));
                    out.push(errors::first_ctaid(i.span, sure, false));
                }
                None => {}
            }
        },
    );
}

/// Is this response asked about, and then decoded at `goal` although the answer was no?
fn straight(flow: &Flow, lanes: &Lanes, response: Val, goal: u32) -> bool {
    let response = flow.ssa.origin[response as usize];
    queries(flow).into_iter().any(|(block, at, p)| {
        let same = flow.ssa.uses(at).iter().any(|u| flow.ssa.origin[u.1 as usize] == response);
        let mut paths = Paths::new(flow, lanes);
        let goes = |at: u32, i: &Instr| match i.entry.opcode {
            _ if at == goal => Step::Found,
            "clusterlaunchcontrol.query_cancel" if i.has(".is_canceled") => Step::Stop,
            _ => Step::Go,
        };
        same && paths.behind(block, at, Some((p, false)), &mut |at, i| goes(at, i)).is_some_and(|hit| hit.certain)
    })
}

/// Where responses are asked about: block, instruction, predicate.
fn queries(flow: &Flow) -> Vec<(u32, u32, Val)> {
    let mut list = Vec::new();
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            if i.entry.opcode == "clusterlaunchcontrol.query_cancel"
                && i.has(".is_canceled")
                && i.pred.is_none()
                && let Some((_, v)) = flow.ssa.defs(at).first()
                && list.len() < 16
            {
                list.push((here.get(), at, *v));
            }
        },
    );
    list
}

/// `try_cancel` on a way that a failed response leads to.
fn asked_again(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut said = Vec::new();
    for (block, query, p) in queries(flow) {
        // What may depend on the answer is not guessed: loads, shuffles, and values that meet behind the query.
        let depends = |v: Val| {
            let mut seen = Vec::new();
            let mut stack = vec![v];
            while let Some(v) = stack.pop() {
                let v = flow.ssa.origin[v as usize];
                if seen.contains(&v) {
                    continue;
                }
                seen.push(v);
                if seen.len() > 64 {
                    return true;
                }
                match &flow.ssa.values[v as usize] {
                    Value::Def { instr, old, .. } => {
                        let i = flow.cfg.instrs[*instr as usize];
                        let op = i.entry.opcode;
                        let fixed = op == "ld" && (i.has(".param") || i.has(".const"));
                        if mbarrier_wait(i) {
                            continue;
                        }
                        if (op == "ld" && !fixed)
                            || ["shfl", "vote", "match", "redux", "atom", "bar", "clusterlaunch", "call"]
                                .iter()
                                .any(|p| op.starts_with(p))
                        {
                            return true;
                        }
                        stack.extend(flow.ssa.uses(*instr).iter().map(|u| u.1));
                        stack.extend(old);
                    }
                    // The counter of a loop around the query does not; what it became behind the query was looked at.
                    Value::Phi { block: join, .. } if flow.cfg.dominates(*join, block) => {}
                    Value::Phi { .. } => return true,
                    _ => {}
                }
            }
            false
        };
        let mut paths = Paths::new(flow, lanes);
        paths.no_guess = Some(&depends);
        let hit = paths.behind(block, query, Some((p, false)), &mut |_, i| match i.entry.opcode {
            "clusterlaunchcontrol.try_cancel" => Step::Found,
            "clusterlaunchcontrol.query_cancel" if i.has(".is_canceled") => Step::Stop,
            _ => Step::Go,
        });
        if let Some(hit) = hit
            && !said.contains(&hit.at)
        {
            said.push(hit.at);
            let [ask, query] = [hit.at, query].map(|at| flow.cfg.instrs[at as usize].span);
            out.push(completion::asks_again(ask, query, hit.certain));
        }
    }
}

/// Each thread arrives once, waits once, and so on.
fn cluster_barrier(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let step = |i: &Instr, set: &mut Bits, every: bool| match i.entry.opcode {
        "barrier.cluster.arrive" if !every || i.pred.is_none() => set.set(0),
        "barrier.cluster.wait" if every || i.pred.is_none() => set.unset(0),
        "call" => set.put(0, !every),
        _ => {}
    };
    let any = simple(&flow.cfg, 1, Meet::Any, &mut |_, i, s| step(i, s, false));
    let every = simple(&flow.cfg, 1, Meet::Every, &mut |_, i, s| step(i, s, true));
    let mut said = false;
    for &b in &flow.cfg.rpo {
        let (mut any, mut every) = (any[b as usize].clone(), every[b as usize].clone());
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            match i.entry.opcode {
                "barrier.cluster.arrive" if every.has(0) && i.pred.is_none() => {
                    out.push(errors::arrives_twice(i.span, true));
                    said = true;
                }
                "barrier.cluster.wait" if !any.has(0) && flow.function.entry => {
                    out.push(errors::wait_without_arrive(i.span, true));
                    said = true;
                }
                _ => {}
            }
            step(i, &mut any, false);
            step(i, &mut every, true);
        }
    }
    if !said && flow.function.entry && !flow.calls {
        out_of_step(flow, lanes, out);
    }
}

/// The same on some path.
fn out_of_step(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let arrives = |i: &Instr| i.entry.opcode == "barrier.cluster.arrive";
    let waits = |i: &Instr| i.entry.opcode == "barrier.cluster.wait";
    let next = |i: &Instr, from_arrive: bool| match (arrives(i), waits(i)) {
        (true, _) => {
            if from_arrive {
                Step::Found
            } else {
                Step::Stop
            }
        }
        (_, true) => {
            if from_arrive {
                Step::Stop
            } else {
                Step::Found
            }
        }
        _ => Step::Go,
    };
    let mut paths = Paths::new(flow, lanes);
    let mut hits = vec![(paths.at_entry(&mut |_, i| next(i, false)), false)];
    let mut sites = Vec::new();
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            if (arrives(i) || waits(i)) && sites.len() < 16 {
                sites.push((here.get(), at, arrives(i)));
            }
        },
    );
    for (block, at, arrive) in sites {
        hits.push((paths.behind(block, at, None, &mut |_, i| next(i, arrive)), arrive));
    }
    let mut said = Vec::new();
    for (hit, arrive) in hits {
        let Some(hit) = hit.filter(|h| !said.contains(&h.at)) else { continue };
        said.push(hit.at);
        let span = flow.cfg.instrs[hit.at as usize].span;
        out.push(if arrive { errors::arrives_twice(span, false) } else { errors::wait_without_arrive(span, false) });
    }
}

/// Uses of an mbarrier on whose every path neither its init nor any meeting with the thread that might do it comes first.
fn before_init(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    // Objects by variable and offset.
    let object = |at: u32, i: &Instr, name: &str| -> Option<(u32, i64)> {
        let arg = i.operands.iter().find(|a| a.name == name && a.role == Role::Addr)?;
        let Operand::Address(base, offset) = &arg.value else { return None };
        match base {
            Base::Var(v) => Some((v.0, *offset)),
            Base::Reg(r) => {
                let (var, off) = from.variable(flow.ssa.read(at, *r, 0))?;
                Some((var, off.checked_add(*offset)?))
            }
            Base::Abs => None,
        }
    };
    let mut inits: Vec<(u32, i64)> = Vec::new();
    let mut unclear = false;
    flow.walk(
        |_| {},
        |at, i| {
            if i.entry.opcode == "mbarrier.init" {
                match object(at, i, "addr") {
                    Some(o) if !inits.contains(&o) && inits.len() < 64 => inits.push(o),
                    Some(_) => {}
                    None => unclear = true,
                }
            }
        },
    );
    if inits.is_empty() || unclear {
        return;
    }
    let n = inits.len() + 1;
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if meets(i) {
            set.fill();
        } else if i.entry.opcode == "mbarrier.init"
            && let Some(k) = object(at, i, "addr").and_then(|o| inits.iter().position(|x| *x == o))
        {
            set.set(k);
        }
    };
    let any = simple(&flow.cfg, n, Meet::Any, &mut |at, i, s| step(at, i, s));
    let mut said = Bits::none(n);
    for &b in &flow.cfg.rpo {
        let mut set = any[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            let name = if i.entry.opcode.starts_with("mbarrier.") { "addr" } else { "mbar" };
            let uses = !matches!(i.entry.opcode, "mbarrier.init" | "mbarrier.inval" | "mbarrier.check_layout");
            if uses
                && let Some(o) = object(at, i, name)
                && let Some(k) = inits.iter().position(|x| *x == o)
                && !set.has(k)
                && !said.has(k)
            {
                said.set(k);
                let name = flow.module.vars.get(o.0 as usize).map_or("", |v| v.name.as_str());
                out.push(errors::before_init(i.span, name));
            }
            step(at, i, &mut set);
        }
    }
}
