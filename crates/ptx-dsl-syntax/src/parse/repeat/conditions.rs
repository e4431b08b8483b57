//! `@if COND { ... } else { ... }` over constants: one of its bodies stays.

use super::{Expander, MAX_DEPTH, errors};

impl Expander<'_> {
    /// `@if COND { ... } else @if COND { ... } else { ... }`, whose first condition begins at `from`; returns where it ends.
    pub(super) fn conditional(&mut self, at: usize, from: usize, to: usize) -> usize {
        if self.depth >= MAX_DEPTH {
            self.fail(super::super::errors::too_deep(self.span(at, from)));
            return to;
        }
        self.depth += 1;
        let end = self.alternatives(at, from, to);
        self.depth -= 1;
        end
    }

    fn alternatives(&mut self, mut at: usize, mut from: usize, to: usize) -> usize {
        // a body was taken, or a condition was reported
        let (mut done, mut otherwise) = (false, false);
        // arguments decide which
        let mut uncertain = false;
        loop {
            let Some(open) = self.body_behind(from, to) else {
                self.fail(errors::no_body(self.span(at, from), "@if COND"));
                return from;
            };
            let Some(close) = self.close(open).filter(|close| *close < to) else {
                self.fail(errors::unclosed(self.span(open, open)));
                return to;
            };
            let given = !otherwise && self.depends_on_arguments(from, open);
            uncertain |= given;
            if let Some(register) = (from..open).find(|at| self.word(*at).is_some_and(|word| word.starts_with('%'))) {
                self.fail(errors::register_in_condition(self.span(register, register)));
                return close + 1;
            }
            let condition = if otherwise || given { Some(1) } else { self.value(from, open, "the condition of `@if`") };
            if !done && condition.is_some_and(|n| n != 0) {
                if uncertain {
                    self.uncertain(open + 1..close);
                }
                self.range(open + 1, close);
            }
            done |= !given && condition != Some(0);
            at = close + 1;
            if self.is(at, '@') && self.word(at + 1) == Some("else") && at + 1 < to {
                self.fail(errors::guarded_else(self.span(at, at + 1)));
                at += 1;
            }
            if otherwise || at >= to || self.word(at) != Some("else") {
                return at;
            }
            let word = at + 1 + usize::from(self.is(at + 1, '@'));
            otherwise = self.word(word) != Some("if");
            from = if otherwise { at + 1 } else { word + 1 };
            if otherwise && !self.is(from, '{') {
                self.fail(errors::no_body(self.span(at, at), "else"));
                return from;
            }
        }
    }
}
