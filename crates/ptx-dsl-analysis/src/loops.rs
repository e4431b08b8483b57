//! Natural loops: the innermost loop of each block and the loop around each loop, by backward walks from the back edges.

use crate::cfg::{Cfg, NONE};

/// Natural loops by their headers.
pub struct Loops {
    /// By block: the header of its innermost loop; [`NONE`] for none.
    inner: Vec<u32>,
    /// By header: the header of the enclosing loop.
    outer: Vec<u32>,
    /// The graph is irreducible: some loop has several entries.
    irreducible: bool,
}

impl Loops {
    /// The loops of a graph.
    pub fn new(cfg: &Cfg) -> Loops {
        let n = cfg.blocks.len();
        let mut place = vec![NONE; n];
        for (k, &b) in cfg.rpo.iter().enumerate() {
            place[b as usize] = k as u32;
        }
        let mut out = Loops { inner: vec![NONE; n], outer: vec![NONE; n], irreducible: false };
        // Reverse order visits inner loops first.
        let mut budget = 32 * n + 1000;
        for &h in cfg.rpo.iter().rev() {
            let mut stack: Vec<u32> = Vec::new();
            for (p, _) in &cfg.blocks[h as usize].pred {
                if place[*p as usize] >= place[h as usize] {
                    if cfg.dominates(h, *p) {
                        stack.push(*p);
                    } else {
                        out.irreducible = true;
                    }
                }
            }
            if stack.is_empty() {
                continue;
            }
            while let Some(b) = stack.pop() {
                budget = budget.saturating_sub(1);
                if budget == 0 {
                    out.irreducible = true;
                    return out;
                }
                if b == h {
                    continue;
                }
                let head = out.top(b);
                if head == h {
                    continue;
                }
                if head == NONE {
                    out.inner[b as usize] = h;
                    cfg.push_predecessors(b, &mut stack);
                } else {
                    // A whole loop inside this one.
                    out.outer[head as usize] = h;
                    for (p, _) in &cfg.blocks[head as usize].pred {
                        if !cfg.dominates(head, *p) {
                            stack.push(*p);
                        }
                    }
                }
            }
            out.inner[h as usize] = h;
        }
        out
    }

    /// The outermost loop known so far around a block.
    fn top(&self, b: u32) -> u32 {
        let mut at = self.inner[b as usize];
        while at != NONE && self.outer[at as usize] != NONE {
            at = self.outer[at as usize];
        }
        at
    }

    /// The header of the innermost loop around a block.
    pub fn innermost(&self, b: u32) -> Option<u32> {
        match self.inner.get(b as usize) {
            Some(&h) if h != NONE => Some(h),
            _ => None,
        }
    }

    /// The header of the loop around the one with this header.
    pub fn parent(&self, header: u32) -> Option<u32> {
        match self.outer.get(header as usize) {
            Some(&h) if h != NONE => Some(h),
            _ => None,
        }
    }

    /// Is the block in the loop with this header?
    pub fn contains(&self, header: u32, b: u32) -> bool {
        let mut at = self.innermost(b);
        while let Some(h) = at {
            if h == header {
                return true;
            }
            at = self.parent(h);
        }
        false
    }

    /// Is the graph irreducible, so that the loops are incomplete?
    pub fn irreducible(&self) -> bool {
        self.irreducible
    }

    /// Are the two in the same loops?
    pub fn same_loops(&self, a: u32, b: u32) -> bool {
        !self.irreducible && self.innermost(a) == self.innermost(b)
    }
}
