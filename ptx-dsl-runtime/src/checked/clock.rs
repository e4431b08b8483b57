//! Vector clocks: which events of other threads have happened before.
//!
//! Time is counted per warp. An entry says that the events of some lanes of a warp before some time are known. Threads that
//! synchronise together share a clock, so it is small: one entry for each warp of their CTA.

/// The number of a warp in a launch: 16 CTAs of 32 warps for each cluster.
pub(super) type WarpId = u32;

/// The cluster of a warp, in the order of their start.
pub(super) fn cluster_of(warp: WarpId) -> u32 {
    warp >> 9
}

/// The CTA of a warp, in the launch.
pub(super) fn cta_of(warp: WarpId) -> u32 {
    warp >> 5
}

/// The events of these lanes before this time are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    warp: WarpId,
    time: u32,
    lanes: u32,
}

/// What is known. Entries are sorted by warp; those of one warp have different times and lanes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    entries: Vec<Entry>,
    /// All events of clusters below this one count as known.
    floor: u32,
}

/// More entries than this are of clusters that came and went.
const MANY: usize = 8192;

impl Clock {
    fn range(&self, warp: WarpId) -> std::ops::Range<usize> {
        let from = self.entries.partition_point(|e| e.warp < warp);
        let len = self.entries[from..].iter().take_while(|e| e.warp == warp).count();
        from..from + len
    }

    /// Are the events of all these lanes of a warp at this time known?
    pub fn knows(&self, warp: WarpId, lanes: u32, time: u32) -> bool {
        if cluster_of(warp) < self.floor {
            return true;
        }
        let mut unknown = lanes;
        for e in &self.entries[self.range(warp)] {
            if e.time > time {
                unknown &= !e.lanes;
            }
        }
        unknown == 0
    }

    /// The events of these lanes before this time become known. The time is not before those of earlier calls for the lanes.
    pub fn learn(&mut self, warp: WarpId, lanes: u32, time: u32) {
        let range = self.range(warp);
        let mut at = range.start;
        let mut end = range.end;
        while at < end {
            let e = &mut self.entries[at];
            if e.time == time {
                e.lanes |= lanes;
                at += 1;
                continue;
            }
            e.lanes &= !lanes;
            if e.lanes == 0 {
                self.entries.remove(at);
                end -= 1;
            } else {
                at += 1;
            }
        }
        if !self.entries[range.start..end].iter().any(|e| e.time == time) {
            self.entries.insert(end, Entry { warp, time, lanes });
        }
        self.forget();
    }

    /// All that `other` knows becomes known.
    pub fn join(&mut self, other: &Clock) {
        self.floor = self.floor.max(other.floor);
        if other.entries.is_empty() || *self == *other {
            return;
        }
        let mut merged = Vec::with_capacity(self.entries.len().max(other.entries.len()));
        let (mut a, mut b) = (&self.entries[..], &other.entries[..]);
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            let warp = x.warp.min(y.warp);
            let (m, n) = (of_warp(a, warp), of_warp(b, warp));
            merge_warp(&mut merged, &a[..m], &b[..n]);
            (a, b) = (&a[m..], &b[n..]);
        }
        merged.extend_from_slice(a);
        merged.extend_from_slice(b);
        self.entries = merged;
        self.forget();
    }

    /// Keeps the clock small: the oldest clusters count as known. A race with one of them is then not found.
    fn forget(&mut self) {
        if self.entries.len() > MANY {
            let middle = cluster_of(self.entries[MANY / 2].warp);
            self.floor = self.floor.max(middle);
            self.entries.retain(|e| cluster_of(e.warp) >= middle);
        }
    }
}

/// How many entries at the start are of a warp.
fn of_warp(entries: &[Entry], warp: WarpId) -> usize {
    entries.iter().take_while(|e| e.warp == warp).count()
}

/// The entries of one warp: for each lane the later time.
fn merge_warp(merged: &mut Vec<Entry>, a: &[Entry], b: &[Entry]) {
    if b.is_empty() || a == b {
        return merged.extend_from_slice(a);
    }
    if a.is_empty() {
        return merged.extend_from_slice(b);
    }
    let mut all: Vec<Entry> = a.iter().chain(b).copied().collect();
    all.sort_unstable_by_key(|e| std::cmp::Reverse(e.time));
    let from = merged.len();
    let mut taken = 0;
    for e in all {
        let lanes = e.lanes & !taken;
        taken |= lanes;
        match merged[from..].last_mut() {
            Some(last) if last.time == e.time => last.lanes |= lanes,
            _ if lanes != 0 => merged.push(Entry { lanes, ..e }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learnt_is_known() {
        let mut c = Clock::default();
        assert!(!c.knows(3, 1, 0));
        c.learn(3, 0b11, 5);
        assert!(c.knows(3, 0b11, 4) && !c.knows(3, 0b11, 5) && !c.knows(3, 0b111, 4));
        c.learn(3, 0b01, 7);
        assert!(c.knows(3, 0b01, 6) && !c.knows(3, 0b10, 6) && c.knows(3, 0b11, 4));
        c.learn(3, u32::MAX, 9);
        assert!(c.knows(3, u32::MAX, 8) && c.entries.len() == 1);
    }

    #[test]
    fn joining_takes_the_later_time_of_each_lane() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.learn(1, 0b01, 4);
        a.learn(1, 0b10, 6);
        b.learn(1, 0b11, 5);
        b.learn(0, 1, 1);
        a.join(&b);
        assert!(a.knows(1, 0b11, 4) && a.knows(1, 0b10, 5) && !a.knows(1, 0b01, 5) && a.knows(0, 1, 0));
        let c = a.clone();
        a.join(&c);
        assert_eq!(a, c);
    }

    #[test]
    fn clocks_stay_small() {
        let mut c = Clock::default();
        for cluster in 0..20_000 {
            c.learn(cluster << 9, 1, 1);
        }
        assert!(c.entries.len() <= MANY && c.knows(19_999 << 9, 1, 0) && c.knows(0, 1, 0));
    }
}
