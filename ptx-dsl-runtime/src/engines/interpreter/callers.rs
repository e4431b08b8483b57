//! The calls that lead to a faulty instruction, for the report.
//!
//! The return address of a function is a register of each lane. A call of a recursive function saves the caller's registers on the stack
//! of the thread, from which they are taken here again, from the innermost call on.

use super::runner::Runner;
use crate::fault::{At, ThreadId};
use ptx_dsl_isa::image::{Callee, End, Image, Region, RegionId, Register};
use rustc_hash::FxHashMap;

/// Calls that a report names.
const MOST: usize = 8;

impl Runner<'_, '_> {
    /// The calls that lead a thread of the CTA to a statement, the innermost first, and the number of those for which a report has no room.
    pub fn callers(&self, site: u32, thread: ThreadId) -> (Vec<At>, usize) {
        let (mut calls, mut count) = (Vec::new(), 0);
        let (image, lane) = (self.image, thread.lane as usize & 31);
        let warp = thread.warp as usize;
        let Some(leader) = warp.checked_sub(self.lo).map(|k| self.leader(k)) else { return (calls, 0) };
        let mut saved = self.registers.stacks.get(warp * 32 + lane).map_or(&[][..], |stack| &stack.saved);
        // no call is without a region, or values on the stack
        let limit = MOST + saved.len() + image.regions.len();
        let (mut functions, mut callees) = (FxHashMap::default(), FxHashMap::default());
        // what callers' registers hold, where callees have others
        let mut restored: FxHashMap<Register, u64> = FxHashMap::default();
        let mut region = image.regions.iter().position(|region| has(region, site));
        while let Some(function) =
            region.and_then(|region| *functions.entry(region).or_insert_with(|| function_of(image, region)))
            && count < limit
        {
            let address = function.return_address;
            let held = || self.registers.lanes(leader, address, warp)[lane];
            let back = restored.get(&address).copied().unwrap_or_else(held);
            let called =
                |(_, callee): &(u32, &Callee)| u64::from(callee.back) == back && callee.start == function.start;
            let known = callees.entry((back, function.start)).or_insert_with(|| all_calls(image).find(called));
            let Some((site, callee)) = *known else { break };
            if count < MOST {
                calls.extend(self.x.geometry.at(site));
            }
            count += 1;
            if callee.arguments.frame.is_some() {
                saved = &saved[..saved.len().saturating_sub(1)];
            }
            let registers =
                callee.arguments.saves.and_then(|n| image.saved.get(n as usize)).map_or(&[][..], Vec::as_slice);
            let (rest, values) = saved.split_at(saved.len().saturating_sub(registers.len()));
            saved = rest;
            restored.extend(registers.iter().copied().zip(values.iter().copied()));
            region = Some(usize::from(callee.back));
        }
        (calls, count.saturating_sub(MOST))
    }
}

/// Each call with its statement.
fn all_calls(image: &Image) -> impl Iterator<Item = (u32, &Callee)> {
    image.regions.iter().flat_map(|region| {
        let (site, callees) = match &region.end {
            End::Call { site, callees, .. } => (*site, &callees[..]),
            _ => (0, &[][..]),
        };
        callees.iter().map(move |callee| (site, callee))
    })
}

/// Is the statement in the region?
fn has(region: &Region, site: u32) -> bool {
    region.instructions().any(|instr| instr.site == site)
}

/// The function to which a region belongs, as a call has it. `None` for the kernel.
fn function_of(image: &Image, region: usize) -> Option<&Callee> {
    all_calls(image).map(|(_, callee)| callee).find(|callee| reaches(image, callee.start, region))
}

/// Whether the function that begins with region `start` contains the other region.
fn reaches(image: &Image, start: RegionId, region: usize) -> bool {
    let mut seen = vec![false; image.regions.len()];
    let mut open = vec![start];
    while let Some(next) = open.pop() {
        let next = usize::from(next);
        if next == region {
            return true;
        }
        let Some(of) = image.regions.get(next).filter(|_| !std::mem::replace(&mut seen[next], true)) else { continue };
        match &of.end {
            End::Goto { to } => open.push(*to),
            End::Branch { taken, fall, .. } => open.extend([*taken, *fall]),
            End::Switch { targets, .. } => open.extend(targets),
            End::Block { next, .. } => open.push(*next),
            End::Call { callees, .. } => open.extend(callees.iter().map(|callee| callee.back)),
            End::Return { .. } | End::Exit {} => {}
        }
    }
    false
}
