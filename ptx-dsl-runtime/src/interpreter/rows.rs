//! Instructions on rows: loops over the warps of a cohort, compiled for each instruction set.
//!
//! [`forms`] lists the instructions that have such a loop. All others run lane by lane, with the same semantics.

mod forms;
mod kinds;

use super::code::{Op, Operand};
use super::operation::Runner;
use super::registers::{Row, Scalar};
use crate::monitor::Monitor;
use crate::qual::Q;
use crate::simd::InstructionSet;
use kinds::Kind;
use ptx_dsl_isa::image::{Instr, Source};
use ptx_dsl_isa::opcode::Opcode;
use std::cell::Cell;

/// The most operands of a form.
const OPERANDS: usize = 4;
/// The most operands and results.
const PLACES: usize = OPERANDS + 2;
/// Rows of a cohort.
const WARPS: usize = 32;

/// Rows of operands that are scalars: for each operand one row, or one for each warp.
pub(super) struct Scratch {
    words: Vec<Cell<Row<u32>>>,
    longs: Vec<Cell<Row<u64>>>,
    masks: Vec<Cell<u32>>,
}

impl Scratch {
    pub fn new() -> Self {
        Scratch {
            words: vec![Cell::new(Row([0; 32])); PLACES * WARPS],
            longs: vec![Cell::new(Row([0; 32])); PLACES * WARPS],
            masks: vec![Cell::new(0); PLACES * WARPS],
        }
    }
}

/// The rows of an operand: row `k * step` is that of the cohort's warp `k`.
#[derive(Clone, Copy)]
enum Rows<'c> {
    Words(&'c [Cell<Row<u32>>], usize),
    Longs(&'c [Cell<Row<u64>>], usize),
    Masks(&'c [Cell<u32>], usize),
}

/// The operands and the result of a loop.
struct Loop<'c> {
    sources: [Rows<'c>; OPERANDS],
    result: Rows<'c>,
    second: Rows<'c>,
    /// The lanes of each warp that get a result.
    masks: &'c [u32],
    /// All lanes get one.
    all: bool,
}

/// A loop compiled for one instruction set. Only [`forms`] makes them, for each set.
type Compiled = unsafe fn(&Loop<'_>);

/// A form of an instruction: the kinds of its operands, and its loops.
struct Form {
    q: Q,
    sources: &'static [Kind],
    results: &'static [Kind],
    /// One lane.
    one: fn([u64; 4]) -> [u64; 2],
    /// For AVX-512, AVX2, and the base of the target.
    loops: [Compiled; 3],
}

/// The loop of an instruction on this processor.
pub(super) struct RowFunction {
    form: &'static Form,
    compiled: Compiled,
}

impl RowFunction {
    /// The semantics for one lane, compiled for the qualifiers.
    pub fn one(&self) -> fn([u64; 4]) -> [u64; 2] {
        self.form.one
    }
}

/// The loop for an instruction, if it is one of the forms.
pub(super) fn find(opcode: Opcode, q: Q, i: &Instr, widths: &[u8], set: InstructionSet) -> Option<RowFunction> {
    let holds = |kind: &Kind, bits: u8| kind.bits() == u32::from(bits);
    let takes = |kind: &Kind, source: &Source| match source {
        Source::Register { register } | Source::Not { register } => holds(kind, widths[*register as usize]),
        Source::Address { .. } | Source::Frame { .. } => false,
        Source::Constant { .. } | Source::Special { .. } => true,
    };
    let fits = |form: &&&'static Form| {
        let given = form.sources.len() == i.sources.len() && form.results.len() >= i.results.len();
        let mut results = form.results.iter().zip(&i.results);
        given
            && form.q == q
            && form.sources.iter().zip(&i.sources).all(|(kind, s)| takes(kind, s))
            && results.all(|(kind, r)| r.is_none_or(|r| holds(kind, widths[r as usize])))
    };
    let form: &'static Form = forms::of(opcode).iter().find(fits)?;
    let compiled = match set {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        InstructionSet::Avx512 => form.loops[0],
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => form.loops[1],
        InstructionSet::Base => form.loops[2],
    };
    Some(RowFunction { form, compiled })
}

/// Runs an instruction on rows.
#[allow(unsafe_code)]
pub(super) fn run<M: Monitor>(r: &mut Runner<'_, '_, M>, op: &Op<M>, function: &RowFunction) {
    let form = function.form;
    let mut steps = [None; OPERANDS];
    for ((at, kind), o) in form.sources.iter().enumerate().zip(&op.sources) {
        if let Operand::Register(register) = o
            && r.registers.is_rows(r.lo, *register)
        {
            continue;
        }
        steps[at] = fill(r, at, *kind, o);
    }
    for result in op.results.iter().flatten() {
        r.rows_for(*result);
    }
    let (registers, scratch) = (&*r.registers, &*r.scratch);
    let (lo, n) = (r.lo, r.n);
    let of_register = |register: u32| {
        let slot = registers.slot(register);
        let from = slot.index as usize * registers.warps + lo;
        match slot.bits {
            1 => Rows::Masks(&registers.masks[from..from + n], 1),
            64 => Rows::Longs(&registers.longs[from..from + n], 1),
            _ => Rows::Words(&registers.words[from..from + n], 1),
        }
    };
    let of_scratch = |at: usize, kind: Kind, step| match kind {
        Kind::P => Rows::Masks(&scratch.masks[at * WARPS..(at + 1) * WARPS], step),
        Kind::L => Rows::Longs(&scratch.longs[at * WARPS..(at + 1) * WARPS], step),
        _ => Rows::Words(&scratch.words[at * WARPS..(at + 1) * WARPS], step),
    };
    let none = Rows::Masks(&[], 0);
    let mut sources = [none; OPERANDS];
    for ((at, kind), o) in form.sources.iter().enumerate().zip(&op.sources) {
        sources[at] = match (steps[at], o) {
            (None, Operand::Register(register)) => of_register(*register),
            (step, _) => of_scratch(at, *kind, step.unwrap_or(0)),
        };
    }
    // a result that nobody wants goes where no operand is
    let result = |at: usize| match op.results.get(at).copied().flatten() {
        Some(register) => Some(of_register(register)),
        None => form.results.get(at).map(|kind| of_scratch(OPERANDS + at, *kind, 1)),
    };
    let (first, second) = (result(0).unwrap_or(none), result(1).unwrap_or(none));
    let body = Loop { sources, result: first, second, masks: &r.masks[..n], all: r.all };
    // SAFETY: `find` has taken the loop for the instruction set of this processor.
    unsafe { (function.compiled)(&body) };
}

/// Makes rows of an operand that has none: the step between them. `None` if it has rows.
#[inline(never)]
fn fill<M: Monitor>(r: &mut Runner<'_, '_, M>, at: usize, kind: Kind, o: &Operand<M>) -> Option<usize> {
    let from = at * WARPS;
    match (o, r.scalar_operand(o)) {
        (_, Some(Scalar::Uniform(v))) => {
            match kind {
                Kind::P => r.scratch.masks[from].set((v as u32 & 1).wrapping_neg()),
                Kind::L => r.scratch.longs[from].set(Row([v; 32])),
                _ => r.scratch.words[from].set(Row([v as u32; 32])),
            }
            return Some(0);
        }
        (_, Some(affine @ Scalar::Affine { .. })) if kind != Kind::P => {
            for k in (0..r.n).filter(|k| r.masks[*k] != 0) {
                match kind {
                    Kind::L => r.scratch.longs[from + k].set(r.registers.affine_longs(affine, r.lo + k)),
                    _ => r.scratch.words[from + k].set(r.registers.affine_words(affine, r.lo + k)),
                }
            }
        }
        (o, _) => {
            for k in 0..r.n {
                r.enter(k, r.masks[k]);
                let v = r.operand(o, k);
                match kind {
                    Kind::P => r.scratch.masks[from + k].set(crate::lanes::narrow_mask(&v)),
                    Kind::L => r.scratch.longs[from + k].set(Row(v)),
                    _ => r.scratch.words[from + k].set(Row(v.map(|v| v as u32))),
                }
            }
        }
    }
    Some(1)
}
