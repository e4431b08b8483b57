//! Deferred address arithmetic: `base + offset + scale * index`, where all lanes have one base. If only accesses of the region read
//! such an address, and neither base nor index changes before, the accesses compute it ([`Indexed`]), and the instructions that make it
//! do not run. Where a plan is left, the deferred instructions run whose results are still to be read.
//!
//! An address may take the register of its index: as long as the instruction has not run, the register holds the index.

use super::super::code::{Code, Instr, Run};
use super::super::memory::Indexed;
use super::super::op::{Op, Operand};
use super::super::registers::{RegisterKind, Scalar};
use super::super::rows::Resolved;
use super::super::runner::Runner;
use super::super::value::Value;
use super::Planned;
use super::readers::is_dead_at_end;
use super::step::PlanStep;
use crate::numerics::qual::{Ty, q};
use ptx_dsl_isa::image::Register;
use ptx_dsl_isa::opcode::op;

/// An instruction that only runs where a plan is left before its last reader.
pub(super) struct Deferred {
    at: usize,
    last: usize,
    all: bool,
    step: Resolved,
}

impl Deferred {
    /// Runs the deferred instruction where the plan is left before instruction `next`, if its result is still to be read.
    pub fn catch_up(&self, r: &mut Runner<'_, '_>, next: usize) {
        if self.at < next && next <= self.last {
            r.unguarded();
            r.all = self.all;
            self.step.run(r);
        }
    }
}

/// A linear value: `scale * index + offset`, and a base.
#[derive(Clone, Copy)]
struct Linear {
    index: Register,
    scale: u64,
    base: Option<(Register, Value)>,
    offset: i64,
    /// Bits of the register that holds the address: it is modulo 2 to this power.
    bits: u8,
}

/// An instruction that computes a linear value.
#[derive(Clone, Copy)]
struct Maker {
    at: usize,
    result: Register,
    value: Linear,
    /// The maker of the operand that the instruction adds to.
    from: Option<usize>,
    /// Whether the register holds the value, and the value can be computed.
    known: bool,
    /// Whether the register holds the value.
    held: bool,
    /// Whether other instructions read the register.
    needed: bool,
    /// The last instruction that reads the value.
    last: usize,
}

/// The largest number of makers of a region; each instruction compares its operands with all of them.
const MAKERS: usize = 256;

/// An access at a linear address.
struct DeferredAccess {
    at: usize,
    maker: usize,
    indexed: Indexed,
}

/// The deferred values of the instructions of a region that have run so far, and the accesses at them.
#[derive(Default)]
pub(super) struct Tracker {
    makers: Vec<Maker>,
    accesses: Vec<DeferredAccess>,
}

impl Tracker {
    /// Records instruction `at`, which runs next. `refused`: it must not run at an index.
    pub fn note(&mut self, r: &Runner<'_, '_>, Instr { op, run }: &Instr, at: usize, refused: bool) {
        let access = if refused { None } else { self.access(r, op, run, at) };
        let made = if access.is_none() { self.made(r, op, run) } else { None };
        let through = access.as_ref().map(|a| a.maker).or(made.and_then(|(_, from)| from));
        for (n, maker) in self.makers.iter_mut().enumerate().filter(|(_, maker)| maker.held) {
            let guarded = op.guard.is_some() && op.results.contains(&Some(maker.result));
            let read = op.reads().any(|register| register == maker.result);
            if read {
                maker.last = at;
            }
            let address = op.sources.get(1..).is_some_and(|rest| rest.iter().any(|o| is_register(o, maker.result)));
            let other = Some(n) != through || !maker.known || access.is_some() && address;
            maker.needed |= guarded || read && other;
        }
        self.accesses.extend(access);
        op.results.iter().flatten().for_each(|register| self.write(*register));
        if let (Some((value, from)), [Some(result)]) = (made, &op.results[..])
            && self.makers.len() < MAKERS
        {
            let (result, known, held) = (*result, true, true);
            self.makers.push(Maker { at, result, value, from, known, held, needed: false, last: at });
        }
    }

    /// Records a write of a register.
    fn write(&mut self, register: Register) {
        for n in 0..self.makers.len() {
            let Linear { index, base, .. } = self.makers[n].value;
            let mut changes = index == register || base.is_some_and(|(base, _)| base == register);
            let mut from = self.makers[n].from;
            while let Some(other) = from {
                changes |= self.makers[other].result == register;
                from = self.makers[other].from;
            }
            self.makers[n].known &= !changes;
            self.makers[n].held &= self.makers[n].result != register;
        }
    }

    fn held(&self, o: &Operand) -> Option<usize> {
        let Operand::Register(register) = o else { return None };
        self.makers.iter().position(|m| m.held && m.known && m.result == *register)
    }

    fn access(&self, r: &Runner<'_, '_>, op: &Op, run: &Run, at: usize) -> Option<DeferredAccess> {
        let Run::Memory { access, .. } = run else { return None };
        let (register, more) = match op.sources[0] {
            Operand::Register(register) => (register, 0),
            Operand::Address { base, offset } => (base, offset),
            _ => return None,
        };
        let maker = self.held(&Operand::Register(register))?;
        let Linear { index, scale, base, offset, bits } = self.makers[maker].value;
        let base = match base {
            Some((_, base)) => base,
            // a variable in shared memory
            None if bits == 32 => Value::constant(Scalar::Uniform(0)),
            None => return None,
        };
        let scale = u32::try_from(scale).ok()?;
        let indexed = Indexed { index, base, offset: offset.wrapping_add(more), scale, low: u64::MAX >> (64 - bits) };
        access.is_indexed(r, op, scale).then_some(DeferredAccess { at, maker, indexed })
    }

    /// The value that an instruction makes, and the maker of an operand.
    fn made(&self, r: &Runner<'_, '_>, op: &Op, run: &Run) -> Option<(Linear, Option<usize>)> {
        let Run::Lane { rows: Some(function), .. } = run else { return None };
        if op.guard.is_some() || op.is_watched() {
            return None;
        }
        let index = |o: &Operand| match o {
            Operand::Register(register) => {
                let rows = r.registers.slot(*register).bits == 32 && r.registers.is_rows(r.lo, *register);
                rows.then_some(Linear { index: *register, scale: 1, base: None, offset: 0, bits: 64 })
            }
            _ => None,
        };
        let near = |o: &Operand| index(o).map(|index| Linear { bits: 32, ..index });
        let (wide, low) = (op.q.has(q::wide), op.q.has(q::lo));
        match (function.opcode, op.q.ty[0], &op.sources[..]) {
            (op::mul, Ty::U32 | Ty::S32, [a, b]) if low => Some((scaled(near(a)?, b)?, None)),
            (op::mad, Ty::U32 | Ty::S32, [a, b, c]) if low => Some((added(r, scaled(near(a)?, b)?, c)?, None)),
            (op::shl, Ty::B32, [a, Operand::Constant(by @ 0..=12)]) => {
                Some((scaled(near(a)?, &Operand::Constant(1 << by))?, None))
            }
            (op::mul, Ty::U32 | Ty::S32, [a, b]) if wide => {
                let (a, b) = if matches!(a, Operand::Constant(_)) { (b, a) } else { (a, b) };
                Some((scaled(index(a)?, b)?, None))
            }
            (op::mad, Ty::U32 | Ty::S32, [a, b, c]) if wide => Some((added(r, scaled(index(a)?, b)?, c)?, None)),
            (op::cvt, Ty::U64 | Ty::S64, [a]) => Some((index(a)?, None)),
            (op::shl, Ty::B64, [a, Operand::Constant(by @ 0..=12)]) => {
                let from = self.held(a)?;
                Some((scaled(self.makers[from].value, &Operand::Constant(1 << by))?, Some(from)))
            }
            (op::mul, Ty::U64 | Ty::S64, [a, b]) => {
                let from = self.held(a)?;
                Some((scaled(self.makers[from].value, b)?, Some(from)))
            }
            (op::add, Ty::U32 | Ty::S32 | Ty::U64 | Ty::S64, [a, b]) => {
                let (from, other) = self.held(a).map(|a| (a, b)).or_else(|| Some((self.held(b)?, a)))?;
                Some((added(r, self.makers[from].value, other)?, Some(from)))
            }
            _ => None,
        }
    }

    /// Plans accesses at an index.
    pub fn apply(mut self, code: &Code, region: usize, steps: &mut Vec<Planned>) -> Box<[Deferred]> {
        let body = &code.regions[region].body;
        self.accesses.retain(|a| {
            let planned = match steps[a.at].step {
                PlanStep::Each => true,
                PlanStep::Any { .. } => body[a.at].op.guard.is_some(),
                _ => false,
            };
            self.makers[a.maker].needed |= !planned;
            planned
        });
        for maker in &mut self.makers {
            maker.needed |= !matches!(steps[maker.at].step, PlanStep::Rows(_));
            maker.needed |= maker.held && !is_dead_at_end(code, region, maker.result);
        }
        // what is deferred has a reader that is an access
        for n in 0..self.makers.len() {
            let used = |n: usize| self.accesses.iter().any(|a| self.is_made_from(a.maker, n));
            self.makers[n].needed |= !used(n);
        }
        // what is needed needs its operands, and what runs takes the index from those who need that
        for n in (0..self.makers.len()).rev() {
            let (needed, last) = (self.makers[n].needed, self.makers[n].last);
            if let Some(from) = self.makers[n].from {
                self.makers[from].needed |= needed;
                self.makers[from].last = self.makers[from].last.max(last);
            }
        }
        let mut spoiled = vec![false; self.makers.len()];
        for n in 0..self.makers.len() {
            let Maker { from, result, value, .. } = self.makers[n];
            let of_from = from.is_some_and(|from| spoiled[from]);
            self.makers[n].needed |= of_from;
            spoiled[n] = of_from || self.makers[n].needed && value.index == result;
        }
        let mut fresh: Vec<(usize, Register, bool)> = Vec::new();
        let mut deferred = Vec::new();
        let mut kept = Vec::with_capacity(steps.len());
        for planned in steps.drain(..) {
            let Planned { at, step, all } = planned;
            let maker = self.makers.binary_search_by_key(&at, |maker| maker.at).ok().map(|n| &self.makers[n]);
            let maker = maker.filter(|maker| !maker.needed);
            let access = self.accesses.binary_search_by_key(&at, |a| a.at).ok().map(|n| &self.accesses[n]);
            let access = access.filter(|a| !self.makers[a.maker].needed);
            match (step, maker, access) {
                (PlanStep::Rows(step), Some(Maker { last, .. }), _) => {
                    fresh.extend(step.fresh().iter().map(|register| (*last, *register, all)));
                    deferred.push(Deferred { at, last: *last, all, step });
                }
                (_, _, Some(access)) => {
                    let indexed = access.indexed;
                    let fresh = fresh.extract_if(.., |(last, ..)| *last == at).map(|(_, r, all)| (r, all)).collect();
                    kept.push(Planned { at, step: PlanStep::Indexed { indexed, fresh }, all });
                }
                (step, ..) => kept.push(Planned { at, step, all }),
            }
        }
        *steps = kept;
        deferred.into()
    }

    /// Whether one maker is another one, or computes its value from that of the other.
    fn is_made_from(&self, maker: usize, other: usize) -> bool {
        maker == other || self.makers[maker].from.is_some_and(|from| self.is_made_from(from, other))
    }
}

fn is_register(o: &Operand, register: Register) -> bool {
    matches!(o, Operand::Register(r) | Operand::Address { base: r, .. } if *r == register)
}

/// The most that an index is multiplied by.
const MOST: u64 = 1 << 16;

/// A multiple.
fn scaled(value: Linear, by: &Operand) -> Option<Linear> {
    let Operand::Constant(by @ 1..=MOST) = *by else { return None };
    let scale = value.scale * by;
    (value.base.is_none() && value.offset == 0 && scale <= MOST).then_some(Linear { scale, ..value })
}

/// A sum.
fn added(r: &Runner<'_, '_>, value: Linear, o: &Operand) -> Option<Linear> {
    if let Operand::Constant(v) = o {
        return Some(Linear { offset: value.offset.wrapping_add(v.cast_signed()), ..value });
    }
    let (Operand::Register(register), None) = (o, value.base) else { return None };
    let base = Value::of(r, o).filter(|base| base.kind() == RegisterKind::Uniform)?;
    Some(Linear { base: Some((*register, base)), ..value })
}
