//! One mbarrier object for all lanes of a warp, in the shared memory of its own CTA: what nearly every wait and every arrival is
//! about. Whatever else there is, and whatever is wrong, goes through [`crate::isa::mbarrier`].

use crate::fault::Fault;
use crate::isa::{mbarrier, space};
use crate::kernel::{Flow, Pc, Wait};
use crate::machine::Ctx;
use crate::mem::address::{AddrSpace, RANK_SHIFT, SHARED, SHARED_OFFSET, WINDOW_SHIFT};
use crate::monitor::Monitor;
use crate::qual::{Q, q};
use crate::sync::mbarrier::{self as object, Arrive, State};

impl<M: Monitor> Ctx<'_, M> {
    /// Where an object of this CTA is; `None` for whatever wants a closer look.
    #[inline(always)]
    fn own_object(&self, space: AddrSpace, addr: u64) -> Option<usize> {
        let own = match space {
            AddrSpace::SharedCta | AddrSpace::SharedCluster => addr >> RANK_SHIFT == 0,
            AddrSpace::Generic => addr >> RANK_SHIFT == SHARED << (WINDOW_SHIFT - RANK_SHIFT),
            _ => false,
        };
        (!M::ON && own && addr.is_multiple_of(8)).then_some((addr & SHARED_OFFSET) as usize)
    }

    #[inline(always)]
    fn own_word(&self, at: usize) -> Option<u64> {
        self.shared.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
    }

    #[inline(always)]
    fn phase_of(&self, q: Q, addr: u64, parity: u64) -> Option<(usize, bool)> {
        let at = self.own_object(space(q), addr)?;
        object::passed(self.own_word(at)?, parity).ok().map(|passed| (at, passed))
    }

    /// Has the phase of this parity completed, so that the warp can go on without a look at who else can run? False also
    /// if that wants a closer look, or if somebody chooses the schedule: a wait is a region then.
    #[inline(always)]
    pub fn passes(&self, q: Q, addr: u64, parity: u64) -> bool {
        self.plain && !self.cur.resumed && self.phase_of(q, addr, parity).is_some_and(|(_, passed)| passed)
    }

    /// `mbarrier.try_wait.parity` of the current warp, in region `here`: its result, or `None` if the warp waits there.
    #[inline(always)]
    pub fn try_wait(&mut self, q: Q, addr: u64, parity: u64, here: Pc, site: u32) -> Result<Option<bool>, Box<Fault>> {
        match self.phase_of(q, addr, parity) {
            Some((_, passed)) if passed || self.cur.resumed => Ok(Some(passed)),
            Some((at, _)) => {
                self.site = site;
                self.park(here, Wait::Phase { rank: self.cur.cta, offset: at as u32, parity: parity & 1 });
                Ok(None)
            }
            None => self.look_closer(q, addr, parity, here, site),
        }
    }

    #[inline(never)]
    fn look_closer(&mut self, q: Q, addr: u64, parity: u64, here: Pc, site: u32) -> Result<Option<bool>, Box<Fault>> {
        self.site = site;
        let mut done = [0; 32];
        match mbarrier::mbarrier_try_wait(self, q, [&[addr; 32], &[parity; 32]], [&mut done])? {
            Flow::Next => Ok(Some(done[self.mask.trailing_zeros() as usize & 31] & 1 != 0)),
            Flow::Wait(wait) => {
                self.park(here, wait);
                Ok(None)
            }
        }
    }

    /// `mbarrier.arrive` and `arrive_drop` of the lanes of `m`, whose `state` nobody wants, each with a count of 1 or with `tx`
    /// bytes to expect. False if that wants a closer look; then nothing has happened.
    #[inline(always)]
    pub fn arrive_together(&mut self, q: Q, m: u32, addr: u64, tx: u32, drop: bool) -> bool {
        let Some(at) = self.own_object(space(q), addr) else { return m == 0 };
        if !q.has(q::expect_tx)
            && !drop
            && let Some(place) = self.shared.get_mut(at..).and_then(|s| s.first_chunk_mut())
            && let Some(new) = object::arrive_early(u64::from_le_bytes(*place), m.count_ones())
        {
            *place = new.to_le_bytes();
            self.progress += 1;
            return true;
        }
        self.arrive_last(q, m, at, tx, drop)
    }

    /// The same when a phase may complete.
    #[inline(never)]
    fn arrive_last(&mut self, q: Q, m: u32, at: usize, tx: u32, drop: bool) -> bool {
        let (expects, n) = (q.has(q::expect_tx), m.count_ones());
        if n == 0 || expects && n != 1 {
            return n == 0;
        }
        // no phase completes before the last of them
        let word = self.own_word(at).filter(|w| State::decode(*w).is_some_and(|s| s.pending >= n));
        let how = Arrive { drop, no_complete: q.has(q::noComplete), expect_tx: expects.then_some(tx) };
        let Some(Ok((new, arrived))) = word.map(|w| object::arrive(w, n, how)) else { return false };
        let Some(place) = self.shared.get_mut(at..).and_then(|s| s.first_chunk_mut()) else { return false };
        *place = new.to_le_bytes();
        self.progress += 1;
        if arrived.completed {
            self.touched();
        }
        true
    }
}
