//! Registers that are read before anything has written them (PTX ISA 5.1.1), the sums of matrix instructions among them.

use crate::errors::{flow as errors, tensor_memory};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::induction::Induction;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::paths::{Paths, Step};
use ptx_dsl_analysis::ssa::UNDEF;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Group, Mbarrier, Role, Step as GroupStep, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::span::Span;

/// Findings in one function.
const MOST: usize = 20;

/// Registers that are read but written on no path, or not on some feasible path. ptxas accepts them with any value.
pub(crate) fn check(flow: &Flow, lanes: &Lanes) -> Vec<Diagnostic> {
    let mut found = Found { flow, variables: Vec::new(), list: Vec::new() };
    never(&mut found);
    let writes = Writes::new(flow);
    let loops = Loops::new(&flow.cfg);
    sums(&mut found, &loops, &writes);
    let maybe = flow.ssa.maybe_undefined();
    if maybe.iter().skip(1).any(|may| *may) {
        first_time(&mut found, &maybe, &writes);
        on_some_path(&mut found, lanes, &maybe, &writes);
    }
    tensor_memory(&mut found, &loops);
    found.list
}

/// The findings of a function, one for each variable.
struct Found<'f, 'h> {
    flow: &'f Flow<'h>,
    variables: Vec<u32>,
    list: Vec<Diagnostic>,
}

impl Found<'_, '_> {
    fn has(&self, variable: u32) -> bool {
        self.variables.contains(&variable)
    }

    fn add(&mut self, variable: u32, span: Span, when: errors::Unwritten) {
        if !self.has(variable) && self.variables.len() < MOST {
            self.variables.push(variable);
            self.list.push(errors::unwritten(span, self.flow.register_name(variable), when));
        }
    }
}

/// By variable: the instructions that write it.
struct Writes(Vec<Vec<u32>>);

impl Writes {
    fn new(flow: &Flow) -> Writes {
        let mut all: Vec<Vec<u32>> = Vec::new();
        for (_, at, _) in flow.walk() {
            for (variable, _) in flow.ssa.defs(at) {
                let variable = *variable as usize;
                if all.len() <= variable {
                    all.resize(variable + 1, Vec::new());
                }
                all[variable].push(at);
            }
        }
        Writes(all)
    }

    fn of(&self, variable: u32) -> &[u32] {
        self.0.get(variable as usize).map_or(&[], Vec::as_slice)
    }

    /// Do all writes of a variable come only after this instruction, or are they its own?
    fn all_follow(&self, flow: &Flow, variable: u32, block: u32, at: u32) -> bool {
        self.of(variable).iter().all(|write| {
            let of = flow.cfg.block_of(*write);
            if of == block { *write >= at } else { flow.cfg.dominates(block, of) }
        })
    }
}

/// Registers that nothing writes before they are read, on any path.
fn never(found: &mut Found) {
    let flow = found.flow;
    for (_, at, i) in flow.walk() {
        if may_read_undefined(flow, at, i) {
            continue;
        }
        for (variable, v) in flow.ssa.uses(at) {
            if flow.origin(*v) == UNDEF {
                found.add(*variable, flow.operand_span(i, *variable), errors::Unwritten::Never);
            }
        }
    }
}

/// The sums of a `wgmma` that adds to them, if no instruction before the first one has written them. The sums are its destination.
fn sums(found: &mut Found, loops: &Loops, writes: &Writes) {
    let flow = found.flow;
    for (block, at, i) in flow.walk() {
        if i.entry.effects.group != Group::Wgmma(GroupStep::Start) || i.pred.is_some() {
            continue;
        }
        let Some(sums) =
            i.operands.iter().find(|a| a.role == Role::Dst).filter(|_| adds(flow, loops, block, at, "scale-d"))
        else {
            continue;
        };
        let mut first = None;
        sums.value.registers(&mut |r, lane| first = first.or(Some(flow.ssa.var(r, lane))));
        let Some(variable) = first.filter(|v| writes.all_follow(flow, *v, block, at)) else { continue };
        found.add(variable, sums.span, errors::Unwritten::OptionalSum);
    }
}

/// Is this predicate of a matrix instruction certainly true when it runs for the first time?
fn adds(flow: &Flow, loops: &Loops, block: u32, at: u32, name: &str) -> bool {
    match flow.instr(at).value(name) {
        Some(Operand::Imm(n)) => *n != 0,
        Some(Operand::Reg(r, lane)) => {
            let values = [flow.ssa.read(at, *r, *lane)];
            let counts = |h: &u32| Induction::depends_on_counter(flow, *h, &values) == Some(true);
            let mut around = std::iter::successors(loops.innermost(block), |h| loops.parent(*h));
            let header = around.find(counts).unwrap_or(NONE);
            let first = Induction::new(flow, loops, header, &values, None);
            first.is_some_and(|first| first.value(values[0]).is_some_and(|n| n != 0))
        }
        _ => false,
    }
}

/// Does an instruction read a register and write it, as a sum? Compilers compute other values from what nothing has written, and throw
/// the results away.
fn accumulates(flow: &Flow, at: u32, variable: u32) -> bool {
    flow.ssa.defs(at).iter().any(|(written, _)| *written == variable)
}

/// Sums of a loop that only the round before has written: their first read, however the loop is reached.
fn first_time(found: &mut Found, maybe: &[bool], writes: &Writes) {
    let flow = found.flow;
    for (block, at, i) in flow.walk() {
        if passes_on(i) || i.pred.is_some() {
            continue;
        }
        for (variable, v) in flow.ssa.uses(at) {
            if maybe.get(*v as usize) == Some(&true)
                && !found.has(*variable)
                && accumulates(flow, at, *variable)
                && writes.all_follow(flow, *variable, block, at)
            {
                let in_list = |name: &str| i.operand(name).is_some_and(|a| holds(flow, &a.value, *variable));
                let sum = in_list("c") && in_list("d");
                let when = if sum { errors::Unwritten::Sum } else { errors::Unwritten::FirstTime };
                found.add(*variable, flow.operand_span(i, *variable), when);
            }
        }
    }
}

/// Is the operand a list of registers, with that of this variable?
fn holds(flow: &Flow, operand: &Operand, variable: u32) -> bool {
    let mut found = false;
    operand.registers(&mut |r, lane| found |= flow.ssa.var(r, lane) == variable);
    found && matches!(operand, Operand::Vector(_))
}

/// Registers that some feasible path has not written where they are read.
fn on_some_path(found: &mut Found, lanes: &Lanes, maybe: &[bool], writes: &Writes) {
    let flow = found.flow;
    let candidates = maybe_undefined_uses(found, maybe);
    if candidates.is_empty() {
        return;
    }
    let mut paths = Paths::new(flow, lanes);
    for (variable, use_at) in candidates {
        if found.has(variable) {
            continue;
        }
        let mut matters = vec![false; flow.cfg.blocks.len()];
        for at in writes.of(variable).iter().chain([&use_at]) {
            matters[flow.cfg.block_of(*at) as usize] = true;
        }
        paths.matters = accumulates(flow, use_at, variable).then_some(matters);
        let hit = paths.from_entry(&mut |at, _| {
            if at == use_at {
                return Step::Found;
            }
            match flow.ssa.defs(at).iter().any(|(written, _)| *written == variable) {
                true => Step::Stop,
                false => Step::Go,
            }
        });
        if hit.is_some() {
            found.add(variable, flow.operand_span(flow.instr(use_at), variable), errors::Unwritten::SomePath);
        }
    }
}

/// May the instruction read undefined registers?
fn may_read_undefined(flow: &Flow, at: u32, i: &Instr) -> bool {
    let (mut constants, mut vectors) = (false, false);
    for a in &i.operands {
        constants |= matches!(a.value, Operand::Imm(_) | Operand::Rust(_));
        vectors |= matches!(a.value, Operand::Vector(_));
    }
    let uses = flow.ssa.uses(at);
    match i.opcode {
        // `xor d, a, a` writes zero.
        op::xor | op::sub => uses.len() == 1 && i.pred.is_none() && !constants,
        // Compilers pack used and unused values together.
        op::mov if vectors => {
            for (_, v) in uses {
                if flow.origin(*v) != UNDEF {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// Compilers select, move and pack unused values. Only the arriving thread holds the mbarrier state, though the manual's examples wait
/// with it in all threads. A shuffle may read the value of the lane that has written it.
fn passes_on(i: &Instr) -> bool {
    matches!(i.opcode, op::mov | op::selp | op::call | op::bfi | op::prmt | op::shf | op::shfl | op::shfl_sync)
        || i.entry.effects.mbarrier != Mbarrier::None
}

/// Uses of variables that some path leaves undefined: variable and instruction.
fn maybe_undefined_uses(found: &Found, maybe: &[bool]) -> Vec<(u32, u32)> {
    let flow = found.flow;
    let mut candidates: Vec<(u32, u32)> = Vec::new();
    for (_, at, i) in flow.walk() {
        if passes_on(i) {
            continue;
        }
        for (variable, v) in flow.ssa.uses(at) {
            if flow.origin(*v) == UNDEF || maybe.get(*v as usize) != Some(&true) || found.has(*variable) {
                continue;
            }
            let tries = candidates.iter().filter(|(other, _)| other == variable).count();
            if tries < 3 && candidates.len() < 48 {
                candidates.push((*variable, at));
            }
        }
    }
    candidates
}

/// Accumulators in Tensor Memory of a kernel with a loop of MMAs in which every MMA adds to what is there, and nothing else writes there.
fn tensor_memory(found: &mut Found, loops: &Loops) {
    let flow = found.flow;
    let is = |i: &Instr, tensor: Tensor| i.entry.effects.tensor == tensor;
    let needed = [Tensor::Alloc, Tensor::Load].iter().all(|tensor| flow.cfg.any(&|i| is(i, *tensor)));
    if !flow.function.entry || flow.calls || !needed {
        return;
    }
    let mut first = None;
    for (block, at, i) in flow.walk() {
        match i.entry.effects.tensor {
            Tensor::Mma if adds(flow, loops, block, at, "enable-input-d") => {
                first = first.or(flow.cfg.in_loop(block).then_some(i));
            }
            Tensor::Mma => return,
            Tensor::Store | Tensor::Copy => return,
            _ => {}
        }
    }
    if let Some(i) = first
        && let Some(enable) = i.operand("enable-input-d")
    {
        found.list.push(tensor_memory::accumulator_unwritten(enable.span));
    }
}
