//! Monitors: hooks that see every memory access and every synchronisation of a launch, and what happens when.
//!
//! A monitor is a type with [`Monitor`]. [`Host::monitored`](crate::api::host::Host::monitored) takes a function that makes one for each launch;
//! what it finds leaves it through what the function captures.
//!
//! # Accesses
//!
//! ```
//! # use ptx_dsl_runtime as ptx_dsl;
//! use ptx_dsl::monitor::{Access, Monitor, Place};
//! use ptx_dsl::Host;
//! use ptx_dsl::fault::FaultKind;
//! use ptx_dsl::kernel::KernelInfo;
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
//!
//! # Events and synchronisations
//!
//! [`Monitor::sync`] is told what threads and asynchronous operations ([`Agent`]) do to barriers and mbarrier objects. [`Monitor::event`]
//! is told what runs, waits and completes, and when, if [`Monitor::wants`] says so. [`KernelInfo::at`] gives the PTX line, the Rust line
//! and the places of `.loc` of a statement.
//!
//! ```
//! # use ptx_dsl_runtime as ptx_dsl;
//! use ptx_dsl::monitor::{Access, Agent, By, Event, Monitor, Order, Sync, Wait, Wants, Who};
//! use ptx_dsl::Host;
//! use ptx_dsl::fault::FaultKind;
//! use ptx_dsl::kernel::KernelInfo;
//! use std::sync::{Arc, Mutex};
//!
//! /// Writes down which barriers warps wait at, and what copies do.
//! #[derive(Default)]
//! struct Diary {
//!     statements: Vec<String>,
//!     lines: Arc<Mutex<Vec<String>>>,
//! }
//!
//! impl Diary {
//!     fn note(&self, who: Who, text: String) {
//!         let statement = self.statements.get(who.site as usize).map_or("", String::as_str);
//!         self.lines.lock().unwrap().push(format!("{text}: {statement}"));
//!     }
//! }
//!
//! impl Monitor for Diary {
//!     fn wants(&self) -> Wants {
//!         Wants { events: true, ..Wants::default() }
//!     }
//!     fn launch(&mut self, kernel: &KernelInfo<'_>) {
//!         let all = (0..).map_while(|site| kernel.at(site));
//!         self.statements =
//!             all.map(|at| format!("`{}` (PTX line {}, {}:{})", at.text, at.line, at.file, at.rust_line)).collect();
//!     }
//!     fn memory(&mut self, access: Access) -> Result<(), FaultKind> {
//!         if let By::Agent(Agent::Copy(copy)) = access.by {
//!             self.note(access.who, format!("copy {copy} accesses {} bytes", access.bytes));
//!         }
//!         Ok(())
//!     }
//!     fn sync(&mut self, what: Sync, _order: Order, who: Who) -> Result<(), FaultKind> {
//!         if let Sync::CopyCompletes { copy, offset, .. } = what {
//!             self.note(who, format!("copy {copy} completes at mbarrier {offset:#x}"));
//!         }
//!         Ok(())
//!     }
//!     fn event(&mut self, turns: u64, event: Event<'_>) {
//!         match event {
//!             Event::Waits { who, wait: Wait::Barrier { id, .. }, reason, .. } => {
//!                 self.note(who, format!("turn {turns}: warp {} waits at barrier {id}: {reason}", who.warp));
//!             }
//!             Event::Phase { offset, .. } => {
//!                 self.lines.lock().unwrap().push(format!("turn {turns}: a phase of mbarrier {offset:#x} completes"));
//!             }
//!             _ => {}
//!         }
//!     }
//! }
//!
//! let lines = Arc::new(Mutex::new(Vec::new()));
//! let shared = lines.clone();
//! let host = Host::monitored(move || Diary { lines: shared.clone(), ..Diary::default() });
//! // kernel.launch(&host, ...)?;
//! # drop(host);
//! # assert!(lines.lock().unwrap().is_empty());
//! ```
//!
//! `examples/monitor.rs` in the repository runs such monitors.

mod event;
pub(crate) mod order;
mod sync;
mod tensor;

use crate::fault::FaultKind;
use crate::kernel::KernelInfo;

pub use crate::kernel::flow::Wait;
pub use crate::memory::address::Place;
pub use crate::sync::tensor_pipeline::{Pipeline, Unit};
pub use event::Event;
pub use order::{Proxy, ProxyFence};
pub use ptx_dsl_isa::meaning::order::{Order, Scope, Sem};
pub use sync::Sync;
pub use tensor::{TensorAccess, TensorArea, TensorBy};

/// The agent that makes an access.
///
/// [Example](crate::observe::monitor#events-and-synchronisations).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum By {
    /// The thread.
    Thread,
    /// An asynchronous operation that the thread starts: it makes the access at any time from now until it is complete.
    Agent(Agent),
}

/// An asynchronous operation, and what completes it.
///
/// [Example](crate::observe::monitor#events-and-synchronisations).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agent {
    /// A copy with this number, which [`Sync::CopyCompletes`] tells.
    Copy(u64),
    /// A bulk copy of this group of its thread. What it writes to global memory has a hash, of the bytes and the places.
    Bulk {
        /// The number of the group.
        group: u64,
        /// The hash.
        content: Option<u64>,
    },
    /// A `cp.async` of this group of its thread.
    Cp(u64),
    /// A `wgmma` of this group of its warp.
    Warpgroup(u64),
    /// A `tcgen05` operation after this many commits of its thread.
    Tensor(u64),
}

/// The event that a wait for the groups of a thread is for.
///
/// [Example](crate::observe::monitor#events-and-synchronisations).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Groups {
    /// `cp.async.wait_group`
    Cp,
    /// `cp.async.bulk.wait_group`
    Bulk,
    /// Completion of the reads of bulk groups: `.read`.
    BulkReads,
    /// `wgmma.wait_group`
    Warpgroup,
}

/// An access of one lane.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Access {
    /// The place of the access.
    pub place: Place,
    /// Address as the instruction gave it.
    pub addr: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// Store or load.
    pub write: bool,
    /// A store of the value that is already there.
    pub same: bool,
    /// The agent that makes the access: the thread itself, or an operation that it has started.
    pub by: By,
    /// Through which proxy.
    pub proxy: Proxy,
    /// The memory order of the access. An atomic operation is a load, then a store.
    pub order: Order,
    /// The thread.
    pub who: Who,
}

/// The threads of an event, and their place.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Who {
    /// PTX statement: the index in [`KernelInfo::sites`], which has its text, its line in the printed PTX and its line in the Rust
    /// file ([`KernelInfo::at`]). `u32::MAX` where there is none.
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

/// The consequence of a fault for the launch, after a monitor has returned `Err`.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The launch ends with this fault.
    Ends,
    /// The launch goes on, and fails at its end with this fault among others ([`Fault::others`](crate::fault::Fault::others)).
    Reported,
    /// The launch goes on; the same finding was reported before.
    Known,
    /// The launch goes on; the finding with this number, counted from 0, was about the same statements in the source, of which a
    /// repetition has made several. It counts these ([`Fault::alike`](crate::fault::Fault::alike)).
    Alike(usize),
}

/// The offsets at which the lanes of [`Access::who`] access memory, if one statement does so in several lanes.
#[derive(Debug, Clone, Copy)]
pub enum Offsets<'a> {
    /// The lanes are neighbours. From lane to lane: the size of an access, or 0.
    Row {
        /// The stride in bytes.
        step: u32,
    },
    /// The offset of each lane, in one memory: that of [`Access::place`].
    Lanes(&'a [u64; 32]),
}

impl Offsets<'_> {
    /// Each active lane, as a bit, and where it accesses memory, if the first of them does so at `first`.
    #[inline]
    pub(crate) fn each(self, lanes: u32, first: u64) -> impl Iterator<Item = (u32, u64)> {
        let (low, mut rest) = (lanes.trailing_zeros(), lanes);
        std::iter::from_fn(move || {
            let lane = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let at = match self {
                _ if lane == 32 => return None,
                Offsets::Row { step } => first + u64::from(step * (lane - low)),
                Offsets::Lanes(all) => all[lane as usize],
            };
            Some((1 << lane, at))
        })
    }
}

/// The events that a monitor wants to see, and how warps then run.
///
/// ```
/// # use ptx_dsl_runtime as ptx_dsl;
/// use ptx_dsl::monitor::Wants;
/// let wants = Wants { events: true, ..Wants::default() };
/// # assert!(!wants.per_thread);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// Each thread of a launch may have a monitor of its own ([`Host::threads`](crate::api::host::Host::threads)), which sees the clusters that
    /// run on this thread, whole, and no others. Else the launch has one thread. By default false.
    pub per_thread: bool,
    /// Each warp runs a region by itself: the monitor sees the accesses of one warp until it waits or its region ends, then those of the
    /// next. Else the warps of a CTA may run each instruction together, which takes less time. By default true.
    pub apart: bool,
    /// Whether the monitor sees loads from buffers that the kernel cannot write. By default true.
    pub read_only: bool,
    /// The machine tells it [`Event`]s. This costs time. By default false.
    pub events: bool,
}

impl Wants {
    /// The wants of a launch without a monitor.
    pub(crate) const NOTHING: Wants = Wants { per_thread: true, apart: false, read_only: false, events: false };
}

impl Default for Wants {
    fn default() -> Self {
        Wants { per_thread: false, apart: true, read_only: true, ..Wants::NOTHING }
    }
}

/// The monitor of a plain host: none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Off;

/// An observer of a launch. `Err` is a fault at the access, which ends the launch unless [`Monitor::finding`] says otherwise.
///
/// A host with a monitor interprets all kernels.
pub trait Monitor: 'static {
    /// The events that the monitor wants to see, which do not change.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// A launch begins. The statements of the kernel are in [`KernelInfo::sites`].
    fn launch(&mut self, _kernel: &KernelInfo<'_>) {}
    /// A cluster becomes resident at `slot`: its shared and local memory is new. `ctas` has `%ctaid` by rank, for this many threads each.
    fn cluster(&mut self, _slot: u32, _ctas: &[[u32; 3]], _threads: u32) {}
    /// A load or store, before it happens.
    fn memory(&mut self, _: Access) -> Result<(), FaultKind> {
        Ok(())
    }
    /// Loads, stores or additions of several lanes of a warp: `first` is that of the lowest of the lanes [`Access::who`]. True if it
    /// has seen them all; otherwise it is told of each.
    fn warp(&mut self, _first: &Access, _: Offsets<'_>) -> bool {
        false
    }
    /// A synchronisation. `order` is that of the statement.
    fn sync(&mut self, _: Sync, _order: Order, _: Who) -> Result<(), FaultKind> {
        Ok(())
    }
    /// An access to Tensor Memory.
    fn tensor(&mut self, _: &TensorAccess<'_>, _: Who) -> Result<(), FaultKind> {
        Ok(())
    }
    /// The consequence of this fault of a thread for the launch.
    fn finding(&mut self, _: &FaultKind, _: Who) -> Finding {
        Finding::Ends
    }
    /// Something happens, this many turns after the start; if it wants [`Wants::events`].
    fn event(&mut self, _turns: u64, _: Event<'_>) {}
}
