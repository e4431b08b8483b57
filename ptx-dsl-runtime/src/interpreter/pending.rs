//! Reports where an instruction reads a register of `tcgen05.ld` before `tcgen05.wait::ld`, on the checked host ([`super::loaded`]).

use super::loaded::{Touch, Value};
use super::op::Op;
use super::runner::Runner;
use crate::fault::FaultKind;
use crate::isa::Done;
use crate::monitor::Monitor;
use ptx_dsl_isa::image::Register;

impl<M: Monitor> Runner<'_, '_, M> {
    /// An instruction runs in these lanes of warp `k`.
    pub(super) fn touch(&mut self, op: &Op<M>, touch: &Touch, k: usize, lanes: u32) -> Done {
        let found = self.registers.pending.as_mut().and_then(|pending| pending.touch(op.site, touch, self.lo + k));
        found.map_or(Ok(()), |found| self.not_there(op, found, lanes))
    }

    #[cold]
    fn not_there(&mut self, op: &Op<M>, (r, value): (Register, Value), lanes: u32) -> Done {
        if !self.x.geometry.tensor_registers {
            return Ok(());
        }
        // instructions that only compute have no number, which is 0 here: the load stands for them
        self.x.at(if op.site == 0 { value.site } else { op.site }, op.order);
        let name = |r: Register| self.image.names.get(r as usize).cloned().unwrap_or_default();
        let load = self.x.geometry.statement(value.site, "`tcgen05.ld`");
        let kind = FaultKind::PendingRegister { register: name(r), from: name(value.from), load };
        let lane = lanes.trailing_zeros().min(31);
        self.x.found(kind, lane).map_err(|kind| self.x.fault(kind, lane))
    }
}
