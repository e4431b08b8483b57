//! Local memory: which bytes a thread has written, and which part of its stack is not in use.

use crate::fault::FaultKind;
use crate::observe::monitor::{Access, Who};
use rustc_hash::FxHashMap;

/// A thread: slot, rank, warp, lane.
type Thread = (u32, u32, u32, u32);

/// The local memory of the threads of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct Local {
    /// Bytes that are written, a bit each, by 64-byte line.
    written: FxHashMap<(Thread, u64), u64>,
    /// The free part of the stack.
    free: FxHashMap<Thread, (u64, u64)>,
}

fn thread(who: Who) -> Thread {
    (who.slot, who.rank, who.warp, who.lanes.trailing_zeros())
}

/// The lines of a range of bytes, with the bytes in each, a bit each.
fn lines(from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
    (from / 64..to.div_ceil(64)).map(move |line| {
        let (low, high) = (from.max(line * 64) - line * 64, to.min(line * 64 + 64) - line * 64);
        (line, (u64::MAX >> (64 - (high - low))) << low)
    })
}

/// The used bytes of an access that begins at `from`, as bits of the line that begins at `line`.
fn used_in(used: u64, from: u64, line: u64) -> u64 {
    match from.checked_sub(line) {
        Some(behind) => used.checked_shl(behind as u32).unwrap_or(0),
        None => used.checked_shr((line - from) as u32).unwrap_or(0),
    }
}

impl Local {
    /// A cluster starts in this slot.
    pub fn start(&mut self, slot: u32) {
        self.written.retain(|(thread, _), _| thread.0 != slot);
        self.free.retain(|thread, _| thread.0 != slot);
    }

    /// An access at an offset, which uses these of its bytes.
    pub fn access(&mut self, a: &Access, from: u64, used: u64) -> Result<(), FaultKind> {
        let (thread, to) = (thread(a.who), from + u64::from(a.bytes));
        if !self.free.is_empty() && self.free.get(&thread).is_some_and(|free| from < free.1 && free.0 < to) {
            return Err(FaultKind::FreedStack { addr: a.addr });
        }
        for (line, bits) in lines(from, to) {
            let written = self.written.entry((thread, line)).or_default();
            if a.write {
                *written |= bits;
            } else if !*written & bits & used_in(used, from, line * 64) != 0 {
                return Err(FaultKind::Uninitialised { space: "local", addr: a.addr });
            }
        }
        Ok(())
    }

    /// The bytes of a load that the thread has not written, a bit each.
    #[cold]
    pub fn unwritten(&self, a: &Access, from: u64) -> u64 {
        let thread = thread(a.who);
        let is_written = |at: u64| self.written.get(&(thread, at / 64)).is_some_and(|line| line >> (at % 64) & 1 != 0);
        let bytes = 0..u64::from(a.bytes.min(64));
        bytes.filter(|byte| !is_written(from + byte)).fold(0, |all, byte| all | 1 << byte)
    }

    /// The thread has stored undefined values: as if it had written nothing.
    #[cold]
    pub fn forget(&mut self, a: &Access, from: u64) {
        for (line, bits) in lines(from, from + u64::from(a.bytes)) {
            self.written.entry((thread(a.who), line)).and_modify(|written| *written &= !bits);
        }
    }

    /// Sets the free part of a thread's stack. Bytes that are freed count as never written.
    pub fn stack(&mut self, who: Who, from: u64, to: u64) {
        let thread = thread(who);
        let old = self.free.insert(thread, (from, to)).map_or(to, |old| old.1);
        if old < to {
            for (line, bits) in lines(old, to) {
                self.written.entry((thread, line)).and_modify(|written| *written &= !bits);
            }
        }
    }
}
