//! The calls that lead to a faulty instruction, as the interpreter's registers and stacks have them.

use super::parts::FaultDetails;
use super::runner::Runner;
use crate::engines::callers::{Activations, Call, callers};
use crate::fault::{At, ThreadId};
use ptx_dsl_isa::image::Callee;

impl FaultDetails<'_, '_, '_> {
    /// The calls that lead a thread of the CTA to a statement, the innermost first, and the number of those for which a report has no room.
    pub fn callers(&self, site: u32, thread: ThreadId) -> (Vec<At>, usize) {
        let (warp, lane) = (thread.warp as usize, thread.lane as usize & 31);
        let Some(leader) = warp.checked_sub(self.runner.lo).map(|k| self.runner.leader(k)) else {
            return (Vec::new(), 0);
        };
        callers(self.runner.image, &self.runner.x.geometry, site, &OfThread { runner: self.runner, leader, warp, lane })
    }
}

/// A thread in the interpreter.
struct OfThread<'r, 'a, 'b> {
    runner: &'r Runner<'a, 'b>,
    leader: usize,
    warp: usize,
    lane: usize,
}

impl Activations for OfThread<'_, '_, '_> {
    fn return_value(&self, function: &Callee) -> u64 {
        self.runner.registers.lanes(self.leader, function.return_address, self.warp)[self.lane]
    }

    fn is_call(&self, call: &Call<'_>, return_value: u64) -> bool {
        u64::from(call.callee.back) == return_value
    }

    fn saved(&self) -> &[u64] {
        self.runner.registers.stacks.get(self.warp * 32 + self.lane).map_or(&[][..], |stack| &stack.saved)
    }

    fn saves(&self, call: &Call<'_>, caller: Option<&Callee>) -> (usize, Option<usize>) {
        let number = call.callee.arguments.saves.map_or(usize::MAX, |n| n as usize);
        let registers = self.runner.image.saved.get(number).map_or(&[][..], Vec::as_slice);
        let address = caller.and_then(|caller| registers.iter().position(|r| *r == caller.return_address));
        (registers.len(), address)
    }
}
