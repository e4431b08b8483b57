//! Names of parts: `%r{I}` is a register with the value of a constant in its name.

use super::{Expander, errors, part_of_name};
use crate::token::{Tok, Token};

impl Expander<'_> {
    /// `{I}` that touches a name before it becomes a part of the name, and so does what touches it behind. Returns the last token.
    pub(super) fn join_name(&mut self, open: usize, to: usize) -> Option<usize> {
        if !self.tokens[open].glued || open == 0 {
            return None;
        }
        // what was pushed last may be a name with a value already
        if !matches!(self.tokens[open - 1].kind, Tok::Word(_) | Tok::Number(_) | Tok::Punct('}'))
            || !matches!(self.out.tokens.last()?.kind, Tok::Word(_))
        {
            return None;
        }
        let close = self.close(open).filter(|close| *close < to && *close > open + 1)?;
        let inner = &self.tokens[open + 1..close];
        let plain = |token: &Token| match &token.kind {
            Tok::Word(word) => self.scope.knows(word) || self.array(word).is_some(),
            Tok::Number(_) => true,
            Tok::Punct(c) => "+-*/%()<>&|^".contains(*c) || "[]".contains(*c) && !self.arrays.is_empty(),
            Tok::Str(_) => false,
        };
        if !inner.iter().all(plain) {
            return self.unknown_part(open, close);
        }
        let mut part = if self.depends_on_arguments(open + 1, close) {
            self.uncertain_name(open - 1);
            "0".to_owned()
        } else {
            part_of_name(self.small_value(open + 1, close, "a part of a name")?)
        };
        let mut end = close;
        if let Some(Token { kind: Tok::Word(more) | Tok::Number(more), glued: true, .. }) = self.tokens.get(close + 1)
            && close + 1 < to
        {
            part.push_str(more);
            end += 1;
        }
        if let Some(Token { kind: Tok::Word(name), .. }) = self.out.tokens.last_mut() {
            name.push_str(&part);
        }
        Some(end)
    }

    /// `%r{J}` with a name that is not a constant: a register is not a vector.
    fn unknown_part(&mut self, open: usize, close: usize) -> Option<usize> {
        let register = self.word(open - 1).is_some_and(|word| word.starts_with('%'));
        let name = self.word(open + 1).filter(|_| register && close == open + 2)?.to_owned();
        self.fail(errors::unknown_part(self.span(open + 1, open + 1), &name));
        Some(close)
    }
}
