//! Accesses of a whole warp, for monitors.
//!
//! The interpreter tells the monitor of an access before it takes a fast path. A monitor that is content with that sees no single
//! lanes; otherwise the fast paths fail, and the slow path tells it of each lane.

use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::{LoadUnit, Reports};
use crate::memory::address::{AddrSpace, Place, decode};
use crate::numerics::lanes::Lanes;
use crate::numerics::simd::{InstructionSet, dispatch};
use crate::observe::monitor::{Access, By, Offsets, Proxy};
use crate::observe::probe::Pieces;
use ptx_dsl_isa::image::NO_SITE;

impl Ctx<'_> {
    /// Must the monitor see the accesses of each lane?
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }
}

impl<'c> LoadUnit<'c, '_> {
    /// Is the monitor told of no load from the memory that this address is in?
    pub(crate) fn loads_unseen(self, space: AddrSpace, addr: u64) -> bool {
        match decode(space, addr, self.ctx.cur.cta) {
            Some(Place::Global { segment, .. }) => self.is_unseen(segment, false),
            _ => false,
        }
    }

    /// Whether the monitor sees no such access to a segment of global memory.
    #[inline(always)]
    fn is_unseen(self, segment: usize, write: bool) -> bool {
        !self.ctx.monitor.wants().read_only && !write && self.ctx.memory.global.is_read_only(segment)
    }
}

impl Reports<'_, '_> {
    /// Tells the monitor that warps from `warp` on access memory with all lanes. As below; false if each warp is to be told of.
    #[inline]
    pub(crate) fn pieces(
        &mut self,
        space: AddrSpace,
        addr: u64,
        (bytes, write): (u32, bool),
        warp: usize,
        pieces: &Pieces,
    ) -> bool {
        if self.ctx.order.is_strong() || self.ctx.scheduling.steps.is_some() {
            return false;
        }
        let Some(place) = decode(space, addr, self.ctx.cur.cta) else { return false };
        if let Place::Global { segment, .. } = place
            && self.ctx.loads().is_unseen(segment, write)
        {
            return true;
        }
        self.ctx.warp = warp as u32;
        let who = self.ctx.who(NO_SITE);
        let (by, proxy, order) = (By::Thread, Proxy::Generic, self.ctx.order);
        let first = Access { place, addr, bytes, write, same: false, by, proxy, order, who };
        self.ctx.monitor.get().is_some_and(|monitor| monitor.warps(&first, pieces))
    }

    /// Tells the monitor that warps from `warp` on load from shared memory in several statements, the first of them the current one.
    /// See [`Probe::chain`](crate::observe::probe::Probe::chain).
    pub(crate) fn chain(&mut self, addr: u64, bytes: u32, warp: usize, pieces: &Pieces, others: &[(u32, i32)]) -> bool {
        if self.ctx.scheduling.steps.is_some() {
            return false;
        }
        let Some(place) = decode(AddrSpace::SharedCta, addr, self.ctx.cur.cta) else { return false };
        self.ctx.warp = warp as u32;
        let who = self.ctx.who(NO_SITE);
        let (by, proxy, order) = (By::Thread, Proxy::Generic, self.ctx.order);
        let first = Access { place, addr, bytes, write: false, same: false, by, proxy, order, who };
        self.ctx.monitor.get().is_some_and(|monitor| monitor.chain(&first, pieces, others))
    }

    /// Tells the monitor that lanes of the current warp, which are neighbours, load or store `bytes` each: the first at an address,
    /// the next ones `step` bytes further on. The caller has checked that the memory has them. True if it has seen them all.
    pub(crate) fn row(
        &mut self,
        space: AddrSpace,
        addr: u64,
        (bytes, step, write): (u32, u32, bool),
        lanes: u32,
    ) -> bool {
        match decode(space, addr, self.ctx.cur.cta) {
            Some(place) => self.warp(place, addr, bytes, write, lanes, Offsets::Row { step }),
            None => false,
        }
    }

    /// Reports the accesses of lanes to `bytes` at any addresses.
    pub(crate) fn lanes(&mut self, space: AddrSpace, addr: &Lanes, bytes: u32, write: bool, lanes: u32) -> bool {
        let low = lanes.trailing_zeros() & 31;
        let first = addr[low as usize];
        let Some(place) = decode(space, first, self.ctx.cur.cta) else { return false };
        let (at, start, size) = match place {
            Place::Global { segment, offset } => {
                let (memory, at) = self.ctx.memory.global.bytes_at(segment, offset);
                (at as u64, self.ctx.memory.global.start(segment), memory.len())
            }
            Place::Shared { rank, offset } => match self.ctx.window(rank) {
                Ok(window) => (offset.into(), 0, window.len()),
                Err(_) => return false,
            },
            Place::Const { offset } if self.sees_constants() => (offset, 0, self.ctx.geometry.info.const_image.len()),
            Place::Const { .. } | Place::Param { .. } => return true,
            Place::Local { .. } => return false,
        };
        let Some(last) = (size as u64).checked_sub(bytes.into()) else { return false };
        let step = match addr.get(low as usize + 1) {
            Some(next) if lanes >> (low + 1) & 1 != 0 => next.wrapping_sub(first),
            _ => 0,
        };
        let Some(Regular { mut offsets, even }) = regular(self.ctx.set, addr, (at, last, bytes), step, lanes) else {
            return false;
        };
        let neighbours = lanes >> low & (lanes >> low).wrapping_add(1) == 0;
        let offsets = match step {
            step if even && neighbours && (step == 0 || step == u64::from(bytes)) => Offsets::Row { step: step as u32 },
            _ => {
                if start != 0 {
                    offsets.iter_mut().for_each(|offset| *offset = offset.wrapping_add(start));
                }
                Offsets::Lanes(&offsets)
            }
        };
        self.warp(place, first, bytes, write, lanes, offsets)
    }

    /// Whether the monitor sees loads from constant memory.
    fn sees_constants(&self) -> bool {
        let needs = self.ctx.monitor.needs();
        needs.variables || needs.constants
    }

    fn warp(&mut self, place: Place, addr: u64, bytes: u32, write: bool, lanes: u32, offsets: Offsets<'_>) -> bool {
        match place {
            Place::Global { segment, .. } if self.ctx.loads().is_unseen(segment, write) => return true,
            Place::Const { .. } if self.sees_constants() => {}
            Place::Const { .. } | Place::Param { .. } => return true,
            Place::Local { .. } => return false,
            _ => {}
        }
        let who = self.ctx.who(lanes);
        let (by, proxy, order) = (By::Thread, Proxy::Generic, self.ctx.order);
        let first = Access { place, addr, bytes, write, same: false, by, proxy, order, who };
        self.step_accesses(&first, Some(offsets));
        self.ctx.monitor.get().is_some_and(|monitor| monitor.warp(&first, offsets))
    }
}

/// The offsets at which lanes access a memory.
struct Regular {
    offsets: Lanes,
    /// Whether the offsets of successive active lanes differ by the same stride.
    even: bool,
}

/// The offsets of the lanes in a memory, where the first active one is at `at` and an access of these bytes at `last` ends. `None` if an
/// active lane is outside or misaligned.
fn regular(
    set: InstructionSet,
    addr: &Lanes,
    (at, last, bytes): (u64, u64, u32),
    step: u64,
    lanes: u32,
) -> Option<Regular> {
    dispatch!(set, regular_at, (
        addr: &Lanes = addr, at: u64 = at, last: u64 = last, bytes: u32 = bytes, step: u64 = step, lanes: u32 = lanes
    ) -> Option<Regular>)
}

#[inline(always)]
fn regular_at(addr: &Lanes, at: u64, last: u64, bytes: u32, step: u64, lanes: u32) -> Option<Regular> {
    let low = lanes.trailing_zeros() & 31;
    let first = addr[low as usize];
    let base = first.wrapping_sub(step.wrapping_mul(low.into()));
    let (mut offsets, mut outside, mut uneven) = ([0; 32], 0, 0);
    for (l, (to, a)) in (0u32..).zip(offsets.iter_mut().zip(addr)) {
        let active = u64::from(lanes >> l & 1).wrapping_neg();
        let offset = at.wrapping_add(a.wrapping_sub(first));
        *to = offset;
        // the sign says whether it is after the last; addresses are far from 2^63
        outside |= active & (last.wrapping_sub(offset) >> 63 | offset >> 63 | a & (u64::from(bytes) - 1));
        uneven |= active & (a ^ base.wrapping_add(step.wrapping_mul(l.into())));
    }
    (outside == 0).then_some(Regular { offsets, even: uneven == 0 })
}
