//! A barrier of a CTA (PTX ISA 9.7.13.1): arrivals, generations, reductions.

/// Operation of `bar.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedOp {
    /// `.popc`: how many predicates are true
    Popc,
    /// `.and`: whether all are true
    And,
    /// `.or`: whether one is true
    Or,
}

/// Results kept: before the threads of a generation read theirs, other warps of the region may complete more generations.
const KEPT: usize = 64;

/// A hardware barrier of a CTA.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Barrier {
    /// Completions so far.
    pub generation: u32,
    arrived: [u32; 32],
    /// arrived threads
    threads: u32,
    open: bool,
    count: Option<u32>,
    red: Option<RedOp>,
    /// threads that gave a predicate, and those whose predicate was true
    votes: u32,
    ayes: u32,
    /// results of the last generations, by number modulo `KEPT`; empty until there is a first reduction
    results: Vec<u64>,
}

impl Barrier {
    /// Lanes `mask` of `warp` arrive; `live` are the live lanes of all warps, `total` their number. Returns their generation,
    /// which may already be complete.
    pub fn arrive(
        &mut self,
        (warp, mask): (u32, u32),
        count: Option<u32>,
        red: Option<(RedOp, u32)>,
        live: &[u32],
        total: u32,
    ) -> Result<u32, String> {
        if let Some(n) = count
            && (n == 0 || !n.is_multiple_of(32))
        {
            return Err(format!("the thread count {n} is not a positive multiple of the warp size"));
        }
        if !self.open {
            self.open = true;
            self.count = count;
            self.red = red.map(|(op, _)| op);
        } else if self.count != count {
            let words = |c: Option<u32>| c.map_or("all threads of the CTA".to_string(), |n| format!("{n} threads"));
            return Err(format!("one thread waits for {}, another for {}", words(self.count), words(count)));
        }
        if self.red != red.map(|(op, _)| op) {
            let both = self.red.is_some() && red.is_some();
            let what = if both { "different reductions meet" } else { "`.red` meets `.sync` or `.arrive`" };
            return Err(what.into());
        }
        let Some(arrived) = self.arrived.get_mut(warp as usize) else { return Err(format!("no warp {warp}")) };
        if *arrived & mask != 0 {
            return Err("a thread arrives twice before the barrier completes".into());
        }
        *arrived |= mask;
        self.threads += mask.count_ones();
        if let Some((_, ayes)) = red {
            self.votes += mask.count_ones();
            self.ayes += (ayes & mask).count_ones();
        }
        let generation = self.generation;
        self.check(live, total)?;
        Ok(generation)
    }

    /// All threads of the CTA arrive at once, without a reduction. False if others have arrived before.
    #[inline(always)]
    pub fn pass(&mut self) -> bool {
        if self.open {
            return false;
        }
        if let Some(result) = self.results.get_mut(self.generation as usize % KEPT) {
            *result = 0;
        }
        self.generation = self.generation.wrapping_add(1);
        true
    }

    /// Completes the generation if all threads that have not exited have arrived. True if it completed.
    pub fn check(&mut self, live: &[u32], total: u32) -> Result<bool, String> {
        if !self.open {
            return Ok(false);
        }
        let complete = match self.count {
            None => self.threads >= total && self.missing(live).next().is_none(),
            Some(n) => {
                let sum = self.counted(live);
                if sum > n {
                    return Err(format!("{sum} threads arrive where the count is {n}"));
                }
                sum == n
            }
        };
        if complete {
            if self.red.is_some() && self.results.is_empty() {
                self.results = vec![0; KEPT];
            }
            if let Some(result) = self.results.get_mut(self.generation as usize % KEPT) {
                *result = match self.red {
                    None => 0,
                    Some(RedOp::Popc) => self.ayes as u64,
                    Some(RedOp::And) => (self.ayes == self.votes) as u64,
                    Some(RedOp::Or) => (self.ayes > 0) as u64,
                };
            }
            let (generation, results) = (self.generation.wrapping_add(1), std::mem::take(&mut self.results));
            *self = Barrier { generation, results, ..Barrier::default() };
        }
        Ok(complete)
    }

    /// A warp whose live lanes have all arrived counts as a whole warp (9.7.13.1: the count is in warps).
    fn counted(&self, live: &[u32]) -> u32 {
        let one = |(&a, &l): (&u32, &u32)| if a != 0 && a & l == l { 32 } else { a.count_ones() };
        self.arrived.iter().zip(live).map(one).sum()
    }

    /// Live threads that have not arrived: (warp, lanes).
    pub fn missing<'a>(&'a self, live: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let lanes = self.arrived.iter().zip(live).enumerate().map(|(w, (&a, &l))| (w as u32, l & !a));
        lanes.filter(|&(_, m)| m != 0)
    }

    /// Has a thread arrived since the last completion?
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether this generation is complete.
    pub fn passed(&self, generation: u32) -> bool {
        self.generation != generation
    }

    /// The result of `bar.red` of a complete generation.
    pub fn result(&self, generation: u32) -> u64 {
        self.results.get(generation as usize % KEPT).copied().unwrap_or(0)
    }

    /// Arrivals counted so far and the explicit count, for reports.
    pub fn progress(&self, live: &[u32]) -> (u32, Option<u32>) {
        (if self.count.is_some() { self.counted(live) } else { self.threads }, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;

    #[test]
    fn all_threads() {
        let mut b = Barrier::default();
        let live = [ALL, 0xf];
        let g = b.arrive((0, ALL), None, Some((RedOp::Popc, 0xff)), &live, 36).unwrap();
        assert!(!b.passed(g));
        b.arrive((1, 0xf), None, Some((RedOp::Popc, 0x3)), &live, 36).unwrap();
        assert!(b.passed(g));
        assert_eq!(b.result(g), 10);
    }

    #[test]
    fn counts_whole_warps_and_notices_misuse() {
        let mut b = Barrier::default();
        let live = [ALL, 0xf, ALL];
        let g = b.arrive((0, ALL), Some(64), None, &live, 68).unwrap();
        assert!(b.arrive((0, 1), Some(64), None, &live, 68).is_err());
        assert!(b.clone().arrive((2, ALL), Some(96), None, &live, 68).is_err());
        b.arrive((1, 0xf), Some(64), None, &live, 68).unwrap();
        assert!(b.passed(g));
        assert!(b.arrive((1, 0xf), Some(33), None, &live, 68).is_err());
    }

    #[test]
    fn reductions_and_plain_arrivals_do_not_mix() {
        let live = [ALL; 2];
        for (first, then, what) in [
            (Some((RedOp::And, 1)), None, "`.red` meets `.sync` or `.arrive`"),
            (None, Some((RedOp::Popc, 1)), "`.red` meets `.sync` or `.arrive`"),
            (Some((RedOp::And, 1)), Some((RedOp::Or, 1)), "different reductions meet"),
        ] {
            let mut b = Barrier::default();
            b.arrive((0, ALL), None, first, &live, 64).unwrap();
            assert_eq!(b.arrive((1, ALL), None, then, &live, 64), Err(what.to_string()));
        }
        // one after the other they may
        let mut b = Barrier::default();
        let first = b.arrive((0, ALL), Some(32), Some((RedOp::Or, 1)), &live, 64).unwrap();
        let then = b.arrive((0, ALL), Some(32), None, &live, 64).unwrap();
        assert!(b.passed(first) && b.passed(then));
        assert_eq!((b.result(first), b.result(then)), (1, 0));
    }

    #[test]
    fn results_outlast_the_next_generations() {
        let mut b = Barrier::default();
        let live = [ALL; 32];
        for warp in 0..32 {
            let g = b.arrive((warp, ALL), Some(32), Some((RedOp::Popc, (1 << warp) - 1)), &live, 1024).unwrap();
            assert_eq!((g, b.passed(g)), (warp, true));
        }
        assert!((0..32).all(|g| b.result(g) == g as u64));
    }

    #[test]
    fn exits_complete() {
        let mut b = Barrier::default();
        let g = b.arrive((0, 0xffff), None, None, &[ALL], 32).unwrap();
        assert!(!b.passed(g));
        assert!(b.check(&[0xffff], 16).unwrap());
        assert!(b.passed(g));
    }
}
