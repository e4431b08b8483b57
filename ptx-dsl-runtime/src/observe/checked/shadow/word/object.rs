//! The operations on a live mbarrier object, which are kept with the object until something else happens to its bytes.

use super::MOST_READS;
use crate::observe::checked::operations::View;
use crate::observe::checked::shadow::Shadow;
use crate::observe::checked::shadow::blocks::WORDS;
use crate::observe::checked::shadow::record::Record;
use crate::observe::checked::shadow::stripe::LINE;

impl Record {
    /// The number of operations on an object that are kept beside the last one.
    pub(in crate::observe::checked) const MOST: usize = MOST_READS;

    /// Has this initialisation of an object happened before an operation?
    #[inline]
    pub(in crate::observe::checked) fn is_behind(&self, view: &View<'_>) -> bool {
        let is_fenced = |bridge| view.has_met_fenced(bridge, self.actor, self.lanes, self.time);
        self.is_before(view) || self.bridge(view).is_some_and(is_fenced)
    }
}

impl Shadow {
    /// Adds the operations on an object to its bytes, from the oldest to the last.
    #[cold]
    pub(in crate::observe::checked) fn add(&mut self, from: u64, operations: &[Record]) {
        let Some((last, others)) = operations.split_last() else { return };
        for at in [from, from + 4] {
            let Some((line, more)) = self.line(at / LINE) else { continue };
            line.split(more, at / LINE).change(at as usize / 4 % WORDS, |word, lists| {
                others.iter().for_each(|r| word.push(lists, *r));
                word.add(lists, *last);
            });
        }
    }
}
