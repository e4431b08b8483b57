//! The values from which a value is computed.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::ssa::{Val, Value};

/// The decision of a search about one source of a value.
pub enum Source {
    /// The search goes on to the operands of this source.
    Go,
    /// The source fits as it is.
    Fits,
    /// The source does not fit, and the search ends.
    No,
}

/// Are all values fine from which `v` is computed? With them are the conditions that choose between the arguments of a phi. Not if they
/// are more than `most`.
pub fn all_sources(flow: &Flow, v: Val, most: usize, of: &dyn Fn(Val, &Value) -> Source) -> bool {
    let mut seen = Vec::new();
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        let value = &flow.ssa.values[v as usize];
        match of(v, value) {
            Source::Fits => continue,
            Source::Go if seen.len() <= most => flow.ssa.push_sources(v, &mut stack),
            Source::Go | Source::No => return false,
        }
        if let Value::Phi { block, .. } = value {
            push_conditions(flow, *block, &mut stack);
        }
    }
    true
}

/// The conditions of all branches between the immediate dominator of a block and the block.
fn push_conditions(flow: &Flow, block: u32, out: &mut Vec<Val>) {
    let above = flow.cfg.idom[block as usize];
    if above == NONE {
        return;
    }
    let reaches = flow.cfg.blocks_reaching([block]);
    for &b in flow.cfg.rpo.iter().filter(|b| reaches[**b as usize] && flow.cfg.dominates(above, **b)) {
        let Some(branch) = flow.cfg.branch(b) else { continue };
        match flow.guard(branch) {
            Some((p, _)) => out.push(p),
            None => out.extend(flow.ssa.uses(branch).iter().map(|(_, v)| *v)),
        }
    }
}
