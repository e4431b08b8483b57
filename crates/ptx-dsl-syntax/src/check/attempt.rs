//! An attempt to match an instruction with one form: the form's view of the operands, and the errors so far.

use super::fix::operands::HOLE;
use super::select::Fit;
use crate::ast;
use crate::diag::Diagnostic;
use ptx_dsl_isa::constant::Assertion;
use ptx_dsl_isa::hir;
use ptx_dsl_isa::isa::syntax::{Form, is_space, is_type};
use ptx_dsl_isa::isa::{Instr, OpTy, OperandSpec};
use ptx_dsl_isa::meaning::access;
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Ty;

/// One form tried on one instruction.
pub(super) struct Attempt<'a> {
    pub(super) opcode: Opcode,
    pub(super) entry: &'static Instr,
    pub(super) form: &'a Form,
    pub(super) fit: &'a Fit,
    pub(super) words: &'a [ast::Word],
    pub(super) quals: &'a [Qualifier],
    /// The errors.
    pub(super) errors: Vec<Diagnostic>,
    /// The cost of the errors: the form with the least cost is the intended one.
    pub(super) badness: usize,
    /// Wrong, but reported before.
    pub(super) silent: bool,
    /// The operands that are names of unknown type.
    pub(super) holes: Vec<String>,
    /// The number of addresses so far.
    pub(super) addresses: usize,
    /// What must hold of Rust constants.
    pub(super) assertions: Vec<Assertion>,
    /// Instructions that compute operands.
    pub(super) before: Vec<hir::Instr>,
    /// Warnings, which count if the form fits.
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        opcode: Opcode,
        entry: &'static Instr,
        form: &'a Form,
        fit: &'a Fit,
        words: &'a [ast::Word],
        quals: &'a [Qualifier],
    ) -> Self {
        Attempt {
            opcode,
            entry,
            form,
            fit,
            words,
            quals,
            errors: Vec::new(),
            badness: 0,
            silent: false,
            holes: Vec::new(),
            addresses: 0,
            assertions: Vec::new(),
            before: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn fail(&mut self, d: Diagnostic, badness: usize) {
        self.errors.push(d);
        self.badness += badness;
    }

    /// The cause was already reported at its own place.
    pub(super) fn broken(&mut self) {
        self.silent = true;
    }

    /// The same for the name of an operand.
    pub(super) fn broken_operand(&mut self, name: &str, operand: &str) {
        self.silent = true;
        if name == HOLE {
            self.holes.push(operand.to_string());
        }
    }

    pub(super) fn has(&self, q: Qualifier) -> bool {
        self.quals.contains(&q)
    }

    /// Is the qualifier of this word written?
    pub(super) fn has_word(&self, word: &str) -> bool {
        Qualifier::from_word(word).is_some_and(|q| self.has(q))
    }

    pub(super) fn has_any(&self, quals: &[Qualifier]) -> bool {
        hir::has_any(self.quals, quals)
    }

    pub(super) fn spec(&self, name: &str) -> Option<&'static OperandSpec> {
        self.entry.operand(name)
    }

    /// The words written in a slot.
    fn filled(&self, slot: usize) -> Option<&'a str> {
        Some(&self.words[self.fit.filled[slot]? as usize].text)
    }

    /// The word written for a slot. A literal type counts as `.type`; in a form without a slot of that name, its types count in
    /// order.
    pub(super) fn slot(&self, name: &str) -> Option<&'a str> {
        let mut types = Vec::new();
        let mut literal = None;
        for (i, slot) in self.form.slots.iter().enumerate() {
            if slot.name == name {
                return self.filled(i);
            }
            if slot.is_type {
                types.push(i);
                if let [only] = slot.alts.as_slice()
                    && literal.is_none()
                    && slot.name == only.text()
                {
                    literal = Some(i);
                }
            }
        }
        let first = types.first();
        let at = match name {
            ".type" => literal.as_ref().or(first),
            ".dtype" => first,
            ".atype" | ".stype" | ".ctype" => types.get(1).or(first),
            ".btype" => types.get(2).or(types.last()),
            _ => {
                for word in self.words {
                    if is_type(&word.text) {
                        return Some(&word.text);
                    }
                }
                return None;
            }
        };
        self.filled(*at?)
    }

    /// The written state spaces.
    pub(super) fn spaces(&self) -> Vec<&'a str> {
        let mut spaces = Vec::new();
        for word in self.words {
            if is_space(&word.text) {
                spaces.push(word.text.as_str());
            }
        }
        spaces
    }

    pub(super) fn slot_ty(&self, name: &str) -> Option<Ty> {
        self.slot(name).and_then(Ty::from_name)
    }

    /// The number of elements that `.vec` requests.
    pub(super) fn vec(&self) -> u32 {
        access::elements(|word| self.has(word))
    }

    /// Element type and count of an operand; 0 for any count.
    pub(super) fn ty(&self, spec: Option<&OperandSpec>) -> (Option<Ty>, u32) {
        let Some(spec) = spec else { return (None, 0) };
        match spec.ty {
            OpTy::Ty(ty) => (Some(ty), 1),
            OpTy::Slot(slot) | OpTy::Parts(slot) => (self.slot_ty(slot), 1),
            OpTy::Wide(slot) => {
                let ty = self.slot_ty(slot);
                (if self.has(q::wide) { ty.map(wide) } else { ty }, 1)
            }
            OpTy::Vec(slot, n) => {
                let ty = Ty::from_name(slot.trim_start_matches('.')).or_else(|| self.slot_ty(slot));
                (ty, if n == 0 { self.vec() } else { n })
            }
            OpTy::Many(ty, numbers) => {
                let mut count = 1;
                for (q, times) in numbers {
                    if self.has(*q) {
                        count *= times;
                    }
                }
                (Some(ty), count)
            }
            OpTy::Fragment(of) => {
                let (ty, count) = of(self.quals);
                (Some(ty), count)
            }
            OpTy::Coords(_) | OpTy::PerAxis(_) | OpTy::None => (None, 0),
        }
    }

    /// The bytes to which the access to a variable must be aligned, 0 if there is no such rule.
    pub(super) fn alignment(&self, spec: Option<&OperandSpec>) -> u32 {
        match (spec, self.opcode) {
            (Some(s), _) if s.align != 0 => s.align,
            (_, op::ld | op::st | op::atom | op::red) => match self.slot_ty(".type") {
                Some(ty) => ty.bytes() * self.vec(),
                None => 1,
            },
            _ => 0,
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
