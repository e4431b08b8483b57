//! Exit chains, fall-through chains, and loops made of the latter.
//!
//! An exit chain is a sequence of regions at each of which some lanes end while the others go on, up to an exit: all lanes end
//! together at its last region, so it is emitted as one piece. A fall-through chain follows the lanes that do not jump.
//! [`annotate`] walks all chains once, in linear time.

use super::graph::{End, Program};

/// The region after `r` for the lanes that do not end there.
fn exit_chain_step(p: &Program<'_>, r: usize) -> Option<usize> {
    let next = p.way_that_goes_on(r)?;
    (p.regions[next].blocking().is_none() && p.predecessor_counts[next] == 1).then_some(next)
}

/// The region after `r` for the lanes that do not jump, if nothing else enters it.
fn fall_through_step(p: &Program<'_>, r: usize) -> Option<usize> {
    let End::Branch { taken, fall, .. } = p.regions[r].end else { return None };
    let next = &p.regions[fall];
    let plain = next.blocking().is_none() && next.results.is_none();
    (plain && fall < taken && p.predecessor_counts[fall] == 1).then_some(fall)
}

/// The last region of each region's chain. Each region of a chain has one predecessor, so a chain has no cycle, except one that no
/// entry leads to: a walk ends after as many steps as there are regions.
fn last_of_chains(p: &Program<'_>, step: fn(&Program<'_>, usize) -> Option<usize>) -> Vec<usize> {
    let n = p.regions.len();
    let mut last = vec![None; n];
    let mut path = Vec::new();
    for r in 0..n {
        let mut at = r;
        while last[at].is_none()
            && path.len() <= n
            && let Some(next) = step(p, at)
        {
            path.push(at);
            at = next;
        }
        let end = last[at].unwrap_or(at);
        last[at] = Some(end);
        for at in path.drain(..) {
            last[at] = Some(end);
        }
    }
    last.into_iter().enumerate().map(|(r, last)| last.unwrap_or(r)).collect()
}

/// Computes the chains of all regions.
pub fn annotate(p: &mut Program<'_>) {
    let last = last_of_chains(p, exit_chain_step);
    // a chain counts only if it leads to an exit
    p.exit_next = (0..p.regions.len())
        .map(|r| if matches!(p.regions[last[r]].end, End::Exit) { exit_chain_step(p, r) } else { None })
        .collect();
    p.fall_through_last = last_of_chains(p, fall_through_step);
}

/// A region and the rest of its exit chain; the region alone if it is in none.
pub fn exit_chain(p: &Program<'_>, r: usize) -> Vec<usize> {
    std::iter::successors(Some(r), |r| p.exit_next.get(*r).copied().flatten()).collect()
}

/// Do the lanes that end at the region and the others end together?
pub fn is_in_exit_chain(p: &Program<'_>, r: usize) -> bool {
    matches!(p.exit_next.get(r), Some(Some(_)))
}

/// A region and the rest of its fall-through chain.
pub fn fall_through_chain(p: &Program<'_>, r: usize) -> Vec<usize> {
    std::iter::successors(Some(r), |r| fall_through_step(p, *r)).collect()
}

/// The fall-through chain of the region if it is a loop.
pub fn fall_through_loop(p: &Program<'_>, r: usize) -> Option<Vec<usize>> {
    let last = *p.fall_through_last.get(r)?;
    if !p.successors(last).contains(&r) {
        return None;
    }
    let chain = fall_through_chain(p, r);
    is_loop(p, &chain).then_some(chain)
}

/// Does the last of these consecutive regions go back to the first, and do all other edges out of them lead ahead?
pub fn is_loop(p: &Program<'_>, chain: &[usize]) -> bool {
    let (head, last) = (chain[0], chain[chain.len() - 1]);
    let leads_ahead = |(i, r): (usize, &usize)| {
        let inside = *chain.get(i + 1).unwrap_or(&head);
        p.successors(*r).into_iter().all(|s| s == inside || s > head)
    };
    chain.iter().enumerate().all(leads_ahead) && p.successors(last).contains(&head)
}
