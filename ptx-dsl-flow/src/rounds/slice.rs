//! The values that others are made of.

use super::super::Flow;
use super::super::cfg::NONE;
use super::super::dataflow::Bits;
use super::super::ssa::{Val, Value};

/// Values of a slice. More than that are no counter.
const MOST: usize = 400;
/// Values that meet at a header, of which something is made.
const COUNTERS: usize = 24;

/// What values are made of, with what a loop counts.
#[derive(Default)]
pub(super) struct Slice {
    /// In ascending order.
    pub values: Vec<Val>,
    /// Those that meet at the header of the loop.
    pub counters: Vec<Val>,
}

impl Slice {
    /// `None` if that is too much.
    pub(super) fn new(flow: &Flow, header: u32, values: &[Val]) -> Option<Slice> {
        let mut counters = Vec::new();
        let mut values = walk(flow, values, &mut |v, stack| match &flow.ssa.values[v as usize] {
            Value::Phi { block, .. } if *block == header => counters.push(v),
            // Which of them it is, the branch says whose ways meet there.
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

    /// The number of a value.
    pub(super) fn number(&self, v: Val) -> Option<usize> {
        self.values.binary_search(&v).ok()
    }

    /// The number of a counter.
    pub(super) fn counter(&self, v: Val) -> Option<usize> {
        self.counters.iter().position(|c| *c == v)
    }
}

/// Is it the header of a loop?
pub(super) fn is_header(flow: &Flow, block: u32) -> bool {
    for (p, _) in &flow.cfg.blocks[block as usize].pred {
        if flow.cfg.dominates(block, *p) {
            return true;
        }
    }
    false
}

/// The headers of loops at which something meets from which these values are made.
pub(super) fn headers(flow: &Flow, values: &[Val]) -> Option<Vec<u32>> {
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

/// Values and what they are made of, each once; `see` may add to what is still to be looked at.
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
        // What is loaded is not known.
        let loads = matches!(&flow.ssa.values[v as usize],
            Value::Def { instr, old: None, .. } if flow.instr(*instr).address().is_some());
        if !loads {
            flow.ssa.push_sources(v, &mut stack);
        }
    }
    Some(out)
}
