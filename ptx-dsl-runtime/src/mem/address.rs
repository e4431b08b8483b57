//! The 64-bit generic address space and its windows.
//!
//! Top byte: 0 global (segment << 40 | offset), 1 shared, 2 local, 3 const, 4 kernel parameters. A shared address has 32 bits:
//! offset in bits 0 to 23, and in bits 24 to 31 nothing for the own CTA or rank + 1 of a CTA of the cluster (`mapa`).

use crate::fault::FaultKind;

/// The state space an instruction names; without one it is generic.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddrSpace {
    Generic,
    Global,
    SharedCta,
    SharedCluster,
    Local,
    Const,
    /// Kernel parameters.
    ParamEntry,
    /// Parameters of a device function: they live in the thread's local memory.
    ParamFunc,
}

/// Where the window's number stands in a generic address.
pub const WINDOW_SHIFT: u32 = 56;
/// Window of shared memory.
pub const SHARED: u64 = 1;
/// Window of local memory.
pub const LOCAL: u64 = 2;
/// Window of `.const`.
pub const CONST: u64 = 3;
/// Window of kernel parameters.
pub const PARAM: u64 = 4;
/// Where the segment's number stands in a global address.
pub const SEGMENT_SHIFT: u32 = 40;
/// Segment of the module's `.global` variables.
pub const MODULE_SEGMENT: u64 = 1;
/// Segment of the first buffer.
pub const FIRST_BUFFER: u64 = 2;
/// Where rank + 1 stands in a shared address.
pub const RANK_SHIFT: u32 = 24;
/// Offset part of a shared address.
pub const SHARED_OFFSET: u64 = (1 << RANK_SHIFT) - 1;

/// A place in memory.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Global { segment: usize, offset: u64 },
    Shared { rank: u32, offset: u32 },
    Local { offset: u64 },
    Const { offset: u64 },
    Param { offset: u64 },
}

/// Finds what `addr` means in `space`, for a thread of the CTA of rank `own`.
#[inline(always)]
pub fn resolve(space: AddrSpace, addr: u64, own: u32) -> Result<Place, FaultKind> {
    let shared = |addr: u64| {
        let rank = (addr >> RANK_SHIFT & 0xff) as u32;
        Place::Shared { rank: if rank == 0 { own } else { rank - 1 }, offset: (addr & SHARED_OFFSET) as u32 }
    };
    let wrong = |wanted: &str| Err(FaultKind::WrongWindow { addr, wanted: wanted.into() });
    let global = |addr: u64| Place::Global {
        segment: (addr >> SEGMENT_SHIFT) as usize,
        offset: addr & ((1 << SEGMENT_SHIFT) - 1),
    };
    match space {
        AddrSpace::Generic => {
            let rest = addr & ((1 << WINDOW_SHIFT) - 1);
            match addr >> WINDOW_SHIFT {
                0 => Ok(global(addr)),
                SHARED if rest >> 32 == 0 => Ok(shared(rest)),
                LOCAL => Ok(Place::Local { offset: rest }),
                CONST => Ok(Place::Const { offset: rest }),
                PARAM => Ok(Place::Param { offset: rest }),
                _ => wrong("in any window of the generic address space"),
            }
        }
        AddrSpace::Global if addr >> WINDOW_SHIFT == 0 => Ok(global(addr)),
        AddrSpace::Global => wrong("an address of global memory"),
        AddrSpace::SharedCta | AddrSpace::SharedCluster => {
            if addr >> 32 != 0 {
                return wrong("a `.shared` address; a generic one needs an instruction without `.shared`");
            }
            let place = shared(addr);
            match place {
                Place::Shared { rank, .. } if space == AddrSpace::SharedCta && rank != own => {
                    wrong("in `.shared::cta`, it is of a peer CTA")
                }
                _ => Ok(place),
            }
        }
        AddrSpace::Local | AddrSpace::ParamFunc => Ok(Place::Local { offset: addr }),
        AddrSpace::Const => Ok(Place::Const { offset: addr }),
        AddrSpace::ParamEntry => Ok(Place::Param { offset: addr }),
    }
}

/// The generic address of `addr`, an address of `space` (`cvta`).
#[inline(always)]
pub fn to_generic(space: AddrSpace, addr: u64) -> u64 {
    match space {
        AddrSpace::Generic | AddrSpace::Global => addr,
        AddrSpace::SharedCta | AddrSpace::SharedCluster => SHARED << WINDOW_SHIFT | addr & 0xffff_ffff,
        AddrSpace::Local | AddrSpace::ParamFunc => LOCAL << WINDOW_SHIFT | addr,
        AddrSpace::Const => CONST << WINDOW_SHIFT | addr,
        AddrSpace::ParamEntry => PARAM << WINDOW_SHIFT | addr,
    }
}
