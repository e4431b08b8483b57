//! The fast path of mbarrier waits and arrivals: one object in the CTA's own shared memory for all lanes of a warp.
//!
//! All other cases, and all faults, go through [`mbarrier`].

use crate::fault::Fault;
use crate::kernel::flow::{Pc, Wait};
use crate::machine::ctx::Ctx;
use crate::machine::schedule::Choice;
use crate::memory::address::{AddrSpace, Place, decode_common};
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::Sync;
use crate::semantics::{mbarrier, space};
use crate::sync::mbarrier::{self as object, Arrive, State};

/// The offset of an object of this CTA; `None` for the slow path.
#[inline(always)]
fn own_object(x: &Ctx<'_>, space: AddrSpace, addr: u64) -> Option<usize> {
    if x.monitor.is_on() { None } else { object_of_cta(x, space, addr) }
}

/// The offset of an object of this CTA, whether there is a monitor or not.
#[inline(always)]
fn object_of_cta(x: &Ctx<'_>, space: AddrSpace, addr: u64) -> Option<usize> {
    if !addr.is_multiple_of(8) {
        return None;
    }
    match decode_common(space, addr, x.cur.cta) {
        Some(Place::Shared { offset, .. }) => Some(offset as usize),
        _ => None,
    }
}

/// Whether a `try_wait` returns false before its phase is complete, as the manual allows; only with a seed.
#[inline(always)]
pub(crate) fn gives_up(x: &mut Ctx<'_>) -> bool {
    if x.scheduling.steps.is_some() {
        return x.scheduling.choose_in_step(Choice::TimeOut, 2, x.site) != 0;
    }
    let gives_up = x.scheduling.choose(Choice::TimeOut, 4) == 3;
    if gives_up {
        x.report().note_give_up();
    }
    gives_up
}

#[inline(always)]
fn own_word(x: &Ctx<'_>, at: usize) -> Option<u64> {
    x.memory.shared.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

#[inline(always)]
fn phase_of(x: &Ctx<'_>, q: Q, addr: u64, parity: u64) -> Option<(usize, bool)> {
    let at = own_object(x, space(q), addr)?;
    object::passed(own_word(x, at)?, parity).ok().map(|passed| (at, passed))
}

/// Has the phase of this parity completed, so that the warp goes on within its region? False also for the slow path, and
/// without the default schedule: a wait is then a scheduling point.
#[inline(always)]
pub fn passes(x: &Ctx<'_>, q: Q, addr: u64, parity: u64) -> bool {
    x.scheduling.always_first && !x.cur.resumed && phase_of(x, q, addr, parity).is_some_and(|(_, passed)| passed)
}

/// `mbarrier.try_wait.parity` of the current warp, in region `here`: its result, or `None` if the warp waits there.
#[inline(always)]
pub fn try_wait(
    x: &mut Ctx<'_>,
    q: Q,
    addr: u64,
    parity: u64,
    here: Pc,
    site: u32,
) -> Result<Option<bool>, Box<Fault>> {
    match phase_of(x, q, addr, parity) {
        Some((_, passed)) if passed || x.cur.resumed => Ok(Some(passed)),
        Some((at, _)) => {
            x.site = site;
            if gives_up(x) {
                return Ok(Some(false));
            }
            x.park(here, Wait::Phase { rank: x.cur.cta, offset: at as u32, parity: parity & 1 });
            Ok(None)
        }
        None => try_wait_slow(x, q, addr, parity, here, site),
    }
}

#[inline(never)]
fn try_wait_slow(
    x: &mut Ctx<'_>,
    q: Q,
    addr: u64,
    parity: u64,
    here: Pc,
    site: u32,
) -> Result<Option<bool>, Box<Fault>> {
    x.site = site;
    if x.mask == 0 {
        return Ok(Some(false));
    }
    let (done, wait) = match test_monitored(x, q, addr, parity & 1) {
        Some(looked) => looked,
        None => mbarrier::test_together(x, q, addr, parity)?,
    };
    if done || x.resumed() || gives_up(x) {
        return Ok(Some(done));
    }
    x.park(here, wait);
    Ok(None)
}

/// The active lanes test an object, of which a monitor learns: whether the phase is complete, and what a wait for it waits for. `None`
/// for the slow path, with nothing done.
#[inline]
fn test_monitored(x: &mut Ctx<'_>, q: Q, addr: u64, parity: u64) -> Option<(bool, Wait)> {
    if x.scheduling.steps.is_some() {
        return None;
    }
    let at = object_of_cta(x, space(q), addr)?;
    let done = object::passed(own_word(x, at)?, parity).ok()?;
    let (who, order, offset) = (x.who(x.mask), x.order, at as u32);
    let seen = x.monitor.get()?.test(offset, (parity, done), order, who);
    seen.then_some((done, Wait::Phase { rank: who.rank, offset, parity }))
}

/// [`arrive_together`] of the active lanes, of which a monitor learns.
#[inline]
pub(crate) fn arrive_monitored(x: &mut Ctx<'_>, q: Q, addr: u64, drop: bool) -> Result<bool, Box<Fault>> {
    let fits = x.monitor.is_on() && x.mask != 0 && !q.has(q::expect_tx);
    Ok(fits && (!drop && arrive_early_monitored(x, q, addr)? || mbarrier::arrive_together(x, q, addr, drop, &mut [])?))
}

/// Arrives at an object of the CTA, of which a monitor learns, if that does not complete its phase.
#[inline]
fn arrive_early_monitored(x: &mut Ctx<'_>, q: Q, addr: u64) -> Result<bool, Box<Fault>> {
    if x.scheduling.steps.is_some() {
        return Ok(false);
    }
    let Some(at) = object_of_cta(x, space(q), addr) else { return Ok(false) };
    let (rank, lanes) = (x.cur.cta, x.mask);
    let early = own_word(x, at).and_then(|word| object::arrive_early(word, lanes.count_ones()));
    let Some(new) = early else { return Ok(false) };
    x.report_sync(Sync::MbarrierArrive { rank, offset: at as u32 }, lanes)?;
    if let Some(place) = x.memory.shared.get_mut(at..).and_then(|s| s.first_chunk_mut()) {
        *place = new.to_le_bytes();
    }
    x.changed();
    Ok(true)
}

/// `mbarrier.arrive` and `arrive_drop` of the lanes of `m` with unused `state`, each with a count of 1 or with `tx` bytes to
/// expect. False for the slow path, with nothing done.
#[inline(always)]
pub fn arrive_together(x: &mut Ctx<'_>, q: Q, m: u32, addr: u64, tx: u32, drop: bool) -> bool {
    let Some(at) = own_object(x, space(q), addr) else { return m == 0 };
    if !q.has(q::expect_tx)
        && !drop
        && let Some(place) = x.memory.shared.get_mut(at..).and_then(|s| s.first_chunk_mut())
        && let Some(new) = object::arrive_early(u64::from_le_bytes(*place), m.count_ones())
    {
        *place = new.to_le_bytes();
        x.changed();
        return true;
    }
    arrive_last(x, q, m, at, tx, drop)
}

/// [`arrive_together`] where a phase may complete.
#[inline(never)]
fn arrive_last(x: &mut Ctx<'_>, q: Q, m: u32, at: usize, tx: u32, drop: bool) -> bool {
    let (expects, n) = (q.has(q::expect_tx), m.count_ones());
    if n == 0 || expects && n != 1 {
        return n == 0;
    }
    // no arrival before the last completes a phase
    let word = own_word(x, at).filter(|w| State::decode(*w).is_some_and(|s| s.pending >= n));
    let how = Arrive { drop, no_complete: q.has(q::noComplete), expect_tx: expects.then_some(tx) };
    let Some(Ok((new, arrived))) = word.map(|w| object::arrive(w, n, how)) else { return false };
    let Some(place) = x.memory.shared.get_mut(at..).and_then(|s| s.first_chunk_mut()) else { return false };
    *place = new.to_le_bytes();
    x.changed();
    let site = x.site;
    let log = &mut x.cta_mut().tx_log;
    if arrived.completed {
        log.restart(at as u32);
        x.notify_waiters();
    } else if expects {
        log.count(at as u32, site, tx.into());
    }
    true
}
