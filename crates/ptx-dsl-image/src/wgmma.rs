//! Prepares `wgmma.mma_async` for the host: makes explicit what it does to registers.
//!
//! An accumulator is written and read, so it becomes a source too, before live ranges are split. Between issue and wait the registers of
//! an operation belong to it. Which operations are still in flight only the running warp knows; so an instruction that may touch such
//! a register gets a check before it: a `wgmma.fence` with an operand.

use ptx_dsl_analysis::cfg::Cfg;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::use_def::is_destination;
use ptx_dsl_isa::hir::{Arg, Function, Instr, Operand, RegId, Stmt};
use ptx_dsl_isa::isa::{Group, Role, Step};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::ty::Ty;
use std::collections::BTreeMap;

/// An element of a register.
type Key = (RegId, u32);

/// Sets of registers, as bits. There are no checks of those beyond.
const MOST: usize = 64;

/// Does the function have a `wgmma.mma_async`?
pub fn multiplies(function: &Function) -> bool {
    function.body.iter().any(|s| matches!(s, Stmt::Instr(i) if is_mma(i)))
}

/// Adds these operands and checks to the functions of a module. What a kernel calls shares with it what is in flight, so the sets of device
/// functions have numbers of their own.
pub fn prepare(functions: &mut [Function]) {
    let mut first = 0;
    for device in [true, false] {
        for function in functions.iter_mut().filter(|f| f.entry != device && multiplies(f)) {
            let (new, sets) = prepared(function, first);
            *function = new;
            first += if device { sets } else { 0 };
        }
    }
}

/// The function, whose sets are numbered from `first` on, and the number of its sets.
fn prepared(function: &Function, first: usize) -> (Function, usize) {
    let cfg = Cfg::new(function);
    let mut held = Held { first, ..Held::default() };
    let masks: BTreeMap<u32, u64> =
        (0..).zip(&cfg.instrs).filter(|(_, i)| is_mma(i)).map(|(at, i)| (at, held.add(i))).collect();
    let touches = touches(&cfg, &held, &masks);
    let mut new = function.clone();
    new.body = Vec::with_capacity(function.body.len());
    let mut at = 0;
    for statement in &function.body {
        let Stmt::Instr(i) = statement else {
            new.body.push(statement.clone());
            continue;
        };
        if let Some(mask) = touches.get(&at) {
            new.body.extend(check(i, *mask).map(|check| Stmt::Instr(Box::new(check))));
        }
        let mut i = i.clone();
        if let Some(mask) = masks.get(&at) {
            with_sources(&mut i, *mask);
        }
        new.body.push(Stmt::Instr(i));
        at += 1;
    }
    (new, held.numbers.len())
}

fn is_mma(i: &Instr) -> bool {
    i.entry.effects.group == Group::Wgmma(Step::Start)
}

fn keys(o: &Operand) -> Vec<Key> {
    let mut found = Vec::new();
    o.registers(&mut |r, element| found.push((r, element)));
    found
}

/// The registers that operations hold: accumulators, and fragments of A.
#[derive(Default)]
struct Held {
    /// The number of the first set.
    first: usize,
    numbers: BTreeMap<Vec<Key>, usize>,
    /// The bits of the sets that have a register, of accumulators and of fragments.
    results: BTreeMap<Key, u64>,
    fragments: BTreeMap<Key, u64>,
}

impl Held {
    /// The sets of an operation.
    fn add(&mut self, i: &Instr) -> u64 {
        let mut mask = 0;
        for a in i.operands.iter().filter(|a| is_destination(a) || a.name == "a") {
            let set = keys(&a.value);
            let next = self.first + self.numbers.len();
            let number = *self.numbers.entry(set.clone()).or_insert(next);
            if number >= MOST {
                continue;
            }
            mask |= 1 << number;
            let sets = if is_destination(a) { &mut self.results } else { &mut self.fragments };
            for key in set {
                *sets.entry(key).or_default() |= 1 << number;
            }
        }
        mask
    }

    /// The sets whose operations an instruction must not overlap.
    fn touched(&self, i: &Instr) -> u64 {
        // The assembler waits for the operations before copies that compilers insert.
        if i.opcode == op::mov {
            return 0;
        }
        let mut mask = 0;
        for a in &i.operands {
            for key in keys(&a.value) {
                let (result, fragment) = (self.results.get(&key).unwrap_or(&0), self.fragments.get(&key).unwrap_or(&0));
                match (is_destination(a), is_mma(i)) {
                    // the same accumulators again, one operation after the other
                    (true, true) => {}
                    (true, false) => mask |= result | fragment,
                    (false, _) => mask |= result,
                }
            }
        }
        mask
    }
}

/// The instructions that touch sets of operations which may be in flight, with these sets.
fn touches(cfg: &Cfg<'_>, held: &Held, masks: &BTreeMap<u32, u64>) -> BTreeMap<u32, u64> {
    // first the sets of operations without a commit, then those of committed ones
    let step = |at: u32, i: &Instr, set: &mut Bits| match i.opcode {
        op::wgmma_commit_group => (0..MOST).for_each(|n| set.transition(n, MOST + n)),
        op::wgmma_wait_group if i.constant("N") == Some(0) => (MOST..2 * MOST).for_each(|n| set.unset(n)),
        _ => {
            if let Some(mask) = masks.get(&at) {
                (0..MOST).filter(|n| mask >> n & 1 != 0).for_each(|n| set.set(n));
            }
        }
    };
    let mut found = BTreeMap::new();
    for_each_instr(cfg, 2 * MOST, &step, &mut |_, at, i, set| {
        let open = |n: &usize| set.has(*n) || set.has(MOST + n);
        let touched = held.touched(i);
        let mask = (0..MOST).filter(|n| touched >> n & 1 != 0).filter(open).fold(0, |mask, n| mask | 1 << n);
        if mask != 0 {
            found.insert(at, mask);
        }
    });
    found
}

/// Adds the old accumulators and the sets to the sources of an operation.
fn with_sources(i: &mut Instr, mask: u64) {
    let Some(d) = i.operands.iter().find(|a| is_destination(a)).cloned() else { return };
    i.operands.push(Arg { name: "c", role: Role::Src, ..d });
    let held = sets(i, mask);
    i.operands.push(held);
}

fn sets(i: &Instr, mask: u64) -> Arg {
    Arg { name: "held", role: Role::Src, ty: Some(Ty::U64), value: Operand::Imm(mask), span: i.span }
}

/// The check before an instruction, which has its place and guard.
fn check(i: &Instr, mask: u64) -> Option<Instr> {
    let mut check = Instr::made(op::wgmma_fence.entries().next()?, Vec::new(), Vec::new(), vec![sets(i, mask)], i);
    check.pred = i.pred.clone();
    Some(check)
}
