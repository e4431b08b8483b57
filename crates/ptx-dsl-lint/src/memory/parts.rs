//! Parts of a shared array that holds several things, as dynamic shared memory does: where copies write, and where only threads do.

use crate::kernel::Kernel;
use ptx_dsl_analysis::floors::Floors;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reachable::{Query, reachable};
use ptx_dsl_isa::hir::{Arg, Base, Operand};

/// The bytes of a variable that one copy writes, each time at one of its places.
struct Filled {
    var: u32,
    /// In ascending order.
    starts: Vec<i64>,
    size: Option<i64>,
}

/// What copies write in shared variables, and lower bounds of all addresses.
pub(crate) struct Parts {
    floors: Floors,
    /// `None` if some place is unknown.
    filled: Option<Vec<Filled>>,
}

/// A copy: its instruction, its destination, its bytes if they are known.
pub(crate) struct Copy<'a> {
    pub at: u32,
    pub into: &'a Arg,
    pub size: Option<u64>,
}

impl Parts {
    /// `copies`: all that write to shared memory other than the stores of threads.
    pub(crate) fn new(kernel: &Kernel, copies: &[Copy]) -> Parts {
        Parts { floors: Floors::new(kernel.flow, kernel.provenance), filled: filled(kernel, copies) }
    }

    /// The lower bound of an address.
    pub(crate) fn floor(&self, kernel: &Kernel, at: u32, arg: &Arg) -> Option<(u32, i64)> {
        self.floors.of(kernel.flow, at, address(&arg.value)?)
    }

    /// The bytes around `offset` that no copy writes: from the end of what copies write below it to the next place above it. The bytes
    /// of a copy end at the latest where the next one begins. `None` if a copy may reach that far.
    pub(crate) fn free(&self, var: u32, offset: i64) -> Option<(i64, i64)> {
        let filled = self.filled.as_ref()?;
        let starts = || filled.iter().filter(|f| f.var == var).flat_map(|f| &f.starts).copied();
        let end = starts().filter(|start| *start > offset).min().unwrap_or(i64::MAX);
        let mut first = 0;
        for f in filled.iter().filter(|f| f.var == var) {
            // a copy always writes as many bytes
            let room = |start: &i64| starts().filter(|next| next > start).min().map(|next| next - start);
            let size = f.size.or_else(|| f.starts.iter().filter_map(room).min())?;
            let last = f.starts.iter().filter(|start| **start <= offset).max();
            first = first.max(last.map_or(0, |start| start.saturating_add(size)));
        }
        (first <= offset).then_some((first, end))
    }
}

/// An address, the first one of a list.
fn address(operand: &Operand) -> Option<&Operand> {
    match operand {
        Operand::Addresses(list) => list.first(),
        other => Some(other),
    }
}

fn filled(kernel: &Kernel, copies: &[Copy]) -> Option<Vec<Filled>> {
    let flow = kernel.flow;
    let mut queries = Vec::new();
    for copy in copies {
        let values = match address(&copy.into.value)? {
            Operand::Address(Base::Reg(r), _) => vec![flow.ssa.read(copy.at, *r, 0)],
            Operand::Reg(r, lane) => vec![flow.ssa.read(copy.at, *r, *lane)],
            _ => Vec::new(),
        };
        queries.push(Query::new(copy.at, values));
    }
    if !reachable(flow, &mut queries) {
        return None;
    }
    let mut all = Vec::new();
    for (copy, query) in copies.iter().zip(&queries) {
        let region = kernel.region(copy.at, copy.into, 0)?;
        let AddressBase::Var(var) = region.base else { return None };
        let more = match address(&copy.into.value)? {
            Operand::Address(_, offset) | Operand::VarAddr(_, offset) => *offset,
            _ => 0,
        };
        let place = |combination: &Vec<Option<u64>>| match combination.first() {
            Some(known) => Some(i64::from((*known)? as i32) + more),
            None => Some(more),
        };
        let mut starts: Vec<i64> = query.found.iter().map(place).collect::<Option<_>>()?;
        starts.sort_unstable();
        starts.dedup();
        all.push(Filled { var: var.0, starts, size: copy.size.map(|n| n as i64) });
    }
    Some(all)
}
