//! Ranges of registers in a list: `{%d0..=%d31}`.

use super::families::unmarked;
use super::{Expander, errors};
use crate::token::{Tok, Token};

/// A name without the number at its end, and the number.
pub(crate) fn numbered(name: &str) -> Option<(&str, u32)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let plain = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain).map(|number| (stem, number))
}

impl Expander<'_> {
    /// Are here the dots between two names? No PTX has such dots.
    pub(super) fn at_range(&self, at: usize) -> bool {
        self.is(at + 1, '.') && matches!(self.out.tokens.last(), Some(Token { kind: Tok::Word(_), .. }))
    }

    /// The registers of a range, the first of which is there already; returns where it ends.
    pub(super) fn registers(&mut self, dots: usize, to: usize) -> usize {
        let included = self.is(dots + 2, '=');
        let mut at = dots + 2 + usize::from(included);
        let first = self.out.tokens.len() - 1;
        if at < to && self.word(at).is_some() {
            self.push(at);
            at += 1;
            while self.is(at, '{')
                && let Some(end) = self.join_name(at, to)
            {
                at = end + 1;
            }
        }
        let span = self.span(dots.saturating_sub(1), at - 1);
        let [Token { kind: Tok::Word(from), .. }, Token { kind: Tok::Word(last), .. }] = &self.out.tokens[first..]
        else {
            self.out.tokens.truncate(first + 1);
            self.fail(errors::no_last_register(span));
            return at;
        };
        let (from, last) = (from.clone(), last.clone());
        let token = self.out.tokens[first].clone();
        let comma = Token { kind: Tok::Punct(','), glued: true, ..token.clone() };
        let (stem, mut low, mut high) = match (numbered(&from), numbered(&last)) {
            (Some((stem, low)), Some((other, high))) if stem == other => (stem, low, high),
            (Some((stem, low)), Some((_, high))) => {
                self.fail(errors::register_range(span, &unmarked(stem), low.min(high), low.max(high)));
                self.out.tokens.insert(first + 1, comma);
                return at;
            }
            _ => {
                self.fail(errors::no_number(span, &unmarked(&from), &unmarked(&last)));
                self.out.tokens.insert(first + 1, comma);
                return at;
            }
        };
        if !included || low > high {
            // as in Rust, `..` leaves out the last one
            (low, high) = (low.min(high), low.max(high) - u32::from(!included && low < high));
            self.fail(errors::register_range(span, &unmarked(stem), low, high));
        }
        self.out.tokens.truncate(first);
        if self.is_too_long(dots, (high - low) as usize * 2) {
            high = low;
        }
        for number in low..=high {
            self.out.tokens.push(Token { kind: Tok::Word(format!("{stem}{number}")), ..token.clone() });
            if number < high {
                self.out.tokens.push(comma.clone());
            }
        }
        at
    }
}
