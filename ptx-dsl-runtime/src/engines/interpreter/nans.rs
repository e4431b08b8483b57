//! Registers whose NaNs nothing distinguishes: all that reads them is f32 arithmetic, or a comparison. Instructions that write them
//! need not make the NaN of a result canonical, which is a third of the work of an addition.

use super::liveness::Walk;
use super::rows;
use crate::numerics::qual::Q;
use ptx_dsl_isa::image::{Action, Image, Instr, Register, Source};
use std::collections::HashMap;

/// Whether no instruction distinguishes the NaNs of each register.
pub(super) struct AnyNan(Vec<bool>);

impl AnyNan {
    pub fn new(image: &Image, qualifiers: &[Q]) -> AnyNan {
        let mut any: Vec<bool> = image.registers.iter().map(|bits| *bits == 32).collect();
        let mut copies: Vec<(Register, Register)> = Vec::new();
        for region in &image.regions {
            Walk { read: &mut |r| any[r as usize] = false, write: &mut |_| {} }.around_body(region);
            for i in &region.body {
                match copy(i) {
                    Some(copy) => copies.push(copy),
                    None => note(i, &image.registers, qualifiers, &mut any),
                }
            }
        }
        // who reads a copy reads what was copied
        let mut sources: HashMap<Register, Vec<Register>> = HashMap::new();
        copies.iter().for_each(|(from, to)| sources.entry(*to).or_default().push(*from));
        let mut known: Vec<Register> = sources.keys().copied().filter(|to| !any[*to as usize]).collect();
        while let Some(to) = known.pop() {
            for from in sources.get(&to).into_iter().flatten() {
                if std::mem::replace(&mut any[*from as usize], false) {
                    known.push(*from);
                }
            }
        }
        AnyNan(any)
    }

    pub fn has(&self, r: Register) -> bool {
        self.0[r as usize]
    }
}

/// The registers of a `mov`.
fn copy(i: &Instr) -> Option<(Register, Register)> {
    match (i.action, &i.sources[..], &i.results[..]) {
        (Action::Move { .. }, [Source::Register { register }], [Some(to)]) => Some((*register, *to)),
        _ => None,
    }
}

/// Notes what an instruction reads.
fn note(i: &Instr, widths: &[u8], qualifiers: &[Q], any: &mut [bool]) {
    let takes = match i.action {
        Action::Opcode { opcode, qualifiers: q, .. } => rows::takes_any_nan(opcode, qualifiers[q as usize], i, widths),
        Action::Move { .. } => Default::default(),
    };
    for (n, source) in i.sources.iter().enumerate() {
        if let Some(register) = super::liveness::register(source)
            && !takes.get(n).is_some_and(|takes| *takes)
        {
            any[register as usize] = false;
        }
    }
}

#[cfg(all(test, ptx_dsl_optimised))]
mod tests {
    use super::*;
    use crate::numerics::qual::{Ty, q};
    use ptx_dsl_isa::image::{End, Region};
    use ptx_dsl_isa::opcode::{Opcode, op};

    fn read(sources: &[Register]) -> Vec<Source> {
        sources.iter().map(|register| Source::Register { register: *register }).collect()
    }

    fn of(opcode: Opcode, sources: &[Register], result: Register) -> Instr {
        let action = Action::Opcode { opcode, qualifiers: 0, carry_out: false };
        Instr {
            action,
            site: 0,
            lines: Default::default(),
            guard: None,
            sources: read(sources),
            results: vec![Some(result)],
        }
    }

    fn copy(from: Register, to: Register) -> Instr {
        Instr { action: Action::Move { from: 32, to: 32 }, ..of(op::mov, &[from], to) }
    }

    #[test]
    fn registers_that_only_arithmetic_reads() {
        let body = vec![
            of(op::add, &[0, 1], 2),
            // a copy that arithmetic reads, and one that another instruction does
            copy(2, 3),
            of(op::mul, &[3, 0], 4),
            copy(4, 5),
            copy(5, 6),
            Instr { results: Vec::new(), ..of(op::st, &[7, 6], 0) },
        ];
        let region = Region { name: String::new(), results: None, body, end: End::Exit {}, branch: 0, last: None };
        let image =
            Image { registers: vec![32, 32, 32, 32, 32, 32, 32, 64], regions: vec![region], ..Image::default() };
        let q = Q::new(&[q::rn], &[Ty::F32]);
        let any = AnyNan::new(&image, &[q]);
        let found: Vec<Register> = (0..8).filter(|r| any.has(*r)).collect();
        assert_eq!(found, [0, 1, 2, 3]);
    }
}
