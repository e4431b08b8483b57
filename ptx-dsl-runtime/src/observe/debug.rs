//! Debuggers: they are asked before each statement of each warp, and may keep the launch there.
//!
//! A [`Debugger`] runs on the thread of the launch. [`Host::debugged`](crate::api::host::Host::debugged) makes one for each launch. While
//! [`Debugger::statement`] has not returned, the launch stands still, and [`Stopped`] answers questions about registers, memory, and what
//! each warp does. A launch is deterministic: the same arguments and the same schedule give the same statements in the same order, so the
//! `n`-th statement of a launch names a moment.
//!
//! ```
//! # use ptx_dsl_runtime as ptx_dsl;
//! use ptx_dsl::Host;
//! use ptx_dsl::debug::{Before, Debugger, Resume, Stopped};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// Counts the statements of a launch.
//! struct Count(Arc<AtomicU64>);
//!
//! impl Debugger for Count {
//!     fn statement(&mut self, _: &Before, _: &dyn Stopped) -> Resume {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!         Resume::Runs
//!     }
//! }
//!
//! let count = Arc::new(AtomicU64::new(0));
//! let shared = count.clone();
//! let host = Host::debugged(move || Count(shared.clone()));
//! // kernel.launch(&host, ...)?;
//! # drop(host);
//! ```

use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelInfo;
use crate::observe::monitor::{Access, Monitor, Offsets, Order, Sync, Wants, Who};
use crate::observe::probe::stopped::Stops;
use crate::observe::probe::{Needs, Probe};
use std::sync::Arc;

pub use crate::memory::address::AddrSpace;
pub use crate::observe::probe::stopped::{
    Before, CodePlace, LaneState, Lanes, MbarrierState, Resident, Resume, Stopped, WarpId,
};
/// The code of a kernel. It may change in every version.
pub use ptx_dsl_isa::image;

/// A debugger of a launch.
///
/// [Example](crate::observe::debug).
pub trait Debugger: 'static {
    /// A launch begins.
    fn launch(&mut self, _: &KernelInfo<'_>) {}
    /// The code of the kernel, before it begins.
    fn code(&mut self, _: &Arc<image::Image>) {}
    /// A cluster becomes resident at this slot.
    fn cluster(&mut self, _slot: u32) {}
    /// Lanes of a warp are before a statement, or before the end of a region, which need not be a statement. A statement that waits is
    /// told once.
    fn statement(&mut self, _: &Before, _: &dyn Stopped) -> Resume {
        Resume::Runs
    }
    /// Does the debugger want to hear of accesses? Asked for each instruction that makes some.
    fn wants_accesses(&self) -> bool {
        false
    }
    /// An access to memory that the kernel can write, before it happens. That of an asynchronous operation happens at any time from now
    /// until it completes.
    fn access(&mut self, _: &Access) {}
    /// A synchronisation.
    fn sync(&mut self, _: Sync, _: Who) {}
    /// The last statement has a fault, which ends the launch.
    fn fails(&mut self, _: &Fault, _: &Before, _: &dyn Stopped) {}
}

/// The monitor of a host with a debugger.
pub struct Debugged<D>(pub(crate) D);

impl<D: Debugger> Monitor for Debugged<D> {
    fn wants(&self) -> Wants {
        Wants { read_only: false, ..Wants::default() }
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.0.launch(kernel);
    }

    fn cluster(&mut self, slot: u32, _: &[[u32; 3]], _: u32) {
        self.0.cluster(slot);
    }

    fn memory(&mut self, access: Access) -> Result<(), FaultKind> {
        if self.0.wants_accesses() {
            self.0.access(&access);
        }
        Ok(())
    }

    fn warp(&mut self, _: &Access, _: Offsets<'_>) -> bool {
        !self.0.wants_accesses()
    }

    fn sync(&mut self, what: Sync, _: Order, who: Who) -> Result<(), FaultKind> {
        self.0.sync(what, who);
        Ok(())
    }
}

impl<D: Debugger> Probe for Debugged<D> {
    fn needs(&self) -> Needs {
        Needs { statements: true, ..Needs::default() }
    }

    fn code(&mut self, image: &Arc<image::Image>) {
        self.0.code(image);
    }

    fn stops(&mut self) -> Option<&mut dyn Stops> {
        Some(self)
    }
}

impl<D: Debugger> Stops for Debugged<D> {
    fn statement(&mut self, before: &Before, launch: &dyn Stopped) -> Resume {
        self.0.statement(before, launch)
    }

    fn fails(&mut self, fault: &Fault, before: &Before, launch: &dyn Stopped) {
        self.0.fails(fault, before, launch);
    }
}
