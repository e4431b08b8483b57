//! `tcgen05.fence` between accesses of different threads to Tensor Memory (Table 46 of 9.7.16.5, 9.7.16.6.3). The first thread executes
//! `::before_thread_sync` between its access and the synchronisation, the second one `::after_thread_sync` between the synchronisation
//! and its access. `tcgen05.commit` implies the first fence.
//!
//! ptxas 13.5 generates no instruction for these fences, and shipped compilers leave them out: a finding is a warning.

use crate::errors::tensor as errors;
use crate::errors::tensor::Fence;
use crate::kernel::Kernel;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use crate::tensor::tcgen05::columns::{Overlap, overlap};
use crate::tensor::tcgen05::ops::{MOST, fences_after, fences_before, has_role, signals};
use crate::tensor::tcgen05::participation::{Participation, Signal};
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Meeting, Tensor};

/// A missing fence: the second access or the arrival, and the first access or the wait.
type Missing = (u32, u32);

pub(crate) fn check(kernel: &Kernel, participation: &Participation) {
    let flow = kernel.flow;
    if !flow.cfg.any(&|i| i.entry.effects.tensor.is_operation()) || one_warp(kernel) {
        return;
    }
    let (mut before, mut after) = (None, None);
    along_path(kernel, &mut before, &mut after);
    before_arrival(kernel, participation, &mut before);
    after_wait(kernel, participation, &mut after);
    if after.is_none() {
        after = results(kernel);
    }
    let report = |(at, from): Missing, which: Fence| {
        let (i, from) = (flow.instr(at), flow.instr(from));
        kernel.report(errors::fence_missing(i.span, i.entry.opcode, from.span, from.entry.opcode, which));
    };
    match (before, after) {
        (Some(b), Some(a)) if b == a => report(b, Fence::Both),
        (before, after) => {
            if let Some(missing) = before {
                report(missing, Fence::Before);
            }
            if let Some(missing) = after {
                report(missing, Fence::After);
            }
        }
    }
}

fn accesses(i: &Instr) -> bool {
    has_role(i, Tensor::Load) || has_role(i, Tensor::Store)
}

/// Does a single warp make all accesses? It needs no fences.
fn one_warp(kernel: &Kernel) -> bool {
    let threads = kernel.lanes.cta_size;
    if threads.exact.is_some_and(|n| n <= 32) {
        return true;
    }
    let mut only = None;
    for (block, at, i) in kernel.flow.walk() {
        if !accesses(i) && !i.entry.effects.tensor.is_operation() {
            continue;
        }
        let present = kernel.threads_at(block, at).warps(threads);
        let [(warp, _)] = present.as_slice() else { return false };
        if *only.get_or_insert(*warp) != *warp {
            return false;
        }
    }
    true
}

/// What followed an access. Several states may hold at a join.
#[derive(Clone, Copy)]
enum State {
    /// Nothing.
    Unordered,
    /// `::before_thread_sync`.
    Fenced,
    /// A synchronization, without the fence before it.
    Synced,
    /// `::before_thread_sync`, then a synchronization.
    FencedSynced,
    /// A synchronization without the fence before it, then `::after_thread_sync`.
    SyncedFenced,
    /// Both fences around a synchronization.
    Done,
}

const STATES: usize = 6;

/// A load or store, a synchronisation and an operation on one path that all threads take.
fn along_path(kernel: &Kernel, before: &mut Option<Missing>, after: &mut Option<Missing>) {
    let flow = kernel.flow;
    let list = sites(kernel, &accesses);
    let transition = |set: &mut Bits, from: State, to: State| {
        for k in 0..list.len() {
            set.transition(STATES * k + from as usize, STATES * k + to as usize);
        }
    };
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if fences_before(i) {
            // A later synchronization may be the one that orders the accesses.
            transition(set, State::Unordered, State::Fenced);
            transition(set, State::Synced, State::Fenced);
            transition(set, State::SyncedFenced, State::Fenced);
        } else if fences_after(i) {
            transition(set, State::FencedSynced, State::Done);
            transition(set, State::Synced, State::SyncedFenced);
        } else if signals(i) {
            transition(set, State::Unordered, State::Synced);
            transition(set, State::Fenced, State::FencedSynced);
        } else if let Some(k) = list.iter().position(|s| *s == at) {
            set.set_state(STATES * k, STATES, State::Unordered as usize);
        }
    };
    for_each_instr(&flow.cfg, STATES * list.len(), &step, &mut |_, at, i, set| {
        if !i.entry.effects.tensor.is_operation() || (before.is_some() && after.is_some()) {
            return;
        }
        for (k, &access) in list.iter().enumerate() {
            let has = |state: State| set.has(STATES * k + state as usize);
            let met = has(State::Synced);
            let no_before = (met || has(State::SyncedFenced)) && !has(State::FencedSynced);
            let no_after = (met || has(State::FencedSynced)) && !has(State::SyncedFenced);
            if has(State::Unordered)
                || has(State::Fenced)
                || has(State::Done)
                || !(no_before || no_after)
                || overlap(kernel, access, at) == Overlap::Never
            {
                continue;
            }
            if no_before {
                before.get_or_insert((at, access));
            }
            if no_after {
                after.get_or_insert((at, access));
            }
        }
    });
}

/// The instructions of a kind, at most [`MOST`].
fn sites(kernel: &Kernel, of: &dyn Fn(&Instr) -> bool) -> Vec<u32> {
    let mut list = Vec::new();
    for (_, at, i) in kernel.flow.walk() {
        if of(i) && list.len() < MOST {
            list.push(at);
        }
    }
    list
}

/// An arrival after a load or store, for which a thread waits that then starts an operation.
fn before_arrival(kernel: &Kernel, participation: &Participation, before: &mut Option<Missing>) {
    let flow = kernel.flow;
    let list = sites(kernel, &accesses);
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if fences_before(i) {
            for k in 0..list.len() {
                resolve(set, k);
            }
        } else if let Some(k) = list.iter().position(|s| *s == at) {
            begin_pending(set, k);
        }
    };
    for_each_pending(flow, list.len(), &step, &mut |_, at, i, set| {
        if before.is_some() || !signals(i) {
            return;
        }
        let Some(k) = (0..list.len()).find(|k| is_pending(set, *k)) else { return };
        if let Some(operation) = participation.released_operation(flow, at, false)
            && overlap(kernel, list[k], operation) != Overlap::Never
        {
            *before = Some((at, list[k]));
        }
    });
}

/// A load or store after a wait for operations; an operation after a wait for threads that load or store.
fn after_wait(kernel: &Kernel, participation: &Participation, after: &mut Option<Missing>) {
    let flow = kernel.flow;
    let mut list = sites(kernel, &|i| i.entry.effects.meeting == Meeting::Wait);
    list.retain(|at| participation.signal_of_wait(*at) != Signal::Other);
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if fences_after(i) {
            for k in 0..list.len() {
                resolve(set, k);
            }
        } else if let Some(k) = list.iter().position(|w| *w == at) {
            begin_pending(set, k);
        }
    };
    for_each_pending(flow, list.len(), &step, &mut |_, at, i, set| {
        let wants = match i.entry.effects.tensor {
            Tensor::Load | Tensor::Store => Signal::Operations,
            Tensor::Mma | Tensor::Copy => Signal::Accesses,
            _ => return,
        };
        if after.is_some() {
            return;
        }
        for (k, &wait) in list.iter().enumerate() {
            if is_pending(set, k) && participation.signal_of_wait(wait) == wants {
                *after = Some((at, wait));
                return;
            }
        }
    });
}

/// The first load after a wait, in a kernel where no load follows `::after_thread_sync`. Some load reads results of operations.
fn results(kernel: &Kernel) -> Option<Missing> {
    let flow = kernel.flow;
    if !flow.cfg.any(&|i| has_role(i, Tensor::Commit)) {
        return None;
    }
    let waits = sites(kernel, &|i| i.entry.effects.meeting == Meeting::Wait);
    // Bit 0: after a fence; the others: after a wait.
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if fences_after(i) {
            set.set(0);
        } else if let Some(k) = waits.iter().position(|w| *w == at) {
            set.set(1 + k);
        }
    };
    let (mut fenced, mut first) = (false, None);
    for_each_instr(&flow.cfg, 1 + waits.len(), &step, &mut |_, at, i, set| {
        if has_role(i, Tensor::Load) {
            fenced |= set.has(0);
            // The last one is mostly the wait for the results.
            if let (None, Some(k)) = (first, (0..waits.len()).rev().find(|k| set.has(1 + k))) {
                first = Some((at, waits[k]));
            }
        }
    });
    first.filter(|_| !fenced)
}
