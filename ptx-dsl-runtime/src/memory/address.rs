//! The generic address space: the one decoder of addresses, and the functions that build them.
//!
//! The top byte of a generic address is its window: 0 global (segment << 40 | offset), 1 shared, 2 local, 3 const, 4 kernel
//! parameters, 5 multimem (as global, with the segment of the first replica). A shared address has 32 bits: the offset in bits 0 to 23; bits 24 to 31 are 0 for the executing CTA, or 64 + the rank
//! of a CTA of the cluster (`mapa`). So the rank is in the lowest of these bits, as on hardware.

use crate::fault::FaultKind;
use crate::numerics::qual::{Q, q};
use ptx_dsl_isa::hir::GLOBALS;

/// The state space an instruction names; without one it is generic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddrSpace {
    /// Generic addressing: windows of the other spaces
    Generic,
    /// `.global`
    Global,
    /// `.shared::cta`
    SharedCta,
    /// `.shared::cluster`
    SharedCluster,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// Kernel parameters.
    ParamEntry,
    /// Parameters of a device function, in the thread's local memory.
    ParamFunc,
}

impl AddrSpace {
    /// Whether each lane has its own memory in this space.
    pub(crate) fn is_of_lanes(self) -> bool {
        matches!(self, AddrSpace::Local | AddrSpace::ParamFunc)
    }
}

const WINDOW_SHIFT: u32 = 56;
/// Windows of generic addresses: their top bits.
pub(crate) const SHARED: u64 = 1;
pub(crate) const LOCAL: u64 = 2;
pub(crate) const CONST: u64 = 3;
const PARAM: u64 = 4;
const MULTIMEM: u64 = 5;

const SEGMENT_SHIFT: u32 = 40;
/// Segment of the module's `.global` variables. Segment 0 is empty.
pub(crate) const MODULE: u64 = GLOBALS >> SEGMENT_SHIFT;
/// Segment of the first buffer.
pub const FIRST_BUFFER: u64 = MODULE + 1;

const RANK_SHIFT: u32 = 24;
/// A mark in bits 24 to 31: they name a rank, rank 0 too.
const RANKED: u64 = 0x40;
const SHARED_OFFSET: u64 = (1 << RANK_SHIFT) - 1;
/// Bits 24 and up of a generic address in the shared memory of the executing CTA.
const OWN_SHARED: u64 = SHARED << (WINDOW_SHIFT - RANK_SHIFT);

/// A decoded address.
///
/// [Example](crate::observe::monitor).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A byte of a buffer in global memory
    Global {
        /// The number of the buffer: its segment of global addresses
        segment: usize,
        /// Bytes from the beginning of the buffer
        offset: u64,
    },
    /// A byte of the shared memory of a CTA
    Shared {
        /// The rank of the CTA in its cluster
        rank: u32,
        /// Bytes from the beginning of the shared memory
        offset: u32,
    },
    /// A byte of the local memory of the thread
    Local {
        /// Bytes from the beginning of the local memory
        offset: u64,
    },
    /// A byte of the `.const` bank
    Const {
        /// Bytes from the beginning of the bank
        offset: u64,
    },
    /// A byte of the parameters of the kernel
    Param {
        /// Bytes from the beginning of the parameters
        offset: u64,
    },
}

/// Whether a generic address is in local memory, where it names another place for each thread.
pub(crate) fn names_local(addr: u64) -> bool {
    addr >> WINDOW_SHIFT == LOCAL
}

/// Decodes `addr` in `space` for a thread of the CTA of rank `own`. `None` if it is in no window of that space.
#[inline(always)]
pub fn decode(space: AddrSpace, addr: u64, own: u32) -> Option<Place> {
    decode_common(space, addr, own).or_else(|| decode_rare(space, addr, own))
}

/// The part of [`decode`] that emitted code inlines: all addresses but shared ones of another CTA, and generic ones in the other
/// windows. Shared addresses it decodes are of the CTA `own`.
#[inline(always)]
pub fn decode_common(space: AddrSpace, addr: u64, own: u32) -> Option<Place> {
    let own_shared = Place::Shared { rank: own, offset: (addr & SHARED_OFFSET) as u32 };
    let is_own = |rank: u64| rank == 0 || rank == RANKED | u64::from(own);
    match space {
        AddrSpace::Global | AddrSpace::Generic if addr >> WINDOW_SHIFT == 0 => {
            let (segment, offset) = (addr >> SEGMENT_SHIFT, addr & ((1 << SEGMENT_SHIFT) - 1));
            Some(Place::Global { segment: segment as usize, offset })
        }
        AddrSpace::SharedCta | AddrSpace::SharedCluster if is_own(addr >> RANK_SHIFT) => Some(own_shared),
        AddrSpace::Generic if is_own(addr >> RANK_SHIFT ^ OWN_SHARED) => Some(own_shared),
        AddrSpace::Local | AddrSpace::ParamFunc => Some(Place::Local { offset: addr }),
        AddrSpace::Const => Some(Place::Const { offset: addr }),
        AddrSpace::ParamEntry => Some(Place::Param { offset: addr }),
        _ => None,
    }
}

/// The other part of [`decode`].
#[inline(never)]
fn decode_rare(space: AddrSpace, addr: u64, own: u32) -> Option<Place> {
    let (window, offset) = match space {
        AddrSpace::Generic => (addr >> WINDOW_SHIFT, addr & ((1 << WINDOW_SHIFT) - 1)),
        AddrSpace::SharedCta | AddrSpace::SharedCluster => (SHARED, addr),
        _ => return None,
    };
    match window {
        SHARED if offset >> 32 == 0 => {
            let rank = match (offset >> RANK_SHIFT) as u32 {
                0 => own,
                named => named & !(RANKED as u32),
            };
            let reachable = space != AddrSpace::SharedCta || rank == own;
            reachable.then_some(Place::Shared { rank, offset: (offset & SHARED_OFFSET) as u32 })
        }
        LOCAL => Some(Place::Local { offset }),
        CONST => Some(Place::Const { offset }),
        PARAM => Some(Place::Param { offset }),
        _ => None,
    }
}

/// [`decode`], with the fault for an address that is in no window of the space.
#[inline(always)]
pub fn resolve(space: AddrSpace, addr: u64, own: u32) -> Result<Place, FaultKind> {
    decode(space, addr, own).ok_or_else(|| wrong_window(space, addr))
}

#[cold]
fn wrong_window(space: AddrSpace, addr: u64) -> FaultKind {
    let wanted = match space {
        AddrSpace::Global | AddrSpace::Generic if addr >> WINDOW_SHIFT == MULTIMEM => {
            "of one memory: it is a multimem address, which only `multimem` instructions access"
        }
        AddrSpace::Global => "an address of global memory",
        AddrSpace::SharedCta | AddrSpace::SharedCluster if addr >> 32 != 0 => {
            "a `.shared` address; a generic one needs an instruction without `.shared`"
        }
        AddrSpace::SharedCta => "in `.shared::cta`: it belongs to a peer CTA",
        _ => "in any window of the generic address space",
    };
    FaultKind::WrongWindow { addr, wanted: wanted.into() }
}

/// The state space of an address that an instruction uses in `space`, in words.
#[cold]
pub(crate) fn space_name(space: AddrSpace, addr: u64) -> &'static str {
    match decode(space, addr, 0) {
        Some(Place::Global { .. }) => "global",
        Some(Place::Shared { .. }) => "shared",
        Some(Place::Local { .. }) => "local",
        Some(Place::Const { .. }) => "const",
        Some(Place::Param { .. }) => "param",
        None => "generic",
    }
}

/// A global address as segment and offset, where offsets before a segment are those before the one that is nearest.
pub(crate) fn nearest_segment(addr: u64) -> (u64, i64) {
    const HALF: u64 = 1 << (SEGMENT_SHIFT - 1);
    let (segment, offset) = (addr >> SEGMENT_SHIFT, addr & ((1 << SEGMENT_SHIFT) - 1));
    if offset < HALF { (segment, offset as i64) } else { (segment + 1, offset as i64 - (1 << SEGMENT_SHIFT)) }
}

/// The address of a byte of a segment of global memory.
pub fn global_address(segment: u64, offset: u64) -> u64 {
    segment << SEGMENT_SHIFT | offset
}

/// The multimem address of a byte of a multicast object, whose first replica is this segment.
pub(crate) fn multimem_address(segment: u64, offset: u64) -> u64 {
    MULTIMEM << WINDOW_SHIFT | global_address(segment, offset)
}

/// The segment of the first replica, and the offset in each replica, of a multimem address.
pub(crate) fn decode_multimem(addr: u64) -> Option<(u64, u64)> {
    let (segment, offset) = (addr >> SEGMENT_SHIFT & 0xffff, addr & ((1 << SEGMENT_SHIFT) - 1));
    (addr >> WINDOW_SHIFT == MULTIMEM).then_some((segment, offset))
}

/// The window of a space; `None` for generic addresses, and for global ones, which are the same with and without it.
fn window(space: AddrSpace) -> Option<u64> {
    match space {
        AddrSpace::Generic | AddrSpace::Global => None,
        AddrSpace::SharedCta | AddrSpace::SharedCluster => Some(SHARED),
        AddrSpace::Local | AddrSpace::ParamFunc => Some(LOCAL),
        AddrSpace::Const => Some(CONST),
        AddrSpace::ParamEntry => Some(PARAM),
    }
}

/// The generic address of `addr`, an address of `space` (`cvta`).
#[inline(always)]
pub fn to_generic(space: AddrSpace, addr: u64) -> u64 {
    match window(space) {
        None => addr,
        Some(SHARED) => SHARED << WINDOW_SHIFT | addr & 0xffff_ffff,
        Some(window) => window << WINDOW_SHIFT | addr,
    }
}

/// The address in `space` of a generic address (`cvta.to`). An address outside of the window stays as it is: an access faults.
pub fn from_generic(space: AddrSpace, addr: u64) -> u64 {
    let inside = window(space) == Some(addr >> WINDOW_SHIFT);
    if inside { addr & ((1 << WINDOW_SHIFT) - 1) } else { addr }
}

/// Is the generic address in the window of `space`, seen from the CTA of rank `own` (`isspacep`)?
pub fn is_in(space: AddrSpace, addr: u64, own: u32) -> bool {
    let place = decode(AddrSpace::Generic, addr, own);
    match space {
        AddrSpace::Global | AddrSpace::Generic if decode_multimem(addr).is_some() => true,
        // kernel parameters are part of the global window (6.4.1.1)
        AddrSpace::Global | AddrSpace::Generic => matches!(place, Some(Place::Global { .. } | Place::Param { .. })),
        AddrSpace::Local | AddrSpace::ParamFunc => matches!(place, Some(Place::Local { .. })),
        AddrSpace::Const => matches!(place, Some(Place::Const { .. })),
        AddrSpace::ParamEntry => matches!(place, Some(Place::Param { .. })),
        AddrSpace::SharedCluster => matches!(place, Some(Place::Shared { .. })),
        AddrSpace::SharedCta => matches!(place, Some(Place::Shared { rank, .. }) if rank == own),
    }
}

/// The shared address of `offset` in the CTA of a rank (`mapa`), for the CTA `own`. The CTA of rank 0 has its own addresses without
/// a rank, so that the fields of a matrix descriptor are not overwritten where a kernel does not mask them. The field holds ranks
/// below 64; a larger one becomes 63, which no cluster has, so that the access faults.
#[inline(always)]
pub fn mapped_shared(offset: u32, rank: u32, own: u32) -> u32 {
    if rank | own == 0 {
        return offset & SHARED_OFFSET as u32;
    }
    (RANKED as u32 | rank.min(63)) << RANK_SHIFT | offset & SHARED_OFFSET as u32
}

/// The state space a load, store, atomic or mbarrier operation names.
#[inline(always)]
pub const fn space(q: Q) -> AddrSpace {
    if q.has(q::global) {
        AddrSpace::Global
    } else if q.has(q::shared_cluster) {
        AddrSpace::SharedCluster
    } else if q.has(q::shared) || q.has(q::shared_cta) {
        AddrSpace::SharedCta
    } else if q.has(q::local) {
        AddrSpace::Local
    } else if q.has(q::_const) {
        AddrSpace::Const
    } else if q.has(q::param_func) {
        AddrSpace::ParamFunc
    } else if q.has(q::param) || q.has(q::param_entry) {
        AddrSpace::ParamEntry
    } else {
        AddrSpace::Generic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_go_there_and_back() {
        let table = [
            (AddrSpace::Global, 0x200_0000_0010, 0x200_0000_0010),
            (AddrSpace::SharedCta, 0x10, 0x0100_0000_0000_0010),
            (AddrSpace::SharedCluster, 0x0300_0010, 0x0100_0000_0300_0010),
            (AddrSpace::Local, 0x10, 0x0200_0000_0000_0010),
            (AddrSpace::Const, 0x10, 0x0300_0000_0000_0010),
            (AddrSpace::ParamEntry, 0x10, 0x0400_0000_0000_0010),
        ];
        for (space, addr, generic) in table {
            assert_eq!(to_generic(space, addr), generic, "{space:?}");
            assert_eq!(from_generic(space, generic), addr, "{space:?}");
        }
        let global = 0x200_0000_0010;
        assert_eq!(from_generic(AddrSpace::SharedCta, global), global, "outside of the window");
    }

    #[test]
    fn windows() {
        let own = 0x0100_0000_0000_0010;
        let peer = 0x0100_0000_4100_0010;
        assert!(is_in(AddrSpace::SharedCta, own, 0) && is_in(AddrSpace::SharedCluster, own, 0));
        assert!(!is_in(AddrSpace::SharedCta, peer, 0) && is_in(AddrSpace::SharedCluster, peer, 0));
        assert!(is_in(AddrSpace::SharedCta, peer, 1), "rank 1 itself");
        assert!(is_in(AddrSpace::Global, 0x200_0000_0000, 0) && !is_in(AddrSpace::Global, own, 0));
        assert!(is_in(AddrSpace::Global, 0x0400_0000_0000_0000, 0), "kernel parameters");
        assert!(is_in(AddrSpace::Local, 0x0200_0000_0000_0000, 0));
        assert!(is_in(AddrSpace::Const, 0x0300_0000_0000_0000, 0));
        assert!(is_in(AddrSpace::ParamEntry, 0x0400_0000_0000_0000, 0));
        assert!(!is_in(AddrSpace::SharedCluster, 0x0100_0001_0000_0000, 0), "beyond 32 bits");
    }

    #[test]
    fn places() {
        use AddrSpace::*;
        let shared = |rank, offset| Some(Place::Shared { rank, offset });
        let table = [
            (Global, 0x0000_0200_0000_0010, Some(Place::Global { segment: 2, offset: 16 })),
            (Generic, 0x00ff_ff00_0000_0010, Some(Place::Global { segment: 0xffff, offset: 16 })),
            (Global, 0x0100_0000_0000_0000, None),
            (SharedCta, 0x00ff_ffff, shared(5, 0xff_ffff)),
            (SharedCluster, 0x10, shared(5, 16)),
            (Generic, 0x0100_0000_0000_0010, shared(5, 16)),
            (SharedCta, 0x4500_0010, shared(5, 16)),
            (Generic, 0x0100_0000_4500_0010, shared(5, 16)),
            (SharedCta, 0x4000_0010, None),
            (SharedCta, 0x0400_0010, None),
            (SharedCluster, 0x4000_0010, shared(0, 16)),
            (SharedCluster, 0x0400_0010, shared(4, 16)),
            (Generic, 0x0100_0000_7f00_0010, shared(63, 16)),
            (SharedCluster, 0x1_0000_0010, None),
            (Generic, 0x0100_0001_0000_0010, None),
            (Generic, 0x0200_0000_0000_0010, Some(Place::Local { offset: 16 })),
            (Generic, 0x0300_0000_0000_0010, Some(Place::Const { offset: 16 })),
            (Generic, 0x0400_0000_0000_0010, Some(Place::Param { offset: 16 })),
            (Generic, 0x0500_0000_0000_0010, None),
            (ParamFunc, u64::MAX, Some(Place::Local { offset: u64::MAX })),
            (Const, 1 << 60, Some(Place::Const { offset: 1 << 60 })),
            (ParamEntry, 8, Some(Place::Param { offset: 8 })),
        ];
        for (space, addr, place) in table {
            assert_eq!(decode(space, addr, 5), place, "{space:?} {addr:#x}");
            assert_eq!(resolve(space, addr, 5).is_err(), place.is_none(), "{space:?} {addr:#x}");
        }
    }

    #[test]
    fn multimem_addresses_are_global_and_no_place() {
        let addr = multimem_address(7, 0x40);
        assert_eq!(decode_multimem(addr), Some((7, 0x40)));
        assert_eq!(decode_multimem(global_address(7, 0x40)), None);
        assert!(is_in(AddrSpace::Global, addr, 0) && !is_in(AddrSpace::SharedCta, addr, 0));
        assert_eq!(to_generic(AddrSpace::Global, addr), addr);
        let FaultKind::WrongWindow { wanted, .. } = resolve(AddrSpace::Global, addr, 0).unwrap_err() else { panic!() };
        assert!(wanted.contains("multimem"), "{wanted}");
    }

    #[test]
    fn addresses_belong_to_the_nearest_segment() {
        assert_eq!(nearest_segment(global_address(2, 12)), (2, 12));
        assert_eq!(nearest_segment(global_address(2, 0) - 4), (2, -4));
        assert_eq!(nearest_segment(8), (0, 8));
    }

    #[test]
    fn mapped_addresses_name_a_rank() {
        assert_eq!(mapped_shared(0x40, 0, 1), 0x4000_0040);
        assert_eq!(mapped_shared(0x40, 0, 0), 0x40);
        assert_eq!(mapped_shared(0x0200_0040, 3, 0), 0x4300_0040);
        assert_eq!(mapped_shared(0x40, u32::MAX, 0), 0x7f00_0040);
        assert_eq!(to_generic(AddrSpace::SharedCluster, mapped_shared(0x40, 3, 0).into()), 0x0100_0000_4300_0040);
    }
}
