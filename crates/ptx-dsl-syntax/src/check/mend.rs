//! Edits that mend a statement. Each is tried by the checker itself before a help shows it: what is shown is legal for the
//! module's version and target, with the operands that are given.

mod opcodes;
mod operands;
pub(super) mod qualifiers;

use super::Checker;
use super::instr::{candidates, in_order, longest};
use super::names::Sym;
use crate::ast::{self, Expr, OperandKind, Word};
use crate::check::errors;
use crate::span::Span;
use ptx_dsl_isa::ty::{Class, Ty};

/// How many edits may be tried in a module: what nobody wrote by hand takes no time for hints.
pub(super) const TRIES: usize = 3_000;

/// How many of them for one statement.
const TRIES_EACH: usize = 60;

/// What becomes of an instruction that was edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It is legal.
    Legal,
    /// It is legal with another version or target.
    Elsewhere,
    /// The operands have the right places, and something else is wrong.
    Near,
    /// The operands have not the right places.
    Misplaced,
    /// No form is like that.
    Illegal,
}

/// Edits, with what becomes of the instruction.
#[derive(Default)]
pub(super) struct Edits(Vec<(String, Verdict)>);

impl Edits {
    pub(super) fn add(&mut self, edit: String, verdict: Verdict) {
        if verdict <= Verdict::Near && !self.0.iter().any(|(e, _)| *e == edit) {
            self.0.push((edit, verdict));
        }
    }

    /// Those after which least is wrong.
    pub(super) fn best(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for (edit, verdict) in &self.0 {
            if Some(*verdict) == self.least() {
                found.push(edit.as_str());
            }
        }
        found
    }

    /// Is nothing of the statement wrong after one of them?
    pub(super) fn suffices(&self) -> bool {
        self.least() <= Some(Verdict::Elsewhere) && self.least().is_some()
    }

    pub(super) fn is_better(&self, other: &Edits) -> bool {
        self.least() < other.least()
    }

    fn least(&self) -> Option<Verdict> {
        self.0.iter().map(|(_, verdict)| *verdict).min()
    }
}

/// A word that nobody wrote.
pub(super) fn word(text: &str) -> Word {
    Word { text: text.to_string(), span: Span::default() }
}

/// The words between the dots.
fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for part in text.split('.') {
        words.push(word(part));
    }
    words
}

/// The parts of an instruction: those of its opcode, and the words behind it.
pub(super) fn parts(opcode: &str, words: &[Word]) -> Vec<Word> {
    let mut parts = split(opcode);
    for word in words {
        match parts.last_mut() {
            Some(last) if word.text.starts_with("::") => last.text.push_str(&word.text),
            _ => parts.push(word.clone()),
        }
    }
    parts
}

/// The opcode with its qualifiers.
pub(super) fn spelled(parts: &[Word]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !part.text.starts_with("::") {
            text.push('.');
        }
        text.push_str(&part.text);
    }
    text
}

impl Checker {
    /// Grants a statement its tries, and says how many there are.
    pub(super) fn grant(&mut self) -> usize {
        let granted = self.tries.min(TRIES_EACH);
        self.tries -= granted;
        granted
    }

    /// Is the instruction legal?
    pub(super) fn accepts(&mut self, ast: &ast::Instr) -> bool {
        self.verdict(ast) == Verdict::Legal
    }

    /// The same with other parts.
    pub(super) fn accepts_parts(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> bool {
        self.verdict_with(ast, parts) == Verdict::Legal
    }

    pub(super) fn verdict_with(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> Verdict {
        self.verdict(&ast::Instr { parts, ..ast.clone() })
    }

    /// What becomes of the instruction with other parts. With no tries left it is not known to be legal.
    pub(super) fn verdict_of(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> Verdict {
        match self.tries.checked_sub(1) {
            Some(left) => {
                self.tries = left;
                self.verdict_with(ast, parts)
            }
            None => Verdict::Illegal,
        }
    }

    fn verdict(&mut self, ast: &ast::Instr) -> Verdict {
        let outer = std::mem::replace(&mut self.trying, true);
        let verdict = self.tried(ast);
        self.trying = outer;
        verdict
    }

    fn tried(&mut self, ast: &ast::Instr) -> Verdict {
        let ordered = in_order(&ast.parts);
        let parts = ordered.as_deref().unwrap_or(&ast.parts);
        let Some(first) = parts.first() else { return Verdict::Illegal };
        let entries = self.table.entries(&first.text);
        let found = candidates(&entries, parts);
        let mut level = longest(&found, usize::MAX);
        let mut best = None;
        while level > 0 {
            for candidate in &found {
                if candidate.takes(level) && self.by_entry(ast, candidate, &mut best).is_some() {
                    return Verdict::Legal;
                }
            }
            level = longest(&found, level);
        }
        match best {
            Some((_, errors)) if errors.iter().all(errors::is_gate) => Verdict::Elsewhere,
            Some((_, errors)) if !errors.iter().any(errors::is_misplaced) => Verdict::Near,
            Some(_) => Verdict::Misplaced,
            None => Verdict::Illegal,
        }
    }

    /// The types of the registers among the operands.
    pub(super) fn operand_types(&mut self, operands: &[ast::Operand]) -> Vec<Ty> {
        let mut found = Vec::new();
        for o in operands {
            match &o.kind {
                OperandKind::Expr(Expr::Name(word, _)) => {
                    if let Some(Sym::Reg(id)) = self.lookup(&word.text) {
                        found.push(self.reg_ty(id));
                    }
                }
                OperandKind::Vector(list) => found.append(&mut self.operand_types(list)),
                OperandKind::Pair(a, _) => found.append(&mut self.operand_types(std::slice::from_ref(a))),
                _ => {}
            }
        }
        found
    }
}

/// How near a type is to those of the operands: less is nearer.
pub(super) fn distance(ty: Ty, operands: &[Ty]) -> usize {
    let usual = matches!(ty, Ty::B16 | Ty::B32 | Ty::B64 | Ty::U16 | Ty::U32 | Ty::U64 | Ty::F16 | Ty::F32 | Ty::F64);
    let mut least = if operands.is_empty() { usize::from(!usual) } else { FAR };
    for have in operands {
        least = least.min(match () {
            _ if *have == ty => 0,
            _ if have.bits() != ty.bits() => FAR,
            _ if ty.class() == Class::Packed => 4,
            _ if have.class() == Class::Bits => 2 - usize::from(usual),
            _ => 3,
        });
    }
    least
}

/// From here on it takes luck: nothing this far is shown beside what is nearer.
pub(super) const FAR: usize = 4;
