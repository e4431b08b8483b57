//! `cvta`, `isspacep`, `mapa`, `getctarank` (PTX ISA 9.7.9.18 to .20, .25, .26).

use super::{Done, SHARED_OFFSET, WINDOW_SHIFT, active, place, set, space};
use crate::fault::{Fault, FaultKind};
use crate::mem::address::{AddrSpace, CONST, LOCAL, PARAM, Place, RANK_SHIFT, SHARED, resolve, to_generic};
use crate::qual::{Q, q};
use crate::{Ctx, Lanes, Monitor};

/// The address in `space` of a generic address. One outside of the window stays as it is: an access through it faults.
fn from_generic(space: AddrSpace, addr: u64) -> u64 {
    let window = match space {
        AddrSpace::Generic | AddrSpace::Global => return addr,
        AddrSpace::SharedCta | AddrSpace::SharedCluster => SHARED,
        AddrSpace::Local | AddrSpace::ParamFunc => LOCAL,
        AddrSpace::Const => CONST,
        AddrSpace::ParamEntry => PARAM,
    };
    if addr >> WINDOW_SHIFT == window { addr & ((1 << WINDOW_SHIFT) - 1) } else { addr }
}

/// `cvta d, a` and `cvta.to d, a`
#[inline]
pub fn cvta<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    s: [&Lanes; S],
    mut d: [&mut Lanes; D],
) -> Done {
    for l in active(x.mask) {
        let v = if q.has(q::to) { from_generic(space(q), s[0][l]) } else { to_generic(space(q), s[0][l]) };
        set(&mut d, 0, l, v);
    }
    Ok(())
}

/// Is the generic address in the window of `space`, seen from the CTA of rank `own`?
fn is_in(space: AddrSpace, addr: u64, own: u32) -> bool {
    let window = addr >> WINDOW_SHIFT;
    match space {
        // the window of kernel parameters is contained in the global one (6.4.1.1)
        AddrSpace::Global | AddrSpace::Generic => window == 0 || window == PARAM,
        AddrSpace::Local | AddrSpace::ParamFunc => window == LOCAL,
        AddrSpace::Const => window == CONST,
        AddrSpace::ParamEntry => window == PARAM,
        AddrSpace::SharedCluster => matches!(resolve(AddrSpace::Generic, addr, own), Ok(Place::Shared { .. })),
        AddrSpace::SharedCta => {
            matches!(resolve(AddrSpace::Generic, addr, own), Ok(Place::Shared { rank, .. }) if rank == own)
        }
    }
}

/// `isspacep p, a`
#[inline]
pub fn isspacep<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    s: [&Lanes; S],
    mut d: [&mut Lanes; D],
) -> Done {
    let own = x.rank();
    for l in active(x.mask) {
        set(&mut d, 0, l, is_in(space(q), s[0][l], own).into());
    }
    Ok(())
}

/// Rank and offset of an address that has to be in shared memory of the cluster.
fn shared<M: Monitor>(x: &Ctx<'_, M>, q: Q, addr: u64, lane: usize) -> Result<(u32, u32), Box<Fault>> {
    match place(x, space(q), addr, lane)? {
        Place::Shared { rank, offset } => Ok((rank, offset)),
        _ => {
            let wanted = "in the window of shared memory".into();
            Err(x.fault(FaultKind::WrongWindow { addr, wanted }, lane as u32))
        }
    }
}

/// The same place in the CTA of another rank. The field holds ranks below 255; a larger one becomes 254, which no
/// cluster has, so that the access faults.
fn mapped(generic: bool, offset: u32, rank: u32) -> u64 {
    let addr = u64::from(rank.min(254) + 1) << RANK_SHIFT | u64::from(offset) & SHARED_OFFSET;
    if generic { to_generic(AddrSpace::SharedCluster, addr) } else { addr }
}

/// `mapa.shared::cluster.u32`: any address of 32 bits is one of shared memory.
#[inline(always)]
pub fn mapped_shared(addr: u32, rank: u32) -> u32 {
    rank.min(254).wrapping_add(1) << RANK_SHIFT | addr & SHARED_OFFSET as u32
}

/// `mapa d, a, b`: the address of `a` in the CTA of rank `b`. With a rank outside of the cluster the access faults.
#[inline]
pub fn mapa<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    s: [&Lanes; S],
    mut d: [&mut Lanes; D],
) -> Done {
    for l in active(x.mask) {
        let (_, offset) = shared(x, q, s[0][l], l)?;
        let rank = s.get(1).map_or(0, |b| b[l]) as u32;
        set(&mut d, 0, l, mapped(!q.has(q::shared_cluster), offset, rank));
    }
    Ok(())
}

/// `getctarank d, a`
#[inline]
pub fn getctarank<M: Monitor, const S: usize, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    s: [&Lanes; S],
    mut d: [&mut Lanes; D],
) -> Done {
    for l in active(x.mask) {
        let (rank, _) = shared(x, q, s[0][l], l)?;
        set(&mut d, 0, l, rank.into());
    }
    Ok(())
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
        let peer = 0x0100_0000_0200_0010;
        assert!(is_in(AddrSpace::SharedCta, own, 0) && is_in(AddrSpace::SharedCluster, own, 0));
        assert!(!is_in(AddrSpace::SharedCta, peer, 0) && is_in(AddrSpace::SharedCluster, peer, 0));
        assert!(is_in(AddrSpace::SharedCta, peer, 1), "rank 1 itself");
        assert!(is_in(AddrSpace::Global, 0x200_0000_0000, 0) && !is_in(AddrSpace::Global, own, 0));
        assert!(is_in(AddrSpace::Local, 0x0200_0000_0000_0000, 0));
        assert!(is_in(AddrSpace::Const, 0x0300_0000_0000_0000, 0));
        assert!(is_in(AddrSpace::ParamEntry, 0x0400_0000_0000_0000, 0));
    }

    #[test]
    fn mapped_addresses_name_a_rank() {
        assert_eq!(mapped(false, 0x40, 0), 0x0100_0040);
        assert_eq!(mapped(false, 0x40, 3), 0x0400_0040);
        assert_eq!(mapped(true, 0x40, 3), 0x0100_0000_0400_0040);
        assert_eq!(mapped(false, 0x40, u32::MAX), 0xff00_0040);
        for (addr, rank) in [(0x40, 0), (0x0200_0040, 3), (0xff_ffff, 254), (0, 255), (0x40, u32::MAX)] {
            assert_eq!(u64::from(mapped_shared(addr, rank)), mapped(false, addr & 0xff_ffff, rank), "{addr:#x} {rank}");
        }
    }
}
