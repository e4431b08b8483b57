//! The registers that a faulty instruction has read, for the report.

use super::op::Op;
use super::parts::FaultDetails;
use super::runner::Runner;
use crate::fault::{Fault, RegisterValue};
use crate::numerics::qual::Q;
use ptx_dsl_isa::image::Register;

impl Runner<'_, '_> {
    /// Describes the new findings of the instruction that has run.
    #[inline(always)]
    pub fn describe_news(&mut self, op: &Op) {
        if self.x.findings.has_news() {
            self.describe_findings(op);
        }
    }

    /// Follows undefined values through the instruction that has run, and adds to new findings the values that their threads have
    /// read, but for registers that it has written.
    #[cold]
    #[inline(never)]
    pub fn describe_findings(&mut self, op: &Op) {
        self.tracker().follow(op);
        let mut findings = std::mem::take(&mut self.x.findings);
        for fault in findings.news() {
            self.details().add_reads(op, fault);
            let written = |name: &str| {
                op.results.iter().flatten().any(|r| self.image.names.get(*r as usize).is_some_and(|n| n == name))
            };
            fault.registers.retain(|value| !written(&value.name));
        }
        self.x.findings = findings;
    }
}

impl FaultDetails<'_, '_, '_> {
    /// Adds the values that the faulty lane has read. The instruction has written none of its results.
    #[cold]
    #[inline(never)]
    pub fn with_reads(&self, op: &Op, mut fault: Box<Fault>) -> Box<Fault> {
        self.add_reads(op, &mut fault);
        fault
    }

    fn add_reads(&self, op: &Op, fault: &mut Fault) {
        if fault.used.is_some() {
            // it is about an earlier instruction
            return;
        }
        if let Some(thread) = fault.thread {
            (fault.callers, fault.more_callers) = self.callers(op.site, thread);
        }
        for register in op.reads() {
            let Some(value) = self.read(op.q, register, fault) else { continue };
            if fault.registers.iter().all(|known| known.name != value.name) {
                fault.registers.push(value);
            }
        }
    }

    fn read(&self, q: Q, register: Register, fault: &Fault) -> Option<RegisterValue> {
        let image = self.runner.image;
        let name = image.names.get(register as usize).filter(|name| !name.is_empty())?.clone();
        let thread = fault.thread?;
        let warp = thread.warp as usize;
        let leader = self.runner.leader(warp.checked_sub(self.runner.lo)?);
        let bits = self.runner.registers.lanes(leader, register, warp)[thread.lane as usize & 31];
        let width = *image.registers.get(register as usize)?;
        Some(self.runner.x.describe().register_value(fault, name, (bits, width), &q.ty[..q.types.min(4)]))
    }
}
