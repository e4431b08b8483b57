//! `mbarrier.*` (PTX ISA 9.7.13.15): applies the transitions of [`crate::sync::mbarrier`] to each lane's object.
//!
//! Lanes execute in order. `.sem` and `.scope` have no effect but for monitors.

pub mod fast_path;

use super::{Done, active, own_shared_object, set, shared_object, space};
use crate::fault::{Fault, FaultKind};
use crate::kernel::{Flow, Wait};
use crate::machine::Ctx;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::Sync;
use crate::sync::mbarrier::{self as object, Arrive, Layout};

/// The instruction is defined in the file of the copies that it waits for.
pub use super::async_copy::cp_async_mbarrier_arrive;

const WHAT: &str = "the mbarrier object";

/// The object of an operation that reaches peer CTAs too.
fn find(x: &Ctx<'_>, q: Q, addr: u64, lane: usize) -> Result<(u32, u32), Box<Fault>> {
    shared_object(x, space(q), addr, 8, lane, WHAT)
}

/// The object of an operation on the executing CTA only.
fn find_own(x: &Ctx<'_>, q: Q, addr: u64, lane: usize) -> Result<u32, Box<Fault>> {
    own_shared_object(x, space(q), addr, 8, lane, WHAT)
}

const fn layout(q: Q) -> Layout {
    if q.has(q::layout_v1) { Layout::V1 } else { Layout::V0 }
}

/// `mbarrier.init [addr], count`
pub fn mbarrier_init(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        let offset = find_own(x, q, s[0][l], l)?;
        let count = s.get(1).map_or(0, |c| c[l]) as u32;
        let rank = x.rank();
        x.sync().mbarrier_lifetime(rank, offset, true, l as u32)?;
        x.sync().mbarrier(rank, offset, |_| object::init(layout(q), count).map(|new| (new, ())), l as u32)?;
    }
    Ok(())
}

/// `mbarrier.inval [addr]`
pub fn mbarrier_inval(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        let offset = find_own(x, q, s[0][l], l)?;
        let rank = x.rank();
        x.sync().mbarrier(rank, offset, |word| object::inval(word).map(|new| (new, ())), l as u32)?;
        x.sync().mbarrier_lifetime(rank, offset, false, l as u32)?;
    }
    Ok(())
}

/// The CTAs that an operation reaches: the address's, or with `.multicast::cluster::32b` those of the mask in the last operand.
fn reached(x: &Ctx<'_>, q: Q, s: &[&Lanes], lane: usize) -> Result<Vec<(u32, u32)>, Box<Fault>> {
    let (rank, offset) = find(x, q, s[0][lane], lane)?;
    if !q.has(q::multicast_cluster_32b) {
        return Ok(vec![(rank, offset)]);
    }
    let mask = s.last().map_or(0, |m| m[lane]) as u32;
    let size = x.ids().cluster_size();
    if let Some(rank) = active(mask).map(|r| r as u32).find(|&r| r >= size) {
        return Err(x.fault(FaultKind::NoSuchRank { rank, size }, lane as u32));
    }
    Ok(active(mask).map(|r| (r as u32, offset)).collect())
}

fn tx(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], expect: bool) -> Done {
    for l in active(x.mask) {
        let bytes = s.get(1).map_or(0, |t| t[l]) as u32;
        let step = if expect { object::expect_tx } else { object::complete_tx };
        for (rank, offset) in reached(x, q, s, l)? {
            if expect {
                x.report_sync(Sync::MbarrierExpects { rank, offset, bytes }, 1 << l)?;
            }
            x.report_sync(Sync::Mbarrier { rank, offset, counts: true }, 1 << l)?;
            let done = x.sync().update_mbarrier(rank, offset, |word| step(word, bytes), l as u32);
            done.map_err(|kind| x.fault(kind, l as u32))?;
        }
    }
    Ok(())
}

/// `mbarrier.expect_tx [addr], txCount{, ctaMask}`
pub fn mbarrier_expect_tx(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    tx(x, q, s, true)
}

/// `mbarrier.complete_tx [addr], txCount{, ctaMask}`
pub fn mbarrier_complete_tx(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    tx(x, q, s, false)
}

fn arrive_on(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes], drop: bool) -> Done {
    // operands after the address: count or txCount, then the multicast mask
    let operands = &s[1.min(s.len())..s.len() - usize::from(q.has(q::multicast_cluster_32b) && s.len() > 1)];
    if let Some(addr) = shared_by_all(x, s[0])
        && operands.is_empty()
        && !q.has(q::expect_tx)
        && !q.has(q::multicast_cluster_32b)
        && arrive_together(x, q, addr, drop, d)?
    {
        return Ok(());
    }
    for l in active(x.mask) {
        let operand = operands.first().map(|v| v[l] as u32);
        let (count, expect_tx) =
            if q.has(q::expect_tx) { (1, Some(operand.unwrap_or(0))) } else { (operand.unwrap_or(1), None) };
        let how = Arrive { drop, no_complete: q.has(q::noComplete), expect_tx };
        for (rank, offset) in reached(x, q, s, l)? {
            returns_state(x, q, rank, drop, l)?;
            if let Some(bytes) = expect_tx {
                x.report_sync(Sync::MbarrierExpects { rank, offset, bytes }, 1 << l)?;
            }
            x.report_sync(Sync::MbarrierArrive { rank, offset }, 1 << l)?;
            let arrived = x.sync().update_mbarrier(rank, offset, |word| object::arrive(word, count, how), l as u32);
            let arrived = arrived.map_err(|kind| x.fault(kind, l as u32))?;
            set(d, 0, l, if rank == x.rank() { arrived.state } else { 0 });
        }
    }
    Ok(())
}

/// The active lanes arrive on one object, with a count of 1 each: its word is read and written once. False, with nothing done, if a monitor
/// has to know which of them arrive in the next phase.
pub(crate) fn arrive_together(
    x: &mut Ctx<'_>,
    q: Q,
    addr: u64,
    drop: bool,
    d: &mut [&mut Lanes],
) -> Result<bool, Box<Fault>> {
    let (first, lanes) = (x.mask.trailing_zeros() as usize, x.mask);
    let (rank, offset) = find(x, q, addr, first)?;
    if x.monitor.is_on() && x.sync().mbarrier_state(rank, offset).is_some_and(|s| s.pending < lanes.count_ones()) {
        return Ok(false);
    }
    returns_state(x, q, rank, drop, first)?;
    x.report_sync(Sync::MbarrierArrive { rank, offset }, lanes)?;
    let own = rank == x.rank();
    let how = Arrive { drop, no_complete: q.has(q::noComplete), expect_tx: None };
    let (mut at, mut several) = (first, false);
    let all = |mut word: u64| {
        let n = lanes.count_ones();
        if let Some(s) = object::State::decode(word).filter(|s| s.pending >= n) {
            // no arrival before the last completes a phase
            for (i, l) in (0..).zip(active(if d.is_empty() { 0 } else { lanes })) {
                let expected = s.expected - if drop { i } else { 0 };
                let state = object::State { pending: s.pending - i, expected, ..s }.encode();
                set(d, 0, l, if own { state } else { 0 });
            }
            at = 31 - lanes.leading_zeros() as usize;
            let (word, arrived) = object::arrive(word, n, how)?;
            return Ok((word, arrived.completed));
        }
        several = true;
        let mut completed = false;
        for l in active(lanes) {
            at = l;
            let (new, arrived) = object::arrive(word, 1, how)?;
            (word, completed) = (new, completed | arrived.completed);
            set(d, 0, l, if own { arrived.state } else { 0 });
        }
        Ok((word, completed))
    };
    let done = x.sync().update_mbarrier(rank, offset, all, first as u32);
    // several phases may have completed
    if done.map_err(|kind| x.fault(kind, at as u32))? {
        x.notify_waiters();
    }
    if several {
        // the last lanes have arrived in the next phase
        x.report_sync(Sync::MbarrierArrive { rank, offset }, lanes)?;
    }
    Ok(true)
}

/// An arrival on an object of another CTA returns no state: it must be written with `_`.
fn returns_state(x: &Ctx<'_>, q: Q, rank: u32, drop: bool, lane: usize) -> Done {
    if rank == x.rank() || !q.has(q::state) {
        return Ok(());
    }
    let what = format!("this arrival asks for a state, but CTA {rank} owns {WHAT}");
    let section = if drop { "9.7.13.15.14" } else { "9.7.13.15.13" };
    Err(x.fault(FaultKind::undefined(what, section, "write `_` in place of the state"), lane as u32))
}

/// `mbarrier.arrive state, [addr]{, count or txCount}{, ctaMask}`
pub fn mbarrier_arrive(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    arrive_on(x, q, s, d, false)
}

/// `mbarrier.arrive_drop state, [addr]{, count or txCount}{, ctaMask}`
pub fn mbarrier_arrive_drop(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    arrive_on(x, q, s, d, true)
}

/// Objects that waits have found incomplete: rank, offset, parity of the phase.
type Missing = Vec<(u32, u32, u64)>;

/// The address, if it is the same in all active lanes.
#[inline(always)]
fn shared_by_all(x: &Ctx<'_>, addr: &Lanes) -> Option<u64> {
    let first = addr[x.mask.trailing_zeros() as usize & 31];
    let mut differ = 0;
    for (l, a) in addr.iter().enumerate() {
        differ |= if x.mask >> l & 1 != 0 { a ^ first } else { 0 };
    }
    (x.mask != 0 && differ == 0).then_some(first)
}

/// The active lanes test one object and the phase of one parity: whether it is complete, and what a wait for it waits for.
pub(crate) fn test_together(x: &mut Ctx<'_>, q: Q, addr: u64, parity: u64) -> Result<(bool, Wait), Box<Fault>> {
    let (rank, first) = (x.rank(), x.mask.trailing_zeros() as usize);
    let (offset, parity) = (find_own(x, q, addr, first)?, parity & 1);
    x.report_sync(Sync::Mbarrier { rank, offset, counts: false }, x.mask)?;
    x.report_sync(Sync::MbarrierTest { rank, offset, parity }, x.mask)?;
    let look = |word| object::passed(word, parity).map(|passed| (word, passed));
    let done =
        x.sync().update_mbarrier(rank, offset, look, first as u32).map_err(|kind| x.fault(kind, first as u32))?;
    if done {
        x.report_sync(Sync::MbarrierWait { rank, offset }, x.mask)?;
    }
    Ok((done, Wait::Phase { rank, offset, parity }))
}

/// Tests for all active lanes, if they test one object and one parity, and writes their results.
fn look_together(
    x: &mut Ctx<'_>,
    q: Q,
    s: &[&Lanes],
    d: &mut [&mut Lanes],
) -> Result<Option<(bool, Wait)>, Box<Fault>> {
    let (Some(addr), Some(phase), true) =
        (shared_by_all(x, s[0]), s.get(1).and_then(|p| shared_by_all(x, p)), q.has(q::parity))
    else {
        return Ok(None);
    };
    let (done, wait) = test_together(x, q, addr, phase)?;
    for l in active(x.mask) {
        set(d, 0, l, done.into());
        set(d, 1, l, 0);
        set(d, 2, l, 0);
    }
    Ok(Some((done, wait)))
}

/// Tests the object of every active lane and writes `waitComplete`. Returns whether any lane's phase is complete, and the objects
/// whose phase is not.
///
/// A report predicate and value are false and 0: nothing the host runs today makes a report, so a conditional phase
/// (`.phase_type::conditional`) completes with its primary one.
fn look(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Result<(bool, Missing), Box<Fault>> {
    let (mut complete, mut missing) = (false, Missing::new());
    let rank = x.rank();
    for l in active(x.mask) {
        let offset = find_own(x, q, s[0][l], l)?;
        let phase = s.get(1).map_or(0, |p| p[l]);
        let parity = if q.has(q::parity) {
            phase & 1
        } else {
            object::state_parity(phase).map_err(|e| x.fault(e.fault(offset), l as u32))?
        };
        x.report_sync(Sync::MbarrierTest { rank, offset, parity }, 1 << l)?;
        let done = x.sync().mbarrier(rank, offset, |word| object::passed(word, parity).map(|p| (word, p)), l as u32)?;
        if done {
            complete = true;
            x.report_sync(Sync::MbarrierWait { rank, offset }, 1 << l)?;
        } else if !missing.contains(&(rank, offset, parity)) {
            missing.push((rank, offset, parity));
        }
        set(d, 0, l, done.into());
        set(d, 1, l, 0);
        set(d, 2, l, 0);
    }
    Ok((complete, missing))
}

/// `mbarrier.test_wait waitComplete, [addr], state or phaseParity`
pub fn mbarrier_test_wait(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let all = match look_together(x, q, s, d)? {
        Some((done, _)) => done,
        None => look(x, q, s, d)?.1.is_empty(),
    };
    if !all {
        x.scheduling.yield_now();
    }
    Ok(())
}

/// `mbarrier.try_wait waitComplete, [addr], state or phaseParity{, timeHint}`: waits while no lane can go on.
///
/// The time hint is ignored: the driver times out waits.
pub fn mbarrier_try_wait(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Result<Flow, Box<Fault>> {
    if let Some((done, wait)) = look_together(x, q, s, d)? {
        return Ok(if done || x.resumed() || fast_path::gives_up(x) { Flow::Next } else { Flow::Wait(wait) });
    }
    let (complete, missing) = look(x, q, s, d)?;
    if !complete && !missing.is_empty() && !x.resumed() && !fast_path::gives_up(x) {
        return Ok(Flow::Wait(match missing[..] {
            [(rank, offset, parity)] => Wait::Phase { rank, offset, parity },
            _ => Wait::Mbarrier(missing),
        }));
    }
    Ok(Flow::Next)
}

/// `mbarrier.pending_count count, state`
pub fn mbarrier_pending_count(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        let count = object::pending_count(s[0][l]).map_err(|e| x.fault(e.fault(0), l as u32))?;
        set(d, 0, l, count.into());
    }
    Ok(())
}

/// `mbarrier.check_layout p, [addr]`
pub fn mbarrier_check_layout(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let rank = x.rank();
    for l in active(x.mask) {
        let offset = find_own(x, q, s[0][l], l)?;
        let is = x.sync().mbarrier(rank, offset, |w| object::check_layout(w, layout(q)).map(|is| (w, is)), l as u32)?;
        set(d, 0, l, is.into());
    }
    Ok(())
}

semantics! {
    warp "mbarrier.arrive" => mbarrier_arrive,
    warp "mbarrier.arrive_drop" => mbarrier_arrive_drop,
    warp "mbarrier.check_layout" => mbarrier_check_layout,
    warp "mbarrier.complete_tx" => mbarrier_complete_tx,
    warp "mbarrier.expect_tx" => mbarrier_expect_tx,
    warp "mbarrier.init" => mbarrier_init,
    warp "mbarrier.inval" => mbarrier_inval,
    warp "mbarrier.pending_count" => mbarrier_pending_count,
    warp "mbarrier.test_wait" => mbarrier_test_wait,
    block "mbarrier.try_wait" => mbarrier_try_wait,
}
