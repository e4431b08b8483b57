//! Strong accesses of one lane where memory is weak: the scheduler chooses the store from which a load reads, and the position of a
//! store in coherence order.

use crate::machine::ctx::parts::Reports;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, By, Proxy};
use crate::observe::probe::weak::{Bytes, WeakMemory};

impl<'c> Reports<'c, '_> {
    /// The value that a load reads. `latest` is the value in memory.
    #[inline(always)]
    pub(crate) fn weakly_loaded(&mut self, place: Place, (addr, bytes): (u64, u32), latest: Bytes, lane: u32) -> Bytes {
        if self.ctx.monitor.is_on() && self.ctx.order.is_strong() {
            self.choose_load(place, (addr, bytes), latest, lane)
        } else {
            latest
        }
    }

    /// Whether a store, before it happens, reaches memory. It does not if another store comes later in coherence order.
    #[inline(always)]
    pub(crate) fn weakly_stored(
        &mut self,
        place: Place,
        (addr, bytes): (u64, u32),
        (latest, value): (Option<Bytes>, Bytes),
        lane: u32,
    ) -> bool {
        match latest {
            Some(latest) if self.ctx.monitor.is_on() && self.ctx.order.is_strong() => {
                self.choose_store(place, (addr, bytes), (latest, value), lane)
            }
            _ => true,
        }
    }

    #[cold]
    fn choose_load(&mut self, place: Place, (addr, bytes): (u64, u32), latest: Bytes, lane: u32) -> Bytes {
        let access = self.weak_access((place, addr, bytes), false, lane);
        let Some(weak) = self.ctx.report().weak() else { return latest };
        let n = weak.choices(&access, latest);
        let choice = self.ctx.scheduling.choose_store(n, self.ctx.site);
        let Some(weak) = self.ctx.report().weak() else { return latest };
        let (value, outdated) = weak.load(&access, choice);
        if outdated {
            self.ctx.scheduling.progress += 1;
        }
        value
    }

    #[cold]
    fn choose_store(
        &mut self,
        place: Place,
        (addr, bytes): (u64, u32),
        (latest, value): (Bytes, Bytes),
        lane: u32,
    ) -> bool {
        let access = self.weak_access((place, addr, bytes), true, lane);
        let Some(weak) = self.ctx.report().weak() else { return true };
        let n = weak.choices(&access, latest);
        let choice = self.ctx.scheduling.choose_store(n, self.ctx.site);
        self.ctx.scheduling.endless.keep();
        let Some(weak) = self.ctx.report().weak() else { return true };
        let mut stored = [0; 4];
        for (to, (from, i)) in stored.iter_mut().zip(value.iter().zip(0..)) {
            let bits = (bytes * 8).saturating_sub(i * 64);
            *to = if bits < 64 { from & ((1 << bits) - 1) } else { *from };
        }
        weak.store(&access, stored, choice)
    }

    /// The model of weak memory, if memory is weak.
    pub(crate) fn weak(self) -> Option<&'c mut dyn WeakMemory> {
        self.ctx.monitor.get()?.weak()
    }

    fn weak_access(&self, (place, addr, bytes): (Place, u64, u32), write: bool, lane: u32) -> Access {
        let (by, proxy, order, who) = (By::Thread, Proxy::Generic, self.ctx.order, self.ctx.who(1 << lane));
        Access { place, addr, bytes, write, same: false, by, proxy, order, who }
    }
}
