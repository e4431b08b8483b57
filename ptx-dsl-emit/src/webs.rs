//! A register that is used for several things, one after the other, becomes several: what is written to it and what is read of
//! that (a web) has a number of its own, so that a row here and 32 lanes there do not have to be kept as lanes both.

use super::classes::registers;
use super::regions::callees;
use super::step::written;
use ptx_dsl_table::hir::{Base, FuncId, Function, Instr, LabelId, Module, Operand, RegId, Stmt};
use std::collections::HashMap;

/// Definitions of a register that is looked at, at most: they are bits.
const MOST: usize = 64;

/// The module with the registers of this kernel renamed, and the bodies of no other function: it must not call any. `None` if
/// there is nothing to rename.
pub fn renamed(module: &Module, entry: FuncId) -> Option<Module> {
    let function = module.functions.get(entry.0 as usize)?;
    let function = Webs::new(function)?.rename()?;
    let functions =
        module.functions.iter().enumerate().map(|(i, f)| {
            if i == entry.0 as usize { function.clone() } else { Function { body: Vec::new(), ..bare(f) } }
        });
    Some(Module {
        functions: functions.collect(),
        vars: module.vars.clone(),
        target: module.target.clone(),
        const_image: module.const_image.clone(),
        global_image: module.global_image.clone(),
        spelling: Vec::new(),
        ..*module
    })
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
    /// By register: the instructions that write it and those that read it.
    writes: Vec<Vec<usize>>,
    reads: Vec<Vec<usize>>,
}

impl<'m> Webs<'m> {
    fn new(f: &'m Function) -> Option<Self> {
        let mut code: Vec<&Instr> = Vec::new();
        let mut labels: HashMap<LabelId, usize> = HashMap::new();
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
        let mut starts: Vec<usize> = labels.values().copied().collect();
        starts.push(0);
        starts.extend(code.iter().enumerate().filter(|(_, i)| ends(i)).map(|(n, _)| n + 1));
        starts.sort_unstable();
        starts.dedup();
        starts.retain(|s| *s < code.len());
        let at = |n: usize| starts.binary_search(&n).ok();
        let mut blocks: Vec<Block> = starts
            .iter()
            .zip(starts.iter().skip(1).chain([&code.len()]))
            .map(|(from, to)| Block { from: *from, to: *to, before: Vec::new() })
            .collect();
        for b in 0..blocks.len() {
            let last = code.get(blocks[b].to.checked_sub(1)?)?;
            let named = last.operands.iter().flat_map(|a| match &a.value {
                Operand::Label(l) => vec![*l],
                Operand::Labels(list) => list.clone(),
                _ => Vec::new(),
            });
            let falls = last.pred.is_some() || !ends(last);
            let on = if falls { Some(blocks[b].to) } else { None };
            let after: Vec<usize> = named.filter_map(|l| labels.get(&l).copied()).chain(on).filter_map(at).collect();
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
        Some(Webs { f, code, blocks, writes, reads })
    }

    /// For each write of a register and for each instruction that reads it, the first write of its web, by number.
    fn webs(&self, r: usize) -> Option<(Vec<usize>, HashMap<usize, usize>)> {
        let (writes, reads) = (&self.writes[r], &self.reads[r]);
        let n = writes.len();
        if !(2..=MOST).contains(&n) || self.f.regs[r].lanes != 1 {
            return None;
        }
        let keeps = |w: usize| self.code[writes[w]].pred.is_some();
        let inside =
            |list: &[usize], b: &Block| (list.partition_point(|w| *w < b.from), list.partition_point(|w| *w < b.to));
        // what comes out of a block of what goes in
        let through = |b: &Block, before: u64| {
            let (from, to) = inside(writes, b);
            (from..to).fold(before, |set, w| if keeps(w) { set | 1 << w } else { 1 << w })
        };
        let mut into = vec![0u64; self.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..self.blocks.len() {
                let set = self.blocks[b].before.iter().fold(0, |set, p| set | through(&self.blocks[*p], into[*p]));
                changed |= into[b] != set;
                into[b] = set;
            }
        }
        let mut web: Vec<usize> = (0..n).collect();
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
        let mut read_at = HashMap::new();
        for (b, before) in self.blocks.iter().zip(into) {
            let ((mut w, end), (mut u, last)) = (inside(writes, b), inside(reads, b));
            let mut set = before;
            while w < end || u < last {
                if u < last && (w == end || reads[u] <= writes[w]) {
                    read_at.extend(join(set).map(|first| (reads[u], first)));
                    u += 1;
                } else {
                    if keeps(w) {
                        set |= 1 << w;
                        join(set);
                    } else {
                        set = 1 << w;
                    }
                    w += 1;
                }
            }
        }
        let webs: Vec<usize> = (0..n).map(|w| root(&web, w)).collect();
        read_at.values_mut().for_each(|w| *w = webs[*w]);
        webs.iter().any(|w| *w != 0).then_some((webs, read_at))
    }

    fn rename(&self) -> Option<Function> {
        // by instruction and register: its new number as what is written, and as what is read
        let (mut to, mut from) = (HashMap::new(), HashMap::new());
        let mut f = bare(self.f);
        for r in 0..self.f.regs.len() {
            let Some((webs, read_at)) = self.webs(r) else { continue };
            // the first keeps the name
            let mut numbers = HashMap::from([(0, RegId(r as u32))]);
            for w in &webs {
                numbers.entry(*w).or_insert_with(|| {
                    f.regs.push(self.f.regs[r].clone());
                    RegId(f.regs.len() as u32 - 1)
                });
            }
            to.extend(self.writes[r].iter().zip(&webs).map(|(n, w)| ((*n, r as u32), numbers[w])));
            from.extend(read_at.iter().map(|(n, w)| ((*n, r as u32), numbers[w])));
        }
        if to.is_empty() {
            return None;
        }
        let mut n = 0;
        let body = self.f.body.iter().map(|s| {
            let Stmt::Instr(i) = s else { return s.clone() };
            let mut i = i.clone();
            let new = |map: &HashMap<(usize, u32), RegId>, r: RegId| map.get(&(n, r.0)).copied().unwrap_or(r);
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
        f.body = body.collect();
        Some(f)
    }
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
