//! The control-flow graph: blocks, edges with what the branch's predicate is on them, reverse postorder, dominators.

use ptx_dsl_isa::hir::{Function, Instr, LabelId, Operand, Stmt};
use ptx_dsl_isa::opcode::{Opcode, op};

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// Instructions in a row, with one way in and ways out at the end.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub first: u32,
    pub end: u32,
    pub succ: Vec<Edge>,
    /// Reachable predecessors, each with the number of its edge.
    pub pred: Vec<(u32, u32)>,
}

/// A way out of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub to: u32,
    /// The value of the guard of the block's last instruction on this way.
    pub when: Option<bool>,
}

/// The graph of a body. Block 0 is empty and comes first; the last one, [`Cfg::exit`], is empty too and stands for the end.
pub(super) struct Cfg<'h> {
    pub instrs: Vec<&'h Instr>,
    pub blocks: Vec<Block>,
    pub exit: u32,
    /// Reachable blocks in reverse postorder.
    pub rpo: Vec<u32>,
    /// Immediate post-dominators, [`NONE`] where the end cannot be reached.
    pub ipdom: Vec<u32>,
    /// Immediate dominators.
    pub idom: Vec<u32>,
    /// First and last number of what each block dominates, itself included.
    below: Vec<(u32, u32)>,
    /// By block: it can be reached from itself.
    cyclic: Vec<bool>,
    /// By instruction: its block.
    block_of: Vec<u32>,
}

/// Does the instruction end a block?
fn ends(i: &Instr) -> bool {
    match i.opcode {
        op::bra | op::brx_idx | op::ret | op::exit => true,
        op::trap => i.pred.is_none(),
        _ => false,
    }
}

impl<'h> Cfg<'h> {
    /// The first instruction of which this holds. Not generic, as what asks is: that is compiled for each question.
    pub(super) fn find(&self, is: &dyn Fn(&Instr) -> bool) -> Option<&'h Instr> {
        self.instrs.iter().copied().find(|i| is(i))
    }

    pub(super) fn any(&self, is: &dyn Fn(&Instr) -> bool) -> bool {
        self.find(is).is_some()
    }

    /// Is there an instruction with this opcode?
    pub(super) fn has(&self, opcode: Opcode) -> bool {
        self.any(&|i| i.opcode == opcode)
    }

    /// Adds the blocks that a block leads to.
    pub(super) fn push_ways(&self, b: u32, out: &mut Vec<u32>) {
        for e in &self.blocks[b as usize].succ {
            out.push(e.to);
        }
    }

    /// Adds the blocks that lead to a block.
    pub(super) fn push_preds(&self, b: u32, out: &mut Vec<u32>) {
        for (p, _) in &self.blocks[b as usize].pred {
            out.push(*p);
        }
    }

    pub(super) fn new(function: &'h Function) -> Cfg<'h> {
        let mut cfg = Cfg {
            instrs: Vec::new(),
            blocks: vec![Block::default(), Block::default()],
            exit: 0,
            rpo: Vec::new(),
            ipdom: Vec::new(),
            idom: Vec::new(),
            below: Vec::new(),
            cyclic: Vec::new(),
            block_of: Vec::new(),
        };
        let mut at_label = vec![NONE; function.labels.len()];
        for stmt in &function.body {
            match stmt {
                Stmt::Label(id) => {
                    let last = cfg.blocks.len() - 1;
                    if cfg.blocks[last].first != cfg.here() || last == 0 {
                        cfg.cut();
                    }
                    if let Some(slot) = at_label.get_mut(id.0 as usize) {
                        *slot = cfg.blocks.len() as u32 - 1;
                    }
                }
                Stmt::Instr(i) => {
                    cfg.instrs.push(&**i);
                    if ends(i) {
                        cfg.cut();
                    }
                }
            }
        }
        cfg.exit = cfg.blocks.len() as u32;
        cfg.cut();
        cfg.link(&at_label);
        cfg.order();
        cfg
    }

    /// The number of the next instruction.
    fn here(&self) -> u32 {
        self.instrs.len() as u32
    }

    /// Ends the last block here, and begins another one.
    fn cut(&mut self) {
        let here = self.here();
        if let Some(last) = self.blocks.last_mut() {
            last.end = here;
        }
        self.blocks.push(Block { first: here, end: here, ..Block::default() });
    }

    /// Finds the ways out of each block.
    fn link(&mut self, at_label: &[u32]) {
        for b in 0..self.exit {
            let block = &mut self.blocks[b as usize];
            match self.instrs.get((block.end as usize).wrapping_sub(1)) {
                Some(i) if block.first != block.end && ends(i) => {
                    ways(i, b + 1, self.exit, at_label, &mut block.succ);
                }
                _ => block.succ.push(Edge { to: b + 1, when: None }),
            }
        }
    }

    /// The instructions of a block.
    pub(super) fn range(&self, b: u32) -> std::ops::Range<u32> {
        let block = &self.blocks[b as usize];
        block.first..block.end
    }

    /// The instruction at the end of a block that chooses between ways.
    pub(super) fn branch(&self, b: u32) -> Option<u32> {
        let block = &self.blocks[b as usize];
        (block.succ.len() > 1).then(|| block.end.wrapping_sub(1))
    }

    fn order(&mut self) {
        let n = self.blocks.len();
        let post = postorder(0, n, &|b, out| self.push_ways(b, out));
        for &b in post.iter().rev() {
            self.rpo.push(b);
            for k in 0..self.blocks[b as usize].succ.len() {
                let to = self.blocks[b as usize].succ[k].to;
                self.blocks[to as usize].pred.push((b, k as u32));
            }
        }
        self.idom = dominators(n, &post, &|b, out| self.push_preds(b, out));
        self.cyclic = cyclic(n, &self.rpo, &self.blocks);
        let back = postorder(self.exit, n, &|b, out| self.push_preds(b, out));
        self.ipdom = dominators(n, &back, &|b, out| self.push_ways(b, out));
        self.below = intervals(&self.idom);
        self.block_of = vec![NONE; self.instrs.len()];
        for (b, block) in self.blocks.iter().enumerate() {
            for at in block.first..block.end {
                self.block_of[at as usize] = b as u32;
            }
        }
    }

    /// Does every way to `b` lead through `a`? Nothing leads through [`NONE`], where the ways of a loop without an end meet.
    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        match (self.below.get(a as usize), self.below.get(b as usize)) {
            (Some(&(first, last)), Some(&(at, _))) => at != NONE && first <= at && at <= last,
            _ => false,
        }
    }

    /// Can the block be reached from itself?
    pub(super) fn in_loop(&self, b: u32) -> bool {
        self.cyclic[b as usize]
    }

    /// The block of an instruction.
    pub(super) fn block_of(&self, at: u32) -> u32 {
        self.block_of[at as usize]
    }
}

/// Where an instruction that ends a block leads.
fn ways(i: &Instr, next: u32, exit: u32, at_label: &[u32], out: &mut Vec<Edge>) {
    let (when, other) = match &i.pred {
        None => (None, None),
        Some((_, positive)) => (Some(*positive), Some(!positive)),
    };
    let mut add = |id: &LabelId| {
        let to = match at_label.get(id.0 as usize) {
            Some(&b) if b != NONE => b,
            _ => exit,
        };
        // The same label twice in a row is one way.
        if !matches!(out.last(), Some(e) if e.to == to) {
            out.push(Edge { to, when });
        }
    };
    if matches!(i.opcode, op::bra | op::brx_idx) {
        for arg in &i.operands {
            match &arg.value {
                Operand::Label(id) => add(id),
                Operand::Labels(ids) => {
                    for id in ids {
                        add(id);
                    }
                }
                _ => {}
            }
        }
    }
    if out.is_empty() {
        out.push(Edge { to: exit, when });
    }
    if other.is_some() {
        out.push(Edge { to: next, when: other });
    }
}

/// `next` adds what a block leads to.
fn postorder(root: u32, n: usize, next: &dyn Fn(u32, &mut Vec<u32>)) -> Vec<u32> {
    let mut seen = vec![false; n];
    let mut out = Vec::new();
    let list = |b: u32| {
        let mut list = Vec::new();
        next(b, &mut list);
        list
    };
    let mut stack = vec![(root, list(root), 0usize)];
    seen[root as usize] = true;
    while let Some((b, ways, at)) = stack.last_mut() {
        if let Some(&to) = ways.get(*at) {
            *at += 1;
            if !seen[to as usize] {
                seen[to as usize] = true;
                stack.push((to, list(to), 0));
            }
        } else {
            out.push(*b);
            stack.pop();
        }
    }
    out
}

/// Blocks of strongly connected components with an edge, after Kosaraju.
fn cyclic(n: usize, rpo: &[u32], blocks: &[Block]) -> Vec<bool> {
    let mut of = vec![NONE; n];
    let mut out = vec![false; n];
    for &root in rpo {
        if of[root as usize] != NONE {
            continue;
        }
        of[root as usize] = root;
        let mut stack = vec![root];
        while let Some(b) = stack.pop() {
            for (p, _) in &blocks[b as usize].pred {
                if of[*p as usize] == NONE {
                    of[*p as usize] = root;
                    stack.push(*p);
                }
                // An edge inside of the component.
                if of[*p as usize] == root {
                    out[b as usize] = true;
                    out[*p as usize] = true;
                }
            }
        }
    }
    out
}

/// Immediate dominators, after Cooper, Harvey and Kennedy. The root is its own. `preds` adds what leads to a block.
fn dominators(n: usize, post: &[u32], preds: &dyn Fn(u32, &mut Vec<u32>)) -> Vec<u32> {
    let mut number = vec![NONE; n];
    let mut lists: Vec<Vec<u32>> = Vec::with_capacity(post.len());
    for (k, &b) in post.iter().enumerate() {
        number[b as usize] = k as u32;
        let mut list = Vec::new();
        preds(b, &mut list);
        lists.push(list);
    }
    let mut dom = vec![NONE; n];
    let Some(&root) = post.last() else { return dom };
    dom[root as usize] = root;
    while dominate(post, &lists, &number, &mut dom) {}
    dom
}

/// One round over all blocks but the root, which comes last in `post`; says whether it changed anything.
fn dominate(post: &[u32], lists: &[Vec<u32>], number: &[u32], dom: &mut [u32]) -> bool {
    let mut changed = false;
    for k in (0..post.len() - 1).rev() {
        let b = post[k];
        let mut new = NONE;
        for &p in &lists[k] {
            if number[p as usize] == NONE || dom[p as usize] == NONE {
                continue;
            }
            new = if new == NONE { p } else { meet(new, p, dom, number) };
        }
        if dom[b as usize] != new {
            dom[b as usize] = new;
            changed = true;
        }
    }
    changed
}

fn meet(mut a: u32, mut b: u32, dom: &[u32], number: &[u32]) -> u32 {
    while a != b {
        while number[a as usize] < number[b as usize] {
            a = dom[a as usize];
        }
        while number[b as usize] < number[a as usize] {
            b = dom[b as usize];
        }
    }
    a
}

/// Numbers the tree of dominators so that what a block dominates is a range.
fn intervals(idom: &[u32]) -> Vec<(u32, u32)> {
    let mut children = vec![Vec::new(); idom.len()];
    for (b, &up) in idom.iter().enumerate() {
        if up != NONE && up != b as u32 {
            children[up as usize].push(b as u32);
        }
    }
    let mut out = vec![(NONE, NONE); idom.len()];
    let mut next = 0;
    let mut stack = vec![(0u32, 0usize)];
    if idom.first().is_none_or(|d| *d == NONE) {
        return out;
    }
    out[0].0 = 0;
    while let Some((b, at)) = stack.last_mut() {
        if let Some(&child) = children[*b as usize].get(*at) {
            *at += 1;
            next += 1;
            out[child as usize].0 = next;
            stack.push((child, 0));
        } else {
            out[*b as usize].1 = next;
            stack.pop();
        }
    }
    out
}
