//! The checked host: finds data races, reads of memory that nobody has written, and misuse of mbarrier objects.
//!
//! It computes the happens-before relation of the memory consistency model (causality order, 8.9.5) with vector clocks ([`clock`]) and
//! compares each access with the last ones to the same bytes ([`shadow`]). What orders threads is what the manual says, not what this
//! run happens to do, so one run finds races of other schedules too. [`threads`] has what each thread knows, [`objects`] what barriers,
//! mbarrier objects and memory hand from thread to thread.

mod clock;
mod inside;
mod local;
mod objects;
mod phases;
mod shadow;
#[cfg(test)]
mod tests;
mod threads;

use crate::fault::{Fault, FaultKind, NearMiss, Race, Side, ThreadId};
use crate::kernel::KernelInfo;
use crate::kernel::variables::Variables;
use crate::machine::body::Body;
use crate::machine::ctx::Ctx;
use crate::mem::address::Place;
use crate::monitor::{Access, By, Finding, Monitor, Offsets, Order, Scope, Sync, Who};
use clock::Clock;
use local::Local;
use objects::{Barriers, Issuer, Mbarriers, Messages};
use phases::AllPhases;
use shadow::{Memory, Record, Shadow, What};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use threads::Threads;

/// Reports data races in shared and global memory, reads of shared and local memory that nobody has written, ordinary accesses to live
/// mbarrier objects, and `mbarrier.init` over them.
///
/// Asynchronous copies count as accesses by their thread when they start. Other asynchronous operations count as ordered with everything.
///
/// A launch goes on after a finding, and fails at its end with all of them ([`Fault::others`]): each pair of statements once, up to a
/// limit of 100 ([`Host::limit`](crate::Host::limit)).
#[derive(Debug)]
pub struct Checked {
    /// Findings after which the launch ends.
    pub(crate) limit: usize,
    /// Two stores of one value are a race like others.
    pub(crate) same_values: bool,
    /// Statements of findings, two for a race, with the state space.
    found: HashSet<(u32, u32, &'static str)>,
    threads: Threads,
    /// By slot and CTA rank, of which there are 16.
    shared: Vec<Shadow>,
    /// By segment.
    global: Vec<Shadow>,
    local: Local,
    /// Live mbarrier objects: slot, rank, offset.
    live: HashSet<(u32, u32, u32)>,
    barriers: Barriers,
    mbarriers: Mbarriers,
    phases: AllPhases,
    messages: Messages,
    /// Of the last `fence.sc` of the GPU: such fences have an order of their own (8.9.3).
    sequential: Rc<Clock>,
    /// Where a thread has observed another one and not learnt from it.
    misses: Vec<Miss>,
    /// By site: bytes that a load uses, where that is not all of them.
    used_bytes: HashMap<u32, u32>,
    variables: Arc<Variables>,
    /// The lines of the statements in the printed PTX.
    lines: Vec<u32>,
}

impl Default for Checked {
    fn default() -> Self {
        Checked::new()
    }
}

/// An observation that does not synchronise.
#[derive(Debug)]
struct Miss {
    /// The observer: slot, rank, warp.
    warp: (u32, u32, u32),
    clock: Rc<Clock>,
    why: &'static str,
    from: u32,
    to: u32,
}

/// So many are kept.
const MISSES: usize = 64;

impl Monitor for Checked {
    const ON: bool = true;
    const HOST: &'static str = "Host::checked()";
    const APART: bool = false;
    const READ_ONLY: bool = false;
    const VARIABLES: bool = true;

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.lines = kernel.sites.iter().map(|site| site.line).collect();
        let masks = (0..).zip(kernel.sites).filter_map(|(site, of)| Some((site, of.used_bytes?)));
        self.used_bytes = masks.collect();
    }

    fn variables(&mut self, variables: Arc<Variables>) {
        self.variables = variables;
    }

    fn cluster(&mut self, slot: u32, ctas: &[[u32; 3]], threads: u32) {
        self.threads.start(slot, ctas, threads);
        self.shared.iter_mut().skip(slot as usize * 16).take(16).for_each(Shadow::clear);
        self.local.start(slot);
        self.live.retain(|key| key.0 != slot);
        self.barriers.start(slot);
        self.mbarriers.start(slot);
        self.phases.start(slot);
        self.messages.start(slot);
    }

    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        self.inside(&a)?;
        match a.place {
            Place::Shared { rank, offset } => {
                self.ordinary(&a, rank, offset)?;
                self.access(&a, Memory::Shared { slot: a.who.slot, rank }, offset.into())
            }
            Place::Global { segment, offset } => self.access(&a, Memory::Global { segment }, offset),
            Place::Local { offset } => {
                let used = self.used(&a);
                self.local.access(&a, offset, used)
            }
            Place::Const { .. } | Place::Param { .. } => Ok(()),
        }
    }

    fn warp(&mut self, a: &Access, offsets: Offsets<'_>) -> bool {
        if !self.are_inside(a, offsets) {
            return false;
        }
        match a.place {
            Place::Shared { rank, offset } => {
                self.row(a, Memory::Shared { slot: a.who.slot, rank }, offset.into(), offsets)
            }
            Place::Global { segment, offset } => self.row(a, Memory::Global { segment }, offset, offsets),
            Place::Const { .. } | Place::Param { .. } => true,
            Place::Local { .. } => false,
        }
    }

    fn sync(&mut self, what: Sync, order: Order, who: Who) -> Result<(), FaultKind> {
        match what {
            Sync::MbarrierInit { rank, offset } => {
                if !self.live.insert((who.slot, rank, offset)) {
                    return Err(FaultKind::MbarrierMisused { offset, what: "`mbarrier.init` over".into() });
                }
                self.mbarriers.init(who.slot, rank, offset);
                self.phases.init((who.slot, rank, offset));
                self.object(rank, offset, What::Init, who)?;
            }
            Sync::MbarrierInval { rank, offset } => {
                self.live.remove(&(who.slot, rank, offset));
                self.object(rank, offset, What::Init, who)?;
                // the memory is as if never written
                self.shadow(Memory::Shared { slot: who.slot, rank }).forget(offset.into(), 8);
            }
            Sync::Mbarrier { rank, offset } => self.object(rank, offset, What::Mbarrier, who)?,
            Sync::MbarrierArrive { rank, offset } => {
                self.object(rank, offset, What::Mbarrier, who)?;
                if let Some(warp) = self.threads.of(who) {
                    self.phases.arrive((who.slot, rank, offset), warp, who.lanes);
                    self.mbarriers.arrive((who.slot, rank, offset), warp.publish(who.lanes), order, who.site);
                }
            }
            Sync::MbarrierTest { rank, offset, parity } => self.late((who.slot, rank, offset), parity, who)?,
            Sync::MbarrierWait { rank, offset } => {
                self.phases.sees((who.slot, rank, offset), who);
                self.waited((who.slot, rank, offset), order, who);
            }
            Sync::MbarrierPhase { rank, offset } => {
                self.phases.complete((who.slot, rank, offset));
                self.mbarriers.complete((who.slot, rank, offset));
            }
            Sync::Barrier { id, waits } => {
                self.barriers.arrive(id, who, waits, &mut self.threads);
                if let Some(other) = self.barriers.apart(who, Some(id), order.aligned) {
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
                    self.barriers.cluster_arrive(who, order.release, published);
                }
                if let Some(other) = self.barriers.apart(who, None, order.aligned) {
                    return Err(self.not_aligned(other));
                }
            }
            Sync::ClusterWait => self.barriers.cluster_wait(who, &mut self.threads),
            Sync::ClusterCompletes => self.barriers.cluster_complete(who.slot, &mut self.threads),
            Sync::Fence => self.fence(order, who),
            Sync::CopyCompletes { rank, offset } => {
                if let Some(warp) = self.threads.of(who) {
                    let released = Order { release: true, ..Order::default() };
                    self.mbarriers.arrive((who.slot, rank, offset), warp.publish(who.lanes), released, who.site);
                }
            }
            Sync::WarpgroupWait => self.threads.wait_for_warpgroup(who),
            Sync::Stack { from, to } => self.local.stack(who, from, to),
        }
        Ok(())
    }

    fn finding(&mut self, kind: &FaultKind, who: Who) -> Finding {
        let key = match kind {
            FaultKind::DataRace(race) => (race.other.site, race.space),
            FaultKind::Uninitialised { space, .. } => (u32::MAX, *space),
            FaultKind::MbarrierMisused { .. } => (u32::MAX, "mbarrier"),
            FaultKind::OutsideVariable { .. } => (u32::MAX, "variable"),
            FaultKind::MbarrierPhase { .. } => (u32::MAX, "phase"),
            FaultKind::Members { .. } => (u32::MAX, "aligned"),
            FaultKind::FreedStack { .. } => (u32::MAX, "stack"),
            FaultKind::UndefinedRegister { register, .. } => {
                (register.bytes().fold(0u32, |n, b| n.wrapping_mul(31).wrapping_add(b.into())), "register")
            }
            _ => return Finding::Ends,
        };
        if !self.found.insert((who.site, key.0, key.1)) {
            return Finding::Known;
        }
        if self.found.len() < self.limit { Finding::Reported } else { Finding::Ends }
    }

    fn drive(body: &mut dyn Body<Self>, x: &mut Ctx<'_, Self>) -> Result<(), Box<Fault>> {
        x.drive(body)
    }
}

impl Checked {
    fn new() -> Checked {
        Checked {
            limit: 100,
            same_values: false,
            found: HashSet::new(),
            threads: Threads::default(),
            shared: Vec::new(),
            global: Vec::new(),
            local: Local::default(),
            live: HashSet::new(),
            barriers: Barriers::default(),
            mbarriers: Mbarriers::default(),
            phases: AllPhases::default(),
            messages: Messages::default(),
            sequential: Rc::default(),
            misses: Vec::new(),
            used_bytes: HashMap::new(),
            variables: Arc::default(),
            lines: Vec::new(),
        }
    }

    fn shadow(&mut self, memory: Memory) -> &mut Shadow {
        shadow_of(&mut self.shared, &mut self.global, memory)
    }

    /// A live mbarrier object is no ordinary memory.
    fn ordinary(&self, a: &Access, rank: u32, offset: u32) -> Result<(), FaultKind> {
        if self.live.is_empty() {
            return Ok(());
        }
        for object in offset / 8..(offset + a.bytes).div_ceil(8) {
            if self.live.contains(&(a.who.slot, rank, object * 8)) {
                let what = if a.write { "ordinary store to" } else { "ordinary load from" }.into();
                return Err(FaultKind::MbarrierMisused { offset: object * 8, what });
            }
        }
        Ok(())
    }

    /// An access to shared or global memory.
    fn access(&mut self, a: &Access, memory: Memory, offset: u64) -> Result<(), FaultKind> {
        let lane = a.who.lanes.trailing_zeros() & 31;
        let Some(warp) = self.threads.of(a.who) else { return Ok(()) };
        let what = match (a.by, a.order.atomic, a.write) {
            (By::Agent, _, true) => What::Agent,
            // operands of an asynchronous operation
            (By::Agent, _, false) => return self.unwritten(a, memory, offset),
            (By::Warpgroup, ..) => What::Warpgroup,
            (By::Thread, true, _) => What::Atomic,
            (By::Thread, false, true) => What::Store,
            (By::Thread, false, false) => What::Load,
        };
        let mut record = Record::new(warp, 1 << lane, a.who.site, what, a.order);
        if a.by == By::Warpgroup {
            let Some((id, time)) = self.threads.warpgroup(a.who) else { return Ok(()) };
            record = Record { warp: id, time, lanes: 1, ..record };
        }
        let Some(warp) = self.threads.of(a.who) else { return Ok(()) };
        let shadow = shadow_of(&mut self.shared, &mut self.global, memory);
        let outcome =
            shadow.access((offset, a.bytes), (!a.write, a.same && !self.same_values), record, warp, 1 << lane);
        if let (Some(other), true) = (outcome.race, a.by != By::Agent) {
            return Err(self.race(a, memory.name(), record, other));
        }
        if outcome.unwritten && matches!(memory, Memory::Shared { .. }) && self.uses_unwritten(a, memory, offset) {
            return Err(FaultKind::Uninitialised { space: "shared", addr: a.addr });
        }
        if a.order.strong || a.write {
            self.exchange(a, memory, offset);
        }
        Ok(())
    }

    /// Accesses of several lanes. False if there is more to it than that nothing is wrong: then each of them comes again.
    fn row(&mut self, a: &Access, memory: Memory, offset: u64, offsets: Offsets<'_>) -> bool {
        let (lanes, order) = (a.who.lanes, a.order);
        let Some(warp) = self.threads.of(a.who) else { return false };
        if !warp.is_together(lanes) {
            return false;
        }
        let lane = lanes.trailing_zeros() & 31;
        let plain = !order.strong
            || order.atomic
                && !order.acquire
                && !order.release
                && self.messages.is_empty()
                && warp.fenced(lane).is_empty();
        if !plain {
            return false;
        }
        let what = match (order.atomic, a.write) {
            (true, _) => What::Atomic,
            (false, true) => What::Store,
            (false, false) => What::Load,
        };
        let new = Record::new(warp, lanes, a.who.site, what, order);
        // whoever reads shared memory needs a write before
        let reads = matches!(memory, Memory::Shared { .. }) && (order.atomic || !a.write);
        let warp = &*warp;
        let shadow = shadow_of(&mut self.shared, &mut self.global, memory);
        let ends = a.write && !self.messages.is_empty();
        match offsets {
            Offsets::Row { step: 0 } => {
                if ends {
                    self.messages.overwrite((memory, offset));
                }
                shadow.element((offset, a.bytes), reads, new, warp)
            }
            Offsets::Row { .. } => {
                let len = u64::from(a.bytes * lanes.count_ones());
                !(ends && self.messages.may_be_in(memory, offset, len))
                    && shadow.row((offset, a.bytes), reads, new, warp)
            }
            Offsets::Lanes(all) => (0..32).filter(|l| lanes >> l & 1 != 0).all(|l| {
                if ends {
                    self.messages.overwrite((memory, all[l]));
                }
                shadow.element((all[l], a.bytes), reads, Record { lanes: 1 << l, ..new }, warp)
            }),
        }
    }

    /// Does the load use a byte that nobody has written?
    #[cold]
    fn uses_unwritten(&mut self, a: &Access, memory: Memory, offset: u64) -> bool {
        let used = self.used(a);
        let shadow = self.shadow(memory);
        (0..a.bytes).any(|byte| used >> byte & 1 != 0 && shadow.is_unwritten(offset + u64::from(byte), 1))
    }

    /// The bytes that a load uses, a bit each.
    fn used(&self, a: &Access) -> u64 {
        self.used_bytes.get(&a.who.site).map_or(u64::MAX, |mask| u64::from(*mask))
    }

    /// An asynchronous operation reads.
    fn unwritten(&mut self, a: &Access, memory: Memory, offset: u64) -> Result<(), FaultKind> {
        match memory {
            Memory::Shared { .. } if self.shadow(memory).is_unwritten(offset, a.bytes) => {
                Err(FaultKind::Uninitialised { space: "shared", addr: a.addr })
            }
            _ => Ok(()),
        }
    }

    /// A release or acquire pattern through this place (8.8).
    fn exchange(&mut self, a: &Access, memory: Memory, offset: u64) {
        let Some(warp) = self.threads.of(a.who) else { return };
        let key = (memory, offset);
        let (lanes, order) = (a.who.lanes, a.order);
        let lane = lanes.trailing_zeros() & 31;
        let reads = !a.write;
        if reads && order.strong {
            // `red` returns nothing, so it observes nothing: but its chain goes on
            for seen in self.messages.seen(key, warp.id, order.scope) {
                match seen.why {
                    None if order.acquire => warp.learn(lanes, &seen.clock),
                    None => {
                        warp.observe(lanes, &seen.clock);
                        let why = "the load is `.relaxed`, and no fence of acquire semantics follows it";
                        remember(&mut self.misses, a.who, &seen.clock, why, seen.site);
                    }
                    Some(why) => remember(&mut self.misses, a.who, &seen.clock, why, seen.site),
                }
            }
        }
        if a.write {
            if !order.strong {
                self.messages.overwrite(key);
                return;
            }
            let mut clocks = warp.fenced(lane).clone();
            if order.release {
                let now = Rc::new(warp.publish(lanes).known);
                clocks.retain(|(scope, _)| *scope > order.scope);
                clocks.push((order.scope, now));
            }
            self.messages.send(key, Issuer::of(warp, a), clocks, order);
        }
    }

    /// A thread has seen the completion of a phase.
    fn waited(&mut self, object: (u32, u32, u32), order: Order, who: Who) {
        let (Some(warp), Some(done)) = (self.threads.of(who), self.mbarriers.done(object)) else { return };
        for (clock, released) in done {
            match (released, order.acquire) {
                (true, true) => warp.learn(who.lanes, &clock),
                (true, false) => {
                    warp.observe(who.lanes, &clock);
                    let why = "the wait is `.relaxed`, and no fence of acquire semantics follows it";
                    remember(&mut self.misses, who, &clock, why, self.mbarriers.site(object));
                }
                (false, _) => {
                    let why = "the arrival is `.relaxed`, and no fence of release semantics precedes it";
                    remember(&mut self.misses, who, &clock, why, self.mbarriers.site(object));
                }
            }
        }
    }

    /// A thread tests a phase of this parity.
    fn late(&mut self, object: (u32, u32, u32), parity: u64, who: Who) -> Result<(), FaultKind> {
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let Some(late) = self.phases.test(object, parity, who, warp) else { return Ok(()) };
        let what = format!(
            "a wait for phase {} of the mbarrier object at shared address {:#x}, counted from 0, comes too late: {} phases are \
             complete, and parity {parity} names a later one",
            late.wanted, object.2, late.complete
        );
        Err(FaultKind::MbarrierPhase { what })
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
        if order.sequential && order.scope >= Scope::Gpu {
            warp.learn(who.lanes, &self.sequential);
            self.sequential = Rc::new(warp.publish(who.lanes).known);
        }
    }

    /// An operation on the bytes of an mbarrier object.
    fn object(&mut self, rank: u32, offset: u32, what: What, who: Who) -> Result<(), FaultKind> {
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        if !warp.is_together(who.lanes) {
            let mut lanes = (0..32).map(|l| who.lanes & 1 << l).filter(|lane| *lane != 0);
            return lanes.try_for_each(|lanes| self.object(rank, offset, what, Who { lanes, ..who }));
        }
        let strong = what == What::Mbarrier;
        let order = Order { strong, scope: Scope::Sys, ..Order::default() };
        let record = Record::new(warp, who.lanes, who.site, what, order);
        let (place, write) = (Place::Shared { rank, offset }, what == What::Init);
        let a = Access { place, addr: offset.into(), bytes: 8, write, same: false, by: By::Thread, order, who };
        self.inside(&a)?;
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let shadow = shadow_of(&mut self.shared, &mut self.global, Memory::Shared { slot: who.slot, rank });
        shadow.guard(offset.into());
        let outcome = shadow.access((offset.into(), 8), (false, false), record, warp, who.lanes);
        match outcome.race {
            Some(other) => Err(self.race(&a, "shared", record, other)),
            None => Ok(()),
        }
    }

    #[cold]
    fn race(&mut self, a: &Access, space: &'static str, own: Record, other: Record) -> FaultKind {
        let (ctaid, rank, warp) = self.threads.place(other.warp);
        let lane = (other.lanes & !if other.warp == own.warp { own.lanes } else { 0 }).trailing_zeros() & 31;
        let thread = ThreadId { ctaid, tid: [0; 3], warp, lane, rank };
        let observer = (a.who.slot, a.who.rank, a.who.warp);
        let missed = |m: &&Miss| m.warp == observer && m.clock.knows(other.warp, other.lanes, other.time);
        let near = self.misses.iter().rev().find(missed);
        let near_miss = near.map(|m| NearMiss { why: m.why, from: m.from, from_at: None, to: m.to, to_at: None });
        let other = Side { access: other.what.name(), site: other.site, at: None, thread };
        let access = own.what.name();
        FaultKind::DataRace(Box::new(Race { space, addr: a.addr, bytes: a.bytes, access, other, near_miss }))
    }
}

/// The shadow of a memory.
fn shadow_of<'s>(shared: &'s mut Vec<Shadow>, global: &'s mut Vec<Shadow>, memory: Memory) -> &'s mut Shadow {
    let (all, at) = match memory {
        Memory::Shared { slot, rank } => (shared, (slot * 16 + rank) as usize),
        Memory::Global { segment } => (global, segment),
    };
    if all.len() <= at {
        all.resize_with(at + 1, Shadow::default);
    }
    &mut all[at]
}

/// Keeps an observation that does not synchronise, for the report of a race.
fn remember(misses: &mut Vec<Miss>, who: Who, clock: &Rc<Clock>, why: &'static str, from: u32) {
    let warp = (who.slot, who.rank, who.warp);
    let same = |m: &Miss| m.warp == warp && m.to == who.site && m.from == from && Rc::ptr_eq(&m.clock, clock);
    if misses.iter().any(same) {
        return;
    }
    if misses.len() == MISSES {
        misses.remove(0);
    }
    misses.push(Miss { warp, clock: clock.clone(), why, from, to: who.site });
}
