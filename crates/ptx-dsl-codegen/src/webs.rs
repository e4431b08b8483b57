//! A register that is used for several things, one after the other, becomes several: what is written to it and what is read of
//! that (a web) has a number of its own, so that a row here and 32 lanes there do not have to be kept as lanes both.

use super::cutter::callees;
use super::mentions::registers;
use crate::roles::written;
use ptx_dsl_isa::hir::{Base, FuncId, Function, Instr, Operand, RegId, Stmt};

/// Definitions of a register that is looked at, at most: they are bits.
const MOST: usize = 64;

/// The kernel with its registers renamed: it must not call any function. `None` if there is nothing to rename.
pub fn renamed(kernel: &Function) -> Option<Function> {
    Webs::new(kernel)?.rename()
}

struct Block {
    /// The instruction behind its last.
    to: usize,
    before: Vec<usize>,
}

/// The webs of a register: for each of its writes, and for each instruction that reads it, the number of the first write.
type Found = (Vec<usize>, Vec<(usize, usize)>);

struct Webs<'m> {
    f: &'m Function,
    code: Vec<&'m Instr>,
    /// Where each instruction is in the body.
    places: Vec<usize>,
    blocks: Vec<Block>,
    /// The block of each instruction.
    block_of: Vec<usize>,
    /// By register: the instructions that write it and those that read it.
    writes: Vec<Vec<usize>>,
    reads: Vec<Vec<usize>>,
}

/// Does a block end behind it?
fn ends(i: &Instr) -> bool {
    matches!(i.entry.opcode, "bra" | "brx.idx" | "ret" | "exit")
}

impl<'m> Webs<'m> {
    fn new(f: &'m Function) -> Option<Self> {
        let (mut code, mut labels) = (Vec::<&Instr>::new(), vec![usize::MAX; f.labels.len()]);
        let mut places = Vec::new();
        for (place, s) in f.body.iter().enumerate() {
            match s {
                Stmt::Label(l) => labels[l.0 as usize] = code.len(),
                Stmt::Instr(i) if i.entry.opcode == "call" || !callees(i).is_empty() => return None,
                Stmt::Instr(i) => {
                    code.push(i);
                    places.push(place);
                }
            }
        }
        let (writes, reads) = (vec![Vec::new(); f.regs.len()], vec![Vec::new(); f.regs.len()]);
        let mut webs = Webs { f, code, places, blocks: Vec::new(), block_of: Vec::new(), writes, reads };
        webs.cut(&labels);
        webs.join(&labels);
        for (n, i) in webs.code.iter().enumerate() {
            for a in &i.operands {
                mention(&a.value, if written(a) { &mut webs.writes } else { &mut webs.reads }, n);
            }
            if let Some((p, _)) = &i.pred {
                mention(p, &mut webs.reads, n);
            }
        }
        Some(webs)
    }

    /// Cuts the code into blocks. `labels`: where each of them stands.
    fn cut(&mut self, labels: &[usize]) {
        let mut first = vec![false; self.code.len() + 1];
        let first = first.as_mut_slice();
        first[0] = true;
        for at in labels {
            if let Some(first) = first.get_mut(*at) {
                *first = true;
            }
        }
        for (n, i) in self.code.iter().enumerate() {
            if first[n] {
                self.blocks.push(Block { to: n, before: Vec::new() });
            }
            if let Some(block) = self.blocks.last_mut() {
                block.to = n + 1;
            }
            self.block_of.push(self.blocks.len() - 1);
            first[n + 1] |= ends(i);
        }
    }

    /// Finds the blocks before each block.
    fn join(&mut self, labels: &[usize]) {
        for b in 0..self.blocks.len() {
            let to = self.blocks[b].to;
            let last = self.code[to - 1];
            for a in &last.operands {
                let named = match &a.value {
                    Operand::Label(l) => std::slice::from_ref(l),
                    Operand::Labels(list) => list.as_slice(),
                    _ => &[],
                };
                for l in named {
                    self.edge(b, labels[l.0 as usize]);
                }
            }
            if last.pred.is_some() || !ends(last) {
                self.edge(b, to);
            }
        }
    }

    /// A block goes on at an instruction, or at the end of the code.
    fn edge(&mut self, from: usize, to: usize) {
        if let Some(b) = self.block_of.get(to) {
            self.blocks[*b].before.push(from);
        }
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
        let mut into = vec![0u64; self.blocks.len()];
        let (mut back, mut changed) = (false, true);
        while changed {
            changed = false;
            for (b, block) in self.blocks.iter().enumerate() {
                let mut set = 0;
                for &p in &block.before {
                    set |= into[p] & !ends[p] | sets[p];
                    back |= p >= b;
                }
                changed |= into[b] != set;
                into[b] = set;
            }
            // what comes from blocks before it is there at once
            changed &= back;
        }
        into
    }

    /// The webs of a register. `into` is what comes to each block, from the bit `from` on. `None` if all is one web.
    fn webs(&self, r: usize, from: usize, into: &[u64]) -> Option<Found> {
        let (writes, reads) = (self.writes[r].as_slice(), self.reads[r].as_slice());
        let mut web = (0..writes.len()).collect::<Vec<_>>();
        let mut read_at = Vec::new();
        let (mut w, mut u, mut block, mut set) = (0, 0, usize::MAX, 0);
        loop {
            let (at, write) = match (writes.get(w), reads.get(u)) {
                (None, None) => break,
                (Some(write), Some(read)) if write < read => (*write, true),
                (Some(write), None) => (*write, true),
                (_, Some(read)) => (*read, false),
            };
            if block != self.block_of[at] {
                block = self.block_of[at];
                set = into[block] >> from & bits(writes.len());
            }
            if !write {
                if let Some(first) = join(&mut web, set) {
                    read_at.push((at, first));
                }
                u += 1;
            } else {
                if self.keeps(at) {
                    set |= 1 << w;
                    join(&mut web, set);
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
                // by the first write of each web; the first web keeps the name
                let old = RegId(r as u32);
                let mut numbers = vec![old.0; webs.len()];
                for (n, w) in webs.iter().enumerate() {
                    if n > 0 && n == *w {
                        numbers[n] = f.regs.len() as u32;
                        f.regs.push(self.f.regs[r].clone());
                    }
                    self.set(f, self.writes[r][n], true, old, RegId(numbers[*w]));
                }
                for (n, w) in read_at {
                    self.set(f, n, false, old, RegId(numbers[w]));
                }
            }
        }
        renamed
    }

    /// A register that an instruction writes, or reads, gets a new number.
    fn set(&self, f: &mut Function, n: usize, writes: bool, old: RegId, new: RegId) {
        let Stmt::Instr(i) = &mut f.body[self.places[n]] else { return };
        for a in &mut i.operands {
            if written(a) == writes {
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

/// The first write of the web of a write. `web`: for each write an earlier one of its web, or itself.
fn root(web: &[usize], mut w: usize) -> usize {
    while web[w] != w {
        w = web[w];
    }
    w
}

/// All of a set are one web: its first write.
fn join(web: &mut [usize], mut set: u64) -> Option<usize> {
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

fn rename(o: &mut Operand, old: RegId, new: RegId) {
    match o {
        Operand::Reg(r, _) | Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _)
            if *r == old =>
        {
            *r = new;
        }
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            for o in list {
                rename(o, old, new);
            }
        }
        Operand::Pair(a, b) => {
            rename(a, old, new);
            rename(b, old, new);
        }
        Operand::Neg(o) => rename(o, old, new),
        _ => {}
    }
}
