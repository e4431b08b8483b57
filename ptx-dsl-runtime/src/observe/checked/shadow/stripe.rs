//! An access as 64 bytes see it: pieces of them, each by lanes of a warp.

use super::record::Record;
use crate::observe::checked::actor::{Actor, includes};
use crate::observe::checked::operations::View;
use crate::observe::checked::what::RecordKind;
use crate::observe::monitor::Scope;

/// The bytes of a line.
pub(super) const LINE: u64 = 64;

/// Which bytes of a line which lanes access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// The first byte, and the end.
    pub from: u8,
    pub to: u8,
    /// Neighbouring lanes access neighbouring elements: the logarithm of their size, 0 to 4. `None`: all lanes access all bytes.
    pub log: Option<u8>,
    /// The lane of the first element, but for the exchange.
    pub first: u8,
    /// Lane `l` accesses element `l ^ exchange` of a warp.
    pub exchange: u8,
}

impl Extent {
    /// The lane of an element of the extent.
    fn lane(&self, element: u32) -> u32 {
        1 << (((u32::from(self.first) + element) ^ u32::from(self.exchange)) & 31)
    }
}

/// An access to a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stripe {
    actor: Actor,
    time: u32,
    site: u32,
    lanes: u32,
    strong: Option<Scope>,
    what: RecordKind,
    extent: Extent,
}

impl Stripe {
    /// By these lanes.
    pub fn new(new: &Record, lanes: u32, extent: Extent) -> Stripe {
        let Record { actor, time, site, strong, what, .. } = *new;
        Stripe { actor, time, site, lanes, strong, what, extent }
    }

    /// The lane of each element, and its bytes from the first of the line on. Or all lanes and bytes.
    pub fn elements(&self) -> impl Iterator<Item = (u32, (u32, u32))> + use<> {
        let Stripe { lanes, extent, .. } = *self;
        let (from, to) = (u32::from(extent.from), u32::from(extent.to));
        let size = extent.log.map_or(to - from, |log| 1 << log);
        (from..to).step_by(size as usize).zip(0..).map(move |(at, i)| {
            let lanes = if extent.log.is_some() { extent.lane(i) } else { lanes };
            (lanes, (at, at + size))
        })
    }

    pub fn actor(&self) -> Actor {
        self.actor
    }

    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The lane that would access the first byte of the line, and how lanes exchange elements.
    fn origin(&self) -> Option<(u32, u8, u8)> {
        let Extent { from, log, first, exchange, .. } = self.extent;
        let log = log?;
        Some((u32::from(first).wrapping_sub(u32::from(from) >> log), log, exchange))
    }

    /// Does the same thread access each byte of both?
    fn is_alike(&self, other: &Stripe) -> bool {
        self.actor == other.actor && self.origin().is_some_and(|origin| Some(origin) == other.origin())
    }

    fn overlaps(&self, other: &Stripe) -> bool {
        self.extent.from < other.extent.to && other.extent.from < self.extent.to
    }

    /// Has it happened before a later one, or do the two not conflict?
    pub fn is_before(&self, new: &Stripe, view: &View<'_>) -> bool {
        self.is_alike(new)
            || !self.overlaps(new)
            || view.is_behind(self.what, self.actor, self.lanes, self.time)
            || self.is_mutual(new)
    }

    fn is_mutual(&self, new: &Stripe) -> bool {
        let (Some(a), Some(b)) = (self.strong, new.strong) else { return false };
        self.extent.log.is_some() && self.extent.log == new.extent.log && includes(a.min(b), self.actor, new.actor)
    }

    /// The access as four bytes see it: a record for each element in them, or one.
    pub fn records(&self, word: u32) -> impl Iterator<Item = Record> {
        let Stripe { actor, time, site, lanes, strong, what, extent } = *self;
        let size = match extent.log {
            Some(log) if log < 2 => 1 << log,
            _ => 4,
        };
        let (from, to) = (u32::from(extent.from).max(word * 4), u32::from(extent.to).min(word * 4 + 4));
        (from..to).step_by(size).map(move |at| {
            let end = to.min(at + size as u32);
            let bytes = ((1u32 << (end - word * 4)) - (1u32 << (at - word * 4))) as u8;
            let lanes = match extent.log {
                Some(log) => extent.lane((at - u32::from(extent.from)) >> log),
                None => lanes,
            };
            Record { actor, time, lanes, site, bytes, strong, what }
        })
    }
}
