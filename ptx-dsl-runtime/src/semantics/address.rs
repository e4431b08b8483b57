//! `cvta`, `isspacep`, `mapa`, `getctarank` (PTX ISA 9.7.9.19, 9.7.9.20, 9.7.9.23, 9.7.9.24).

use super::{Done, active, place, set, space};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
pub use crate::memory::address::mapped_shared;
use crate::memory::address::{AddrSpace, Place, decode_common, from_generic, is_in, to_generic};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};

/// `cvta d, a` and `cvta.to d, a`
#[inline]
pub fn cvta(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        let v = if q.has(q::to) { from_generic(space(q), s[0][l]) } else { to_generic(space(q), s[0][l]) };
        set(d, 0, l, v);
    }
    Ok(())
}

/// `isspacep p, a`
#[inline]
pub fn isspacep(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let own = x.rank();
    for l in active(x.mask) {
        set(d, 0, l, is_in(space(q), s[0][l], own).into());
    }
    Ok(())
}

/// Rank and offset of an address that has to be in shared memory of the cluster.
#[inline]
fn shared(x: &Ctx<'_>, space: AddrSpace, addr: u64, lane: usize) -> Result<(u32, u32), Box<Fault>> {
    if let Some(Place::Shared { rank, offset }) = decode_common(space, addr, x.rank()) {
        return Ok((rank, offset));
    }
    match place(x, space, addr, lane)? {
        Place::Shared { rank, offset } => Ok((rank, offset)),
        _ => {
            let wanted = "in the window of shared memory".into();
            Err(x.fault(FaultKind::WrongWindow { addr, wanted }, lane as u32))
        }
    }
}

/// `mapa d, a, b`: the address of `a` in the CTA of rank `b`. With a rank outside of the cluster the access faults.
#[inline]
pub fn mapa(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let (space, generic) = (space(q), !q.has(q::shared_cluster));
    for l in active(x.mask) {
        let (_, offset) = shared(x, space, s[0][l], l)?;
        let rank = s.get(1).map_or(0, |b| b[l]) as u32;
        let addr = mapped_shared(offset, rank, x.rank()).into();
        set(d, 0, l, if generic { to_generic(AddrSpace::SharedCluster, addr) } else { addr });
    }
    Ok(())
}

/// `getctarank d, a`
#[inline]
pub fn getctarank(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        let (rank, _) = shared(x, space(q), s[0][l], l)?;
        set(d, 0, l, rank.into());
    }
    Ok(())
}

semantics! {
    warp "cvta" => cvta,
    warp "getctarank" => getctarank,
    warp "isspacep" => isspacep,
    warp "mapa" => mapa,
}
