//! Hosts that trace.

use super::Host;
use crate::observe::trace::{Timeline, Tracer};
use std::sync::{Arc, Mutex};

impl Host {
    /// A host that traces: [`Host::timeline`] then is the timeline of its last launch. It interprets kernels on one thread.
    pub fn trace() -> Host<Tracer> {
        let result: Arc<Mutex<Timeline>> = Arc::default();
        Host::probed(move || Tracer::to(result.clone())).named("Host::trace()")
    }
}

impl Host<Tracer> {
    /// The timeline of the last launch, empty before the first one.
    pub fn timeline(&self) -> Timeline {
        self.new_monitor().result()
    }
}
