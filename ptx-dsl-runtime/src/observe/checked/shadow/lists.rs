//! Further records of words. Most lists have one, which is in the list itself.

use super::record::Record;

/// A list. It fits into half of a cache line.
#[derive(Debug, Clone, Default)]
#[repr(align(32))]
pub(super) struct List(ListPlace);

#[derive(Debug, Clone, Default)]
enum ListPlace {
    #[default]
    Empty,
    One(Record),
    Many(Vec<Record>),
}

impl List {
    #[inline]
    pub fn records(&self) -> &[Record] {
        match &self.0 {
            ListPlace::Empty => &[],
            ListPlace::One(record) => std::slice::from_ref(record),
            ListPlace::Many(records) => records,
        }
    }

    #[inline]
    pub fn records_mut(&mut self) -> &mut [Record] {
        match &mut self.0 {
            ListPlace::Empty => &mut [],
            ListPlace::One(record) => std::slice::from_mut(record),
            ListPlace::Many(records) => records,
        }
    }

    #[inline]
    pub fn push(&mut self, record: Record) {
        match &mut self.0 {
            ListPlace::Empty => self.0 = ListPlace::One(record),
            ListPlace::One(first) => self.0 = ListPlace::Many(vec![*first, record]),
            ListPlace::Many(records) => records.push(record),
        }
    }

    /// Keeps those records for which `f` holds.
    #[inline]
    pub fn retain(&mut self, f: impl Fn(&Record) -> bool) {
        match &mut self.0 {
            ListPlace::Empty => {}
            ListPlace::One(record) if f(record) => {}
            ListPlace::One(_) => self.0 = ListPlace::Empty,
            ListPlace::Many(records) => records.retain(f),
        }
    }

    /// No records. Keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.retain(|_| false);
    }
}

/// The number of words that can have further records; more words are kept without them, and some races there are not found.
const MOST: usize = (1 << 24) - 1;

/// All lists, by number from 1 on. 0 is an empty one.
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<List>);

impl Lists {
    #[inline]
    pub fn records(&self, number: u32) -> &[Record] {
        self.0.get((number as usize).wrapping_sub(1)).map_or(&[], List::records)
    }

    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut List> {
        self.0.get_mut((number as usize).wrapping_sub(1))
    }

    /// The list of this number, made if it is 0. `None` if there are too many.
    #[inline]
    pub fn of(&mut self, number: &mut u32) -> Option<&mut List> {
        if *number == 0 && self.0.len() < MOST {
            self.0.push(List::default());
            *number = self.0.len() as u32;
        }
        self.get_mut(*number)
    }

    /// No place has a list.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
