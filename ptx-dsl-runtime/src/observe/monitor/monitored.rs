//! Whether a monitor watches a launch. Its type is erased, so that the machine and the interpreter are compiled once, in this crate.

use super::{Monitor, Wants};

/// A monitor, or none.
pub(crate) struct Monitored {
    monitor: Option<Box<dyn Monitor>>,
    wants: Wants,
}

impl Monitored {
    /// By this one.
    pub fn by(monitor: Option<Box<dyn Monitor>>) -> Monitored {
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
