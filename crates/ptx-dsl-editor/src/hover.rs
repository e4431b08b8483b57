//! What a word means.

use crate::Document;
use crate::meaning::{directive_meaning, meaning, register_meaning};
use crate::names::{Symbol, SymbolKind};
use crate::signature::names;
use crate::statement::entries_of_pieces;
use crate::table::{gate, host, needs, operand};
use crate::words::instructions;
use ptx_dsl_frontend::ast;
use ptx_dsl_frontend::hir::{Instr, Stmt};
use ptx_dsl_frontend::isa::directive::directive;
use ptx_dsl_frontend::isa::sreg::{Varies, sreg};
use ptx_dsl_frontend::isa::syntax::{Form, forms};
use ptx_dsl_frontend::isa::{self, OperandSpec, When};
use ptx_dsl_frontend::token::is_at;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;

/// What is known about a word.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hover {
    /// The bytes of the word.
    pub at: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// What the word at a byte means; `None` where there is none, or nothing is known of it.
pub fn hover(document: &Document, byte: usize) -> Option<Hover> {
    if let Some((symbol, at)) = document.names().at(byte) {
        let uses = document.names().uses_of(byte).len() - 1;
        let known = document.known_of(symbol, document.at(at.clone()));
        return Some(Hover { at, text: of_symbol(symbol, uses, &known) });
    }
    let number = document.token_at(byte)?;
    let token = &document.tokens()[number];
    if let Some((at, text)) = Pieces::new(document).text(document.range(token).start) {
        return Some(Hover { at, text });
    }
    let (at, text) = of_word(document, number)?;
    Some(Hover { at, text })
}

/// A name: its declaration, what it is, how often it is used, and what the analyses know of it.
pub(crate) fn of_symbol(symbol: &Symbol, uses: usize, known: &str) -> String {
    let what = match symbol.kind {
        SymbolKind::Register if symbol.registers.is_some() => "registers",
        SymbolKind::Register => "register",
        SymbolKind::Variable => "variable",
        SymbolKind::Parameter => "parameter",
        SymbolKind::Kernel => "kernel",
        SymbolKind::Function => "function",
        SymbolKind::Label => "label",
        SymbolKind::Piece => "piece",
    };
    let s = if uses == 1 { "" } else { "s" };
    let known = if known.is_empty() { String::new() } else { format!("\n\nKnown: {known}") };
    format!("```ptx\n{}\n```\n{what}, {uses} use{s}{known}", symbol.declaration)
}

/// A word that is neither a name nor in an opcode: a special register or a directive.
pub(crate) fn of_word(document: &Document, number: usize) -> Option<(Range<usize>, String)> {
    let token = &document.tokens()[number];
    let word = token.word()?;
    if let Some(found) = special(document, number, word) {
        return Some(found);
    }
    let dotted = number > 0 && is_at(document.tokens(), number - 1, '.');
    let found = directive(&format!(".{word}")).filter(|_| dotted)?;
    let meaning = directive_meaning(found.name).map_or(String::new(), |meaning| format!("{meaning}\n\n"));
    let text = format!("`{}`\n\n{meaning}Since {}", found.name, needs(Some(found.since), Some(found.requires)));
    Some((document.range(token).start - 1..document.range(token).end, text))
}

/// A special register at a token, which may be the component after its dot: the bytes and the text.
fn special(document: &Document, number: usize, word: &str) -> Option<(Range<usize>, String)> {
    let tokens = document.tokens();
    let range = |i: usize| document.range(&tokens[i]);
    let component = is_at(tokens, number + 1, '.').then(|| tokens.get(number + 2)).flatten().and_then(|t| t.word());
    let (at, name) = match (number.checked_sub(2), component) {
        (_, Some(part)) if sreg(&format!("{word}.{part}")).is_some() => {
            (range(number).start..range(number + 2).end, format!("{word}.{part}"))
        }
        (Some(before), _) if tokens[before].word().is_some_and(|w| sreg(&format!("{w}.{word}")).is_some()) => {
            let base = tokens[before].word().unwrap_or_default();
            (range(before).start..range(number).end, format!("{base}.{word}"))
        }
        _ => (range(number), word.to_owned()),
    };
    let found = sreg(&name)?;
    let varies = match found.varies {
        Varies::Never => "in the whole grid",
        Varies::WithRank => "in CTAs of one rank",
        Varies::WithCluster => "in a cluster",
        Varies::WithCta => "in a CTA",
        Varies::WithWarp => "in a warp",
        Varies::WithThread => "in no two threads",
        Varies::InTime => "at no two times",
    };
    let needs = needs(Some(found.since), Some(found.requires));
    let meaning = register_meaning(&name).map_or(String::new(), |meaning| format!("\n\n{meaning}."));
    let text = format!(
        "`{name}`: special register, `.{}`, the same value {varies}{meaning}\n\nSince {needs}",
        found.ty.name()
    );
    Some((at, text))
}

pub(crate) type PieceKey = (Vec<String>, Option<(usize, usize)>, usize);

/// The pieces of all opcodes of a text, to find them quickly.
pub(crate) struct Pieces<'d> {
    /// By the first byte.
    at: BTreeMap<usize, Piece<'d>>,
}

struct Piece<'d> {
    instr: &'d ast::Instr,
    /// The instruction, if it has no error.
    typed: Option<&'d Instr>,
    /// The number of the piece.
    number: usize,
    end: usize,
}

impl<'d> Pieces<'d> {
    pub fn new(document: &'d Document) -> Pieces<'d> {
        let mut pieces = Pieces { at: BTreeMap::new() };
        for compiled in document.modules() {
            let bodies = compiled.hir.functions.iter().flat_map(|f| &f.body);
            let typed: HashMap<u32, &'d Instr> = bodies
                .filter_map(|stmt| match stmt {
                    Stmt::Instr(instr) => Some((instr.index, &**instr)),
                    _ => None,
                })
                .collect();
            for instr in instructions(&compiled.ast) {
                let typed = typed.get(&instr.index).copied();
                for (number, part) in instr.parts.iter().enumerate() {
                    let at = document.bytes(part.span);
                    // the instructions of an expression have its tokens
                    if document.at(at.clone()) == part.text {
                        pieces.at.insert(at.start, Piece { instr, typed, number, end: at.end });
                    }
                }
            }
        }
        pieces
    }

    fn piece(&self, byte: usize) -> Option<&Piece<'d>> {
        let (_, piece) = self.at.range(..=byte).next_back()?;
        (byte < piece.end).then_some(piece)
    }

    /// What the text at a byte depends on: the opcode, the entry and its form, the number of the piece.
    pub fn key(&self, byte: usize) -> Option<PieceKey> {
        let piece = self.piece(byte)?;
        let form = piece.typed.map(|typed| (std::ptr::from_ref(typed.entry) as usize, typed.form));
        Some((piece.instr.parts.iter().map(|part| part.text.clone()).collect(), form, piece.number))
    }

    /// The text at a byte, with the bytes that it is about.
    pub fn text(&self, byte: usize) -> Option<(Range<usize>, String)> {
        let piece = self.piece(byte)?;
        let (start, _) = self.at.range(..=byte).next_back()?;
        Some((*start..piece.end, of_part(piece.instr, piece.typed, piece.number)?))
    }
}

/// One line of a form.
fn line(form: &Form) -> String {
    form.line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A piece of an opcode, of which the typed instruction is known if it has no error.
pub(crate) fn of_part(instr: &ast::Instr, typed: Option<&Instr>, part: usize) -> Option<String> {
    let pieces: Vec<String> = instr.parts.iter().map(|part| part.text.clone()).collect();
    let (entries, used) = entries_of_pieces(&pieces);
    if part < used {
        return Some(of_opcode(&entries, typed));
    }
    let entry = typed.map_or(*entries.first()?, |typed| typed.entry);
    of_qualifier(entry, typed, &pieces[part])
}

/// The opcode: the form in use, or all forms if it is not known which.
fn of_opcode(entries: &[&'static isa::Instr], typed: Option<&Instr>) -> String {
    let mut text = String::new();
    let shown: Vec<&'static isa::Instr> = typed.map_or(entries.to_vec(), |typed| vec![typed.entry]);
    for entry in shown {
        let all = forms(entry);
        let in_use = typed.and_then(|typed| all.get(typed.form)).map(line);
        let lines = in_use.map_or_else(|| all.iter().map(line).collect::<Vec<_>>(), |line| vec![line]);
        let _ = writeln!(text, "```ptx\n{};\n```", lines.join(";\n"));
        let of_form = typed.and_then(|typed| all.get(typed.form)).map(|form| form.operands.iter().flat_map(names));
        let of_form: Option<Vec<&str>> = of_form.map(Iterator::collect);
        let named = |o: &&OperandSpec| of_form.as_ref().is_none_or(|names| names.contains(&o.name));
        let operands = entry.operands.iter().filter(named);
        let operands: String = operands.map(|o| format!("- {}", operand(o).trim_start())).collect();
        let _ = writeln!(text, "PTX ISA {}; since {}\n", entry.section, needs(Some(entry.since), Some(entry.requires)));
        let _ = writeln!(text, "{operands}\nHost: {}.\n", host(entry.host));
    }
    text.trim_end().to_owned()
}

/// A qualifier: the place it has in the form, the alternatives, the default, and what it needs.
fn of_qualifier(entry: &'static isa::Instr, typed: Option<&Instr>, word: &str) -> Option<String> {
    let all = forms(entry);
    let of_form = typed.and_then(|typed| all.get(typed.form));
    let has = |form: &&Form| form.slots.iter().any(|slot| slot.words().contains(&word));
    let form = of_form.filter(|form| has(form)).or_else(|| all.iter().find(|form| has(form)))?;
    let slot = form.slots.iter().find(|slot| slot.words().contains(&word))?;
    let qualifier = slot.alts.iter().find(|alt| alt.word() == word)?;
    let mut text = format!("`{}` of `{}` (PTX ISA {})\n", qualifier.text(), entry.opcode, entry.section);
    if let Some(meaning) = meaning(entry.opcode, word) {
        let _ = writeln!(text, "\n{meaning}");
    }
    let alternatives: Vec<String> = slot.alts.iter().map(|alt| format!("`{}`", alt.text())).collect();
    if alternatives.len() > 1 {
        let _ = writeln!(text, "\n`{}` is one of {}", slot.name, alternatives.join(", "));
    }
    if let Some((_, default)) = entry.defaults.iter().find(|(name, _)| *name == slot.name) {
        let _ = writeln!(text, "\nDefault: `{}`", default.text());
    }
    let mentions = |when: &When| match when {
        When::Has(q) => q == qualifier,
        When::HasAny(list) => list.contains(qualifier),
        _ => false,
    };
    for found in entry.gates.iter().filter(|gate| gate.when.iter().any(mentions)) {
        let _ = writeln!(text, "\nNeeds {}", gate(found).trim());
    }
    Some(text.trim_end().to_owned())
}
