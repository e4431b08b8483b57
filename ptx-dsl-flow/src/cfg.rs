//! The control-flow graph: blocks, edges with what the branch's predicate is on them, reverse postorder, dominators.

use ptx_dsl_table::hir::{Function, Instr, Operand, Stmt};
use ptx_dsl_table::list::List;

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
    match i.entry.opcode {
        "bra" | "brx.idx" | "ret" | "exit" => true,
        "trap" => i.pred.is_none(),
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

    /// Is there an instruction whose opcode begins so?
    pub(super) fn has(&self, prefix: &str) -> bool {
        self.any(&|i| i.entry.opcode.starts_with(prefix))
    }

    pub(super) fn new(function: &'h Function) -> Cfg<'h> {
        let mut instrs = Vec::new();
        let mut blocks = vec![Block::default(), Block::default()];
        let mut at_label = vec![NONE; function.labels.len()];
        for stmt in &function.body {
            match stmt {
                Stmt::Label(id) => {
                    let here = instrs.len() as u32;
                    let last = blocks.len() - 1;
                    if blocks[last].first != here || last == 0 {
                        blocks[last].end = here;
                        blocks.push(Block { first: here, ..Block::default() });
                    }
                    if let Some(slot) = at_label.get_mut(id.0 as usize) {
                        *slot = blocks.len() as u32 - 1;
                    }
                }
                Stmt::Instr(i) => {
                    instrs.push(&**i);
                    if ends(i) {
                        let here = instrs.len() as u32;
                        let last = blocks.len() - 1;
                        blocks[last].end = here;
                        blocks.push(Block { first: here, ..Block::default() });
                    }
                }
            }
        }
        let here = instrs.len() as u32;
        let last = blocks.len() - 1;
        blocks[last].end = here;
        let exit = blocks.len() as u32;
        blocks.push(Block { first: here, end: here, ..Block::default() });
        for b in 0..exit {
            let end = blocks[b as usize].end;
            let empty = blocks[b as usize].first == end;
            let next = b + 1;
            let succ = match instrs.get((end as usize).wrapping_sub(1)) {
                Some(i) if !empty && ends(i) => ways(i, next, exit, &at_label),
                _ => vec![Edge { to: next, when: None }],
            };
            blocks[b as usize].succ = succ;
        }
        let mut cfg = Cfg {
            instrs,
            blocks,
            exit,
            rpo: Vec::new(),
            ipdom: Vec::new(),
            idom: Vec::new(),
            below: Vec::new(),
            cyclic: Vec::new(),
            block_of: Vec::new(),
        };
        cfg.order();
        cfg
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
        let forward = |b: u32| self.blocks[b as usize].succ.iter().map(|e| e.to).list();
        let post = postorder(0, n, &forward);
        let rpo = post.iter().rev().copied().list();
        let mut pred: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for &b in &rpo {
            for (k, e) in self.blocks[b as usize].succ.iter().enumerate() {
                pred[e.to as usize].push((b, k as u32));
            }
        }
        for (block, p) in self.blocks.iter_mut().zip(pred) {
            block.pred = p;
        }
        self.rpo = rpo;
        let preds = |b: u32| self.blocks[b as usize].pred.iter().map(|p| p.0).list();
        let succs = |b: u32| self.blocks[b as usize].succ.iter().map(|e| e.to).list();
        self.idom = dominators(n, &post, &preds);
        self.cyclic = cyclic(n, &self.rpo, &self.blocks);
        let back = postorder(self.exit, n, &preds);
        self.ipdom = dominators(n, &back, &succs);
        self.below = intervals(&self.idom);
        self.block_of = vec![NONE; self.instrs.len()];
        for (b, block) in self.blocks.iter().enumerate() {
            self.block_of[block.first as usize..block.end as usize].fill(b as u32);
        }
    }

    /// Does every way to `b` lead through `a`? Nothing leads through [`NONE`], where the ways of a loop without an end meet.
    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        let Some(((first, last), (at, _))) = self.below.get(a as usize).zip(self.below.get(b as usize)) else {
            return false;
        };
        let (first, last, at) = (*first, *last, *at);
        at != NONE && first <= at && at <= last
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
fn ways(i: &Instr, next: u32, exit: u32, at_label: &[u32]) -> Vec<Edge> {
    let label =
        |id: &ptx_dsl_table::hir::LabelId| at_label.get(id.0 as usize).copied().filter(|b| *b != NONE).unwrap_or(exit);
    let mut targets = Vec::new();
    match i.entry.opcode {
        "bra" | "brx.idx" => {
            for arg in &i.operands {
                match &arg.value {
                    Operand::Label(id) => targets.push(label(id)),
                    Operand::Labels(ids) => targets.extend(ids.iter().map(label)),
                    _ => {}
                }
            }
            targets.dedup();
            if targets.is_empty() {
                targets.push(exit);
            }
        }
        _ => targets.push(exit),
    }
    match &i.pred {
        None => targets.into_iter().map(|to| Edge { to, when: None }).list(),
        Some((_, positive)) => {
            let mut out = targets.into_iter().map(|to| Edge { to, when: Some(*positive) }).list();
            out.push(Edge { to: next, when: Some(!positive) });
            out
        }
    }
}

fn postorder(root: u32, n: usize, next: &dyn Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut seen = vec![false; n];
    let mut out = Vec::new();
    let mut stack = vec![(root, next(root), 0usize)];
    seen[root as usize] = true;
    while let Some((b, list, at)) = stack.last_mut() {
        if let Some(&to) = list.get(*at) {
            *at += 1;
            if !seen[to as usize] {
                seen[to as usize] = true;
                let list = next(to);
                stack.push((to, list, 0));
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

/// Immediate dominators, after Cooper, Harvey and Kennedy. The root is its own.
fn dominators(n: usize, post: &[u32], preds: &dyn Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut number = vec![NONE; n];
    for (k, &b) in post.iter().enumerate() {
        number[b as usize] = k as u32;
    }
    let mut dom = vec![NONE; n];
    let Some(&root) = post.last() else { return dom };
    dom[root as usize] = root;
    let lists = post.iter().map(|&b| preds(b)).list();
    let mut changed = true;
    while changed {
        changed = false;
        for (k, &b) in post.iter().enumerate().rev() {
            if b == root {
                continue;
            }
            let mut new = NONE;
            for &p in &lists[k] {
                if number[p as usize] == NONE || dom[p as usize] == NONE {
                    continue;
                }
                new = if new == NONE { p } else { meet(new, p, &dom, &number) };
            }
            if dom[b as usize] != new {
                dom[b as usize] = new;
                changed = true;
            }
        }
    }
    dom
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
