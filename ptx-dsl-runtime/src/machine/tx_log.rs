//! The statements that have changed the tx-counts of a CTA's mbarrier objects in their current phases: reports of deadlocks name
//! them.

/// The most entries: further statements are not named.
const MOST: usize = 64;

/// The changes of tx-counts in phases that are not complete.
#[derive(Debug, Default)]
pub(crate) struct TxLog(Vec<Change>);

/// The change that a statement has made to the tx-count of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// The object's offset in shared memory.
    offset: u32,
    /// The statement: one that expects bytes, or the copy that has brought them.
    pub site: u32,
    /// Expected bytes are positive, completed ones negative.
    pub bytes: i64,
}

impl TxLog {
    /// A statement changes the tx-count of an object.
    pub fn count(&mut self, offset: u32, site: u32, bytes: i64) {
        let has_room = self.0.len() < MOST;
        match self.0.iter_mut().find(|c| (c.offset, c.site) == (offset, site)) {
            Some(change) => change.bytes += bytes,
            None if has_room => self.0.push(Change { offset, site, bytes }),
            None => {}
        }
    }

    /// A phase of an object is complete, or an object begins.
    pub fn restart(&mut self, offset: u32) {
        self.0.retain(|c| c.offset != offset);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The changes of an object's tx-count in its current phase.
    pub fn of(&self, offset: u32) -> impl Iterator<Item = Change> + '_ {
        self.0.iter().copied().filter(move |c| c.offset == offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_phase_add_up_by_statement() {
        let mut log = TxLog::default();
        let of = |log: &TxLog, offset| log.of(offset).map(|c| (c.site, c.bytes)).collect::<Vec<_>>();
        log.count(8, 1, 16);
        log.count(0, 1, 4);
        log.count(8, 2, -32);
        log.count(8, 1, 48);
        assert_eq!(of(&log, 8), [(1, 64), (2, -32)]);
        log.restart(8);
        assert_eq!((of(&log, 8), of(&log, 0)), (vec![], vec![(1, 4)]));
        (0..1000).for_each(|site| log.count(16, site, 1));
        assert_eq!(of(&log, 16).len(), MOST - 1);
    }
}
