//! Reports where an instruction reads a register too early, on the checked host ([`super::loaded`]): one of `tcgen05.ld` before
//! `tcgen05.wait::ld`, one of `wgmma.mma_async` that was written after the last `wgmma.fence`.

use super::loaded::{LoadRule, Touch, Value};
use super::op::Op;
use super::parts::ValueTracker;
use crate::fault::FaultKind;
use crate::semantics::Done;

use ptx_dsl_isa::image::{NO_SITE, Register};

impl ValueTracker<'_, '_, '_> {
    /// Applies an instruction that runs in these lanes of warp `k` to the pending registers.
    pub(super) fn touch(&mut self, op: &Op, touch: &Touch, k: usize, lanes: u32) -> Done {
        let pending = self.runner.registers.pending[touch.rule as usize].as_mut();
        let found = pending.and_then(|pending| pending.touch(op.site, touch, self.runner.lo + k));
        found.map_or(Ok(()), |found| self.too_early(op, touch.rule, found, lanes))
    }

    #[cold]
    fn too_early(&mut self, op: &Op, rule: LoadRule, (r, value): (Register, Value), lanes: u32) -> Done {
        if rule == LoadRule::Loads && !self.runner.x.geometry.tensor.registers {
            return Ok(());
        }
        // an instruction that has no number reads a copy of a copy, perhaps: the load stands for it
        self.runner.x.at(if op.site == NO_SITE { value.site } else { op.site }, op.order);
        let name = |r: Register| self.runner.image.names.get(r as usize).cloned().unwrap_or_default();
        let (register, from) = (name(r), name(value.from));
        let kind = match rule {
            LoadRule::Loads => {
                let load = self.runner.x.geometry.statement(value.site, "`tcgen05.ld`");
                FaultKind::PendingRegister { register, from, load }
            }
            LoadRule::Products => {
                let by = value.opcode.map_or_else(String::new, |opcode| format!("`{}`", opcode.name()));
                FaultKind::UnfencedRegister { register, from, by }
            }
        };
        let lane = lanes.trailing_zeros().min(31);
        self.runner.x.found(kind, lane).map_err(|kind| self.runner.x.fault(kind, lane))
    }
}
