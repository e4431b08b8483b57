//! Waits for a phase of an mbarrier object that come two phases late: the parity then names a later phase.
//!
//! A wait names one bit of a phase. A thread means the phase after the last one of which it knows that it is complete: because it has
//! seen it, or because something orders it after the arrivals. If the bit is not that of this phase, the thread means the last one of which
//! it knows, perhaps because it has arrived itself. If the phase that it means and the next one are complete already, and nothing orders
//! the next one after the wait, then the wait is for the wrong phase.

use super::actor::Actor;
use super::threads::Warp;
use std::collections::VecDeque;

/// An arrival: lanes of a warp at a time.
type Arrival = (Actor, u32, u32);

/// Complete phases whose arrivals are kept: more than a CTA of 8 warps completes at once if the count of the object is 1.
const KEPT: usize = 256;

/// The phases of an mbarrier object.
#[derive(Debug, Default)]
pub(super) struct Phases {
    /// Complete ones since `mbarrier.init`.
    complete: u64,
    /// The arrivals of the last ones, the youngest last.
    last: VecDeque<Vec<Arrival>>,
    current: Vec<Arrival>,
    /// The number of phases that each warp of the CTA has seen complete.
    seen: Vec<u64>,
}

/// A wait that is late.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// The phase that the thread means.
    pub wanted: u64,
    /// Complete phases.
    pub complete: u64,
}

impl Phases {
    /// Lanes of a warp arrive; their accesses until now have this time.
    pub fn arrive(&mut self, warp: &Warp, lanes: u32) {
        match self.current.last_mut() {
            Some(last) if (last.0, last.2) == (warp.id, warp.time) => last.1 |= lanes,
            _ => self.current.push((warp.id, lanes, warp.time)),
        }
    }

    /// A phase is complete.
    pub fn complete(&mut self) {
        self.complete += 1;
        let mut next = if self.last.len() == KEPT { self.last.pop_front().unwrap_or_default() } else { Vec::new() };
        next.clear();
        self.last.push_back(std::mem::replace(&mut self.current, next));
    }

    /// A warp sees that the last phase is complete.
    pub fn sees(&mut self, warp: u32) {
        let warp = warp as usize;
        if self.seen.len() <= warp {
            self.seen.resize(warp + 1, 0);
        }
        self.seen[warp] = self.complete;
    }

    /// A warp with this number in its CTA tests the phase of this parity. Is it late?
    pub fn test(&self, parity: u64, number: u32, warp: &Warp) -> Option<Late> {
        let mut known = self.seen.get(number as usize).copied().unwrap_or(0);
        if self.complete < known + 2 && (self.complete <= known || known % 2 == parity & 1) {
            return None;
        }
        // an arrival of the warp itself is known to it
        let knows = |(id, lanes, time): &Arrival| *id == warp.id || warp.has_seen(*id, *lanes, *time);
        for (back, arrivals) in (0..).zip(self.last.iter().rev()) {
            let number = self.complete - back;
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
        // phase `known` is the one after those that are known, and has its parity; without one that is known, the wait is for none
        let wanted = if known % 2 == parity & 1 { Some(known) } else { known.checked_sub(1) };
        let is_kept = self.complete <= known + self.last.len() as u64;
        let late = wanted.filter(|wanted| is_kept && self.complete >= wanted + 2);
        late.map(|wanted| Late { wanted, complete: self.complete })
    }
}
