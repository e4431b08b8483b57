//! Whether a monitor watches a launch. Its type is erased, so that the machine and the interpreter are compiled once, in this crate.

use super::{Monitor, Wants};
use std::fmt;
use std::sync::Arc;

/// A monitor, or none.
pub(crate) struct Monitored {
    monitor: Option<Box<dyn Monitor>>,
    wants: Wants,
}

impl Monitored {
    /// By a new monitor, or none.
    pub fn new(make: Option<&MakeMonitor>) -> Monitored {
        let monitor = make.map(|make| make.0());
        let wants = monitor.as_ref().map_or(Wants::NOTHING, |monitor| monitor.wants());
        Monitored { monitor, wants }
    }

    /// Is there one?
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.monitor.is_some()
    }

    /// What it wants to see.
    #[inline(always)]
    pub fn wants(&self) -> Wants {
        self.wants
    }

    /// The monitor, if there is one.
    #[inline(always)]
    pub fn get(&mut self) -> Option<&mut dyn Monitor> {
        Some(&mut **self.monitor.as_mut()?)
    }
}

/// Makes the monitor of a launch.
#[derive(Clone)]
pub(crate) struct MakeMonitor(pub Arc<dyn Fn() -> Box<dyn Monitor> + Send + Sync>);

impl fmt::Debug for MakeMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeMonitor")
    }
}
