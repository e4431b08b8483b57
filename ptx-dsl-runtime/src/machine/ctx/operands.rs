//! The operands of a faulty statement in words. Compiled code does not know their registers: the image does.

use crate::fault::{Fault, RegisterValue};
use crate::machine::ctx::parts::Describer;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Source;
use crate::numerics::qual::Ty;
use ptx_dsl_isa::image::{self, Action, Image, Instr, Region};

/// An operand of a lane, and the number of its bits that are known.
pub(crate) type Known = (u64, u8);

impl<'c> Describer<'c, '_> {
    /// Adds the registers that the current statement of compiled code has read. `operands`: all of the instruction, or the first ones.
    #[cold]
    #[inline(never)]
    pub fn with_operands(self, fault: Box<Fault>, operands: &[&Lanes]) -> Box<Fault> {
        self.with_known(fault, |lane| operands.iter().map(|operand| (operand[lane], 64)).collect())
    }

    /// Adds the registers that the current statement has read, from operands as wide as they are.
    #[cold]
    #[inline(never)]
    pub fn with_sources(self, fault: Box<Fault>, operands: &[Source<'_>]) -> Box<Fault> {
        self.with_known(fault, |lane| operands.iter().map(|operand| (operand.lane(lane), 64)).collect())
    }

    /// Adds the registers that the current statement has read, from what `operands` gives for a lane.
    #[cold]
    pub(crate) fn with_known(self, mut fault: Box<Fault>, operands: impl Fn(usize) -> Vec<Known>) -> Box<Fault> {
        let (Some(image), Some(thread)) = (self.ctx.geometry.image_of_compiled(), fault.thread) else { return fault };
        // what has completed meanwhile is another statement
        if fault.at != self.ctx.geometry.at(self.ctx.site) {
            return fault;
        }
        let operands = operands(thread.lane as usize & 31);
        let is_it = |i: &&Instr| i.site == self.ctx.site && i.sources.len() >= operands.len();
        let Some(instr) = image.regions.iter().flat_map(Region::instructions).find(is_it) else { return fault };
        let guard = instr.guard.map(|guard| (guard.register, (guard.holds.into(), 64)));
        let read = instr.sources.iter().zip(operands).filter_map(|(source, operand)| register(source, operand));
        for (register, operand) in guard.into_iter().chain(read) {
            if let Some(value) = self.value_in(&image, instr, register, operand, &fault)
                && fault.registers.iter().all(|known| known.name != value.name)
            {
                fault.registers.push(value);
            }
        }
        fault
    }

    fn value_in(
        self,
        image: &Image,
        instr: &Instr,
        register: image::Register,
        (bits, known): Known,
        fault: &Fault,
    ) -> Option<RegisterValue> {
        let name = image.names.get(register as usize).filter(|name| !name.is_empty())?.clone();
        let width = *image.registers.get(register as usize)?;
        let types = match instr.action {
            Action::Opcode { qualifiers, .. } => &image.qualifiers.get(qualifiers as usize)?.types[..],
            Action::Move { .. } => &[],
        };
        let low = u64::MAX >> (64 - u32::from(width).clamp(1, 64));
        (width <= known).then(|| self.register_value(fault, name, (bits & low, width), types))
    }

    /// A register of this many bits that the statement of a fault has read.
    pub(crate) fn register_value(self, fault: &Fault, name: String, value: (u64, u8), types: &[Ty]) -> RegisterValue {
        let statement = fault.at.as_ref().map_or("", |at| at.text.as_ref());
        let place = if value.1 == 64 { self.place_in_words(value.0) } else { None };
        RegisterValue::new(name, value, (statement, types), place)
    }
}

/// The register of an operand, and its known bits.
fn register(source: &image::Source, (value, known): Known) -> Option<(image::Register, Known)> {
    match *source {
        image::Source::Register { register } => Some((register, (value, known))),
        image::Source::Not { register } => Some((register, (value ^ 1, known))),
        image::Source::Address { base, offset } => Some((base, (value.wrapping_sub(offset.cast_unsigned()), known))),
        _ => None,
    }
}
