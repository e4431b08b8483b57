//! Accesses of several lanes of a warp in one instruction.

use super::Checked;
use super::mbarriers::Completion;
use super::operations::View;
use super::shadow::{Record, ShadowedMemory};
use super::what::RecordKind;
use crate::observe::monitor::{Access, Offsets, Who};

impl Checked {
    /// Accesses of several lanes. False if there is more to it than that nothing is wrong: then each of them comes again.
    pub(super) fn row(&mut self, a: &Access, memory: ShadowedMemory, offset: u64, offsets: Offsets<'_>) -> bool {
        let order = a.order;
        // each lane that releases does so at a time of its own
        if order.releases() || order.atomic && !self.is_unchained(a.who) {
            return false;
        }
        let Some(seen) = self.is_fine(a, memory, offset, offsets) else { return false };
        match (a.write, order.is_strong()) {
            (false, true) if seen != 0 && !self.messages.is_empty() => self.see_all(a, seen, (memory, offset), offsets),
            (true, true) if !order.atomic => self.send_all(a, memory, offset, offsets),
            (true, true) if a.who.lanes.is_power_of_two() => {
                if let Some(warp) = self.threads.accesses(a.who) {
                    self.counters.changes(a, (memory, offset), (warp.id, warp.time), false);
                }
            }
            (true, false) if !self.messages.is_empty() => self.overwrite_all(a, memory, offset, offsets),
            _ => {}
        }
        true
    }

    /// Do atomic operations neither continue what earlier stores have published, nor publish anything?
    fn is_unchained(&mut self, who: Who) -> bool {
        self.messages.is_empty()
            && self.threads.accesses(who).is_some_and(|warp| warp.fenced(who.lanes.trailing_zeros() & 31).is_empty())
    }

    /// Weak stores of lanes end what was there.
    fn overwrite_all(&mut self, a: &Access, memory: ShadowedMemory, offset: u64, offsets: Offsets<'_>) {
        if let Offsets::Row { .. } = offsets
            && !self.messages.may_be_in(memory, offset, u64::from(a.bytes * a.who.lanes.count_ones()))
        {
            return;
        }
        offsets.each(a.who.lanes, offset).for_each(|(_, at)| self.messages.overwrite((memory, at)));
    }

    /// Are accesses of lanes that know the same seen to be fine at once? Then they are done: the lanes that may find a message.
    fn is_fine(&mut self, a: &Access, memory: ShadowedMemory, offset: u64, offsets: Offsets<'_>) -> Option<u32> {
        let (lanes, order) = (a.who.lanes, a.order);
        let warp = self.threads.accesses(a.who)?;
        if !warp.is_together(lanes) {
            return None;
        }
        let what = match (order.atomic, a.write) {
            (true, _) => RecordKind::Atomic,
            (false, true) => RecordKind::Store,
            (false, false) => RecordKind::Load,
        };
        let new = Record::new(warp, lanes, a.who.site, what, order);
        self.reaches(a, memory, new, Completion::Thread).ok()?;
        let may_be_unwritten = self.may_be_unwritten(memory);
        let warp = self.threads.accesses(a.who)?;
        // whoever reads shared memory needs a write before
        let reads = may_be_unwritten && (order.atomic || !a.write);
        let view = View { warp, lanes, operations: &self.operations, bridge: None, reads: false, content: None };
        let shadow = self.shadows.of(memory);
        let all = |fine: bool| fine.then_some(lanes);
        match offsets {
            Offsets::Row { step } if order.is_strong() && !order.atomic => {
                let first = offset.wrapping_sub(u64::from(step * (lanes.trailing_zeros() & 31)));
                let places = std::array::from_fn(|lane| first.wrapping_add(u64::from(step) * lane as u64));
                shadow.lanes((&places, a.bytes), reads, new, &view)
            }
            Offsets::Row { step: 0 } => all(shadow.element((offset, a.bytes), reads, new, &view)),
            Offsets::Row { .. } => all(shadow.row((offset, a.bytes), reads, new, &view)),
            Offsets::Lanes(places) => shadow.lanes((places, a.bytes), reads, new, &view),
        }
    }
}
