//! Live-range splitting: each web of a register, a set of definitions with the uses they reach, becomes a register of its own.
//!
//! Compilers reuse registers. After splitting, a web whose lanes are affine is not kept as 32 lanes because of another web.
//! Reaching definitions are solved with bit vectors, for as many registers at once as fit a word; webs are joined by union-find.

use crate::cfg::Cfg;
use crate::use_def::is_destination;
use ptx_dsl_isa::hir::{Function, Operand, RegId, Stmt};
use ptx_dsl_isa::isa::Control;

/// The most definitions of a register that is split: they are bits of a word.
const MOST: usize = 64;

/// The kernel with its live ranges split. `None` if there is nothing to split, or if it calls functions.
pub fn split(kernel: &Function) -> Option<Function> {
    let cfg = Cfg::new(kernel);
    if cfg.any(&|i| i.entry.effects.control == Control::Call) {
        return None;
    }
    Webs::new(kernel, cfg).rename()
}

/// The webs of a register: for each of its definitions, and for each instruction that uses it, the number of the web's first definition.
type Found = (Vec<usize>, Vec<(usize, usize)>);

struct Webs<'m> {
    f: &'m Function,
    cfg: Cfg<'m>,
    /// The position of each instruction in the body.
    places: Vec<usize>,
    /// The instructions that write each register, and those that read it.
    writes: Vec<Vec<usize>>,
    reads: Vec<Vec<usize>>,
}

impl<'m> Webs<'m> {
    fn new(f: &'m Function, cfg: Cfg<'m>) -> Self {
        let statements = f.body.iter().enumerate();
        let places = statements.filter(|(_, s)| matches!(s, Stmt::Instr(_))).map(|(place, _)| place).collect();
        let (mut writes, mut reads) = (vec![Vec::new(); f.regs.len()], vec![Vec::new(); f.regs.len()]);
        for (n, i) in cfg.instrs.iter().enumerate() {
            for a in &i.operands {
                mention(&a.value, if is_destination(a) { &mut writes } else { &mut reads }, n);
            }
            if let Some((p, _)) = &i.pred {
                mention(p, &mut reads, n);
            }
        }
        Webs { f, cfg, places, writes, reads }
    }

    fn block_of(&self, at: usize) -> usize {
        self.cfg.block_of(at as u32) as usize
    }

    /// Does a definition keep the old value in some lanes?
    fn keeps(&self, write: usize) -> bool {
        self.cfg.instrs[write].pred.is_some()
    }

    /// Batches of registers whose definitions fit a word together, each with the first bit of its definitions.
    fn batches(&self) -> Vec<Vec<(usize, usize)>> {
        let mut batches: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut end = MOST;
        for (r, writes) in self.writes.iter().enumerate() {
            let n = writes.len();
            if !(2..=MOST).contains(&n) || self.f.regs[r].lanes != 1 {
                continue;
            }
            if end + n > MOST {
                batches.push(Vec::new());
                end = 0;
            }
            if let Some(batch) = batches.last_mut() {
                batch.push((r, end));
            }
            end += n;
        }
        batches
    }

    /// The definitions of these registers that reach each block.
    fn reaching(&self, batch: &[(usize, usize)]) -> Vec<u64> {
        let n = self.cfg.blocks.len();
        // gen and kill sets
        let (mut gen_sets, mut kills) = (vec![0u64; n], vec![0u64; n]);
        for &(r, first) in batch {
            let all = low_bits(self.writes[r].len()) << first;
            for (w, at) in self.writes[r].iter().enumerate() {
                let b = self.block_of(*at);
                if !self.keeps(*at) {
                    gen_sets[b] &= !all;
                    kills[b] |= all;
                }
                gen_sets[b] |= 1 << (first + w);
            }
        }
        let mut into = vec![0u64; n];
        let mut changed = true;
        while changed {
            changed = false;
            for b in self.cfg.rpo.iter().map(|b| *b as usize) {
                let mut set = 0;
                for p in self.cfg.blocks[b].pred.iter().map(|(p, _)| *p as usize) {
                    set |= into[p] & !kills[p] | gen_sets[p];
                }
                changed |= into[b] != set;
                into[b] = set;
            }
        }
        into
    }

    /// The webs of a register. `into`: the definitions that reach each block, from the bit `from` on. `None` if there is one web.
    fn webs(&self, r: usize, from: usize, into: &[u64]) -> Option<Found> {
        let (writes, reads) = (self.writes[r].as_slice(), self.reads[r].as_slice());
        let mut web = (0..writes.len()).collect::<Vec<usize>>();
        let mut read_at = Vec::new();
        let (mut w, mut u, mut block, mut set) = (0, 0, usize::MAX, 0);
        loop {
            let (at, write) = match (writes.get(w), reads.get(u)) {
                (None, None) => break,
                (Some(write), Some(read)) if write < read => (*write, true),
                (Some(write), None) => (*write, true),
                (_, Some(read)) => (*read, false),
            };
            if block != self.block_of(at) {
                block = self.block_of(at);
                set = into[block] >> from & low_bits(writes.len());
            }
            if !write {
                if let Some(first) = union(&mut web, set) {
                    read_at.push((at, first));
                }
                u += 1;
            } else {
                if self.keeps(at) {
                    set |= 1 << w;
                    union(&mut web, set);
                } else {
                    set = 1 << w;
                }
                w += 1;
            }
        }
        for w in 0..web.len() {
            web[w] = root(&web, w);
        }
        for (_, first) in &mut read_at {
            *first = web[*first];
        }
        if web.iter().any(|w| *w != 0) { Some((web, read_at)) } else { None }
    }

    fn rename(&self) -> Option<Function> {
        let mut renamed: Option<Function> = None;
        for batch in self.batches() {
            let into = self.reaching(&batch);
            for (r, first) in batch {
                let Some((webs, read_at)) = self.webs(r, first, &into) else { continue };
                let f = renamed.get_or_insert_with(|| self.f.clone());
                // a new register for each web but the first
                let old = RegId(r as u32);
                let mut numbers = vec![old.0; webs.len()];
                for (n, w) in webs.iter().enumerate() {
                    if n > 0 && n == *w {
                        numbers[n] = f.regs.len() as u32;
                        f.regs.push(self.f.regs[r].clone());
                    }
                    self.rename_in(f, self.writes[r][n], true, old, RegId(numbers[*w]));
                }
                for (n, w) in read_at {
                    self.rename_in(f, n, false, old, RegId(numbers[w]));
                }
            }
        }
        renamed
    }

    /// Renames a register that an instruction writes, or reads.
    fn rename_in(&self, f: &mut Function, n: usize, writes: bool, old: RegId, new: RegId) {
        let Stmt::Instr(i) = &mut f.body[self.places[n]] else { return };
        for a in &mut i.operands {
            if is_destination(a) == writes {
                rename(&mut a.value, old, new);
            }
        }
        if let Some((p, _)) = &mut i.pred
            && !writes
        {
            rename(p, old, new);
        }
    }
}

/// The first definition of the web of `w`. `web`: for each definition an earlier one of its web, or itself.
fn root(web: &[usize], mut w: usize) -> usize {
    while web[w] != w {
        w = web[w];
    }
    w
}

/// Joins the webs of a set of definitions. Returns the first definition.
fn union(web: &mut [usize], mut set: u64) -> Option<usize> {
    let mut first = None;
    while set != 0 {
        let other = root(web, set.trailing_zeros() as usize);
        set &= set - 1;
        let one = first.unwrap_or(other);
        web[one.max(other)] = one.min(other);
        first = Some(one.min(other));
    }
    first
}

/// The lowest `n` bits.
fn low_bits(n: usize) -> u64 {
    u64::MAX >> (64 - n.clamp(1, 64))
}

/// Adds the instruction to the lists of the operand's registers.
fn mention(o: &Operand, by: &mut [Vec<usize>], n: usize) {
    o.registers(&mut |r, _| {
        if let Some(list) = by.get_mut(r.0 as usize)
            && list.last() != Some(&n)
        {
            list.push(n);
        }
    });
}

fn rename(o: &mut Operand, old: RegId, new: RegId) {
    o.visit_mut(&mut |part| {
        if let Some(r) = part.register_mut()
            && *r == old
        {
            *r = new;
        }
    });
}
