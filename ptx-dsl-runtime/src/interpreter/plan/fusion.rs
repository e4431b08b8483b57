//! Instructions of a plan that run as one: nobody else reads what they hand on.

use super::super::code::{Code, Instr, Run};
use super::super::liveness::successors;
use super::super::memory::{Factor, Product};
use super::super::op::{Op, Operand};
use super::super::runner::{Rest, Runner};
use super::Planned;
use super::step::Step;

use ptx_dsl_isa::image::{End, Register};

/// Fuses steps of region `at`, which has just run, where all lanes run.
pub(super) fn fuse(r: &Runner<'_, '_>, code: &Code, at: usize, steps: &mut Vec<Planned>) {
    if r.rest != Rest::Nowhere {
        return;
    }
    let (mut products, mut from) = (Vec::new(), 0);
    while let Some([first, second, third, ..]) = steps.get(from..) {
        let product = product(code, at, [first, second, third]);
        let length = if product.is_some() { 3 } else { 1 };
        products.extend(product.map(|product| (from, product)));
        from += length;
    }
    for (from, product) in products.into_iter().rev() {
        steps.splice(from..from + 3, [Planned { at: from, step: Step::Product(product), all: true }]);
    }
}

/// Two loads and an `fma.rn.f32` that multiplies what they load.
fn product(code: &Code, at: usize, [first, second, third]: [&Planned; 3]) -> Option<Product> {
    let body = &code.regions[at].body;
    let (first, second) = (factor(first, &body[first.at])?, factor(second, &body[second.at])?);
    let Instr { op, run: Run::Lane { rows: Some(function), .. } } = &body[third.at] else { return None };
    let (Step::Rows(resolved), [Operand::Register(a), Operand::Register(b), Operand::Register(addend)], [Some(result)]) =
        (&third.step, &op.sources[..], &op.results[..])
    else {
        return None;
    };
    let factors = match (first.to == *a, second.to == *b, first.to == *b, second.to == *a) {
        (true, true, false, false) => [first, second],
        (false, false, true, true) => [second, first],
        _ => return None,
    };
    let apart = [a, b].iter().all(|factor| *factor != addend && *factor != result);
    let dead = |register: &Register| is_dead_behind(code, at, third.at + 1, *register);
    (function.fma && resolved.is_on_rows() && apart && dead(a) && dead(b)).then_some(Product {
        factors,
        addend: *addend,
        result: *result,
    })
}

/// A load of a factor.
fn factor(planned: &Planned, Instr { op, run }: &Instr) -> Option<Factor> {
    let (Step::Affine { address }, Run::Memory { access, .. }, [Some(to)]) = (&planned.step, run, &op.results[..])
    else {
        return None;
    };
    access.loads_factors().then_some(Factor {
        access: *access,
        address: *address,
        to: *to,
        site: op.site,
        order: op.order,
    })
}

/// Does nobody read a register, which is not a predicate, from an instruction of a region on before it is written?
fn is_dead_behind(code: &Code, at: usize, from: usize, register: Register) -> bool {
    for Instr { op, .. } in &code.regions[at].body[from..] {
        if reads(op, register) {
            return false;
        }
        if op.guard.is_none() && op.results.contains(&Some(register)) {
            return true;
        }
    }
    let end = code.end(at);
    let plain = matches!(end, End::Goto { .. } | End::Branch { .. } | End::Exit {});
    plain && successors(end).into_iter().all(|pc| code.is_dead(register, pc as crate::Pc))
}

fn reads(op: &Op, register: Register) -> bool {
    op.sources.iter().any(|source| match source {
        Operand::Register(r) | Operand::Not(r) | Operand::Address { base: r, .. } => *r == register,
        Operand::Constant(_) | Operand::Special(_) | Operand::Frame { .. } => false,
    })
}
