//! Declarations of constants among the tokens, and those in bodies of repetitions.

use super::Expander;
use crate::diag::Diagnostic;
use crate::parse::Parser;
use crate::parse::constant::unknown_here;
use crate::token::Token;

impl Expander<'_> {
    /// A declaration of a constant, which later bounds may name. It stays for the parser, which reports errors in it.
    pub(super) fn declaration(&mut self, at: usize) -> usize {
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
