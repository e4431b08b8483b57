//! `tcgen05.ld` (PTX ISA 9.7.16.8): its registers and its columns before `tcgen05.wait::ld`.
//!
//! ptxas tracks each load with a scoreboard, so the first instruction that reads one of its registers waits for it. A read before the
//! wait is therefore against the manual, but works. Two things go wrong without such a read: a second load that writes the registers,
//! and columns that are deallocated or written by another thread.

use crate::errors::{protocol, tensor_memory as errors};
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr_some_every};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::Region;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Instr, VarId};
use ptx_dsl_isa::isa::{Barrier, Tensor};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.cfg.any(&|i| i.entry.effects.tensor == Tensor::Load) {
        let loads = Loads::new(flow);
        loads.check(kernel);
    }
}

/// The loads of a kernel.
struct Loads {
    /// By number: the instruction.
    at: Vec<u32>,
    /// By instruction: the number of the load, or [`NONE`].
    number: Vec<u32>,
    /// Variables that loads write, with the number of the load, in ascending order.
    written: Vec<(u32, u32)>,
}

/// Limit of reported early reads in one kernel.
const SHOWN: usize = 4;

/// Values that are followed back to a load at most.
const MOST_JOINED: usize = 16;

impl Loads {
    fn new(flow: &Flow) -> Loads {
        let mut loads = Loads { at: Vec::new(), number: vec![NONE; flow.cfg.instrs.len()], written: Vec::new() };
        for (_, at, i) in flow.walk() {
            if i.entry.effects.tensor == Tensor::Load {
                let k = loads.at.len() as u32;
                loads.number[at as usize] = k;
                loads.at.push(at);
                loads.written.extend(flow.ssa.defs(at).iter().map(|(var, _)| (*var, k)));
            }
        }
        loads.written.sort_unstable();
        loads
    }

    /// The loads that write a variable.
    fn of(&self, var: u32) -> impl Iterator<Item = usize> {
        let first = self.written.partition_point(|(v, _)| *v < var);
        self.written[first..].iter().take_while(move |(v, _)| *v == var).map(|(_, k)| *k as usize)
    }

    /// The transfer function. Bit `k`: load `k` has not been waited for; bit `n + k`: and no instruction has read its registers.
    fn step(&self, flow: &Flow, at: u32, i: &Instr, set: &mut Bits, every: bool) {
        let n = self.at.len();
        if wait_ld(i) || i.opcode == op::call {
            set.clear();
            return;
        }
        for (var, _) in reads(flow, at, i) {
            for k in self.of(*var) {
                set.unset(n + k);
            }
        }
        let k = self.number[at as usize] as usize;
        if k < n {
            let runs = !every || i.pred.is_none();
            set.put(k, runs);
            set.put(n + k, runs);
        }
    }

    fn check(&self, kernel: &Kernel) {
        let flow = kernel.flow;
        let n = self.at.len();
        let one_allocation = flow.cfg.instrs.iter().filter(|i| i.entry.effects.tensor == Tensor::Alloc).count() == 1;
        let mut early: Vec<Diagnostic> = Vec::new();
        let (mut read, mut reloaded, mut released) = (Bits::none(n), Bits::none(n), false);
        let step = |at: u32, i: &Instr, set: &mut Bits, every: bool| self.step(flow, at, i, set, every);
        for_each_instr_some_every(&flow.cfg, 2 * n, &step, &mut |at, i, some, every| {
            for (var, value) in reads(flow, at, i) {
                let Some(load) = made_by(flow, *value) else { continue };
                let k = self.number[load as usize] as usize;
                if k < n && some.has(k) && !read.has(k) {
                    read.set(k);
                    let (place, name) = (flow.operand_span(i, *var), flow.register_name(*var));
                    early.push(errors::load_not_awaited(place, name, flow.instr(load).span, every.has(k)));
                }
            }
            if i.entry.effects.tensor == Tensor::Load {
                for (var, _) in flow.ssa.defs(at) {
                    for k in self.of(*var).filter(|k| some.has(n + *k)) {
                        if !reloaded.has(k) {
                            reloaded.set(k);
                            let first = flow.instr(self.at[k]).span;
                            kernel.report(errors::loaded_again(
                                i.span,
                                flow.register_name(*var),
                                first,
                                every.has(n + k),
                            ));
                        }
                    }
                }
            } else if let Some(arg) = i.operand("taddr")
                && i.entry.effects.tensor == Tensor::Dealloc
                && !released
                && let Some(k) = (0..n).find(|k| some.has(n + k) && self.read_behind(flow, *k, at))
            {
                released = true;
                let sure = every.has(n + k) && one_allocation;
                kernel.report(errors::released_while_loading(arg.span, flow.instr(self.at[k]).span, sure));
            }
        });
        self.arrivals(kernel);
        let more = early.len().saturating_sub(SHOWN);
        early.truncate(SHOWN);
        if let Some(last) = early.last_mut().filter(|_| more > 0) {
            last.notes.push(format!("registers of {more} more loads of this kernel are read before the wait"));
        }
        early.into_iter().for_each(|finding| kernel.report(finding));
    }

    /// Does a later instruction read the result of load `k`? An unused result may be anything.
    fn read_behind(&self, flow: &Flow, k: usize, at: u32) -> bool {
        let block = flow.cfg.block_of(at);
        let behind = flow.cfg.reachable_from([block]);
        flow.walk().any(|(b, reader, i)| {
            (behind[b as usize] || b == block && reader > at)
                && reads(flow, reader, i).iter().any(|(_, v)| made_by(flow, *v) == Some(self.at[k]))
        })
    }

    /// An arrival lets waiting threads go on. If they then write Tensor Memory, they may overwrite columns that are still being
    /// loaded (9.7.16.6.4).
    fn arrivals(&self, kernel: &Kernel) {
        let flow = kernel.flow;
        if flow.calls || !flow.cfg.has(op::mbarrier_arrive) {
            return;
        }
        let releases = Releases::new(kernel);
        if releases.waits.is_empty() {
            return;
        }
        let n = self.at.len();
        let mut reported = false;
        let step = |at: u32, i: &Instr, set: &mut Bits, every: bool| self.step(flow, at, i, set, every);
        for_each_instr_some_every(&flow.cfg, 2 * n, &step, &mut |at, i, some, every| {
            if reported || i.opcode != op::mbarrier_arrive || i.has(q::expect_tx) {
                return;
            }
            let Some(object) = kernel.region_of(at, "addr", 8) else { return };
            for k in (0..n).filter(|k| some.has(n + k)) {
                let overlap = releases.overlap(flow, &object, self.at[k]);
                if overlap != Overlap::No {
                    reported = true;
                    let sure = overlap == Overlap::Yes && every.has(n + k);
                    kernel.report(protocol::arrives_while_loading(i.span, flow.instr(self.at[k]).span, sure));
                    return;
                }
            }
        });
    }
}

fn wait_ld(i: &Instr) -> bool {
    i.entry.effects.tensor == Tensor::Wait && i.has(q::ld)
}

/// Is it a synthetic `mov` of inlining?
fn moved(i: &Instr) -> bool {
    i.index == u32::MAX && i.opcode == op::mov && i.pred.is_none()
}

/// The values that an instruction of the text reads.
fn reads<'f>(flow: &'f Flow, at: u32, i: &Instr) -> &'f [(u32, Val)] {
    if moved(i) { &[] } else { flow.ssa.uses(at) }
}

/// The instruction that made a value, through synthetic moves. Where its guard fails, an instruction leaves the old value. Paths that
/// meet must agree.
fn made_by(flow: &Flow, v: Val) -> Option<u32> {
    let (mut made, mut seen, mut stack) = (None, Vec::new(), vec![v]);
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        if seen.len() >= MOST_JOINED {
            return None;
        }
        seen.push(v);
        match &flow.ssa.values[v as usize] {
            Value::Phi { args, .. } => stack.extend(args.iter()),
            Value::Def { instr, old, .. } => {
                let i = flow.instr(*instr);
                let source = flow.ssa.uses(*instr).first().filter(|_| moved(i)).map(|(_, source)| *source);
                match source.or(old.filter(|_| i.entry.effects.tensor != Tensor::Load)) {
                    Some(before) => stack.push(before),
                    None if made.is_some_and(|other| other != *instr) => return None,
                    None => made = Some(*instr),
                }
            }
            _ => return None,
        }
    }
    made
}

/// Waits on mbarriers after which a thread writes Tensor Memory before the next barrier of the CTA.
struct Releases {
    waits: Vec<(Region, Vec<u32>)>,
    /// Variables that hold mbarriers and nothing else.
    barriers: Vec<VarId>,
}

impl Releases {
    fn new(kernel: &Kernel) -> Releases {
        let flow = kernel.flow;
        let mut releases = Releases { waits: Vec::new(), barriers: Vec::new() };
        for (block, at, i) in flow.walk() {
            if mbarrier_wait(i)
                && let Some(on) = kernel.region_of(at, "addr", 8)
                && let AddressBase::Var(var) = on.base
            {
                if !releases.barriers.contains(&var) && holds_barriers(kernel, var) {
                    releases.barriers.push(var);
                }
                let writes = writes_behind(flow, block, at);
                if !writes.is_empty() {
                    releases.waits.push((on, writes));
                }
            }
        }
        releases
    }

    /// Does an arrival on `object` let a thread write the columns that the instruction `load` reads?
    fn overlap(&self, flow: &Flow, object: &Region, load: u32) -> Overlap {
        let AddressBase::Var(var) = object.base else { return Overlap::No };
        let mut most = Overlap::No;
        for (on, writes) in &self.waits {
            let certain = on.overlaps(flow, object);
            // Objects of a ring have computed addresses; objects in one array belong together.
            let computed = on.base == object.base && on.bytes.is_none() && object.bytes.is_none();
            if certain || computed && self.barriers.contains(&var) {
                let most_here = writes.iter().map(|write| overlap(flow, load, *write)).max().unwrap_or(Overlap::No);
                most = most.max(if certain { most_here } else { most_here.min(Overlap::Perhaps) });
            }
        }
        most
    }
}

/// Do two instructions access the same columns?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Overlap {
    No,
    Perhaps,
    Yes,
}

/// Is the variable used for mbarriers only?
fn holds_barriers(kernel: &Kernel, var: VarId) -> bool {
    let flow = kernel.flow;
    let here = |r: Option<Region>| matches!(r, Some(r) if r.base == AddressBase::Var(var));
    let dynamic = flow.module.vars.get(var.0 as usize).is_none_or(|v| v.is_open());
    !dynamic
        && !flow.walk().any(|(_, at, i)| match plain_access(i) {
            Some((arg, _)) => here(kernel.region(at, arg, i.bytes())),
            None => here(kernel.region_of(at, "dstMem", 0)) || here(kernel.region_of(at, "srcMem", 0)),
        })
}

/// Writes of Tensor Memory that are reachable from a wait without a barrier.
fn writes_behind(flow: &Flow, block: u32, at: u32) -> Vec<u32> {
    let mut writes = Vec::new();
    let mut seen = vec![false; flow.cfg.blocks.len()];
    let mut stack = vec![(block, at + 1)];
    while let Some((block, first)) = stack.pop() {
        let met = (first..flow.cfg.range(block).end).any(|at| {
            let entry = flow.instr(at).entry;
            if matches!(entry.effects.tensor, Tensor::Mma | Tensor::Copy | Tensor::Store | Tensor::Dealloc) {
                writes.push(at);
            }
            entry.effects.barrier != Barrier::None
        });
        if met || writes.len() > 64 {
            continue;
        }
        for e in &flow.cfg.blocks[block as usize].succ {
            if !std::mem::replace(&mut seen[e.to as usize], true) {
                stack.push((e.to, flow.cfg.range(e.to).start));
            }
        }
    }
    writes
}

/// Does a write touch the columns of a load? Known if both addresses are the same value and constants.
fn overlap(flow: &Flow, load: u32, write: u32) -> Overlap {
    let address = |at: u32| {
        let i = flow.instr(at);
        let arg = i.operand("taddr").or_else(|| i.operand("d-tmem"))?;
        ptx_dsl_analysis::region::columns(flow, at, &arg.value)
    };
    if flow.instr(write).entry.effects.tensor == Tensor::Dealloc {
        let allocations = flow.cfg.instrs.iter().filter(|i| i.entry.effects.tensor == Tensor::Alloc).count();
        return if allocations == 1 { Overlap::Yes } else { Overlap::Perhaps };
    }
    let (Some((x, first)), Some((y, second))) = (address(load), address(write)) else { return Overlap::Perhaps };
    // A load reads at least one column for each register, and at most four.
    let registers = flow.ssa.defs(load).len() as i64;
    match second.checked_sub(first) {
        Some(distance) if x == y && (0..registers).contains(&distance) => Overlap::Yes,
        Some(distance) if x == y && distance >= 4 * registers => Overlap::No,
        _ => Overlap::Perhaps,
    }
}
