//! Loads and stores of one lane, every one checked, and updates of mbarrier objects.

use crate::fault::{Fault, FaultKind};
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::{LoadUnit, Reports, StoreUnit, Synchronisation};
use crate::memory::address::{self, AddrSpace, Place, resolve};
use crate::memory::little_endian;
use crate::observe::monitor::{Access, By, Event, Proxy, Sync};
use crate::sync::mbarrier::{self, MbarrierError};

/// Are the first bytes of two values the same?
fn is_same(a: &[u64; 4], b: &[u64; 4], bytes: u32) -> bool {
    (0..bytes as usize).all(|i| a[i / 8] >> (i % 8 * 8) & 0xff == b[i / 8] >> (i % 8 * 8) & 0xff)
}

impl Ctx<'_> {
    /// Loads `bytes` (1 to 32) little endian; the address has to be aligned to `bytes`.
    #[inline(always)]
    pub fn read(&mut self, space: AddrSpace, addr: u64, bytes: u32, lane: u32) -> Result<[u64; 4], Box<Fault>> {
        self.read_aligned(space, addr, bytes, bytes, lane)
    }

    /// Loads `bytes` (1 to 32) little endian.
    #[inline]
    pub fn read_aligned(
        &mut self,
        space: AddrSpace,
        addr: u64,
        bytes: u32,
        align: u32,
        lane: u32,
    ) -> Result<[u64; 4], Box<Fault>> {
        // parameters of functions are copied whole, unwritten bytes included
        if self.monitor.is_on() && space != AddrSpace::ParamFunc {
            let place = self.loads().place(space, addr, align);
            let watched = place.and_then(|place| self.report().watch(place, addr, bytes, None, lane));
            watched.map_err(|kind| self.fault(kind, lane))?;
            let place = self.loads().place(space, addr, align).map_err(|kind| self.fault(kind, lane))?;
            let latest = self.loads().load(place, addr, bytes, lane).map_err(|kind| self.fault(kind, lane))?;
            return Ok(self.report().weakly_loaded(place, (addr, bytes), latest, lane));
        }
        self.loads().read_unwatched(space, addr, bytes, align, lane)
    }

    /// Stores the low `bytes` (1 to 32) of `value`, little endian; the address has to be aligned to `bytes`.
    #[inline(always)]
    pub fn write(
        &mut self,
        space: AddrSpace,
        addr: u64,
        bytes: u32,
        value: [u64; 4],
        lane: u32,
    ) -> Result<(), Box<Fault>> {
        self.write_aligned(space, addr, bytes, bytes, value, lane)
    }

    /// Stores the low `bytes` (1 to 32) of `value`, little endian.
    #[inline]
    pub fn write_aligned(
        &mut self,
        space: AddrSpace,
        addr: u64,
        bytes: u32,
        align: u32,
        value: [u64; 4],
        lane: u32,
    ) -> Result<(), Box<Fault>> {
        let stored = self.loads().place(space, addr, align).and_then(|place| {
            if self.monitor.is_on() {
                self.report().watch(place, addr, bytes, Some(value), lane)?;
                let latest = self.loads().load(place, addr, bytes, lane).ok();
                if !self.report().weakly_stored(place, (addr, bytes), (latest, value), lane) {
                    self.scheduling.progress += 1;
                    return Ok(());
                }
            }
            if self.scheduling.probing {
                let old = self.loads().load(place, addr, bytes, lane)?;
                self.scheduling.progress += !is_same(&old, &value, bytes) as u64;
            }
            self.stores().store(place, addr, bytes, value, lane)
        });
        stored.map_err(|kind| self.fault(kind, lane))
    }

    /// The shared memory of a CTA of the current cluster.
    #[inline(always)]
    pub(crate) fn window(&self, rank: u32) -> Result<&[u8], FaultKind> {
        self.memory.window(self.residents.here(), rank)
    }

    /// The shared memory of a CTA of the cluster, to write.
    #[inline(always)]
    pub(crate) fn window_mut(&mut self, rank: u32) -> Result<&mut [u8], FaultKind> {
        self.memory.window_mut(self.residents.here_mut(), rank)
    }

    /// CTA rank and offset of a shared or generic address, which must be in shared memory; `what` names the operand in the report.
    /// The offset is inside; the caller checks size and alignment of the object.
    pub fn shared_offset(&self, space: AddrSpace, addr: u64, lane: u32, what: &str) -> Result<(u32, u32), Box<Fault>> {
        let found = resolve(space, addr, self.cur.cta).and_then(|place| match place {
            Place::Shared { rank, offset } => {
                let size = self.window(rank)?.len() as u64;
                if offset as u64 >= size {
                    return Err(FaultKind::OutOfBounds { space: "shared", addr, bytes: 1, size });
                }
                Ok((rank, offset))
            }
            _ => Err(FaultKind::WrongWindow { addr, wanted: format!("in shared memory, where {what} has to be") }),
        });
        found.map_err(|kind| self.fault(kind, lane))
    }
}

impl<'c> LoadUnit<'c, '_> {
    /// Reads like `read`, but no monitor sees the access.
    #[inline]
    pub(crate) fn read_unwatched(
        self,
        space: AddrSpace,
        addr: u64,
        bytes: u32,
        align: u32,
        lane: u32,
    ) -> Result<[u64; 4], Box<Fault>> {
        let loaded = self.place(space, addr, align).and_then(|place| self.load(place, addr, bytes, lane));
        loaded.map_err(|kind| self.ctx.fault(kind, lane))
    }

    #[inline(always)]
    fn place(self, space: AddrSpace, addr: u64, align: u32) -> Result<Place, FaultKind> {
        if addr & (align.max(1) as u64 - 1) != 0 {
            let space = address::space_name(space, addr);
            return Err(FaultKind::Misaligned { space, addr, align });
        }
        resolve(space, addr, self.ctx.cur.cta)
    }

    #[inline(always)]
    pub(crate) fn load(self, place: Place, addr: u64, bytes: u32, lane: u32) -> Result<[u64; 4], FaultKind> {
        let (memory, offset, space): (&[u8], u64, _) = match place {
            Place::Global { segment, offset } => return self.ctx.memory.global.load(segment, offset, addr, bytes),
            Place::Shared { rank, offset } => (self.ctx.window(rank)?, offset as u64, "shared"),
            Place::Local { offset } => (self.local(lane), offset, "local"),
            Place::Const { offset } => (self.ctx.geometry.info.const_image, offset, "const"),
            Place::Param { offset } => (&self.ctx.memory.params, offset, "param"),
        };
        let outside = || FaultKind::OutOfBounds { space, addr, bytes, size: memory.len() as u64 };
        little_endian::load(memory, offset, bytes).ok_or_else(outside)
    }

    fn local(self, lane: u32) -> &'c [u8] {
        let size = self.ctx.geometry.info.local_size as usize;
        let from = (self.ctx.warp as usize * 32 + lane as usize) * size;
        self.ctx.cta().local.get(from..from + size).unwrap_or_default()
    }
}

impl Reports<'_, '_> {
    #[inline(never)]
    fn watch(
        &mut self,
        place: Place,
        addr: u64,
        bytes: u32,
        stored: Option<[u64; 4]>,
        lane: u32,
    ) -> Result<(), FaultKind> {
        let write = stored.is_some();
        // the access itself reports an address outside
        let is_in = |from: u64, size: usize| from.checked_add(bytes.into()).is_some_and(|end| end <= size as u64);
        let inside = match place {
            Place::Shared { rank, offset } => is_in(offset.into(), self.ctx.window(rank)?.len()),
            Place::Local { offset } => is_in(offset, self.ctx.geometry.info.local_size as usize),
            Place::Global { segment, offset } => self.ctx.memory.global.holds(segment, offset, bytes.into()),
            Place::Const { .. } | Place::Param { .. } => true,
        };
        if !inside {
            return Ok(());
        }
        let who = self.ctx.who(1 << lane);
        let same = stored.is_some_and(|new| {
            let old = self.ctx.loads().load(place, addr, bytes, lane);
            old.is_ok_and(|old| is_same(&old, &new, bytes))
        });
        let (by, proxy, order) = (By::Thread, Proxy::Generic, self.ctx.order);
        self.access(Access { place, addr, bytes, write, same, by, proxy, order, who })
    }
}

impl<'c> StoreUnit<'c, '_> {
    #[inline(always)]
    fn store(self, place: Place, addr: u64, bytes: u32, value: [u64; 4], lane: u32) -> Result<(), FaultKind> {
        let outside = |space, size| FaultKind::OutOfBounds { space, addr, bytes, size };
        match place {
            Place::Global { segment, offset } => self.ctx.memory.global.store(segment, offset, addr, bytes, value),
            Place::Shared { rank, offset } => {
                let window = self.ctx.window_mut(rank)?;
                little_endian::store(window, offset as u64, bytes, value).ok_or(outside("shared", window.len() as u64))
            }
            Place::Local { offset } => {
                let size = self.ctx.geometry.info.local_size as usize;
                let from = (self.ctx.warp as usize * 32 + lane as usize) * size;
                let local = self.ctx.cta_mut().local.get_mut(from..from + size).unwrap_or_default();
                little_endian::store(local, offset, bytes, value).ok_or(outside("local", size as u64))
            }
            Place::Const { .. } => Err(FaultKind::ReadOnly { space: "const", addr }),
            Place::Param { .. } => Err(FaultKind::ReadOnly { space: "param", addr }),
        }
    }
}

impl Synchronisation<'_, '_> {
    /// Reads or updates an mbarrier object by an operation that its phase does not count, and tells the monitor.
    pub fn mbarrier<R>(
        &mut self,
        rank: u32,
        offset: u32,
        update: impl FnOnce(u64) -> Result<(u64, R), MbarrierError>,
        lane: u32,
    ) -> Result<R, Box<Fault>> {
        self.ctx.report_sync(Sync::Mbarrier { rank, offset, counts: false }, 1 << lane)?;
        self.update_mbarrier(rank, offset, update, lane).map_err(|kind| self.ctx.fault(kind, lane))
    }

    /// Updates an mbarrier object. If its phase completes, waiting threads are checked again.
    pub(crate) fn update_mbarrier<R>(
        &mut self,
        rank: u32,
        offset: u32,
        update: impl FnOnce(u64) -> Result<(u64, R), MbarrierError>,
        lane: u32,
    ) -> Result<R, FaultKind> {
        if !offset.is_multiple_of(8) {
            return Err(FaultKind::Misaligned { space: "shared", addr: offset as u64, align: 8 });
        }
        let window = self.ctx.window(rank)?;
        let size = window.len() as u64;
        let outside = || FaultKind::OutOfBounds { space: "shared", addr: offset as u64, bytes: 8, size };
        let Some([old, ..]) = little_endian::load(window, offset as u64, 8) else { return Err(outside()) };
        let (new, result) = update(old).map_err(|e| e.fault(offset))?;
        let state = |word| if new == old { None } else { mbarrier::State::decode(word) };
        let states = (state(old), state(new));
        self.log_tx(rank, offset, states);
        let (before, after) = (states.0.map(|s| s.phase), states.1.map(|s| s.phase));
        let completes = before != after && before.is_some() && after.is_some();
        self.ctx.report().step_updates_mbarrier(rank, offset, (new != old, completes));
        if new != old {
            little_endian::store(self.ctx.window_mut(rank)?, offset as u64, 8, [new, 0, 0, 0]).ok_or_else(outside)?;
            self.ctx.changed();
            if before != after {
                if let (Some(completed), Some(_)) = (before, after) {
                    let slot = self.ctx.residents.slot as u32;
                    self.ctx.report().event(Event::Phase { slot, rank, offset, phase: completed });
                    let order = self.ctx.order;
                    self.ctx.report().sync(Sync::MbarrierPhase { rank, offset }, order, 1 << lane)?;
                }
                self.ctx.notify_waiters();
            }
        }
        Ok(result)
    }

    /// Keeps how an operation changes the tx-count of an object, for the report of a deadlock.
    fn log_tx(&mut self, rank: u32, offset: u32, states: (Option<mbarrier::State>, Option<mbarrier::State>)) {
        let site = self.ctx.site;
        let Some(cta) = self.ctx.here().ctas.get_mut(rank as usize) else { return };
        match states {
            (Some(old), Some(new)) if old.phase == new.phase => {
                let bytes = new.tx - old.tx;
                if bytes != 0 {
                    cta.tx_log.count(offset, site, bytes);
                }
            }
            (None, None) => {}
            _ => cta.tx_log.restart(offset),
        }
    }

    /// The mbarrier object at this place, if there is one.
    pub(crate) fn mbarrier_state(&mut self, rank: u32, offset: u32) -> Option<mbarrier::State> {
        let [word, ..] = little_endian::load(self.ctx.window(rank).ok()?, offset.into(), 8)?;
        mbarrier::State::decode(word)
    }

    /// Tells the monitor that an mbarrier object begins (`init`) or ends (`inval`) at this place.
    #[inline(always)]
    pub fn mbarrier_lifetime(&mut self, rank: u32, offset: u32, begins: bool, lane: u32) -> Result<(), Box<Fault>> {
        let what = if begins { Sync::MbarrierInit { rank, offset } } else { Sync::MbarrierInval { rank, offset } };
        self.ctx.report_sync(what, 1 << lane)
    }
}
