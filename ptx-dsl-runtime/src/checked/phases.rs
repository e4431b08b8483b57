//! Waits for a phase of an mbarrier object that come two phases late: the parity then names a later phase.
//!
//! A wait names one bit of a phase. A thread means the phase after the last one of which it knows that it is complete: because it has
//! seen it, or because something orders it after the arrivals. If that phase and the next one are complete already, and nothing orders
//! the next one after the wait, then the wait is for the wrong phase.

use super::actor::Actor;
use super::threads::Warp;
use crate::monitor::Who;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Slot, rank, offset.
type Object = (u32, u32, u32);

/// An arrival: lanes of a warp at a time.
type Arrival = (Actor, u32, u32);

/// Complete phases whose arrivals are kept.
const KEPT: usize = 64;

#[derive(Debug, Default)]
struct Phases {
    /// Complete ones since `mbarrier.init`.
    complete: u64,
    /// The arrivals of the last ones, the youngest last.
    last: VecDeque<Vec<Arrival>>,
    current: Vec<Arrival>,
    /// By warp of the CTA: phases that it has seen complete, counted from the first.
    seen: FxHashMap<u32, u64>,
}

/// A wait that is late.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// The phase that the thread means.
    pub wanted: u64,
    /// Complete phases.
    pub complete: u64,
}

/// The phases of the mbarrier objects of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct AllPhases {
    objects: FxHashMap<Object, Phases>,
}

impl AllPhases {
    /// A cluster starts in this slot.
    pub fn start(&mut self, slot: u32) {
        self.objects.retain(|key, _| key.0 != slot);
    }

    /// `mbarrier.init`
    pub fn init(&mut self, object: Object) {
        self.objects.insert(object, Phases::default());
    }

    /// Lanes of a warp arrive; their accesses until now have this time.
    pub fn arrive(&mut self, object: Object, warp: &Warp, lanes: u32) {
        if let Some(phases) = self.objects.get_mut(&object) {
            match phases.current.last_mut() {
                Some(last) if (last.0, last.2) == (warp.id, warp.time) => last.1 |= lanes,
                _ => phases.current.push((warp.id, lanes, warp.time)),
            }
        }
    }

    /// A phase is complete.
    pub fn complete(&mut self, object: Object) {
        let Some(phases) = self.objects.get_mut(&object) else { return };
        phases.complete += 1;
        if phases.last.len() == KEPT {
            phases.last.pop_front();
        }
        phases.last.push_back(std::mem::take(&mut phases.current));
    }

    /// A thread sees that the last phase is complete.
    pub fn sees(&mut self, object: Object, who: Who) {
        if let Some(phases) = self.objects.get_mut(&object) {
            phases.seen.insert(who.warp, phases.complete);
        }
    }

    /// Lanes of a warp test the phase of this parity. Are they late?
    pub fn test(&self, object: Object, parity: u64, who: Who, warp: &Warp) -> Option<Late> {
        let phases = self.objects.get(&object)?;
        let mut known = phases.seen.get(&who.warp).copied().unwrap_or(0);
        // an arrival of the warp itself is known to it
        let knows = |(id, lanes, time): &Arrival| *id == warp.id || warp.any_knows(*id, *lanes, *time);
        for (back, arrivals) in (0..).zip(phases.last.iter().rev()) {
            let number = phases.complete - back;
            if number <= known {
                break;
            }
            if arrivals.is_empty() {
                // of asynchronous operations alone: who knows
                return None;
            }
            if arrivals.iter().all(knows) {
                known = number;
            }
        }
        // phase `known` is the one after those that are known, and has its parity
        let kept = phases.complete <= known + phases.last.len() as u64;
        let late = kept && known % 2 == parity & 1 && phases.complete >= known + 2;
        late.then_some(Late { wanted: known, complete: phases.complete })
    }
}
