//! The barrier of a cluster (PTX ISA 9.7.13.3): all live threads arrive, then wait; exited threads count as arrived.

/// State of the barrier, with one mask of lanes per warp of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterBarrier {
    /// Completions so far.
    pub phase: u32,
    arrived: Vec<u32>,
    /// lanes that have arrived and not yet waited
    owes: Vec<u32>,
    /// live threads, and those of them that have arrived
    live: u32,
    here: u32,
    /// some thread has arrived or exited, so that the barrier must be reset before its slot is reused
    used: bool,
}

impl ClusterBarrier {
    /// A barrier for `warps` warps with `live` threads together.
    pub fn new(warps: usize, live: u32) -> Self {
        ClusterBarrier { phase: 0, arrived: vec![0; warps], owes: vec![0; warps], live, here: 0, used: false }
    }

    /// Has no thread arrived or exited?
    #[inline]
    pub fn is_new(&self) -> bool {
        !self.used
    }

    /// Resets the barrier for a new cluster.
    pub fn restart(&mut self, warps: usize, live: u32) {
        if self.used || self.arrived.len() != warps {
            for masks in [&mut self.arrived, &mut self.owes] {
                masks.clear();
                masks.resize(warps, 0);
            }
            self.used = false;
        }
        (self.phase, self.live, self.here) = (0, live, 0);
    }

    /// Lanes `mask` of warp `warp` (numbered within the cluster) arrive. True if the phase completes.
    pub fn arrive(&mut self, warp: usize, mask: u32) -> Result<bool, String> {
        if self.owes[warp] & mask != 0 {
            return Err("a thread arrives a second time without a wait in between".into());
        }
        self.used = true;
        self.owes[warp] |= mask;
        self.arrived[warp] |= mask;
        self.here += mask.count_ones();
        Ok(self.check())
    }

    /// Lanes `mask` wait. Returns their phase, the later one if they have two.
    pub fn wait(&mut self, warp: usize, mask: u32) -> Result<u32, String> {
        if self.owes[warp] & mask != mask {
            return Err("a thread waits without having arrived".into());
        }
        self.owes[warp] &= !mask;
        Ok(if self.arrived[warp] & mask != 0 { self.phase } else { self.phase.wrapping_sub(1) })
    }

    /// Whether this phase is complete.
    pub fn passed(&self, phase: u32) -> bool {
        self.phase.wrapping_sub(phase).wrapping_sub(1) < 1 << 31
    }

    /// Lanes `mask` exit. True if the phase completes.
    pub fn exit(&mut self, warp: usize, mask: u32) -> bool {
        self.used = true;
        self.live -= mask.count_ones();
        self.here -= (self.arrived[warp] & mask).count_ones();
        self.arrived[warp] &= !mask;
        self.live > 0 && self.check()
    }

    fn check(&mut self) -> bool {
        let complete = self.here == self.live;
        if complete {
            self.arrived.fill(0);
            self.here = 0;
            self.phase = self.phase.wrapping_add(1);
        }
        complete
    }

    /// Lanes of the warp that have arrived in this phase.
    pub fn arrived(&self, warp: usize) -> u32 {
        self.arrived[warp]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrive_then_wait() {
        let mut b = ClusterBarrier::new(2, 64);
        assert!(b.wait(0, 1).is_err());
        assert!(!b.arrive(0, u32::MAX).unwrap());
        assert!(b.arrive(0, 1).is_err());
        let p = b.wait(0, u32::MAX).unwrap();
        assert!(!b.passed(p));
        assert!(b.arrive(1, u32::MAX).unwrap());
        assert!(b.passed(p));
        // the late one sees that its phase is over
        let late = b.wait(1, u32::MAX).unwrap();
        assert!(b.passed(late));
    }

    #[test]
    fn exited_threads_count() {
        let mut b = ClusterBarrier::new(2, 64);
        b.arrive(0, u32::MAX).unwrap();
        let p = b.wait(0, u32::MAX).unwrap();
        assert!(b.exit(1, u32::MAX));
        assert!(b.passed(p));
    }
}
