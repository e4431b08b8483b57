//! Traces: regions that a whole warp runs one after the other, without dispatch between them.

use super::builder::StepBuilder;
use ptx_dsl_image::instr::needs_full_warp_only;
use ptx_dsl_image::region::chains::exit_chain;
use ptx_dsl_image::region::graph::End;
use std::collections::BTreeSet;

/// The most regions of a trace: each of them has an arm with those that follow it.
const LONGEST: usize = 32;

impl StepBuilder<'_, '_> {
    /// Finds where traces begin: at regions that are in no other one, and after the first blocking instruction of those, where a
    /// warp goes on that had to wait there. A trace at each region would make the code quadratic in the number of instructions that
    /// need the whole warp.
    pub fn find_traces(&mut self) {
        let mut inside = BTreeSet::new();
        for r in 0..self.p.regions.len() {
            if inside.contains(&r) {
                continue;
            }
            let trace = self.longest_trace(r);
            if trace.len() > 1 {
                self.trace_heads.insert(r);
            }
            let mut waits = 0;
            for pair in trace.windows(2) {
                let blocks = match self.p.regions[pair[0]].end {
                    End::Block { .. } => true,
                    End::Goto(_) => false,
                    // the exit chain follows
                    _ => break,
                };
                waits += u32::from(blocks);
                if blocks && waits == 1 {
                    self.trace_heads.insert(pair[1]);
                }
                inside.insert(pair[1]);
            }
        }
    }

    /// The trace from a region on, or the region alone if none begins there.
    pub fn trace(&self, r: usize) -> Vec<usize> {
        if self.trace_heads.contains(&r) { self.longest_trace(r) } else { vec![r] }
    }

    fn longest_trace(&self, first: usize) -> Vec<usize> {
        let p = self.p;
        let mut trace = vec![first];
        let mut last = first;
        while let End::Goto(next) | End::Block { next, .. } = p.regions[last].end {
            let region = &p.regions[next];
            let fits = match region.blocking() {
                Some(instr) => needs_full_warp_only(instr) && region.body.is_empty(),
                None => p.regions[last].blocking().is_some() && region.results.is_none(),
            };
            let diverges = |r| self.e.layout.is_divergent(r);
            let leaves_step = !diverges(first) && diverges(next) && region.blocking().is_none();
            let one_way = p.predecessor_counts[next] == 1;
            if !one_way || !fits || leaves_step || trace.len() == LONGEST || trace.contains(&next) {
                break;
            }
            trace.push(next);
            last = next;
        }
        // it does not end with a blocking instruction
        if p.regions[last].blocking().is_some() {
            trace.pop();
        }
        if let [_, .., last] = trace[..] {
            trace.extend_from_slice(&exit_chain(p, last)[1..]);
        }
        trace
    }
}
