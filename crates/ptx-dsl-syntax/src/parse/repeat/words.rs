//! Words that a piece is given: `.inline reduce<OP: add | max, T: f32 | s32>(...)` is used as `reduce.max.f32!(...)`. In the piece each
//! stands for a type, a qualifier or an opcode, and `@if OP == max` asks which it is.

use std::ops::Range;

use super::pieces::Piece;
use super::{Expander, errors};
use crate::token::{Tok, Token};

/// The most combinations in which a piece is checked by itself.
const MAX_COMBINATIONS: usize = 16;

/// A parameter that is one of several words.
#[derive(Debug)]
pub(super) struct Words {
    /// `OP`
    pub(super) name: String,
    /// Its token.
    pub(super) at: usize,
    /// The words; one such as `mul.lo` has several parts.
    pub(super) listed: Vec<Vec<String>>,
}

/// The words that stand for the parameters of a piece.
pub(super) type Chosen = Vec<(String, Vec<String>)>;

/// `add | mul.lo`
pub(super) fn shown(listed: &[Vec<String>]) -> String {
    listed.iter().map(|word| format!("`{}`", word.join("."))).collect::<Vec<_>>().join(", ")
}

impl Expander<'_> {
    /// The `>` of the list that begins here.
    pub(super) fn word_list(&self, open: usize, to: usize) -> Option<usize> {
        (self.is(open, '<'))
            .then(|| (open..to).find(|at| self.is(*at, '>') || self.is(*at, '(')))
            .flatten()
            .filter(|close| self.is(*close, '>'))
    }

    /// Reads `OP: add | mul.lo, T: f32`.
    pub(super) fn words(&mut self, from: usize, to: usize) -> Vec<Words> {
        let mut out: Vec<Words> = Vec::new();
        for tokens in self.split(from, to) {
            let span = self.span(tokens.start, tokens.end.max(tokens.start + 1) - 1);
            let name = self.word(tokens.start).filter(|name| !name.starts_with('%') && *name != "const");
            let listed = self.listed_words(tokens.start + 2..tokens.end);
            match (name, listed) {
                (Some(name), Some(listed)) if self.is(tokens.start + 1, ':') => {
                    match out.iter().find(|w| w.name == name) {
                        Some(first) => {
                            let first = self.span(first.at, first.at);
                            let d = errors::parameter_twice(span, name, first);
                            self.fail(d);
                        }
                        None => out.push(Words { name: name.to_owned(), at: tokens.start, listed }),
                    }
                }
                _ => self.fail(errors::bad_words(span)),
            }
        }
        out
    }

    /// The words between bars, each of parts between dots.
    fn listed_words(&self, tokens: Range<usize>) -> Option<Vec<Vec<String>>> {
        let mut out = vec![Vec::new()];
        for (n, at) in tokens.enumerate() {
            match &self.tokens[at].kind {
                Tok::Word(word) if n % 2 == 0 && !word.starts_with('%') => out.last_mut()?.push(word.clone()),
                Tok::Number(word) if n % 2 == 0 => out.last_mut()?.push(word.clone()),
                Tok::Punct('.') if n % 2 == 1 => {}
                Tok::Punct('|') if n % 2 == 1 => out.push(Vec::new()),
                _ => return None,
            }
        }
        out.iter().all(|word| !word.is_empty()).then_some(out)
    }

    /// The words of a use, `reduce.max.f32!`: those between the name and the `!`.
    pub(super) fn chosen(&mut self, piece: &Piece, name: usize, bang: usize) -> Option<Chosen> {
        // in a piece a word may stand for another
        let mut given: Vec<(String, usize)> = Vec::new();
        for at in name + 1..bang {
            let Some(word) = self.word(at) else {
                if let Tok::Number(word) = &self.tokens[at].kind {
                    given.push((word.clone(), at));
                }
                continue;
            };
            match self.frames.last().and_then(|frame| frame.word(word)) {
                Some(parts) => given.extend(parts.iter().map(|part| (part.clone(), at))),
                None => given.push((word.to_owned(), at)),
            }
        }
        let (mut rest, mut chosen) = (given.as_slice(), Vec::new());
        for words in &piece.words {
            let begins = |word: &&Vec<String>| {
                word.len() <= rest.len() && word.iter().zip(rest).all(|(part, (given, _))| part == given)
            };
            let declared = self.span(words.at, words.at);
            let Some(word) = words.listed.iter().filter(begins).max_by_key(|word| word.len()) else {
                let d = match rest.first() {
                    Some((given, at)) => {
                        errors::other_word(self.span(*at, *at), given, &words.name, &shown(&words.listed), declared)
                    }
                    None => errors::no_word(
                        self.span(name, name),
                        &piece.name,
                        &words.name,
                        &shown(&words.listed),
                        declared,
                    ),
                };
                self.fail(d);
                return None;
            };
            rest = &rest[word.len()..];
            chosen.push((words.name.clone(), word.clone()));
        }
        if let Some((word, at)) = rest.first() {
            let d = errors::one_word_more(self.span(*at, *at), word, &piece.name, self.span(piece.at, piece.at));
            self.fail(d);
            return None;
        }
        Some(chosen)
    }

    /// The combinations of words in which a piece is checked by itself.
    pub(super) fn combinations(piece: &Piece) -> Vec<Chosen> {
        let all: usize = piece.words.iter().map(|words| words.listed.len()).fold(1, usize::saturating_mul);
        let combination = |n: usize| {
            let mut n = n;
            let mut choose = |words: &Words| {
                let word = words.listed[n % words.listed.len()].clone();
                n /= words.listed.len();
                (words.name.clone(), word)
            };
            piece.words.iter().map(&mut choose).collect()
        };
        (0..all.min(MAX_COMBINATIONS)).map(combination).collect()
    }

    /// The tokens of a condition, in which `OP == max` is 1 or 0. `None` if there is none.
    pub(super) fn compared(&mut self, from: usize, to: usize) -> Option<Vec<Token>> {
        let frame = self.frames.last().filter(|frame| !frame.words.is_empty())?;
        let named = |at: usize| self.word(at).and_then(|word| frame.word(word));
        if !(from..to).any(|at| named(at).is_some()) {
            return None;
        }
        let piece = frame.piece;
        let (mut out, mut wrong, mut at) = (Vec::new(), None, from);
        while at < to {
            let equal = self.is(at + 1, '=') && self.is(at + 2, '=');
            let other = self.is(at + 1, '!') && self.is(at + 2, '=');
            let Some(word) = named(at).filter(|_| equal || other) else {
                out.push(self.tokens[at].clone());
                at += 1;
                continue;
            };
            let parts = self.dotted_words(at + 3, to);
            let end = (at + 2 + 2 * parts.len()).max(at + 3);
            let name = self.word(at).unwrap_or_default();
            let listed = self.pieces.all[piece].words.iter().find(|words| words.name == name);
            if let Some(words) = listed.filter(|words| !words.listed.contains(&parts)) {
                let (span, declared) = (self.span(at + 3, end - 1), self.span(words.at, words.at));
                let listed = shown(&words.listed);
                wrong.get_or_insert(errors::other_word(span, &parts.join("."), name, &listed, declared));
            }
            let value = u8::from((*word == parts[..]) == equal);
            out.push(Token { kind: Tok::Number(value.to_string()), ..self.tokens[at].clone() });
            at = end;
        }
        if let Some(wrong) = wrong {
            self.fail(wrong);
        }
        Some(out)
    }

    /// The words between dots here.
    fn dotted_words(&self, mut at: usize, to: usize) -> Vec<String> {
        let mut out = Vec::new();
        while at < to
            && let Tok::Word(word) | Tok::Number(word) = &self.tokens[at].kind
        {
            out.push(word.clone());
            if !self.is(at + 1, '.') {
                break;
            }
            at += 2;
        }
        out
    }
}
