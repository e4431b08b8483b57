//! `bar`, `barrier`, `bar.warp.sync`, `barrier.cluster` (PTX ISA 9.7.13.1 to 9.7.13.3).
//!
//! A barrier in divergent code counts each lane when it arrives. `.aligned` has no effect but for monitors.

use super::{Done, active, same};
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::Sync;
use crate::semantics::Blocks;
use crate::sync::barrier::RedOp;

/// Barrier number and thread count, equal in the active lanes.
fn operands(x: &Ctx<'_>, id: Option<&&Lanes>, count: Option<&&Lanes>) -> Result<(u32, Option<u32>), Box<Fault>> {
    let lane = x.mask.trailing_zeros();
    let id = id.map_or(Ok(0), |id| same(x, id, 32, "the barrier number"))? as u32;
    let wrong = |what: String| x.fault(FaultKind::Barrier { id, what }, lane);
    if id > 15 {
        return Err(wrong("barriers are numbered 0 to 15".into()));
    }
    let Some(count) = count else { return Ok((id, None)) };
    let count = same(x, count, 32, "the thread count of the barrier")? as u32;
    if !count_is_whole_warps(count) {
        return Err(wrong(format!("the thread count {count} is not a positive multiple of the warp size")));
    }
    Ok((id, Some(count)))
}

const fn count_is_whole_warps(count: u32) -> bool {
    count != 0 && count.is_multiple_of(32)
}

fn sync(x: &mut Ctx<'_>, s: &[&Lanes]) -> Blocks {
    if x.resumed() {
        return Ok(Flow::Next);
    }
    let (id, count) = operands(x, s.first(), s.get(1))?;
    x.sync().barrier_arrive(id, count, true, None).map(Flow::Wait)
}

fn arrive(x: &mut Ctx<'_>, s: &[&Lanes]) -> Done {
    let (id, count) = operands(x, s.first(), s.get(1))?;
    x.sync().barrier_arrive(id, count, false, None).map(|_| ())
}

/// `a{, b}, c`: the predicate comes last, negated already where the form says `!c`.
fn red(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    if x.resumed() {
        let result = x.sync().barrier_result();
        for l in active(x.mask) {
            super::set(d, 0, l, result);
        }
        return Ok(Flow::Next);
    }
    let Some((c, s)) = s.split_last() else { return Ok(Flow::Next) };
    let (id, count) = operands(x, s.first(), s.get(1))?;
    let op = if q.has(q::popc) {
        RedOp::Popc
    } else if q.has(q::and) {
        RedOp::And
    } else {
        RedOp::Or
    };
    let ayes = active(x.mask).filter(|&l| c[l] & 1 != 0).fold(0, |m, l| m | 1 << l);
    x.sync().barrier_arrive(id, count, true, Some((op, ayes))).map(Flow::Wait)
}

/// `bar.sync a{, b}`
pub fn bar_sync(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    sync(x, s)
}

/// `bar.arrive a, b`
pub fn bar_arrive(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    arrive(x, s)
}

/// `bar.red d, a{, b}, c`
pub fn bar_red(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    red(x, q, s, d)
}

/// `barrier.sync a{, b}`
pub fn barrier_sync(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    sync(x, s)
}

/// `barrier.arrive a, b`
pub fn barrier_arrive(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    arrive(x, s)
}

/// `barrier.red d, a{, b}, c`
pub fn barrier_red(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    red(x, q, s, d)
}

/// `bar.warp.sync membermask`: the members need not come to the same instruction.
pub fn bar_warp_sync(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    let Some(members) = s.first() else { return Ok(Flow::Next) };
    let groups = super::warp::groups(x, members, "bar.warp.sync")?;
    let mut waiting = Vec::new();
    if !x.resumed() {
        for &(members, lanes) in &groups {
            x.report_sync(Sync::Warp { members, arrives: true }, lanes)?;
            waiting.extend(x.sync().bar_warp_sync(members).map(|wait| (lanes, wait)));
        }
    }
    for (members, lanes) in groups {
        if !waiting.iter().any(|(others, _)| *others == lanes) {
            x.report_sync(Sync::Warp { members, arrives: false }, lanes)?;
        }
    }
    Ok(if waiting.is_empty() { Flow::Next } else { Flow::WaitInGroups(waiting) })
}

/// `barrier.cluster.arrive`
pub fn barrier_cluster_arrive(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    x.sync().cluster_arrive()
}

/// `barrier.cluster.wait`
pub fn barrier_cluster_wait(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if x.resumed() { Ok(Flow::Next) } else { x.sync().cluster_wait() }
}

semantics! {
    warp "bar.arrive" => bar_arrive,
    warp "bar.cta.arrive" => bar_arrive,
    block "bar.cta.red" => bar_red,
    block "bar.cta.sync" => bar_sync,
    block "bar.red" => bar_red,
    block "bar.sync" => bar_sync,
    block "bar.warp.sync" => bar_warp_sync,
    warp "barrier.arrive" => barrier_arrive,
    warp "barrier.cluster.arrive" => barrier_cluster_arrive,
    block "barrier.cluster.wait" => barrier_cluster_wait,
    warp "barrier.cta.arrive" => barrier_arrive,
    block "barrier.cta.red" => barrier_red,
    block "barrier.cta.sync" => barrier_sync,
    block "barrier.red" => barrier_red,
    block "barrier.sync" => barrier_sync,
}

#[cfg(test)]
mod tests {
    #[test]
    fn thread_counts_are_whole_warps() {
        for (count, ok) in [(0, false), (1, false), (31, false), (32, true), (33, false), (64, true), (1024, true)] {
            assert_eq!(super::count_is_whole_warps(count), ok, "{count}");
        }
    }
}
