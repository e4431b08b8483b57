//! Where a thread has observed another one and not learnt from it.

use super::clock::Clock;
use crate::monitor::Who;
use std::rc::Rc;

/// An observation that does not synchronise.
#[derive(Debug)]
pub(super) struct Miss {
    /// The observer: slot, rank, warp.
    pub warp: (u32, u32, u32),
    pub clock: Rc<Clock>,
    pub why: &'static str,
    pub from: u32,
    pub to: u32,
}

/// So many are kept.
const MISSES: usize = 64;

/// Keeps an observation that does not synchronise, for the report of a race.
pub(super) fn remember(misses: &mut Vec<Miss>, who: Who, clock: &Rc<Clock>, why: &'static str, from: u32) {
    let warp = (who.slot, who.rank, who.warp);
    let same = |m: &Miss| m.warp == warp && m.to == who.site && m.from == from && Rc::ptr_eq(&m.clock, clock);
    if misses.iter().any(same) {
        return;
    }
    if misses.len() == MISSES {
        misses.remove(0);
    }
    misses.push(Miss { warp, clock: clock.clone(), why, from, to: who.site });
}
