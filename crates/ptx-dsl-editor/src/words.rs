//! What each word of a text is, for colours.

use crate::Document;
use crate::names::SymbolKind;
use ptx_dsl_frontend::ast::{Function, Instr, Item, Module, Stmt};
use ptx_dsl_frontend::isa::sreg::sreg;
use ptx_dsl_frontend::token::{Tok, is_at};
use std::collections::HashMap;
use std::ops::Range;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WordKind {
    /// A part of the opcode of an instruction.
    Opcode,
    /// A qualifier.
    Qualifier,
    /// A directive, such as `.reg`, or a type in a declaration.
    Directive,
    /// A special register, such as `%tid.x`.
    SpecialRegister,
    /// A name that the text declares.
    Name(SymbolKind),
    /// A number.
    Number,
    /// A string.
    String,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// Its bytes.
    pub at: Range<usize>,
    /// What it is.
    pub kind: WordKind,
    /// Is a name declared here?
    pub is_declaration: bool,
}

/// The instructions of a module, in the order of the text.
pub(crate) fn instructions(module: &Module) -> Vec<&Instr> {
    fn of<'a>(body: &'a [Stmt], all: &mut Vec<&'a Instr>) {
        for stmt in body {
            match stmt {
                Stmt::Instr(instr) => all.push(instr),
                Stmt::Block(inner, _) => of(inner, all),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    for function in functions_of(module) {
        of(function.body.as_deref().unwrap_or_default(), &mut all);
    }
    all
}

pub(crate) fn functions(document: &Document) -> impl Iterator<Item = &Function> {
    functions_of(&document.compiled().ast)
}

fn functions_of(module: &Module) -> impl Iterator<Item = &Function> {
    module.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    })
}

/// The words of the text, in its order.
pub fn words(document: &Document) -> Vec<Word> {
    let mut parts: HashMap<u32, WordKind> = HashMap::new();
    // few opcodes are written often
    let mut known: HashMap<Vec<&str>, usize> = HashMap::new();
    for instr in instructions(&document.compiled().ast) {
        let pieces: Vec<&str> = instr.parts.iter().map(|part| part.text.as_str()).collect();
        let opcode = *known.entry(pieces).or_insert_with_key(|pieces| {
            let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            crate::statement::entries_of_pieces(&pieces).1
        });
        for (i, part) in instr.parts.iter().enumerate() {
            let kind = if i < opcode.max(1) { WordKind::Opcode } else { WordKind::Qualifier };
            parts.extend((part.span.first..=part.span.last).map(|id| (id, kind)));
        }
    }
    let names: HashMap<usize, (SymbolKind, bool)> =
        document.names().occurrences().map(|(symbol, at)| (at.start, (symbol.kind, symbol.at == *at))).collect();
    let tokens = document.tokens();
    let kind = |i: usize| {
        let (token, at) = (&tokens[i], document.range(&tokens[i]));
        if let Some((kind, is_declaration)) = names.get(&at.start) {
            return Some((WordKind::Name(*kind), *is_declaration));
        }
        let kind = match &token.kind {
            Tok::Punct(_) => return None,
            _ if parts.contains_key(&token.id) => parts[&token.id],
            Tok::Str(_) => WordKind::String,
            Tok::Word(word) if is_special(word) => WordKind::SpecialRegister,
            Tok::Word(_) | Tok::Number(_) if i > 0 && is_at(tokens, i - 1, '.') && token.glued => WordKind::Directive,
            Tok::Number(_) => WordKind::Number,
            Tok::Word(_) => return None,
        };
        Some((kind, false))
    };
    let word = |i: usize| {
        let (kind, is_declaration) = kind(i)?;
        Some(Word { at: document.range(&tokens[i]), kind, is_declaration })
    };
    (0..tokens.len()).filter_map(word).collect()
}

fn is_special(word: &str) -> bool {
    sreg(word).is_some()
}
