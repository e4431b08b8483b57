//! A launch that stands still before a statement, as a debugger sees it.

use crate::fault::Fault;
use crate::memory::address::{AddrSpace, Place};
use crate::sync::mbarrier::State;
use ptx_dsl_isa::image::Register;

/// A place in the code of a kernel: an instruction of a region of its [`Image`](ptx_dsl_isa::image::Image).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CodePlace {
    /// The index of the region in the image.
    pub region: u16,
    /// The index of the instruction in the body of the region. The length of the body stands for what ends the region.
    pub index: u32,
}

/// A warp of a resident cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WarpId {
    /// The slot of the cluster among the resident ones.
    pub slot: u32,
    /// The rank of the CTA in the cluster.
    pub rank: u32,
    /// The warp in the CTA.
    pub warp: u32,
}

/// Lanes of a warp that are together before a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// The warp.
    pub warp: WarpId,
    /// The lanes, a bit each.
    pub lanes: u32,
    /// The statement that they execute next.
    pub at: CodePlace,
}

/// The state of lanes of a warp.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaneState {
    /// The lanes run now.
    Runs,
    /// The lanes can run, but others run now.
    Ready,
    /// The lanes wait. The words name the condition and what is missing.
    Waits(String),
}

/// Lanes of a warp, and what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// The warp.
    pub warp: WarpId,
    /// The lanes, a bit each.
    pub lanes: u32,
    /// The statement that they execute next, or that waits; `None` if they are between regions.
    pub at: Option<CodePlace>,
    /// The state of the lanes.
    pub state: LaneState,
}

/// A resident cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resident {
    /// The slot of the cluster.
    pub slot: u32,
    /// `%clusterid`
    pub id: [u32; 3],
    /// `%ctaid` by rank.
    pub ctas: Vec<[u32; 3]>,
}

/// A decoded mbarrier object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MbarrierState {
    /// The parity of the current phase: 0 for the first.
    pub parity: u64,
    /// Arrivals that are missing in this phase.
    pub pending: u32,
    /// Arrivals of each following phase.
    pub expected: u32,
    /// Bytes expected minus bytes completed.
    pub tx: i64,
}

impl MbarrierState {
    /// Decodes the eight bytes of an object, little endian. `None` if they are not an object.
    pub fn decode(word: u64) -> Option<Self> {
        let State { phase, pending, expected, tx, .. } = State::decode(word)?;
        Some(MbarrierState { parity: phase, pending, expected, tx })
    }
}

/// The answers of a launch that has stopped.
pub trait Stopped {
    /// The resident clusters, by slot.
    fn clusters(&self) -> Vec<Resident>;
    /// All lanes of resident clusters that have not ended.
    fn lanes(&self) -> Vec<Lanes>;
    /// The lanes of a register. `None` if the warp has not begun, has ended, or there is no such register.
    fn register(&self, warp: WarpId, register: Register) -> Option<[u64; 32]>;
    /// The shared memory of a CTA.
    fn shared(&self, slot: u32, rank: u32) -> Option<&[u8]>;
    /// Bytes at an address of a state space, as a lane of a warp reads them. `None` if they are not all there.
    fn read(&self, space: AddrSpace, address: u64, bytes: usize, of: (WarpId, u32)) -> Option<Vec<u8>>;
    /// The place of an address.
    fn place(&self, space: AddrSpace, address: u64, warp: WarpId) -> Option<Place>;
    /// `%tid` of a lane of a warp.
    fn tid(&self, warp: u32, lane: u32) -> Option<[u32; 3]>;
    /// Regions run so far, counted for each warp: the time of `%clock`.
    fn turns(&self) -> u64;
}

/// The continuation after a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// The launch goes on.
    Runs,
    /// The launch ends, as if it were cancelled.
    Ends,
}

/// A probe that stops launches.
pub(crate) trait Stops {
    /// Lanes are before a statement.
    fn statement(&mut self, before: &Before, launch: &dyn Stopped) -> Resume;
    /// The statement has a fault, which ends the launch.
    fn fails(&mut self, fault: &Fault, before: &Before, launch: &dyn Stopped);
}
