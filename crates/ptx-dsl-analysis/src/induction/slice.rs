//! Backward slices: all values that some values depend on, with the loop counters among them.

use crate::cfg::NONE;
use crate::dataflow::Bits;
use crate::flow::Flow;
use crate::ssa::{Val, Value};

/// Values of a slice. Larger expressions are not index arithmetic.
const MOST: usize = 400;
/// Counters of a slice.
const COUNTERS: usize = 24;

/// A backward slice, with the counters of a loop.
#[derive(Default)]
pub struct Slice {
    /// In ascending order.
    pub values: Vec<Val>,
    /// The phis at the header of the loop.
    pub counters: Vec<Val>,
}

impl Slice {
    /// `None` if it is too large.
    pub fn new(flow: &Flow, header: u32, values: &[Val]) -> Option<Slice> {
        let mut counters = Vec::new();
        let mut values = walk(flow, values, &mut |v, stack| match &flow.ssa.values[v as usize] {
            Value::Phi { block, .. } if *block == header => counters.push(v),
            // The branch above the join selects the argument.
            Value::Phi { block, .. } => {
                let up = flow.cfg.idom[*block as usize];
                if up != NONE
                    && let Some(branch) = flow.cfg.branch(up)
                    && let Some((p, _)) = flow.guard(branch)
                {
                    stack.push(p);
                }
            }
            _ => {}
        })?;
        values.sort_unstable();
        (counters.len() <= COUNTERS).then_some(Slice { values, counters })
    }

    /// The index of a value.
    pub fn number(&self, v: Val) -> Option<usize> {
        self.values.binary_search(&v).ok()
    }

    /// The index of a counter.
    pub fn counter(&self, v: Val) -> Option<usize> {
        self.counters.iter().position(|c| *c == v)
    }
}

/// Is it the header of a loop?
pub fn is_header(flow: &Flow, block: u32) -> bool {
    flow.cfg.blocks[block as usize].pred.iter().any(|(p, _)| flow.cfg.dominates(block, *p))
}

/// The headers of the loops whose counters these values depend on.
pub fn headers(flow: &Flow, values: &[Val]) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    walk(flow, values, &mut |v, _| {
        if let Value::Phi { block, .. } = &flow.ssa.values[v as usize]
            && is_header(flow, *block)
            && !found.contains(block)
        {
            found.push(*block);
        }
    })?;
    Some(found)
}

/// The values and all that they depend on. `see` may push further values.
fn walk(flow: &Flow, values: &[Val], see: &mut dyn FnMut(Val, &mut Vec<Val>)) -> Option<Vec<Val>> {
    let mut seen = Bits::none(flow.ssa.values.len());
    let mut out = Vec::new();
    let mut stack = values.to_vec();
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.has(v as usize) {
            continue;
        }
        seen.set(v as usize);
        out.push(v);
        if out.len() > MOST {
            return None;
        }
        see(v, &mut stack);
        // Loaded values are unknown, whatever their address.
        let loads = matches!(&flow.ssa.values[v as usize],
            Value::Def { instr, old: None, .. } if flow.instr(*instr).address().is_some());
        if !loads {
            flow.ssa.push_sources(v, &mut stack);
        }
    }
    Some(out)
}
