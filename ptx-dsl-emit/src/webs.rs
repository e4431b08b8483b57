//! A register that is used for several things, one after the other, becomes several: what is written to it and what is read of
//! that (a web) has a number of its own, so that a row here and 32 lanes there do not have to be kept as lanes both.

use super::classes::registers;
use super::regions::callees;
use crate::roles::written;
use crate::sorted::Map;
use ptx_dsl_table::hir::{Base, FuncId, Function, Instr, LabelId, Operand, RegId, Stmt};
use ptx_dsl_table::list::List;

/// Definitions of a register that is looked at, at most: they are bits.
const MOST: usize = 64;

/// The kernel with its registers renamed: it must not call any function. `None` if there is nothing to rename.
pub fn renamed(kernel: &Function) -> Option<Function> {
    Webs::new(kernel)?.rename()
}

/// A function without its body.
fn bare(f: &Function) -> Function {
    Function {
        name: f.name.clone(),
        linkage: f.linkage.clone(),
        params: f.params.clone(),
        rets: f.rets.clone(),
        regs: f.regs.clone(),
        labels: f.labels.clone(),
        body: Vec::new(),
        ..*f
    }
}

struct Block {
    from: usize,
    to: usize,
    before: Vec<usize>,
}

struct Webs<'m> {
    f: &'m Function,
    code: Vec<&'m Instr>,
    blocks: Vec<Block>,
    /// The block of each instruction.
    block_of: Vec<usize>,
    /// By register: the instructions that write it and those that read it.
    writes: Vec<Vec<usize>>,
    reads: Vec<Vec<usize>>,
}

impl<'m> Webs<'m> {
    fn new(f: &'m Function) -> Option<Self> {
        let mut code: Vec<&Instr> = Vec::new();
        let mut labels: Map<LabelId, usize> = Map::new();
        for s in &f.body {
            match s {
                Stmt::Label(l) => {
                    labels.insert(*l, code.len());
                }
                Stmt::Instr(i) if i.entry.opcode == "call" || !callees(i).is_empty() => return None,
                Stmt::Instr(i) => code.push(i),
            }
        }
        let ends = |i: &Instr| matches!(i.entry.opcode, "bra" | "brx.idx" | "ret" | "exit");
        let mut first = vec![false; code.len()];
        let behind = code.iter().enumerate().filter(|(_, i)| ends(i)).map(|(n, _)| n + 1);
        for n in labels.iter().map(|(_, at)| *at).chain(behind).chain([0]) {
            if let Some(first) = first.get_mut(n) {
                *first = true;
            }
        }
        let starts = (0..code.len()).filter(|n| first[*n]).list();
        let at = |n: usize| starts.binary_search(&n).ok();
        let mut blocks: Vec<Block> = starts
            .iter()
            .zip(starts.iter().skip(1).chain([&code.len()]))
            .map(|(from, to)| Block { from: *from, to: *to, before: Vec::new() })
            .list();
        for b in 0..blocks.len() {
            let last = code.get(blocks[b].to.checked_sub(1)?)?;
            let named = last.operands.iter().flat_map(|a| match &a.value {
                Operand::Label(l) => vec![*l],
                Operand::Labels(list) => list.clone(),
                _ => Vec::new(),
            });
            let falls = last.pred.is_some() || !ends(last);
            let on = if falls { Some(blocks[b].to) } else { None };
            let after = named.filter_map(|l| labels.get(&l).copied()).chain(on).filter_map(at).list();
            after.into_iter().for_each(|s| blocks[s].before.push(b));
        }
        let (mut writes, mut reads) = (vec![Vec::new(); f.regs.len()], vec![Vec::new(); f.regs.len()]);
        for (n, i) in code.iter().enumerate() {
            for a in &i.operands {
                mention(&a.value, if written(a) { &mut writes } else { &mut reads }, n);
            }
            if let Some((p, _)) = &i.pred {
                mention(p, &mut reads, n);
            }
        }
        let block_of = blocks.iter().enumerate().flat_map(|(b, block)| (block.from..block.to).map(move |_| b)).list();
        Some(Webs { f, code, blocks, block_of, writes, reads })
    }

    /// Does a write keep what was there, for some?
    fn keeps(&self, write: usize) -> bool {
        self.code[write].pred.is_some()
    }

    /// Registers that are looked at, as many as have room for their writes in a word, each with the first bit of its own.
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

    /// The writes of these registers that come to each block.
    fn reaching(&self, batch: &[(usize, usize)]) -> Vec<u64> {
        // what a block makes of what comes to it
        let (mut sets, mut ends) = (vec![0u64; self.blocks.len()], vec![0u64; self.blocks.len()]);
        for &(r, first) in batch {
            let all = bits(self.writes[r].len()) << first;
            for (w, at) in self.writes[r].iter().enumerate() {
                let b = self.block_of[*at];
                if !self.keeps(*at) {
                    sets[b] &= !all;
                    ends[b] |= all;
                }
                sets[b] |= 1 << (first + w);
            }
        }
        let loops = self.blocks.iter().enumerate().any(|(b, block)| block.before.iter().any(|p| *p >= b));
        let mut into = vec![0u64; self.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..self.blocks.len() {
                let set = self.blocks[b].before.iter().fold(0, |set, p| set | into[*p] & !ends[*p] | sets[*p]);
                changed |= loops && into[b] != set;
                into[b] = set;
            }
        }
        into
    }

    /// For each write of a register and for each instruction that reads it, the first write of its web, by number. `into` is what
    /// comes to each block, from the bit `first` on.
    fn webs(&self, r: usize, first: usize, into: &[u64]) -> Option<(Vec<usize>, Map<usize, usize>)> {
        let (writes, reads) = (&self.writes[r], &self.reads[r]);
        let n = writes.len();
        let mut web = (0..n).list();
        fn root(web: &[usize], mut w: usize) -> usize {
            while web[w] != w {
                w = web[w];
            }
            w
        }
        // all of a set are one
        let mut join = |set: u64| {
            let mut all = (0..n).filter(|w| set >> w & 1 != 0);
            let mut first = root(&web, all.next()?);
            for w in all {
                let other = root(&web, w);
                let (low, high) = (first.min(other), first.max(other));
                web[high] = low;
                first = low;
            }
            Some(first)
        };
        let mut read_at = Map::new();
        let (mut w, mut u) = (0, 0);
        while let Some(at) = writes.get(w).into_iter().chain(reads.get(u)).min() {
            let b = self.block_of[*at];
            let to = self.blocks[b].to;
            let mut set = into[b] >> first & bits(n);
            loop {
                let (write, read) = (writes.get(w).filter(|w| **w < to), reads.get(u).filter(|u| **u < to));
                match (write, read) {
                    (write, Some(read)) if write.is_none_or(|write| read <= write) => {
                        read_at.extend(join(set).map(|first| (*read, first)));
                        u += 1;
                    }
                    (Some(write), _) => {
                        if self.keeps(*write) {
                            set |= 1 << w;
                            join(set);
                        } else {
                            set = 1 << w;
                        }
                        w += 1;
                    }
                    _ => break,
                }
            }
        }
        let webs = (0..n).map(|w| root(&web, w)).list();
        read_at.iter_mut().for_each(|(_, w)| *w = webs[*w]);
        webs.iter().any(|w| *w != 0).then_some((webs, read_at))
    }

    fn rename(&self) -> Option<Function> {
        // by register and instruction: its new number as what is written, and as what is read
        let (mut to, mut from) = (Map::new(), Map::new());
        let mut f = bare(self.f);
        let batches = self.batches();
        let all = batches.iter().flat_map(|batch| {
            let into = self.reaching(batch);
            batch.iter().map(move |&(r, first)| (r, self.webs(r, first, &into))).list()
        });
        for (r, webs) in all {
            let Some((webs, read_at)) = webs else { continue };
            // the first keeps the name
            let mut numbers = Map::new();
            numbers.insert(0, RegId(r as u32));
            for w in &webs {
                if !numbers.contains_key(w) {
                    numbers.insert(*w, RegId(f.regs.len() as u32));
                    f.regs.push(self.f.regs[r].clone());
                }
            }
            to.extend(self.writes[r].iter().zip(&webs).map(|(n, w)| ((r as u32, *n), numbers[w])));
            from.extend(read_at.iter().map(|(n, w)| ((r as u32, *n), numbers[w])));
        }
        if to.is_empty() {
            return None;
        }
        let mut n = 0;
        let body = self.f.body.iter().map(|s| {
            let Stmt::Instr(i) = s else { return s.clone() };
            let mut i = i.clone();
            let new = |map: &Map<(u32, usize), RegId>, r: RegId| map.get(&(r.0, n)).copied().unwrap_or(r);
            for a in &mut i.operands {
                let map = if written(a) { &to } else { &from };
                rename(&mut a.value, &|r| new(map, r));
            }
            if let Some((p, _)) = &mut i.pred {
                rename(p, &|r| new(&from, r));
            }
            n += 1;
            Stmt::Instr(i)
        });
        f.body = body.list();
        Some(f)
    }
}

/// As many bits.
fn bits(n: usize) -> u64 {
    u64::MAX >> (64 - n.clamp(1, 64))
}

/// Registers of an operand get the instruction.
fn mention(o: &Operand, by: &mut [Vec<usize>], n: usize) {
    let mut keys = Vec::new();
    registers(FuncId(0), o, &mut keys);
    for (_, r, _) in keys {
        if let Some(list) = by.get_mut(r as usize)
            && list.last() != Some(&n)
        {
            list.push(n);
        }
    }
}

fn rename(o: &mut Operand, new: &impl Fn(RegId) -> RegId) {
    match o {
        Operand::Reg(r, _) | Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => {
            *r = new(*r)
        }
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            list.iter_mut().for_each(|o| rename(o, new));
        }
        Operand::Pair(a, b) => {
            rename(a, new);
            rename(b, new);
        }
        Operand::Neg(o) => rename(o, new),
        _ => {}
    }
}
