//! Short pieces of code that only some lanes of a warp run become part of the region around them: all lanes compute them, and
//! those whose predicate does not hold keep what they had. That saves the fragments that a branch makes, and the state of the
//! warp in between.

use super::classes::Key;
use super::regions::{Cond, End, Item, Program};
use ptx_dsl_table::hir::Instr;
use std::collections::HashSet;
use std::rc::Rc;

/// What the instructions of a piece may take, as [`weight`](super::Emit::weight) has it: beyond that it is cheaper to ask who
/// runs them.
const LIMIT: u32 = 32;

/// Takes in the pieces behind branches at which lanes `part`, the inner ones first; `live` is what each region reads. Gives
/// whether there were any.
pub fn fold(p: &mut Program<'_>, part: &HashSet<usize>, live: &[HashSet<Key>], weight: &dyn Fn(&Instr) -> u32) -> bool {
    let mut ends: Vec<usize> = (0..p.regions.len()).collect();
    let mut ways = p.ways.clone();
    let mut folded = false;
    for r in (0..p.regions.len()).rev() {
        while let End::Branch { pred, taken, fall } = p.regions[r].end {
            if !part.contains(&ends[r]) || taken == fall {
                break;
            }
            let joins = |arm: usize| piece(p, &ways, arm, weight).filter(|j| arm != r && *j != arm);
            let (join, then, other) = match (joins(taken), joins(fall)) {
                (_, Some(j)) if j == taken => (j, None, Some(fall)),
                (Some(j), _) if j == fall => (j, Some(taken), None),
                (Some(a), Some(b)) if a == b => (a, Some(taken), Some(fall)),
                _ => break,
            };
            // who does not jump comes first, as where they part
            let (first, second) = if let Some(fall) = other { (fall, then) } else { (taken, None) };
            let holds = pred.1 == other.is_none();
            let mut body = std::mem::take(&mut p.regions[r].body);
            body.push(Item::If(Cond { operand: &pred.0, holds }));
            for (n, arm) in [Some(first), second].into_iter().flatten().enumerate() {
                if n > 0 {
                    body.push(Item::Else);
                }
                body.append(&mut p.regions[arm].body);
                p.regions[arm].end = End::Exit;
                ways[arm] = 0;
            }
            body.push(Item::End(Rc::new(live[join].clone())));
            p.regions[r].body = body;
            p.regions[r].end = End::Goto(join);
            ways[join] -= 1;
            folded = true;
            let next = &p.regions[join];
            let alone = matches!(next.end, End::Block { .. }) && next.body.is_empty();
            if ways[join] != 1 || join == r || alone || next.results.is_some() {
                break;
            }
            let tail = std::mem::take(&mut p.regions[join].body);
            p.regions[r].body.extend(tail);
            p.regions[r].end = std::mem::replace(&mut p.regions[join].end, End::Exit);
            ends[r] = ends[join];
            ways[join] = 0;
        }
    }
    folded
}

/// Where a region goes on that is entered from one place alone and short enough.
fn piece(p: &Program<'_>, ways: &[u32], arm: usize, weight: &dyn Fn(&Instr) -> u32) -> Option<usize> {
    let region = &p.regions[arm];
    let End::Goto(join) = region.end else { return None };
    if ways.get(arm) != Some(&1) || region.results.is_some() {
        return None;
    }
    let mut sum = 0;
    for item in &region.body {
        sum += match item {
            Item::Instr(i) => weight(i),
            _ => 0,
        };
        if sum > LIMIT {
            return None;
        }
    }
    Some(join)
}
