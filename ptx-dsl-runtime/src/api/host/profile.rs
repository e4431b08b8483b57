//! Hosts that profile.

use super::Host;
use crate::observe::profile::{Profile, Profiler};
use std::sync::{Arc, Mutex};

impl Host {
    /// A host that profiles: [`Host::profiled`] then is the profile of its last launch. It interprets kernels on one thread.
    pub fn profile() -> Host<Profiler> {
        let result: Arc<Mutex<Profile>> = Arc::default();
        Host::probed(move || Profiler::to(result.clone())).named("Host::profile()")
    }
}

impl Host<Profiler> {
    /// The profile of the last launch, empty before the first one.
    pub fn profiled(&self) -> Profile {
        self.new_monitor().result()
    }
}
