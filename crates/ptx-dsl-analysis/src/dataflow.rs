//! A forward data-flow framework on bit sets: iteration over the blocks in reverse postorder until nothing changes. Meet is union
//! (some path) or intersection (every path).

use crate::cfg::Cfg;
use fixedbitset::FixedBitSet;
use ptx_dsl_isa::hir::Instr;

/// A set of the numbers below a bound. Numbers beyond it are never in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits(FixedBitSet);

impl Bits {
    /// The empty set of numbers below `n`.
    pub fn none(n: usize) -> Bits {
        Bits(FixedBitSet::with_capacity(n))
    }

    /// All numbers below `n`.
    pub fn all(n: usize) -> Bits {
        let mut all = Bits::none(n);
        all.fill();
        all
    }

    /// Is the number in the set?
    pub fn has(&self, n: usize) -> bool {
        self.0.contains(n)
    }

    /// Adds a number.
    pub fn set(&mut self, n: usize) {
        self.put(n, true);
    }

    /// Removes a number.
    pub fn unset(&mut self, n: usize) {
        self.put(n, false);
    }

    /// Adds or removes a number.
    pub fn put(&mut self, n: usize, on: bool) {
        if n < self.0.len() {
            self.0.set(n, on);
        }
    }

    /// Sets bit `n` of the `many` bits from `base` on, and clears the others.
    pub fn set_state(&mut self, base: usize, many: usize, n: usize) {
        for k in 0..many {
            self.put(base + k, k == n);
        }
    }

    /// Moves a bit: clears `from` and sets `to` if `from` was set.
    pub fn transition(&mut self, from: usize, to: usize) {
        if self.has(from) {
            self.unset(from);
            self.set(to);
        }
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds all.
    pub fn fill(&mut self) {
        self.0.insert_range(..);
    }

    /// Meets another set. Returns whether this one changed.
    fn meet(&mut self, other: &Bits, meet: Meet) -> bool {
        match meet {
            Meet::Any => {
                let changed = !other.0.is_subset(&self.0);
                self.0.union_with(&other.0);
                changed
            }
            Meet::Every => {
                let changed = !self.0.is_subset(&other.0);
                self.0.intersect_with(&other.0);
                changed
            }
        }
    }
}

/// The meet operator at joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meet {
    /// On some path.
    Any,
    /// On every path.
    Every,
}

/// Solves for the sets at the start of each block. `block` is the transfer function of a block, `edge` that of an edge. A block
/// that is not reachable has no bits under `Any` and all under `Every`.
pub fn forward(
    cfg: &Cfg,
    bits: usize,
    meet: Meet,
    block: &mut dyn FnMut(u32, &mut Bits),
    edge: &mut dyn FnMut(u32, usize, &mut Bits),
) -> Vec<Bits> {
    let top = match meet {
        Meet::Any => Bits::none(bits),
        Meet::Every => Bits::all(bits),
    };
    let mut at = vec![top; cfg.blocks.len()];
    if bits == 0 {
        return at;
    }
    let Some(&entry) = cfg.rpo.first() else { return at };
    at[entry as usize] = Bits::none(bits);
    let mut dirty = vec![true; cfg.blocks.len()];
    loop {
        let mut any = false;
        for &b in &cfg.rpo {
            if !std::mem::take(&mut dirty[b as usize]) {
                continue;
            }
            any = true;
            let mut out = at[b as usize].clone();
            block(b, &mut out);
            for (n, e) in cfg.blocks[b as usize].succ.iter().enumerate() {
                let mut over = out.clone();
                edge(b, n, &mut over);
                if at[e.to as usize].meet(&over, meet) {
                    dirty[e.to as usize] = true;
                }
            }
        }
        if !any {
            return at;
        }
    }
}

/// The transfer function of an instruction.
pub type Step<'a> = &'a dyn Fn(u32, &Instr, &mut Bits);

/// [`forward`] with a transfer function for each instruction and none for edges.
pub fn forward_instrs(cfg: &Cfg, bits: usize, meet: Meet, step: Step) -> Vec<Bits> {
    let mut block = |b: u32, set: &mut Bits| {
        for at in cfg.range(b) {
            step(at, cfg.instrs[at as usize], set);
        }
    };
    forward(cfg, bits, meet, &mut block, &mut |_, _, _| {})
}

/// Calls `see` with each block, its instructions and the bits before them on some path.
pub fn for_each_instr(cfg: &Cfg, bits: usize, step: Step, see: &mut dyn FnMut(u32, u32, &Instr, &Bits)) {
    for_each_instr_edge(cfg, bits, step, &|_, _, _| {}, see);
}

/// [`for_each_instr`] with a transfer function for edges, which gets the block and its successor.
pub fn for_each_instr_edge(
    cfg: &Cfg,
    bits: usize,
    step: Step,
    edge: &dyn Fn(u32, u32, &mut Bits),
    see: &mut dyn FnMut(u32, u32, &Instr, &Bits),
) {
    let mut block = |b: u32, set: &mut Bits| {
        for at in cfg.range(b) {
            step(at, cfg.instrs[at as usize], set);
        }
    };
    let mut over = |b: u32, n: usize, set: &mut Bits| edge(b, cfg.blocks[b as usize].succ[n].to, set);
    let at_start = forward(cfg, bits, Meet::Any, &mut block, &mut over);
    for &b in &cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in cfg.range(b) {
            let i = cfg.instrs[at as usize];
            see(b, at, i, &set);
            step(at, i, &mut set);
        }
    }
}

/// Calls `see` with each instruction and the bits before it, on some path and on every path. `step` is told which of the two it
/// computes.
pub fn for_each_instr_some_every(
    cfg: &Cfg,
    bits: usize,
    step: &dyn Fn(u32, &Instr, &mut Bits, bool),
    see: &mut dyn FnMut(u32, &Instr, &Bits, &Bits),
) {
    let on_some: Step = &|at, i, set| step(at, i, set, false);
    let on_every: Step = &|at, i, set| step(at, i, set, true);
    let some_at = forward_instrs(cfg, bits, Meet::Any, on_some);
    let every_at = forward_instrs(cfg, bits, Meet::Every, on_every);
    for &b in &cfg.rpo {
        let (mut some, mut every) = (some_at[b as usize].clone(), every_at[b as usize].clone());
        for at in cfg.range(b) {
            let i = cfg.instrs[at as usize];
            see(at, i, &some, &every);
            step(at, i, &mut some, false);
            step(at, i, &mut every, true);
        }
    }
}
