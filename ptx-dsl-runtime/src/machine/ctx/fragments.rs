//! A warp whose lanes have parted: its fragments run one after the other, the one that is furthest behind first.

use super::Ctx;
use crate::fault::Fault;
use crate::kernel::Pc;
use crate::monitor::Monitor;

impl<M: Monitor> Ctx<'_, M> {
    /// Lanes of the current warp can run at `pc`, besides those that do.
    #[inline(always)]
    pub fn fork(&mut self, mask: u32, pc: Pc) {
        if mask != 0 {
            self.keep_fragment(mask, pc);
        }
    }

    #[inline(never)]
    fn keep_fragment(&mut self, mask: u32, pc: Pc) {
        let n = self.fragment_count;
        self.behind = self.behind.min(pc);
        if let Some(f) = self.fragments.iter_mut().take(n).find(|f| f.0 == pc) {
            f.1 |= mask;
        } else if let Some(f) = self.fragments.get_mut(n) {
            *f = (pc, mask);
            self.fragment_count += 1;
        }
    }

    /// The lanes of `mask` of the current warp go on at `pc`: what runs next of this warp is the fragment that is furthest
    /// behind. `None` when none can run here: the turn is over, or all wait or end.
    #[inline(always)]
    pub fn next(&mut self, mask: u32, pc: Pc) -> Result<Option<(Pc, u32)>, Box<Fault>> {
        if self.fragment_count == 0 && mask == 0 {
            return Ok(None);
        }
        self.turns += 1;
        if self.turns >= self.checkpoint {
            self.cur.pc = pc;
            self.pause()?;
        }
        if self.leave {
            self.branch_all(mask, pc);
            return Ok(None);
        }
        if mask != 0 && pc < self.behind { Ok(Some((pc, mask))) } else { Ok(self.furthest_behind(mask, pc)) }
    }

    /// The same where lanes leave a loop, in which they are few among the times it comes round.
    #[cold]
    #[inline(never)]
    pub fn exit(&mut self, mask: u32, pc: Pc) {
        self.keep_fragment(mask, pc);
    }

    /// Before a loop of the current warp comes round: is its turn to go on? All other fragments of the warp are ahead.
    #[inline(always)]
    pub fn again(&mut self) -> bool {
        self.turns += 1;
        self.turns < self.checkpoint && !self.leave
    }

    /// Lanes ran alone, one after the other, this many times through a loop at most.
    #[inline(always)]
    pub fn went_round(&mut self, turns: u32) {
        self.turns += u64::from(turns);
    }

    fn furthest_behind(&mut self, mask: u32, pc: Pc) -> Option<(Pc, u32)> {
        self.fork(mask, pc);
        let n = self.fragment_count;
        let at = (0..n).min_by_key(|&i| self.fragments[i].0)?;
        let first = self.fragments[at];
        self.fragments[at] = self.fragments[n - 1];
        self.fragment_count -= 1;
        self.behind = self.fragments.iter().take(n - 1).map(|f| f.0).min().unwrap_or(Pc::MAX);
        Some(first)
    }

    #[inline(never)]
    fn branch_all(&mut self, mask: u32, pc: Pc) {
        self.fork(mask, pc);
        self.behind = Pc::MAX;
        for i in 0..std::mem::take(&mut self.fragment_count) {
            let (pc, mask) = self.fragments[i];
            self.branch(mask, pc);
        }
    }
}
