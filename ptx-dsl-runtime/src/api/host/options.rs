//! The options of a host, which launches read whatever its monitor is.

use std::sync::OnceLock;

use crate::api::engine::Engine;
use crate::machine::grid::TensorRules;
use crate::machine::print::Print;
use crate::machine::schedule::ScheduleSource;
use crate::numerics::accumulation::Numerics;
use crate::observe::probe::MakeProbe;

/// The options of a host.
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) schedule: ScheduleSource,
    pub(crate) record: bool,
    pub(crate) resident: usize,
    pub(crate) starts_in_order: bool,
    pub(crate) threads: usize,
    pub(crate) engine: Option<Engine>,
    pub(crate) numerics: Numerics,
    pub(crate) tensor: TensorRules,
    pub(crate) strict_shuffles: bool,
    /// The Rust expression of such a host, for reports.
    pub(crate) expression: &'static str,
    pub(crate) print: Print,
    /// A plain host has none.
    pub(crate) monitor: Option<MakeProbe>,
}

impl Options {
    pub(super) fn new(monitor: Option<MakeProbe>) -> Self {
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

    /// The engine that [`Host::engine`](super::Host::engine) asks for, or else the environment.
    pub(crate) fn wanted_engine(&self) -> Option<Engine> {
        static DEFAULT: OnceLock<Option<Engine>> = OnceLock::new();
        let default = || match std::env::var("PTX_DSL_ENGINE").ok()?.as_str() {
            "compiled" => Some(Engine::Compiled),
            "interpreted" => Some(Engine::Interpreted),
            _ => None,
        };
        self.engine.or_else(|| *DEFAULT.get_or_init(default))
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
