//! Breakpoints: lines with conditions, writes to memory, phases of mbarriers.

use crate::expression::Condition;
use ptx_dsl_runtime::debug::CodePlace;
use ptx_dsl_runtime::monitor::{Access, Place};
use std::collections::BTreeMap;

/// A breakpoint at a line.
#[derive(Debug, Clone)]
pub struct LineBreak {
    /// Its number, from 1.
    pub id: u32,
    /// The line, from 1.
    pub line: u32,
    /// It stops only if this holds in an active lane.
    pub condition: Option<Condition>,
}

/// A breakpoint at writes to a range of memory.
#[derive(Debug, Clone)]
pub struct WriteBreak {
    /// Its number, from 1.
    pub id: u32,
    /// The slot of the cluster, for shared memory.
    pub slot: u32,
    /// The first byte.
    pub place: Place,
    /// The number of bytes.
    pub bytes: u64,
    /// What was asked for, in words.
    pub text: String,
}

impl WriteBreak {
    /// Does an access write to one of the bytes?
    pub(crate) fn is_hit(&self, access: &Access) -> bool {
        let overlaps = |own: u64, at: u64| at < own.saturating_add(self.bytes) && own < at + u64::from(access.bytes);
        access.write
            && match (self.place, access.place) {
                (Place::Global { segment, offset }, Place::Global { segment: there, offset: at }) => {
                    segment == there && overlaps(offset, at)
                }
                (Place::Shared { rank, offset }, Place::Shared { rank: there, offset: at }) => {
                    self.slot == access.who.slot && rank == there && overlaps(offset.into(), at.into())
                }
                _ => false,
            }
    }
}

/// A breakpoint where a phase of an mbarrier object completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseBreak {
    /// Its number, from 1.
    pub id: u32,
    /// The slot of the cluster.
    pub slot: u32,
    /// The rank of the CTA.
    pub rank: u32,
    /// The offset of the object in shared memory.
    pub offset: u32,
}

/// All breakpoints of a session.
#[derive(Debug, Clone, Default)]
pub struct Breaks {
    /// At lines.
    pub lines: Vec<LineBreak>,
    /// At writes.
    pub writes: Vec<WriteBreak>,
    /// At phases.
    pub phases: Vec<PhaseBreak>,
    /// Whether a fault stops the launch where it happens.
    pub faults: bool,
    /// The lines by place. Filled when the code is known.
    pub(crate) places: BTreeMap<CodePlace, Vec<usize>>,
}

impl Breaks {
    /// Finds the places of lines.
    pub(crate) fn resolve(&mut self, program: &crate::Program) {
        self.places.clear();
        for (n, of) in self.lines.iter().enumerate() {
            for at in program.places(of.line) {
                self.places.entry(at).or_default().push(n);
            }
        }
    }
}
