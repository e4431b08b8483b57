//! Cluster launch control (PTX ISA 9.7.13.17, 9.7.13.18), the cluster barrier (9.7.13.3), mbarriers before their init
//! (9.7.13.15.9).

use super::Flow;
use super::ask::begins_any;
use super::converge::Places;
use super::copies::mbarrier_wait;
use super::dataflow::{Bits, both, each};
use super::lanes::Lanes;
use super::mbarriers::mbarrier;
use super::paths::{Hit, Paths, Step};
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

/// Lets threads meet, or might: what others did before is then done.
fn meets(i: &Instr) -> bool {
    let op = i.entry.opcode;
    op.starts_with("bar.")
        || op.starts_with("barrier.")
        || op.ends_with(".sync")
        || matches!(op, "call" | "atom" | "red" | "griddepcontrol" | "match" | "fence" | "membar")
        || (op == "ld" && i.has_any(&[".acquire", ".relaxed", ".volatile"]))
        || mbarrier_wait(i)
}

/// The response of `try_cancel` is there when a wait on its mbarrier says so.
fn responses(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut reads = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.entry.opcode == "clusterlaunchcontrol.query_cancel" {
            for (_, v) in flow.ssa.uses(at) {
                made_of_loads(flow, *v, 2, &mut reads);
            }
        }
    }
    let asks = flow.cfg.find(&|i| i.entry.opcode == "clusterlaunchcontrol.try_cancel");
    let (Some(asks), false) = (asks, reads.is_empty()) else { return };
    let waits = flow.calls || flow.cfg.any(&mbarrier_wait);
    // 0: asked, and neither a wait nor any meeting of threads since; 1: asked, and no wait since; 2: asked, and then a wait.
    let step = |_: u32, i: &Instr, set: &mut Bits| {
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
    let mut said = false;
    each(&flow.cfg, 3, &step, &mut |_, at, i, set| {
        if !said && (set.has(0) || (set.has(1) && !waits)) && reads.contains(&at) {
            said = true;
            out.push(errors::response_not_awaited(i.span, asks.span, !set.has(2)));
        }
    });
}

/// The loads that a value comes from: put together from halves, or from quarters.
fn made_of_loads(flow: &Flow, v: Val, moves: u32, out: &mut Vec<u32>) {
    let Some(maker) = flow.ssa.maker(v) else { return };
    match flow.instr(maker).entry.opcode {
        "ld" => out.push(maker),
        "mov" if moves > 0 => {
            for (_, part) in flow.ssa.uses(maker) {
                made_of_loads(flow, *part, moves - 1, out);
            }
        }
        _ => {}
    }
}

/// `get_first_ctaid` of a failed response is undefined.
fn first_ctaid(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let canceled = |v: u32| places.canceled.contains(&flow.origin(v));
    // A predicate that goes into a number or a formula may guard in ways that are not followed here.
    let mut elsewhere = false;
    for (_, at, _) in flow.walk() {
        for (_, v) in flow.ssa.uses(at) {
            elsewhere |= canceled(*v) && !matches!(flow.guard(at), Some((p, _)) if p == *v);
        }
    }
    for (block, at, i) in flow.walk() {
        if i.entry.opcode != "clusterlaunchcontrol.query_cancel" || i.has(".is_canceled") {
            continue;
        }
        let guard = flow.guard(at);
        let known = match guard {
            Some((p, positive)) if canceled(p) => Some(positive),
            _ => {
                let mut known = None;
                for c in &places.canceled {
                    if known != Some(true) {
                        known = places.known(flow, block, *c).or(known);
                    }
                }
                known
            }
        };
        match known {
            Some(true) => {}
            Some(false) => out.push(errors::first_ctaid(i.span, true, true)),
            None if guard.is_none() && !elsewhere && flow.function.entry => {
                // Sure where nothing ever asks, or where what asked leads here whatever the answer is.
                let mut sure = places.canceled.is_empty() && !flow.calls;
                for (_, v) in flow.ssa.uses(at) {
                    sure = sure || straight(flow, lanes, *v, at);
                }
                out.push(errors::first_ctaid(i.span, sure, false));
            }
            None => {}
        }
    }
}

/// Is this response asked about, and then decoded at `goal` although the answer was no?
fn straight(flow: &Flow, lanes: &Lanes, response: Val, goal: u32) -> bool {
    let response = flow.origin(response);
    let mut goes = |at: u32, i: &Instr| match i.entry.opcode {
        _ if at == goal => Step::Found,
        "clusterlaunchcontrol.query_cancel" if i.has(".is_canceled") => Step::Stop,
        _ => Step::Go,
    };
    for (block, at, p) in queries(flow) {
        let mut same = false;
        for (_, v) in flow.ssa.uses(at) {
            same |= flow.origin(*v) == response;
        }
        let hit = if same { Paths::new(flow, lanes).behind(block, at, Some((p, false)), &mut goes) } else { None };
        if matches!(hit, Some(hit) if hit.certain) {
            return true;
        }
    }
    false
}

/// Where responses are asked about: block, instruction, predicate.
fn queries(flow: &Flow) -> Vec<(u32, u32, Val)> {
    let mut list = Vec::new();
    for (block, at, i) in flow.walk() {
        if i.entry.opcode == "clusterlaunchcontrol.query_cancel"
            && i.has(".is_canceled")
            && i.pred.is_none()
            && let Some((_, v)) = flow.ssa.defs(at).first()
            && list.len() < 16
        {
            list.push((block, at, *v));
        }
    }
    list
}

/// `try_cancel` on a way that a failed response leads to.
fn asked_again(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut said = Vec::new();
    for (block, query, p) in queries(flow) {
        let depends = |v: Val| depends(flow, block, v);
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
            let [ask, query] = [hit.at, query].map(|at| flow.instr(at).span);
            out.push(completion::asks_again(ask, query, hit.certain));
        }
    }
}

/// May the value depend on the answer to the query at the end of this block? Then it is not guessed: loads, shuffles, and
/// values that meet behind the query.
fn depends(flow: &Flow, query: u32, v: Val) -> bool {
    let mut seen = Vec::new();
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > 64 {
            return true;
        }
        match &flow.ssa.values[v as usize] {
            Value::Def { instr, .. } => {
                let i = flow.instr(*instr);
                if mbarrier_wait(i) {
                    continue;
                }
                if answers(i) {
                    return true;
                }
                flow.ssa.push_sources(v, &mut stack);
            }
            // The counter of a loop around the query does not; what it became behind the query was looked at.
            Value::Phi { block: join, .. } if flow.cfg.dominates(*join, query) => {}
            Value::Phi { .. } => return true,
            _ => {}
        }
    }
    false
}

/// May it bring what the answer to a query says?
fn answers(i: &Instr) -> bool {
    let op = i.entry.opcode;
    if op == "ld" {
        return !i.has(".param") && !i.has(".const");
    }
    begins_any(op, &["shfl", "vote", "match", "redux", "atom", "bar", "clusterlaunch", "call"])
}

/// Each thread arrives once, waits once, and so on.
fn cluster_barrier(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let step = |_: u32, i: &Instr, set: &mut Bits, every: bool| match i.entry.opcode {
        "barrier.cluster.arrive" if !every || i.pred.is_none() => set.set(0),
        "barrier.cluster.wait" if every || i.pred.is_none() => set.unset(0),
        "call" => set.put(0, !every),
        _ => {}
    };
    let mut said = false;
    both(&flow.cfg, 1, &step, &mut |_, i, any, every| match i.entry.opcode {
        "barrier.cluster.arrive" if every.has(0) && i.pred.is_none() => {
            out.push(errors::arrives_twice(i.span, true));
            said = true;
        }
        "barrier.cluster.wait" if !any.has(0) && flow.function.entry => {
            out.push(errors::wait_without_arrive(i.span, true));
            said = true;
        }
        _ => {}
    });
    if !said && flow.function.entry && !flow.calls {
        out_of_step(flow, lanes, out);
    }
}

/// The same on some path.
fn out_of_step(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let arrives = |i: &Instr| i.entry.opcode == "barrier.cluster.arrive";
    let waits = |i: &Instr| i.entry.opcode == "barrier.cluster.wait";
    let next = |i: &Instr, from_arrive: bool| {
        if arrives(i) {
            if from_arrive { Step::Found } else { Step::Stop }
        } else if waits(i) {
            if from_arrive { Step::Stop } else { Step::Found }
        } else {
            Step::Go
        }
    };
    let mut paths = Paths::new(flow, lanes);
    let mut said = Vec::new();
    let mut say = |hit: Option<Hit>, arrive: bool| {
        if let Some(hit) = hit
            && !said.contains(&hit.at)
        {
            said.push(hit.at);
            let span = flow.instr(hit.at).span;
            out.push(if arrive {
                errors::arrives_twice(span, false)
            } else {
                errors::wait_without_arrive(span, false)
            });
        }
    };
    say(paths.at_entry(&mut |_, i| next(i, false)), false);
    let mut sites = 0;
    for (block, at, i) in flow.walk() {
        let arrive = arrives(i);
        if (arrive || waits(i)) && sites < 16 {
            sites += 1;
            say(paths.behind(block, at, None, &mut |_, i| next(i, arrive)), arrive);
        }
    }
}

/// Uses of an mbarrier on whose every path neither its init nor any meeting with the thread that might do it comes first.
fn before_init(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut inits: Vec<(u32, i64)> = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.entry.opcode == "mbarrier.init" {
            let Some(o) = object(flow, from, at, i, "addr") else { return };
            if !inits.contains(&o) && inits.len() < 64 {
                inits.push(o);
            }
        }
    }
    if !inits.is_empty() {
        uses_before(flow, from, &inits, out);
    }
}

fn uses_before(flow: &Flow, from: &Provenance, inits: &[(u32, i64)], out: &mut Vec<Diagnostic>) {
    // The number of the object that an operand names.
    let number = |at: u32, i: &Instr, name: &str| {
        let o = object(flow, from, at, i, name)?;
        inits.iter().position(|x| *x == o)
    };
    let n = inits.len() + 1;
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if meets(i) {
            set.fill();
        } else if i.entry.opcode == "mbarrier.init"
            && let Some(k) = number(at, i, "addr")
        {
            set.set(k);
        }
    };
    let mut said = Bits::none(n);
    each(&flow.cfg, n, &step, &mut |_, at, i, set| {
        if !matches!(i.entry.opcode, "mbarrier.init" | "mbarrier.inval" | "mbarrier.check_layout")
            && let Some(k) = number(at, i, mbarrier(i))
            && !set.has(k)
            && !said.has(k)
        {
            said.set(k);
            out.push(errors::before_init(i.span, flow.variable(inits[k].0)));
        }
    });
}

/// The object that the operand of this name is the address of: variable and offset.
fn object(flow: &Flow, from: &Provenance, at: u32, i: &Instr, name: &str) -> Option<(u32, i64)> {
    for a in &i.operands {
        if a.name == name && a.role == Role::Addr {
            let Operand::Address(base, offset) = &a.value else { return None };
            let (var, first) = match base {
                Base::Var(v) => (v.0, 0),
                Base::Reg(r) => from.variable(flow.ssa.read(at, *r, 0))?,
                Base::Abs => return None,
            };
            return Some((var, first.checked_add(*offset)?));
        }
    }
    None
}
