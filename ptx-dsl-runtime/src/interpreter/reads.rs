//! The registers that a faulty instruction has read, for the report.

use super::op::Op;
use super::runner::Runner;
use crate::fault::{Fault, RegisterValue};

use crate::qual::{Q, Ty};
use ptx_dsl_isa::image::Register;

impl Runner<'_, '_> {
    /// The instruction has run: describes what it has brought to light.
    #[inline(always)]
    pub fn describe_news(&mut self, op: &Op) {
        if self.x.findings.has_news() {
            self.describe_findings(op);
        }
    }

    /// The instruction has run: follows undefined values, and adds to new findings the values that their threads have read, but for
    /// registers that it has written.
    #[cold]
    #[inline(never)]
    pub fn describe_findings(&mut self, op: &Op) {
        self.follow(op);
        let mut findings = std::mem::take(&mut self.x.findings);
        for fault in findings.news() {
            self.add_reads(op, fault);
            let written = |name: &str| {
                op.results.iter().flatten().any(|r| self.image.names.get(*r as usize).is_some_and(|n| n == name))
            };
            fault.registers.retain(|value| !written(&value.name));
        }
        self.x.findings = findings;
    }

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
        let image = self.image;
        let name = image.names.get(register as usize).filter(|name| !name.is_empty())?.clone();
        let thread = fault.thread?;
        let warp = thread.warp as usize;
        let leader = self.leader(warp.checked_sub(self.lo)?);
        let bits = self.registers.lanes(leader, register, warp)[thread.lane as usize & 31];
        let width = *image.registers.get(register as usize)?;
        let address = fault.at.as_ref().is_some_and(|at| names_address(&at.text, &name));
        let text = if address {
            format!("{bits:#x}")
        } else {
            let ty = q.ty[..q.types.min(4)].iter().find(|ty| ty.bits() == u32::from(width) || width == 1);
            in_words(bits, width, ty.copied())
        };
        let place = if width == 64 { self.x.place_in_words(bits) } else { None };
        let text = place.map_or(text.clone(), |place| format!("{bits:#x} ({place})"));
        Some(RegisterValue { name, bits, text })
    }
}

/// Does the statement use the register as an address: `[%rd1]`, `[%rd1+4]`?
fn names_address(statement: &str, name: &str) -> bool {
    statement.split('[').skip(1).any(|rest| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        rest.strip_prefix(name).is_some_and(ends)
    })
}

/// A value of this type; an unsigned number if it is unknown and narrow.
fn in_words(bits: u64, width: u8, ty: Option<Ty>) -> String {
    match (width, ty) {
        (1, _) => (bits & 1 != 0).to_string(),
        (_, Some(Ty::F32)) => format!("{:?}", f32::from_bits(bits as u32)),
        (_, Some(Ty::F64)) => format!("{:?}", f64::from_bits(bits)),
        (_, Some(ty)) if ty.is_signed() => {
            let unused = 64 - u32::from(width).clamp(1, 64);
            ((bits << unused).cast_signed() >> unused).to_string()
        }
        (_, Some(Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64)) => bits.to_string(),
        (8..=32, None) => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_type_of_the_statement() {
        assert_eq!(in_words(0x4020_0000, 32, Some(Ty::F32)), "2.5");
        assert_eq!(in_words(0xffff_fffe, 32, Some(Ty::S32)), "-2");
        assert_eq!(in_words(0xffff_fffe, 32, Some(Ty::U32)), "4294967294");
        assert_eq!(in_words(0xfffe, 16, Some(Ty::S16)), "-2");
        assert_eq!(in_words(70, 32, Some(Ty::B32)), "0x46");
        assert_eq!(in_words(70, 32, None), "70");
        assert_eq!(in_words(70, 64, None), "0x46");
        assert_eq!(in_words(1, 1, Some(Ty::F32)), "true");
        assert_eq!(in_words(u64::MAX, 64, Some(Ty::S64)), "-1");
    }

    #[test]
    fn addresses_are_in_brackets() {
        let store = "st.shared.u32 [%r1+4], %r12;";
        assert!(names_address(store, "%r1") && !names_address(store, "%r12") && !names_address(store, "%r"));
        assert!(!names_address("ld.global.u32 %r1, [%rd1];", "%r1"));
    }
}
