//! Whether a probe watches a launch. Its type is erased, so that the machine and the interpreter are compiled once, in this crate.

use super::{Needs, Probe};
use crate::observe::monitor::Wants;
use std::fmt;
use std::sync::Arc;

/// The probe of a launch on one host thread, or none.
pub(crate) struct Monitored {
    probe: Option<Box<dyn Probe>>,
    wants: Wants,
    needs: Needs,
}

impl Monitored {
    /// A launch with a new probe, or with none.
    pub fn new(make: Option<&MakeProbe>) -> Monitored {
        let probe = make.map(|make| make.0());
        let wants = probe.as_ref().map_or(Wants::NOTHING, |probe| probe.wants());
        let needs = probe.as_ref().map_or(Needs::default(), |probe| probe.needs());
        Monitored { probe, wants, needs }
    }

    /// Whether there is a probe.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.probe.is_some()
    }

    /// The events that the probe wants to see.
    #[inline(always)]
    pub fn wants(&self) -> Wants {
        self.wants
    }

    /// The needs of the probe beyond [`wants`](Self::wants).
    #[inline(always)]
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// The guard of an instruction does not hold in these threads.
    #[inline(never)]
    pub fn predicated_off(&mut self, instruction: u32, off: impl Iterator<Item = u32>) {
        if let Some(probe) = self.get() {
            probe.predicated_off(instruction, off.map(|lanes| u64::from(lanes.count_ones())).sum());
        }
    }

    /// The probe, if there is one.
    #[inline(always)]
    pub fn get(&mut self) -> Option<&mut dyn Probe> {
        Some(&mut **self.probe.as_mut()?)
    }

    /// Takes the probe out, so that it can look at the machine while it is asked.
    pub fn lend(&mut self) -> Option<Box<dyn Probe>> {
        self.probe.take()
    }

    /// Puts a probe back that was taken out.
    pub fn give_back(&mut self, probe: Box<dyn Probe>) {
        self.probe = Some(probe);
    }
}

/// Makes the probe of a launch.
#[derive(Clone)]
pub(crate) struct MakeProbe(pub Arc<dyn Fn() -> Box<dyn Probe> + Send + Sync>);

impl fmt::Debug for MakeProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeProbe")
    }
}
