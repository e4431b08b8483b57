//! Declarations of constants among the tokens, and those in bodies of repetitions.

use super::Expander;
use crate::diag::Diagnostic;
use crate::parse::Parser;
use crate::parse::constant::unknown_here;
use crate::token::{Tok, Token};

impl Expander<'_> {
    /// A declaration of a constant, which later bounds may name. It stays for the parser, which reports errors in it.
    pub(super) fn declaration(&mut self, at: usize, to: usize) -> usize {
        if let Some(end) = self.array_declaration(at, to) {
            return end;
        }
        if let Some(bang) = self.assertion(at) {
            // `assert!` is not a piece
            (at..=bang).for_each(|at| self.push(at));
            return bang + 1;
        }
        if let Some(end) = self.of_arrays(at, to) {
            return end;
        }
        let mut parser = Parser::new(self.tokens, at);
        parser.scope = std::mem::take(&mut self.scope);
        if parser.at_constant() {
            // in a header, or after the name of a kernel, there is no `;`
            if parser.is_parameter() {
                parser.declare_parameter();
            } else {
                let _ = parser.constant_declaration();
            }
        }
        let end = parser.pos.max(at + 1);
        let wrong = std::mem::take(&mut parser.diags);
        self.scope = std::mem::take(&mut parser.scope);
        if let Some(end) = self.of_iteration(at, end, wrong) {
            return end;
        }
        (at..end).for_each(|at| self.push(at));
        end
    }

    /// A declaration of a layout, whose sizes later bounds may name. It stays for the parser, which reports errors in it.
    pub(super) fn layout(&mut self, at: usize) -> usize {
        let mut parser = Parser::new(self.tokens, at);
        parser.in_rust = true;
        parser.scope = std::mem::take(&mut self.scope);
        let _ = parser.layout();
        self.scope = std::mem::take(&mut parser.scope);
        self.push(at);
        at + 1
    }

    /// `const _: () = assert!(`: its `!`.
    fn assertion(&self, at: usize) -> Option<usize> {
        let begins = self.word(at + 1) == Some("_") && self.word(at + 6) == Some("assert");
        (begins && self.is(at + 7, '!')).then_some(at + 7)
    }

    /// A constant whose value names arrays: its declaration has the number. Returns what follows it.
    fn of_arrays(&mut self, at: usize, to: usize) -> Option<usize> {
        let typed = self.is(at + 2, ':') && self.is(at + 4, '=');
        let end = (at..to).find(|end| self.is(*end, ';')).filter(|_| typed)?;
        let named = |expander: &Self, at: usize| expander.word(at).is_some_and(|name| expander.array(name).is_some());
        if !(at + 5..end).any(|at| named(self, at)) {
            return None;
        }
        let name = self.word(at + 1)?.to_owned();
        let value = self.small_value(at + 5, end, "a constant of an array")?;
        self.scope.set(&name, value);
        if self.body.as_ref().is_some_and(|body| body.blocks == self.blocks.len()) {
            self.variables.push((name, value));
            return Some(end + 1);
        }
        (at..at + 5).for_each(|at| self.push_declared(at));
        let id = self.made(self.tokens[at + 5].id);
        if value < 0 {
            self.out.tokens.push(Token { kind: Tok::Punct('-'), id, glued: false });
        }
        self.out.tokens.push(Token { kind: Tok::Number(value.unsigned_abs().to_string()), id, glued: false });
        self.push(end);
        Some(end + 1)
    }

    /// A constant that the body of a repetition declares has a value in each iteration, as the loop variable has: the parser does not
    /// see its declaration. Returns what follows the declaration.
    fn of_iteration(&mut self, at: usize, end: usize, wrong: Vec<Diagnostic>) -> Option<usize> {
        let own = self.body.as_ref().is_some_and(|body| body.blocks == self.blocks.len()) && self.is(end, ';');
        let name = self.word(at + 1).filter(|_| own)?.to_owned();
        if !wrong.is_empty() {
            wrong.into_iter().for_each(|d| self.fail(d));
        } else if let Some(value) = self.scope.integer(&name) {
            self.variables.push((name, value));
        } else if let Some(declaration) = self.depends_on_iteration(at, end, &name) {
            self.fail(declaration);
        } else {
            let kept = &mut self.body.as_mut()?.kept;
            if !kept.contains(&at) {
                kept.push(at);
                return None;
            }
        }
        Some(end + 1)
    }

    /// An error if a constant whose value only rustc knows has another one in each iteration.
    fn depends_on_iteration(&self, at: usize, end: usize, name: &str) -> Option<Diagnostic> {
        let mut words = self.tokens[at + 2..end].iter().filter_map(Token::word);
        let varies = words.any(|word| self.variables().iter().any(|(known, _)| known == word));
        let id = self.scope.rust(name).filter(|_| varies)?;
        let what = "a constant that depends on a loop variable";
        Some(unknown_here(self.span(at + 1, at + 1), what, &self.scope.constants, id))
    }
}
