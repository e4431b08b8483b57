//! Registers that a thread may read before it has written them: those that are live where the kernel starts, and those whose values
//! come from them. Only these are watched while a kernel runs ([`super::undefined`]).

use super::liveness::{Liveness, register};
use super::loaded::{LoadRule, Loaded};
use ptx_dsl_isa::image::{Action, Image, Instr, Region, Register, Source};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::isa::effect;
use ptx_dsl_isa::opcode::op;
use std::sync::Arc;

/// The rule by which undefined lanes of sources make lanes of a result undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carry {
    /// The result is never undefined by its sources, or the operands are parts of the result.
    Never,
    /// The result is undefined if a source is.
    Any,
    /// The result is undefined if all sources are: `mov` that packs or unpacks.
    All,
    /// The result is undefined if the source is that the predicate selects: `selp`.
    Selected,
    /// The result is undefined if the source is in the lane that it comes from: `shfl`. This is known when the instruction runs,
    /// not before.
    Shuffled,
    /// The result is undefined by the rule of products of matrices: [`Sums`](super::sums::Sums).
    Sums,
}

impl Carry {
    pub fn of(i: &Instr) -> Carry {
        let Action::Opcode { opcode, .. } = i.action else { return Carry::All };
        let Some(instr) = opcode.entries().next().map(|e| e.instr) else { return Carry::Never };
        let effects = &instr.effects;
        let zero = |s: &Source| matches!(s, Source::Constant { value: 0 });
        let computes = instr.host == Host::Lane && effects.carry == effect::Carry::None && !effects.selectors;
        match (opcode, &i.sources[..]) {
            (op::selp, _) => Carry::Selected,
            (op::shfl | op::shfl_sync, _) => Carry::Shuffled,
            _ if instr.adds_products() => Carry::Sums,
            (op::mul | op::mad | op::mul24 | op::mad24, [a, b, ..]) if zero(a) || zero(b) => Carry::Never,
            // the same register twice may be a way to write zero
            (_, [a, b, ..]) if a == b => Carry::Never,
            _ if (computes || effects.translates) && !effects.merges => Carry::Any,
            _ => Carry::Never,
        }
    }
}

/// The registers of a kernel that are watched.
#[derive(Debug, Default, Clone)]
pub(super) struct Suspects {
    /// Whether each register may be undefined.
    found: Vec<bool>,
    /// The bits of all registers.
    pub widths: Arc<[u32]>,
    /// The registers that wait for `tcgen05.wait::ld`, and for `wgmma.fence`.
    pub loaded: [Arc<Loaded>; 2],
}

impl Suspects {
    pub fn new(image: &Image) -> Suspects {
        let mut found = vec![false; image.registers.len()];
        let live = Liveness::new(image);
        let start = |r: &usize| live.is_live(0, *r as Register);
        (0..found.len()).filter(start).for_each(|r| found[r] = true);
        if found.contains(&true) {
            while spread(image, &mut found) {}
        }
        let widths = image.registers.iter().map(|width| u32::from(*width)).collect();
        Suspects {
            found,
            widths,
            loaded: [LoadRule::Loads, LoadRule::Products].map(|rule| Arc::new(Loaded::new(rule, image))),
        }
    }

    #[inline]
    pub fn has(&self, r: Register) -> bool {
        self.found.get(r as usize) == Some(&true)
    }

    /// All registers that may be undefined.
    pub fn registers(&self) -> impl Iterator<Item = Register> + '_ {
        (0..).zip(&self.found).filter(|(_, found)| **found).map(|(r, _)| r)
    }
}

/// Adds the results of instructions that carry on what they read. False if there are no more.
fn spread(image: &Image, found: &mut [bool]) -> bool {
    let mut changed = false;
    for i in image.regions.iter().flat_map(Region::instructions) {
        let reads = i.sources.iter().filter_map(register).any(|r| found[r as usize]);
        if reads && Carry::of(i) != Carry::Never {
            for r in i.results.iter().flatten() {
                changed |= !std::mem::replace(&mut found[*r as usize], true);
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{End, Guard};
    use ptx_dsl_isa::opcode::Opcode;

    fn instr(opcode: Opcode, guard: Option<Guard>, sources: &[Register], result: Register) -> Instr {
        let action = Action::Opcode { opcode, qualifiers: 0, carry_out: false };
        let sources = sources.iter().map(|r| Source::Register { register: *r }).collect();
        Instr { action, site: 0, lines: Default::default(), guard, sources, results: vec![Some(result)] }
    }

    fn suspects(regions: Vec<(Vec<Instr>, End)>) -> Vec<Register> {
        let region = |(body, end)| Region { name: String::new(), results: None, body, end, branch: 0, last: None };
        let image =
            Image { registers: vec![32; 8], regions: regions.into_iter().map(region).collect(), ..Image::default() };
        let found = Suspects::new(&image);
        found.registers().collect()
    }

    #[test]
    fn registers_that_are_live_at_the_start_and_what_comes_from_them() {
        let guard = Some(Guard { register: 0, holds: true });
        let exit = || End::Exit {};
        // written under a guard, read without one
        assert_eq!(suspects(vec![(vec![instr(op::ld, None, &[], 0), instr(op::ld, guard, &[], 1)], exit())]), []);
        let all = vec![
            instr(op::ld, None, &[], 0),
            instr(op::ld, guard, &[], 1),
            instr(op::add, None, &[1, 0], 2),
            instr(op::and, None, &[1, 0], 3),
            instr(op::sub, None, &[1, 1], 4),
        ];
        assert_eq!(suspects(vec![(all, exit())]), [1, 2]);
        // written on one of two ways
        let branch = End::Branch { guard: Guard { register: 0, holds: true }, taken: 1, fall: 2 };
        let first = |end| (vec![instr(op::ld, None, &[], 0)], end);
        let ways = vec![
            first(branch),
            (vec![instr(op::ld, None, &[], 5)], End::Goto { to: 2 }),
            (vec![instr(op::st, None, &[5], 6)], exit()),
        ];
        assert_eq!(suspects(ways.clone()), [5]);
        let mut both = ways;
        both[0].0.push(instr(op::ld, None, &[], 5));
        assert_eq!(suspects(both), []);
    }
}
