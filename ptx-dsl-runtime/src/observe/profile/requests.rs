//! Requests: accesses of the lanes of one warp that a statement makes at the same time.

use super::counters::Counters;
use super::touched::Touched;
use crate::memory::address::Place;
use crate::numerics::lanes::Lanes;
use crate::observe::monitor::{Access, Who};
use crate::observe::probe::Pieces;
use ptx_dsl_isa::image::{Action, Image, NO_SITE};
use ptx_dsl_isa::isa::effect::{Issue, MemoryOp};
use ptx_dsl_isa::meaning::memory_pipeline;
use ptx_dsl_isa::qualifier::{Qualifier, q};

/// The kind of access that a statement makes, as far as it changes how memory serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RequestKind {
    /// It loads or stores, each lane for itself.
    #[default]
    Plain,
    /// It loads or stores rows of matrices.
    Rows,
    /// Whether the access is an atomic operation.
    Atomic {
        /// It compares and swaps.
        swaps: bool,
    },
    /// It copies to several CTAs.
    Multicast,
}

impl RequestKind {
    pub fn is_atomic(self) -> bool {
        matches!(self, RequestKind::Atomic { .. })
    }

    pub fn is_of_rows(self) -> bool {
        self == RequestKind::Rows
    }
}

/// The qualifiers of copies to several CTAs.
const MULTICAST: [Qualifier; 4] =
    [q::multicast_cluster, q::multicast_cluster_16b, q::multicast_cluster_32b, q::multicast_cluster_all];

/// The kind of each statement that has a number.
pub(super) fn kinds(image: &Image) -> Vec<RequestKind> {
    let mut kinds = Vec::new();
    for i in image.regions.iter().flat_map(|region| region.instructions()) {
        let (Action::Opcode { opcode, qualifiers, .. }, true) = (i.action, i.site != NO_SITE) else { continue };
        let (Some(entry), Some(set)) = (opcode.entries().next(), image.qualifiers.get(qualifiers as usize)) else {
            continue;
        };
        let effects = entry.instr.effects;
        let kind = match effects.memory {
            memory if memory.is_atomic() => RequestKind::Atomic { swaps: set.written.contains(&q::cas) },
            MemoryOp::Load | MemoryOp::Store if effects.issue == Issue::FullWarp && set.written.contains(&q::m8n8) => {
                RequestKind::Rows
            }
            MemoryOp::Copy if set.written.iter().any(|word| MULTICAST.contains(word)) => RequestKind::Multicast,
            _ => RequestKind::Plain,
        };
        if kinds.len() <= i.site as usize {
            kinds.resize(i.site as usize + 1, RequestKind::Plain);
        }
        kinds[i.site as usize] = kind;
    }
    kinds
}

/// The offset of a place in its memory.
pub(super) fn offset(place: Place) -> u64 {
    match place {
        Place::Global { offset, .. } | Place::Local { offset } => offset,
        Place::Const { offset } | Place::Param { offset } => offset,
        Place::Shared { offset, .. } => offset.into(),
    }
}

/// A place this far from another.
pub(super) fn moved(place: Place, distance: i32) -> Option<Place> {
    Some(match place {
        Place::Shared { rank, offset } => Place::Shared { rank, offset: offset.checked_add_signed(distance)? },
        Place::Global { segment, offset } => {
            Place::Global { segment, offset: offset.checked_add_signed(distance.into())? }
        }
        other => other,
    })
}

/// The memory of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestMemory {
    Global(usize),
    /// The shared memory of the own CTA or of another one, by rank.
    Shared(u32),
    Local,
    Const,
    Other,
}

fn memory(place: Place) -> RequestMemory {
    match place {
        Place::Global { segment, .. } => RequestMemory::Global(segment),
        Place::Shared { rank, .. } => RequestMemory::Shared(rank),
        Place::Local { .. } => RequestMemory::Local,
        Place::Const { .. } => RequestMemory::Const,
        Place::Param { .. } => RequestMemory::Other,
    }
}

/// A request.
pub(super) struct Request<'r> {
    pub site: u32,
    memory: RequestMemory,
    rank: u32,
    at: &'r Lanes,
    lanes: u32,
    bytes: u32,
    write: bool,
}

impl<'r> Request<'r> {
    /// The request of these lanes, which access memory at these offsets.
    pub fn of(a: &Access, at: &'r Lanes) -> Self {
        let Who { site, rank, lanes, .. } = a.who;
        Request { site, memory: memory(a.place), rank, at, lanes, bytes: a.bytes, write: a.write }
    }

    /// Counts it several times.
    pub fn count(&self, kind: RequestKind, times: u64, counters: &mut Counters) {
        let Request { at, lanes, bytes, .. } = *self;
        let asked = u64::from(lanes.count_ones()) * u64::from(bytes);
        match (self.memory, kind) {
            (RequestMemory::Global(_), RequestKind::Atomic { .. }) => {
                let (served, waiting) = memory_pipeline::atomic_sectors(at, lanes, bytes);
                counters.global(served, times, asked);
                counters.atomic_same_address += waiting * times;
            }
            (RequestMemory::Global(_), _) => counters.global(memory_pipeline::sectors(at, lanes, bytes), times, asked),
            (RequestMemory::Shared(rank), _) if rank != self.rank => counters.remote_bytes += asked * times,
            (RequestMemory::Shared(_), RequestKind::Atomic { swaps }) => {
                let served = memory_pipeline::atomic_wavefronts(at, lanes, swaps);
                let each = served.ideal.max(1);
                counters.shared(served, (served.units - served.ideal) / each, times, asked);
                counters.atomic_same_address += memory_pipeline::repeated(at, lanes) * times;
            }
            (RequestMemory::Shared(_), _) => {
                let served = memory_pipeline::wavefronts(at, lanes, bytes, self.write);
                counters.shared(served, served.units - served.ideal, times, asked);
            }
            (RequestMemory::Local, _) => {
                counters.local_requests += u64::from(bytes.div_ceil(4)) * times;
                counters.local_sectors += memory_pipeline::local_sectors(at, lanes, bytes) * times;
                counters.local_bytes += asked * times;
            }
            (RequestMemory::Const, _) => {
                counters.const_requests += times;
                counters.const_words += memory_pipeline::words(at, lanes, bytes) * times;
            }
            (RequestMemory::Other, _) => {}
        }
    }

    /// Notes the sectors of global memory that it touches.
    pub fn touch(&self, touched: &mut Touched, is_atomic: bool) {
        let RequestMemory::Global(segment) = self.memory else { return };
        let bytes = u64::from(self.bytes);
        let mut access = |from: u64, to: u64| {
            if is_atomic {
                touched.access(segment, from, to - from, false);
            }
            touched.access(segment, from, to - from, self.write || is_atomic);
        };
        // neighbouring lanes mostly continue each other
        let mut range = None;
        for lane in memory_pipeline::active(self.lanes) {
            let at = self.at[lane];
            range = match range {
                Some((from, to)) if (from..=to).contains(&at) => Some((from, to.max(at + bytes))),
                Some((from, to)) => {
                    access(from, to);
                    Some((at, at + bytes))
                }
                None => Some((at, at + bytes)),
            };
        }
        if let Some((from, to)) = range {
            access(from, to);
        }
    }
}

/// A request whose lanes are told of one by one.
#[derive(Debug)]
pub(super) struct PendingRequests {
    first: Access,
    at: Lanes,
    last: u32,
}

impl PendingRequests {
    /// The request of a first lane. `None` if its thread has no statement.
    pub fn new(a: &Access) -> Option<PendingRequests> {
        let last = a.who.lanes.checked_ilog2()?;
        let mut at = [0; 32];
        at[last as usize] = offset(a.place);
        Some(PendingRequests { first: *a, at, last })
    }

    /// Takes another lane of the request. False if the access belongs to another one.
    pub fn joins(&mut self, a: &Access) -> bool {
        let of = |a: &Access| (Who { lanes: 0, ..a.who }, a.write, a.bytes, memory(a.place));
        let Some(lane) = a.who.lanes.checked_ilog2() else { return true };
        if lane <= self.last || of(a) != of(&self.first) {
            return false;
        }
        self.at[lane as usize] = offset(a.place);
        self.last = lane;
        self.first.who.lanes |= a.who.lanes;
        true
    }

    pub fn request(&self) -> Request<'_> {
        Request::of(&self.first, &self.at)
    }
}

/// Bytes after which neither sectors nor banks see a difference.
const PERIOD: i64 = 128;

/// The requests of neighbouring warps, which access pieces of memory.
pub(super) fn each_warp(a: &Access, pieces: &Pieces, mut count: impl FnMut(&Request<'_>, u64)) {
    let Pieces { count: all, lanes, step, distance } = *pieces;
    let of_warp = 32 / lanes.clamp(1, 32);
    let warps = all / of_warp;
    let start = offset(a.place);
    let mut request = |warp: u32, times: u64| {
        let at: Lanes = std::array::from_fn(|lane| {
            let (piece, lane) = (lane as u32 / lanes, lane as u32 % lanes);
            let piece = i64::from(warp * of_warp + piece) * distance;
            start.wrapping_add_signed(piece) + u64::from(lane * step)
        });
        let first = Access { who: Who { lanes: u32::MAX, ..a.who }, ..*a };
        count(&Request::of(&first, &at), times);
    };
    if i64::from(of_warp) * distance % PERIOD == 0 {
        request(0, warps.into());
    } else {
        (0..warps).for_each(|warp| request(warp, 1));
    }
}

/// Counts the accesses of whole warps to neighbouring elements that a load or a store makes, without a look at each lane. False if they are
/// something else, and nothing is counted.
pub(super) fn count_rows(a: &Access, pieces: &Pieces, kind: RequestKind, counters: &mut Counters) -> bool {
    let Pieces { count, lanes, step, distance } = *pieces;
    let bytes = a.bytes;
    let is_row = lanes == 32 && step == bytes && bytes.is_power_of_two() && bytes <= 16 && !kind.is_atomic();
    if !is_row || !offset(a.place).is_multiple_of(bytes.into()) {
        return false;
    }
    let (times, asked) = (u64::from(count), 32 * u64::from(bytes));
    match a.place {
        Place::Shared { rank, .. } if rank == a.who.rank && distance % i64::from(bytes) == 0 => {
            counters.shared(memory_pipeline::row_wavefronts(bytes), 0, times, asked);
        }
        Place::Global { offset, .. } if distance % memory_pipeline::SECTOR as i64 == 0 => {
            counters.global(memory_pipeline::row_sectors(offset, bytes), times, asked);
        }
        _ => return false,
    }
    true
}

/// Notes the sectors of global memory that neighbouring warps touch.
pub(super) fn touch_warps(a: &Access, pieces: &Pieces, touched: &mut Touched) {
    let Place::Global { segment, offset } = a.place else { return };
    let Pieces { count, lanes, step, distance } = *pieces;
    let bytes = u64::from(a.bytes) + u64::from(step) * u64::from(lanes.saturating_sub(1));
    if u64::try_from(distance).is_ok_and(|distance| distance == bytes) {
        touched.access(segment, offset, bytes * u64::from(count), a.write);
        return;
    }
    for piece in 0..i64::from(count) {
        touched.access(segment, offset.wrapping_add_signed(piece * distance), bytes, a.write);
    }
}
