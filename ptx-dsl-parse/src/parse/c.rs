//! Statements of C, which newcomers write: they are recognised to be answered well, and none of them is accepted.

use super::directive::text_of;
use super::{Parser, errors, foreign};
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::token::Tok;

/// Words that begin a statement of C and are no name of anything.
const KEYWORDS: [&str; 6] = ["if", "for", "while", "switch", "else", "do"];
/// Words that may stand before a type.
const BEFORE_TYPES: [&str; 5] = ["const", "static", "volatile", "register", "unsigned"];

impl Parser<'_> {
    /// What is wrong with the statement that begins here, if it is one of C. What has been recognised is passed over.
    pub(super) fn statement_of_c(&mut self) -> Option<Diagnostic> {
        let word = self.word_at(0)?;
        if KEYWORDS.contains(&word) {
            return Some(self.keyword(word));
        }
        if self.is_at(1, '(') && word != "call" {
            return self.called(word);
        }
        // `call f(x)`
        if word == "call" && self.is_at(2, '(') {
            let name = self.word_at(1)?;
            self.pos += 1;
            return self.called(name);
        }
        if let Some(sign) = self.assigns() {
            let span = self.tokens[self.pos + 1].span().to(self.tokens[self.pos + sign.len()].span());
            return Some(errors::assignment(span, sign));
        }
        self.declares()
    }

    /// `if (%p)`, `while (...)`
    fn keyword(&mut self, word: &str) -> Diagnostic {
        let start = self.here();
        let guard = match (self.word_at(2), self.is_at(2, '!')) {
            (Some(p), _) if word == "if" && self.is_at(1, '(') && self.is_at(3, ')') => Some(format!("@{p}")),
            (None, true) if word == "if" && self.is_at(1, '(') && self.is_at(4, ')') => {
                self.word_at(3).map(|p| format!("@!{p}"))
            }
            _ => None,
        };
        self.pos += 1;
        let end = if self.is('(') { self.parentheses() } else { None };
        let span = if guard.is_some() { start.to(end.unwrap_or(start)) } else { start };
        errors::keyword(span, word, guard)
    }

    /// `name(...)`
    fn called(&mut self, word: &str) -> Option<Diagnostic> {
        let (start, from) = (self.here(), self.pos);
        self.pos += 1;
        let Some(end) = self.parentheses() else {
            self.pos = from;
            return None;
        };
        let args = text_of(&self.tokens[from + 2..self.pos - 1]);
        Some(errors::called(start.to(end), word, &args))
    }

    /// Past what is in parentheses here, without recursion; `None` if they are not closed in this statement.
    fn parentheses(&mut self) -> Option<Span> {
        let mut open = 0u32;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct('(') => open += 1,
                Tok::Punct(')') => open = open.saturating_sub(1),
                Tok::Punct('{' | '}') => return None,
                _ => {}
            }
            let span = self.bump();
            if open == 0 {
                return Some(span);
            }
        }
        None
    }

    /// The sign of an assignment behind the first word: `=`, `+=`.
    fn assigns(&self) -> Option<&'static str> {
        if self.is_at(1, '=') && !(self.is_at(2, '=') && self.glued_at(2)) {
            return Some("=");
        }
        for (c, sign) in [('+', "+="), ('-', "-="), ('*', "*="), ('/', "/="), ('|', "|="), ('&', "&="), ('^', "^=")] {
            if self.is_at(1, c) && self.is_at(2, '=') && self.glued_at(2) {
                return Some(sign);
            }
        }
        None
    }

    /// `float x`, `__shared__ float x`, `unsigned int x`
    fn declares(&mut self) -> Option<Diagnostic> {
        let (mut n, mut ty, mut space, mut unsigned) = (0, None, None, false);
        while let (Some(word), Some(_)) = (self.word_at(n), self.word_at(n + 1)) {
            let known = foreign::c_type(word);
            space = space.or(foreign::space(word));
            unsigned |= word == "unsigned";
            if known.is_none() && foreign::space(word).is_none() && !BEFORE_TYPES.contains(&word) {
                break;
            }
            ty = known.or(ty);
            n += 1;
        }
        if n == 0 {
            return None;
        }
        let ty = match ty {
            Some("s32") if unsigned => "u32",
            Some(ty) => ty,
            None => "b32",
        };
        let words = text_of(&self.tokens[self.pos..self.pos + n]);
        let span = self.here().to(self.tokens[self.pos + n - 1].span());
        self.pos += n;
        Some(errors::c_declaration(span, &words, &format!("{} .{ty}", space.unwrap_or(".reg"))))
    }
}
