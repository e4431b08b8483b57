//! The memory that a turn of polling threads reads and changes, and its values then.

use crate::machine::ctx::Ctx;
use crate::memory::address::Place;

/// The most places of a turn.
const MOST: usize = 256;

/// The most bytes of one of them: what a load takes.
const LARGEST: u32 = 32;

/// The bytes from one place to another one of the same memory behind it.
fn distance(from: Place, to: Place) -> Option<u64> {
    match (from, to) {
        (Place::Global { segment: a, offset: from }, Place::Global { segment: b, offset: to }) if a == b => {
            to.checked_sub(from)
        }
        (Place::Shared { rank: a, offset: from }, Place::Shared { rank: b, offset: to }) if a == b => {
            to.checked_sub(from).map(u64::from)
        }
        _ => None,
    }
}

/// Whether the first range of bytes is inside of the second one.
fn is_inside((place, bytes): (Place, u32), (from, size): (Place, u32)) -> bool {
    distance(from, place).is_some_and(|behind| behind + u64::from(bytes) <= size.into())
}

/// The places that a turn accesses, while they are noted.
#[derive(Debug, Default)]
pub(crate) struct Touched(Option<Vec<(Place, u32)>>);

impl Touched {
    /// Notes the places of the turn that begins now.
    pub(super) fn begin(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Whether the places of the turn are noted.
    #[inline(always)]
    pub fn is_noted(&self) -> bool {
        self.0.is_some()
    }

    /// Ends the notes: the turn depends on more than places in memory.
    pub fn give_up(&mut self) {
        self.0 = None;
    }

    /// Notes an access of the turn to this many bytes at a place.
    pub fn add(&mut self, place: Place, bytes: u32) {
        let Some(places) = &mut self.0 else { return };
        if places.iter().rev().any(|(from, size)| is_inside((place, bytes), (*from, *size))) {
            return;
        }
        if let Some((from, size)) = places.last_mut()
            && *size + bytes <= LARGEST
            && distance(*from, place) == Some((*size).into())
        {
            *size += bytes;
        } else if places.len() == MOST {
            self.0 = None;
        } else {
            places.push((place, bytes));
        }
    }

    /// The places of the turn, which is over.
    pub(super) fn take(&mut self) -> Option<Vec<(Place, u32)>> {
        self.0.take()
    }
}

/// Bytes in memory, and what they were; `None` where there is no memory.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<(Place, u32, Option<[u64; 4]>)>);

/// The value of a place, if there is memory.
fn held(x: &Ctx<'_>, place: Place, bytes: u32) -> Option<[u64; 4]> {
    x.loads().load(place, 0, bytes, 0).ok()
}

impl Held {
    /// Adds these places with their current values. False if the places are too many.
    pub fn add(&mut self, x: &Ctx<'_>, places: &[(Place, u32)]) -> bool {
        for (place, bytes) in places {
            let now = (*place, *bytes, held(x, *place, *bytes));
            if !self.0.contains(&now) {
                self.0.push(now);
            }
        }
        self.0.len() <= MOST
    }

    /// Whether all places have the recorded values, in the cluster of the current slot.
    pub fn is_unchanged(&self, x: &Ctx<'_>) -> bool {
        self.0.iter().all(|(place, bytes, value)| held(x, *place, *bytes) == *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_noted_once_and_not_too_many() {
        let at = |offset| Place::Shared { rank: 0, offset };
        let mut touched = Touched::default();
        touched.add(at(0), 4);
        assert_eq!(touched.take(), None, "they are not noted");
        touched.begin();
        for offset in [0, 0, 4, 0, 12, 36] {
            touched.add(at(offset), 4);
        }
        assert_eq!(touched.take(), Some(vec![(at(0), 8), (at(12), 4), (at(36), 4)]));
        touched.begin();
        (0..10).for_each(|n| touched.add(at(4 * n), 4));
        touched.add(at(6), 4);
        touched.add(Place::Shared { rank: 1, offset: 40 }, 8);
        assert_eq!(
            touched.take(),
            Some(vec![(at(0), 32), (at(32), 8), (Place::Shared { rank: 1, offset: 40 }, 8)]),
            "what one load takes"
        );
        touched.begin();
        (0..MOST as u32).for_each(|n| touched.add(at(8 * n), 4));
        assert!(touched.is_noted());
        touched.add(at(8 * MOST as u32), 4);
        assert!(!touched.is_noted());
    }
}
