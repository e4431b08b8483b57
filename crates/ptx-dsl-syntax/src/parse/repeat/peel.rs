//! A loop with its first round apart: `@peel FIRST while %x < %n { ... }` has the body twice, with `FIRST` 1 and then 0, so that `@if FIRST` can
//! choose what only the first round does.

use super::contexts::What;
use super::{Expander, MAX_DEPTH, errors};
use crate::parse::control::PEELED;
use crate::token::{Tok, Token};

impl Expander<'_> {
    /// Writes out both bodies; returns where the loop ends.
    pub(super) fn peel(&mut self, at: usize, to: usize) -> usize {
        let name = self.word(at + 2).unwrap_or_default().to_owned();
        let head = at + 3;
        let open = self.body_behind(head, to).filter(|_| matches!(self.word(head), Some("while" | "loop")));
        let Some(open) = open else {
            self.fail(errors::no_loop(self.span(at, at + 2)));
            return head;
        };
        let Some(close) = self.close(open).filter(|close| *close < to) else {
            self.fail(errors::unclosed(self.span(open, open)));
            return to;
        };
        if self.depth >= MAX_DEPTH {
            self.fail(crate::parse::errors::too_deep(self.span(at, at + 1)));
            return close + 1;
        }
        if self.is_too_long(at, 2 * (close - open)) {
            return close + 1;
        }
        self.depth += 1;
        let id = self.made(self.tokens[at].id);
        self.out.tokens.push(Token { kind: Tok::Word(PEELED.to_owned()), id, glued: false });
        self.all(head, open);
        let (scope, variables, context) = (self.scope.open(), self.variables.len(), self.context);
        for value in [1, 0] {
            self.variables.push((name.clone(), value));
            self.scope.set(&name, value);
            self.context = Some(self.out.contexts.open(context, What::Iteration(self.shown_variables())));
            self.all(open, close + 1);
            self.variables.truncate(variables);
            self.scope.close(scope);
        }
        self.context = context;
        self.depth -= 1;
        close + 1
    }
}
