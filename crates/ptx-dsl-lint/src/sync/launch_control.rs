//! Cluster launch control (PTX ISA 9.7.13.17, 9.7.13.18): a kernel waits for a response, decodes it only if the request succeeded,
//! and does not request again after a failure.

use crate::errors::{completion, launch_control as errors};
use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, value_access};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::paths::{Paths, Step};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::{Barrier, Control, Issue, MemoryOp, Proxy};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let clc = [op::clusterlaunchcontrol_try_cancel, op::clusterlaunchcontrol_query_cancel];
    if !kernel.flow.cfg.any(&|i| clc.contains(&i.opcode)) {
        return;
    }
    responses(kernel);
    decoded(kernel);
    requests_after_failure(kernel);
}

/// The response of `try_cancel` is valid after a wait on its mbarrier.
fn responses(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut reads = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.opcode == op::clusterlaunchcontrol_query_cancel {
            for (_, v) in flow.ssa.uses(at) {
                made_of_loads(flow, *v, 2, &mut reads);
            }
        }
    }
    let asks = flow.cfg.find(&|i| i.opcode == op::clusterlaunchcontrol_try_cancel);
    let (Some(asks), false) = (asks, reads.is_empty()) else { return };
    let waits = flow.calls || flow.cfg.any(&mbarrier_wait);
    // Bit 0: requested, without a wait or a synchronisation since; 1: requested, without a wait since; 2: requested and waited
    // for.
    let step = |_: u32, i: &Instr, set: &mut Bits| {
        if i.opcode == op::clusterlaunchcontrol_try_cancel {
            set.set(0);
            set.set(1);
            set.unset(2);
        } else if mbarrier_wait(i) || i.entry.effects.control == Control::Call {
            let queried = set.has(1);
            set.clear();
            set.put(2, queried);
        } else if i.opcode != op::fence && may_synchronise(i) {
            set.unset(0);
        }
    };
    let mut reported = false;
    for_each_instr(&flow.cfg, 3, &step, &mut |_, at, i, set| {
        if !reported && (set.has(0) || (set.has(1) && !waits)) && reads.contains(&at) {
            reported = true;
            kernel.report(errors::response_not_awaited(i.span, asks.span, !set.has(2)));
        }
    });
}

/// The loads that a value is packed from.
fn made_of_loads(flow: &Flow, v: Val, moves: u32, out: &mut Vec<u32>) {
    let Some(maker) = flow.ssa.maker(v) else { return };
    let i = flow.instr(maker);
    if value_access(i) == MemoryOp::Load {
        out.push(maker);
    } else if i.opcode == op::mov && moves > 0 {
        for (_, part) in flow.ssa.uses(maker) {
            made_of_loads(flow, *part, moves - 1, out);
        }
    }
}

/// Is it `query_cancel` for the CTA?
fn decodes(i: &Instr) -> bool {
    i.opcode == op::clusterlaunchcontrol_query_cancel && !i.has(q::is_canceled)
}

/// The result of `get_first_ctaid` is undefined after a failed request. Decoding is harmless, using the result is not.
fn decoded(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry {
        return;
    }
    for (block, at, i) in flow.walk() {
        if decodes(i) {
            let answer = Answer::new(kernel, at);
            if let Some(found) = answer.use_of(kernel, block, at) {
                kernel.report(found);
            }
        }
    }
}

/// What is known at an instruction about the success of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It succeeded, or the path depends on the query.
    Yes,
    /// It failed.
    No,
    /// Some path has queried it.
    Queried,
    /// No path has queried it.
    NotQueried,
}

/// The queries of one response, and the values that depend on them.
struct Answer {
    /// Predicates of `is_canceled`.
    preds: Vec<Val>,
    /// By value: it depends on one of them.
    depends: Vec<bool>,
    /// By block: a query may precede it.
    queried: Vec<bool>,
    /// The queries: block and instruction.
    queries: Vec<(u32, u32)>,
    /// A dependent value escapes to memory or to a function.
    escapes: bool,
}

impl Answer {
    /// `at` decodes a response.
    fn new(kernel: &Kernel, at: u32) -> Answer {
        let flow = kernel.flow;
        let mut answer = Answer {
            preds: Vec::new(),
            depends: vec![false; flow.ssa.values.len()],
            queried: vec![false; flow.cfg.blocks.len()],
            queries: Vec::new(),
            escapes: flow.calls,
        };
        for (block, query, i) in flow.walk() {
            if i.opcode == op::clusterlaunchcontrol_query_cancel
                && i.has(q::is_canceled)
                && same_response(kernel, at, query)
            {
                answer.queries.push((block, query));
                answer.preds.extend(
                    flow.ssa.defs(query).iter().map(|(_, v)| *v).filter(|v| kernel.reaching.canceled.contains(v)),
                );
            }
        }
        answer.follow(flow);
        answer.queried = flow.cfg.reachable_from(answer.queries.iter().map(|(block, _)| *block));
        answer
    }

    /// Marks the values that depend on a query by data flow, or by a phi after a branch on it.
    fn follow(&mut self, flow: &Flow) {
        let mut stack = self.preds.clone();
        for _ in 0..4 {
            while let Some(v) = stack.pop() {
                if !std::mem::replace(&mut self.depends[v as usize], true) {
                    stack.extend(flow.ssa.users(v));
                }
            }
            for (v, value) in flow.ssa.values.iter().enumerate() {
                if let Value::Phi { block, .. } = value
                    && !self.depends[v]
                    && self.branches(flow, flow.cfg.idom[*block as usize])
                {
                    stack.push(v as Val);
                }
            }
            if stack.is_empty() {
                break;
            }
        }
        for (_, at, i) in flow.walk() {
            let out_of_registers = i.entry.effects.control == Control::Call || stores(i);
            let read = flow.ssa.uses(at).iter().any(|(_, v)| self.depends[*v as usize]);
            self.escapes |= out_of_registers && read;
        }
    }

    /// Does the block end with a branch that depends on an answer?
    fn branches(&self, flow: &Flow, block: u32) -> bool {
        if block == NONE {
            return false;
        }
        let Some(branch) = flow.cfg.branch(block) else { return false };
        flow.ssa.uses(branch).iter().any(|(_, v)| self.depends[*v as usize])
    }

    /// What is known at an instruction, its guard included.
    fn at(&self, kernel: &Kernel, block: u32, at: u32) -> Known {
        let flow = kernel.flow;
        if let Some((p, positive)) = flow.guard(at) {
            if self.preds.contains(&flow.origin(p)) {
                return if positive { Known::Yes } else { Known::No };
            }
            if self.depends[p as usize] {
                return Known::Yes;
            }
        }
        self.before(kernel, block, at)
    }

    /// What is known before an instruction, or at the end of a block.
    fn before(&self, kernel: &Kernel, block: u32, at: u32) -> Known {
        let flow = kernel.flow;
        let mut known = None;
        for p in &self.preds {
            known = known.max(kernel.reaching.predicate_at(flow, block, *p));
        }
        match known {
            Some(true) => return Known::Yes,
            Some(false) => return Known::No,
            None => {}
        }
        // Dominating branches with edges that do not lead here.
        let mut b = block;
        loop {
            let up = flow.cfg.idom[b as usize];
            if up == NONE || up == b {
                break;
            }
            if self.branches(flow, up) && !flow.cfg.dominates(flow.cfg.ipdom[up as usize], block) {
                return Known::Yes;
            }
            b = up;
        }
        let here = self.queries.iter().any(|(b, query)| *b == block && *query < at);
        if here || self.queried[block as usize] { Known::Queried } else { Known::NotQueried }
    }

    /// The finding about the uses of the result of instruction `at`.
    fn use_of(&self, kernel: &Kernel, block: u32, at: u32) -> Option<Diagnostic> {
        let flow = kernel.flow;
        let known = self.at(kernel, block, at);
        if known == Known::Yes {
            return None;
        }
        let span = flow.instr(at).span;
        let (mut doubtful, mut stored) = (None, None);
        for Use { block, at: place, decides } in self.uses(kernel, at) {
            let here = flow.instr(place).span;
            let known = self.at(kernel, block, place);
            match known {
                Known::Yes => {}
                _ if !decides => stored = stored.or(Some(here)),
                Known::No => return Some(errors::first_ctaid_of_failure(span, here)),
                Known::NotQueried if !self.escapes => return Some(errors::first_ctaid_used(span, here, true)),
                Known::Queried if self.unconditional_path(kernel, place) => {
                    return Some(errors::first_ctaid_used(span, here, true));
                }
                _ => doubtful = doubtful.or(Some(here)),
            }
        }
        if known == Known::No {
            return Some(errors::first_ctaid_sunk(span));
        }
        if let Some(here) = doubtful.or(stored).filter(|_| !self.escapes) {
            return Some(errors::first_ctaid_used(span, here, false));
        }
        (self.queries.is_empty() && !self.escapes).then(|| errors::first_ctaid_unasked(span))
    }

    /// Does an unconditional path lead from a failed query to this instruction?
    fn unconditional_path(&self, kernel: &Kernel, goal: u32) -> bool {
        let flow = kernel.flow;
        let mut goes = |at: u32, _: &Instr| match at {
            _ if at == goal => Step::Found,
            _ if self.queries.iter().any(|(_, query)| *query == at) => Step::Stop,
            _ => Step::Go,
        };
        self.queries.iter().take(16).any(|&(block, query)| {
            let Some((_, p)) = flow.ssa.defs(query).first() else { return false };
            let depends = |v: Val| self.depends[v as usize];
            let mut paths = Paths::new(flow, kernel.lanes);
            paths.no_guess = Some(&depends);
            let hit = paths.after(block, query, Some((*p, false)), &mut goes);
            matches!(hit, Some(hit) if hit.certain)
        })
    }

    /// Does the value reach a phi by an edge that does not depend on the query?
    fn joins(&self, kernel: &Kernel, v: Val, block: u32, args: &[Val]) -> bool {
        let pred = &kernel.flow.cfg.blocks[block as usize].pred;
        if pred.len() != args.len() {
            return true;
        }
        pred.iter().zip(args).any(|(&(from, edge), arg)| *arg == v && !self.under(kernel, from, edge))
    }

    /// Is the edge taken only where the request succeeded, or by a choice that depends on the answer?
    fn under(&self, kernel: &Kernel, from: u32, edge: u32) -> bool {
        let flow = kernel.flow;
        if self.branches(flow, from) {
            let when = flow.cfg.blocks[from as usize].succ[edge as usize].when;
            let guard = flow.cfg.branch(from).and_then(|at| flow.guard(at));
            return !matches!(guard, Some((p, _)) if self.preds.contains(&flow.origin(p)) && when == Some(false));
        }
        self.before(kernel, from, flow.cfg.range(from).end) == Known::Yes
    }

    /// The instructions that branch on, address with or store a value derived from the results of instruction `at`.
    fn uses(&self, kernel: &Kernel, at: u32) -> Vec<Use> {
        let flow = kernel.flow;
        let mut made = vec![false; flow.ssa.values.len()];
        let mut stack: Vec<Val> = flow.ssa.defs(at).iter().map(|(_, v)| *v).collect();
        while let Some(v) = stack.pop() {
            // A value that depends on the query is used under it.
            if self.depends[v as usize] || std::mem::replace(&mut made[v as usize], true) {
                continue;
            }
            stack.extend(flow.ssa.users(v).iter().filter(|user| match &flow.ssa.values[**user as usize] {
                // The load is a use of its address; its result is not derived from it.
                Value::Def { instr, .. } => flow.instr(*instr).address().is_none(),
                Value::Phi { block, args } => self.joins(kernel, v, *block, args),
                Value::Undef | Value::Param => false,
            }));
        }
        let mut uses = Vec::new();
        for (block, place, i) in flow.walk() {
            let reads = |v: Val| made[v as usize];
            let guard = flow.guard(place).is_some_and(|(p, _)| reads(p));
            let decides = guard || i.opcode == op::brx_idx && flow.ssa.uses(place).iter().any(|(_, v)| reads(*v));
            let mut addresses = false;
            for a in &i.operands {
                match &a.value {
                    Operand::Address(Base::Reg(r), _) => addresses |= reads(flow.ssa.read(place, *r, 0)),
                    value @ Operand::Addresses(_) => {
                        value.registers(&mut |r, lane| addresses |= reads(flow.ssa.read(place, r, lane)));
                    }
                    _ => {}
                }
            }
            let stores = stores(i) && flow.ssa.uses(place).iter().any(|(_, v)| reads(*v));
            if decides || addresses || stores {
                uses.push(Use { block, at: place, decides: decides || addresses });
            }
        }
        uses
    }
}

/// Does it pass registers to memory or to other lanes?
fn stores(i: &Instr) -> bool {
    let effects = i.entry.effects;
    (effects.memory.stores() && effects.proxy == Proxy::Generic) || i.opcode == op::redux_sync
}

/// A use of a decoded response.
struct Use {
    block: u32,
    at: u32,
    /// It branches or addresses; otherwise it stores.
    decides: bool,
}

/// May two instructions query the same response: the same value, or loads of overlapping memory?
fn same_response(kernel: &Kernel, a: u32, b: u32) -> bool {
    let flow = kernel.flow;
    let value = |at: u32| flow.source(at, "try_cancel_response").map(|v| flow.origin(v));
    let (Some(x), Some(y)) = (value(a), value(b)) else { return true };
    if x == y {
        return true;
    }
    let place = |v: Val| {
        let mut loads = Vec::new();
        made_of_loads(flow, v, 2, &mut loads);
        let first = *loads.first()?;
        kernel.region(first, flow.instr(first).address()?, 16)
    };
    match (place(x), place(y)) {
        // responses are in shared memory; elsewhere are copies
        (Some(x), Some(y)) if [x.space, y.space].iter().any(|space| *space != Space::Shared) => true,
        (Some(x), Some(y)) => x.may_overlap(&y),
        _ => true,
    }
}

/// The queries of responses: block, instruction, predicate.
fn queries(flow: &Flow) -> Vec<(u32, u32, Val)> {
    let mut list = Vec::new();
    for (block, at, i) in flow.walk() {
        if i.opcode == op::clusterlaunchcontrol_query_cancel
            && i.has(q::is_canceled)
            && i.pred.is_none()
            && let Some((_, v)) = flow.ssa.defs(at).first()
            && list.len() < 16
        {
            list.push((block, at, *v));
        }
    }
    list
}

/// `try_cancel` on a path after a failed request.
fn requests_after_failure(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut reported = Vec::new();
    for (block, query, p) in queries(flow) {
        let depends = |v: Val| depends(flow, block, v);
        let mut paths = Paths::new(flow, kernel.lanes);
        paths.no_guess = Some(&depends);
        let hit = paths.after(block, query, Some((p, false)), &mut |_, i| match i.opcode {
            op::clusterlaunchcontrol_try_cancel => Step::Found,
            op::clusterlaunchcontrol_query_cancel if i.has(q::is_canceled) => Step::Stop,
            _ => Step::Go,
        });
        if let Some(hit) = hit
            && !reported.contains(&hit.at)
        {
            reported.push(hit.at);
            let [request, query] = [hit.at, query].map(|at| flow.instr(at).span);
            kernel.report(completion::asks_again(request, query, hit.certain));
        }
    }
}

/// May the value depend on the query at the end of this block? Then the search must not guess it.
fn depends(flow: &Flow, query: u32, v: Val) -> bool {
    let mut seen = Vec::new();
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > 64 {
            return true;
        }
        match &flow.ssa.values[v as usize] {
            Value::Def { instr, .. } => {
                let i = flow.instr(*instr);
                if mbarrier_wait(i) {
                    continue;
                }
                if answers(i) {
                    return true;
                }
                flow.ssa.push_sources(v, &mut stack);
            }
            // Phis that dominate the query do not depend on it.
            Value::Phi { block: join, .. } if flow.cfg.dominates(*join, query) => {}
            Value::Phi { .. } => return true,
            _ => {}
        }
    }
    false
}

/// May its result depend on the query?
fn answers(i: &Instr) -> bool {
    let op = i.opcode;
    if value_access(i) == MemoryOp::Load {
        return !i.has(q::param) && !i.has(q::_const);
    }
    i.entry.effects.issue == Issue::Lanes
        || i.entry.effects.barrier != Barrier::None
        || i.entry.effects.control == Control::Call
        || value_access(i) == MemoryOp::Atomic
        || matches!(op, op::shfl | op::vote)
        || matches!(op, op::clusterlaunchcontrol_try_cancel | op::clusterlaunchcontrol_query_cancel)
}
