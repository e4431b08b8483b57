//! Shared memory of other CTAs of the cluster: accesses before the CTA has started or after it may have exited (PTX ISA 5.1.7,
//! 9.7.13.3). Register counts of `setmaxnreg` (9.7.19.5).

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::{may_signal_cta, may_wait_for_cta};
use crate::pending::{begin_pending, ends_thread, for_each_pending, is_pending, resolve};
use crate::sync::rings::uses::Rings;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{accesses, multicast};
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::threads::has_thread;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    // An excerpt without any `init` may also lack the cluster barrier.
    let several = flow.cfg.has(op::mbarrier_init) && flow.function.reqnctapercluster != Some([1, 1, 1]);
    if flow.cfg.has(op::mapa) || (several && flow.cfg.any(&multicast)) {
        remote(kernel);
    }
    if flow.cfg.has(op::setmaxnreg) {
        registers(kernel);
        registers_at_entry(kernel);
    }
}

/// The operand that accesses shared memory of another CTA.
fn remote_operand<'h>(kernel: &Kernel, at: u32, i: &'h Instr) -> Option<&'h ptx_dsl_isa::hir::Arg> {
    let several = multicast(i);
    let mut found = None;
    accesses(i, &mut |access| {
        // A mapped address in an access to the own CTA is reported elsewhere.
        let mapped = || !access.own && matches!(kernel.region(at, access.arg, 0), Some(r) if r.mapped);
        if found.is_none() && (several || mapped()) {
            found = Some(access.arg);
        }
    });
    found
}

fn remote(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry {
        return;
    }
    let at_once = first_returns_at_once(kernel);
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if may_wait_for_cta(i) && !at_once.contains(&at) {
            set.set(0);
        }
    };
    let mut reported = false;
    for_each_instr(&flow.cfg, 1, &step, &mut |b, at, i, set| {
        if !reported
            && !set.has(0)
            && let Some(arg) = remote_operand(kernel, at, i)
        {
            reported = true;
            let mut waits = at_once.iter().filter(|w| flow.cfg.dominates(flow.cfg.block_of(**w), b));
            let wait = waits.next().map(|w| flow.instr(*w).span);
            kernel.report(errors::peer_not_there(arg.span, i.entry.opcode, wait));
        }
    });
    exits_while_accessed(kernel);
}

/// Waits of which the first execution returns at once, because it is for the phase before the first one: a producer waits so for a
/// free stage. What follows in the first iteration knows nothing of other threads.
fn first_returns_at_once(kernel: &Kernel) -> Vec<u32> {
    let Some(rings) = Rings::new(kernel) else { return Vec::new() };
    rings.returns_at_once().map(|wait| wait.site.at).collect()
}

/// Accesses to a CTA that may have exited.
fn exits_while_accessed(kernel: &Kernel) {
    let flow = kernel.flow;
    // The owner waits for arrivals and asynchronous operations.
    let accessed = |at: u32, i: &Instr| plain_access(i).is_some() && remote_operand(kernel, at, i).is_some();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if accessed(at, i) {
            begin_pending(set, 0);
        } else if may_signal_cta(i) {
            resolve(set, 0);
        }
    };
    let mut last = None;
    let mut reported = false;
    let (arrivals, most) = arrivals(flow);
    for_each_pending(flow, 1, &step, &mut |b, at, i, set| {
        if accessed(at, i) {
            last = Some(i.span);
        }
        if reported || !ends_thread(i) || !is_pending(set, 0) {
            return;
        }
        let (least, here) = arrivals[b as usize];
        let closed = if whole_cta(kernel, b, at) { least != here } else { i.pred.is_some() || least != most };
        if !closed {
            reported = true;
            if let Some(span) = last {
                kernel.report(errors::leaves_peer(span, i.span));
            }
        }
    });
}

/// The least and the largest number of arrivals at the cluster barrier at the end of each block, and the largest in the kernel.
/// An exited thread counts as arrived.
fn arrivals(flow: &Flow) -> (Vec<(u32, u32)>, u32) {
    const MANY: u32 = 1000;
    let n = flow.cfg.blocks.len();
    let mut own = vec![0; n];
    for (b, _, i) in flow.walk() {
        own[b as usize] += u32::from(i.opcode == op::barrier_cluster_arrive);
    }
    let mut at_end = vec![(0, 0); n];
    // Blocks that were visited.
    let mut done = vec![false; n];
    let mut most = 0;
    for &b in &flow.cfg.rpo {
        let mut before: Option<(u32, u32)> = None;
        for (p, _) in &flow.cfg.blocks[b as usize].pred {
            if done[*p as usize] {
                let (x, y) = at_end[*p as usize];
                let (least, here) = before.unwrap_or((x, y));
                before = Some((least.min(x), here.max(y)));
            }
        }
        let (least, here) = before.unwrap_or((0, 0));
        let own = own[b as usize];
        at_end[b as usize] = (least + own, here + own);
        done[b as usize] = true;
        most = most.max(here + own);
        if own > 0 && flow.cfg.in_loop(b) {
            most = most.max(MANY);
        }
    }
    (at_end, most)
}

/// Does the whole CTA run the instruction if one of its threads does?
fn whole_cta(kernel: &Kernel, block: u32, at: u32) -> bool {
    let flow = kernel.flow;
    let shared = |at: u32| match flow.guard(at) {
        Some((p, _)) => kernel.lanes.uniformity(p) == Uniformity::Cta,
        None => true,
    };
    if !shared(at) {
        return false;
    }
    let mut b = block;
    loop {
        let up = flow.cfg.idom[b as usize];
        if up == ptx_dsl_analysis::cfg::NONE || up == b {
            return up == b;
        }
        if flow.cfg.ipdom[up as usize] != b && matches!(flow.cfg.branch(up), Some(i) if !shared(i)) {
            return false;
        }
        b = up;
    }
}

/// The first `setmaxnreg` of a kernel whose registers at entry ptxas does not know: it ignores all of them (C7508).
fn registers_at_entry(kernel: &Kernel) {
    let (function, flow) = (kernel.flow.function, kernel.flow);
    let rust = &function.rust;
    let threads = function.reqntid.or(function.maxntid).is_some() || rust.reqntid.or(rust.maxntid).is_some();
    let ctas = function.minnctapersm.is_some() || rust.minnctapersm.is_some();
    let limit = function.maxnreg.is_some() || rust.maxnreg.is_some();
    if !function.entry || limit || threads && ctas {
        return;
    }
    if let Some((_, _, i)) = flow.walk().find(|(_, _, i)| i.opcode == op::setmaxnreg) {
        kernel.report(errors::registers_unknown_at_entry(i.span));
    }
}

/// `setmaxnreg`: the registers of all warpgroups together, and warpgroups that execute it in part.
fn registers(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    // By thread: its register count at the end, if it has one site.
    let mut have: Vec<Option<u64>> = vec![None; n];
    let mut twice = false;
    let mut grows = None;
    for (block, at, i) in flow.walk() {
        if i.opcode != op::setmaxnreg {
            continue;
        }
        let Some(count) = i.constant("imm-reg-count") else { continue };
        let present = kernel.threads_at(block, at);
        for g in 0..n.div_ceil(128) {
            let first = g * 128;
            let end = (first + 128).min(n);
            let mut there = 0;
            for t in first..end {
                there += usize::from(has_thread(&present.set, t));
            }
            if there > 0 && there < end - first {
                kernel.report(errors::part_of_warpgroup(i.span, g));
                break;
            }
        }
        for (t, slot) in have.iter_mut().enumerate() {
            if has_thread(&present.set, t) {
                twice |= slot.is_some();
                *slot = Some(count);
            }
        }
        if i.has(q::inc) {
            grows = grows.or(Some(i.span));
        }
    }
    let (Some(span), false) = (grows, twice) else { return };
    let threads = n as u64;
    // A CTA keeps the registers of its launch: at most its share of 64 K. Where no directive says how many
    // these are, ptxas ignores `setmaxnreg` (C7508).
    if flow.function.rust.maxnreg.is_some() || flow.function.rust.minnctapersm.is_some() {
        return;
    }
    let most = match (flow.function.maxnreg, flow.function.minnctapersm) {
        (Some(r), _) => u64::from(r) * threads,
        (None, Some(ctas)) => 65536 / u64::from(ctas.max(1)),
        (None, None) => return,
    }
    .min(65536);
    let start = (most / threads / 8 * 8).min(255);
    let mut requested = 0;
    for h in &have {
        requested += h.unwrap_or(start);
    }
    if requested > most {
        kernel.report(errors::too_many_registers(span, requested, most));
    }
}
