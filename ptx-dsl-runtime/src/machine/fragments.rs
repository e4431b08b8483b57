//! The fragments of a diverged warp. They run one after the other, the one with the lowest region first: regions are numbered in
//! reverse postorder, so a fragment that is behind catches up before the join.

use crate::kernel::flow::Pc;

/// Groups of lanes of one warp that can run, at different regions.
#[derive(Debug)]
pub(crate) struct Fragments {
    list: [(Pc, u32); 32],
    count: usize,
    /// The lowest region of the list, or the highest number if it is empty.
    lowest: Pc,
}

impl Fragments {
    pub fn new() -> Self {
        Fragments { list: [(0, 0); 32], count: 0, lowest: Pc::MAX }
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.lowest = Pc::MAX;
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Is region `pc` before those of all fragments?
    #[inline(always)]
    pub fn all_after(&self, pc: Pc) -> bool {
        pc < self.lowest
    }

    /// Adds lanes that can run at `pc`.
    #[inline(never)]
    pub fn add(&mut self, mask: u32, pc: Pc) {
        let n = self.count;
        self.lowest = self.lowest.min(pc);
        if let Some(f) = self.list.iter_mut().take(n).find(|f| f.0 == pc) {
            f.1 |= mask;
        } else if let Some(f) = self.list.get_mut(n) {
            *f = (pc, mask);
            self.count += 1;
        }
    }

    /// Takes the fragment with the lowest region.
    pub fn take_lowest(&mut self) -> Option<(Pc, u32)> {
        let n = self.count;
        let at = (0..n).min_by_key(|&i| self.list[i].0)?;
        let first = self.list[at];
        self.list[at] = self.list[n - 1];
        self.count -= 1;
        self.lowest = self.list.iter().take(n - 1).map(|f| f.0).min().unwrap_or(Pc::MAX);
        Some(first)
    }

    /// Removes all fragments, in the order of the list.
    pub fn drain(&mut self) -> impl Iterator<Item = (Pc, u32)> {
        let n = self.count;
        self.clear();
        self.list.iter().take(n).copied()
    }
}
