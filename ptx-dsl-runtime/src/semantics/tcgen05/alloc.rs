//! `tcgen05.alloc`, `.dealloc`, `.relinquish_alloc_permit` (PTX ISA 9.7.16.7): by a whole warp, with `.cta_group::2` by one
//! warp of each CTA of the pair.

use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::memory::tmem;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Source;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::{Sync, TensorBy};
use crate::semantics::{Blocks, active, own_shared_object};

/// A warp-uniform operand.
pub(super) fn agreed(x: &Ctx<'_>, v: Option<Source<'_>>, what: &str) -> Result<u64, Box<Fault>> {
    let Some(v) = v else { return Ok(0) };
    let mut lanes = active(x.mask).map(|l| (l, v.lane(l)));
    let Some((_, first)) = lanes.next() else { return Ok(0) };
    match lanes.find(|&(_, value)| value != first) {
        None => Ok(first),
        Some((l, value)) => {
            let what = format!("{what} differs between lanes of the warp: {first:#x} and {value:#x}");
            let help = "give all lanes of the warp the same value";
            Err(x.fault(FaultKind::IssueGranularity { what, help }, l as u32))
        }
    }
}

/// The lane that reports name for the warp.
pub(super) fn leader(x: &Ctx<'_>) -> u32 {
    x.mask.trailing_zeros().min(31)
}

/// `tcgen05.alloc [dst], nCols`: the address of the columns is stored at `dst`, in shared memory of the executing CTA.
pub fn tcgen05_alloc(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if x.tensor().allocated().is_none()
        && let Some(wait) = x.tensor().whole_warp("tcgen05.alloc")?
    {
        return Ok(Flow::Wait(wait));
    }
    let lane = leader(x);
    let dst = agreed(x, s.first().copied().map(Source::Lanes), "the address of `tcgen05.alloc`")?;
    let columns = agreed(x, s.get(1).copied().map(Source::Lanes), "the number of columns of `tcgen05.alloc`")? as u32;
    let space = if q.has(q::shared_cta) || q.has(q::shared) { AddrSpace::SharedCta } else { AddrSpace::Generic };
    let offset = own_shared_object(x, space, dst, 4, lane as usize, "the result of `tcgen05.alloc`")?;
    match x.tensor().allocated() {
        // lane 0 of Tensor Memory, so the address is the column
        Some(column) => {
            let from = column as usize;
            let by = TensorBy::Alloc { with_peer: q.has(q::cta_group_2) };
            x.tensor().columns(from..from + columns as usize, by, lane)?;
            x.write(AddrSpace::SharedCta, offset as u64, 4, [column as u64, 0, 0, 0], lane)?;
            // the warp stores it together, so each of its lanes may read it
            let members = x.mask;
            x.report_sync(Sync::Warp { members, arrives: true }, members)?;
            x.report_sync(Sync::Warp { members, arrives: false }, members)?;
            Ok(Flow::Next)
        }
        None => x.tensor().alloc(q.has(q::cta_group_2), columns, q.has(q::exclusive), lane).map(Flow::Wait),
    }
}

/// `tcgen05.dealloc taddr, nCols`
pub fn tcgen05_dealloc(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if x.tensor().allocated().is_some() {
        return Ok(Flow::Next);
    }
    if let Some(wait) = x.tensor().whole_warp("tcgen05.dealloc")? {
        return Ok(Flow::Wait(wait));
    }
    let lane = leader(x);
    let taddr =
        agreed(x, s.first().copied().map(Source::Lanes), "the Tensor Memory address of `tcgen05.dealloc`")? as u32;
    let columns = agreed(x, s.get(1).copied().map(Source::Lanes), "the number of columns of `tcgen05.dealloc`")? as u32;
    let (row, column) = tmem::split(taddr);
    if row != 0 {
        let what = format!("deallocation at lane {row} of Tensor Memory; allocations start at lane 0");
        let help = "pass the address that `tcgen05.alloc` has written";
        return Err(x.fault(FaultKind::TensorMemory { what, help }, lane));
    }
    let freed = column..column + columns as usize;
    x.tensor().columns(freed, TensorBy::Dealloc, lane)?;
    let wait = x.tensor().dealloc(q.has(q::cta_group_2), column as u32, columns, q.has(q::exclusive), lane)?;
    Ok(wait.map_or(Flow::Next, Flow::Wait))
}

/// `tcgen05.relinquish_alloc_permit`
pub fn tcgen05_relinquish_alloc_permit(x: &mut Ctx<'_>, q: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if x.tensor().allocated().is_some() {
        return Ok(Flow::Next);
    }
    if let Some(wait) = x.tensor().whole_warp("tcgen05.relinquish_alloc_permit")? {
        return Ok(Flow::Wait(wait));
    }
    let lane = leader(x);
    let wait = x.tensor().relinquish(q.has(q::cta_group_2), lane)?;
    Ok(wait.map_or(Flow::Next, Flow::Wait))
}

semantics! {
    block "tcgen05.alloc" => tcgen05_alloc,
    block "tcgen05.dealloc" => tcgen05_dealloc,
    block "tcgen05.relinquish_alloc_permit" => tcgen05_relinquish_alloc_permit,
}
