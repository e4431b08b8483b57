//! A step that computes scalars: instructions that follow each other and run once for all lanes.

use super::super::affine::AffineRule;
use super::super::kinds::Patch;
use super::super::registers::{Own, RegisterKind};
use super::super::rows::One;
use super::super::runner::Runner;
use super::super::value::Value;
use crate::machine::Ctx;
use ptx_dsl_isa::image::Register;

/// Instructions that compute scalars one after the other.
pub(super) struct Scalars {
    all: Vec<Computed>,
    /// The kinds of the results of the instructions.
    kinds: Patch,
}

/// An instruction that computes scalars.
pub(super) struct Computed {
    /// The number of the instruction.
    pub at: usize,
    pub how: How,
    /// The results, and the bits that each register has: none for a second one that nothing needs.
    pub places: [(Register, u64); 2],
    /// The kind of the results.
    pub kind: RegisterKind,
}

/// The strategy by which scalars are computed.
pub(super) enum How {
    /// A function of uniform operands.
    Once { one: One, sources: Box<[Value]> },
    /// The result is affine. The operands are in the order of the rule.
    Line { rule: AffineRule, sources: [Value; 3] },
    /// The result of a comparison of an affine operand, which may be rows.
    Compare { rule: AffineRule, sources: [Value; 2] },
    /// `mov`
    Copy(Value),
}

impl Scalars {
    /// The scalars of one instruction.
    pub fn of(computed: Computed) -> Scalars {
        let mut kinds = Patch::default();
        computed.results().for_each(|r| kinds.add(r, computed.kind));
        Scalars { all: vec![computed], kinds }
    }

    /// Appends the scalars of the following instructions.
    pub fn append(&mut self, next: Scalars) {
        for computed in &next.all {
            computed.results().for_each(|r| self.kinds.add(r, computed.kind));
        }
        self.all.extend(next.all);
    }

    /// The kind of the results of the first one.
    pub fn gives(&self) -> Option<RegisterKind> {
        self.all.first().map(|computed| computed.kind)
    }

    /// Computes them. The number of the instruction that cannot run like this, with nothing done; those before it have run.
    #[inline(never)]
    pub fn run(&self, r: &mut Runner<'_, '_>) -> Result<(), usize> {
        let mut left = &self.all[..];
        loop {
            let shape = r.registers.shape;
            let mut own = r.registers.own(r.lo);
            let Some(at) = left.iter().position(|computed| !computed.run(&mut own, r.x, shape)) else { break };
            if !left[at].compare(r) {
                return Err(self.stop(r, left[at].at));
            }
            left = &left[at + 1..];
        }
        r.registers.kinds.patch(r.lo, &self.kinds);
        Ok(())
    }

    /// Sets the kinds of what instructions before this one have computed.
    #[cold]
    #[inline(never)]
    fn stop(&self, r: &mut Runner<'_, '_>, at: usize) -> usize {
        for computed in self.all.iter().take_while(|computed| computed.at < at) {
            computed.results().for_each(|result| r.registers.kinds.set(r.lo, result, computed.kind));
        }
        at
    }
}

impl Computed {
    fn results(&self) -> impl Iterator<Item = Register> + use<> {
        self.places.into_iter().filter(|(_, low)| *low != 0).map(|(register, _)| register)
    }

    /// Computes the results, but not their kinds. False, with nothing done, if they are of another kind, or those of a comparison.
    #[inline(always)]
    fn run(&self, own: &mut Own<'_>, x: &Ctx<'_>, shape: (u32, u32)) -> bool {
        let [(first, low), (second, low_of_second)] = self.places;
        match &self.how {
            How::Once { one, sources } => {
                let value = |at: usize| sources.get(at).map_or(0, |source| source.uniform_of(own, x));
                let [v, w] = one(value(0), value(1), value(2), value(3));
                own.bases[first as usize] = v & low;
                if low_of_second != 0 {
                    own.bases[second as usize] = w & low_of_second;
                }
            }
            How::Line { rule, sources } => {
                let bits = low.trailing_ones();
                let Some((base, x, y)) = rule.apply(shape, |i| sources[i].line_of(own, x), bits) else { return false };
                own.set(first, (base, x, y));
            }
            How::Copy(value) => {
                let (base, x, y) = value.line_of(own, x);
                own.set(first, (if self.kind == RegisterKind::Uniform { base & low } else { base }, x, y));
            }
            How::Compare { .. } => return false,
        }
        true
    }

    /// Sets the result of a comparison. False, with nothing done, if it is of another kind, or if this is no comparison.
    #[inline(never)]
    fn compare(&self, r: &mut Runner<'_, '_>) -> bool {
        let How::Compare { rule, sources: [a, b] } = &self.how else { return false };
        r.set_line(*rule, [a.line(r), b.line(r), (0, 0, 0)], self.places[0].0, self.kind)
    }
}
