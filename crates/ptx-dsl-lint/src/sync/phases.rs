//! Phases of an mbarrier (PTX ISA 9.7.13.15): the parity of repeated waits, counts that exceed the pending count, arrivals without
//! release.

use crate::errors::{order as errors, rings};
use crate::kernel::Kernel;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use crate::sync::objects::{
    Object, Objects, arrivals_of, arrives, expects_bytes, mbarrier_operand, object, object_name, parity,
};
use crate::sync::states::succeeded_wait;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, multicast, value_access};
use ptx_dsl_analysis::ctas::Ctas;
use ptx_dsl_analysis::dataflow::{Bits, Meet, forward};
use ptx_dsl_analysis::reaching::max_threads;
use ptx_dsl_analysis::region::MAX_REGIONS;
use ptx_dsl_analysis::sites::{Site, any_in_loop, contains_site, in_loop, reaches};
use ptx_dsl_isa::hir::{Instr, Space};
use ptx_dsl_isa::isa::{Barrier, Fence, MemoryOp, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel, objects: &Objects) {
    parities(kernel, objects);
    pending(kernel, objects);
    if kernel.flow.cfg.any(&multicast_copy) {
        expected_in_some_ctas(kernel);
    }
    if !objects.incomplete {
        relaxed_arrivals(kernel, objects);
    }
}

/// Repeated waits with the same constant parity, though each iteration completes a phase.
fn parities(kernel: &Kernel, objects: &Objects) {
    let flow = kernel.flow;
    // Waits times arrivals times reachability: the budget bounds the cost.
    let mut budget = 5_000_000 / flow.cfg.blocks.len().max(1);
    for o in &objects.list {
        // A new `init` starts with parity 0 again.
        if !one_parity(flow, &o.waits) || any_in_loop(flow, &o.inits) || o.inits.len() > 1 {
            continue;
        }
        if same_parity(kernel, o, &mut budget).is_none() {
            return;
        }
    }
}

/// Are all waits for the same constant parity?
fn one_parity(flow: &Flow, waits: &[Site]) -> bool {
    let Some(first) = waits.first() else { return false };
    let Some(p) = parity(flow, first) else { return false };
    for s in waits {
        if parity(flow, s) != Some(p) {
            return false;
        }
    }
    true
}

/// Bit 0: waited for; 1: then something arrived.
fn arrived(o: &Object, from: u32, to: u32, set: &mut Bits) {
    if set.has(0) {
        for at in from..to {
            if contains_site(&o.arrives, at) {
                set.set(1);
            }
        }
    }
}

/// `None` if it would cost too much.
fn same_parity(kernel: &Kernel, o: &Object, budget: &mut usize) -> Option<()> {
    let flow = kernel.flow;
    let mut block = |b: u32, set: &mut Bits| {
        let range = flow.cfg.range(b);
        arrived(o, range.start, range.end, set);
    };
    let mut edge = |b: u32, edge_number: usize, set: &mut Bits| {
        if matches!(succeeded_wait(flow, b, edge_number), Some(at) if contains_site(&o.waits, at)) {
            set.set(0);
            set.unset(1);
        }
    };
    let any = forward(&flow.cfg, 2, Meet::Any, &mut block, &mut edge);
    let every = forward(&flow.cfg, 2, Meet::Every, &mut block, &mut edge);
    for w in &o.waits {
        let Some(next) = block_after_wait(flow, w) else { continue };
        let before = |mut set: Bits| {
            arrived(o, flow.cfg.range(w.block).start, w.at, &mut set);
            set.has(1)
        };
        let own = before(any[w.block as usize].clone());
        let always = before(every[w.block as usize].clone());
        let again = reaches(flow, next, w.block);
        // Arrivals between two waits: in the loop, or after the previous wait.
        let cost = if again { 1 } else { o.arrives.len() * (1 + o.waits.len()) };
        *budget = budget.checked_sub(cost)?;
        let between = between(flow, o, w, again);
        if between.is_empty() || !(own || again) {
            continue;
        }
        if let Some(exact) = completes(kernel, o, own, &between) {
            let sure = exact && (again || always);
            let span = flow.instr(w.at).operand("phaseParity")?.span;
            kernel.report(errors::parity_again(span, &object_name(flow, o.place), again, sure));
            break;
        }
    }
    Some(())
}

/// The block that a wait with a parity leads to when it succeeds.
fn block_after_wait(flow: &Flow, w: &Site) -> Option<u32> {
    flow.instr(w.at).operand("phaseParity")?;
    for (n, e) in flow.cfg.blocks[w.block as usize].succ.iter().enumerate() {
        if succeeded_wait(flow, w.block, n) == Some(w.at) {
            return Some(e.to);
        }
    }
    None
}

/// Whether these arrivals complete a phase in each iteration; if so, whether that is exact.
fn completes(kernel: &Kernel, o: &Object, own: bool, between: &[Site]) -> Option<bool> {
    let flow = kernel.flow;
    let count = match o.inits.first() {
        Some(s) => flow.instr(s.at).constant("count"),
        None => None,
    };
    // If wait and loop are for different things, few arrivals may cover many iterations.
    let whole = match (rounds(kernel, between), count) {
        (Some(n), Some(c)) => Some(n == c),
        _ => None,
    };
    if whole == Some(true) {
        return Some(true);
    }
    let single = count == Some(1) && between.len() == 1;
    if !own || !(single || (whole.is_none() && count.is_none())) {
        return None;
    }
    // Arrivals in some iterations complete phases in some only.
    for s in between {
        if !kernel.executes_invariantly(*s) {
            return None;
        }
    }
    Some(single)
}

/// The number of arrivals in one iteration, if it is known.
fn rounds(kernel: &Kernel, sites: &[Site]) -> Option<u64> {
    let Kernel { flow, lanes, .. } = *kernel;
    let n = lanes.cta_size.exact?;
    let mut sum = 0;
    for s in sites {
        let i = flow.instr(s.at);
        let each = if i.operand("count").is_some() { i.constant("count")? } else { 1 };
        if !arrives(i) || i.opcode == op::mbarrier_arrive_drop || !kernel.executes_every_iteration(*s) {
            return None;
        }
        sum += each * max_threads(&kernel.threads_at(s.block, s.at), lanes, n);
    }
    Some(sum)
}

/// The arrivals in the loop, or after another wait and before this one.
fn between(flow: &Flow, o: &Object, w: &Site, looped: bool) -> Vec<Site> {
    let mut out = Vec::new();
    for s in &o.arrives {
        let is = if looped { in_loop(flow, s.block) } else { after(flow, s, w) && after_another_wait(flow, o, s, w) };
        if is {
            out.push(*s);
        }
    }
    out
}

/// Does the arrival come after another wait than this one?
fn after_another_wait(flow: &Flow, o: &Object, s: &Site, w: &Site) -> bool {
    for v in &o.waits {
        if v.at != w.at && after(flow, v, s) {
            return true;
        }
    }
    false
}

/// Is the second site reachable from the first?
fn after(flow: &Flow, a: &Site, b: &Site) -> bool {
    if a.block == b.block {
        return a.at < b.at;
    }
    for e in &flow.cfg.blocks[a.block as usize].succ {
        if reaches(flow, e.to, b.block) {
            return true;
        }
    }
    false
}

/// Counts that exceed the pending count.
fn pending(kernel: &Kernel, objects: &Objects) {
    for o in &objects.list {
        pending_on(kernel, o, objects.incomplete);
    }
}

fn pending_on(kernel: &Kernel, o: &Object, incomplete: bool) {
    let Kernel { flow, lanes, .. } = *kernel;
    let [init] = o.inits.as_slice() else { return };
    let at_init = flow.instr(init.at);
    let Some(most_pending) = at_init.constant("count") else { return };
    for s in &o.arrives {
        let i = flow.instr(s.at);
        let (Some(arg), Some(c), true) = (i.operand("count"), i.constant("count"), arrives(i)) else { continue };
        let never = i.has(q::noComplete);
        let present = kernel.threads_at(s.block, s.at);
        let all = match lanes.cta_size.exact {
            Some(n) if never && !present.elected && !present.not_elected && kernel.executes_exactly(*s) => {
                c.saturating_mul(max_threads(&present, lanes, n))
            }
            _ => c,
        };
        if c > most_pending || (never && all >= most_pending) {
            let name = object_name(flow, o.place);
            kernel.report(errors::more_than_pending(
                arg.span,
                &name,
                all,
                most_pending,
                never,
                at_init.span,
                i.entry.section,
            ));
            return;
        }
    }
    let plain = o.copies.is_empty() && o.expects.is_empty() && !incomplete;
    if !plain || !single_thread_sequence(kernel, &o.arrives) {
        return;
    }
    let (mut left, mut expected) = (most_pending, most_pending);
    let mut dropped = None;
    for s in &o.arrives {
        let i = flow.instr(s.at);
        let arg = i.operand("count");
        let (Some(c), true) = (arrivals_of(i), arrives(i)) else { break };
        if let (0, Some(drop)) = (expected, dropped) {
            kernel.report(rings::none_expected(i.span, &object_name(flow, o.place), drop, at_init.span));
            break;
        }
        let never = i.has(q::noComplete);
        if c > left || (never && c == left) {
            let span = if let Some(arg) = arg { arg.span } else { i.span };
            let (name, sec) = (object_name(flow, o.place), i.entry.section);
            kernel.report(errors::more_than_pending(span, &name, c, left, never, at_init.span, sec));
            break;
        }
        if i.opcode == op::mbarrier_arrive_drop {
            expected -= c.min(expected);
            dropped = Some(i.span);
        }
        left = if c == left { expected } else { left - c };
    }
}

/// Does a single thread execute all these arrivals once, in one block?
fn single_thread_sequence(kernel: &Kernel, arrives: &[Site]) -> bool {
    let Kernel { flow, lanes, .. } = *kernel;
    let (Some(n), Some(first)) = (lanes.cta_size.exact, arrives.first()) else { return false };
    for s in arrives {
        let present = kernel.threads_at(s.block, s.at);
        if s.block != first.block || max_threads(&present, lanes, n) != 1 || !kernel.executes_exactly(*s) {
            return false;
        }
    }
    !in_loop(flow, first.block)
}

fn multicast_copy(i: &Instr) -> bool {
    multicast(i) && i.operand("dstMem").is_some()
}

/// An instruction with the object that it is for.
type Use = (Site, (u32, i64));

/// Multicast copies for CTAs of which only some expect the bytes, but all wait.
fn expected_in_some_ctas(kernel: &Kernel) {
    let flow = kernel.flow;
    let (mut copies, mut expects, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for (block, at, i) in flow.walk() {
        let expecting = expects_bytes(i);
        if !multicast_copy(i) && !expecting && !mbarrier_wait(i) {
            continue;
        }
        let Some(p) = object(kernel, at, mbarrier_operand(i)) else {
            if expecting {
                // The bytes may be expected there.
                return;
            }
            continue;
        };
        let list = if expecting {
            if multicast(i) {
                return;
            }
            &mut expects
        } else if mbarrier_wait(i) {
            &mut waits
        } else {
            &mut copies
        };
        list.push((Site { block, at }, p));
    }
    if expects.len() > MAX_REGIONS || waits.len() > MAX_REGIONS {
        return;
    }
    let ctas = Ctas::new(flow);
    for (copy, p) in &copies {
        if partly_expected(kernel, &ctas, copy.at, *p, &expects, &waits) {
            break;
        }
    }
}

fn partly_expected(kernel: &Kernel, ctas: &Ctas, copy: u32, p: (u32, i64), expects: &[Use], waits: &[Use]) -> bool {
    let flow = kernel.flow;
    // All `expect_tx` have a common condition that some wait does not have.
    let mut expect = None;
    let mut common = Vec::new();
    for (site, on) in expects {
        if *on != p {
            continue;
        }
        let only = ctas.conditions(flow, site.block, site.at);
        if expect.is_none() {
            expect = Some(site.at);
            common = only;
        } else {
            common.retain(|c| only.contains(c));
        }
    }
    let (Some(expect), Some(condition)) = (expect, common.first()) else { return false };
    let i = flow.instr(copy);
    let mask = i.constant("ctaMask");
    if matches!(mask, Some(m) if m.count_ones() <= 1) {
        return false;
    }
    for (site, on) in waits {
        if *on == p && !ctas.conditions(flow, site.block, site.at).contains(condition) {
            let (expect, wait) = (flow.instr(expect).span, flow.instr(site.at).span);
            kernel.report(errors::expected_somewhere(expect, &object_name(flow, p), i.span, wait, mask.is_some()));
            return true;
        }
    }
    false
}

/// Relaxed arrivals on objects whose waits acquire.
fn relaxed_arrivals(kernel: &Kernel, objects: &Objects) {
    let flow = kernel.flow;
    let orders = |i: &Instr| {
        i.entry.effects.fence == Fence::Memory
            || i.entry.effects.tensor == Tensor::Fence
            || i.entry.effects.barrier != Barrier::None
    };
    for o in &objects.list {
        if o.arrives.is_empty() || !o.expects.is_empty() || !o.copies.is_empty() {
            continue;
        }
        let mut all = true;
        for s in &o.arrives {
            let i = flow.instr(s.at);
            all &= arrives(i) && !i.order().releases();
        }
        let mut wait = None;
        for s in &o.waits {
            let i = flow.instr(s.at);
            if wait.is_none() && i.order().acquires() {
                wait = Some(i);
            }
        }
        let (Some(wait), true) = (wait, all) else { continue };
        // A store to shared memory before the arrival, without a fence between.
        let step = |at: u32, i: &Instr, set: &mut Bits| {
            if value_access(i) == MemoryOp::Store
                && let Some(arg) = i.address()
                && matches!(kernel.region(at, arg, 4), Some(r) if r.space == Space::Shared)
            {
                begin_pending(set, 0);
            } else if orders(i) {
                resolve(set, 0);
            }
        };
        let mut reported = None;
        for_each_pending(flow, 1, &step, &mut |_, at, i, set| {
            if reported.is_none() && is_pending(set, 0) && contains_site(&o.arrives, at) {
                reported = Some((i.place_of(q::relaxed), i.entry.section));
            }
        });
        if let Some((span, sec)) = reported {
            kernel.report(errors::no_release_on_object(span, &object_name(flow, o.place), wait.span, sec));
        }
    }
}
