//! The calls that lead to a faulty instruction, for the report, on either engine.
//!
//! The return address of a function is a value of each lane. A call of a recursive function saves the caller's values on the stack of the
//! thread, from which they are taken here again, from the innermost call on.

use crate::fault::At;
use crate::machine::geometry::Geometry;
use ptx_dsl_isa::image::{Callee, End, Image, Region, RegionId};
use rustc_hash::FxHashMap;

/// Calls that a report names.
const MOST: usize = 8;

/// A call in an image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'i> {
    pub site: u32,
    /// The region that ends with the call.
    region: usize,
    /// The function that is called, or one of several.
    pub callee: &'i Callee,
}

/// The calls of a thread, as an engine knows them.
pub(super) trait Activations {
    /// The value that a function returns to: the engine compares it with those of calls.
    fn return_value(&self, function: &Callee) -> u64;
    /// Is this the call that returns there?
    fn is_call(&self, call: &Call<'_>, return_value: u64) -> bool;
    /// The values that calls of recursive functions have saved, the innermost last.
    fn saved(&self) -> &[u64];
    /// How many values a call saves for its caller, and which of them is the value that the caller returns to.
    fn saves(&self, call: &Call<'_>, caller: Option<&Callee>) -> (usize, Option<usize>);
}

/// The calls that lead a thread to a statement, the innermost first, and the number of those for which a report has no room.
pub(super) fn callers(
    image: &Image,
    geometry: &Geometry<'_>,
    site: u32,
    activations: &impl Activations,
) -> (Vec<At>, usize) {
    let (mut calls, mut count) = (Vec::new(), 0);
    let mut saved = activations.saved();
    // no call is without a region, or values on the stack
    let limit = MOST + saved.len() + image.regions.len();
    let (mut functions, mut known_calls) = (FxHashMap::default(), FxHashMap::default());
    // what functions return to that have been entered again since
    let mut restored: FxHashMap<RegionId, u64> = FxHashMap::default();
    let mut function_at =
        |region: usize| -> Option<&Callee> { *functions.entry(region).or_insert_with(|| function_of(image, region)) };
    let mut function = image.regions.iter().position(|region| has(region, site)).and_then(&mut function_at);
    while let Some(own) = function
        && count < limit
    {
        let back = restored.get(&own.start).copied().unwrap_or_else(|| activations.return_value(own));
        let is_call = |call: &Call<'_>| call.callee.start == own.start && activations.is_call(call, back);
        let found = known_calls.entry((back, own.start)).or_insert_with(|| all_calls(image).find(is_call));
        let Some(call) = *found else { break };
        if count < MOST {
            calls.extend(geometry.at(call.site));
        }
        count += 1;
        if call.callee.arguments.frame.is_some() {
            saved = &saved[..saved.len().saturating_sub(1)];
        }
        let caller = function_at(call.region);
        if call.callee.arguments.saves.is_some() {
            let (values, address) = activations.saves(&call, caller);
            let (rest, values) = saved.split_at(saved.len().saturating_sub(values));
            saved = rest;
            if let (Some(caller), Some(value)) = (caller, address.and_then(|at| values.get(at))) {
                restored.insert(caller.start, *value);
            }
        }
        function = caller;
    }
    (calls, count.saturating_sub(MOST))
}

/// Each call with its statement.
fn all_calls(image: &Image) -> impl Iterator<Item = Call<'_>> {
    image.regions.iter().enumerate().flat_map(|(number, region)| {
        let (site, callees) = match &region.end {
            End::Call { site, callees, .. } => (*site, &callees[..]),
            _ => (0, &[][..]),
        };
        callees.iter().map(move |callee| Call { site, region: number, callee })
    })
}

/// Is the statement in the region?
fn has(region: &Region, site: u32) -> bool {
    region.instructions().any(|instr| instr.site == site)
}

/// The function to which a region belongs, as a call has it. `None` for the kernel.
fn function_of(image: &Image, region: usize) -> Option<&Callee> {
    all_calls(image).map(|call| call.callee).find(|callee| reaches(image, callee.start, region))
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
