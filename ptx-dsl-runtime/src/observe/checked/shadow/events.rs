//! The accesses to which records of lines and words refer.

use super::event::ShadowEvent;

/// The accesses that records of lines refer to: by number, from 1 on.
#[derive(Debug, Default)]
pub(super) struct Events {
    all: Vec<ShadowEvent>,
    /// Lists of further reads, by number.
    pub lists: Vec<Vec<u32>>,
    /// At this number, the table removes events to which no record refers.
    limit: usize,
    /// Numbers to which no record refers.
    free: Vec<u32>,
}

/// The least number at which they are removed.
const LEAST: usize = 1 << 15;

impl Events {
    #[inline]
    pub fn get(&self, id: u32) -> Option<&ShadowEvent> {
        self.all.get((id as usize).wrapping_sub(1))
    }

    /// Keeps an access: its number.
    #[inline]
    pub fn keep(&mut self, event: ShadowEvent) -> u32 {
        self.all.push(event);
        self.all.len() as u32
    }

    /// Keeps an access to which lines refer, and words in place of these lines.
    #[inline]
    pub fn keep_for_lines(&mut self, event: ShadowEvent) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.all[id as usize - 1] = event;
                id
            }
            None => self.keep(event),
        }
    }

    /// No record refers to an access any more, if `is_unused` says so.
    #[inline]
    pub fn free(&mut self, id: u32, is_unused: impl FnOnce(&ShadowEvent) -> bool) {
        if self.get(id).is_some_and(|event| !event.is_of_cells() && is_unused(event)) {
            self.free.push(id);
        }
    }

    /// The last one, if it will do for a word.
    #[inline]
    pub fn last_for_cell<T>(&mut self, will_do: impl FnOnce(&ShadowEvent) -> Option<T>) -> Option<(u32, T)> {
        let id = self.last();
        let event = self.all.last_mut()?;
        let found = will_do(event)?;
        event.give_to_cells();
        Some((id, found))
    }

    /// The number of the last one.
    #[inline]
    pub fn last(&self) -> u32 {
        self.all.len() as u32
    }

    /// Nobody refers to any.
    pub fn clear(&mut self) {
        self.all.clear();
        self.lists.clear();
        self.free.clear();
    }

    /// The memory is another one.
    pub fn start_anew(&mut self) {
        self.clear();
        self.limit = 0;
    }

    pub fn bytes(&self) -> usize {
        size_of::<ShadowEvent>() * self.all.capacity()
    }

    /// Are there many, beside so many bytes that refer to them?
    #[inline]
    pub fn are_many(&self, beside: usize) -> bool {
        self.all.len() >= self.limit.max(LEAST).max(beside / 4 / size_of::<ShadowEvent>())
    }

    /// Removes all that `visit` does not show, and gives the others new numbers.
    #[cold]
    pub fn collect(&mut self, visit: impl FnOnce(&mut dyn FnMut(&mut u32))) {
        let (mut kept, mut numbers) = (Vec::with_capacity(self.all.len() / 2), vec![0; self.all.len() + 1]);
        let mut renumber = |id: &mut u32| {
            let Some(event) = self.all.get((*id as usize).wrapping_sub(1)) else { return };
            let number: &mut u32 = &mut numbers[*id as usize];
            if *number == 0 {
                kept.push(*event);
                *number = kept.len() as u32;
            }
            *id = *number;
        };
        self.lists.iter_mut().flatten().for_each(&mut renumber);
        visit(&mut renumber);
        self.limit = 4 * kept.len();
        self.all = kept;
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::checked::shadow::Record;

    fn event(from: u64) -> ShadowEvent {
        ShadowEvent::one(Record { actor: 64, ..Record::default() }, from, 128, Some(2))
    }

    fn first_byte(events: &Events, id: u32) -> Option<u64> {
        events.get(id).map(|event| event.all_bytes().0)
    }

    #[test]
    fn only_what_is_referred_to_stays() {
        let mut events = Events::default();
        let numbers: Vec<u32> = (0..10).map(|i| events.keep(event(i * 128))).collect();
        let (mut a, mut b, mut none) = (numbers[7], numbers[2], 0);
        events.lists.push(vec![numbers[2], numbers[4]]);
        events.collect(|visit| [&mut a, &mut b, &mut none].into_iter().for_each(visit));
        assert_eq!([a, b, none].map(|id| first_byte(&events, id)), [Some(7 * 128), Some(2 * 128), None]);
        let listed: Vec<_> = events.lists[0].iter().map(|id| first_byte(&events, *id)).collect();
        assert_eq!((listed, events.all.len()), (vec![Some(2 * 128), Some(4 * 128)], 3));
    }

    #[test]
    fn cells_keep_what_lines_give_back() {
        let mut events = Events::default();
        let lines = [0, 128].map(|from| events.keep_for_lines(event(from)));
        events.free(lines[0], |_| false);
        events.free(lines[1], |_| true);
        assert_eq!(events.keep_for_lines(event(256)), lines[1]);
        // the last one is also that of a word from now on
        let last = events.keep(event(384));
        assert_eq!(events.last_for_cell(|event| Some(event.all_bytes().0)), Some((last, 384)));
        events.free(last, |_| true);
        assert_ne!(events.keep_for_lines(event(512)), last);
        assert_eq!([lines[0], lines[1], last].map(|id| first_byte(&events, id)), [Some(0), Some(256), Some(384)]);
    }
}
