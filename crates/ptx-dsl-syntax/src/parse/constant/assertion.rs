//! `const _: () = assert!(N % 16 == 0, "N is a multiple of 16");` in `ptx!`. What the macro knows it checks itself; rustc checks the rest.

use super::Parser;
use crate::ast::Expr;
use crate::parse::{Const, Res, errors, fold};
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::{Assertion, Kind};

impl Parser<'_> {
    /// Does an assertion begin here?
    pub(in crate::parse) fn at_assertion(&self) -> bool {
        self.in_rust && self.word_at(0) == Some("const") && self.word_at(1) == Some("_")
    }

    /// Reads it, with its `;`.
    pub(in crate::parse) fn assertion(&mut self) -> Res<()> {
        let start = self.here();
        self.pos += 2;
        let form = [":", "(", ")", "=", "assert", "!", "("];
        for part in form {
            let found = match self.peek() {
                Some(Tok::Word(word)) => word == part,
                Some(Tok::Punct(c)) => part.starts_with(*c) && part.len() == 1,
                _ => false,
            };
            if !found {
                return self.fail(errors::no_assertion(start.to(self.here())));
            }
            self.bump();
        }
        let from = self.pos;
        let condition = self.constant()?;
        let shown = written(&self.tokens[from..self.pos]);
        let message = if self.eat(',') { Some(self.string("a message")?.text) } else { None };
        self.eat(',');
        self.expect(')')?;
        self.semicolon()?;
        let span = condition.span();
        let finding = errors::assertion(span, &shown, message.as_deref());
        match (&condition, fold(&condition)) {
            (Expr::Rust(id, _), _) if self.scope.constants.kind(*id) == Kind::Int => {
                self.scope.constants.assert(Assertion::new(*id, finding));
            }
            (_, Some(Const::Int { value, .. })) => {
                if value == 0 {
                    self.report(finding);
                }
            }
            _ => return self.fail(errors::no_assertion(span)),
        }
        Ok(())
    }
}

/// Tokens as text, with spaces where they do not touch.
fn written(tokens: &[Token]) -> String {
    let mut out = String::new();
    for token in tokens {
        if !token.glued && !out.is_empty() {
            out.push(' ');
        }
        match &token.kind {
            Tok::Word(text) | Tok::Number(text) | Tok::Str(text) => out.push_str(text),
            Tok::Punct(c) => out.push(*c),
        }
    }
    out
}
