//! Shared memory that some threads write and others read with nothing between that makes them meet (PTX ISA 8.7).

use super::Flow;
use super::converge::{Places, Who, every_lane};
use super::copies::mbarrier_wait;
use super::dataflow::Bits;
use super::lanes::Lanes;
use super::memory::{Region, bytes, debts, owe, owed, plain, region, settle};
use super::provenance::{Origin, Provenance};
use crate::errors::completion as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Space};
use ptx_dsl_table::list::List;

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
    neighbours(flow, lanes, places, from, n, out);
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

/// All threads store, each to a place of its own in a variable, and then read one place of it, or that of a neighbour, with
/// nothing between: what is read is another thread's, of another warp for most.
fn neighbours(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, n: usize, out: &mut Vec<Diagnostic>) {
    struct Store {
        at: u32,
        place: Region,
        size: i64,
    }
    let mut stores: Vec<Store> = Vec::new();
    // Variables that others write too: nothing is known of their parts.
    let mut mixed: Vec<Origin> = Vec::new();
    let mut unclear = false;
    let here = std::cell::Cell::new(0);
    let all = |at: u32, block: u32| {
        let who = places.who(flow, lanes, block, at);
        every_lane(flow, lanes, &who, block, at) && (0..n).all(|t| who.set[t / 64] >> (t % 64) & 1 == 1)
    };
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let copy = i.entry.opcode == "cp.async";
            let writer = match plain(i) {
                Some((arg, true)) => Some(arg),
                Some(_) => None,
                None => ["dst", "dstMem"].iter().find_map(|n| i.operand(n)),
            };
            let writer = writer.or_else(|| {
                let other = ["st.", "red.", "multimem", "tcgen05.alloc", "clusterlaunch", "mbarrier.init"];
                i.operand("addr").filter(|_| other.iter().any(|p| i.entry.opcode.starts_with(p)))
            });
            let Some(arg) = writer else { return };
            let place = region(flow, from, at, arg, 1);
            match place {
                Some(p) if p.space != Space::Shared => {}
                Some(p) if matches!(p.base, Origin::Var(_)) => {
                    let own = p.bytes.is_none()
                        && p.value.is_some()
                        && !p.mapped
                        && (copy || i.entry.opcode == "st")
                        && !strong(i)
                        && all(at, here.get());
                    let size = if copy { super::memory::constant(i, "cp-size").unwrap_or(0) } else { bytes(i) };
                    if own && stores.len() < MOST {
                        stores.push(Store { at, place: p, size: size as i64 });
                    } else {
                        mixed.push(p.base);
                    }
                }
                _ => unclear |= !i.has(".global") && !i.has(".local") && !i.has(".bulk_group"),
            }
        },
    );
    // Each thread's place is made from one number, which differs from thread to thread, or is not known to be the same.
    stores.retain(|s| !mixed.contains(&s.place.base));
    let bases = stores.iter().filter_map(|s| Some((s.place.base, s.place.value?.0))).list();
    stores.retain(|s| {
        bases.iter().all(|b| b.0 != s.place.base || Some(b.1) == s.place.value.map(|v| v.0))
            && s.place.value.is_some_and(|v| lanes.shared(v.0) == super::lanes::Shared::No)
    });
    if stores.is_empty() || unclear {
        return;
    }
    let mut step = |at: u32, i: &Instr, set: &mut Bits| {
        if meets(i) || i.entry.opcode == "bar.warp.sync" {
            let only_warp = i.entry.opcode == "bar.warp.sync";
            for k in 0..stores.len() {
                // Debts of the second half are those that a warp alone can settle.
                settle(set, stores.len() + k);
                if !only_warp && !i.entry.opcode.starts_with("cp.") {
                    settle(set, k);
                }
            }
        }
        if let Some(k) = stores.iter().position(|s| s.at == at) {
            owe(set, k);
            owe(set, stores.len() + k);
        }
    };
    let mut said = false;
    debts(flow, 2 * stores.len(), &mut step, &mut |b, at, i, set| {
        let Some((arg, false)) = plain(i).filter(|_| !said && i.entry.opcode == "ld" && !strong(i)) else { return };
        let size = bytes(i) as i64;
        let Some(p) = region(flow, from, at, arg, bytes(i)).filter(|p| !p.mapped && p.space == Space::Shared) else {
            return;
        };
        if !all(at, b) {
            return;
        }
        let mut of_it = stores.iter().enumerate().filter(|(_, s)| s.place.base == p.base).peekable();
        let Some(first) = of_it.peek().map(|(_, s)| s.at) else { return };
        let own = |s: &Store| match (s.place.value, p.value) {
            (Some((v, o)), Some((w, q))) => v == w && o <= q && q + size <= o + s.size,
            _ => false,
        };
        let fixed = p.bytes.is_some_and(|b| b.1 != i64::MAX);
        let beside = p.value.is_some_and(|(w, _)| stores.iter().any(|s| s.place.value.is_some_and(|v| v.0 == w)));
        let every = of_it.clone().all(|(k, _)| owed(set, if fixed { k } else { stores.len() + k }));
        if every && (fixed || (beside && !of_it.any(|(_, s)| own(s)))) {
            said = true;
            let Origin::Var(var) = p.base else { return };
            let name = flow.module.vars.get(var.0 as usize).map_or("", |v| v.name.as_str());
            out.push(errors::race_of_all(i.span, flow.cfg.instrs[first as usize].span, name));
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
