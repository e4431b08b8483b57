//! Shared memory that some threads write and others read without synchronisation between (PTX ISA 8.7).

use crate::errors::completion as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise_warps;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use ptx_dsl_analysis::accesses::{value_access, written};
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::Region;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_analysis::threads::missing;
use ptx_dsl_isa::hir::{Instr, Space};
use ptx_dsl_isa::isa::{Barrier, Group, MemoryOp, Step};
use ptx_dsl_isa::meaning::access::plain_access;

/// More accesses than this are not compared with each other.
const MOST: usize = 48;

struct Access {
    at: u32,
    place: Region,
    /// A store by at most the threads of one warp; else a load by all threads.
    store: bool,
}

/// Returns whether it found a race.
pub(crate) fn check(kernel: &Kernel) -> bool {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return false };
    if n <= 32 || !flow.function.entry || flow.calls {
        return false;
    }
    let before = kernel.reported();
    neighbours(kernel, n);
    let mut list: Vec<Access> = Vec::new();
    let (mut stores, mut loads) = (false, false);
    for (block, at, i) in flow.walk() {
        if list.len() >= MOST || !matches!(value_access(i), MemoryOp::Load | MemoryOp::Store) || i.order().is_strong() {
            continue;
        }
        let Some((arg, writes)) = plain_access(i) else { continue };
        let Some(place) = kernel.region(at, arg, i.bytes()) else { continue };
        let constant =
            matches!(place.base, AddressBase::Var(_)) && matches!(place.bytes, Some((_, end)) if end != i64::MAX);
        if place.space != Space::Shared || place.mapped || !constant {
            continue;
        }
        let present = kernel.threads_at(block, at);
        // Elected lanes of several warps may write for their own warp.
        let counts = if writes {
            present.warps(lanes.cta_size).len() == 1
        } else {
            kernel.every_lane(&present, block, at) && missing(&present.set, n).is_none() && i.pred.is_none()
        };
        if counts {
            list.push(Access { at, place, store: writes });
            stores |= writes;
            loads |= !writes;
        }
    }
    if stores && loads {
        compare(kernel, &list);
    }
    kernel.reported() > before
}

fn compare(kernel: &Kernel, list: &[Access]) {
    let flow = kernel.flow;
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let synchronises = may_synchronise_warps(i);
        for (k, access) in list.iter().enumerate() {
            if synchronises {
                resolve(set, k);
            }
            if access.at == at {
                begin_pending(set, k);
            }
        }
    };
    let mut reported: Vec<u32> = Vec::new();
    for_each_pending(flow, list.len(), &step, &mut |_, at, i, set| {
        for now in list {
            let (true, AddressBase::Var(var)) = (now.at == at, now.place.base) else { continue };
            for (k, old) in list.iter().enumerate() {
                if old.store != now.store
                    && is_pending(set, k)
                    && old.place.overlaps(flow, &now.place)
                    && !reported.contains(&var.0)
                {
                    reported.push(var.0);
                    kernel.report(errors::race(
                        i.span,
                        flow.instr(old.at).span,
                        flow.name_of_bytes(var.0, now.place.bytes),
                        now.store,
                    ));
                }
            }
        }
    });
}

/// All threads store to their own element of a variable, then read one fixed element or a neighbour's, without synchronisation.
fn neighbours(kernel: &Kernel, n: usize) {
    let all = |at: u32, block: u32| {
        let present = kernel.threads_at(block, at);
        kernel.every_lane(&present, block, at) && missing(&present.set, n).is_none()
    };
    if let Some(stores) = own_places(kernel, &all) {
        read_by_others(kernel, &stores, &all);
    }
}

/// A store of all threads, each to its own element.
struct Store {
    at: u32,
    base: AddressBase,
    /// The value that the address is computed from, and a constant.
    value: (Val, i64),
    size: i64,
}

/// These stores, if nothing else may write to their variables.
fn own_places(kernel: &Kernel, all: &dyn Fn(u32, u32) -> bool) -> Option<Vec<Store>> {
    let Kernel { flow, lanes, .. } = *kernel;
    let mut stores: Vec<Store> = Vec::new();
    // Variables with other writes.
    let mut mixed: Vec<AddressBase> = Vec::new();
    for (block, at, i) in flow.walk() {
        let Some(arg) = written(i) else { continue };
        match kernel.region(at, arg, 1) {
            Some(p) if p.space != Space::Shared => {}
            Some(Region { base: base @ AddressBase::Var(_), bytes: b, value, mapped, .. }) => {
                let copy = i.entry.effects.group == Group::Copy(Step::Start);
                let size = if copy { i.constant("cp-size").unwrap_or(0) } else { i.bytes() };
                match value {
                    Some(value)
                        if b.is_none()
                            && !mapped
                            && (copy || value_access(i) == MemoryOp::Store)
                            && !i.order().is_strong()
                            && stores.len() < MOST
                            && all(at, block) =>
                    {
                        stores.push(Store { at, base, value, size: size as i64 });
                    }
                    _ => mixed.push(base),
                }
            }
            _ => return None,
        }
    }
    // All stores to the variable use one value, which varies between threads.
    let mut out = Vec::new();
    for s in &stores {
        let mut own =
            !mixed.contains(&s.base) && lanes.uniformity(s.value.0) == ptx_dsl_analysis::lanes::Uniformity::None;
        for other in &stores {
            own &= other.base != s.base || other.value.0 == s.value.0;
        }
        if own {
            out.push(Store { ..*s });
        }
    }
    if out.is_empty() { None } else { Some(out) }
}

fn read_by_others(kernel: &Kernel, stores: &[Store], all: &dyn Fn(u32, u32) -> bool) {
    let flow = kernel.flow;
    let n = stores.len();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let only_warp = i.entry.effects.barrier == Barrier::Warp;
        let synchronises = only_warp || may_synchronise_warps(i);
        for (k, store) in stores.iter().enumerate() {
            if synchronises {
                // The second half of the bits is also resolved by a warp barrier.
                resolve(set, n + k);
                if !only_warp && !matches!(i.entry.effects.group, Group::Copy(_) | Group::Bulk(_)) {
                    resolve(set, k);
                }
            }
            if store.at == at {
                begin_pending(set, k);
                begin_pending(set, n + k);
            }
        }
    };
    let mut reported = false;
    for_each_pending(flow, 2 * n, &step, &mut |b, at, i, set| {
        if reported || value_access(i) != MemoryOp::Load || i.order().is_strong() {
            return;
        }
        let Some((arg, false)) = plain_access(i) else { return };
        let Some(p) = kernel.region(at, arg, i.bytes()) else { return };
        let AddressBase::Var(var) = p.base else { return };
        if p.mapped || p.space != Space::Shared || !all(at, b) {
            return;
        }
        let fixed = matches!(p.bytes, Some((_, end)) if end != i64::MAX);
        let Some(first) = neighbour(stores, &p, i.bytes() as i64, fixed, set) else { return };
        reported = true;
        kernel.report(errors::race_of_all(i.span, flow.instr(first).span, flow.name_of_bytes(var.0, p.bytes)));
    });
}

/// The first store to a variable if `p` is another thread's element and all stores to the variable are pending.
fn neighbour(stores: &[Store], p: &Region, size: i64, fixed: bool, set: &Bits) -> Option<u32> {
    let mut first = None;
    let (mut beside, mut own) = (false, false);
    for (k, s) in stores.iter().enumerate() {
        let same = matches!(p.value, Some((v, _)) if v == s.value.0);
        beside |= same;
        if s.base != p.base {
            continue;
        }
        if !is_pending(set, if fixed { k } else { stores.len() + k }) {
            return None;
        }
        first = first.or(Some(s.at));
        own |= matches!(p.value, Some((_, o)) if same && s.value.1 <= o && o + size <= s.value.1 + s.size);
    }
    if fixed || (beside && !own) { first } else { None }
}
