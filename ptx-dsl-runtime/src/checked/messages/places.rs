//! Messages of stores that have released nothing: for each four bytes of a memory, who has stored there.

use super::Issuer;
use crate::checked::actor::Actor;

/// What is known of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// No message begins there.
    #[default]
    Empty,
    /// One begins at the first byte, of a store by a lane that released nothing: its [`Issuer`], in 16 bytes with the tag.
    Relaxed { lane: u8, warp: Actor, time: u32, site: u32 },
    /// The table has those that begin there, if any.
    Table,
}

impl Place {
    /// That of a store of one lane.
    #[inline]
    pub fn of(issuer: Issuer) -> Place {
        let Issuer { warp, lanes, time, site } = issuer;
        Place::Relaxed { lane: lanes.trailing_zeros() as u8, warp, time, site }
    }

    /// Who has stored there, if that released nothing.
    #[inline]
    pub fn issuer(self) -> Option<Issuer> {
        match self {
            Place::Relaxed { lane, warp, time, site } => Some(Issuer { warp, lanes: 1 << (lane & 31), time, site }),
            Place::Empty | Place::Table => None,
        }
    }

    fn is_relaxed(self) -> bool {
        matches!(self, Place::Relaxed { .. })
    }
}

/// Places of a page.
const PAGE: u64 = 256;

type Page = [Place; PAGE as usize];

/// The pages that can be kept: more than any memory of the host has.
const MOST_PAGES: u64 = 1 << 28;

/// The places of a memory. Pages are made as they are used.
#[derive(Debug, Default)]
pub(super) struct Places {
    pages: Vec<Option<Box<Page>>>,
    relaxed: usize,
    has_table: bool,
}

/// The page of a byte, and its place there.
#[inline]
fn split(offset: u64) -> (u64, usize) {
    (offset / 4 / PAGE, (offset / 4 % PAGE) as usize)
}

impl Places {
    /// How many places have a message that has released nothing.
    pub fn relaxed(&self) -> usize {
        self.relaxed
    }

    /// May the table have messages of this memory?
    pub fn has_table(&self) -> bool {
        self.has_table
    }

    #[inline]
    fn page(&self, number: u64) -> Option<&Page> {
        self.pages.get(number as usize)?.as_deref()
    }

    /// Has anybody stored near these bytes?
    pub fn may_be_in(&self, from: u64, len: u64) -> bool {
        let (first, last) = (split(from).0, split(from + len).0);
        last >= MOST_PAGES || (first..=last).any(|number| self.page(number).is_some())
    }

    #[inline]
    pub fn get(&self, offset: u64) -> Place {
        let (number, at) = split(offset);
        match self.page(number) {
            Some(page) => page[at],
            _ if number >= MOST_PAGES => Place::Table,
            _ => Place::Empty,
        }
    }

    #[inline]
    pub fn set(&mut self, offset: u64, place: Place) {
        let (number, at) = split(offset);
        self.has_table |= place == Place::Table;
        if number >= MOST_PAGES {
            return;
        }
        if self.pages.len() as u64 <= number {
            self.pages.resize_with(number as usize + 1, || None);
        }
        let page = self.pages[number as usize].get_or_insert_with(|| Box::new([Place::Empty; PAGE as usize]));
        let old = std::mem::replace(&mut page[at], place);
        self.relaxed = self.relaxed + usize::from(place.is_relaxed()) - usize::from(old.is_relaxed());
    }

    /// Nobody has stored anything.
    pub fn clear(&mut self) {
        *self = Places::default();
    }
}
