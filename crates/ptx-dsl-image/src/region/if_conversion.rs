//! If-conversion: short code after a divergent branch becomes a predicated part of the region in front of it.
//!
//! All lanes compute it, and lanes whose predicate is false keep their old values. That saves splitting the warp into fragments
//! and the warp's state in between.

use super::graph::{Condition, End, Item, Program};
use ptx_dsl_analysis::use_def::{RegKey, UseDef};
use ptx_dsl_isa::hir::Instr;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The largest weight of a part. For more, splitting the warp is cheaper.
const LIMIT: u32 = 32;

/// The facts about the program that if-conversion needs.
pub struct Facts<'a> {
    /// Does the region end with a divergent branch?
    pub is_divergent: &'a dyn Fn(usize) -> bool,
    /// Is the register live where the region begins?
    pub is_live_in: &'a dyn Fn(usize, &RegKey) -> bool,
    /// The cost of an instruction that 32 lanes compute.
    pub weight: &'a dyn Fn(&Instr) -> u32,
}

struct Converter<'p, 'm> {
    p: &'p mut Program<'m>,
    predecessors: Vec<u32>,
    weights: Vec<u32>,
    /// The region whose body continues each region. Bodies are joined when the whole is needed, so that each is moved once.
    continuation: Vec<Option<usize>>,
}

/// Converts the code after divergent branches, inner branches first. Returns whether there was any. Regions that became
/// unreachable stay until the program is normalised.
pub fn convert(p: &mut Program<'_>, facts: &Facts<'_>) -> bool {
    let n = p.regions.len();
    let weights = p.regions.iter().map(|r| r.instructions().map(facts.weight).fold(0, u32::saturating_add)).collect();
    let predecessors = p.predecessor_counts.clone();
    let mut c = Converter { p, predecessors, weights, continuation: vec![None; n] };
    // the region whose terminator each region has now
    let mut terminator: Vec<usize> = (0..n).collect();
    let mut converted = false;
    for r in (0..n).rev() {
        while (facts.is_divergent)(terminator[r]) {
            let Some(join) = c.convert_branch(r, facts) else { break };
            converted = true;
            if !c.absorb(r, join) {
                break;
            }
            terminator[r] = terminator[join];
        }
    }
    for r in 0..n {
        if c.predecessors[r] > 0 {
            c.p.regions[r].body = c.take_body(r);
        }
    }
    converted
}

impl<'m> Converter<'_, 'm> {
    /// Makes the code between the branch at the end of `r` and the join predicated. Returns the join.
    fn convert_branch(&mut self, r: usize, facts: &Facts<'_>) -> Option<usize> {
        let End::Branch { pred, taken, fall } = self.p.regions[r].end else { return None };
        if taken == fall {
            return None;
        }
        let (join, then, other) = match (self.join_behind(r, taken), self.join_behind(r, fall)) {
            (_, Some(j)) if j == taken => (j, None, Some(fall)),
            (Some(j), _) if j == fall => (j, Some(taken), None),
            (Some(a), Some(b)) if a == b => (a, Some(taken), Some(fall)),
            _ => return None,
        };
        // lanes that do not jump come first, as they do where a warp splits
        let arms = match other {
            Some(fall) => [Some(fall), then],
            None => [Some(taken), None],
        };
        let func = self.p.regions[r].func;
        let mut body = self.take_body(r);
        body.push(Item::If(Condition { operand: &pred.0, holds: pred.1 == other.is_none() }));
        let mut live = BTreeSet::new();
        for (n, arm) in arms.into_iter().flatten().enumerate() {
            if n > 0 {
                body.push(Item::Else);
            }
            let part = self.take_body(arm);
            for item in &part {
                if let Item::Instr(i) = item {
                    live.extend(UseDef::of(func, i).defs.into_iter().filter(|k| (facts.is_live_in)(join, k)));
                }
            }
            body.extend(part);
            self.weights[r] = self.weights[r].saturating_add(self.weights[arm]);
            self.p.regions[arm].end = End::Exit;
            self.predecessors[arm] = 0;
        }
        body.push(Item::EndIf(Rc::new(live)));
        self.p.regions[r].body = body;
        self.p.regions[r].end = End::Goto(join);
        self.p.regions[r].last = None;
        self.predecessors[join] -= 1;
        Some(join)
    }

    /// The successor of a region after `r` that can be converted: short, and entered from `r` alone.
    fn join_behind(&self, r: usize, arm: usize) -> Option<usize> {
        let region = &self.p.regions[arm];
        let End::Goto(join) = region.end else { return None };
        let fits = self.predecessors[arm] == 1 && self.weights[arm] <= LIMIT && region.results.is_none();
        (fits && arm != r && join != arm).then_some(join)
    }

    /// Joins `next` to `r`, which leads there, if nothing else does.
    fn absorb(&mut self, r: usize, next: usize) -> bool {
        let region = &mut self.p.regions[next];
        if self.predecessors[next] != 1 || next == r || region.is_single_block() || region.results.is_some() {
            return false;
        }
        let (end, last) = (std::mem::replace(&mut region.end, End::Exit), region.last);
        (self.p.regions[r].end, self.p.regions[r].last) = (end, last);
        self.continuation[r] = Some(next);
        self.weights[r] = self.weights[r].saturating_add(self.weights[next]);
        self.predecessors[next] = 0;
        true
    }

    /// Takes the body of a region with its continuations.
    fn take_body(&mut self, r: usize) -> Vec<Item<'m>> {
        let mut body = std::mem::take(&mut self.p.regions[r].body);
        let mut last = r;
        while let Some(next) = self.continuation[last].take() {
            body.append(&mut self.p.regions[next].body);
            last = next;
        }
        body
    }
}
