//! Instructions on rows: loops over the warps of a cohort, compiled for each instruction set.
//!
//! [`forms`] lists the instructions that have such a loop. All others run lane by lane, with the same semantics.

mod compiled;
mod forms;
mod kind;
mod kinds;
mod loops;
mod pairs;

use super::op::{Op, Operand};
use super::registers::{Constants, Row, SCRATCH, Scalar};
use super::runner::Runner;
use super::value::Value;

use crate::numerics::qual::{Q, q};
use crate::numerics::simd::InstructionSet;
use kind::RowKind;
pub(super) use loops::One;
use loops::{Loop, LoopCall, LoopForm, OPERANDS, OperandPlaces, RowNeeds, RowPlace};
use ptx_dsl_isa::image::{Instr, Register, Source};
use ptx_dsl_isa::opcode::{Opcode, op};

/// The number of a constant among those of its kind.
fn constant(constants: &mut Constants, kind: RowKind, v: u64) -> Option<usize> {
    fn place<T: PartialEq>(list: &mut Vec<T>, v: T) -> usize {
        list.iter().position(|c| *c == v).unwrap_or_else(|| {
            list.push(v);
            list.len() - 1
        })
    }
    match kind {
        RowKind::P => None,
        RowKind::L => Some(place(&mut constants.longs, v)),
        RowKind::H | RowKind::W | RowKind::F => Some(place(&mut constants.words, v as u32)),
    }
}

/// The source of an operand of a loop.
#[derive(Debug, Clone, Copy)]
enum Given {
    /// The rows of a register, if it has rows.
    Register(Register),
    /// A constant.
    Constant(usize),
    /// Any other source.
    Other,
}

/// The forms that an instruction fits.
fn forms_for<'a>(
    opcode: Opcode,
    q: Q,
    i: &'a Instr,
    widths: &'a [u8],
) -> impl Iterator<Item = &'static LoopForm> + use<'a> {
    let holds = |kind: &RowKind, bits: u8| kind.bits() == u32::from(bits);
    let takes = move |kind: &RowKind, source: &Source| match source {
        Source::Register { register } | Source::Not { register } => holds(kind, widths[*register as usize]),
        Source::Address { .. } | Source::Frame { .. } => false,
        Source::Constant { .. } | Source::Variable { .. } | Source::Special { .. } => true,
    };
    forms::of(opcode).iter().copied().filter(move |form| {
        let given = form.rows.sources.len() == i.sources.len() && form.rows.results.len() >= i.results.len();
        let mut results = form.rows.results.iter().zip(&i.results);
        given
            && form.sets.contains(&q)
            && form.rows.sources.iter().zip(&i.sources).all(|(kind, s)| takes(kind, s))
            && results.all(|(kind, r)| r.is_none_or(|r| holds(kind, widths[r as usize])))
    })
}

/// The operands whose NaNs an instruction does not distinguish.
pub(super) fn takes_any_nan(opcode: Opcode, q: Q, i: &Instr, widths: &[u8]) -> [bool; OPERANDS] {
    let mut takes = [false; OPERANDS];
    if let Some(form) = forms_for(opcode, q, i, widths).next() {
        takes.iter_mut().zip(form.rows.sources).for_each(|(takes, kind)| *takes = *kind == RowKind::F);
    }
    takes
}

/// The loop of an instruction on this processor.
pub(super) struct RowFunction {
    form: &'static LoopForm,
    set: InstructionSet,
    given: [Given; OPERANDS],
    pub opcode: Opcode,
    /// Whether the instruction is `fma.rn.f32`.
    pub fma: bool,
}

impl RowFunction {
    /// The semantics for one lane, compiled for the qualifiers.
    pub fn one(&self) -> One {
        self.form.one
    }

    /// The loop for an instruction, if it is one of the forms. `any_nan`: nothing distinguishes the NaNs of its results.
    pub fn find(
        opcode: Opcode,
        q: Q,
        i: &Instr,
        widths: &[u8],
        any_nan: bool,
        set: InstructionSet,
        constants: &mut Constants,
    ) -> Option<RowFunction> {
        if !set.has_rows() {
            return None;
        }
        let mut forms = forms_for(opcode, q, i, widths);
        let form = forms.find(|form| any_nan || !form.rows.results.contains(&RowKind::F))?;
        let mut given = [Given::Other; OPERANDS];
        for ((to, kind), source) in given.iter_mut().zip(form.rows.sources).zip(&i.sources) {
            *to = match source {
                Source::Register { register } => Given::Register(*register),
                Source::Constant { value } | Source::Variable { value, .. } => {
                    constant(constants, *kind, *value).map_or(Given::Other, Given::Constant)
                }
                _ => Given::Other,
            };
        }
        let fma = opcode == op::fma && matches!(form.rows.results, [RowKind::W | RowKind::F]) && !q.has(q::ftz);
        Some(RowFunction { form, set, given, opcode, fma })
    }

    /// Runs the instruction on rows.
    pub fn run(&self, r: &mut Runner<'_, '_>, op: &Op) {
        let form = self.form;
        let mut places = OperandPlaces { all: r.all, ..OperandPlaces::default() };
        for ((at, kind), given) in form.rows.sources.iter().enumerate().zip(&self.given) {
            places.sources[at] = match *given {
                Given::Register(register) if r.registers.is_rows(r.lo, register) => rows_of(r, register),
                Given::Constant(n) => RowPlace { first: constant_row(r, *kind, n) as u32, by_warp: false },
                _ => fill(r, at, *kind, &op.sources[at]),
            };
        }
        for register in op.results.iter().flatten() {
            r.rows_for(*register);
        }
        self.place_results(r, op, &mut places);
        let (call, needs) = self.call(r, places);
        run_calls(&[call], &needs, &loop_of(r));
    }

    /// The loop with these places.
    fn call(&self, r: &Runner<'_, '_>, places: OperandPlaces) -> (LoopCall, RowNeeds) {
        ((self.form.rows.compiled(self.set), places), RowNeeds::of(&self.form.rows, &places, r.registers.warps))
    }

    /// Sets the places of the results: an unused result goes to scratch rows, or nowhere.
    fn place_results(&self, r: &Runner<'_, '_>, op: &Op, places: &mut OperandPlaces) {
        let [first, second] = [0, 1].map(|at| op.results.get(at).copied().flatten().map(|to| rows_of(r, to)));
        let unwanted = || RowPlace { first: scratch_row(r, self.form.rows.results[0], OPERANDS) as u32, by_warp: true };
        (places.result, places.second) = (first.unwrap_or_else(unwanted), second);
    }
}

/// The rows of a register.
#[inline(always)]
fn rows_of(r: &Runner<'_, '_>, register: Register) -> RowPlace {
    RowPlace { first: r.registers.row(register, 0) as u32, by_warp: true }
}

/// The rows on which loops run now.
#[inline(always)]
fn loop_of<'c>(r: &'c Runner<'_, '_>) -> Loop<'c> {
    Loop {
        words: &r.registers.words,
        longs: &r.registers.longs,
        predicates: &r.registers.masks,
        lo: r.lo as u32,
        masks: &r.masks[..r.n],
    }
}

/// Runs loops that [`RowFunction::find`] has taken, one after the other.
#[inline(always)]
#[allow(unsafe_code)]
fn run_calls(calls: &[LoopCall], needs: &RowNeeds, x: &Loop<'_>) {
    assert!(x.has(needs), "a row is outside of the registers");
    for (compiled, places) in calls {
        // SAFETY: the loops are for the instruction set of this processor, and their rows are inside.
        unsafe { compiled(x, places) };
    }
}

/// An operand that gets rows before the loop runs.
struct Fill {
    kind: RowKind,
    value: Value,
    /// The first scratch row of the operand.
    to: usize,
}

/// A loop with the places of its operands and results, which hold while registers have the same kinds of values.
pub(super) struct Resolved {
    call: LoopCall,
    needs: RowNeeds,
    fills: Box<[Fill]>,
    /// Results that are no rows yet.
    fresh: Box<[Register]>,
}

impl RowFunction {
    /// The places of operands and results now. `None` if an operand has to be computed by lane.
    pub fn resolve(&self, r: &Runner<'_, '_>, op: &Op) -> Option<Resolved> {
        let (mut places, mut fills) = (OperandPlaces { all: r.all, ..OperandPlaces::default() }, Vec::new());
        for ((at, kind), given) in self.form.rows.sources.iter().enumerate().zip(&self.given) {
            places.sources[at] = match given {
                Given::Register(register) if r.registers.is_rows(r.lo, *register) => rows_of(r, *register),
                Given::Constant(n) => RowPlace { first: constant_row(r, *kind, *n) as u32, by_warp: false },
                _ => {
                    let (value, to) = (Value::of(r, &op.sources[at])?, scratch_row(r, *kind, at));
                    let by_warp = value.kind() == super::registers::RegisterKind::Affine;
                    if by_warp && *kind == RowKind::P {
                        return None;
                    }
                    fills.push(Fill { kind: *kind, value, to });
                    RowPlace { first: to as u32, by_warp }
                }
            };
        }
        self.place_results(r, op, &mut places);
        let results = op.results.iter().flatten().copied();
        let fresh = results.filter(|register| !r.registers.is_rows(r.lo, *register)).collect();
        let (call, needs) = self.call(r, places);
        Some(Resolved { call, needs, fills: fills.into(), fresh })
    }
}

/// Loops that run one after the other. Their operands are rows, or constants.
pub(super) struct RowLoops {
    calls: Box<[LoopCall]>,
    needs: RowNeeds,
    /// The results that are no rows yet, and whether all lanes get them.
    fresh: Box<[(Register, bool)]>,
}

impl RowLoops {
    /// Runs the loops.
    #[inline]
    pub fn run(&self, r: &mut Runner<'_, '_>) {
        for (register, all) in &self.fresh {
            if *all {
                r.registers.set_scalar(r.lo, *register, Scalar::Rows);
            } else {
                r.rows_for(*register);
            }
        }
        run_calls(&self.calls, &self.needs, &loop_of(r));
    }
}

impl FromIterator<Resolved> for RowLoops {
    fn from_iter<T: IntoIterator<Item = Resolved>>(resolved: T) -> Self {
        let (mut calls, mut needs, mut fresh) = (Vec::new(), RowNeeds::default(), Vec::new());
        for Resolved { call, needs: of_call, fresh: of_loop, .. } in resolved {
            needs = if calls.is_empty() { of_call } else { needs.and(of_call) };
            fresh.extend(of_loop.into_iter().map(|register| (register, call.1.all)));
            calls.push(call);
        }
        RowLoops { calls: calls.into(), needs, fresh: fresh.into() }
    }
}

impl Resolved {
    /// Are all operands rows, or constants?
    pub fn is_on_rows(&self) -> bool {
        self.fills.is_empty()
    }

    /// The results that are no rows yet.
    pub fn fresh(&self) -> &[Register] {
        &self.fresh
    }

    /// Fuses this loop and the next, if the instructions have a fused loop. `taken`: bits of the operands of the second that take
    /// the result of the first, which is stored if it is `kept`.
    pub fn with(&self, next: &Resolved, of: [&RowFunction; 2], taken: u8, kept: bool) -> Option<Resolved> {
        let pair = pairs::find(of.map(|f| (f.opcode, f.form)), taken)?;
        let ((_, first), (_, second)) = (&self.call, &next.call);
        let [of_first, of_second] = of.map(|f| f.form.rows.sources.len());
        let others = second.sources.iter().take(of_second).enumerate().filter(|(i, _)| taken >> i & 1 == 0);
        let others = others.map(|(_, place)| place);
        let (result, all) = (second.result, first.all && second.all);
        let mut places =
            OperandPlaces { result, second: kept.then_some(first.result), all, ..OperandPlaces::default() };
        let sources = first.sources.iter().take(of_first).chain(others);
        places.sources.iter_mut().zip(sources).for_each(|(to, from)| *to = *from);
        let needs = RowNeeds::of(&pair.rows, &places, self.needs.warps);
        let fresh = self.fresh.iter().chain(&next.fresh).copied().collect();
        Some(Resolved { call: (pair.rows.compiled(of[0].set), places), needs, fills: Box::default(), fresh })
    }

    /// Runs the loop.
    #[inline]
    pub fn run(&self, r: &mut Runner<'_, '_>) {
        for fill in &self.fills {
            fill.run(r);
        }
        for register in &self.fresh {
            r.rows_for(*register);
        }
        run_calls(std::slice::from_ref(&self.call), &self.needs, &loop_of(r));
    }
}

impl Fill {
    #[inline(always)]
    fn run(&self, r: &Runner<'_, '_>) {
        match self.value.scalar(r) {
            Scalar::Uniform(v) => fill_uniform(r, self.kind, self.to, v),
            affine => fill_affine(r, self.kind, self.to + r.lo, affine),
        }
    }
}

/// Fills one row with this value.
#[inline(always)]
fn fill_uniform(r: &Runner<'_, '_>, kind: RowKind, to: usize, v: u64) {
    match kind {
        RowKind::P => r.registers.masks[to].set((v as u32 & 1).wrapping_neg()),
        RowKind::L => r.registers.longs[to].set(Row([v; 32])),
        RowKind::H | RowKind::W | RowKind::F => r.registers.words[to].set(Row([v as u32; 32])),
    }
}

/// The rows of an affine value.
fn fill_affine(r: &Runner<'_, '_>, kind: RowKind, to: usize, affine: Scalar) {
    for k in (0..r.n).filter(|k| r.masks[*k] != 0) {
        match kind {
            RowKind::L => r.registers.longs[to + k].set(r.registers.affine_longs(affine, r.lo + k)),
            _ => r.registers.words[to + k].set(r.registers.affine_words(affine, r.lo + k)),
        }
    }
}

/// The first of the scratch rows of an operand or result.
#[inline(always)]
fn scratch_row(r: &Runner<'_, '_>, kind: RowKind, at: usize) -> usize {
    at * r.registers.warps
        + match kind {
            RowKind::P => r.registers.scratch[0],
            RowKind::L => r.registers.scratch[2],
            RowKind::H | RowKind::W | RowKind::F => r.registers.scratch[1],
        }
}

/// The row of a constant.
#[inline(always)]
fn constant_row(r: &Runner<'_, '_>, kind: RowKind, n: usize) -> usize {
    scratch_row(r, kind, SCRATCH) + n
}

/// Makes rows for an operand that has none, and returns their place.
#[inline(never)]
fn fill(r: &mut Runner<'_, '_>, at: usize, kind: RowKind, o: &Operand) -> RowPlace {
    let from = scratch_row(r, kind, at);
    match r.scalar_operand(o) {
        Some(Scalar::Uniform(v)) => {
            fill_uniform(r, kind, from, v);
            return RowPlace { first: from as u32, by_warp: false };
        }
        Some(affine @ Scalar::Affine { .. }) if kind != RowKind::P => fill_affine(r, kind, from + r.lo, affine),
        _ => {
            for k in 0..r.n {
                r.enter(k, r.masks[k]);
                let (v, to) = (r.operand(o, k), from + r.lo + k);
                match kind {
                    RowKind::P => r.registers.masks[to].set(crate::numerics::lanes::narrow_mask(&v)),
                    RowKind::L => r.registers.longs[to].set(Row(v)),
                    RowKind::H | RowKind::W | RowKind::F => r.registers.words[to].set(Row(v.map(|v| v as u32))),
                }
            }
        }
    }
    RowPlace { first: from as u32, by_warp: true }
}
