//! Fusion of instructions of a plan whose intermediate results nothing else reads.

use super::super::code::{Instr, Run};
use super::super::memory::{CHAIN, Factor, Products};
use super::super::op::Operand;
use super::super::rows::Resolved;
use super::super::runner::{Rest, Runner};
use super::Planned;
use super::pairs;
use super::readers::Readers;
use super::step::PlanStep;

/// Fuses steps of a region, which has just run, where all lanes run.
pub(super) fn fuse(r: &Runner<'_, '_>, body: &[Instr], readers: &Readers, steps: &mut Vec<Planned>) {
    if r.rest != Rest::Nowhere {
        return;
    }
    let (mut chains, mut from) = (Vec::new(), 0);
    while from < steps.len() {
        let chain = chain(r, body, readers, &steps[from..]);
        let length = chain.as_ref().map_or(1, |chain| 3 * chain.factors.len());
        chains.extend(chain.map(|chain| (from..from + length, chain)));
        from += length;
    }
    for (steps_of_chain, chain) in chains.into_iter().rev() {
        let first = steps[steps_of_chain.start].at;
        steps.splice(steps_of_chain, [Planned { at: first, step: PlanStep::Products(chain), all: true }]);
    }
}

/// Joins loops on rows that follow each other.
pub(super) fn join_loops(body: &[Instr], readers: &Readers, steps: Vec<Planned>) -> Vec<Planned> {
    let (mut joined, mut loops) = (Vec::with_capacity(steps.len()), (Vec::new(), true));
    let end = |(loops, all): &mut (Vec<(usize, Resolved)>, bool)| {
        let (first, all) = (loops.first()?.0, std::mem::replace(all, true));
        let mut loops = pairs::join(body, readers, std::mem::take(loops));
        let step =
            if loops.len() == 1 { PlanStep::Rows(loops.pop()?) } else { PlanStep::Loops(loops.into_iter().collect()) };
        Some(Planned { at: first, step, all })
    };
    for Planned { at, step, all } in steps {
        match step {
            PlanStep::Rows(resolved) if resolved.is_on_rows() => {
                loops.0.push((at, resolved));
                loops.1 &= all;
            }
            step => {
                joined.extend(end(&mut loops));
                joined.push(Planned { at, step, all });
            }
        }
    }
    joined.extend(end(&mut loops));
    joined
}

/// Joins steps that compute scalars and follow each other.
pub(super) fn join_scalars(steps: Vec<Planned>) -> Vec<Planned> {
    let mut joined: Vec<Planned> = Vec::with_capacity(steps.len());
    for Planned { at, step, all } in steps {
        match (step, joined.last_mut()) {
            (PlanStep::Scalars(next), Some(Planned { step: PlanStep::Scalars(before), .. })) => before.append(next),
            (step, _) => joined.push(Planned { at, step, all }),
        }
    }
    joined
}

/// The products with which steps begin, as long as each adds to the result of the one before it, and
/// addresses have the same strides.
fn chain(r: &Runner<'_, '_>, body: &[Instr], readers: &Readers, steps: &[Planned]) -> Option<Products> {
    let mut triples = steps.as_chunks::<3>().0.iter();
    let mut last = triples.next()?;
    let mut chain = product(body, readers, last)?;
    let strides = |[a, b]: &[Factor; 2]| [a, b].map(|factor| factor.address.line(r)).map(|(_, x, y)| (x, y));
    for triple in triples.take(CHAIN - 1) {
        let Some(next) = product(body, readers, triple) else { break };
        let [.., sum] = chain.results[..] else { break };
        let follows = next.addend == sum && readers.is_only(last[2].at, triple[2].at);
        if !follows || strides(&next.factors[0]) != strides(&chain.factors[0]) {
            break;
        }
        chain.factors.extend(next.factors);
        chain.results.extend(next.results);
        last = triple;
    }
    Some(chain)
}

/// Two loads and an `fma.rn.f32` that multiplies what they load.
fn product(body: &[Instr], readers: &Readers, [first, second, third]: &[Planned; 3]) -> Option<Products> {
    let (first, second) = (factor(first, body)?, factor(second, body)?);
    let Instr { op, run: Run::Lane { rows: Some(function), .. } } = &body[third.at] else { return None };
    let (
        PlanStep::Rows(resolved),
        [Operand::Register(a), Operand::Register(b), Operand::Register(addend)],
        [Some(result)],
    ) = (&third.step, &op.sources[..], &op.results[..])
    else {
        return None;
    };
    let factors = match (first.to == *a, second.to == *b, first.to == *b, second.to == *a) {
        (true, true, false, false) => [first, second],
        (false, false, true, true) => [second, first],
        _ => return None,
    };
    let apart = [a, b].iter().all(|factor| *factor != addend && *factor != result);
    let alone = factors.iter().all(|factor| readers.is_only(factor.at, third.at));
    (function.fma && resolved.is_on_rows() && apart && alone).then_some(Products {
        factors: vec![factors],
        addend: *addend,
        results: vec![*result],
    })
}

/// A load of a factor.
fn factor(planned: &Planned, body: &[Instr]) -> Option<Factor> {
    let Instr { op, run } = &body[planned.at];
    let (PlanStep::Affine { address }, Run::Memory { access, .. }, [Some(to)]) = (&planned.step, run, &op.results[..])
    else {
        return None;
    };
    access.loads_factors().then_some(Factor { access: *access, address: *address, to: *to, at: planned.at })
}
