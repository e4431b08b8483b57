//! Scopes that include both sides of a synchronisation (PTX ISA 8.5), release and acquire patterns (8.8), polling loops without
//! acquire.

use crate::errors::order as errors;
use crate::kernel::Kernel;
use crate::pending::{begin_pending, for_each_pending, is_pending};
use crate::sync::objects::mbarrier_operand;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, multicast, value_access};
use ptx_dsl_analysis::ctas::{Conditions, Ctas, exclusive};
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::{MAX_REGIONS, Region};
use ptx_dsl_isa::hir::{Instr, Space};
use ptx_dsl_isa::isa::{Fence, Mbarrier, MemoryOp};
use ptx_dsl_isa::meaning::order::{Scope, Sem};
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::q;

mod polled;

mod devices;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let has = |op: Opcode| flow.cfg.has(op);
    if has(op::mapa) {
        remote(kernel);
    }
    if has(op::mapa) || flow.cfg.any(&multicast) {
        waits(kernel);
    }
    let strong = flow.cfg.any(&|i| strong(i) || i.order().sem == Sem::Relaxed);
    if !strong {
        return;
    }
    if !flow.calls {
        polled::check(kernel);
    }
    if flow.function.entry && !flow.calls {
        flags(kernel);
    }
}

/// Is it a strong operation of the memory model?
fn strong(i: &Instr) -> bool {
    match value_access(i) {
        MemoryOp::None | MemoryOp::Copy => false,
        MemoryOp::Load | MemoryOp::Store | MemoryOp::Atomic | MemoryOp::Reduction => i.order().is_strong(),
    }
}

fn acquires(i: &Instr) -> bool {
    i.order().acquires() && value_access(i).returns()
}

fn releases(i: &Instr) -> bool {
    i.order().releases() && value_access(i).stores()
}

/// Is it a memory fence of the generic proxy?
fn fence(i: &Instr) -> bool {
    i.entry.effects.fence == Fence::Memory
}

/// Operations with CTA scope on memory of another CTA.
fn remote(kernel: &Kernel) {
    let flow = kernel.flow;
    for (_, at, i) in flow.walk() {
        let mbarrier = i.entry.effects.mbarrier;
        let counts = matches!(mbarrier, Mbarrier::ExpectTx | Mbarrier::CompleteTx);
        let object = counts || mbarrier.arrives();
        if !i.has(q::cta) || !(object || strong(i)) {
            continue;
        }
        let Some(arg) = i.address() else { continue };
        if !matches!(kernel.region(at, arg, 8), Some(r) if r.mapped && r.space == Space::Shared) {
            continue;
        }
        if object {
            let relaxed = i.has(q::relaxed) && !counts;
            kernel.report(errors::scope_too_narrow(i.place_of(q::cta), !relaxed));
        } else if !i.has(q::shared) && !i.has(q::shared_cta) {
            kernel.report(errors::peer_out_of_scope(i.place_of(q::cta), i.entry.opcode, acquires(i) || releases(i)));
        }
    }
}

/// Waits with CTA scope on objects that other CTAs arrive on, or complete bytes on.
fn waits(kernel: &Kernel) {
    let flow = kernel.flow;
    // Variables whose objects get cluster-scope arrivals from other CTAs; whether some store goes to another CTA.
    let mut wide: Vec<u32> = Vec::new();
    let mut stores = false;
    for (_, at, i) in flow.walk() {
        // copies, `st.async` and so on complete bytes on the object
        let completes = matches!(i.entry.effects.mbarrier, Mbarrier::None | Mbarrier::CompleteTx);
        if let Some(Region { base: AddressBase::Var(v), mapped, .. }) = kernel.region_of(at, mbarrier_operand(i), 8)
            && (multicast(i) || mapped && completes)
        {
            wide.push(v.0);
            continue;
        }
        let Some(arg) = i.address() else { continue };
        let store = value_access(i) == MemoryOp::Store && !i.has(q::shared) && !i.has(q::shared_cta);
        let arrives = i.entry.effects.mbarrier.arrives() && i.has(q::cluster) && !i.has(q::relaxed);
        if (store || arrives)
            && let Some(r) = kernel.region(at, arg, 8)
            && r.mapped
        {
            stores |= store;
            if let (true, AddressBase::Var(v)) = (arrives, r.base) {
                wide.push(v.0);
            }
        }
    }
    for (_, at, i) in flow.walk() {
        // CTA scope is the default, and right if no data comes from other CTAs.
        let narrow = i.has(q::cta) || stores;
        if narrow
            && mbarrier_wait(i)
            && !i.has(q::cluster)
            && !i.has(q::relaxed)
            && let Some(r) = kernel.region_of(at, "addr", 8)
            && let AddressBase::Var(v) = r.base
            && wide.contains(&v.0)
        {
            kernel.report(errors::wait_too_narrow(i.place_of(q::cta), i.has(q::cta)));
            return;
        }
    }
}

/// An access to a flag.
struct Flag {
    at: u32,
    region: Region,
    scope: Scope,
    acquires: bool,
    releases: bool,
    reads: bool,
    /// It writes something other than 0.
    writes: bool,
    weak: bool,
    conditions: Conditions,
}

/// The accesses to flags, and other ordering operations.
struct Flags {
    list: Vec<Flag>,
    /// Synchronising accesses to unknown addresses.
    unknown_acquire: bool,
    unknown_release: bool,
    fences: bool,
}

impl Flags {
    fn new(kernel: &Kernel) -> Flags {
        let flow = kernel.flow;
        let ctas = Ctas::new(flow);
        let mut out = Flags { list: Vec::new(), unknown_acquire: false, unknown_release: false, fences: false };
        for (block, at, i) in flow.walk() {
            out.fences |= fence(i);
            // `ldu` reads memory that no thread writes: no flag.
            let elsewhere = i.opcode == op::ldu || i.has_any(&[q::local, q::param, q::_const]);
            if elsewhere || value_access(i) == MemoryOp::None {
                continue;
            }
            match flag_region(kernel, at, i) {
                Some(region) if out.list.len() < MAX_REGIONS => {
                    out.list.push(Flag::new(i, at, region, ctas.conditions(flow, block, at)));
                }
                _ => {
                    out.unknown_acquire |= acquires(i);
                    out.unknown_release |= releases(i);
                }
            }
        }
        out
    }
}

/// The region of an access with a known base.
fn flag_region(kernel: &Kernel, at: u32, i: &Instr) -> Option<Region> {
    let r = kernel.region(at, i.address()?, i.bytes())?;
    (r.base != AddressBase::None).then_some(r)
}

impl Flag {
    fn new(i: &Instr, at: u32, region: Region, conditions: Conditions) -> Flag {
        let access = value_access(i);
        Flag {
            at,
            region,
            scope: i.order().scope,
            acquires: acquires(i),
            releases: releases(i),
            reads: access.returns(),
            writes: access.is_atomic() || (access == MemoryOp::Store && i.constant("b") != Some(0)),
            weak: !strong(i),
            conditions,
        }
    }
}

/// Flags in global or shared memory.
fn flags(kernel: &Kernel) {
    let flow = kernel.flow;
    let all = Flags::new(kernel);
    let list = &all.list;
    let span = |f: &Flag| flow.instr(f.at).span;
    // One of the two sides is unordered.
    if !all.fences {
        if let Some((a, w)) = unpaired(flow, list, all.unknown_release, true) {
            kernel.report(errors::one_sided(span(a), span(w), true));
        } else if let Some((r, l)) = unpaired(flow, list, all.unknown_acquire, false) {
            kernel.report(errors::one_sided(span(r), span(l), false));
        }
    }
    scopes(kernel, list);
    devices::check(kernel, &all);
    // CTA-scope atomic operations on one address of all CTAs.
    for f in list {
        let i = flow.instr(f.at);
        if f.scope == Scope::Cta
            && !f.weak
            && f.writes
            && !f.acquires
            && !f.releases
            && value_access(i).is_atomic()
            && f.region.space == Space::Global
            && f.region.bytes.is_some()
            && f.conditions.is_empty()
        {
            kernel.report(errors::atomic_in_one_cta(i.place_of(q::cta), i.entry.opcode));
            break;
        }
    }
    // A CTA-scope fence before a flag that other CTAs poll.
    narrow_fences(kernel);
}

/// Scopes that do not include both sides.
fn scopes(kernel: &Kernel, list: &[Flag]) {
    let flow = kernel.flow;
    for r in list {
        if !r.releases || r.region.mapped || r.region.space != Space::Global {
            continue;
        }
        for a in list {
            if !a.acquires || a.at == r.at || a.region.mapped || !a.region.overlaps(flow, &r.region) {
                continue;
            }
            let (narrow, wide) = if a.scope < r.scope { (a, r) } else { (r, a) };
            let between = exclusive(&a.conditions, &r.conditions);
            if narrow.scope == Scope::Cta && (between || wide.scope >= Scope::Gpu) {
                let here = flow.instr(narrow.at).place_of(q::cta);
                kernel.report(errors::flag_scope(here, flow.instr(wide.at).span, between));
                return;
            }
        }
    }
}

/// A synchronising access and a plain one on the same object, if no access of the other side synchronises. Flags and data often
/// share a buffer, so any possible counterpart silences the rule.
fn unpaired<'a>(flow: &Flow, list: &'a [Flag], unknown: bool, acquire: bool) -> Option<(&'a Flag, &'a Flag)> {
    if unknown {
        return None;
    }
    for f in list {
        let synchronises = if acquire { f.acquires } else { f.releases };
        if !synchronises {
            continue;
        }
        let mut other = None;
        let mut paired = f.region.mapped || (f.acquires && f.releases);
        for g in list {
            if f.region.base != g.region.base || !f.region.may_overlap(&g.region) {
                continue;
            }
            paired |= if acquire { g.releases } else { g.acquires };
            // A reset of a flag publishes nothing, and a lock is taken by an acquire.
            let resets = !g.writes && !f.writes;
            let counts = if acquire {
                !g.reads && !resets || g.reads && g.writes && g.at != f.at
            } else {
                g.reads && g.at != f.at
            };
            if counts && !g.acquires && !g.releases && f.region.overlaps(flow, &g.region) {
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
fn narrow_fences(kernel: &Kernel) {
    let flow = kernel.flow;
    let narrow = |i: &Instr| fence(i) && i.has(q::cta);
    let Some(first) = flow.cfg.find(&narrow) else { return };
    if flow.cfg.any(&|i| fence(i) && !narrow(i)) {
        return;
    }
    let polls = polled::polls(kernel);
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if narrow(i) {
            begin_pending(set, 0);
        }
    };
    let mut reported = false;
    for_each_pending(flow, 1, &step, &mut |_, at, i, set| {
        let flag = value_access(i).stores() && strong(i) && !releases(i) && i.order().scope >= Scope::Gpu;
        if reported || !flag || !is_pending(set, 0) || i.constant("b") == Some(0) {
            return;
        }
        let Some(r) = flag_region(kernel, at, i) else { return };
        let (mut polled, mut inside) = (false, false);
        for p in &polls {
            polled |= p.base == Some(r.base);
            inside |= p.span == i.span;
        }
        if r.space == Space::Global && polled && !inside {
            reported = true;
            kernel.report(errors::fence_scope(first.span, i.span));
        }
    });
}
