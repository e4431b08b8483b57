//! Shared memory that one warp writes and all threads read with nothing between that makes warps meet (PTX ISA 8.7).

use super::Flow;
use super::converge::{Places, Who, every_lane};
use super::copies::mbarrier_wait;
use super::dataflow::Bits;
use super::lanes::Lanes;
use super::memory::{Region, bytes, debts, owe, owed, plain, region, settle};
use super::provenance::{Origin, Provenance};
use crate::diag::Diagnostic;
use crate::errors::completion as errors;
use crate::hir::{Instr, Space};

/// More accesses than this are not compared with each other.
const MOST: usize = 48;

struct Access {
    at: u32,
    place: Region,
    /// A store by at most the threads of one warp; else a load by all threads.
    store: Option<Who>,
}

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact.filter(|n| *n > 32) else { return };
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut list: Vec<Access> = Vec::new();
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            if list.len() >= MOST || !matches!(i.entry.opcode, "ld" | "st") || strong(i) {
                return;
            }
            let Some((arg, writes)) = plain(i) else { return };
            let Some(place) = region(flow, from, at, arg, bytes(i)) else { return };
            let constant = matches!(place.base, Origin::Var(_)) && place.bytes.is_some_and(|b| b.1 != i64::MAX);
            if place.space != Space::Shared || place.mapped || !constant {
                return;
            }
            let who = places.who(flow, lanes, here.get(), at);
            let all = every_lane(flow, lanes, &who, here.get(), at)
                && (0..n).all(|t| who.set[t / 64] >> (t % 64) & 1 == 1)
                && i.pred.is_none();
            // The elected lanes of all warps write each for its warp, or the same.
            let one = who.warps(lanes.threads).len() == 1;
            if writes && one {
                list.push(Access { at, place, store: Some(who) });
            } else if !writes && all {
                list.push(Access { at, place, store: None });
            }
        },
    );
    if !list.iter().any(|a| a.store.is_some()) || !list.iter().any(|a| a.store.is_none()) {
        return;
    }
    let mut step = |at: u32, i: &Instr, set: &mut Bits| {
        if meets(i) {
            (0..list.len()).for_each(|k| settle(set, k));
        }
        if let Some(k) = list.iter().position(|a| a.at == at) {
            owe(set, k);
        }
    };
    let mut said: Vec<u32> = Vec::new();
    debts(flow, list.len(), &mut step, &mut |_, at, i, set| {
        let Some(now) = list.iter().find(|a| a.at == at) else { return };
        let Origin::Var(var) = now.place.base else { return };
        for (k, old) in list.iter().enumerate() {
            let kinds = old.store.is_some() != now.store.is_some();
            if kinds && owed(set, k) && old.place.meets(flow, &now.place) && !said.contains(&var.0) {
                said.push(var.0);
                let name = flow.module.vars.get(var.0 as usize).map_or("", |v| v.name.as_str());
                out.push(errors::race(i.span, flow.cfg.instrs[old.at as usize].span, name, now.store.is_some()));
            }
        }
    });
}

fn strong(i: &Instr) -> bool {
    [".volatile", ".relaxed", ".acquire", ".release", ".mmio"].iter().any(|q| i.has(q))
}

/// Makes warps meet, or might.
fn meets(i: &Instr) -> bool {
    let op = i.entry.opcode;
    (op.starts_with("bar.") && op != "bar.warp.sync")
        || op.starts_with("barrier.")
        || op.starts_with("mbarrier.")
        || mbarrier_wait(i)
        || op.starts_with("cp.")
        || matches!(op, "call" | "atom" | "red" | "fence" | "membar" | "griddepcontrol")
        || strong(i)
}
