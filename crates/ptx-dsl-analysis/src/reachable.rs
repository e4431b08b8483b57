//! Values that can occur at some instructions, by running what they depend on: from the entry on, both ways of a branch whose condition
//! is not known, each state of the values once. It finds the stages of a ring that several loops share, where [`crate::induction`] knows
//! the first rounds of one loop only.

use crate::cfg::NONE;
use crate::dataflow::Bits;
use crate::flow::Flow;
use crate::fold::fold;
use crate::ssa::{Val, Value, phi_argument};
use ptx_dsl_isa::hir::{Operand, RegId};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// Limits: values of the slice, states of all blocks together, combinations at one instruction.
const VALUES: usize = 80;
const STATES: usize = 2_000;
const COMBINATIONS: usize = 64;

/// An instruction, and the values of it that are asked for.
pub struct Query {
    /// The instruction.
    pub at: u32,
    /// The values.
    pub values: Vec<Val>,
    /// The combinations in which they occur, in the order in which they are found; `None`: unknown.
    pub found: Vec<Vec<Option<u64>>>,
}

impl Query {
    /// Nothing is found yet.
    pub fn new(at: u32, values: Vec<Val>) -> Query {
        Query { at, values, found: Vec::new() }
    }
}

/// One block, with what is known of the slice where it starts.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    block: u32,
    known: Vec<Option<u64>>,
}

/// The values of the slice, in ascending order, and the phis of each block among them.
struct Slice<'a, 'h> {
    flow: &'a Flow<'h>,
    values: Vec<Val>,
    /// By block, once it was entered.
    plans: RefCell<Vec<Option<Rc<Plan>>>>,
}

/// The changes of the slice where a block starts.
#[derive(Default)]
struct Plan {
    /// The phis of the block, by their places.
    phis: Vec<usize>,
    /// The places of values that are not read there before they are computed again: states that differ in them are the same.
    dead: Vec<usize>,
}

/// Answers all queries. False if there are too many values or states: then the answers are not complete.
pub fn reachable(flow: &Flow, queries: &mut [Query]) -> bool {
    let Some(slice) = Slice::new(flow, queries) else { return false };
    let Some(&entry) = flow.cfg.rpo.first() else { return false };
    let start = State { block: entry, known: vec![None; slice.values.len()] };
    let mut seen = HashSet::from([start.clone()]);
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(mut state) = queue.pop_front() {
        for at in flow.cfg.range(state.block) {
            for query in queries.iter_mut().filter(|query| query.at == at) {
                let all: Vec<_> = query.values.iter().map(|v| slice.of(&state, *v)).collect();
                if !query.found.contains(&all) {
                    query.found.push(all);
                }
                if query.found.len() > COMBINATIONS {
                    return false;
                }
            }
            slice.run(at, &mut state);
        }
        for next in slice.successors(&state) {
            if !seen.contains(&next) {
                seen.insert(next.clone());
                queue.push_back(next);
            }
        }
        if seen.len() > STATES {
            return false;
        }
    }
    true
}

impl<'a, 'h> Slice<'a, 'h> {
    fn new(flow: &'a Flow<'h>, queries: &[Query]) -> Option<Slice<'a, 'h>> {
        let mut seen = Bits::none(flow.ssa.values.len());
        let mut values = Vec::new();
        let mut stack: Vec<Val> = queries.iter().flat_map(|query| query.values.iter().copied()).collect();
        while let Some(v) = stack.pop() {
            let v = flow.origin(v);
            if seen.has(v as usize) {
                continue;
            }
            seen.set(v as usize);
            values.push(v);
            if values.len() > VALUES {
                return None;
            }
            // Loaded values are unknown, whatever their address.
            let loads = matches!(&flow.ssa.values[v as usize],
                Value::Def { instr, old: None, .. } if flow.instr(*instr).address().is_some());
            if !loads {
                flow.ssa.push_sources(v, &mut stack);
            }
        }
        values.sort_unstable();
        Some(Slice { flow, values, plans: RefCell::new(vec![None; flow.cfg.blocks.len()]) })
    }

    /// The plan of a block. A value is alive only in the blocks that the block of its definition dominates.
    fn plan(&self, b: u32) -> Rc<Plan> {
        if let Some(plan) = &self.plans.borrow()[b as usize] {
            return plan.clone();
        }
        let cfg = &self.flow.cfg;
        let mut plan = Plan::default();
        for (place, v) in self.values.iter().enumerate() {
            match &self.flow.ssa.values[*v as usize] {
                Value::Phi { block, .. } if *block == b => plan.phis.push(place),
                Value::Phi { block, .. } if !cfg.dominates(*block, b) => plan.dead.push(place),
                Value::Def { instr, .. } => {
                    let block = cfg.block_of(*instr);
                    if block == b || !cfg.dominates(block, b) {
                        plan.dead.push(place);
                    }
                }
                _ => {}
            }
        }
        let plan = Rc::new(plan);
        self.plans.borrow_mut()[b as usize] = Some(plan.clone());
        plan
    }

    fn place(&self, v: Val) -> Option<usize> {
        self.values.binary_search(&self.flow.origin(v)).ok()
    }

    fn of(&self, state: &State, v: Val) -> Option<u64> {
        state.known[self.place(v)?]
    }

    fn register(&self, state: &State, at: u32, r: RegId, lane: u32) -> Option<u64> {
        self.of(state, self.flow.ssa.read(at, r, lane))
    }

    /// Executes an instruction as far as the slice needs it.
    fn run(&self, at: u32, state: &mut State) {
        for (variable, v) in self.flow.ssa.defs(at) {
            let Some(place) = self.values.binary_search(v).ok() else { continue };
            state.known[place] = self.result(at, *variable, *v, state);
        }
    }

    fn result(&self, at: u32, variable: u32, v: Val, state: &State) -> Option<u64> {
        let i = self.flow.instr(at);
        if let Value::Def { old: Some(old), .. } = self.flow.ssa.values[v as usize] {
            let (p, positive) = self.flow.guard(at)?;
            if (self.of(state, p)? != 0) != positive {
                return self.of(state, old);
            }
        }
        match &i.operands.first()?.value {
            Operand::Reg(r, lane) if self.flow.ssa.var(*r, *lane) == variable => {}
            _ => return None,
        }
        fold(i, &mut |o| match o {
            Operand::Imm(n) => Some(*n),
            // Addresses count from the start of their variable.
            Operand::VarAddr(_, offset) => Some(*offset as u64),
            Operand::Reg(r, lane) => self.register(state, at, *r, *lane),
            Operand::NotReg(r) => Some(u64::from(self.register(state, at, *r, 0)? == 0)),
            _ => None,
        })
    }

    /// The states of the blocks that may follow.
    fn successors(&self, state: &State) -> Vec<State> {
        let cfg = &self.flow.cfg;
        let condition = cfg.branch(state.block).and_then(|at| self.flow.guard(at)).and_then(|(p, _)| self.of(state, p));
        let mut out = Vec::new();
        for (n, edge) in cfg.blocks[state.block as usize].succ.iter().enumerate() {
            if condition.zip(edge.when).is_some_and(|(is, when)| (is != 0) != when) || edge.to == NONE {
                continue;
            }
            let argument = phi_argument(&cfg.blocks[edge.to as usize].pred, (state.block, n as u32));
            let mut next = State { block: edge.to, known: state.known.clone() };
            let plan = self.plan(edge.to);
            for &place in &plan.phis {
                let Value::Phi { args, .. } = &self.flow.ssa.values[self.values[place] as usize] else { continue };
                next.known[place] = argument.and_then(|k| self.of(state, *args.get(k)?));
            }
            plan.dead.iter().for_each(|&place| next.known[place] = None);
            out.push(next);
        }
        out
    }
}
