//! The checked host: finds data races, reads of memory that nothing has written, and misuse of mbarrier objects.
//!
//! It computes the happens-before relation of the memory consistency model (causality order, 8.9.5) with vector clocks (`clock`) and
//! compares each access with the last ones to the same bytes (`shadow`). What orders threads is what the manual says, not what this
//! run happens to do, so one run finds races of other schedules too. `threads` has what each thread knows, `objects` what barriers
//! and mbarrier objects hand from thread to thread, `messages` what memory does.

mod accesses;
mod actor;
mod clock;
mod counters;
mod exchange;
mod heap;
mod inside;
mod layouts;
mod local;
mod mbarriers;
mod messages;
mod misses;
mod objects;
mod operations;
mod phases;
mod recent;
mod remotes;
mod repeated;
mod report;
mod rows;
mod shadow;
mod shadows;
mod tensor;
#[cfg(test)]
mod tests;
mod threads;
mod undefined;
mod warps;
mod weak;
mod what;

use crate::fault::{FaultKind, TooWeak};
use crate::kernel::KernelInfo;
use crate::kernel::variables::Variables;
use crate::memory::address::Place;
use crate::observe::monitor::{
    Access, Finding, Groups, Monitor, Offsets, Order, Scope, Sync, TensorAccess, Wants, Who,
};
use crate::observe::probe::TensorWord;
use crate::observe::probe::layout::{SharedBox, SharedMatrix};
use crate::observe::probe::weak::WeakMemory;
use crate::observe::probe::{LastWrite, Needs, Pieces, Probe};
use actor::{Actor, Work, includes};
use clock::Clock;
use counters::Counters;
use heap::Heap;
use layouts::Layouts;
use local::Local;
use mbarriers::{Commit, Mbarriers};
use messages::Messages;
use misses::{Events, Misses};
use objects::Barriers;
use operations::Operations;
use remotes::Remotes;
use repeated::Repeated;
use rustc_hash::{FxHashMap, FxHashSet};
use shadow::ShadowedMemory;
use shadows::Shadows;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use tensor::TensorMemory;
use threads::Threads;
use undefined::{Undefined, memory_of};
use weak::Weak;
use what::RecordKind;

/// Reports data races in shared, global and Tensor Memory, reads of shared, local and Tensor Memory that nothing has written, ordinary
/// accesses to live mbarrier objects, and `mbarrier.init` over them.
///
/// Asynchronous operations access memory from their start until something completes them: a phase of an mbarrier object, a wait for groups,
/// a commit. What they read through another proxy needs a proxy fence.
///
/// A launch goes on after a finding, and fails at its end with all of them ([`Fault::others`](crate::fault::Fault::others)): each pair of statements once, and
/// those that a repetition has made of one pair as one finding ([`Fault::alike`](crate::fault::Fault::alike)), up to a limit of 100 ([`Host::limit`](crate::api::host::Host::limit)).
#[derive(Debug)]
pub struct Checked {
    /// Findings after which the launch ends.
    pub(crate) limit: usize,
    /// Two stores of one value are a race like others.
    pub(crate) same_values: bool,
    /// A load needs a proxy fence before an asynchronous write.
    pub(crate) read_fences: bool,
    /// Matrices may be read with another layout than they were written with.
    pub(crate) any_layout: bool,
    /// Statements of findings, two for a race, with the state space.
    found: FxHashSet<(u32, u32, &'static str)>,
    /// Findings at statements that a repetition has made.
    repeated: Repeated,
    threads: Threads,
    shadows: Shadows,
    /// CTAs of the largest cluster so far.
    ranks: usize,
    local: Local,
    undefined: Undefined,
    /// Live mbarrier objects: slot, rank, offset.
    live: BTreeSet<(u32, u32, u32)>,
    barriers: Barriers,
    mbarriers: Mbarriers,
    messages: Messages,
    /// The model of weak memory, if memory is weak.
    weak: Option<Weak>,
    operations: Operations,
    remotes: Remotes,
    tensor: TensorMemory,
    /// The last `fence.sc` of each scope: such fences have an order of their own (8.9.3).
    sequential: Vec<(Scope, Actor, Rc<Clock>)>,
    /// The observations of other threads from which a thread has learnt nothing.
    misses: Misses,
    counters: Counters,
    /// The bytes that a load uses, by site, where those are not all of them.
    used_bytes: FxHashMap<u32, u32>,
    variables: Arc<Variables>,
    heap: Heap,
    layouts: Layouts,
    /// The lines of the statements in the printed PTX.
    lines: Vec<u32>,
}

impl Default for Checked {
    fn default() -> Self {
        Checked::new()
    }
}

impl Monitor for Checked {
    fn wants(&self) -> Wants {
        Wants { apart: false, read_only: false, ..Wants::default() }
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.repeated.launch(kernel);
        self.lines = kernel.sites.iter().map(|site| site.line).collect();
        let masks = (0..).zip(kernel.sites).filter_map(|(site, of)| Some((site, of.used_bytes?)));
        self.used_bytes = masks.collect();
    }

    fn cluster(&mut self, slot: u32, ctas: &[[u32; 3]], threads: u32) {
        self.threads.start(slot, ctas, threads);
        let ranks = self.ranks.max(ctas.len());
        self.ranks = ranks;
        self.shadows.start(slot, ranks);
        // another CTA could access the memory, and a proxy fence could be needed after a read
        let alone = ctas.len() == 1 && self.weak.is_none() && !self.read_fences;
        self.shadows.of(ShadowedMemory::Shared { slot, rank: 0 }).is_alone(alone);
        self.local.start(slot);
        self.undefined.start(slot);
        self.live.retain(|key| key.0 != slot);
        self.barriers.start(slot);
        self.mbarriers.start(slot);
        self.messages.start(slot);
        if let Some(weak) = &mut self.weak {
            weak.start(slot);
        }
        self.remotes.start(slot);
        self.tensor.start(slot);
        self.layouts.start(slot);
    }

    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        if a.write
            && !self.undefined.is_empty()
            && let Some((memory, at)) = memory_of(&a)
        {
            self.undefined.overwrite(memory, at, a.bytes);
        }
        self.inside(&a)?;
        match a.place {
            Place::Shared { rank, offset } => {
                self.ordinary(&a, rank, offset)?;
                self.access(&a, ShadowedMemory::Shared { slot: a.who.slot, rank }, offset.into())
            }
            Place::Global { segment, offset } => self.access(&a, ShadowedMemory::Global { segment }, offset),
            Place::Local { offset } => {
                let used = self.used(&a);
                self.local.access(&a, offset, used)
            }
            Place::Const { .. } | Place::Param { .. } => Ok(()),
        }
    }

    fn warp(&mut self, a: &Access, offsets: Offsets<'_>) -> bool {
        let is_undefined =
            !self.undefined.is_empty() && memory_of(a).is_some_and(|at| self.undefined.meets(a, at, offsets));
        if self.weak.is_some() || is_undefined || !self.are_inside(a, offsets) {
            return false;
        }
        match a.place {
            Place::Shared { rank, offset } => {
                self.row(a, ShadowedMemory::Shared { slot: a.who.slot, rank }, offset.into(), offsets)
            }
            Place::Global { segment, offset } => self.row(a, ShadowedMemory::Global { segment }, offset, offsets),
            Place::Const { .. } | Place::Param { .. } => true,
            Place::Local { .. } => false,
        }
    }

    fn sync(&mut self, what: Sync, order: Order, who: Who) -> Result<(), FaultKind> {
        match what {
            // one launch is all that it sees
            Sync::GridWait | Sync::GridTrigger => {}
            Sync::MbarrierInit { rank, offset } => self.begins((who.slot, rank, offset), who)?,
            Sync::MbarrierInval { rank, offset } => self.ends((who.slot, rank, offset), who)?,
            Sync::Mbarrier { rank, offset, counts } => {
                let object = (who.slot, rank, offset);
                let done = self.mbarriers.completion(object, counts);
                self.object(object, RecordKind::Mbarrier, done, who)?;
            }
            Sync::MbarrierArrive { rank, offset } => self.arrives((who.slot, rank, offset), order, who)?,
            Sync::MbarrierTest { rank, offset, parity } => self.tests((who.slot, rank, offset), parity, who)?,
            Sync::MbarrierWait { rank, offset } => self.waited((who.slot, rank, offset), order, who),
            Sync::MbarrierPhase { rank, offset } => self.mbarriers.complete((who.slot, rank, offset)),
            Sync::MbarrierExpects { rank, offset, bytes } => self.expects((who.slot, rank, offset), bytes),
            Sync::CopyStarts { copy, rank, offset, bytes } => {
                self.copy_starts(copy, (who.slot, rank, offset), bytes, who);
            }
            Sync::Barrier { id, waits } => {
                self.barriers.arrive(id, who, waits, &mut self.threads);
                if let Some(other) = self.barriers.divergent_arrival(who, Some(id), order.aligned) {
                    return Err(self.not_aligned(other));
                }
            }
            Sync::BarrierCompletes { id } => self.barriers.complete(who, id, &mut self.threads),
            Sync::Warp { members, arrives } => {
                if let Some(warp) = self.threads.of(who) {
                    self.barriers.warp(who, members, arrives, warp);
                }
            }
            Sync::ClusterArrive => {
                if let Some(warp) = self.threads.of(who) {
                    let published = warp.publish(who.lanes);
                    self.barriers.cluster_arrive(who, order.releases(), published);
                }
                if let Some(other) = self.barriers.divergent_arrival(who, None, order.aligned) {
                    return Err(self.not_aligned(other));
                }
            }
            Sync::ClusterWait => self.barriers.cluster_wait(who, &mut self.threads, &mut self.misses),
            Sync::ClusterCompletes => self.barriers.cluster_complete(who.slot, &mut self.threads, &mut self.misses),
            Sync::Fence => self.fence(order, who),
            Sync::ProxyFence(fence) => {
                if let Some(warp) = self.threads.of(who) {
                    warp.fence_proxies(who.lanes, fence);
                }
            }
            Sync::CopyCompletes { copy, rank, offset } => {
                self.operations.complete(copy, self.mbarriers.phase((who.slot, rank, offset)));
            }
            Sync::CpArrive { group, rank, offset } => {
                self.completes(Work::Cp, group + 1, (who.slot, rank, offset), who);
            }
            Sync::Commit { commit, arrivals } => {
                if let Some(warp) = self.threads.of(who) {
                    // it implies `tcgen05.fence::before_thread_sync` (9.7.16.6.4.2)
                    warp.fence_tensor(who.lanes, true);
                    let mut published = warp.publish(who.lanes).known;
                    let thread = (warp.id, who.lanes);
                    self.tensor.commit(thread, &mut published);
                    let others = self.tensor.not_tracked(thread, &published);
                    let told = Commit { known: published, others, arrivals };
                    self.mbarriers.commit((warp.id, who.lanes, commit), told);
                }
            }
            Sync::CommitArrives { commit, rank, offset } => {
                if let Some(warp) = self.threads.of(who) {
                    let (object, time) = ((who.slot, rank, offset), commit as u32);
                    self.mbarriers.completes_tensor(object, Work::Tensor.of(warp.id), who.lanes, time);
                    self.mbarriers.commit_arrives((warp.id, who.lanes, commit), object, who.site);
                }
            }
            Sync::CtaEnds => self.cta_ends(who)?,
            Sync::Groups { of, before } => self.wait_for_groups(of, before, who),
            Sync::Stack { from, to } => self.local.stack(who, from, to),
            Sync::TensorWait { stores } => {
                if let Some(warp) = self.threads.of(who) {
                    self.tensor.wait(warp, who.lanes, stores);
                }
            }
            Sync::TensorFence { before } => {
                if let Some(warp) = self.threads.of(who) {
                    warp.fence_tensor(who.lanes, before);
                }
            }
        }
        Ok(())
    }

    fn tensor(&mut self, access: &TensorAccess<'_>, who: Who) -> Result<(), FaultKind> {
        self.tensor_access(access, who)
    }

    fn finding(&mut self, kind: &FaultKind, who: Who) -> Finding {
        let key = match kind {
            FaultKind::DataRace(race) => (race.other.site, race.space),
            FaultKind::TensorRace(race) => (race.other.site, "Tensor"),
            FaultKind::TensorUnwritten(_) => (u32::MAX, "Tensor"),
            FaultKind::MatrixLayout(layout) => (layout.operand.bytes().map(u32::from).sum(), "layout"),
            FaultKind::Uninitialised { space, .. } => (u32::MAX, *space),
            FaultKind::MbarrierMisused { .. } => (u32::MAX, "mbarrier"),
            FaultKind::OutsideVariable { .. } => (u32::MAX, "variable"),
            FaultKind::MbarrierLateWait { .. } => (u32::MAX, "phase"),
            FaultKind::Members { .. } => (u32::MAX, "aligned"),
            FaultKind::ShuffleSource { .. } => (u32::MAX, "shuffle"),
            FaultKind::FreedStack { .. } => (u32::MAX, "stack"),
            FaultKind::PendingRegister { .. } => (u32::MAX, "loaded register"),
            FaultKind::HeldRegister { .. } => (u32::MAX, "register in flight"),
            FaultKind::UnfencedRegister { .. } => (u32::MAX, "register of a product"),
            FaultKind::UndefinedRegister { register, .. } => {
                (register.bytes().fold(0u32, |n, b| n.wrapping_mul(31).wrapping_add(b.into())), "register")
            }
            _ => return Finding::Ends,
        };
        if !self.found.insert((who.site, key.0, key.1)) {
            return Finding::Known;
        }
        // the register is another one in each iteration
        let other = if matches!(kind, FaultKind::UndefinedRegister { .. }) { u32::MAX } else { key.0 };
        match self.repeated.find(who.site, other, key.1) {
            Ok(number) if number + 1 < self.limit => Finding::Reported,
            Ok(_) => Finding::Ends,
            Err(number) => Finding::Alike(number),
        }
    }
}

impl Probe for Checked {
    fn needs(&self) -> Needs {
        Needs { variables: true, barriers: true, ..Needs::default() }
    }

    fn variables(&mut self, variables: Arc<Variables>) {
        self.variables = variables;
    }

    fn unwritten(&mut self, a: &Access) -> u64 {
        let unused = !self.used(a);
        match a.place {
            Place::Shared { rank, offset } => {
                let undefined = self.undefined_bytes(a).map_or(0, |(bytes, _)| bytes);
                unused
                    | undefined
                    | self.unwritten_bytes(a, ShadowedMemory::Shared { slot: a.who.slot, rank }, offset.into())
            }
            Place::Local { offset } => unused | self.local.unwritten(a, offset),
            Place::Global { segment, offset } if self.heap.is(segment) => {
                unused | self.unwritten_bytes(a, ShadowedMemory::Global { segment }, offset)
            }
            _ => 0,
        }
    }

    fn tensor_word(&mut self, who: Who, rank: u32, lane: usize, column: usize) -> TensorWord {
        self.tensor.word(who.slot, rank, lane, column)
    }

    fn undefined_words(&mut self, who: Who, rank: u32, lane: usize, columns: Range<usize>, origin: u32) {
        self.tensor.undefined((who.slot, rank), lane, columns, origin);
    }

    fn has_undefined_words(&self) -> bool {
        self.tensor.has_undefined()
    }

    fn undefined(&mut self, a: &Access, origin: u32) {
        match (a.place, memory_of(a)) {
            (Place::Local { offset }, _) => self.local.forget(a, offset),
            (_, Some((memory, at))) => self.undefined.store(memory, at, a.bytes, origin),
            _ => {}
        }
    }

    fn undefined_bytes(&mut self, a: &Access) -> Option<(u64, u32)> {
        let (memory, at) = memory_of(a)?;
        self.undefined.of(memory, at, a.bytes)
    }

    fn heap(&mut self, segment: usize, block: Range<u64>, allocated: bool) {
        self.block(segment, block, allocated);
    }

    fn warps(&mut self, a: &Access, pieces: &Pieces) -> bool {
        !self.may_be_undefined(a) && self.all_warps(a, pieces)
    }

    fn chain(&mut self, a: &Access, pieces: &Pieces, others: &[(u32, i32)]) -> bool {
        !self.may_be_undefined(a) && self.all_warps_of_chain(a, pieces, others)
    }

    fn barrier(&mut self, who: Who, warps: u32) {
        self.threads.meet_all(who.slot, who.rank, warps);
    }

    fn test(&mut self, offset: u32, phase: (u64, bool), order: Order, who: Who) -> bool {
        self.test_at_once((who.slot, who.rank, offset), phase, order, who)
    }

    fn weak(&mut self) -> Option<&mut dyn WeakMemory> {
        self.weak.is_some().then_some(self)
    }

    fn writes_box(&mut self, of: &SharedBox, copy: u64, who: Who) {
        self.box_written(*of, copy, who);
    }

    fn reads_box(&mut self, of: &SharedBox, who: Who) -> Result<(), FaultKind> {
        self.box_read(of, who)
    }

    fn writes_rows(&mut self, _: u32, rows: &[u32], who: Who) {
        self.rows_written(rows, who);
    }

    fn reads_matrix(&mut self, matrix: &SharedMatrix, rank: u32, who: Who) -> Result<(), FaultKind> {
        self.matrix_read(matrix, rank, who)
    }

    fn reads_rows(&mut self, matrix: u32, rows: &[u32], who: Who) -> Result<(), FaultKind> {
        self.rows_read(matrix, rows, who)
    }

    fn last_write(&mut self, place: Place, who: Who) -> LastWrite {
        self.written_last(place, who.slot)
    }
}

impl Checked {
    /// Makes memory weak.
    pub(crate) fn weaken(&mut self) {
        self.weak = Some(Weak::default());
    }

    fn new() -> Checked {
        Checked {
            limit: 100,
            same_values: false,
            read_fences: false,
            any_layout: false,
            found: FxHashSet::default(),
            repeated: Repeated::default(),
            threads: Threads::default(),
            shadows: Shadows::default(),
            ranks: 0,
            local: Local::default(),
            undefined: Undefined::default(),
            live: BTreeSet::new(),
            barriers: Barriers::default(),
            mbarriers: Mbarriers::default(),
            messages: Messages::default(),
            weak: None,
            operations: Operations::default(),
            remotes: Remotes::default(),
            tensor: TensorMemory::default(),
            sequential: Vec::new(),
            misses: Misses::default(),
            counters: Counters::default(),
            used_bytes: FxHashMap::default(),
            variables: Arc::default(),
            heap: Heap::default(),
            layouts: Layouts::default(),
            lines: Vec::new(),
        }
    }

    /// Operations of these lanes before a time are complete when the phase of an object is.
    fn completes(&mut self, work: Work, before: u64, object: (u32, u32, u32), who: Who) {
        if let Some(warp) = self.threads.of(who) {
            self.mbarriers.completes(object, work.of(warp.id), who.lanes, before as u32);
        }
    }

    /// A wait for the groups of these lanes, or of the warpgroup, returns.
    fn wait_for_groups(&mut self, of: Groups, before: u64, who: Who) {
        let first = self.threads.warp(who.slot, who.rank, who.warp & !3).map(|warp| warp.id);
        let (Some(first), Some(warp)) = (first, self.threads.of(who)) else { return };
        let (lanes, before) = (who.lanes, before as u32);
        let bulk: &[Work] = match of {
            Groups::Bulk => &[Work::Bulk, Work::BulkReads],
            Groups::BulkReads => &[Work::BulkReads],
            Groups::Cp | Groups::Warpgroup => &[],
        };
        if let Some((others, site)) = self.operations.bulk_of_others(warp, lanes, bulk) {
            self.misses.remember(who, Events::Known(Rc::new(others)), TooWeak::OtherGroups, site);
        }
        match of {
            Groups::Cp => warp.wait(Work::Cp.of(warp.id), lanes, before),
            Groups::BulkReads => warp.wait(Work::BulkReads.of(warp.id), lanes, before),
            Groups::Bulk => {
                warp.wait(Work::BulkReads.of(warp.id), lanes, before);
                warp.wait(Work::Bulk.of(warp.id), lanes, before);
            }
            Groups::Warpgroup => {
                let mut clock = Clock::default();
                clock.learn(Work::Warpgroup.of(first), 1, before);
                warp.learn(lanes, &Rc::new(clock));
            }
        }
    }

    /// Lanes of a warp execute an aligned barrier, other lanes another one at this statement.
    #[cold]
    fn not_aligned(&self, other: u32) -> FaultKind {
        let line = self.lines.get(other as usize).copied().unwrap_or(0);
        let what = format!("lanes of a warp execute this aligned barrier, but others the one at PTX line {line}");
        FaultKind::Members { what }
    }

    fn fence(&mut self, order: Order, who: Who) {
        let Some(warp) = self.threads.of(who) else { return };
        warp.fence(who.lanes, order);
        if order.acquires() {
            self.misses.acquire(who);
            self.counters.acquire(warp.id, who);
        }
        // the order of a run hides races: a narrow one matters only for what loads may read
        if !order.is_sequential() || order.scope < Scope::Gpu && self.weak.is_none() {
            return;
        }
        let (scope, id) = (order.scope, warp.id);
        for (_, _, clock) in self.sequential.iter().filter(|f| includes(f.0.min(scope), f.1, id)) {
            warp.learn(who.lanes, clock);
        }
        let now = Rc::new(warp.publish(who.lanes).known);
        let same = |f: &&mut (Scope, Actor, Rc<Clock>)| f.0 == scope && includes(scope, f.1, id);
        match self.sequential.iter_mut().find(same) {
            Some(fence) => fence.2 = now,
            None => self.sequential.push((scope, id, now)),
        }
    }
}
