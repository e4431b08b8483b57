//! What the counters of a loop are in its first rounds: the values that are made of constants, round by round.

use super::Flow;
use super::cfg::NONE;
use super::fold::fold;
use super::loops::Loops;
use super::ssa::{Val, Value, place};
use ptx_dsl_table::hir::Operand;

/// A loop in one of its rounds: the first one when the loop is entered for the first time, and those behind it.
pub(super) struct Rounds<'a, 'h> {
    flow: &'a Flow<'h>,
    loops: &'a Loops,
    /// The header of the loop; [`NONE`] for none.
    header: u32,
    /// Values that meet at the header, and what they are in this round.
    now: Vec<(Val, Option<u64>)>,
    /// What special registers are to the thread that is asked about, if it is one alone.
    special: Option<&'a dyn Fn(&str) -> Option<u64>>,
    /// What is asked about is behind the loop, which was left in this round.
    left: bool,
}

/// Values that a question may look at. More than that are no counter.
const BUDGET: u32 = 400;
/// Values that meet at a header, of which something is made.
const COUNTERS: usize = 24;

/// Special registers of the first thread of a CTA.
fn thread_0(name: &str) -> Option<u64> {
    matches!(name, "%tid.x" | "%tid.y" | "%tid.z" | "%laneid").then_some(0)
}

impl<'a, 'h> Rounds<'a, 'h> {
    /// The loop with this header, and what these values are made of. `None` if that is too much.
    pub(super) fn new(
        flow: &'a Flow<'h>,
        loops: &'a Loops,
        header: u32,
        values: &[Val],
    ) -> Option<Rounds<'a, 'h>> {
        Rounds::with(flow, loops, header, values, None)
    }

    /// The same as the first thread of a CTA sees it.
    pub(super) fn of_thread_0(
        flow: &'a Flow<'h>,
        loops: &'a Loops,
        header: u32,
        values: &[Val],
    ) -> Option<Rounds<'a, 'h>> {
        Rounds::with(flow, loops, header, values, Some(&thread_0))
    }

    /// `special`: what special registers are to one thread.
    pub(super) fn with(
        flow: &'a Flow<'h>,
        loops: &'a Loops,
        header: u32,
        values: &[Val],
        special: Option<&'a dyn Fn(&str) -> Option<u64>>,
    ) -> Option<Rounds<'a, 'h>> {
        let mut rounds = Rounds { flow, loops, header, now: Vec::new(), special, left: false };
        for v in counters(flow, header, values)? {
            let first = rounds.met(v, false, &mut { BUDGET });
            rounds.now.push((v, first));
        }
        Some(rounds)
    }

    /// The innermost loop from which these values come, to a place behind it; and the loop as it is left in its first round.
    pub(super) fn behind(flow: &'a Flow<'h>, loops: &'a Loops, block: u32, values: &[Val]) -> Option<Rounds<'a, 'h>> {
        let mut header: Option<u32> = None;
        for h in headers(flow, values)? {
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
        let mut rounds = Rounds::new(flow, loops, header?, values)?;
        rounds.left = true;
        Some(rounds)
    }

    /// Does any of the values change from round to round?
    pub(super) fn varies(&self) -> bool {
        !self.now.is_empty()
    }

    /// Goes to the next round.
    pub(super) fn next(&mut self) {
        let mut next = Vec::with_capacity(self.now.len());
        for (v, _) in &self.now {
            next.push((*v, self.met(*v, true, &mut { BUDGET })));
        }
        self.now = next;
    }

    /// What a value is in this round.
    pub(super) fn value(&self, v: Val) -> Option<u64> {
        self.eval(v, &mut { BUDGET })
    }

    /// What an operand of an instruction is in this round; of an address in a variable, the bytes behind the start of it.
    pub(super) fn operand(&self, at: u32, o: &Operand) -> Option<u64> {
        self.read(at, o, &mut { BUDGET })
    }

    fn read(&self, at: u32, o: &Operand, budget: &mut u32) -> Option<u64> {
        match o {
            Operand::Imm(n) => Some(*n),
            Operand::VarAddr(_, offset) => Some(*offset as u64),
            Operand::Reg(r, lane) => self.eval(self.flow.ssa.read(at, *r, *lane), budget),
            Operand::NotReg(r) => Some(u64::from(self.eval(self.flow.ssa.read(at, *r, 0), budget)? == 0)),
            Operand::Sreg(name) => (self.special?)(name),
            _ => None,
        }
    }

    fn eval(&self, v: Val, budget: &mut u32) -> Option<u64> {
        *budget = budget.checked_sub(1)?;
        let v = self.flow.origin(v);
        for (known, number) in &self.now {
            if *known == v {
                return *number;
            }
        }
        match &self.flow.ssa.values[v as usize] {
            Value::Undef | Value::Param => None,
            Value::Def { instr, var, old } => {
                if let Some(old) = old {
                    let (p, positive) = self.flow.guard(*instr)?;
                    if (self.eval(p, budget)? != 0) != positive {
                        return self.eval(*old, budget);
                    }
                }
                let i = self.flow.instr(*instr);
                // What is known here is the same for all lanes, unless a thread was named.
                if i.entry.opcode == "shfl.sync" && self.special.is_none() {
                    return self.read(*instr, &i.operand("a")?.value, budget);
                }
                match &i.operands.first()?.value {
                    Operand::Reg(r, lane) if self.flow.ssa.var(*r, *lane) == *var => {}
                    _ => return None,
                }
                fold(i, &mut |o| self.read(*instr, o, budget))
            }
            Value::Phi { block, .. } => {
                let header = self.is_header(*block);
                // What a loop that is over, or one inside of this one, leaves is not known.
                if header && !self.loops.contains(*block, self.header) {
                    return None;
                }
                self.meet(v, budget, |_| true)
            }
        }
    }

    /// What comes to the header from outside of the loop, or from inside.
    fn met(&self, v: Val, inside: bool, budget: &mut u32) -> Option<u64> {
        self.meet(v, budget, |p| self.flow.cfg.dominates(self.header, p) == inside)
    }

    /// What meets in a block by these of its predecessors.
    fn meet(&self, v: Val, budget: &mut u32, of: impl Fn(u32) -> bool) -> Option<u64> {
        let Value::Phi { block, args } = &self.flow.ssa.values[v as usize] else { return None };
        let pred = &self.flow.cfg.blocks[*block as usize].pred;
        let header = self.is_header(*block);
        let taken = if header { None } else { self.taken(*block, budget) };
        let from_loop = |p: u32| self.flow.cfg.dominates(self.header, p);
        let left = self.left && pred.iter().any(|p| from_loop(p.0));
        let mut all = None;
        for p in pred {
            // Of a loop around this one it is the first round.
            if !of(p.0)
                || (left && !from_loop(p.0))
                || (header && *block != self.header && self.flow.cfg.dominates(*block, p.0)) {
                continue;
            }
            if matches!(taken, Some((up, edge)) if !self.by(up, edge, *p, *block)) {
                continue;
            }
            let number = self.eval(*args.get(place(pred, *p)?)?, budget)?;
            if all.is_some_and(|n| n != number) {
                return None;
            }
            all = Some(number);
        }
        all
    }

    fn is_header(&self, block: u32) -> bool {
        for (p, _) in &self.flow.cfg.blocks[block as usize].pred {
            if self.flow.cfg.dominates(block, *p) {
                return true;
            }
        }
        false
    }

    /// The branch whose ways meet in a block, and the way that is taken in this round.
    fn taken(&self, block: u32, budget: &mut u32) -> Option<(u32, u32)> {
        let up = *self.flow.cfg.idom.get(block as usize)?;
        if up == NONE {
            return None;
        }
        let (p, _) = self.flow.guard(self.flow.cfg.branch(up)?)?;
        let is = self.eval(p, budget)? != 0;
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
    pub(super) fn conditions(flow: &Flow, header: u32, block: u32, at: u32, out: &mut Vec<Val>) {
        out.extend(flow.guard(at).map(|(p, _)| p));
        let mut b = block;
        for _ in 0..200 {
            let up = flow.cfg.idom[b as usize];
            if b == header || up == NONE || up == b {
                return;
            }
            if flow.cfg.ipdom[up as usize] != b
                && let Some(branch) = flow.cfg.branch(up)
            {
                out.extend(flow.guard(branch).map(|(p, _)| p));
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
            // Where a way does not dominate the block, others may lead there too.
            let away = e.when == Some(!is) && (e.to == to || cfg.dominates(e.to, to)) && self.only_by(e.to, up);
            if away {
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
        let cfg = &self.flow.cfg;
        let Some(mut b) = self.last_block() else { return false };
        // Up the dominators of where a round ends: each round comes through these.
        for _ in 0..200 {
            if self.leaves(b) {
                return true;
            }
            let up = cfg.idom[b as usize];
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

/// The headers of loops at which something meets from which these values are made.
fn headers(flow: &Flow, values: &[Val]) -> Option<Vec<u32>> {
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    let mut stack = values.to_vec();
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > BUDGET as usize {
            return None;
        }
        match &flow.ssa.values[v as usize] {
            Value::Phi { block, .. } => {
                let pred = &flow.cfg.blocks[*block as usize].pred;
                if pred.iter().any(|(p, _)| flow.cfg.dominates(*block, *p)) && !found.contains(block) {
                    found.push(*block);
                }
            }
            Value::Def { instr, old: None, .. } if flow.instr(*instr).address().is_some() => continue,
            _ => {}
        }
        flow.ssa.push_sources(v, &mut stack);
    }
    Some(found)
}

/// The values that meet at the header of a loop and from which these are made.
fn counters(flow: &Flow, header: u32, values: &[Val]) -> Option<Vec<Val>> {
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    let mut stack = values.to_vec();
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > BUDGET as usize || found.len() > COUNTERS {
            return None;
        }
        match &flow.ssa.values[v as usize] {
            Value::Phi { block, .. } if *block == header => found.push(v),
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
            // What is loaded is no counter.
            Value::Def { instr, old: None, .. } if flow.instr(*instr).address().is_some() => continue,
            _ => {}
        }
        flow.ssa.push_sources(v, &mut stack);
    }
    Some(found)
}
