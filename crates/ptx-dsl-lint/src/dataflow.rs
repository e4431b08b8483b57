//! A forward dataflow framework: sets of bits, a worklist over blocks in reverse postorder.

use super::cfg::Cfg;
use ptx_dsl_isa::hir::Instr;

/// A set of small numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn none(n: usize) -> Bits {
        Bits(vec![0; n.div_ceil(64)])
    }

    pub(super) fn all(n: usize) -> Bits {
        Bits(vec![u64::MAX; n.div_ceil(64)])
    }

    pub(super) fn has(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
    }

    pub(super) fn set(&mut self, n: usize) {
        if let Some(w) = self.0.get_mut(n / 64) {
            *w |= 1 << (n % 64);
        }
    }

    pub(super) fn unset(&mut self, n: usize) {
        if let Some(w) = self.0.get_mut(n / 64) {
            *w &= !(1 << (n % 64));
        }
    }

    pub(super) fn put(&mut self, n: usize, on: bool) {
        if on {
            self.set(n);
        } else {
            self.unset(n);
        }
    }

    /// Of `many` bits from `base` on, sets this one and unsets the others.
    pub(super) fn begin(&mut self, base: usize, many: usize, n: usize) {
        for k in 0..many {
            self.put(base + k, k == n);
        }
    }

    /// What is in one state is in another one now.
    pub(super) fn turn(&mut self, from: usize, to: usize) {
        if self.has(from) {
            self.unset(from);
            self.set(to);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    pub(super) fn fill(&mut self) {
        self.0.fill(u64::MAX);
    }

    /// Meets another set; says whether that changed this one.
    fn meet(&mut self, other: &Bits, meet: Meet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            let new = match meet {
                Meet::Any => *a | b,
                Meet::Every => *a & b,
            };
            changed |= new != *a;
            *a = new;
        }
        changed
    }
}

/// What a bit at a join means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meet {
    /// On some path.
    Any,
    /// On every path.
    Every,
}

/// The sets at the start of each block. `block` carries a set over a block, `edge` over one of its ways out.
/// What no path reaches has no bits under `Any` and all under `Every`.
pub(super) fn forward(
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

/// What an instruction does to a set.
pub(super) type Step<'a> = &'a dyn Fn(u32, &Instr, &mut Bits);

/// `forward` for rules that change nothing on edges and go instruction by instruction.
pub(super) fn simple(cfg: &Cfg, bits: usize, meet: Meet, step: Step) -> Vec<Bits> {
    let mut block = |b: u32, set: &mut Bits| {
        for at in cfg.range(b) {
            step(at, cfg.instrs[at as usize], set);
        }
    };
    forward(cfg, bits, meet, &mut block, &mut |_, _, _| {})
}

/// Calls `see` with each block and instruction, and what holds before it on some path.
pub(super) fn each(cfg: &Cfg, bits: usize, step: Step, see: &mut dyn FnMut(u32, u32, &Instr, &Bits)) {
    let at_start = simple(cfg, bits, Meet::Any, step);
    for &b in &cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in cfg.range(b) {
            let i = cfg.instrs[at as usize];
            see(b, at, i, &set);
            step(at, i, &mut set);
        }
    }
}

/// Calls `see` with each instruction, and what holds before it on some path and on every path; `step` is told whether it is
/// for every path.
pub(super) fn both(
    cfg: &Cfg,
    bits: usize,
    step: &dyn Fn(u32, &Instr, &mut Bits, bool),
    see: &mut dyn FnMut(u32, &Instr, &Bits, &Bits),
) {
    let on_some: Step = &|at, i, set| step(at, i, set, false);
    let on_every: Step = &|at, i, set| step(at, i, set, true);
    let some_at = simple(cfg, bits, Meet::Any, on_some);
    let every_at = simple(cfg, bits, Meet::Every, on_every);
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
