//! Normalises a program: merges straight-line regions, splits those that are too long, drops unreachable ones, and renumbers the
//! rest in reverse postorder.

use super::chains;
use super::graph::{End, Item, Program, Region};
use ptx_dsl_analysis::graph::postorder;

/// The program in its normal form.
pub fn normalize(mut p: Program) -> Program {
    merge(&mut p);
    split_long(&mut p);
    let order = reverse_postorder(&p);
    let mut number = vec![None; p.regions.len()];
    for (new, old) in order.iter().enumerate() {
        number[*old] = Some(new);
    }
    p.regions = order.iter().map(|r| p.regions[*r].take()).collect();
    for r in &mut p.regions {
        renumber(&mut r.end, &|old| number[old].unwrap_or(usize::MAX));
    }
    for sites in &mut p.returns {
        *sites = sites.iter().filter_map(|s| number[*s]).collect();
    }
    p.predecessor_counts = p.count_predecessors();
    chains::annotate(&mut p);
    p
}

/// Appends each region whose only predecessor ends with a `Goto` to that predecessor.
fn merge(p: &mut Program) {
    let mut predecessors = p.count_predecessors();
    for r in 0..predecessors.len() {
        while let End::Goto(t) = p.regions[r].end {
            let next = &p.regions[t];
            if t == r || predecessors[t] != 1 || next.is_single_block() || next.results.is_some() {
                break;
            }
            let mut tail = p.regions[t].take();
            p.regions[r].body.append(&mut tail.body);
            (p.regions[r].end, p.regions[r].last) = (tail.end, tail.last);
            predecessors[t] = 0;
        }
    }
}

/// Regions with more items are split: rustc's time grows with the square of a function's length. Shorter ones stay whole,
/// because registers go through memory at a border.
const LONGEST: usize = 1000;
/// Items of a part, or a few more.
const PART: usize = 500;

fn split_long(p: &mut Program) {
    for first in 0..p.regions.len() {
        if p.regions[first].body.len() <= LONGEST {
            continue;
        }
        let mut last = first;
        while let Some(at) = split_point(&p.regions[last].body) {
            let next = p.regions.len();
            let region = &mut p.regions[last];
            let mut rest = Region::new(region.func, region.name.clone());
            rest.body = region.body.split_off(at);
            rest.end = std::mem::replace(&mut region.end, End::Goto(next));
            rest.last = region.last.take();
            p.regions.push(rest);
            last = next;
        }
    }
}

/// The first place after [`PART`] items that is outside of predicated parts.
fn split_point(body: &[Item<'_>]) -> Option<usize> {
    let mut depth = 0;
    for (n, item) in body.iter().enumerate() {
        if n >= PART && depth == 0 {
            return Some(n);
        }
        match item {
            Item::If(_) => depth += 1,
            Item::EndIf(_) => depth -= 1,
            Item::Instr(_) | Item::Else => {}
        }
    }
    None
}

/// The reachable regions in reverse postorder.
fn reverse_postorder(p: &Program<'_>) -> Vec<usize> {
    // the last successor is visited first
    let next = |r: u32, out: &mut Vec<u32>| out.extend(p.successors(r as usize).iter().rev().map(|s| *s as u32));
    postorder(0, p.regions.len(), &next).into_iter().rev().map(|r| r as usize).collect()
}

fn renumber(end: &mut End<'_>, number: &dyn Fn(usize) -> usize) {
    match end {
        End::Goto(t) => *t = number(*t),
        End::Branch { taken, fall, .. } => (*taken, *fall) = (number(*taken), number(*fall)),
        End::Switch { targets, .. } => targets.iter_mut().for_each(|t| *t = number(*t)),
        End::Block { next, .. } => *next = number(*next),
        End::Call { callees, .. } => {
            for c in callees {
                (c.start, c.back) = (number(c.start), number(c.back));
            }
        }
        End::Return | End::Exit => {}
    }
}
