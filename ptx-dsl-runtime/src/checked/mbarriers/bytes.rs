//! The bytes of a live mbarrier object.
//!
//! Only operations on the object access them, and these do not conflict with each other, only with the initialisation. So they are kept in
//! one list, as the shadow keeps reads, and are added to the shadow when the object ends.

use crate::checked::operations::View;
use crate::checked::shadow::Record;
use crate::checked::threads::Warp;

/// The accesses to the bytes of a live object.
#[derive(Debug)]
pub(in crate::checked) struct Bytes {
    init: Record,
    /// No lanes: there is none.
    pub last: Record,
    /// Those before that it does not say all of.
    pub others: Vec<Record>,
}

impl Bytes {
    pub fn new(init: Record) -> Bytes {
        Bytes { init, last: Record::default(), others: Vec::new() }
    }

    /// An operation on the object. If it has a race with the initialisation: that.
    #[inline]
    pub fn access(&mut self, new: Record, view: &View<'_>) -> Option<Record> {
        if self.last == new {
            return None;
        }
        if !self.init.is_behind(view) {
            return Some(self.init);
        }
        self.keep(new, view.warp);
        None
    }

    #[inline]
    fn keep(&mut self, new: Record, warp: &Warp) {
        let is_near = |r: &Record| r.actor == new.actor || warp.knows_by_barrier(r.actor, r.time);
        if let Some(at) = self.others.iter().position(is_near) {
            if let Some(same) = self.others[at..].iter_mut().find(|r| r.joins(&new)) {
                same.lanes |= new.lanes;
                return;
            }
            self.others.extract_if(at.., |r| r.is_replaced(&new, warp)).for_each(drop);
        }
        if self.last.joins(&new) {
            self.last.lanes |= new.lanes;
            return;
        }
        if self.last.lanes != 0 && !self.last.is_replaced(&new, warp) && self.others.len() < Record::MOST {
            self.others.push(self.last);
        }
        self.last = new;
    }
}
