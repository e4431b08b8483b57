//! The control-flow graph: basic blocks, edges labelled with the guard of the branch, reverse postorder, dominator and
//! post-dominator trees.

use ptx_dsl_isa::hir::{Function, Instr, LabelId, Operand, Stmt};
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::opcode::Opcode;

pub use crate::graph::NONE;
use crate::graph::{cyclic, dominators, intervals, postorder};

/// A basic block: straight-line code.
#[derive(Debug, Default)]
pub struct Block {
    /// Number of its first instruction.
    pub first: u32,
    /// One past its last.
    pub end: u32,
    /// Edges to its successors.
    pub succ: Vec<Edge>,
    /// Reachable predecessors, each with the number of its edge.
    pub pred: Vec<(u32, u32)>,
}

/// An edge to a successor.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// The successor.
    pub to: u32,
    /// The value of the guard of the block's last instruction on this edge.
    pub when: Option<bool>,
}

/// The graph of a function body. Block 0 is an empty entry block; the last block, [`Cfg::exit`], is an empty exit block.
pub struct Cfg<'h> {
    /// The instructions of the body, in the order of the text.
    pub instrs: Vec<&'h Instr>,
    /// The blocks, in the order of the text.
    pub blocks: Vec<Block>,
    /// The exit block.
    pub exit: u32,
    /// Reachable blocks in reverse postorder.
    pub rpo: Vec<u32>,
    /// Immediate post-dominators, [`NONE`] where the end cannot be reached.
    pub ipdom: Vec<u32>,
    /// Immediate dominators.
    pub idom: Vec<u32>,
    /// By block: the range of preorder numbers of its dominator subtree.
    below: Vec<(u32, u32)>,
    /// By block: it is on a cycle.
    cyclic: Vec<bool>,
    /// By instruction: its block.
    block_of: Vec<u32>,
}

/// Does the instruction end a block?
fn ends(i: &Instr) -> bool {
    i.entry.effects.control.ends_block(i.pred.is_some())
}

impl<'h> Cfg<'h> {
    /// The first instruction for which the predicate holds. Takes a trait object to avoid a copy for each predicate.
    pub fn find(&self, is: &dyn Fn(&Instr) -> bool) -> Option<&'h Instr> {
        self.instrs.iter().copied().find(|i| is(i))
    }

    /// Does the predicate hold for some instruction?
    pub fn any(&self, is: &dyn Fn(&Instr) -> bool) -> bool {
        self.find(is).is_some()
    }

    /// Is there an instruction with this opcode?
    pub fn has(&self, opcode: Opcode) -> bool {
        self.any(&|i| i.opcode == opcode)
    }

    /// Adds the successors of a block.
    pub fn push_successors(&self, b: u32, out: &mut Vec<u32>) {
        out.extend(self.blocks[b as usize].succ.iter().map(|e| e.to));
    }

    /// Adds the predecessors of a block.
    pub fn push_predecessors(&self, b: u32, out: &mut Vec<u32>) {
        out.extend(self.blocks[b as usize].pred.iter().map(|(p, _)| *p));
    }

    /// By block: is it reachable from the end of one of these?
    pub fn reachable_from(&self, blocks: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut stack = Vec::new();
        for b in blocks {
            self.push_successors(b, &mut stack);
        }
        let mut out = vec![false; self.blocks.len()];
        while let Some(b) = stack.pop() {
            if !std::mem::replace(&mut out[b as usize], true) {
                self.push_successors(b, &mut stack);
            }
        }
        out
    }

    /// By block: is it one of these, or does it reach one of them?
    pub fn blocks_reaching(&self, blocks: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut stack: Vec<u32> = blocks.into_iter().collect();
        let mut out = vec![false; self.blocks.len()];
        while let Some(b) = stack.pop() {
            if !std::mem::replace(&mut out[b as usize], true) {
                self.push_predecessors(b, &mut stack);
            }
        }
        out
    }

    /// Is `from` the only predecessor of the block, back edges aside?
    pub fn only_predecessor(&self, block: u32, from: u32) -> bool {
        self.blocks[block as usize].pred.iter().all(|(p, _)| *p == from || self.dominates(block, *p))
    }

    /// Does `a` post-dominate `b`?
    pub fn post_dominates(&self, a: u32, b: u32) -> bool {
        let mut at = b;
        while at != a {
            match self.ipdom.get(at as usize) {
                Some(&up) if up != NONE && up != at => at = up,
                _ => return false,
            }
        }
        true
    }

    /// The graph of a function.
    pub fn new(function: &'h Function) -> Cfg<'h> {
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

    /// Ends the current block and starts a new one.
    fn cut(&mut self) {
        let here = self.here();
        if let Some(last) = self.blocks.last_mut() {
            last.end = here;
        }
        self.blocks.push(Block { first: here, end: here, ..Block::default() });
    }

    /// Adds the edges of each block.
    fn link(&mut self, at_label: &[u32]) {
        for b in 0..self.exit {
            let block = &mut self.blocks[b as usize];
            match self.instrs.get((block.end as usize).wrapping_sub(1)) {
                Some(i) if block.first != block.end && ends(i) => {
                    add_edges(i, b + 1, self.exit, at_label, &mut block.succ);
                }
                _ => block.succ.push(Edge { to: b + 1, when: None }),
            }
        }
    }

    /// The instructions of a block.
    pub fn range(&self, b: u32) -> std::ops::Range<u32> {
        let block = &self.blocks[b as usize];
        block.first..block.end
    }

    /// The branch at the end of a block that has several successors.
    pub fn branch(&self, b: u32) -> Option<u32> {
        let block = &self.blocks[b as usize];
        (block.succ.len() > 1).then(|| block.end.wrapping_sub(1))
    }

    fn order(&mut self) {
        let n = self.blocks.len();
        let post = postorder(0, n, &|b, out| self.push_successors(b, out));
        for &b in post.iter().rev() {
            self.rpo.push(b);
            for k in 0..self.blocks[b as usize].succ.len() {
                let to = self.blocks[b as usize].succ[k].to;
                self.blocks[to as usize].pred.push((b, k as u32));
            }
        }
        self.idom = dominators(n, &post, &|b, out| self.push_predecessors(b, out));
        self.cyclic = cyclic(n, &self.rpo, &|b, out| self.push_predecessors(b, out));
        let back = postorder(self.exit, n, &|b, out| self.push_predecessors(b, out));
        self.ipdom = dominators(n, &back, &|b, out| self.push_successors(b, out));
        self.below = intervals(&self.idom);
        self.block_of = vec![NONE; self.instrs.len()];
        for (b, block) in self.blocks.iter().enumerate() {
            for at in block.first..block.end {
                self.block_of[at as usize] = b as u32;
            }
        }
    }

    /// Does `a` dominate `b`? [`NONE`] dominates nothing.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        match (self.below.get(a as usize), self.below.get(b as usize)) {
            (Some(&(first, last)), Some(&(at, _))) => at != NONE && first <= at && at <= last,
            _ => false,
        }
    }

    /// Is the block on a cycle?
    pub fn in_loop(&self, b: u32) -> bool {
        self.cyclic[b as usize]
    }

    /// The block of an instruction.
    pub fn block_of(&self, at: u32) -> u32 {
        self.block_of[at as usize]
    }
}

/// Adds the edges of an instruction that ends a block.
fn add_edges(i: &Instr, next: u32, exit: u32, at_label: &[u32], out: &mut Vec<Edge>) {
    let (when, other) = match &i.pred {
        None => (None, None),
        Some((_, positive)) => (Some(*positive), Some(!positive)),
    };
    let mut add = |id: &LabelId| {
        let to = match at_label.get(id.0 as usize) {
            Some(&b) if b != NONE => b,
            _ => exit,
        };
        // The same label twice in a row makes one edge.
        if !matches!(out.last(), Some(e) if e.to == to) {
            out.push(Edge { to, when });
        }
    };
    if matches!(i.entry.effects.control, Control::Branch | Control::BranchTable) {
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
