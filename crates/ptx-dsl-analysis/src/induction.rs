//! Induction variables by interpretation: the first iterations of a loop are evaluated with constants, and for one thread if it is
//! given. Loaded values and parameters are unknown; nothing is symbolic.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::fold::fold;
use crate::loops::Loops;
use crate::ssa::{Val, Value, phi_argument};
use ptx_dsl_isa::hir::Operand;
use std::cell::{Cell, RefCell};

mod slice;
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use slice::Slice;

/// A loop in one of its iterations, from the first entry on.
pub struct Induction<'a, 'h> {
    flow: &'a Flow<'h>,
    loops: &'a Loops,
    /// The header of the loop; [`NONE`] for none.
    header: u32,
    /// The backward slice of the values that are evaluated.
    slice: Slice,
    /// The counters of the slice in this iteration.
    now: Vec<Option<u64>>,
    /// By value of the slice: its result in this iteration.
    memo: RefCell<Vec<Memo>>,
    /// The thread to evaluate for; without one, only uniform values are known.
    thread: Option<Thread>,
    /// The values are used after the loop, which exits in this iteration.
    left: bool,
    /// The number of values that were evaluated, and the number that this query may still evaluate.
    spent: Cell<u32>,
    budget: Cell<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Memo {
    Open,
    Done(Option<u64>),
}

/// Limits of one query: values, and depth of recursion.
const BUDGET: u32 = 500;
const DEPTH: u32 = 200;

/// A thread of a CTA.
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    /// The linear number of the thread.
    pub number: usize,
    /// The shape of the CTA, if known. Thread 0 needs none.
    pub shape: Option<[u32; 3]>,
}

impl Thread {
    /// The value of a special register.
    pub(crate) fn special(self, register: SpecialRegister) -> Option<u64> {
        let t = self.number as u64;
        let [x, y, z] = self.shape.or((t == 0).then_some([1; 3]))?.map(|n| u64::from(n.max(1)));
        let size = |n: u64| self.shape.map(|_| n);
        match register {
            special::tid_x => Some(t % x),
            special::tid_y => Some(t / x % y),
            special::tid_z => Some(t / (x * y)),
            special::ntid_x => size(x),
            special::ntid_y => size(y),
            special::ntid_z => size(z),
            special::laneid => Some(t % 32),
            special::warp_sz => Some(32),
            _ => None,
        }
    }
}

/// Block and number of the instruction that uses the values.
pub type UsePoint = Option<(u32, u32)>;

impl<'a, 'h> Induction<'a, 'h> {
    /// For these values in the loop with this header, and the conditions of the instruction at `at`. `None` if the slice is too
    /// large.
    pub fn new(
        flow: &'a Flow<'h>,
        loops: &'a Loops,
        header: u32,
        values: &[Val],
        at: UsePoint,
    ) -> Option<Induction<'a, 'h>> {
        let mut induction = Induction {
            flow,
            loops,
            header,
            slice: Slice::default(),
            now: Vec::new(),
            memo: RefCell::new(Vec::new()),
            thread: None,
            left: false,
            spent: Cell::new(0),
            budget: Cell::new(0),
        };
        let mut all = values.to_vec();
        if let Some((block, at)) = at {
            induction.conditions(block, at, &mut all);
        }
        induction.exits(&mut all);
        // The conditions may depend on much more than the values do.
        induction.slice = match Slice::new(flow, header, &all) {
            Some(slice) => slice,
            None => Slice::new(flow, header, values)?,
        };
        induction.now = vec![None; induction.slice.counters.len()];
        induction.begin(None);
        Some(induction)
    }

    /// For values used after the innermost loop that computes them, as they are when the loop exits.
    pub fn after_loop(flow: &'a Flow<'h>, loops: &'a Loops, block: u32, values: &[Val]) -> Option<Induction<'a, 'h>> {
        let mut header: Option<u32> = None;
        for h in slice::headers(flow, values)? {
            if loops.contains(h, block) || header == Some(h) {
                continue;
            }
            header = match header {
                None => Some(h),
                Some(outer) if loops.contains(outer, h) => Some(h),
                Some(inner) if loops.contains(h, inner) => Some(inner),
                Some(_) => return None,
            };
        }
        let mut induction = Induction::new(flow, loops, header?, values, None)?;
        induction.left = true;
        Some(induction)
    }

    /// Do the values depend on a counter of the loop? `None` if the slice is too large.
    pub fn depends_on_counter(flow: &Flow, header: u32, values: &[Val]) -> Option<bool> {
        Some(!Slice::new(flow, header, values)?.counters.is_empty())
    }

    /// Restarts at the first iteration, for one thread or for all.
    pub fn begin(&mut self, thread: Option<Thread>) {
        self.thread = thread;
        self.advance(false);
    }

    /// Advances to the next iteration.
    pub fn next(&mut self) {
        self.advance(true);
    }

    /// Sets the counters to their values from the back edges or from the entry edges.
    fn advance(&mut self, inside: bool) {
        if !inside {
            self.now.fill(None);
            self.forget();
        }
        let mut next = Vec::with_capacity(self.now.len());
        for v in &self.slice.counters {
            self.budget.set(BUDGET);
            next.push(self.common_value(*v, DEPTH, &|p| self.flow.cfg.dominates(self.header, p) == inside));
        }
        self.now = next;
        self.forget();
    }

    fn forget(&mut self) {
        let memo = self.memo.get_mut();
        memo.clear();
        memo.resize(self.slice.values.len(), Memo::Open);
    }

    /// The number of values evaluated so far.
    pub fn spent(&self) -> u32 {
        self.spent.get()
    }

    /// The value in this iteration.
    pub fn value(&self, v: Val) -> Option<u64> {
        self.budget.set(BUDGET);
        self.eval(v, DEPTH)
    }

    /// The operand in this iteration. Addresses count from the start of their variable.
    pub fn operand(&self, at: u32, o: &Operand) -> Option<u64> {
        self.budget.set(BUDGET);
        self.read(at, o, DEPTH)
    }

    fn read(&self, at: u32, o: &Operand, depth: u32) -> Option<u64> {
        match o {
            Operand::Imm(n) => Some(*n),
            Operand::VarAddr(_, offset) => Some(*offset as u64),
            Operand::Reg(r, lane) => self.eval(self.flow.ssa.read(at, *r, *lane), depth),
            Operand::NotReg(r) => Some(u64::from(self.eval(self.flow.ssa.read(at, *r, 0), depth)? == 0)),
            Operand::Sreg(register) => self.thread?.special(*register),
            _ => None,
        }
    }

    fn eval(&self, v: Val, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let v = self.flow.origin(v);
        if let Some(k) = self.slice.counter(v) {
            return self.now[k];
        }
        let known = self.slice.number(v);
        if let Some(k) = known
            && let Memo::Done(number) = self.memo.borrow()[k]
        {
            return number;
        }
        self.spent.set(self.spent.get() + 1);
        self.budget.set(self.budget.get().checked_sub(1)?);
        let number = self.evaluate(v, depth);
        if let Some(k) = known {
            self.memo.borrow_mut()[k] = Memo::Done(number);
        }
        number
    }

    fn evaluate(&self, v: Val, depth: u32) -> Option<u64> {
        match &self.flow.ssa.values[v as usize] {
            Value::Undef | Value::Param => None,
            Value::Def { instr, var, old } => {
                if let Some(old) = old {
                    let (p, positive) = self.flow.guard(*instr)?;
                    if (self.eval(p, depth)? != 0) != positive {
                        return self.eval(*old, depth);
                    }
                }
                let i = self.flow.instr(*instr);
                // Without a thread, every known value is uniform. With one, the value of its own lane is known.
                let own = |thread: Thread| i.has(q::idx) && i.constant("b") == Some(thread.number as u64 % 32);
                if i.opcode == op::shfl_sync && self.thread.is_none_or(own) {
                    return self.read(*instr, &i.operand("a")?.value, depth);
                }
                match &i.operands.first()?.value {
                    Operand::Reg(r, lane) if self.flow.ssa.var(*r, *lane) == *var => {}
                    _ => return None,
                }
                fold(i, &mut |o| self.read(*instr, o, depth))
            }
            Value::Phi { block, .. } => {
                // The results of inner loops, and of loops before this one, are unknown.
                if self.is_header(*block) && !self.loops.contains(*block, self.header) {
                    return None;
                }
                self.common_value(v, depth, &|_| true)
            }
        }
    }

    /// The common value of a phi on the edges from these predecessors.
    fn common_value(&self, v: Val, depth: u32, of: &dyn Fn(u32) -> bool) -> Option<u64> {
        let Value::Phi { block, args } = &self.flow.ssa.values[v as usize] else { return None };
        let cfg = &self.flow.cfg;
        let pred = &cfg.blocks[*block as usize].pred;
        let header = self.is_header(*block);
        let taken = if header { None } else { self.taken(*block, depth) };
        let from_loop = |p: u32| cfg.dominates(self.header, p);
        let left = self.left && pred.iter().any(|p| from_loop(p.0));
        let mut all = None;
        for p in pred {
            // Enclosing loops are in their first iteration.
            let again = header && *block != self.header && cfg.dominates(*block, p.0);
            if again || !of(p.0) || (left && !from_loop(p.0)) {
                continue;
            }
            if matches!(taken, Some((up, edge)) if !self.edge_leads_to(up, edge, *p, *block)) {
                continue;
            }
            let number = self.eval(*args.get(phi_argument(pred, *p)?)?, depth)?;
            if all.is_some_and(|n| n != number) {
                return None;
            }
            all = Some(number);
        }
        all
    }

    fn is_header(&self, block: u32) -> bool {
        slice::is_header(self.flow, block)
    }

    /// The branch whose edges join in a block, and the edge taken in this iteration.
    fn taken(&self, block: u32, depth: u32) -> Option<(u32, u32)> {
        let up = *self.flow.cfg.idom.get(block as usize)?;
        if up == NONE {
            return None;
        }
        let (p, _) = self.flow.guard(self.flow.cfg.branch(up)?)?;
        let is = self.eval(p, depth)? != 0;
        for (n, e) in self.flow.cfg.blocks[up as usize].succ.iter().enumerate() {
            if e.when == Some(is) {
                return Some((up, n as u32));
            }
        }
        None
    }

    /// Does this edge of a branch lead to the predecessor of the join?
    fn edge_leads_to(&self, up: u32, edge: u32, pred: (u32, u32), block: u32) -> bool {
        if pred.0 == up {
            return pred.1 == edge;
        }
        let to = self.flow.cfg.blocks[up as usize].succ[edge as usize].to;
        to != block && self.flow.cfg.dominates(to, pred.0)
    }

    /// Adds the predicates of the branches that lead to an instruction, and its guard.
    fn conditions(&self, block: u32, at: u32, out: &mut Vec<Val>) {
        out.extend(self.flow.guard(at).map(|(p, _)| p));
        let mut b = block;
        for _ in 0..200 {
            let up = self.flow.cfg.idom[b as usize];
            if b == self.header || up == NONE || up == b {
                return;
            }
            if self.flow.cfg.ipdom[up as usize] != b
                && let Some(branch) = self.flow.cfg.branch(up)
            {
                out.extend(self.flow.guard(branch).map(|(p, _)| p));
            }
            b = up;
        }
    }

    /// Can the instruction execute in this iteration, as far as the branches that lead there and its guard are known?
    pub fn runs(&self, block: u32, at: u32) -> bool {
        let cfg = &self.flow.cfg;
        if let Some((p, positive)) = self.flow.guard(at)
            && matches!(self.value(p), Some(n) if (n != 0) != positive)
        {
            return false;
        }
        let mut b = block;
        for _ in 0..200 {
            let up = cfg.idom[b as usize];
            if b == self.header || up == NONE || up == b {
                break;
            }
            if let Some(branch) = cfg.branch(up)
                && let Some((p, _)) = self.flow.guard(branch)
                && let Some(is) = self.value(p)
                && !self.leads(up, is != 0, b)
            {
                return false;
            }
            b = up;
        }
        true
    }

    /// Does the thread certainly execute the instruction in this iteration? It needs all conditions on the way from the entry, and loops
    /// before this one end.
    pub fn surely_executes(&self, block: u32, at: u32) -> bool {
        let cfg = &self.flow.cfg;
        if let Some((p, positive)) = self.flow.guard(at)
            && self.value(p).is_none_or(|n| (n != 0) != positive)
        {
            return false;
        }
        let mut b = block;
        loop {
            let up = cfg.idom[b as usize];
            if up == NONE || up == b {
                return up == b;
            }
            if cfg.ipdom[up as usize] != b && !self.surely_leads(up, b) {
                return false;
            }
            b = up;
        }
    }

    /// Does the branch at the end of block `up` certainly lead to block `b` in this iteration?
    fn surely_leads(&self, up: u32, b: u32) -> bool {
        let cfg = &self.flow.cfg;
        let Some((p, _)) = cfg.branch(up).and_then(|branch| self.flow.guard(branch)) else { return false };
        let Some(is) = self.value(p) else { return false };
        let taken = cfg.blocks[up as usize].succ.iter().find(|e| e.when == Some(is != 0));
        taken.is_some_and(|e| cfg.post_dominates(b, e.to))
    }

    /// Does the thread certainly begin another iteration of the loop after this one? The conditions of all ways out are known.
    pub fn surely_repeats(&self) -> bool {
        let cfg = &self.flow.cfg;
        let inside = |b: u32| self.loops.contains(self.header, b);
        let leaves = |b: u32| cfg.blocks[b as usize].succ.iter().any(|e| !inside(e.to));
        let stays = |b: u32| {
            let guard = cfg.branch(b).and_then(|branch| self.flow.guard(branch));
            let Some(is) = guard.and_then(|(p, _)| self.value(p)) else { return false };
            cfg.blocks[b as usize].succ.iter().any(|e| e.when == Some(is != 0) && inside(e.to))
        };
        cfg.rpo.iter().all(|&b| !inside(b) || !leaves(b) || stays(b))
    }

    /// Can the edge for this value of the predicate lead to a block that the branch dominates?
    pub fn leads(&self, up: u32, is: bool, to: u32) -> bool {
        let cfg = &self.flow.cfg;
        for e in &cfg.blocks[up as usize].succ {
            // If only the other edge leads there, this one does not.
            let other = e.when == Some(!is) && (e.to == to || cfg.dominates(e.to, to));
            if other && cfg.only_predecessor(e.to, up) {
                return false;
            }
        }
        true
    }

    /// Is the loop certainly left in this iteration?
    pub fn ends(&self) -> bool {
        self.every_iteration(&mut |b| self.leaves(b))
    }

    /// Adds the predicates of the branches that leave the loop.
    fn exits(&self, out: &mut Vec<Val>) {
        self.every_iteration(&mut |b| {
            if let Some(branch) = self.flow.cfg.branch(b)
                && self.flow.cfg.blocks[b as usize].succ.iter().any(|e| !self.loops.contains(self.header, e.to))
            {
                out.extend(self.flow.guard(branch).map(|(p, _)| p));
            }
            false
        });
    }

    /// Visits the blocks that every iteration executes, the dominators of the latch, until one says yes.
    fn every_iteration(&self, visit: &mut dyn FnMut(u32) -> bool) -> bool {
        let Some(mut b) = self.latch() else { return false };
        for _ in 0..200 {
            if visit(b) {
                return true;
            }
            let up = self.flow.cfg.idom[b as usize];
            if b == self.header || up == NONE || up == b {
                return false;
            }
            b = up;
        }
        false
    }

    /// The latch of the loop, if there is only one.
    fn latch(&self) -> Option<u32> {
        let mut last = None;
        for (p, _) in &self.flow.cfg.blocks.get(self.header as usize)?.pred {
            if self.flow.cfg.dominates(self.header, *p) {
                if last.is_some() {
                    return None;
                }
                last = Some(*p);
            }
        }
        last
    }

    /// Does the branch at the end of a block leave the loop in this iteration?
    fn leaves(&self, b: u32) -> bool {
        let Some(branch) = self.flow.cfg.branch(b) else { return false };
        let Some((p, _)) = self.flow.guard(branch) else { return false };
        let Some(is) = self.value(p) else { return false };
        let edges = &self.flow.cfg.blocks[b as usize].succ;
        edges.iter().any(|e| e.when == Some(is != 0) && !self.loops.contains(self.header, e.to))
    }
}
