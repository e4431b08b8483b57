//! Accesses through the address of a variable stay in that variable.

use super::Checked;
use crate::fault::FaultKind;
use crate::memory::address::{self, Place};
use crate::numerics::lanes::Lanes;
use crate::numerics::simd::{best, dispatch};
use crate::observe::monitor::{Access, Offsets};
use crate::observe::probe::Pieces;

/// The segment of the module's variables.
const MODULE: usize = address::MODULE as usize;

/// The window of shared memory.
pub(super) const SHARED: u8 = address::SHARED as u8;

/// Window, name and offset of a place that can be in a variable.
fn place(place: Place) -> Option<(u8, &'static str, u64)> {
    match place {
        Place::Global { segment: MODULE, offset } => Some((0, "global", offset)),
        Place::Shared { offset, .. } => Some((SHARED, "shared", offset.into())),
        Place::Local { offset } => Some((address::LOCAL as u8, "local", offset)),
        Place::Const { offset } => Some((address::CONST as u8, "const", offset)),
        Place::Global { .. } | Place::Param { .. } => None,
    }
}

impl Checked {
    /// An access of one lane.
    #[inline]
    pub(super) fn inside(&self, a: &Access) -> Result<(), FaultKind> {
        if self.heap.has(a.place) {
            return self.heap.access(a);
        }
        let Some((window, space, from)) = place(a.place) else { return Ok(()) };
        match self.variables.left_by(a.who.site, window, (from, from + u64::from(a.bytes))) {
            None => Ok(()),
            Some(v) => Err(FaultKind::OutsideVariable {
                space,
                addr: a.addr,
                bytes: a.bytes,
                variable: v.name.clone(),
                offset: from.wrapping_sub(v.from).cast_signed(),
                size: v.to - v.from,
            }),
        }
    }

    /// Accesses of several warps: are all of them inside?
    #[inline]
    pub(super) fn all_inside(&self, a: &Access, pieces: &Pieces) -> bool {
        let Some((window, _, from)) = place(a.place) else { return !self.heap.has(a.place) };
        let last = pieces.distance * i64::from(pieces.count - 1);
        let (low, high) = (from.wrapping_add_signed(last.min(0)), from.wrapping_add_signed(last.max(0)));
        let len = u64::from(pieces.step * (pieces.lanes - 1) + a.bytes);
        self.variables.left_by(a.who.site, window, (low, high + len)).is_none()
    }

    /// Accesses of several lanes: are all of them inside?
    #[inline]
    pub(super) fn are_inside(&self, a: &Access, offsets: Offsets<'_>) -> bool {
        let Some((window, _, from)) = place(a.place) else { return !self.heap.has(a.place) };
        let bytes = u64::from(a.bytes);
        let inside = |from: u64, to: u64| self.variables.left_by(a.who.site, window, (from, to)).is_none();
        match offsets {
            Offsets::Row { step } => {
                inside(from, from + u64::from(step) * u64::from(a.who.lanes.count_ones().max(1) - 1) + bytes)
            }
            Offsets::Lanes(_) if !self.variables.has_any(a.who.site) => true,
            Offsets::Lanes(all) => {
                let (low, high) = range(all, a.who.lanes);
                inside(low, high + bytes)
            }
        }
    }
}

/// The least and the greatest offset of some lanes.
fn range(offsets: &Lanes, lanes: u32) -> (u64, u64) {
    dispatch!(best(true), range_at, (offsets: &Lanes = offsets, lanes: u32 = lanes) -> (u64, u64))
}

#[inline(always)]
fn range_at(offsets: &Lanes, lanes: u32) -> (u64, u64) {
    (0..32u32).zip(offsets).fold((u64::MAX, 0), |(low, high), (lane, at)| {
        let idle = u64::from(lanes >> lane & 1).wrapping_sub(1);
        (low.min(at | idle), high.max(at & !idle))
    })
}
