//! Hosts with a debugger.

use super::Host;
use crate::observe::debug::{Debugged, Debugger};

impl Host {
    /// A host with a debugger, which `make` makes for each launch. It interprets all kernels, on one thread.
    /// [Example](crate::observe::debug).
    #[doc(hidden)]
    pub fn debugged<D: Debugger>(make: impl Fn() -> D + Send + Sync + 'static) -> Host<Debugged<D>> {
        Host::probed(move || Debugged(make()))
    }
}
