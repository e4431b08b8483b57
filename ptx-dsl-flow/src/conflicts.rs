//! Shared memory that threads of different warps touch with nothing between that makes them meet (PTX ISA 8.7), thread by thread:
//! the addresses of all threads are worked out, in the first rounds of a loop.

use super::Flow;
use super::cfg::NONE;
use super::dataflow::{Bits, Meet, forward};
use super::lanes::{Lanes, Shared};
use super::loops::Loops;
use super::memory::{bytes, owe, owed, plain, region, settle};
use super::provenance::{Origin, Provenance};
use super::races::{makes_meet, strong};
use super::rounds::{Rounds, Thread};
use super::ssa::{Val, Value};
use crate::errors::races as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Base, Instr, Operand, Space};

/// Accesses that are compared, pairs of them, and values that are worked out.
const MOST: usize = 64;
const PAIRS: usize = 24;
const WORK: u32 = 200_000;
/// Rounds of a loop.
const ROUNDS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Reads,
    Writes,
    Atomic,
}

struct Access {
    block: u32,
    at: u32,
    var: u32,
    does: Does,
    size: i64,
}

/// An access and a later one, in the same round of the loops around both, or in the next one.
struct Pair {
    first: usize,
    second: usize,
    next_round: bool,
    /// Each loop around the first is also around the second.
    together: bool,
}

pub(super) fn check(flow: &Flow, lanes: &Lanes, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let (Some(shape), Some(threads)) = (flow.function.reqntid, lanes.threads.exact) else { return };
    let Some(list) = accesses(flow, from) else { return };
    let loops = Loops::new(&flow.cfg);
    if loops.tangled() {
        return;
    }
    let mut kernel = Kernel { flow, lanes, loops: &loops, shape, threads, list: &list, known: Vec::new(), work: WORK };
    let mut said: Vec<u32> = Vec::new();
    for pair in pairs(flow, &loops, &list) {
        let (a, b) = (&list[pair.first], &list[pair.second]);
        if said.contains(&a.var) {
            continue;
        }
        if (pair.together && kernel.conflict(&pair)) || kernel.anywhere(&pair) {
            said.push(a.var);
            let [first, second] = [a, b].map(|x| flow.instr(x.at).span);
            let writes = [a, b].map(|x| x.does != Does::Reads);
            out.push(errors::between_warps(second, first, flow.variable(a.var), writes, pair.next_round));
        }
    }
}

/// Plain accesses to variables in shared memory. `None` if there are none that could conflict, or too many.
fn accesses(flow: &Flow, from: &Provenance) -> Option<Vec<Access>> {
    let mut list = Vec::new();
    let mut writes = false;
    for (block, at, i) in flow.walk() {
        let does = match i.entry.opcode {
            "ld" => Does::Reads,
            "st" => Does::Writes,
            "atom" | "red" => Does::Atomic,
            _ => continue,
        };
        let Some((arg, _)) = plain(i) else { continue };
        if strong(i) {
            continue;
        }
        match region(flow, from, at, arg, bytes(i)) {
            Some(r) if r.space == Space::Shared && !r.mapped => {
                let Origin::Var(v) = r.base else { continue };
                writes |= does != Does::Reads;
                list.push(Access { block, at, var: v.0, does, size: bytes(i) as i64 });
            }
            _ => {}
        }
        if list.len() > MOST {
            return None;
        }
    }
    (writes && list.len() > 1).then_some(list)
}

/// Pairs of accesses to one variable with nothing between on any way. Four bits for each access: it is owed in this round of its
/// loop, it was settled on some way; the same for the round before.
fn pairs(flow: &Flow, loops: &Loops, list: &[Access]) -> Vec<Pair> {
    let n = list.len();
    let mut number = vec![NONE; flow.cfg.instrs.len()];
    for (k, a) in list.iter().enumerate() {
        number[a.at as usize] = k as u32;
    }
    let step = |at: u32, i: &Instr, set: &mut Bits| match number[at as usize] {
        NONE if makes_meet(i) => {
            for k in 0..2 * n {
                settle(set, k);
            }
        }
        NONE => {}
        k => owe(set, 2 * k as usize),
    };
    let mut block = |b: u32, set: &mut Bits| {
        for at in flow.cfg.range(b) {
            step(at, flow.instr(at), set);
        }
    };
    let mut edge = |b: u32, way: usize, set: &mut Bits| {
        let to = flow.cfg.blocks[b as usize].succ[way].to;
        if !flow.cfg.dominates(to, b) {
            return;
        }
        // A loop comes round: this round is the one before. What is outside, or in inner loops, is asked about in its first
        // round only.
        for (k, a) in list.iter().enumerate() {
            let own = loops.of(a.block) == Some(to);
            for bit in 0..2 {
                set.put(4 * k + 2 + bit, own && set.has(4 * k + bit));
                set.unset(4 * k + bit);
            }
        }
    };
    let at_start = forward(&flow.cfg, 4 * n, Meet::Any, &mut block, &mut edge);
    let mut out = Vec::new();
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            if let Some(x) = list.get(number[at as usize] as usize) {
                let second = number[at as usize] as usize;
                for (first, a) in list.iter().enumerate() {
                    if a.var != x.var || out.len() >= PAIRS || !conflicting(a.does, x.does) {
                        continue;
                    }
                    let now = owed(&set, 2 * first) && first != second;
                    let before = owed(&set, 2 * first + 1) && loops.of(a.block) == loops.of(x.block);
                    for (there, next_round) in [(now, false), (before, true)] {
                        if there {
                            let together = next_round || around(loops, a, x);
                            out.push(Pair { first, second, next_round, together });
                        }
                    }
                }
            }
            step(at, flow.instr(at), &mut set);
        }
    }
    out
}

/// Must the two have an order? Stores of the same are made by several threads on purpose.
fn conflicting(a: Does, b: Does) -> bool {
    match (a, b) {
        (Does::Reads, x) | (x, Does::Reads) => x != Does::Reads,
        (Does::Atomic, Does::Atomic) | (Does::Writes, Does::Writes) => false,
        _ => true,
    }
}

/// Is each loop around the first also around the second?
fn around(loops: &Loops, a: &Access, b: &Access) -> bool {
    loops.of(a.block).is_none_or(|h| loops.contains(h, b.block))
}

/// What all threads access in a round: offsets in the variable, `None` for who does not come there.
type Places = Vec<Option<i64>>;

/// The threads of a CTA and what is known of their accesses.
struct Kernel<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    loops: &'a Loops,
    shape: [u32; 3],
    threads: usize,
    list: &'a [Access],
    /// By access: the rounds that were worked out, `None` if something in it is not known.
    known: Vec<(usize, Option<Vec<Places>>)>,
    work: u32,
}

impl Kernel<'_, '_> {
    /// Do threads of different warps certainly touch the same bytes?
    fn conflict(&mut self, pair: &Pair) -> bool {
        let Some(first) = self.rounds(pair.first) else { return false };
        let Some(second) = self.rounds(pair.second) else { return false };
        let (a, b) = (&self.list[pair.first], &self.list[pair.second]);
        let same = self.loops.of(a.block) == self.loops.of(b.block);
        let later = usize::from(pair.next_round);
        for round in 0..if same { first.len() } else { 1 } {
            if let (Some(x), Some(y)) = (first.get(round), second.get(round + later))
                && overlap((x, a.size), (y, b.size))
            {
                return true;
            }
        }
        false
    }

    /// Does one of the two reach a place that data gives, of many warps, and the other one its own place for each thread?
    fn anywhere(&mut self, pair: &Pair) -> bool {
        let (a, b) = (&self.list[pair.first], &self.list[pair.second]);
        let (any, own) = match (a.does, b.does) {
            (Does::Atomic, _) => (a, pair.second),
            (_, Does::Atomic) => (b, pair.first),
            _ => return false,
        };
        if !self.by_data(any) || !self.all_come(any) {
            return false;
        }
        let Some(places) = self.rounds(own) else { return false };
        // Places of several warps, each different.
        let Some(first) = places.first() else { return false };
        let mut seen: Vec<(i64, usize)> = first.iter().enumerate().filter_map(|(t, p)| Some(((*p)?, t / 32))).collect();
        seen.sort_unstable();
        seen.windows(2).all(|w| w[0].0 != w[1].0) && seen.windows(2).any(|w| w[0].1 != w[1].1)
    }

    /// Does the address follow from what was loaded, and from nothing that tells threads apart?
    fn by_data(&self, access: &Access) -> bool {
        let Some(Operand::Address(Base::Reg(r), _)) = self.flow.instr(access.at).address().map(|a| &a.value) else {
            return false;
        };
        let (mut loaded, mut seen) = (false, Vec::new());
        let mut stack = vec![self.flow.ssa.read(access.at, *r, 0)];
        while let Some(v) = stack.pop() {
            let v = self.flow.origin(v);
            if seen.contains(&v) {
                continue;
            }
            seen.push(v);
            match &self.flow.ssa.values[v as usize] {
                Value::Def { instr, old: None, .. } => {
                    let i = self.flow.instr(*instr);
                    let special = i.operands.iter().any(|a| matches!(a.value, Operand::Sreg(_)));
                    if seen.len() > 64 || special {
                        return false;
                    }
                    if i.entry.opcode == "ld" {
                        loaded |= !i.has_any(&[".param", ".const"]);
                        continue;
                    }
                }
                Value::Phi { .. } => {}
                _ => return false,
            }
            self.flow.ssa.push_sources(v, &mut stack);
        }
        loaded
    }

    /// Do threads of several warps come to an access?
    fn all_come(&self, access: &Access) -> bool {
        let first = |t: usize| {
            let mut fixed = Rounds::new(self.flow, self.loops, NONE, &[], None)?;
            fixed.begin(Some(Thread { number: t, shape: Some(self.shape) }));
            self.comes(&fixed, access)
        };
        first(0) == Some(true) && first(self.threads - 1) == Some(true)
    }

    /// The places of an access in the first rounds of its loop.
    fn rounds(&mut self, access: usize) -> Option<Vec<Places>> {
        if let Some((_, known)) = self.known.iter().find(|k| k.0 == access) {
            return known.clone();
        }
        let list = self.list;
        let found = self.work_out(&list[access]);
        self.known.push((access, found.clone()));
        found
    }

    fn work_out(&mut self, access: &Access) -> Option<Vec<Places>> {
        if self.work == 0 {
            return None;
        }
        let address = &self.flow.instr(access.at).address()?.value;
        let header = self.loops.of(access.block).unwrap_or(NONE);
        let mut values: Vec<Val> = Vec::new();
        if let Operand::Address(Base::Reg(r), _) = address {
            values.push(self.flow.ssa.read(access.at, *r, 0));
        }
        let at = Some((access.block, access.at));
        let mut rounds = Rounds::new(self.flow, self.loops, header, &values, at)?;
        let mut out: Vec<Places> = vec![Vec::new(); ROUNDS];
        for t in 0..self.threads {
            if rounds.spent() > self.work {
                self.work = 0;
                return None;
            }
            rounds.begin(Some(Thread { number: t, shape: Some(self.shape) }));
            let mut over = false;
            for places in &mut out {
                let comes = !over && self.comes(&rounds, access)?;
                places.push(if comes { Some(place(&rounds, access.at, address)?) } else { None });
                over |= header == NONE || rounds.ends();
                if !over {
                    rounds.next();
                }
            }
        }
        self.work -= rounds.spent();
        Some(out)
    }

    /// Does the thread come to the access in this round? `None` where that is not known, and not the same for all threads.
    fn comes(&self, rounds: &Rounds, access: &Access) -> Option<bool> {
        let cfg = &self.flow.cfg;
        if let Some((p, positive)) = self.flow.guard(access.at) {
            match rounds.value(p) {
                Some(n) if (n != 0) != positive => return Some(false),
                Some(_) => {}
                None if self.lanes.shared(p) == Shared::Cta => {}
                None => return None,
            }
        }
        let mut b = access.block;
        for _ in 0..200 {
            let up = cfg.idom[b as usize];
            if up == NONE || up == b {
                return Some(true);
            }
            if cfg.ipdom[up as usize] != b
                && let Some(branch) = cfg.branch(up)
            {
                let (p, _) = self.flow.guard(branch)?;
                match rounds.value(p) {
                    Some(n) if !rounds.leads(up, n != 0, b) => return Some(false),
                    Some(_) => {}
                    None if self.lanes.shared(p) == Shared::Cta => {}
                    None => return None,
                }
            }
            b = up;
        }
        None
    }
}

fn place(rounds: &Rounds, at: u32, address: &Operand) -> Option<i64> {
    match address {
        Operand::Address(Base::Var(_), offset) => Some(*offset),
        Operand::Address(Base::Reg(r), offset) => {
            Some(i64::from((rounds.operand(at, &Operand::Reg(*r, 0))? as i64).wrapping_add(*offset) as i32))
        }
        _ => None,
    }
}

/// Do threads of different warps touch a byte in common?
fn overlap((a, a_size): (&Places, i64), (b, b_size): (&Places, i64)) -> bool {
    let mut sorted: Vec<(i64, usize)> = Vec::with_capacity(a.len());
    for (t, p) in a.iter().enumerate() {
        if let Some(p) = p {
            sorted.push((*p, t / 32));
        }
    }
    sorted.sort_unstable();
    for (t, p) in b.iter().enumerate() {
        let Some(p) = p else { continue };
        let from = sorted.partition_point(|(q, _)| *q + a_size <= *p);
        for (q, warp) in &sorted[from..] {
            if *q >= *p + b_size {
                break;
            }
            if *warp != t / 32 {
                return true;
            }
        }
    }
    false
}
