//! Which memory grids in flight access, and accesses of the next grid before it waits for them.

use crate::fault::FaultKind;
use crate::memory::address::{FIRST_BUFFER, Place};
use crate::observe::monitor::{Access, Monitor, Order, Sem, Sync, Wants, Who};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of each argument that is a buffer: its address in the process, and the offset of its first byte in its segment.
pub(super) type Buffers = Vec<Option<(usize, u64)>>;

/// Ranges of the memory of the process, in order, without overlaps once they are merged.
#[derive(Debug, Default, Clone)]
struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn add(&mut self, start: usize, end: usize) {
        match self.0.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => last.1 = last.1.max(end),
            _ => self.0.push((start, end)),
        }
    }

    fn merge(&mut self) {
        let mut all = std::mem::take(&mut self.0);
        all.sort_unstable();
        all.into_iter().for_each(|(start, end)| self.add(start, end));
    }

    fn has(&self, start: usize, end: usize) -> bool {
        let after = self.0.partition_point(|range| range.0 < end);
        after > 0 && self.0[after - 1].1 > start
    }
}

/// The accesses of grids that may run when the next one starts. The list is empty if they have ended by then.
#[derive(Debug, Default, Clone)]
pub(super) struct PendingLaunch {
    written: Ranges,
    read: Ranges,
}

impl PendingLaunch {
    /// Adds memory of the process that a grid writes.
    pub fn add_written(&mut self, address: usize, bytes: usize) {
        self.written.add(address, address.saturating_add(bytes));
        self.written.merge();
    }
}

/// The accesses of a launch, and the launches that it may overtake.
pub(super) struct Dependency {
    before: PendingLaunch,
    own: PendingLaunch,
    buffers: Buffers,
    clusters: FxHashMap<u32, Waited>,
    /// Whether a thread has executed `launch_dependents`, and whether one has before its wait.
    triggers: (bool, bool),
    /// Whether an access before the wait was found.
    pub found: bool,
}

/// Which threads of a cluster have waited for the grids before.
#[derive(Default)]
struct Waited {
    /// By rank and warp.
    lanes: FxHashMap<(u32, u32), u32>,
    all: bool,
}

impl Dependency {
    pub fn new(before: PendingLaunch, buffers: Buffers) -> Self {
        let (own, clusters) = (PendingLaunch::default(), FxHashMap::default());
        Dependency { before, own, buffers, clusters, triggers: (false, false), found: false }
    }

    /// The launches in flight after this one.
    pub fn end(&mut self) -> PendingLaunch {
        let (triggers, early) = self.triggers;
        if !triggers {
            return PendingLaunch::default();
        }
        let mut own = std::mem::take(&mut self.own);
        if early {
            own.written.0.append(&mut self.before.written.0);
            own.read.0.append(&mut self.before.read.0);
        }
        own.written.merge();
        own.read.merge();
        own
    }

    fn has_waited(&self, who: Who) -> bool {
        let Some(cluster) = self.clusters.get(&who.slot) else { return false };
        let lanes = cluster.lanes.get(&(who.rank, who.warp)).copied().unwrap_or(0);
        cluster.all || who.lanes & !lanes == 0
    }

    /// A synchronisation of any kind may pass on that a thread has waited.
    fn passes_on(&mut self, slot: u32) {
        if let Some(cluster) = self.clusters.get_mut(&slot) {
            cluster.all |= !cluster.lanes.is_empty();
        }
    }

    fn access(&mut self, access: &Access) -> Result<(), FaultKind> {
        if access.order.sem != Sem::Weak {
            self.passes_on(access.who.slot);
        }
        let Place::Global { segment, offset } = access.place else { return Ok(()) };
        let argument = segment.wrapping_sub(FIRST_BUFFER as usize);
        let Some(Some((address, start))) = self.buffers.get(argument) else { return Ok(()) };
        let first = address.wrapping_add(offset.wrapping_sub(*start) as usize);
        let last = first.wrapping_add(access.bytes as usize);
        let (own, before) = (&mut self.own, &self.before);
        if access.write {
            own.written.add(first, last)
        } else {
            own.read.add(first, last)
        }
        let overtakes = before.written.has(first, last) || (access.write && before.read.has(first, last));
        if !overtakes || self.has_waited(access.who) {
            return Ok(());
        }
        self.found = true;
        let (does, other) = match (access.write, before.written.has(first, last)) {
            (false, _) => ("reads", "writes"),
            (true, true) => ("writes", "writes"),
            (true, false) => ("writes", "reads"),
        };
        let what = format!(
            "the thread {does} memory before `griddepcontrol.wait` that the grid before it {other}, and may still run"
        );
        Err(FaultKind::undefined(what, "9.7.13.13", "put `griddepcontrol.wait` before the access"))
    }
}

/// The monitor of a launch.
pub(super) struct Watch(pub Arc<Mutex<Dependency>>);

impl Monitor for Watch {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn cluster(&mut self, slot: u32, _: &[[u32; 3]], _: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clusters.insert(slot, Waited::default());
    }

    fn memory(&mut self, access: Access) -> Result<(), FaultKind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).access(&access)
    }

    fn sync(&mut self, what: Sync, _: Order, who: Who) -> Result<(), FaultKind> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            Sync::GridWait => {
                let cluster = state.clusters.entry(who.slot).or_default();
                *cluster.lanes.entry((who.rank, who.warp)).or_default() |= who.lanes;
            }
            Sync::GridTrigger => {
                let early = !state.has_waited(who);
                state.triggers = (true, state.triggers.1 || early);
            }
            _ => state.passes_on(who.slot),
        }
        Ok(())
    }
}
