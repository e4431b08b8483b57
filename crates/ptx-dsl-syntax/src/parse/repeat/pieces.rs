//! Pieces of a module: `.inline wait(.reg .b32 %bar, .b32 %parity, const N: u32, label done) { ... }` is code in place of
//! `wait!(...)`, and `.layout ring(full, empty, const N: u32) { ... }` declares the variables that a use names. They stand in the
//! module, or in a part of it: `part ring { ... }`, whose pieces are called `ring::wait`.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::names::{Own, declared};
use super::parameters::{Kind, Parameter};
use super::parts::Part;
use super::words::Words;
use super::{Expander, begins_piece, errors};
use crate::token::Tok;

/// All pieces of a module.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) all: Vec<Rc<Piece>>,
    /// By name: `ring::wait`.
    pub(super) named: HashMap<String, usize>,
    /// `use ring as other;`: what a part is called in the module, and its name.
    pub(super) aliases: Vec<(String, String)>,
    /// The parts, in order.
    pub(super) names: Vec<Part>,
    /// By the token that begins the definition: the piece, if it is right, and where the definition ends.
    ends: HashMap<usize, (Option<usize>, usize)>,
    /// The tokens in the braces of each part.
    parts: Vec<Range<usize>>,
}

/// A piece.
#[derive(Debug)]
pub(super) struct Piece {
    /// `ring::wait`
    pub(super) name: String,
    /// The name of the part.
    pub(super) part: Option<String>,
    /// `.layout`
    pub(super) layout: bool,
    /// The words that it is given before the arguments: `<OP: add | max, T: f32 | s32>`.
    pub(super) words: Vec<Words>,
    pub(super) parameters: Vec<Parameter>,
    /// What it declares.
    pub(super) own: Vec<Own>,
    /// The tokens between its braces.
    pub(super) body: Range<usize>,
    /// The token of its name.
    pub(super) at: usize,
}

impl Expander<'_> {
    /// Is this where the module itself is, not a body?
    fn in_module(&self) -> bool {
        self.frames.is_empty() && self.blocks.is_empty()
    }

    /// `part ring {`, which may have a visibility, or another name for this module: the part and the `{`.
    fn part_at(&self, mut at: usize) -> Option<(Part, usize)> {
        while self.is(at, '#') && self.is(at + 1, '[') {
            at = self.parenthesis(at + 1)? + 1;
        }
        if self.word(at) == Some("pub") {
            at = if self.is(at + 1, '(') { self.parenthesis(at + 1)? } else { at } + 1;
        }
        let name = self.word(at + 1).filter(|_| self.word(at) == Some("part"))?;
        let alias = self.word(at + 3).filter(|_| self.word(at + 2) == Some("as"));
        let open = if alias.is_some() { at + 4 } else { at + 2 };
        let part = Part { name: name.to_owned(), key: alias.unwrap_or(name).to_owned() };
        self.is(open, '{').then_some((part, open))
    }

    /// Finds the pieces of a module, or of a part of it.
    pub(super) fn collect(&mut self, from: usize, to: usize, part: Option<&str>) {
        let mut at = from;
        while at < to {
            at = if part.is_none() && self.word(at) == Some("use") {
                self.aliases(at, to)
            } else if begins_piece(self.tokens, at) {
                self.collect_piece(at, to, part)
            } else if let (None, Some((named, open))) = (part, self.part_at(at)) {
                let close = self.close(open).filter(|close| *close < to);
                let key = named.key.clone();
                self.pieces.names.push(named);
                let end = close.unwrap_or(to);
                if close.is_none() {
                    self.fail(errors::unclosed(self.span(open, open)));
                }
                self.pieces.parts.push(open + 1..end);
                self.collect(open + 1, end, Some(&key));
                end + 1
            } else if self.is(at, '{') {
                self.close(at).map_or(to, |close| close + 1)
            } else {
                at + 1
            };
        }
    }

    /// Reads `use a::ring as other;`; returns where it ends.
    fn aliases(&mut self, at: usize, to: usize) -> usize {
        let end = (at..to).find(|end| self.is(*end, ';')).unwrap_or(to);
        for n in at + 1..end {
            if self.word(n + 1) == Some("as")
                && let (Some(name), Some(alias)) = (self.word(n), self.word(n + 2))
            {
                let pair = (alias.to_owned(), name.to_owned());
                self.pieces.aliases.push(pair);
            }
        }
        end
    }

    /// Reads a definition; returns where it ends.
    fn collect_piece(&mut self, at: usize, to: usize, part: Option<&str>) -> usize {
        let errors = self.out.diagnostics.len();
        let (piece, end) = self.read_piece(at, to, part);
        let right = self.out.diagnostics.len() == errors;
        let index = piece.map(|piece| {
            let index = self.pieces.all.len();
            if let Some(first) = self.pieces.named.insert(piece.name.clone(), index) {
                let first = self.pieces.all[first].at;
                let (span, first) = (self.span(piece.at, piece.at), self.span(first, first));
                self.fail(errors::defined_twice(span, &piece.name, first));
            }
            self.pieces.all.push(Rc::new(piece));
            index
        });
        self.pieces.ends.insert(at, (index.filter(|_| right), end));
        end
    }

    fn read_piece(&mut self, at: usize, to: usize, part: Option<&str>) -> (Option<Piece>, usize) {
        let layout = self.word(at + 1) == Some("layout");
        let body = self.body_behind(at + 2, to);
        let close = body.and_then(|open| self.close(open)).filter(|close| *close < to);
        let (Some(open), Some(close)) = (body, close) else {
            let end = (at + 2..to).find(|end| self.is(*end, ';')).map_or(to, |end| end + 1);
            self.fail(errors::no_piece(self.span(at, at + 1), layout));
            return (None, end);
        };
        let end = close + 1;
        let listed = self.word_list(at + 3, open).filter(|_| !layout);
        let first = listed.map_or(at + 3, |close| close + 1);
        let (Some(name), true) = (self.word(at + 2), self.is(first, '(')) else {
            self.fail(errors::no_piece(self.span(at, at + 1), layout));
            return (None, end);
        };
        let name = part.map_or(name.to_owned(), |part| format!("{part}::{name}"));
        let list = self.parenthesis(first).filter(|list| list + 1 == open);
        let Some(list) = list else {
            self.fail(errors::no_piece(self.span(at, at + 1), layout));
            return (None, end);
        };
        let words = listed.map(|close| self.words(at + 4, close)).unwrap_or_default();
        let mut parameters: Vec<Parameter> = Vec::new();
        for tokens in self.split(first + 1, list) {
            let Some(parameter) = self.parameter(tokens.clone(), layout) else { continue };
            if let (None, Some(before)) = (&parameter.default, parameters.last().filter(|p| p.default.is_some())) {
                let before = self.span(before.tokens.start, before.tokens.end - 1);
                self.fail(errors::default_before(self.span(tokens.start, tokens.end - 1), &parameter.name, before));
            }
            match parameters.iter().find(|other| other.name == parameter.name) {
                Some(first) => {
                    let first = self.span(first.tokens.start, first.tokens.end - 1);
                    let span = self.span(tokens.start, tokens.end - 1);
                    self.fail(errors::parameter_twice(span, &parameter.name, first));
                }
                None => parameters.push(parameter),
            }
        }
        let mut own = declared(&self.tokens[open + 1..close], open + 1);
        if layout {
            let given = |own: &Own| parameters.iter().any(|p| p.kind == Kind::Name && p.name == own.name);
            for own in own.iter().filter(|own| !given(own)) {
                let span = self.span(own.at, own.at);
                self.out.diagnostics.push(errors::not_named(span, &own.name));
            }
            own.clear();
        }
        let part = part.map(str::to_owned);
        (Some(Piece { name, part, layout, words, parameters, own, body: open + 1..close, at: at + 2 }), end)
    }

    /// Where the parenthesis closes that opens here.
    pub(super) fn parenthesis(&self, open: usize) -> Option<usize> {
        let mut depth = 0u32;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Tok::Punct('(' | '[' | '{') => depth += 1,
                _ if depth == 0 => return None,
                Tok::Punct(')' | ']' | '}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                Tok::Punct(';') => return None,
                _ => {}
            }
        }
        None
    }

    /// The tokens between commas; none if there are no tokens.
    pub(super) fn split(&self, from: usize, to: usize) -> Vec<Range<usize>> {
        let (mut out, mut depth, mut start) = (Vec::new(), 0u32, from);
        for at in from..to {
            match self.tokens[at].kind {
                Tok::Punct('(' | '[' | '{') => depth += 1,
                Tok::Punct(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Tok::Punct(',') if depth == 0 => {
                    out.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if start < to {
            out.push(start..to);
        }
        out
    }

    /// What the parts have besides pieces, which comes before all else of the module.
    pub(super) fn parts(&mut self) {
        for part in std::mem::take(&mut self.pieces.parts) {
            self.all(part.start, part.end);
        }
    }

    /// Definitions of pieces and parts are no tokens of the module: where the one that begins here ends.
    pub(super) fn definition(&mut self, at: usize, to: usize) -> Option<usize> {
        if !self.in_module() {
            return None;
        }
        if self.word(at) == Some("use") {
            return Some((at..to).find(|end| self.is(*end, ';')).map_or(to, |end| end + 1));
        }
        if let Some((_, open)) = self.part_at(at) {
            return Some(self.close(open).map_or(to, |close| close + 1));
        }
        if let Some((index, end)) = self.pieces.ends.get(&at).copied() {
            if let Some(index) = index
                && self.alone.as_ref().is_some_and(|alone| alone.own.contains(&at))
            {
                self.by_itself(index);
            }
            return Some(end);
        }
        if self.alone.is_some() && self.is(at, '.') {
            return self.kernel_at(at, to);
        }
        None
    }
}
