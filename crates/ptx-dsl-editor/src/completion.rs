//! What may be written at a cursor.

use crate::Document;
use crate::names::SymbolKind;
use crate::statement::{Statement, entries_of_pieces, rest_of};
use crate::table::needs;
use ptx_dsl_frontend::isa::directive::DIRECTIVES;
use ptx_dsl_frontend::isa::sreg::SREGS;
use ptx_dsl_frontend::isa::syntax::{Form, Shape, forms};
use ptx_dsl_frontend::isa::{Instr, OpTy, Role};
use ptx_dsl_frontend::table::FAMILIES;
use ptx_dsl_frontend::ty::Ty;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a completion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionKind {
    /// An opcode.
    Opcode,
    /// A qualifier.
    Qualifier,
    /// A directive.
    Directive,
    /// A special register.
    SpecialRegister,
    /// A name that the text declares.
    Name(SymbolKind),
}

/// Something that may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The text to write in place of the word at the cursor.
    pub text: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A few words about it.
    pub detail: String,
    /// The bytes that it replaces, up to the cursor.
    pub replaces: Range<usize>,
    /// Does it fit the operand? Such completions come first.
    pub fits: bool,
}

/// What may be written at a byte.
pub fn completions(document: &Document, byte: usize) -> Vec<Completion> {
    if is_in_comment(document.text(), byte) {
        return Vec::new();
    }
    let statement = Statement::before(document, byte);
    if statement.tokens.first().is_some_and(|token| token.is('.')) {
        return directives(document, byte, &statement);
    }
    if statement.tokens.is_empty() || statement.is_in_opcode() && !statement.has_operands(document, byte) {
        return in_opcode(document, byte, &statement);
    }
    if statement.pieces.is_empty() {
        return Vec::new();
    }
    in_operands(document, byte, &statement)
}

/// Is the byte in a comment?
fn is_in_comment(text: &str, byte: usize) -> bool {
    let before = text.get(..byte).unwrap_or("");
    let line = before.rsplit('\n').next().unwrap_or("");
    let opened = before.rfind("/*").filter(|open| before[*open..].find("*/").is_none());
    line.contains("//") || opened.is_some()
}

/// The bytes of the word that ends at a byte.
fn word_before(text: &str, byte: usize) -> Range<usize> {
    let before = text.get(..byte).unwrap_or("");
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | ':');
    byte - (before.len() - before.trim_end_matches(is_part).len())..byte
}

fn directives(document: &Document, byte: usize, statement: &Statement<'_>) -> Vec<Completion> {
    let replaces = word_before(document.text(), byte);
    let is_first = statement.tokens.len() <= 2;
    let types = (0..).map_while(Ty::from_index).map(|ty| (format!(".{}", ty.name()), "type".to_owned()));
    let all: Vec<(String, String)> = match is_first {
        true => DIRECTIVES.iter().map(|d| (d.name.to_owned(), needs(Some(d.since), Some(d.requires)))).collect(),
        false => types.collect(),
    };
    let of = |(name, detail): (String, String)| Completion {
        text: name.trim_start_matches('.').to_owned(),
        kind: CompletionKind::Directive,
        detail,
        replaces: replaces.clone(),
        fits: true,
    };
    all.into_iter().map(of).collect()
}

/// Opcodes, and the qualifiers that may follow what is written.
fn in_opcode(document: &Document, byte: usize, statement: &Statement<'_>) -> Vec<Completion> {
    let replaces = word_before(document.text(), byte);
    let written = statement.pieces.split_last().map_or([].as_slice(), |(_, written)| written);
    let of = |(text, (kind, detail))| Completion { text, kind, detail, replaces: replaces.clone(), fits: true };
    after_pieces(written).into_iter().map(of).collect()
}

/// The opcodes and qualifiers that may follow the pieces of an opcode, with a few words about each.
pub(crate) fn after_pieces(written: &[String]) -> BTreeMap<String, (CompletionKind, String)> {
    let before: String = written.iter().map(|piece| format!("{piece}.")).collect();
    let mut found: BTreeMap<String, (CompletionKind, String)> = BTreeMap::new();
    for instr in FAMILIES.iter().flat_map(|(_, list)| list.iter()) {
        if let Some(rest) = instr.opcode.strip_prefix(before.as_str()) {
            let detail = || format!("{}, {}", instr.section, needs(Some(instr.since), Some(instr.requires)));
            found.entry(rest.to_owned()).or_insert_with(|| (CompletionKind::Opcode, detail()));
        }
    }
    let (entries, used) = entries_of_pieces(written);
    for instr in entries {
        for form in forms(instr) {
            for slot in rest_of(&form, &written[used..]).unwrap_or_default() {
                let slot = &form.slots[slot];
                for alt in &slot.alts {
                    let detail = || format!("{} of `{}`", slot.name, instr.opcode);
                    found.entry(alt.word().to_owned()).or_insert_with(|| (CompletionKind::Qualifier, detail()));
                }
            }
        }
    }
    found
}

/// What an operand may be.
pub(crate) struct Wanted {
    /// The types of registers that fit; any if it is empty.
    pub types: Vec<Ty>,
    pub role: Role,
}

/// What the forms want as the operand at the cursor.
pub(crate) fn wanted(statement: &Statement<'_>) -> Vec<Wanted> {
    let number = statement.operand();
    let of = |(instr, form): (&'static Instr, Form)| {
        let mut operand = form.operands.get(number)?;
        if let Shape::Addr(inner) | Shape::Vector(inner) = &operand.shape
            && let Some(first) = inner.first()
        {
            operand = first;
        }
        let spec = instr.operand(operand.name)?;
        let types = match spec.ty {
            OpTy::Ty(ty) => vec![ty],
            OpTy::Slot(name) | OpTy::Vec(name, _) | OpTy::Parts(name) => written_types(statement, &form, name),
            OpTy::Wide(name) => {
                let narrow = written_types(statement, &form, name);
                let is_wide = statement.pieces.iter().any(|piece| piece == "wide");
                if is_wide { narrow.into_iter().filter_map(twice).collect() } else { narrow }
            }
            _ => Vec::new(),
        };
        Some(Wanted { types, role: spec.role })
    };
    statement.forms().into_iter().filter_map(of).collect()
}

/// A type of twice as many bits.
fn twice(ty: Ty) -> Option<Ty> {
    Ty::from_name(&format!("b{}", 2 * ty.bits()))
}

/// The types that are written in a slot of a form.
fn written_types(statement: &Statement<'_>, form: &Form, slot: &str) -> Vec<Ty> {
    let of_slot = form.slots.iter().filter(|s| s.name == slot).flat_map(|s| s.words());
    let words: Vec<&str> = of_slot.collect();
    let written = statement.pieces.iter().filter(|piece| words.contains(&piece.as_str()));
    written.filter_map(|piece| Ty::from_name(piece)).collect()
}

fn in_operands(document: &Document, byte: usize, statement: &Statement<'_>) -> Vec<Completion> {
    let replaces = word_before(document.text(), byte);
    let wanted = wanted(statement);
    let is_target = wanted.iter().any(|w| w.role == Role::Name);
    let in_address = statement.is_in_address();
    let mut found = Vec::new();
    for symbol in document.names().known_at(byte) {
        let ty = Ty::from_name(symbol.ty.trim_start_matches('.'));
        let suits = |w: &Wanted| match ty {
            Some(ty) => {
                w.types.is_empty()
                    || w.types.iter().any(|t| t.bits() == ty.bits() && (*t == Ty::Pred) == (ty == Ty::Pred))
            }
            None => false,
        };
        let fits = match symbol.kind {
            SymbolKind::Label | SymbolKind::Function => is_target,
            SymbolKind::Kernel | SymbolKind::Piece => false,
            SymbolKind::Register => !is_target && (in_address || wanted.is_empty() || wanted.iter().any(suits)),
            SymbolKind::Variable | SymbolKind::Parameter => {
                in_address || statement.pieces.first().is_some_and(|p| p == "mov")
            }
        };
        if symbol.kind == SymbolKind::Kernel || symbol.kind == SymbolKind::Label && !is_target {
            continue;
        }
        let members = match symbol.registers {
            Some(n) => (0..n.min(64)).map(|i| format!("{}{i}", symbol.name)).collect(),
            None => vec![symbol.name.clone()],
        };
        found.extend(members.into_iter().map(|text| Completion {
            text,
            kind: CompletionKind::Name(symbol.kind),
            detail: symbol.declaration.clone(),
            replaces: replaces.clone(),
            fits,
        }));
    }
    let reads_special =
        statement.pieces.first().is_some_and(|p| matches!(p.as_str(), "mov" | "cvt")) && statement.operand() > 0;
    if reads_special {
        found.extend(SREGS.iter().map(|s| Completion {
            text: s.name.to_owned(),
            kind: CompletionKind::SpecialRegister,
            detail: format!(".{}", s.ty.name()),
            replaces: replaces.clone(),
            fits: wanted.iter().any(|w| w.types.iter().any(|t| t.bits() == s.ty.bits())),
        }));
    }
    found.sort_by_key(|c| !c.fits);
    found
}
