//! What a word means.

use crate::Document;
use crate::names::SymbolKind;
use crate::statement::entries_of_pieces;
use crate::table::{gate, host, needs, operand};
use crate::words::instructions;
use ptx_dsl_frontend::ast;
use ptx_dsl_frontend::hir::{Instr, Stmt};
use ptx_dsl_frontend::isa::directive::directive;
use ptx_dsl_frontend::isa::sreg::{Varies, sreg};
use ptx_dsl_frontend::isa::syntax::{Form, forms};
use ptx_dsl_frontend::isa::{self, When};
use ptx_dsl_frontend::token::{Tok, is_at};
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
        let what = match symbol.kind {
            SymbolKind::Register if symbol.registers.is_some() => "registers",
            SymbolKind::Register => "register",
            SymbolKind::Variable => "variable",
            SymbolKind::Parameter => "parameter",
            SymbolKind::Kernel => "kernel",
            SymbolKind::Function => "function",
            SymbolKind::Label => "label",
        };
        let s = if uses == 1 { "" } else { "s" };
        let text = format!("```ptx\n{}\n```\n{what}, {uses} use{s}", symbol.declaration);
        return Some(Hover { at, text });
    }
    let number = document.token_at(byte)?;
    let token = &document.tokens()[number];
    let at = document.range(token);
    if let Some((instr, part)) = part_at(document, token.id) {
        let text = of_part(document, instr, part)?;
        let span = instr.parts[part].span;
        return Some(Hover { at: document.bytes(span), text });
    }
    let (at, text) = match &token.kind {
        Tok::Word(word) => match special(document, number, word) {
            Some(found) => found,
            None if number > 0 && is_at(document.tokens(), number - 1, '.') => {
                let found = directive(&format!(".{word}"))?;
                let text = format!("`{}`: {}", found.name, needs(Some(found.since), Some(found.requires)));
                (at.start - 1..at.end, text)
            }
            None => return None,
        },
        _ => return None,
    };
    Some(Hover { at, text })
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
    let text = format!("`{name}`: special register, `.{}`, the same value {varies}\n\n{needs}", found.ty.name());
    Some((at, text))
}

/// The instruction whose opcode has a token, and the number of the piece.
fn part_at(document: &Document, id: u32) -> Option<(&ast::Instr, usize)> {
    instructions(document).into_iter().find_map(|instr| {
        let has = |part: &ast::Word| (part.span.first..=part.span.last).contains(&id);
        Some((instr, instr.parts.iter().position(has)?))
    })
}

/// The typed instruction.
fn typed(document: &Document, index: u32) -> Option<&Instr> {
    let bodies = document.compiled().hir.functions.iter().flat_map(|f| &f.body);
    bodies.into_iter().find_map(|stmt| match stmt {
        Stmt::Instr(instr) if instr.index == index => Some(&**instr),
        _ => None,
    })
}

/// One line of a form.
fn line(form: &Form) -> String {
    form.line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_part(document: &Document, instr: &ast::Instr, part: usize) -> Option<String> {
    let pieces: Vec<String> = instr.parts.iter().map(|part| part.text.clone()).collect();
    let (entries, used) = entries_of_pieces(&pieces);
    let typed = typed(document, instr.index);
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
        let operands: String = entry.operands.iter().map(|o| format!("- {}", operand(o).trim_start())).collect();
        let _ = writeln!(text, "PTX ISA {}, {}\n", entry.section, needs(Some(entry.since), Some(entry.requires)));
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
