//! Feasible paths: a depth-first search over the control-flow graph that carries the conditions known on the way, so that two
//! branches on one condition agree. Rules that report "on some path" ask it for a witness. A condition that is not known is guessed,
//! unless it is made of the same inputs as an earlier guess.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::lanes::{LaneFact, Lanes};
use crate::paths::condition::{Condition, Key, Order, condition, parts};
use crate::paths::roots::{Root, roots};
use crate::sources::{Source, all_sources};
use crate::ssa::{Val, Value, phi_argument};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

mod condition;
mod roots;

/// The decision of the visitor at an instruction that executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Continue.
    Go,
    /// Abandon this path.
    Stop,
    /// The path is a witness.
    Found,
}

/// The end of a feasible path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The instruction that was hit.
    pub at: u32,
    /// No condition was guessed on the path.
    pub certain: bool,
}

/// The state of one path.
#[derive(Clone)]
struct PathState {
    block: u32,
    at: u32,
    /// Conditions that hold or do not.
    holds: Vec<(Condition, bool)>,
    /// Values that are constant on this path.
    numbers: Vec<(Val, u64)>,
    /// The inputs of the guessed conditions.
    roots: Vec<Root>,
    /// Blocks that the path has passed without a decision: what they compute is not known.
    passed: Vec<u32>,
    certain: bool,
}

impl PathState {
    /// A path that starts here and knows nothing.
    fn new(block: u32, at: u32) -> PathState {
        let (holds, numbers, roots, passed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        PathState { block, at, holds, numbers, roots, passed, certain: true }
    }
}

/// The search, with a budget for all queries on one function.
pub struct Paths<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    budget: usize,
    /// Values joined at the start of each block.
    phis: Vec<Vec<Val>>,
    /// By block: the states in which this query has entered it.
    seen: Vec<Vec<PathState>>,
    /// Values whose conditions must not be guessed, because they may depend on the query.
    pub no_guess: Option<&'a dyn Fn(Val) -> bool>,
    /// By block: the query looks at it. A branch is passed without a guess if no block matters up to where its ways meet again.
    pub matters: Option<Vec<bool>>,
}

/// Limits: instructions visited by one query, by all queries.
const ONE: usize = 20_000;
const ALL: usize = 200_000;

impl<'a, 'h> Paths<'a, 'h> {
    /// A search that has seen nothing yet.
    pub fn new(flow: &'a Flow<'h>, lanes: &'a Lanes) -> Paths<'a, 'h> {
        let blocks = flow.cfg.blocks.len();
        let mut phis: Vec<Vec<Val>> = vec![Vec::new(); blocks];
        for (v, value) in flow.ssa.values.iter().enumerate() {
            if let Value::Phi { block, .. } = value {
                phis[*block as usize].push(v as Val);
            }
        }
        let seen = std::iter::repeat_with(Vec::new).take(blocks).collect();
        Paths { flow, lanes, budget: ALL, phis, seen, no_guess: None, matters: None }
    }

    /// Searches from the start of the kernel.
    pub fn from_entry(&mut self, visit: &mut dyn FnMut(u32, &Instr) -> Step) -> Option<Hit> {
        let block = *self.flow.cfg.rpo.first()?;
        let at = self.flow.cfg.range(block).start;
        self.search(PathState::new(block, at), visit)
    }

    /// Searches from the end of an instruction, with a known predicate.
    pub fn after(
        &mut self,
        block: u32,
        at: u32,
        known: Option<(Val, bool)>,
        visit: &mut dyn FnMut(u32, &Instr) -> Step,
    ) -> Option<Hit> {
        let mut state = PathState::new(block, at + 1);
        if let Some((p, is)) = known {
            self.assume(&mut state, p, is, 0);
        }
        if let Some((p, is)) = self.flow.guard(at) {
            self.assume(&mut state, p, is, 0);
        }
        self.search(state, visit)
    }

    fn search(&mut self, start: PathState, visit: &mut dyn FnMut(u32, &Instr) -> Step) -> Option<Hit> {
        let mut entered = Vec::new();
        let hit = self.follow(start, &mut entered, visit);
        for b in &entered {
            self.seen[*b as usize].clear();
        }
        hit
    }

    /// Records the blocks whose `seen` it filled.
    fn follow(
        &mut self,
        start: PathState,
        entered: &mut Vec<u32>,
        visit: &mut dyn FnMut(u32, &Instr) -> Step,
    ) -> Option<Hit> {
        let cfg = &self.flow.cfg;
        let mut budget = ONE.min(self.budget);
        let mut stack = vec![start];
        'paths: while let Some(mut state) = stack.pop() {
            let end = cfg.range(state.block).end;
            while state.at < end {
                let at = state.at;
                let i = cfg.instrs[at as usize];
                if budget == 0 {
                    break 'paths;
                }
                budget -= 1;
                self.budget -= 1;
                match self.at(&mut state, visit(at, i)) {
                    Step::Go => {}
                    Step::Stop => continue 'paths,
                    Step::Found => return Some(Hit { at, certain: state.certain }),
                }
                // A new definition invalidates what was known.
                for (_, v) in self.flow.ssa.defs(at) {
                    self.forget(&mut state, *v);
                }
                state.at += 1;
            }
            if state.block != cfg.exit {
                self.fork(&state, entered, &mut stack);
            }
        }
        None
    }

    /// The decision at a guarded instruction. Assumes the guard false where the search goes on.
    fn at(&self, state: &mut PathState, step: Step) -> Step {
        if step == Step::Go {
            return Step::Go;
        }
        let Some((p, is)) = self.flow.guard(state.at) else { return step };
        match (step, self.known(state, p, 0)) {
            (_, Some(value)) => {
                if value == is {
                    step
                } else {
                    Step::Go
                }
            }
            (Step::Found, None) => {
                if self.guess(&mut state.clone(), p, is) {
                    Step::Found
                } else {
                    Step::Go
                }
            }
            _ => {
                if self.guess(state, p, !is) {
                    Step::Go
                } else {
                    Step::Stop
                }
            }
        }
    }

    /// Pushes the feasible successors at the end of a block.
    fn fork(&mut self, state: &PathState, entered: &mut Vec<u32>, stack: &mut Vec<PathState>) {
        let cfg = &self.flow.cfg;
        let branch = cfg.branch(state.block);
        let guard = match branch {
            Some(at) => self.flow.guard(at),
            None => None,
        };
        let value = match guard {
            Some((p, _)) => self.known(state, p, 0),
            None => None,
        };
        for (n, e) in cfg.blocks[state.block as usize].succ.iter().enumerate() {
            let mut next = state.clone();
            match (guard, e.when, value) {
                (Some(_), Some(when), Some(v)) if v != when => continue,
                (Some((p, _)), Some(when), None) if !self.guess(&mut next, p, when) => continue,
                (None, _, _) if branch.is_some() => next.certain = false,
                _ => {}
            }
            self.enter(&mut next, state.block, n as u32, e.to);
            self.push(next, e.to, entered, stack);
        }
        // A guess would keep later branches on the same inputs from being guessed.
        if guard.is_some()
            && value.is_none()
            && let Some((next, to)) = self.pass(state)
        {
            self.push(next, to, entered, stack);
        }
    }

    /// Goes on at the start of a block, unless a state there implies this one.
    fn push(&mut self, mut next: PathState, to: u32, entered: &mut Vec<u32>, stack: &mut Vec<PathState>) {
        next.block = to;
        next.at = self.flow.cfg.range(to).start;
        entered.push(to);
        let visited = &mut self.seen[to as usize];
        if visited.len() < 24 && !next.known_before(visited) {
            visited.push(next.clone());
            stack.push(next);
        }
    }

    /// The state where the ways of a branch meet again, if no block between matters, and that block. Nothing is known there of what the
    /// blocks between compute.
    fn pass(&self, state: &PathState) -> Option<(PathState, u32)> {
        let (flow, matters) = (self.flow, self.matters.as_ref()?);
        let to = *flow.cfg.ipdom.get(state.block as usize)?;
        if to == NONE || to == flow.cfg.exit {
            return None;
        }
        let mut next = state.clone();
        let (mut between, mut stack) = (Vec::new(), Vec::new());
        flow.cfg.push_successors(state.block, &mut stack);
        while let Some(b) = stack.pop() {
            if b == to || between.contains(&b) {
                continue;
            }
            if matters[b as usize] {
                return None;
            }
            between.push(b);
            flow.cfg.push_successors(b, &mut stack);
        }
        for &b in between.iter().chain([&to]) {
            for &v in &self.phis[b as usize] {
                self.forget(&mut next, v);
            }
        }
        for at in between.iter().flat_map(|&b| flow.cfg.range(b)) {
            for (_, v) in flow.ssa.defs(at) {
                self.forget(&mut next, *v);
            }
        }
        next.passed.append(&mut between);
        next.passed.push(to);
        Some((next, to))
    }

    /// Is the condition computed from what blocks have computed that were passed?
    fn depends_on_passed(&self, state: &PathState, p: Val) -> bool {
        let Some((&last, rest)) = state.passed.split_last() else { return false };
        !all_sources(self.flow, p, 256, &|_, value| match value {
            Value::Phi { block, .. } if *block == last || rest.contains(block) => Source::No,
            Value::Def { instr, .. } if rest.contains(&self.flow.cfg.block_of(*instr)) => Source::No,
            _ => Source::Go,
        })
    }

    /// Evaluates the phis of a block for the edge that is taken.
    fn enter(&self, state: &mut PathState, from: u32, edge: u32, to: u32) {
        let phis = &self.phis[to as usize];
        let pred = &self.flow.cfg.blocks[to as usize].pred;
        let pred = phi_argument(pred, (from, edge));
        let mut new = Vec::new();
        for &v in phis {
            if let Some(k) = pred
                && let Value::Phi { args, .. } = &self.flow.ssa.values[v as usize]
                && let Some(a) = args.get(k)
                && let Some(n) = self.number(state, *a, 0).or_else(|| self.known(state, *a, 0).map(u64::from))
            {
                new.push((v, n));
            }
        }
        for v in phis {
            self.forget(state, *v);
        }
        state.numbers.append(&mut new);
    }

    fn forget(&self, state: &mut PathState, v: Val) {
        if state.holds.is_empty() && state.numbers.is_empty() {
            return;
        }
        let of = |k: &Key| *k == Key::Value(v);
        state.holds.retain(|(c, _)| match c {
            Condition::Value(x) => *x != v,
            Condition::Compare(_, _, a, b) | Condition::Same(_, a, b) => !of(a) && !of(b),
        });
        state.numbers.retain(|(x, _)| *x != v);
    }

    /// May two conditions be dependent, because they have common inputs?
    pub fn related(&self, a: Val, b: Val) -> bool {
        let (a, b) = (roots(self.flow, a), roots(self.flow, b));
        a.contains(&Root::Unknown) || b.contains(&Root::Unknown) || a.iter().any(|root| b.contains(root))
    }

    fn guess(&self, state: &mut PathState, p: Val, is: bool) -> bool {
        if self.no_guess.is_some_and(|f| f(p)) || self.depends_on_passed(state, p) {
            return false;
        }
        // Conditions with common inputs may be dependent in ways that the search does not see.
        let mut roots = roots(self.flow, p);
        if state.roots.contains(&Root::Unknown) {
            return false;
        }
        let depends = |r: &Root| state.roots.contains(r) || (*r == Root::Unknown && !state.roots.is_empty());
        if roots.iter().any(depends) {
            return false;
        }
        state.roots.append(&mut roots);
        state.certain = false;
        self.assume(state, p, is, 0);
        true
    }

    fn assume(&self, state: &mut PathState, p: Val, is: bool, depth: u32) {
        let (condition, positive) = condition(self.flow, self.lanes, p, 0);
        if let Condition::Value(v) = condition
            && depth < 4
            && let Some((and, parts, _)) = parts(self.flow, v)
            && (positive == is) == and
        {
            for (u, as_is) in parts {
                self.assume(state, u, and == as_is, depth + 1);
            }
        }
        state.holds.push((condition, is == positive));
    }

    /// The value of a predicate on this path.
    fn known(&self, state: &PathState, p: Val, depth: u32) -> Option<bool> {
        if let Some(LaneFact::Const(n)) = self.lanes.facts.get(p as usize) {
            return Some(*n != 0);
        }
        if let Some(n) = self.number(state, p, depth) {
            return Some(n != 0);
        }
        let (condition, positive) = condition(self.flow, self.lanes, p, 0);
        for (c, is) in state.holds.iter().rev() {
            if *c == condition {
                return Some(*is == positive);
            }
        }
        if depth >= 4 {
            return None;
        }
        let v = match condition {
            Condition::Value(v) => match self.number(state, v, depth) {
                Some(n) => return Some((n != 0) == positive),
                None => v,
            },
            // Operands that are known on this path.
            Condition::Same(..) => return None,
            Condition::Compare(op, bits, a, b) => {
                let of = |k: &Key| match k {
                    Key::Value(v) => self.number(state, *v, depth + 1),
                    Key::Number(n) => Some(*n),
                    Key::Special(_) | Key::Rust(_) => None,
                };
                let unused = 64 - bits.clamp(1, 64);
                let (x, y) = (of(&a)? << unused, of(&b)? << unused);
                let is = match op {
                    Order::Equal => x == y,
                    Order::Below => x < y,
                    Order::BelowOrEqual => x <= y,
                    Order::Less => (x as i64) < y as i64,
                    _ => x as i64 <= y as i64,
                };
                return Some(is == positive);
            }
        };
        let (and, parts, all) = parts(self.flow, v)?;
        let mut every = all;
        for (u, as_is) in parts {
            match self.known(state, u, depth + 1) {
                Some(v) if (v == as_is) != and => return Some(and != positive),
                Some(_) => {}
                None => every = false,
            }
        }
        every.then_some(and == positive)
    }

    /// The constant that a value is on this path.
    fn number(&self, state: &PathState, v: Val, depth: u32) -> Option<u64> {
        if let Some(LaneFact::Const(n)) = self.lanes.facts.get(v as usize) {
            return Some(*n);
        }
        if let Some((_, n)) = state.numbers.iter().find(|(known, _)| *known == v) {
            return Some(*n);
        }
        let o = self.flow.origin(v);
        if o != v {
            return self.number(state, o, depth);
        }
        if depth >= 4 {
            return None;
        }
        let Value::Def { instr, old, .. } = &self.flow.ssa.values[v as usize] else { return None };
        let i = self.flow.instr(*instr);
        let of = |name: &str| match i.value(name)? {
            Operand::Imm(n) => Some(*n),
            Operand::Reg(r, lane) => self.number(state, self.flow.ssa.read(*instr, *r, *lane), depth + 1),
            _ => None,
        };
        if let Some(old) = old {
            let (p, is) = self.flow.guard(*instr)?;
            let runs = self.known(state, p, depth + 1)? == is;
            return match i.opcode {
                _ if !runs => self.number(state, *old, depth + 1),
                op::mov => of("a"),
                _ => None,
            };
        }
        match i.opcode {
            op::mov => of("a"),
            op::add | op::sub | op::xor
                if i.types.len() == 1 && i.types[0].bits() == 32 && !i.has(q::cc) && !i.has(q::sat) =>
            {
                let (a, b) = (of("a")? as u32, of("b")? as u32);
                Some(u64::from(match i.opcode {
                    op::add => a.wrapping_add(b),
                    op::sub => a.wrapping_sub(b),
                    _ => a ^ b,
                }))
            }
            op::selp => {
                let p = self.known(state, self.flow.source(*instr, "c")?, depth + 1)?;
                of(if p { "a" } else { "b" })
            }
            _ => None,
        }
    }
}

impl PathState {
    /// Does it imply a visited state? Then it adds nothing.
    fn known_before(&self, visited: &[PathState]) -> bool {
        'visited: for o in visited {
            if self.certain && !o.certain {
                continue;
            }
            for h in &o.holds {
                if !self.holds.contains(h) {
                    continue 'visited;
                }
            }
            for n in &o.numbers {
                if !self.numbers.contains(n) {
                    continue 'visited;
                }
            }
            return true;
        }
        false
    }
}
