//! Monitors: hooks that see every memory access and every synchronisation of a launch. [`Off`] has no size and no code.
//!
//! A monitor is a type with [`Monitor`]. [`Host::monitored`](crate::Host::monitored) takes a function that makes one for each launch;
//! what it finds leaves it through what the function captures.
//!
//! ```
//! use ptx_dsl_runtime::monitor::{Access, Monitor, Place};
//! use ptx_dsl_runtime::{FaultKind, Host, KernelInfo};
//! use std::collections::BTreeMap;
//! use std::sync::{Arc, Mutex};
//!
//! /// Counts the bytes that each statement stores to global memory.
//! #[derive(Default)]
//! struct Stores {
//!     lines: Vec<u32>,
//!     bytes: Arc<Mutex<BTreeMap<u32, u64>>>,
//! }
//!
//! impl Monitor for Stores {
//!     const ON: bool = true;
//!     fn launch(&mut self, kernel: &KernelInfo<'_>) {
//!         self.lines = kernel.sites.iter().map(|site| site.line).collect();
//!     }
//!     fn memory(&mut self, access: Access) -> Result<(), FaultKind> {
//!         if let (Place::Global { .. }, true) = (access.place, access.write) {
//!             let line = self.lines.get(access.who.site as usize).copied().unwrap_or(0);
//!             *self.bytes.lock().unwrap().entry(line).or_default() += u64::from(access.bytes);
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let bytes = Arc::new(Mutex::new(BTreeMap::new()));
//! let shared = bytes.clone();
//! let host = Host::monitored(move || Stores { bytes: shared.clone(), ..Stores::default() });
//! // kernel.launch(&host, ...)?;
//! # drop(host);
//! assert!(bytes.lock().unwrap().is_empty());
//! ```

mod event;

use std::collections::{HashMap, HashSet};

use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelInfo;
use crate::machine::body::Body;
use crate::machine::ctx::Ctx;

pub use crate::flow::Wait;
pub use crate::mem::address::Place;
pub use event::Event;

/// An access of one lane.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// What it touches.
    pub place: Place,
    /// Address as the instruction gave it.
    pub addr: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// Store or load.
    pub write: bool,
    /// By the async proxy, not by a thread.
    pub agent: bool,
    /// The thread.
    pub who: Who,
}

/// Which threads, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Who {
    /// PTX statement: the index in [`KernelInfo::sites`], which has its text, its line in the printed PTX and its line in the Rust
    /// file ([`KernelInfo::at`]).
    pub site: u32,
    /// Slot of the cluster among the resident ones.
    pub slot: u32,
    /// Rank of the CTA in the cluster.
    pub rank: u32,
    /// Warp in the CTA.
    pub warp: u32,
    /// Lanes.
    pub lanes: u32,
}

/// A synchronisation. `rank` and `offset` are the CTA of an mbarrier object and its place in shared memory.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// `mbarrier.init`
    MbarrierInit { rank: u32, offset: u32 },
    /// `mbarrier.inval`
    MbarrierInval { rank: u32, offset: u32 },
    /// Any other operation on an mbarrier object, waits and asynchronous ones too.
    Mbarrier { rank: u32, offset: u32 },
    /// `barrier`, `bar`
    Barrier { id: u32 },
    /// `barrier.cluster.arrive`
    ClusterArrive,
    /// `barrier.cluster.wait`
    ClusterWait,
}

/// What watches a launch. `Err` stops it with a fault at the access.
///
/// A host with a monitor interprets all kernels, and each warp runs a region by itself: a monitor sees the accesses of one warp until
/// it waits or its region ends, then those of the next.
pub trait Monitor: Default + Sized + 'static {
    /// False removes the calls, and with them the work of preparing their arguments.
    const ON: bool;
    /// The Rust expression of such a host, for reports.
    const HOST: &'static str = "host";
    /// May each thread of a launch have a monitor of its own ([`Host::threads`](crate::Host::threads)), which sees the clusters
    /// that run on this thread, whole, and no others? Else the launch has one thread.
    const PER_THREAD: bool = false;
    /// The machine tells it [`Event`]s. This costs time.
    const EVENTS: bool = false;
    /// A launch begins. The statements of the kernel are in [`KernelInfo::sites`].
    fn launch(&mut self, _kernel: &KernelInfo<'_>) {}
    /// A cluster becomes resident at `slot`: its shared and local memory is new.
    fn cluster(&mut self, _slot: u32) {}
    /// A load or store, before it happens.
    fn memory(&mut self, _: Access) -> Result<(), FaultKind> {
        Ok(())
    }
    /// A synchronisation.
    fn sync(&mut self, _: Sync, _: Who) -> Result<(), FaultKind> {
        Ok(())
    }
    /// Something happens, so many turns after the start; with [`Monitor::EVENTS`].
    fn event(&mut self, _turns: u64, _: Event<'_>) {}
    /// Always `x.drive(body)`, written out per monitor so that the driver is compiled in this crate.
    #[doc(hidden)]
    fn drive(body: &mut dyn Body<Self>, x: &mut Ctx<'_, Self>) -> Result<(), Box<Fault>> {
        x.drive(body)
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Off;

impl Monitor for Off {
    const ON: bool = false;
    const HOST: &'static str = "Host::new()";
    const PER_THREAD: bool = true;
    fn drive(body: &mut dyn Body<Self>, x: &mut Ctx<'_, Self>) -> Result<(), Box<Fault>> {
        x.drive(body)
    }
}

/// Reports reads of shared and local memory that nobody has written, and ordinary accesses to live mbarrier objects and
/// `mbarrier.init` over them.
#[derive(Debug, Default)]
pub struct Checked {
    /// One bit per byte written, by memory and 64-byte line.
    written: HashMap<(u32, Memory, u64), u64>,
    live: HashSet<(u32, u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Memory {
    Shared { rank: u32 },
    Local { rank: u32, warp: u32, lane: u32 },
}

impl Monitor for Checked {
    const ON: bool = true;
    const HOST: &'static str = "Host::checked()";
    // it tracks only shared and local memory
    const PER_THREAD: bool = true;

    fn cluster(&mut self, slot: u32) {
        self.written.retain(|k, _| k.0 != slot);
        self.live.retain(|k| k.0 != slot);
    }

    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        let (memory, from, space) = match a.place {
            Place::Shared { rank, offset } => (Memory::Shared { rank }, offset as u64, "shared"),
            Place::Local { offset } => {
                let lane = a.who.lanes.trailing_zeros();
                (Memory::Local { rank: a.who.rank, warp: a.who.warp, lane }, offset, "local")
            }
            _ => return Ok(()),
        };
        let to = from + a.bytes as u64;
        if let Memory::Shared { rank } = memory
            && !self.live.is_empty()
        {
            for object in from / 8..to.div_ceil(8) {
                if self.live.contains(&(a.who.slot, rank, object as u32 * 8)) {
                    let what = if a.write { "ordinary store to" } else { "ordinary load from" }.into();
                    return Err(FaultKind::MbarrierMisused { offset: object as u32 * 8, what });
                }
            }
        }
        for line in from / 64..to.div_ceil(64) {
            let (lo, hi) = (from.max(line * 64) - line * 64, to.min(line * 64 + 64) - line * 64);
            let bits = (u64::MAX >> (64 - (hi - lo))) << lo;
            let shadow = self.written.entry((a.who.slot, memory, line)).or_default();
            if a.write {
                *shadow |= bits;
            } else if *shadow & bits != bits {
                return Err(FaultKind::Uninitialised { space, addr: a.addr });
            }
        }
        Ok(())
    }

    fn sync(&mut self, what: Sync, who: Who) -> Result<(), FaultKind> {
        match what {
            Sync::MbarrierInit { rank, offset } => {
                let fresh = self.live.insert((who.slot, rank, offset));
                let misused = || FaultKind::MbarrierMisused { offset, what: "`mbarrier.init` over".into() };
                return if fresh { Ok(()) } else { Err(misused()) };
            }
            Sync::MbarrierInval { rank, offset } => {
                self.live.remove(&(who.slot, rank, offset));
                // the memory is as if never written
                if let Some(line) = self.written.get_mut(&(who.slot, Memory::Shared { rank }, offset as u64 / 64)) {
                    *line &= !(0xff << (offset % 64));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn drive(body: &mut dyn Body<Self>, x: &mut Ctx<'_, Self>) -> Result<(), Box<Fault>> {
        x.drive(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: Who = Who { site: 0, slot: 3, rank: 1, warp: 0, lanes: 1 };

    fn access(offset: u32, bytes: u32, write: bool) -> Access {
        let place = Place::Shared { rank: 1, offset };
        Access { place, addr: offset as u64, bytes, write, agent: false, who: WHO }
    }

    #[test]
    fn reads_need_writes() {
        let mut m = Checked::default();
        let missing = |addr| Err(FaultKind::Uninitialised { space: "shared", addr });
        assert_eq!(m.memory(access(60, 8, false)), missing(60));
        m.memory(access(60, 8, true)).unwrap();
        m.memory(access(60, 8, false)).unwrap();
        assert_eq!(m.memory(access(64, 8, false)), missing(64));
        // another cluster takes the place
        m.cluster(3);
        assert_eq!(m.memory(access(60, 8, false)), missing(60));
    }

    #[test]
    fn live_objects_are_no_ordinary_memory() {
        let mut m = Checked::default();
        m.sync(Sync::MbarrierInit { rank: 1, offset: 16 }, WHO).unwrap();
        m.memory(access(8, 8, true)).unwrap();
        assert!(matches!(m.memory(access(20, 4, true)), Err(FaultKind::MbarrierMisused { offset: 16, .. })));
        let init = Sync::MbarrierInit { rank: 1, offset: 16 };
        assert!(matches!(m.sync(init, WHO), Err(FaultKind::MbarrierMisused { offset: 16, .. })));
        // the same place in another CTA, and in another cluster
        m.sync(Sync::MbarrierInit { rank: 0, offset: 16 }, WHO).unwrap();
        m.sync(init, Who { slot: 2, ..WHO }).unwrap();
        m.sync(Sync::MbarrierInval { rank: 1, offset: 16 }, WHO).unwrap();
        m.memory(access(20, 4, true)).unwrap();
        m.sync(init, WHO).unwrap();
    }
}
