//! What launches read of a host, whatever its monitor is.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::api::engine::Engine;
use crate::machine::print::Print;
use crate::machine::schedule::{Replay, RoundRobin, Scheduler, Seeded};
use crate::machine::steps::SharedExplorer;
use crate::numerics::accumulation::Numerics;
use crate::observe::monitor::Monitor;

#[derive(Debug, Clone)]
pub(super) enum ScheduleSource {
    RoundRobin,
    Seed(u64),
    Replay(Vec<u32>),
    /// Step by step, as the explorer says.
    Steps(SharedExplorer),
}

/// Makes the monitor of a launch.
#[derive(Clone)]
pub(crate) struct MakeMonitor(pub Arc<dyn Fn() -> Box<dyn Monitor> + Send + Sync>);

impl fmt::Debug for MakeMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeMonitor")
    }
}

/// How far `tcgen05` goes by the manual: by default all the way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TensorRules {
    /// [`Host::tensor_fences`](super::Host::tensor_fences)
    pub fences: bool,
    /// [`Host::tensor_registers`](super::Host::tensor_registers)
    pub registers: bool,
    /// [`Host::mma_in_order`](super::Host::mma_in_order)
    pub mma_in_order: bool,
}

impl Default for TensorRules {
    fn default() -> Self {
        TensorRules { fences: true, registers: true, mma_in_order: false }
    }
}

/// The options of a host.
#[derive(Debug, Clone)]
pub struct Options {
    pub(super) schedule: ScheduleSource,
    pub(super) record: bool,
    pub(super) resident: usize,
    pub(super) starts_in_order: bool,
    pub(super) threads: usize,
    pub(super) engine: Option<Engine>,
    pub(super) numerics: Numerics,
    pub(super) tensor: TensorRules,
    pub(super) strict_shuffles: bool,
    /// The Rust expression of such a host, for reports.
    pub(super) expression: &'static str,
    pub(super) print: Print,
    /// A plain host has none.
    pub(super) monitor: Option<MakeMonitor>,
}

impl Options {
    pub(super) fn new(monitor: Option<MakeMonitor>) -> Self {
        Options {
            schedule: ScheduleSource::RoundRobin,
            record: false,
            resident: 16,
            starts_in_order: false,
            threads: 1,
            engine: None,
            numerics: Numerics::default(),
            tensor: TensorRules::default(),
            strict_shuffles: false,
            expression: "host",
            print: Print::Standard,
            monitor,
        }
    }

    /// Who makes the monitor of a launch, unless this is a plain host.
    pub(crate) fn monitor(&self) -> Option<&(dyn Fn() -> Box<dyn Monitor> + Send + Sync)> {
        self.monitor.as_ref().map(|make| &*make.0)
    }

    /// Where `printf` writes.
    pub(crate) fn printer(&self) -> &Print {
        &self.print
    }

    /// How far `tcgen05` goes by the manual.
    pub(crate) fn tensor(&self) -> TensorRules {
        self.tensor
    }

    /// What [`Host::strict_shuffles`](super::Host::strict_shuffles) says.
    pub(crate) fn strict_shuffles(&self) -> bool {
        self.strict_shuffles
    }

    /// What [`Host::numerics`](super::Host::numerics) says.
    pub(crate) fn numerics(&self) -> Numerics {
        self.numerics
    }

    /// The engine that [`Host::engine`](super::Host::engine) asks for.
    pub(crate) fn asked_engine(&self) -> Option<Engine> {
        self.engine
    }

    /// The same, or else what the environment asks for.
    pub(crate) fn wanted_engine(&self) -> Option<Engine> {
        static DEFAULT: OnceLock<Option<Engine>> = OnceLock::new();
        let default = || match std::env::var("PTX_DSL_ENGINE").ok()?.as_str() {
            "compiled" => Some(Engine::Compiled),
            "interpreted" => Some(Engine::Interpreted),
            _ => None,
        };
        self.engine.or_else(|| *DEFAULT.get_or_init(default))
    }

    /// Threads a launch has at most, if each may have a part of it.
    pub(crate) fn workers(&self, per_thread: bool) -> usize {
        if self.takes_the_first() && per_thread { self.threads } else { 1 }
    }

    pub(crate) fn resident(&self) -> usize {
        self.resident
    }

    /// What [`Host::start_in_order`](super::Host::start_in_order) says.
    pub(crate) fn starts_in_order(&self) -> bool {
        self.starts_in_order
    }

    pub(crate) fn records(&self) -> bool {
        self.record
    }

    pub(crate) fn scheduler(&self) -> Box<dyn Scheduler> {
        match &self.schedule {
            // those that run step by step have an explorer
            ScheduleSource::RoundRobin | ScheduleSource::Steps(_) => Box::new(RoundRobin),
            ScheduleSource::Seed(n) => Box::new(Seeded::new(*n)),
            ScheduleSource::Replay(v) => Box::new(Replay::new(v.clone())),
        }
    }

    /// Who chooses, if launches run step by step.
    pub(crate) fn explorer(&self) -> Option<SharedExplorer> {
        match &self.schedule {
            ScheduleSource::Steps(explorer) => Some(explorer.clone()),
            ScheduleSource::RoundRobin | ScheduleSource::Seed(_) | ScheduleSource::Replay(_) => None,
        }
    }

    /// Are all choices the first alternative, and none recorded?
    pub(crate) fn takes_the_first(&self) -> bool {
        matches!(self.schedule, ScheduleSource::RoundRobin) && !self.record
    }

    /// How to see a fault again.
    pub(crate) fn replay_hint(&self) -> Option<String> {
        match &self.schedule {
            ScheduleSource::RoundRobin => None,
            ScheduleSource::Seed(n) => Some(format!("`{}.seed({n})`", self.expression)),
            ScheduleSource::Replay(_) => Some(format!("`{}.replay(..)` with the same decisions", self.expression)),
            ScheduleSource::Steps(_) => None,
        }
    }
}
