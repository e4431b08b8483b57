//! The registers of a CTA's warps, which `setmaxnreg` moves to and from a pool (PTX ISA 9.7.19.5).

/// Warps of a warpgroup.
const GROUP: usize = 4;

/// A `setmaxnreg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// `.inc`, not `.dec`.
    pub inc: bool,
    /// Registers of a thread.
    pub count: u32,
}

/// The registers of a warp.
#[derive(Debug, Clone, Copy)]
struct Warp {
    /// Registers of a thread.
    count: u32,
    /// The number of `setmaxnreg` instructions that the warp has executed.
    executed: u32,
    /// The last `setmaxnreg` of the warp.
    last: Option<Request>,
}

/// The registers of a CTA. Registers of warps that have exited are free.
#[derive(Debug, Default)]
pub struct PoolRegisters {
    /// Empty before the first `setmaxnreg`.
    warps: Vec<Warp>,
    /// Registers of a thread when the CTA starts.
    start: u32,
}

impl PoolRegisters {
    /// Resets all warps to the registers that they start with.
    #[inline(always)]
    pub fn reset(&mut self) {
        self.warps.clear();
    }

    /// The warp executes a `setmaxnreg`: true if it has got its registers, false if it has to wait. `live` has the live lanes of
    /// each warp, and threads start with `start` registers.
    pub fn request(&mut self, warp: u32, request: Request, start: u32, live: &[u32]) -> Result<bool, String> {
        if self.warps.is_empty() {
            self.start = start;
            self.warps.resize(live.len(), Warp { count: start, executed: 0, last: None });
        }
        let Some(&own) = self.warps.get(warp as usize) else { return Ok(true) };
        let first = warp as usize / GROUP * GROUP;
        // one that changes nothing needs no barrier before it: Triton repeats them
        let idle = own.executed > 0 && own.count == request.count;
        for (w, (other, live)) in self.warps.iter().zip(live).enumerate().skip(first).take(GROUP) {
            if *live != 0 && other.executed < own.executed && !idle {
                return Err(format!("`setmaxnreg` before warp {w} of the warpgroup has executed the one before"));
            }
            let same = other.executed == own.executed + 1;
            if let Some(last) = other.last.filter(|last| same && *last != request) {
                return Err(format!("`{request}` where warp {w} of the warpgroup executes `{last}`"));
            }
        }
        // at first ptxas may have chosen the number
        let wrong = if request.inc { request.count < own.count } else { request.count > own.count };
        if wrong && own.executed > 0 {
            return Err(format!("`{request}` of a warp whose threads have {} registers", own.count));
        }
        let count = if wrong { own.count } else { request.count };
        if !self.suffices(warp, count, live) {
            return Ok(false);
        }
        self.warps[warp as usize] = Warp { count, executed: own.executed + 1, last: Some(request) };
        Ok(true)
    }

    /// Are enough registers free for this many in each thread of the warp?
    pub fn suffices(&self, warp: u32, count: u32, live: &[u32]) -> bool {
        self.warps.get(warp as usize).is_none_or(|own| count <= own.count + self.free(live))
    }

    /// The number of registers by which each thread of one warp could grow.
    pub fn free(&self, live: &[u32]) -> u32 {
        let used: u32 = self.warps.iter().zip(live).filter(|(_, live)| **live != 0).map(|(warp, _)| warp.count).sum();
        (self.start * self.warps.len() as u32).saturating_sub(used)
    }
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "setmaxnreg.{} {}", if self.inc { "inc" } else { "dec" }, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: [u32; 8] = [u32::MAX; 8];

    fn dec(count: u32) -> Request {
        Request { inc: false, count }
    }
    fn inc(count: u32) -> Request {
        Request { inc: true, count }
    }

    #[test]
    fn what_one_warpgroup_gives_another_gets() {
        let mut r = PoolRegisters::default();
        for warp in 4..8 {
            assert_eq!(r.request(warp, inc(160), 128, &LIVE), Ok(false));
        }
        assert_eq!(r.request(0, dec(96), 128, &LIVE), Ok(true));
        assert!(r.suffices(4, 160, &LIVE) && !r.suffices(4, 168, &LIVE));
        assert_eq!(r.request(4, inc(160), 128, &LIVE), Ok(true));
        assert_eq!((r.free(&LIVE), r.request(5, inc(160), 128, &LIVE)), (0, Ok(false)));
        // warp 1 exits
        let mut live = LIVE;
        live[1] = 0;
        assert_eq!((r.free(&live), r.request(5, inc(160), 128, &live)), (128, Ok(true)));
        r.reset();
        assert_eq!((r.request(0, dec(40), 64, &LIVE), r.free(&LIVE)), (Ok(true), 24));
    }

    #[test]
    fn a_request_that_changes_nothing_needs_no_barrier() {
        let mut r = PoolRegisters::default();
        for same in [inc(128), dec(128)] {
            assert_eq!(r.request(0, same, 128, &LIVE), Ok(true));
        }
        // another one does, until the others have caught up
        assert!(r.request(0, dec(24), 128, &LIVE).is_err_and(|e| e.contains("before warp 1")));
        for warp in 1..4 {
            for same in [inc(128), dec(128)] {
                assert_eq!(r.request(warp, same, 128, &LIVE), Ok(true));
            }
        }
        assert_eq!(r.request(0, dec(24), 128, &LIVE), Ok(true));
    }

    #[test]
    fn the_warps_of_a_warpgroup_agree() {
        let mut r = PoolRegisters::default();
        assert_eq!(r.request(0, dec(64), 128, &LIVE), Ok(true));
        assert!(
            r.request(1, dec(56), 128, &LIVE)
                .is_err_and(|e| e.contains("warp 0 of the warpgroup executes `setmaxnreg.dec 64`"))
        );
        assert!(r.request(1, inc(64), 128, &LIVE).is_err());
        assert!(r.request(0, inc(128), 128, &LIVE).is_err_and(|e| e.contains("before warp 1")));
        for warp in 1..4 {
            assert_eq!(r.request(warp, dec(64), 128, &LIVE), Ok(true));
        }
        assert!(r.request(0, dec(128), 128, &LIVE).is_err_and(|e| e.contains("have 64 registers")));
        assert!(r.request(0, inc(32), 128, &LIVE).is_err());
        assert_eq!(r.request(0, inc(128), 128, &LIVE), Ok(true));
        // the other warpgroup is by itself, and the first of its requests changes nothing
        assert_eq!(r.request(4, dec(200), 128, &LIVE), Ok(true));
        assert_eq!(r.free(&LIVE), 192);
    }
}
