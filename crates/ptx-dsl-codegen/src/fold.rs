//! Short pieces of code that only some lanes of a warp run become part of the region around them: all lanes compute them, and
//! those whose predicate does not hold keep what they had. That saves the fragments that a branch makes, and the state of the
//! warp in between.

use super::classes::Classes;
use super::mentions::mentions;
use super::regions::{Cond, End, Item, Program};
use ptx_dsl_isa::hir::Instr;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What the instructions of a piece may take, as [`weight`](super::Emit::weight) has it: beyond that it is cheaper to ask who
/// runs them.
const LIMIT: u32 = 32;

/// Takes in the pieces behind branches at which lanes part, the inner ones first. Gives whether there were any.
pub fn fold(p: &mut Program<'_>, classes: &Classes, weight: &dyn Fn(&Instr) -> u32) -> bool {
    let mut ends = (0..p.regions.len()).collect::<Vec<_>>();
    let mut ways = p.ways.clone();
    let mut folded = false;
    // What the instructions of each region take, and the region whose body belongs to its end: it stays there until somebody
    // needs the whole, so that a body does not move once for each piece in front of it.
    let mut weights = vec![0u32; p.regions.len()];
    for (r, region) in p.regions.iter().enumerate() {
        for i in region.instructions() {
            weights[r] = weights[r].saturating_add(weight(i));
        }
    }
    let mut rest = vec![None; p.regions.len()];
    for r in (0..p.regions.len()).rev() {
        while let End::Branch { pred, taken, fall } = p.regions[r].end {
            if classes.parting.binary_search(&ends[r]).is_err() || taken == fall {
                break;
            }
            let (joins_taken, joins_fall) = (piece(p, &ways, &weights, r, taken), piece(p, &ways, &weights, r, fall));
            let (join, then, other) = match (joins_taken, joins_fall) {
                (_, Some(j)) if j == taken => (j, None, Some(fall)),
                (Some(j), _) if j == fall => (j, Some(taken), None),
                (Some(a), Some(b)) if a == b => (a, Some(taken), Some(fall)),
                _ => break,
            };
            // who does not jump comes first, as where they part
            let arms = match other {
                Some(fall) => [Some(fall), then],
                None => [Some(taken), None],
            };
            let holds = pred.1 == other.is_none();
            let f = p.regions[r].func;
            let mut body = whole(p, &mut rest, r);
            body.push(Item::If(Cond { operand: &pred.0, holds }));
            let mut live = BTreeSet::new();
            for (n, arm) in arms.iter().enumerate() {
                let Some(arm) = *arm else { continue };
                if n > 0 {
                    body.push(Item::Else);
                }
                let mut piece = whole(p, &mut rest, arm);
                for item in &piece {
                    if let Item::Instr(i) = item {
                        for k in mentions(f, i).1 {
                            if classes.reads(join, &k) {
                                live.insert(k);
                            }
                        }
                    }
                }
                body.append(&mut piece);
                weights[r] = weights[r].saturating_add(weights[arm]);
                p.regions[arm].end = End::Exit;
                ways[arm] = 0;
            }
            body.push(Item::End(Rc::new(live)));
            p.regions[r].body = body;
            p.regions[r].end = End::Goto(join);
            ways[join] -= 1;
            folded = true;
            let next = &p.regions[join];
            let alone = matches!(next.end, End::Block { .. }) && next.body.is_empty();
            if ways[join] != 1 || join == r || alone || next.results.is_some() {
                break;
            }
            rest[r] = Some(join);
            weights[r] = weights[r].saturating_add(weights[join]);
            p.regions[r].end = std::mem::replace(&mut p.regions[join].end, End::Exit);
            ends[r] = ends[join];
            ways[join] = 0;
        }
    }
    for (r, ways) in ways.iter().enumerate() {
        if *ways > 0 {
            p.regions[r].body = whole(p, &mut rest, r);
        }
    }
    folded
}

/// The body of a region with what belongs to its end.
fn whole<'m>(p: &mut Program<'m>, rest: &mut [Option<usize>], r: usize) -> Vec<Item<'m>> {
    let mut body = std::mem::take(&mut p.regions[r].body);
    let mut last = r;
    while let Some(next) = rest[last].take() {
        body.append(&mut p.regions[next].body);
        last = next;
    }
    body
}

/// Where a region behind `r` goes on that is entered from there alone and short enough.
fn piece(p: &Program<'_>, ways: &[u32], weights: &[u32], r: usize, arm: usize) -> Option<usize> {
    let region = &p.regions[arm];
    let End::Goto(join) = region.end else { return None };
    let fits = ways[arm] == 1 && weights[arm] <= LIMIT && region.results.is_none();
    if fits && arm != r && join != arm { Some(join) } else { None }
}
