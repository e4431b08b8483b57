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

impl Ctx<'_> {
    /// The offset of an object of this CTA; `None` for the slow path.
    #[inline(always)]
    fn own_object(&self, space: AddrSpace, addr: u64) -> Option<usize> {
        if self.monitor.is_on() { None } else { self.object_of_cta(space, addr) }
    }

    /// The offset of an object of this CTA, whether there is a monitor or not.
    #[inline(always)]
    fn object_of_cta(&self, space: AddrSpace, addr: u64) -> Option<usize> {
        if !addr.is_multiple_of(8) {
            return None;
        }
        match decode_common(space, addr, self.cur.cta) {
            Some(Place::Shared { offset, .. }) => Some(offset as usize),
            _ => None,
        }
    }

    /// Does a `try_wait` return false before its phase is complete, as the manual allows? Only with a seed.
    #[inline(always)]
    pub(crate) fn gives_up(&mut self) -> bool {
        if self.scheduling.steps.is_some() {
            return self.scheduling.choose_in_step(Choice::TimeOut, 2, self.site) != 0;
        }
        let gives_up = self.scheduling.choose(Choice::TimeOut, 4) == 3;
        if gives_up {
            self.note_give_up();
        }
        gives_up
    }

    #[inline(always)]
    fn own_word(&self, at: usize) -> Option<u64> {
        self.memory.shared.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
    }

    #[inline(always)]
    fn phase_of(&self, q: Q, addr: u64, parity: u64) -> Option<(usize, bool)> {
        let at = self.own_object(space(q), addr)?;
        object::passed(self.own_word(at)?, parity).ok().map(|passed| (at, passed))
    }

    /// Has the phase of this parity completed, so that the warp goes on within its region? False also for the slow path, and
    /// without the default schedule: a wait is then a scheduling point.
    #[inline(always)]
    pub fn passes(&self, q: Q, addr: u64, parity: u64) -> bool {
        self.scheduling.always_first
            && !self.cur.resumed
            && self.phase_of(q, addr, parity).is_some_and(|(_, passed)| passed)
    }

    /// `mbarrier.try_wait.parity` of the current warp, in region `here`: its result, or `None` if the warp waits there.
    #[inline(always)]
    pub fn try_wait(&mut self, q: Q, addr: u64, parity: u64, here: Pc, site: u32) -> Result<Option<bool>, Box<Fault>> {
        match self.phase_of(q, addr, parity) {
            Some((_, passed)) if passed || self.cur.resumed => Ok(Some(passed)),
            Some((at, _)) => {
                self.site = site;
                if self.gives_up() {
                    return Ok(Some(false));
                }
                self.park(here, Wait::Phase { rank: self.cur.cta, offset: at as u32, parity: parity & 1 });
                Ok(None)
            }
            None => self.try_wait_slow(q, addr, parity, here, site),
        }
    }

    #[inline(never)]
    fn try_wait_slow(&mut self, q: Q, addr: u64, parity: u64, here: Pc, site: u32) -> Result<Option<bool>, Box<Fault>> {
        self.site = site;
        if self.mask == 0 {
            return Ok(Some(false));
        }
        let (done, wait) = match self.test_monitored(q, addr, parity & 1) {
            Some(looked) => looked,
            None => mbarrier::test_together(self, q, addr, parity)?,
        };
        if done || self.resumed() || self.gives_up() {
            return Ok(Some(done));
        }
        self.park(here, wait);
        Ok(None)
    }

    /// The active lanes test an object, of which a monitor learns: whether the phase is complete, and what a wait for it waits for. `None`
    /// for the slow path, with nothing done.
    #[inline]
    fn test_monitored(&mut self, q: Q, addr: u64, parity: u64) -> Option<(bool, Wait)> {
        if self.scheduling.steps.is_some() {
            return None;
        }
        let at = self.object_of_cta(space(q), addr)?;
        let done = object::passed(self.own_word(at)?, parity).ok()?;
        let (who, order, offset) = (self.who(self.mask), self.order, at as u32);
        let seen = self.monitor.get()?.test(offset, (parity, done), order, who);
        seen.then_some((done, Wait::Phase { rank: who.rank, offset, parity }))
    }

    /// [`Ctx::arrive_together`] of the active lanes, of which a monitor learns.
    #[inline]
    pub(crate) fn arrive_monitored(&mut self, q: Q, addr: u64, drop: bool) -> Result<bool, Box<Fault>> {
        let fits = self.monitor.is_on() && self.mask != 0 && !q.has(q::expect_tx);
        Ok(fits
            && (!drop && self.arrive_early_monitored(q, addr)?
                || mbarrier::arrive_together(self, q, addr, drop, &mut [])?))
    }

    /// Arrives at an object of the CTA, of which a monitor learns, if that does not complete its phase.
    #[inline]
    fn arrive_early_monitored(&mut self, q: Q, addr: u64) -> Result<bool, Box<Fault>> {
        if self.scheduling.steps.is_some() {
            return Ok(false);
        }
        let Some(at) = self.object_of_cta(space(q), addr) else { return Ok(false) };
        let (rank, lanes) = (self.cur.cta, self.mask);
        let early = self.own_word(at).and_then(|word| object::arrive_early(word, lanes.count_ones()));
        let Some(new) = early else { return Ok(false) };
        self.tell_sync(Sync::MbarrierArrive { rank, offset: at as u32 }, lanes)?;
        if let Some(place) = self.memory.shared.get_mut(at..).and_then(|s| s.first_chunk_mut()) {
            *place = new.to_le_bytes();
        }
        self.changed();
        Ok(true)
    }

    /// `mbarrier.arrive` and `arrive_drop` of the lanes of `m` with unused `state`, each with a count of 1 or with `tx` bytes to
    /// expect. False for the slow path, with nothing done.
    #[inline(always)]
    pub fn arrive_together(&mut self, q: Q, m: u32, addr: u64, tx: u32, drop: bool) -> bool {
        let Some(at) = self.own_object(space(q), addr) else { return m == 0 };
        if !q.has(q::expect_tx)
            && !drop
            && let Some(place) = self.memory.shared.get_mut(at..).and_then(|s| s.first_chunk_mut())
            && let Some(new) = object::arrive_early(u64::from_le_bytes(*place), m.count_ones())
        {
            *place = new.to_le_bytes();
            self.changed();
            return true;
        }
        self.arrive_last(q, m, at, tx, drop)
    }

    /// [`Ctx::arrive_together`] where a phase may complete.
    #[inline(never)]
    fn arrive_last(&mut self, q: Q, m: u32, at: usize, tx: u32, drop: bool) -> bool {
        let (expects, n) = (q.has(q::expect_tx), m.count_ones());
        if n == 0 || expects && n != 1 {
            return n == 0;
        }
        // no arrival before the last completes a phase
        let word = self.own_word(at).filter(|w| State::decode(*w).is_some_and(|s| s.pending >= n));
        let how = Arrive { drop, no_complete: q.has(q::noComplete), expect_tx: expects.then_some(tx) };
        let Some(Ok((new, arrived))) = word.map(|w| object::arrive(w, n, how)) else { return false };
        let Some(place) = self.memory.shared.get_mut(at..).and_then(|s| s.first_chunk_mut()) else { return false };
        *place = new.to_le_bytes();
        self.changed();
        let site = self.site;
        let log = &mut self.cta_mut().tx_log;
        if arrived.completed {
            log.restart(at as u32);
            self.notify_waiters();
        } else if expects {
            log.count(at as u32, site, tx.into());
        }
        true
    }
}
