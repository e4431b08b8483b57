//! The rendezvous of lanes of the current warp that execute the same instruction at different statements
//! ([`Meetings`](crate::sync::meetings::Meetings)).

use crate::kernel::flow::Wait;
use crate::machine::ctx::parts::Synchronisation;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::Q;
use crate::sync::meetings::DepositedOperands;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The outcome of the rendezvous of the active lanes with the other members.
pub(crate) enum Meets {
    /// All members execute this statement.
    Here,
    /// The lanes that have met at different statements, and their operands.
    Elsewhere(u32, Box<DepositedOperands>),
    /// The wait for the missing members.
    Waits(Wait),
    /// `lane` has waited for `other`, which named other members (`mask`) and has exited.
    Never { lane: u32, other: u32, mask: u32 },
}

impl Synchronisation<'_, '_> {
    /// Removes operands that the active lanes may have deposited earlier, which will not meet others with them.
    pub(crate) fn forget_operands(&mut self) {
        let (warp, lanes) = (self.ctx.warp, self.ctx.mask);
        self.ctx.cta_mut().meetings.leave(warp, lanes);
    }

    /// The active lanes, which all name these members, execute an instruction together with them.
    pub(crate) fn meet(&mut self, members: u32, (opcode, q): (&str, Q), operands: &[&Lanes]) -> Meets {
        let (warp, lanes) = (self.ctx.warp, self.ctx.mask);
        if self.ctx.cur.resumed && self.ctx.cur.result == u64::from(members) {
            let live = self.ctx.live_mask();
            let all = live & members;
            let lost = |(_, (other, _)): &(u32, (u32, u32))| live >> other & 1 == 0;
            let lost = self.ctx.cta_mut().meetings.with_others(warp, lanes).find(lost);
            if let Some((lane, (other, mask))) = lost {
                return Meets::Never { lane, other, mask };
            }
            if let Some((lanes, operands)) = self.ctx.cta_mut().meetings.join(warp, lanes, all) {
                return Meets::Elsewhere(lanes, operands);
            }
        }
        if self.warp_rendezvous(members).is_none() {
            self.ctx.cta_mut().meetings.leave(warp, lanes);
            return Meets::Here;
        }
        Meets::Waits(self.wait_for_members((members, lanes), (opcode, q), operands))
    }

    /// Records that these waiting lanes name a lane that is here too, but names other members: the lane and its membermask.
    pub(crate) fn names_others(&mut self, lanes: u32, other: (u32, u32)) {
        let warp = self.ctx.warp;
        self.ctx.cta_mut().meetings.name_others(warp, lanes, other);
    }

    /// Deposits the operands of these lanes for the others of `members`, and returns the wait for them.
    pub(crate) fn wait_for_members(
        &mut self,
        (members, lanes): (u32, u32),
        (opcode, q): (&str, Q),
        operands: &[&Lanes],
    ) -> Wait {
        let mut hasher = FxHasher::default();
        (opcode, q.qualifiers()).hash(&mut hasher);
        let instruction = hasher.finish();
        let warp = self.ctx.warp;
        self.ctx.cta_mut().meetings.wait((warp, lanes), instruction, operands);
        Wait::WarpSync { members, pc: Some(self.ctx.cur.pc), instruction: Some(instruction) }
    }
}
