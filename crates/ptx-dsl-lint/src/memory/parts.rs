//! Parts of a shared array that holds several things, as dynamic shared memory does: where copies write, and where only threads do.

use crate::kernel::Kernel;
use ptx_dsl_analysis::floors::Floors;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reachable::{Query, reachable};
use ptx_dsl_analysis::sources::{Source, all_sources};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand};
use ptx_dsl_isa::isa::Proxy;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

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

/// Writes shared memory by the async proxy.
pub(super) fn writes_async(i: &Instr) -> bool {
    let effects = i.entry.effects;
    let stores = effects.asynchronous && effects.memory.stores();
    let into_shared = stores && matches!(effects.proxy, Proxy::Generic | Proxy::Async);
    ((i.operand("dstMem").is_some() || into_shared) && !i.has(q::bulk_group)) || i.opcode == op::st_bulk
}

/// The destination of a write through the async proxy.
pub(super) fn target(i: &Instr) -> Option<&Arg> {
    for name in ["dstMem", "addr", "a"] {
        if let Some(arg) = i.operand(name) {
            return Some(arg);
        }
    }
    None
}

impl Parts {
    /// The parts of all shared variables of the kernel.
    pub(crate) fn new(kernel: &Kernel) -> Parts {
        Parts { floors: Floors::new(kernel.flow, kernel.provenance), filled: filled(kernel) }
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

/// The register in an address.
fn register(kernel: &Kernel, at: u32, arg: &Arg) -> Option<Val> {
    match address(&arg.value)? {
        Operand::Address(Base::Reg(r), _) => Some(kernel.flow.ssa.read(at, *r, 0)),
        Operand::Reg(r, lane) => Some(kernel.flow.ssa.read(at, *r, *lane)),
        _ => None,
    }
}

/// Is an address the same each time that a thread comes to the instruction?
pub(crate) fn is_steady(kernel: &Kernel, at: u32, arg: &Arg) -> bool {
    let joins = |_: Val, value: &Value| if matches!(value, Value::Phi { .. }) { Source::No } else { Source::Go };
    register(kernel, at, arg).is_none_or(|v| all_sources(kernel.flow, v, 64, &joins))
}

fn filled(kernel: &Kernel) -> Option<Vec<Filled>> {
    let flow = kernel.flow;
    let mut queries = Vec::new();
    for (_, at, _) in flow.walk().filter(|(_, _, i)| writes_async(i)) {
        let into = target(flow.instr(at))?;
        queries.push(Query::new(at, register(kernel, at, into).into_iter().collect()));
    }
    if !reachable(flow, &mut queries) {
        return None;
    }
    let mut all = Vec::new();
    for query in &queries {
        let i = flow.instr(query.at);
        let into = target(i)?;
        let AddressBase::Var(var) = kernel.region(query.at, into, 0)?.base else { return None };
        let more = match address(&into.value)? {
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
        all.push(Filled { var: var.0, starts, size: i.constant("size").map(|n| n as i64) });
    }
    Some(all)
}
