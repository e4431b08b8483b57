//! Trails: regions that a whole warp runs one after the other, without going back to where its next one is looked up.

use super::regions::{End, Program, ending};
use super::{Emit, function_of};
use ptx_dsl_isa::hir::{Instr, Operand};
use std::collections::BTreeSet;

/// Regions that a whole warp runs in a row, at most: each of them has an arm with those that follow it.
const TRAIL: usize = 32;

impl<'m> Emit<'m> {
    /// Where trails begin: at regions that are in no other one, and behind the first wait of those, where a warp goes on that had to
    /// wait there. With one at each region a row of `n` instructions that want the whole warp would be `n * n` of them.
    pub fn find_trails(&mut self, program: &Program<'m>) {
        let mut inside = BTreeSet::new();
        for pc in 0..program.regions.len() {
            if inside.contains(&pc) {
                continue;
            }
            let trail = self.longest_trail(program, pc);
            if trail.len() > 1 {
                self.trails.insert(pc);
            }
            let mut waits = 0;
            for pair in trail.windows(2) {
                let waited = match program.regions[pair[0]].end {
                    End::Block { .. } => true,
                    End::Goto(_) => false,
                    // what follows is the end
                    _ => break,
                };
                waits += u32::from(waited);
                if waited && waits == 1 {
                    self.trails.insert(pair[1]);
                }
                inside.insert(pair[1]);
            }
        }
    }

    /// The regions that follow each other from `pc` on for a warp that is whole, if it is where they begin.
    pub fn trail(&self, program: &Program<'m>, pc: usize) -> Vec<usize> {
        if self.trails.contains(&pc) { self.longest_trail(program, pc) } else { vec![pc] }
    }

    fn longest_trail(&self, program: &Program<'m>, pc: usize) -> Vec<usize> {
        let mut trail = vec![pc];
        loop {
            let last = trail[trail.len() - 1];
            let next = match &program.regions[last].end {
                End::Goto(t) => *t,
                End::Block { next, .. } => *next,
                _ => break,
            };
            let region = &program.regions[next];
            let one_way = program.ways.get(next) == Some(&1);
            let fits = match &region.end {
                End::Block { instr, .. } => everybody(instr) && region.body.is_empty(),
                _ => matches!(program.regions[last].end, End::Block { .. }) && region.results.is_none(),
            };
            let parts = |r: usize| self.classes.parted.get(r) == Some(&true);
            let parts = !parts(pc) && parts(next) && !matches!(region.end, End::Block { .. });
            if !one_way || !fits || parts || trail.len() == TRAIL || trail.contains(&next) {
                break;
            }
            trail.push(next);
        }
        // it ends with a region that can end
        if matches!(program.regions[trail[trail.len() - 1]].end, End::Block { .. }) {
            trail.pop();
        }
        if trail.len() > 1 {
            trail.extend_from_slice(&ending(program, trail[trail.len() - 1])[1..]);
        }
        trail
    }
}

/// Is it an instruction that needs the whole warp, and no more of it than to be there?
fn everybody(instr: &Instr) -> bool {
    let function = function_of(instr.entry.opcode, instr);
    let warp = ["shfl_sync", "vote_sync", "redux_sync", "elect_sync", "bar_warp_sync"];
    let all = |o: &Operand| matches!(o, Operand::Imm(m) if *m as u32 == u32::MAX);
    (warp.contains(&function.as_str()) || function.starts_with("match"))
        && instr.pred.is_none()
        && instr.operands.last().is_some_and(|m| all(&m.value))
}
