//! The statement around a cursor, from its tokens alone: it may be half-written.

use crate::Document;
use ptx_dsl_frontend::isa::Instr;
use ptx_dsl_frontend::isa::syntax::{Form, forms};
use ptx_dsl_frontend::opcode::entries;
use ptx_dsl_frontend::token::{Tok, Token, is_at};

/// The tokens of a statement up to a cursor, without its guard.
pub struct Statement<'d> {
    /// The tokens.
    pub tokens: &'d [Token],
    /// How many of them are the dotted opcode.
    pub head: usize,
    /// The pieces of the dotted opcode; the last one is empty after a dot.
    pub pieces: Vec<String>,
}

/// Does a body or a block begin or end at this brace, and not a vector?
fn bounds(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|i| &tokens[i]);
    match tokens[at].kind {
        Tok::Punct('{') => match before {
            None => true,
            Some(token) if matches!(token.kind, Tok::Punct(';' | '{' | '}' | ')' | ':' | '|')) => true,
            // `.reqntid 128 {`
            Some(Token { kind: Tok::Number(_), .. }) => true,
            // `.entry k {`
            Some(_) => at >= 2 && matches!(tokens[at - 2].word(), Some("entry" | "func" | "part")),
        },
        Tok::Punct('}') => before.is_none_or(|token| matches!(token.kind, Tok::Punct(';' | '{' | '}' | ':'))),
        _ => false,
    }
}

/// Is this the `:` after a label?
fn ends_label(tokens: &[Token], at: usize) -> bool {
    tokens[at].is(':') && !is_at(tokens, at + 1, ':') && (at == 0 || !tokens[at - 1].is(':'))
}

/// Is this the `>` after the header of a `ptx!`?
fn ends_header(tokens: &[Token], at: usize) -> bool {
    tokens[at].is('>') && tokens[0].is('<') && !tokens[..at].iter().any(|token| token.is('>'))
}

impl<'d> Statement<'d> {
    /// The statement before a byte. `whole`: a word that the byte is in counts with all its letters.
    pub fn before(document: &'d Document, byte: usize) -> Statement<'d> {
        let all = document.tokens();
        let end = all.partition_point(|token| document.range(token).start < byte);
        Statement::before_token(document, end)
    }

    /// The statement before the token of this number.
    pub fn before_token(document: &'d Document, end: usize) -> Statement<'d> {
        let all = document.tokens();
        let begins = |i: &usize| all[*i].is(';') || bounds(all, *i) || ends_label(all, *i) || ends_header(all, *i);
        let start = (0..end).rev().find(begins).map_or(0, |i| i + 1);
        let mut tokens = &all[start..end];
        if let [at, rest @ ..] = tokens
            && at.is('@')
        {
            let rest = if rest.first().is_some_and(|token| token.is('!')) { &rest[1..] } else { rest };
            tokens = rest.get(1..).unwrap_or_default();
        }
        let (head, pieces) = dotted(document, tokens);
        Statement { tokens, head, pieces }
    }

    /// Is the cursor in the dotted opcode, or where one begins?
    pub fn is_in_opcode(&self) -> bool {
        self.head == self.tokens.len()
    }

    /// The tokens of the operands so far.
    pub fn operands(&self) -> &'d [Token] {
        &self.tokens[self.head..]
    }

    /// The number of the operand at the end, from 0: vectors, addresses and lists are one each.
    pub fn operand(&self) -> usize {
        let mut depth = 0;
        let commas = self.operands().iter().filter(|token| {
            match token.kind {
                Tok::Punct('{' | '[' | '(') => depth += 1,
                Tok::Punct('}' | ']' | ')') => depth -= 1,
                _ => {}
            }
            depth == 0 && token.is(',')
        });
        commas.count()
    }

    /// Is the cursor within brackets?
    pub fn is_in_address(&self) -> bool {
        let of = |c: char| self.operands().iter().filter(|token| token.is(c)).count();
        of('[') > of(']')
    }

    /// The entries with the longest opcode that the pieces begin with, and how many pieces it has.
    pub fn entries(&self) -> (Vec<&'static Instr>, usize) {
        entries_of_pieces(&self.pieces)
    }

    /// The forms of the entries that have all the qualifiers that are written.
    pub fn forms(&self) -> Vec<(&'static Instr, Form)> {
        let (found, used) = self.entries();
        let written = self.pieces.get(used..).unwrap_or_default();
        let all = found.into_iter().flat_map(|instr| forms(instr).into_iter().map(move |form| (instr, form)));
        all.filter(|(_, form)| rest_of(form, written).is_some()).collect()
    }
}

/// The entries with the longest opcode that the pieces begin with, and how many pieces it has.
pub fn entries_of_pieces(pieces: &[String]) -> (Vec<&'static Instr>, usize) {
    let Some(first) = pieces.first().filter(|first| !first.is_empty()) else { return (Vec::new(), 0) };
    let first = first.split("::").next().unwrap_or_default();
    let all = entries(first);
    (1..=pieces.len())
        .rev()
        .find_map(|n| {
            let opcode = pieces[..n].join(".");
            let found: Vec<_> = all.iter().filter(|e| e.instr.opcode == opcode).map(|e| e.instr).collect();
            (!found.is_empty()).then_some((found, n))
        })
        .unwrap_or_default()
}

/// The slots of a form that the qualifiers leave, by their numbers. `None` if a qualifier is not of this form.
pub fn rest_of(form: &Form, written: &[String]) -> Option<Vec<usize>> {
    let mut free: Vec<usize> = (0..form.slots.len()).collect();
    for word in written.iter().filter(|word| !word.is_empty()) {
        let of = free.iter().position(|slot| form.slots[*slot].alts.iter().any(|alt| alt.word() == word))?;
        free.remove(of);
    }
    Some(free)
}

/// The number of tokens of the dotted opcode with which a statement begins, and its pieces.
fn dotted(document: &Document, tokens: &[Token]) -> (usize, Vec<String>) {
    let (mut pieces, mut at) = (Vec::new(), 0);
    let text = |token: &Token| document.at(document.range(token)).to_owned();
    let is_word = |token: &Token| matches!(token.kind, Tok::Word(_) | Tok::Number(_));
    let Some(first) = tokens.first().filter(|token| token.word().is_some_and(|word| !word.starts_with('%'))) else {
        return (0, pieces);
    };
    pieces.push(text(first));
    at += 1;
    while let Some(token) = tokens.get(at).filter(|token| token.glued) {
        let next = tokens.get(at + 1).filter(|next| next.glued && is_word(next));
        if token.is('.') {
            pieces.push(next.map_or(String::new(), text));
            at += 1 + usize::from(next.is_some());
        } else if token.is(':') && is_at(tokens, at + 1, ':') {
            let part = tokens.get(at + 2).filter(|part| part.glued && is_word(part));
            if let Some(last) = pieces.last_mut() {
                last.push_str("::");
                last.push_str(&part.map_or(String::new(), text));
            }
            at += 2 + usize::from(part.is_some());
        } else {
            break;
        }
    }
    (at, pieces)
}

impl Statement<'_> {
    /// Has the opcode ended before the byte, by a space?
    pub fn has_operands(&self, document: &Document, byte: usize) -> bool {
        !self.is_in_opcode() || self.tokens.last().is_some_and(|last| document.range(last).end < byte)
    }
}
