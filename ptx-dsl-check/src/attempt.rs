//! An attempt to read an instruction by one of its forms: what that form says of the operands, and what is wrong so far.

use super::select::Fit;
use crate::ast;
use crate::diag::Diagnostic;
use crate::isa::syntax::{Form, is_type};
use crate::isa::{Instr, OpTy, OperandSpec};
use crate::ty::Ty;
use ptx_dsl_table::list::List;

/// One form tried on one instruction.
pub(super) struct Attempt<'a> {
    pub(super) entry: &'static Instr,
    pub(super) form: &'a Form,
    pub(super) fit: &'a Fit,
    pub(super) words: &'a [ast::Word],
    pub(super) quals: &'a [String],
    /// What is wrong.
    pub(super) errors: Vec<Diagnostic>,
    /// How wrong: the form with the least is the one meant.
    pub(super) badness: usize,
    /// Wrong, but reported before.
    pub(super) silent: bool,
    /// Addresses met so far.
    pub(super) addresses: usize,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        entry: &'static Instr,
        form: &'a Form,
        fit: &'a Fit,
        words: &'a [ast::Word],
        quals: &'a [String],
    ) -> Self {
        Attempt { entry, form, fit, words, quals, errors: Vec::new(), badness: 0, silent: false, addresses: 0 }
    }

    pub(super) fn fail(&mut self, d: Diagnostic, badness: usize) {
        self.errors.push(d);
        self.badness += badness;
    }

    /// The cause was reported where it stands.
    pub(super) fn broken(&mut self) {
        self.silent = true;
    }

    pub(super) fn has(&self, q: &str) -> bool {
        self.quals.iter().any(|x| x == q)
    }

    pub(super) fn spec(&self, name: &str) -> Option<&'static OperandSpec> {
        self.entry.operands.iter().find(|s| s.name == name)
    }

    /// What is written for a slot. A literal type counts as `.type`; where a form has no slot of the name, its types count in order.
    pub(super) fn slot(&self, name: &str) -> Option<&'a str> {
        let word = |i: usize| self.fit.filled[i].map(|w| self.words[w as usize].text.as_str());
        let slots = &self.form.slots;
        if let Some(i) = slots.iter().position(|s| s.name == name) {
            return word(i);
        }
        let types = (0..slots.len()).filter(|i| slots[*i].is_type).list();
        match name {
            ".type" => {
                let literal =
                    types.iter().find(|i| slots[**i].alts.len() == 1 && slots[**i].name[1..] == *slots[**i].alts[0]);
                literal.or(types.first()).and_then(|i| word(*i))
            }
            ".dtype" => types.first().and_then(|i| word(*i)),
            ".atype" | ".stype" | ".ctype" => types.get(1).or(types.first()).and_then(|i| word(*i)),
            ".btype" => types.get(2).or(types.last()).and_then(|i| word(*i)),
            _ => self.words.iter().map(|w| w.text.as_str()).find(|w| is_type(w)),
        }
    }

    pub(super) fn slot_ty(&self, name: &str) -> Option<Ty> {
        self.slot(name).and_then(Ty::from_name)
    }

    /// Elements that `.vec` asks for.
    pub(super) fn vec(&self) -> u32 {
        for (q, n) in [(".v2", 2), (".v4", 4), (".v8", 8)] {
            if self.has(q) {
                return n;
            }
        }
        1
    }

    /// Element type and count of an operand; count 0 for any.
    pub(super) fn ty(&self, spec: Option<&OperandSpec>) -> (Option<Ty>, u32) {
        match spec.map_or(OpTy::None, |s| s.ty) {
            OpTy::Ty(ty) => (Some(ty), 1),
            OpTy::Slot(slot) | OpTy::Parts(slot) => (self.slot_ty(slot), 1),
            OpTy::Wide(slot) => {
                let ty = self.slot_ty(slot);
                (if self.has(".wide") { ty.map(wide) } else { ty }, 1)
            }
            OpTy::Vec(slot, n) => {
                let ty = Ty::from_name(slot.trim_start_matches('.')).or_else(|| self.slot_ty(slot));
                (ty, if n == 0 { self.vec() } else { n })
            }
            OpTy::Many(ty, numbers) => {
                let written = numbers.iter().filter(|(q, _)| self.has(q));
                (Some(ty), written.fold(1, |n, (_, times)| n * times))
            }
            OpTy::Fragment(of) => {
                let (ty, count) = of(self.quals);
                (Some(ty), count)
            }
            OpTy::Coords(_) | OpTy::PerAxis(_) | OpTy::None => (None, 0),
        }
    }
}

fn wide(ty: Ty) -> Ty {
    match ty {
        Ty::U16 => Ty::U32,
        Ty::S16 => Ty::S32,
        Ty::U32 => Ty::U64,
        Ty::S32 => Ty::S64,
        Ty::B16 => Ty::B32,
        Ty::B32 => Ty::B64,
        other => other,
    }
}

/// The untyped type of the same width.
pub(super) fn bits(ty: Ty) -> Ty {
    match ty.bits() {
        16 => Ty::B16,
        32 => Ty::B32,
        64 => Ty::B64,
        _ => ty,
    }
}
