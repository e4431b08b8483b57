//! Messages of stores that have released nothing: for each four bytes of a memory, who has stored there.

use super::Issuer;
use super::stores::Stores;

/// The messages that begin in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessagePlace {
    /// No message begins there.
    Empty,
    /// A message begins at the first byte, of a store by a lane that released nothing.
    Relaxed(Issuer),
    /// The table has those that begin there, if any.
    Table,
}

/// A place as it is kept: the number of a store and its lane in 5 bits, or one of these.
type Packed = u32;

const EMPTY: Packed = 0;

const TABLE: Packed = u32::MAX;

/// Places of a page.
const PAGE: u64 = 256;

type Page = [Packed; PAGE as usize];

/// The pages that can be kept: more than any memory of the host has.
const MOST_PAGES: u64 = 1 << 28;

/// The places of a memory. Pages are made as they are used.
#[derive(Debug, Default)]
pub(super) struct Places {
    pages: Vec<Option<Box<Page>>>,
    stores: Stores,
    /// The number of places with a message that has released nothing.
    relaxed: usize,
    has_table: bool,
}

/// The page of a byte, and its place there.
#[inline]
fn split(offset: u64) -> (u64, usize) {
    (offset / 4 / PAGE, (offset / 4 % PAGE) as usize)
}

impl Places {
    /// The number of places with a message that has released nothing.
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
    pub fn get(&self, offset: u64) -> MessagePlace {
        let (number, at) = split(offset);
        match self.page(number).map(|page| page[at]) {
            Some(EMPTY) => MessagePlace::Empty,
            Some(TABLE) => MessagePlace::Table,
            Some(packed) => self.stores.get(packed).map_or(MessagePlace::Empty, MessagePlace::Relaxed),
            _ if number >= MOST_PAGES => MessagePlace::Table,
            _ => MessagePlace::Empty,
        }
    }

    /// A store that has released nothing. False, with nothing done, if the table is to have it.
    #[inline]
    pub fn store(&mut self, offset: u64, issuer: &Issuer) -> bool {
        if self.stores.are_many() {
            let pages = &mut self.pages;
            self.stores.collect(|visit| {
                let places = pages.iter_mut().flatten().flat_map(|page| page.iter_mut());
                places.filter(|place| !matches!(**place, EMPTY | TABLE)).for_each(visit);
            });
        }
        let Some(store) = self.stores.of(issuer) else { return false };
        let Some(place) = self.place(offset).filter(|place| **place != TABLE) else { return false };
        let is_new = *place == EMPTY;
        *place = store;
        self.relaxed += usize::from(is_new);
        true
    }

    /// The table has what begins there, if anything.
    pub fn set_table(&mut self, offset: u64) {
        self.has_table = true;
        self.replace(offset, TABLE);
    }

    /// No message begins there.
    pub fn set_empty(&mut self, offset: u64) {
        self.replace(offset, EMPTY);
    }

    fn replace(&mut self, offset: u64, new: Packed) {
        let Some(place) = self.place(offset) else { return };
        let old = std::mem::replace(place, new);
        self.relaxed -= usize::from(!matches!(old, EMPTY | TABLE));
    }

    /// A place, if it can be kept.
    #[inline]
    fn place(&mut self, offset: u64) -> Option<&mut Packed> {
        let (number, at) = split(offset);
        if number >= MOST_PAGES {
            return None;
        }
        if self.pages.len() as u64 <= number {
            self.pages.resize_with(number as usize + 1, || None);
        }
        let page = self.pages[number as usize].get_or_insert_with(|| Box::new([EMPTY; PAGE as usize]));
        Some(&mut page[at])
    }

    /// Nobody has stored anything.
    pub fn clear(&mut self) {
        *self = Places::default();
    }
}
