//! Ranges of registers that a piece is given: `.reg .f32 %d<N>` takes `{%acc0..=%acc63}`, `{%a, %b}` or `%acc<64>`.
//!
//! In a use, `%d3` is a mark with the number 3 until the tokens of the use are complete, because `{I}` and `..=` make names of parts. Then
//! each mark becomes the register that was given.

use std::ops::Range;

use super::parameters::Parameter;
use super::{Expander, errors};
use crate::span::Span;
use crate::token::{Tok, Token};

/// What surrounds the number of a use in a mark. No lexer makes a word with it.
const MARK: char = '\u{2}';

/// A range of registers that a piece is given.
#[derive(Debug)]
pub(super) struct Family {
    /// `%d`
    pub(super) name: String,
    /// The beginning of its marks; empty in a piece that is checked by itself, which declares the registers.
    pub(super) mark: String,
    /// The registers; without any, the length is unknown.
    pub(super) given: Vec<Token>,
    /// The place of the range.
    pub(super) span: Span,
    /// Is the number of registers known? Otherwise the last one stands for those after it.
    pub(super) exact: bool,
}

/// A name without marks.
pub(super) fn unmarked(name: &str) -> String {
    name.split(MARK).step_by(2).collect()
}

impl Family {
    /// The registers of a use. `number` is that of the use.
    pub(super) fn of_use(name: &str, number: usize, given: (Vec<Token>, bool), span: Span) -> Self {
        let (given, exact) = given;
        Family { name: name.to_owned(), mark: format!("{name}{MARK}{number}{MARK}"), given, span, exact }
    }

    /// What stands for one of the registers, or for the beginning of its name.
    pub(super) fn stands_for(&self, word: &str) -> Option<String> {
        let rest = word.strip_prefix(self.name.as_str())?;
        let numbered = rest.bytes().all(|b| b.is_ascii_digit());
        (numbered && !self.mark.is_empty()).then(|| format!("{}{rest}", self.mark))
    }
}

impl Expander<'_> {
    /// The registers of an argument; `None` if it is not a list of registers.
    pub(super) fn given_registers(&mut self, source: Range<usize>, tokens: &[Token]) -> Option<Vec<Token>> {
        if let (Some(word), true) = (self.word(source.start), self.is(source.start + 1, '<'))
            && self.is(source.end - 1, '>')
            && source.len() > 3
        {
            let word = word.to_owned();
            let id = tokens.first()?.id;
            if self.depends_on_arguments(source.start + 2, source.end - 1) {
                self.uncertain_register(source.start);
                return Some(vec![Token { kind: Tok::Word(format!("{word}0")), id, glued: false }]);
            }
            let count = self.small_value(source.start + 2, source.end - 1, "the number of registers")?;
            let count = usize::try_from(count).ok().filter(|count| !self.is_too_long(source.start, *count))?;
            let register = |n: usize| {
                let name = format!("{word}{n}");
                let name = self.frames.last().map_or(name.clone(), |frame| frame.name_of(&name));
                Token { kind: Tok::Word(name), id, glued: false }
            };
            return Some((0..count).map(register).collect());
        }
        let [Token { kind: Tok::Punct('{'), .. }, inner @ .., Token { kind: Tok::Punct('}'), .. }] = tokens else {
            return None;
        };
        let list = inner.split(|token| token.is(','));
        let registers = list.map(|register| match register {
            [register @ Token { kind: Tok::Word(_), .. }] => Some(register.clone()),
            _ => None,
        });
        registers.collect()
    }

    /// Are there as many registers as the parameter has? Said at the argument.
    pub(super) fn has_length(
        &mut self,
        p: &Parameter,
        (from, to): (usize, usize),
        given: &[Token],
        span: Span,
    ) -> bool {
        let inner = self.context;
        if self.depends_on_arguments(from, to) || self.are_uncertain(given) {
            return true;
        }
        let Some(length) = self.small_value(from, to, "the number of registers of a parameter") else { return false };
        if usize::try_from(length).is_ok_and(|length| length == given.len()) {
            return true;
        }
        // the argument is outside of the piece
        self.context = self.outer;
        let declared = self.span(p.tokens.start, p.tokens.end - 1);
        self.fail(errors::wrong_length(span, &p.name, length, given.len(), declared));
        self.context = inner;
        false
    }

    /// `%d` by itself, which stands for all registers in braces. Returns whether it is one.
    pub(super) fn whole_family(&mut self, at: usize) -> bool {
        let joined = self.is(at + 1, '{') && self.tokens[at + 1].glued;
        let (Some(word), false) = (self.word(at), joined) else { return false };
        let Some(family) = self.frames.last().and_then(|frame| frame.families.iter().find(|f| f.name == word)) else {
            return false;
        };
        let (registers, span, alone) = (family.given.clone(), family.span, family.mark.is_empty());
        let first = Token { kind: Tok::Word(format!("{word}0")), id: 0, glued: false };
        let id = self.made(self.tokens[at].id);
        if !alone {
            self.out.contexts.give(id, span);
        }
        let unknown = registers.is_empty() && alone;
        let registers = if unknown { vec![first] } else { registers };
        let punct = |c: char| Token { kind: Tok::Punct(c), id, glued: false };
        self.out.tokens.push(punct('{'));
        for (n, register) in registers.into_iter().enumerate() {
            if n > 0 {
                self.out.tokens.push(punct(','));
            }
            self.out.tokens.push(Token { id, ..register });
        }
        self.out.tokens.push(punct('}'));
        if unknown {
            self.uncertain_register(at);
        }
        true
    }

    /// Replaces the marks of a use among the tokens from this one on.
    pub(super) fn replace_marks(&mut self, from: usize, family: &Family) {
        let mut wrong = None;
        for token in &mut self.out.tokens[from..] {
            let Tok::Word(word) = &token.kind else { continue };
            let Some(rest) = word.strip_prefix(family.mark.as_str()) else { continue };
            let number = rest.parse::<usize>().ok().filter(|_| rest == "0" || !rest.starts_with('0'));
            match number.and_then(|number| family.given.get(number).or(family.given.last().filter(|_| !family.exact))) {
                Some(given) => {
                    if !self.out.contexts.is_source(token.id) {
                        self.out.contexts.give(token.id, given.span());
                    }
                    token.kind = given.kind.clone();
                }
                None => {
                    let name = unmarked(word);
                    wrong.get_or_insert((token.span(), name.clone()));
                    token.kind = Tok::Word(name);
                }
            }
        }
        if let Some((span, name)) = wrong {
            self.fail(errors::no_such_register(span, &name, &family.name, family.given.len()));
        }
    }
}
