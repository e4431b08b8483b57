//! Accesses of lanes at regular places, to which the records of lines refer by number.

use super::record::Record;
use super::stripe::{Extent, LINE, Stripe};
use crate::numerics::lanes::Lanes;
use crate::numerics::simd::{best, dispatch};
use crate::observe::checked::actor::COPIES;
use crate::observe::probe::Pieces;

/// Accesses of one statement at one time: pieces of memory, each accessed by neighbouring lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShadowEvent {
    /// Who: the actor is that of the first piece, the lanes those of each first piece of a warp.
    pub by: Record,
    at: EventPlaces,
    /// Cells refer to it, wherever they are.
    of_cells: bool,
}

/// The pieces of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EventPlaces {
    /// The first byte of the first piece.
    from: u64,
    /// From piece to piece.
    distance: i32,
    /// Bytes of a piece.
    len: u32,
    /// How many they are, and the lanes of each.
    pieces: u8,
    lanes: u8,
    /// Neighbouring lanes access neighbouring elements: the logarithm of their size, 0 to 4. `None`: all lanes access all bytes.
    log: Option<u8>,
    /// The lanes of a warp exchange elements: lane `l` accesses element `l ^ exchange`.
    exchange: u8,
}

impl ShadowEvent {
    /// Lanes access a piece.
    pub fn one(by: Record, from: u64, len: u32, log: Option<u8>) -> ShadowEvent {
        let at = EventPlaces { from, distance: 0, len, pieces: 1, lanes: 32, log, exchange: 0 };
        ShadowEvent { by, at, of_cells: false }
    }

    /// An access to which only words refer: they know the places.
    pub fn of_cells(by: Record) -> ShadowEvent {
        ShadowEvent { of_cells: true, ..ShadowEvent::one(by, 0, 0, None) }
    }

    #[inline]
    pub fn is_of_cells(&self) -> bool {
        self.of_cells
    }

    /// Cells refer to it from now on.
    #[inline]
    pub fn give_to_cells(&mut self) {
        self.of_cells = true;
    }

    /// All lanes of a warp access elements of a block, each at its place, if lane `l` accesses element `l ^ exchange`: where warps
    /// swizzle addresses.
    pub fn exchanged(by: Record, offsets: &Lanes, size: u32) -> Option<ShadowEvent> {
        let log = size.trailing_zeros();
        let near = offsets[0].abs_diff(offsets[1]) == u64::from(size);
        if !near || by.lanes != u32::MAX || log > 4 {
            return None;
        }
        let (low, exchange) =
            dispatch!(best(true), exchange_of, (offsets: &Lanes = offsets, log: u32 = log) -> Option<(u64, u8)>)?;
        let event = ShadowEvent::one(by, low, size * 32, Some(log as u8));
        Some(ShadowEvent { at: EventPlaces { exchange, ..event.at }, ..event })
    }

    /// Neighbouring warps, the first by this actor, access elements of some bytes. `None` if these are too many.
    #[inline(always)]
    pub fn of_warps(by: Record, from: u64, bytes: u32, pieces: &Pieces) -> Option<ShadowEvent> {
        let lanes = u32::MAX >> (32 - pieces.lanes);
        let (log, len) = match pieces.step {
            0 => (None, bytes),
            step => (Some(bytes.trailing_zeros() as u8), step * pieces.lanes),
        };
        let (of, of_piece) = (pieces.count.try_into().ok()?, pieces.lanes as u8);
        let distance = pieces.distance.try_into().ok()?;
        let at = EventPlaces { from, distance, len, pieces: of, lanes: of_piece, log, exchange: 0 };
        Some(ShadowEvent { by: Record { lanes, ..by }, at, of_cells: false })
    }

    /// Returns this event as another statement makes it, `distance` bytes further on.
    pub fn moved(&self, (site, distance): (u32, i32)) -> ShadowEvent {
        let from = self.at.from.wrapping_add_signed(distance.into());
        ShadowEvent { by: Record { site, ..self.by }, at: EventPlaces { from, ..self.at }, of_cells: false }
    }

    /// The lanes that access each byte, if they are the same for all.
    #[inline]
    pub fn lanes_of_all(&self) -> Option<u32> {
        (self.at.pieces == 1 && self.at.log.is_none()).then_some(self.by.lanes)
    }

    /// The lanes of an access by one warp.
    #[inline]
    pub fn lanes(&self) -> Option<u32> {
        (self.at.pieces == 1).then_some(self.by.lanes)
    }

    fn start(&self, piece: u8) -> u64 {
        self.at.from.wrapping_add_signed(i64::from(self.at.distance) * i64::from(piece))
    }

    /// All bytes, if they follow each other.
    #[inline]
    fn block(&self) -> Option<(u64, u64)> {
        let EventPlaces { from, distance, len, pieces, .. } = self.at;
        match pieces {
            1 => Some((from, from + u64::from(len))),
            _ if distance == 0 => Some((from, from + u64::from(len))),
            _ if i64::from(distance) == i64::from(len) => Some((from, from + u64::from(len) * u64::from(pieces))),
            _ => None,
        }
    }

    /// From the first line to after the last, if all bytes follow each other.
    #[inline]
    pub fn block_of_lines(&self) -> Option<(u64, u64)> {
        self.block().map(|(from, to)| (from / LINE, to.div_ceil(LINE)))
    }

    /// Calls `f` with each line, until it is false.
    #[inline]
    pub fn lines(&self, mut f: impl FnMut(u64) -> bool) -> bool {
        if let Some((from, to)) = self.block_of_lines() {
            return (from..to).all(f);
        }
        let (mut next, pieces) = (0, self.at.pieces);
        (0..pieces).all(|i| {
            let from = self.start(if self.at.distance < 0 { pieces - 1 - i } else { i });
            let lines = next.max(from / LINE)..(from + u64::from(self.at.len)).div_ceil(LINE);
            next = next.max(lines.end);
            lines.into_iter().all(&mut f)
        })
    }

    /// From the first byte to after the last.
    #[inline]
    pub fn all_bytes(&self) -> (u64, u64) {
        let EventPlaces { from, distance, len, pieces, .. } = self.at;
        let far = i64::from(distance) * i64::from(pieces - 1);
        let (low, high) = (from.wrapping_add_signed(far.min(0)), from.wrapping_add_signed(far.max(0)));
        (low, high + u64::from(len))
    }

    /// From the first line to after the last.
    #[inline]
    pub fn all_lines(&self) -> (u64, u64) {
        let (from, to) = self.all_bytes();
        (from / LINE, to.div_ceil(LINE))
    }

    /// Lines all of whose bytes it accesses, if they follow each other.
    #[inline]
    pub fn whole_lines(&self) -> (u64, u64) {
        self.block().map_or((0, 0), |(from, to)| (from.div_ceil(LINE), to / LINE))
    }

    /// From the first line to after the last, if it accesses all of them.
    #[inline]
    pub fn dense_lines(&self) -> Option<(u64, u64)> {
        let dense = u64::from(self.at.distance.unsigned_abs()) <= LINE.max(self.at.len.into());
        dense.then(|| self.all_lines())
    }

    /// The pieces that can be in a line.
    #[inline]
    fn pieces(&self, line: u64) -> std::ops::Range<u8> {
        let EventPlaces { from, distance, len, pieces, .. } = self.at;
        if pieces <= 2 || distance <= 0 {
            return 0..pieces;
        }
        let (low, high, distance) = (line * LINE, (line + 1) * LINE, u64::from(distance.unsigned_abs()));
        let first = (low + 1).saturating_sub(from + u64::from(len)).div_ceil(distance);
        let end = high.saturating_sub(from).div_ceil(distance);
        let most = u64::from(pieces);
        first.min(most) as u8..end.min(most) as u8
    }

    /// Calls `f` with what it is for a line.
    pub fn stripes(&self, line: u64, mut f: impl FnMut(Stripe)) {
        let EventPlaces { len, lanes: of_piece, log, exchange, .. } = self.at;
        for i in self.pieces(line) {
            let from = self.start(i);
            let (low, high) = (from.max(line * LINE), (from + u64::from(len)).min((line + 1) * LINE));
            if low >= high {
                continue;
            }
            let thread = u32::from(i) * u32::from(of_piece);
            let all = self.by.lanes << (thread % 32);
            let first = all.trailing_zeros() as u8;
            let (first, lanes) = match log {
                None => (first, all),
                Some(log) => {
                    let (n, first) = (((high - low) >> log) as u8, first + ((low - from) >> log) as u8);
                    (first, lanes_of(first, n, exchange))
                }
            };
            let new = Record { actor: self.by.actor.wrapping_add(thread / 32), ..self.by };
            let (from, to) = ((low - line * LINE) as u8, (high - line * LINE) as u8);
            let extent = Extent { from, to, log, first, exchange };
            f(Stripe::new(&new, lanes, extent));
        }
    }

    /// The bytes of a line, a bit each.
    #[inline]
    pub fn bytes(&self, line: u64) -> u64 {
        let bits = |low: u64, high: u64| {
            let (low, high) = (low.max(line * LINE), high.min((line + 1) * LINE));
            if low < high { u64::MAX >> (LINE - (high - low)) << (low - line * LINE) } else { 0 }
        };
        match self.block() {
            Some((from, to)) => bits(from, to),
            None => self.pieces(line).fold(0, |all, i| {
                let from = self.start(i);
                all | bits(from, from + u64::from(self.at.len))
            }),
        }
    }

    /// Are they the same?
    #[inline]
    pub fn is(&self, other: &ShadowEvent) -> bool {
        (self.by, self.at) == (other.by, other.at)
    }

    /// Does the same thread access each byte of both?
    #[inline]
    pub fn is_alike(&self, other: &ShadowEvent) -> bool {
        let apart = self.at.pieces == 1 || self.at.distance.unsigned_abs() >= self.at.len;
        self.at.log.is_some() && apart && self.is_of_same(other)
    }

    /// Do the same threads access the same bytes?
    #[inline]
    fn is_of_same(&self, other: &ShadowEvent) -> bool {
        (self.by.actor, self.by.lanes) == (other.by.actor, other.by.lanes) && self.at == other.at
    }

    /// Does a later read, whose threads come after those of this one or are the same, say all that this one says about a line? Without
    /// a line: about one all of whose bytes it reads.
    #[inline]
    pub fn is_replaced(&self, new: &ShadowEvent, is_known: impl Fn(&ShadowEvent) -> bool, line: Option<u64>) -> bool {
        // a strong read is in no race with strong writes, but a weak one is
        self.by.strong == new.by.strong
            && self.by.what == new.by.what
            && (self.by.actor != COPIES && self.is_of_same(new)
                || (is_known(self) || self.is_part_of(new))
                    && line.is_none_or(|line| self.bytes(line) & !new.bytes(line) == 0))
    }

    /// Lanes of a warp, each of which accesses the same elements in both.
    fn is_part_of(&self, new: &ShadowEvent) -> bool {
        let origin =
            |e: &ShadowEvent, log: u8| i64::from(e.by.lanes.trailing_zeros()) - (e.at.from >> log).cast_signed();
        match (self.at.log, new.at.log) {
            (Some(a), Some(b)) => {
                a == b
                    && (self.at.pieces, new.at.pieces) == (1, 1)
                    && self.by.actor == new.by.actor
                    && origin(self, a) == origin(new, a)
                    && (self.at.exchange, new.at.exchange) == (0, 0)
            }
            _ => false,
        }
    }

    /// Joins two events, if the same lanes read one element after the other.
    pub fn joined(&self, next: &ShadowEvent) -> Option<ShadowEvent> {
        let EventPlaces { from, len, .. } = self.at;
        let at = EventPlaces { from, len: len.checked_add(next.at.len)?, ..next.at };
        let goes_on = self.by == next.by && from + u64::from(len) == next.at.from && next.at.log.is_none();
        let same = EventPlaces { from, len, ..next.at } == self.at && next.at.distance == 0;
        (goes_on && same).then_some(ShadowEvent { at, ..*next })
    }
}

/// The first byte of a block whose elements lanes exchange, and how.
#[inline(always)]
fn exchange_of(offsets: &Lanes, log: u32) -> Option<(u64, u8)> {
    let low = offsets.iter().fold(u64::MAX, |low, offset| low.min(*offset));
    let first = (offsets[0] - low) >> log;
    let differ = (0..).zip(offsets).fold(0, |differ, (lane, offset)| differ | offset ^ (low + ((lane ^ first) << log)));
    (first < 32 && differ == 0).then_some((low, first as u8))
}

/// The lanes that access elements from one on, so many.
#[inline]
fn lanes_of(first: u8, n: u8, exchange: u8) -> u32 {
    let lanes = ((u64::from(u32::MAX) >> (32 - n)) << first) as u32;
    // each bit of the exchange swaps neighbouring groups of lanes
    const EVEN: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0F0F_0F0F, 0x00FF_00FF, 0x0000_FFFF];
    (0..).zip(EVEN).filter(|(bit, _)| exchange >> bit & 1 != 0).fold(lanes, |lanes, (bit, even)| {
        let by = 1 << bit;
        (lanes & even) << by | lanes >> by & even
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::checked::what::RecordKind;

    fn event(pieces: Pieces, bytes: u32, from: u64) -> ShadowEvent {
        let by = Record { actor: 64, what: RecordKind::Load, ..Record::default() };
        ShadowEvent::of_warps(by, from, bytes, &pieces).unwrap()
    }

    /// Which lane accesses which byte, by the definition of pieces.
    fn expected(pieces: Pieces, bytes: u32, from: u64) -> Vec<(u64, u32, u32)> {
        let mut all = Vec::new();
        for i in 0..pieces.count {
            for lane in 0..pieces.lanes {
                let first = from.wrapping_add_signed(i64::from(i) * pieces.distance) + u64::from(lane * pieces.step);
                let thread = i * pieces.lanes + lane;
                all.extend((first..first + u64::from(bytes)).map(|byte| (byte, 64 + thread / 32, thread % 32)));
            }
        }
        all.sort_unstable();
        all
    }

    fn decoded(event: &ShadowEvent) -> Vec<(u64, u32, u32)> {
        let mut all = Vec::new();
        event.lines(|line| {
            let mut bits = 0;
            event.stripes(line, |stripe| {
                for word in 0..16 {
                    for record in stripe.records(word) {
                        for (byte, lane) in (0..4).flat_map(|b| (0..32).map(move |l| (b, l))) {
                            if record.bytes >> byte & 1 != 0 && record.lanes >> lane & 1 != 0 {
                                all.push((line * LINE + u64::from(word * 4 + byte), record.actor, lane));
                                bits |= 1 << (word * 4 + byte);
                            }
                        }
                    }
                }
            });
            assert_eq!(bits, event.bytes(line), "line {line} of {event:?}");
            true
        });
        all.sort_unstable();
        all
    }

    #[test]
    fn lines_have_the_lanes_of_their_bytes() {
        for lanes in [8, 16, 32] {
            for (bytes, step) in [(4, 4), (4, 0), (8, 8), (2, 2), (1, 1), (8, 0)] {
                for distance in [0, 4, 64, 128, 132, 256, -64, -132, 1024].map(|d: i64| d * i64::from(bytes) / 4) {
                    let pieces = Pieces { count: 64 / lanes, lanes, step, distance };
                    let from = 1 << 12;
                    assert_eq!(decoded(&event(pieces, bytes, from)), expected(pieces, bytes, from), "{pieces:?}");
                }
            }
        }
    }

    #[test]
    fn lanes_exchange_elements() {
        let by = Record { actor: 64, lanes: u32::MAX, ..Record::default() };
        for (exchange, size) in [(1, 4), (7, 4), (16, 4), (21, 8), (31, 2), (5, 16)] {
            let offsets = std::array::from_fn(|lane| 0x1040 + u64::from(size) * (lane as u64 ^ exchange));
            let mut expected: Vec<_> = (0u32..)
                .zip(offsets)
                .flat_map(|(lane, from)| (from..from + u64::from(size)).map(move |byte| (byte, 64, lane)))
                .collect();
            expected.sort_unstable();
            assert_eq!(decoded(&ShadowEvent::exchanged(by, &offsets, size).unwrap()), expected, "{exchange} {size}");
            let mut other = offsets;
            other.swap(3, 9);
            assert_eq!(ShadowEvent::exchanged(by, &other, size), None);
        }
    }
}
