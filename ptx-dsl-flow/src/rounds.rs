//! What the counters of a loop are in its first rounds: values that are made of constants, and of the number of a thread if one is
//! asked about, round by round.

use super::Flow;
use super::cfg::NONE;
use super::fold::fold;
use super::loops::Loops;
use super::ssa::{Val, Value, place};
use ptx_dsl_table::hir::Operand;
use std::cell::{Cell, RefCell};

mod slice;
use slice::Slice;

/// A loop in one of its rounds: the first one when the loop is entered for the first time, and those behind it.
pub(super) struct Rounds<'a, 'h> {
    flow: &'a Flow<'h>,
    loops: &'a Loops,
    /// The header of the loop; [`NONE`] for none.
    header: u32,
    /// What the values are made of that are asked about.
    slice: Slice,
    /// What the counters of the slice are in this round.
    now: Vec<Option<u64>>,
    /// By value of the slice: what is known of it in this round.
    memo: RefCell<Vec<Memo>>,
    /// The thread that is asked about, if it is one alone.
    thread: Option<Thread>,
    /// What is asked about is behind the loop, which was left in this round.
    left: bool,
    /// Values that were worked out, and those that the present question may still look at.
    spent: Cell<u32>,
    budget: Cell<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Memo {
    Open,
    Done(Option<u64>),
}

/// Values that one question may look at, and one behind the other.
const BUDGET: u32 = 500;
const DEPTH: u32 = 200;

/// A thread of a CTA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thread {
    /// Its linear number.
    pub number: usize,
    /// The shape of the CTA, if that is known; the first thread is the first one in any.
    pub shape: Option<[u32; 3]>,
}

impl Thread {
    /// What a special register is to the thread.
    fn special(self, name: &str) -> Option<u64> {
        let t = self.number as u64;
        let [x, y, z] = self.shape.or((t == 0).then_some([1; 3]))?.map(|n| u64::from(n.max(1)));
        let size = |n: u64| self.shape.map(|_| n);
        match name {
            "%tid.x" => Some(t % x),
            "%tid.y" => Some(t / x % y),
            "%tid.z" => Some(t / (x * y)),
            "%ntid.x" => size(x),
            "%ntid.y" => size(y),
            "%ntid.z" => size(z),
            "%laneid" => Some(t % 32),
            "WARP_SZ" => Some(32),
            _ => None,
        }
    }
}

/// An instruction and its block, if the values are those that it needs.
pub(super) type Place = Option<(u32, u32)>;

impl<'a, 'h> Rounds<'a, 'h> {
    /// The loop with this header, what these values are made of, and the branches that lead to an instruction. `None` if that is
    /// too much.
    pub(super) fn new(
        flow: &'a Flow<'h>,
        loops: &'a Loops,
        header: u32,
        values: &[Val],
        at: Place,
    ) -> Option<Rounds<'a, 'h>> {
        let mut rounds = Rounds {
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
            rounds.conditions(block, at, &mut all);
        }
        rounds.exits(&mut all);
        // How the instruction is reached may depend on much more than what it does.
        rounds.slice = match Slice::new(flow, header, &all) {
            Some(slice) => slice,
            None => Slice::new(flow, header, values)?,
        };
        rounds.now = vec![None; rounds.slice.counters.len()];
        rounds.begin(None);
        Some(rounds)
    }

    /// The innermost loop from which these values come, to a place behind it; and the loop as it is left in its first round.
    pub(super) fn behind(flow: &'a Flow<'h>, loops: &'a Loops, block: u32, values: &[Val]) -> Option<Rounds<'a, 'h>> {
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
        let mut rounds = Rounds::new(flow, loops, header?, values, None)?;
        rounds.left = true;
        Some(rounds)
    }

    /// Does any of the values change from round to round? `None` if that is too much to ask.
    pub(super) fn vary(flow: &Flow, header: u32, values: &[Val]) -> Option<bool> {
        Some(!Slice::new(flow, header, values)?.counters.is_empty())
    }

    /// Goes back to the first round, as this thread sees it, or all of them alike.
    pub(super) fn begin(&mut self, thread: Option<Thread>) {
        self.thread = thread;
        self.turn(false);
    }

    /// Goes to the next round.
    pub(super) fn next(&mut self) {
        self.turn(true);
    }

    /// What comes to the header from inside of the loop, or from outside.
    fn turn(&mut self, inside: bool) {
        if !inside {
            self.now.fill(None);
            self.forget();
        }
        let mut next = Vec::with_capacity(self.now.len());
        for v in &self.slice.counters {
            self.budget.set(BUDGET);
            next.push(self.meet(*v, DEPTH, &|p| self.flow.cfg.dominates(self.header, p) == inside));
        }
        self.now = next;
        self.forget();
    }

    fn forget(&mut self) {
        let memo = self.memo.get_mut();
        memo.clear();
        memo.resize(self.slice.values.len(), Memo::Open);
    }

    /// So many values were worked out so far.
    pub(super) fn spent(&self) -> u32 {
        self.spent.get()
    }

    /// What a value is in this round.
    pub(super) fn value(&self, v: Val) -> Option<u64> {
        self.budget.set(BUDGET);
        self.eval(v, DEPTH)
    }

    /// What an operand of an instruction is in this round; of an address in a variable, the bytes behind the start of it.
    pub(super) fn operand(&self, at: u32, o: &Operand) -> Option<u64> {
        self.budget.set(BUDGET);
        self.read(at, o, DEPTH)
    }

    fn read(&self, at: u32, o: &Operand, depth: u32) -> Option<u64> {
        match o {
            Operand::Imm(n) => Some(*n),
            Operand::VarAddr(_, offset) => Some(*offset as u64),
            Operand::Reg(r, lane) => self.eval(self.flow.ssa.read(at, *r, *lane), depth),
            Operand::NotReg(r) => Some(u64::from(self.eval(self.flow.ssa.read(at, *r, 0), depth)? == 0)),
            Operand::Sreg(name) => self.thread?.special(name),
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
        let number = self.work_out(v, depth);
        if let Some(k) = known {
            self.memo.borrow_mut()[k] = Memo::Done(number);
        }
        number
    }

    fn work_out(&self, v: Val, depth: u32) -> Option<u64> {
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
                // What is known here is the same for all lanes, unless a thread was named.
                if i.entry.opcode == "shfl.sync" && self.thread.is_none() {
                    return self.read(*instr, &i.operand("a")?.value, depth);
                }
                match &i.operands.first()?.value {
                    Operand::Reg(r, lane) if self.flow.ssa.var(*r, *lane) == *var => {}
                    _ => return None,
                }
                fold(i, &mut |o| self.read(*instr, o, depth))
            }
            Value::Phi { block, .. } => {
                // What a loop that is over, or one inside of this one, leaves is not known.
                if self.is_header(*block) && !self.loops.contains(*block, self.header) {
                    return None;
                }
                self.meet(v, depth, &|_| true)
            }
        }
    }

    /// What meets in a block by these of its predecessors.
    fn meet(&self, v: Val, depth: u32, of: &dyn Fn(u32) -> bool) -> Option<u64> {
        let Value::Phi { block, args } = &self.flow.ssa.values[v as usize] else { return None };
        let cfg = &self.flow.cfg;
        let pred = &cfg.blocks[*block as usize].pred;
        let header = self.is_header(*block);
        let taken = if header { None } else { self.taken(*block, depth) };
        let from_loop = |p: u32| cfg.dominates(self.header, p);
        let left = self.left && pred.iter().any(|p| from_loop(p.0));
        let mut all = None;
        for p in pred {
            // Of a loop around this one it is the first round.
            let again = header && *block != self.header && cfg.dominates(*block, p.0);
            if again || !of(p.0) || (left && !from_loop(p.0)) {
                continue;
            }
            if matches!(taken, Some((up, edge)) if !self.by(up, edge, *p, *block)) {
                continue;
            }
            let number = self.eval(*args.get(place(pred, *p)?)?, depth)?;
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

    /// The branch whose ways meet in a block, and the way that is taken in this round.
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

    /// May the predecessor of a block be reached by this way of a branch?
    fn by(&self, up: u32, edge: u32, pred: (u32, u32), block: u32) -> bool {
        if pred.0 == up {
            return pred.1 == edge;
        }
        let to = self.flow.cfg.blocks[up as usize].succ[edge as usize].to;
        to != block && self.flow.cfg.dominates(to, pred.0)
    }

    /// Adds what the branches that lead to a block of the loop, and the guard of an instruction there, depend on.
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

    /// May an instruction of the loop run in this round, by the branches that lead there and by its guard?
    pub(super) fn runs(&self, block: u32, at: u32) -> bool {
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

    /// May the way of a branch on which its predicate is this lead to a block that it dominates?
    pub(super) fn leads(&self, up: u32, is: bool, to: u32) -> bool {
        let cfg = &self.flow.cfg;
        for e in &cfg.blocks[up as usize].succ {
            // Where the other way does not lead there alone, both may.
            let other = e.when == Some(!is) && (e.to == to || cfg.dominates(e.to, to));
            if other && self.only_by(e.to, up) {
                return false;
            }
        }
        true
    }

    /// Is the block reached from this one only, but for ways that come round?
    fn only_by(&self, block: u32, from: u32) -> bool {
        for (p, _) in &self.flow.cfg.blocks[block as usize].pred {
            if *p != from && !self.flow.cfg.dominates(block, *p) {
                return false;
            }
        }
        true
    }

    /// Is it certain that the loop is left in this round?
    pub(super) fn ends(&self) -> bool {
        self.every_round(&mut |b| self.leaves(b))
    }

    /// Adds what the branches depend on that leave the loop.
    fn exits(&self, out: &mut Vec<Val>) {
        self.every_round(&mut |b| {
            if let Some(branch) = self.flow.cfg.branch(b)
                && self.flow.cfg.blocks[b as usize].succ.iter().any(|e| !self.loops.contains(self.header, e.to))
            {
                out.extend(self.flow.guard(branch).map(|(p, _)| p));
            }
            false
        });
    }

    /// Asks about the blocks through which each round comes, until one says yes: the dominators of where a round ends.
    fn every_round(&self, ask: &mut dyn FnMut(u32) -> bool) -> bool {
        let Some(mut b) = self.last_block() else { return false };
        for _ in 0..200 {
            if ask(b) {
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

    /// The block from which the loop begins again, if it is one.
    fn last_block(&self) -> Option<u32> {
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

    /// Does the branch at the end of a block leave the loop in this round?
    fn leaves(&self, b: u32) -> bool {
        let Some(branch) = self.flow.cfg.branch(b) else { return false };
        let Some((p, _)) = self.flow.guard(branch) else { return false };
        let Some(is) = self.value(p) else { return false };
        for e in &self.flow.cfg.blocks[b as usize].succ {
            if e.when == Some(is != 0) && !self.loops.contains(self.header, e.to) {
                return true;
            }
        }
        false
    }
}
