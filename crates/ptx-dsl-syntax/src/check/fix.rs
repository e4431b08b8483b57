//! Edits that fix a statement. The checker tries each edit before a help shows it: it is legal for the module's version and
//! target, with the given operands.

mod opcodes;
pub(super) mod operands;
pub(super) mod qualifiers;

use super::Checker;
use super::opcode_match::{candidates, in_order, longest};
use super::symbol::Sym;
use crate::ast::{self, Expr, OperandKind, Word};
use crate::check::errors;
use crate::code;
use crate::edit::Help;
use crate::span::Span;
use ptx_dsl_isa::ty::{Class, Ty};

/// How many edits may be tried in a module besides those of [`TRIES_OWN`]: generated modules should not spend time on helps.
pub(super) const TRIES: usize = 3_000;

/// How many edits each statement may try, whatever the statements before it have tried. So each error has its help, and the time
/// is linear in the number of errors.
pub(super) const TRIES_OWN: usize = 40;

/// How many edits one search may try.
const TRIES_EACH: usize = 60;

/// The verdict on an edited instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It is legal.
    Legal,
    /// It is legal with another version or target.
    Elsewhere,
    /// The operands are in the right places, and something else is wrong.
    Near,
    /// The operands are in the wrong places.
    Misplaced,
    /// No form matches.
    Illegal,
}

/// Edits, each with the word that tells it from the others and with the verdict on the result.
#[derive(Default)]
pub(super) struct Edits(Vec<(String, Help, Verdict)>);

impl Edits {
    pub(super) fn add(&mut self, word: String, edit: Help, verdict: Verdict) {
        if verdict <= Verdict::Near && !self.0.iter().any(|(_, other, _)| other.text == edit.text) {
            self.0.push((word, edit, verdict));
        }
    }

    /// The edits with the best verdict, as one help that begins with the verb.
    pub(super) fn best(&self, verb: &str) -> Option<Help> {
        let mut found = Vec::new();
        for (word, edit, verdict) in &self.0 {
            if Some(*verdict) == self.least() {
                found.push((word.as_str(), edit));
            }
        }
        (!found.is_empty()).then(|| Help::any(verb, &found))
    }

    /// The first edit with the best verdict.
    pub(super) fn first(&self) -> Option<Help> {
        let best = self.0.iter().find(|(.., verdict)| Some(*verdict) == self.least())?;
        Some(best.1.clone())
    }

    /// Does one of them fix the whole statement?
    pub(super) fn suffices(&self) -> bool {
        self.least() <= Some(Verdict::Elsewhere) && self.least().is_some()
    }

    pub(super) fn is_better(&self, other: &Edits) -> bool {
        self.least() < other.least()
    }

    fn least(&self) -> Option<Verdict> {
        self.0.iter().map(|(.., verdict)| *verdict).min()
    }
}

/// A synthetic word.
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

/// The parts of an instruction: those of its opcode, and the words after it.
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
    /// A statement begins, with edits of its own.
    pub(super) fn begin_tries(&mut self) {
        if !self.attempts.trying {
            self.attempts.own = TRIES_OWN;
        }
    }

    /// How many edits a search may try. Each counts when it is tried.
    pub(super) fn grant(&self) -> usize {
        (self.attempts.own + self.attempts.tries).min(TRIES_EACH)
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

    /// The verdict on the instruction with other parts. Without budget it is unknown.
    pub(super) fn verdict_of(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> Verdict {
        if self.grant() == 0 { Verdict::Illegal } else { self.verdict_with(ast, parts) }
    }

    fn verdict(&mut self, ast: &ast::Instr) -> Verdict {
        match self.attempts.own.checked_sub(1) {
            Some(left) => self.attempts.own = left,
            None => self.attempts.tries = self.attempts.tries.saturating_sub(1),
        }
        let outer = std::mem::replace(&mut self.attempts.trying, true);
        let verdict = self.tried(ast);
        self.attempts.trying = outer;
        verdict
    }

    fn tried(&mut self, ast: &ast::Instr) -> Verdict {
        let Some(first) = ast.parts.first() else { return Verdict::Illegal };
        let entries = self.table.entries(&first.text);
        let ordered = in_order(&entries, &ast.parts);
        let parts = ordered.as_deref().unwrap_or(&ast.parts);
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
            Some((_, errors))
                if !errors.iter().any(|d| errors::is_misplaced(d) || d.code == code::MALFORMED_ADDRESS) =>
            {
                Verdict::Near
            }
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

/// The distance of a type from those of the operands.
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

/// Edits of this distance or more are guesses: they are not shown beside nearer ones.
pub(super) const FAR: usize = 4;
