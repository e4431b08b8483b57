//! Two loops of a plan in one: the second takes the result of the first. The second may move up to the first, over instructions that
//! have nothing to do with it.

use super::super::code::{Instr, Run};
use super::super::op::{Op, Operand};
use super::super::rows::Resolved;
use super::readers::Readers;

/// The number of loops that are looked at for the second of a pair.
const AHEAD: usize = 8;

/// Joins loops, which are those of instructions of a region in their order.
pub(super) fn join(body: &[Instr], readers: &Readers, loops: Vec<(usize, Resolved)>) -> Vec<Resolved> {
    let mut loops: Vec<Option<(usize, Resolved)>> = loops.into_iter().map(Some).collect();
    let mut joined = Vec::with_capacity(loops.len());
    for i in 0..loops.len() {
        let Some((at, first)) = loops[i].take() else { continue };
        let ahead = loops[i + 1..].iter_mut().take(AHEAD);
        let pair = ahead.into_iter().find_map(|next| {
            let pair = both(body, readers, (at, &first), next.as_ref().map(|(at, next)| (*at, next))?)?;
            *next = None;
            Some(pair)
        });
        joined.push(pair.unwrap_or(first));
    }
    joined
}

/// The loop of both, if there is one and the second may move up to the first.
fn both(
    body: &[Instr],
    readers: &Readers,
    (first, of_first): (usize, &Resolved),
    (second, of_second): (usize, &Resolved),
) -> Option<Resolved> {
    let (Run::Lane { rows: Some(f), .. }, Run::Lane { rows: Some(g), .. }) = (&body[first].run, &body[second].run)
    else {
        return None;
    };
    let [Some(between), ..] = body[first].op.results[..] else { return None };
    let op = &body[second].op;
    let takes = |o: &Operand| matches!(o, Operand::Register(register) if *register == between);
    let taken = op.sources.iter().enumerate().fold(0, |bits, (n, o)| bits | u8::from(takes(o)) << n);
    let alone = [first, second].iter().all(|at| body[*at].op.results.iter().flatten().count() == 1);
    if taken == 0 || !alone || !body[first + 1..second].iter().all(|i| is_apart(&i.op, op)) {
        return None;
    }
    let kept = !readers.is_only(first, second);
    of_first.with(of_second, [f, g], taken, kept)
}

/// May `later` run before an instruction?
fn is_apart(op: &Op, later: &Op) -> bool {
    let writes = |op: &Op, register| op.results.contains(&Some(register));
    let reads = |op: &Op, register| op.reads().any(|read| read == register);
    later.reads().all(|register| !writes(op, register))
        && later.results.iter().flatten().all(|register| !writes(op, *register) && !reads(op, *register))
}
