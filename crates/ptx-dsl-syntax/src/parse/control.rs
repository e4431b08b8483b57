//! Parses the statements of `ptx!` that become instructions: `let %x = ...;`, `%x = ...;`, `if`, `while`, `loop`, `break`, `continue`. Words
//! without `@` decide when the kernel runs; `@if` and `@for` (`repeat.rs`) have been written out before. Spans are those of the tokens as
//! written: what `crate::lower` makes of an operator has the span of its expression.

use super::{Parser, Res, errors};
use crate::ast::{Assign, Expr, Form, Stmt, Word};
use crate::span::Span;
use crate::token::Tok;

/// The word that stands for `@peel` before a loop, with the first round in braces after the condition. No lexer makes it.
pub(crate) const PEELED: &str = "#peeled";

impl Parser<'_> {
    /// Does a statement that is not PTX begin here?
    pub(super) fn at_form(&self) -> bool {
        if !self.in_rust {
            return false;
        }
        let label = self.is_at(1, ':');
        match self.word_at(0) {
            Some("let") => self.word_at(1).is_some(),
            Some("if" | "while") => !label && !self.is_at(1, '.') && self.has_body(),
            Some("loop") => self.is_at(1, '{'),
            Some("break" | "continue") => self.is_at(1, ';') || self.word_at(1).is_some() && self.is_at(2, ';'),
            Some(PEELED) => true,
            Some(word) if word.starts_with('%') => {
                self.is_at(1, '=') && !(self.is_at(2, '=') && self.glued_at(2)) || self.is_at(1, ':')
            }
            _ => self.at_named_loop(),
        }
    }

    /// `outer: loop {`, `outer: while %p {`
    fn at_named_loop(&self) -> bool {
        if self.word_at(0).is_none() || !self.is_at(1, ':') || self.is_path(1) {
            return false;
        }
        match self.word_at(2) {
            Some("loop") => self.is_at(3, '{'),
            Some("while") => !self.is_at(3, '.') && self.has_body(),
            Some(PEELED) => true,
            _ => false,
        }
    }

    /// Is there a `{` before the end of the statement?
    fn has_body(&self) -> bool {
        let end = self.tokens[self.pos..].iter().find(|token| matches!(token.kind, Tok::Punct(';' | '{' | '}')));
        end.is_some_and(|end| end.is('{'))
    }

    /// Parses such a statement.
    pub(super) fn form(&mut self, out: &mut Vec<Stmt>) -> Res<()> {
        self.has_forms = true;
        let start = self.here();
        let form = match self.word_at(0) {
            Some("if") => self.branch()?,
            Some("while" | "loop" | PEELED) => self.repeated(None)?,
            Some(word @ ("break" | "continue")) => {
                self.bump();
                let of = if self.is(';') { None } else { Some(self.name("the name of a loop")?) };
                self.semicolon()?;
                if word == "break" { Form::Break(start, of) } else { Form::Continue(start, of) }
            }
            Some(_) if self.at_named_loop() => {
                let name = self.name("the name of a loop")?;
                self.bump();
                self.repeated(Some(name))?
            }
            _ => self.assignment()?,
        };
        out.push(Stmt::Form(Box::new(form)));
        Ok(())
    }

    /// An expression in which registers stand.
    pub(super) fn register_expression(&mut self) -> Res<Expr> {
        let around = std::mem::replace(&mut self.with_registers, true);
        let value = self.constant();
        self.with_registers = around;
        value
    }

    /// `let %x: s32 = ...;` or `%x = ...;`
    fn assignment(&mut self) -> Res<Form> {
        let start = self.here();
        let declares = self.word_at(0) == Some("let");
        if declares {
            self.bump();
        }
        let target = self.name("a register such as `%x`")?;
        if !target.text.starts_with('%') {
            return self.fail(errors::expected(target.span, "a register such as `%x`", &format!("`{}`", target.text)));
        }
        let ty = if self.eat(':') { Some(self.name("a type such as `s32`")?) } else { None };
        self.expect('=')?;
        let value = self.register_expression()?;
        let span = start.to(self.before());
        self.semicolon()?;
        Ok(Form::Assign(Assign { declares, target, ty, value, span }))
    }

    /// `{ ... }`
    fn braced(&mut self) -> Res<Vec<Stmt>> {
        let open = self.here();
        if !self.is('{') {
            return self.unexpected("`{`");
        }
        self.down()?;
        self.bump();
        let body = self.body(open);
        self.up();
        Ok(body)
    }

    /// `if CONDITION { ... } else if CONDITION { ... } else { ... }`
    fn branch(&mut self) -> Res<Form> {
        self.bump();
        let condition = self.register_expression()?;
        let then = self.braced()?;
        let mut otherwise = Vec::new();
        if self.word_at(0) == Some("else") {
            self.bump();
            if self.word_at(0) == Some("if") {
                self.down()?;
                let inner = self.branch();
                self.up();
                otherwise.push(Stmt::Form(Box::new(inner?)));
            } else {
                otherwise = self.braced()?;
            }
        }
        Ok(Form::If { condition, then, otherwise })
    }

    /// `while CONDITION { ... }`, `loop { ... }`, each with a first round of its own after `#peeled`.
    fn repeated(&mut self, name: Option<Word>) -> Res<Form> {
        let peeled = self.word_at(0) == Some(PEELED);
        if peeled {
            self.bump();
        }
        let span: Span = self.here();
        let conditional = self.word_at(0) == Some("while");
        self.bump();
        let condition = if conditional { Some(self.register_expression()?) } else { None };
        let first = if peeled { Some(self.braced()?) } else { None };
        let body = self.braced()?;
        Ok(Form::Loop { condition, first, body, name, span })
    }

    /// `as u64` after an operand.
    pub(super) fn converted(&mut self, mut e: Expr) -> Res<Expr> {
        while self.with_registers && self.word_at(0) == Some("as") {
            self.bump();
            let ty = self.name("a type such as `u64`")?;
            let span = e.span().to(ty.span);
            let ty = Word { text: format!(".{}", ty.text), span: ty.span };
            e = Expr::Cast(ty, Box::new(e), span);
        }
        Ok(e)
    }

    /// `min(a, b)` of registers.
    pub(super) fn at_function(&self) -> bool {
        self.with_registers && matches!(self.word_at(0), Some("min" | "max")) && self.is_at(1, '(')
    }

    /// Is it an operand of an address that is more than a name and a number?
    pub(super) fn is_computed(e: &Expr) -> bool {
        fn registers(e: &Expr) -> usize {
            match e {
                Expr::Name(name, _) => usize::from(name.text != "WARP_SZ"),
                Expr::Unary(_, e, _) | Expr::Cast(_, e, _) => registers(e),
                Expr::Binary(_, a, b, _) => registers(a) + registers(b),
                Expr::Ternary(c, a, b, _) => registers(c) + registers(a) + registers(b),
                Expr::Call(_, list, _) => list.iter().map(registers).sum(),
                Expr::Int { .. } | Expr::F32 { .. } | Expr::F64 { .. } | Expr::Rust(..) => 0,
            }
        }
        match e {
            Expr::Name(..) => false,
            Expr::Binary("+" | "-", a, b, _) if matches!(**a, Expr::Name(..)) => registers(b) > 0,
            Expr::Binary("+" | "-", a, b, _) if registers(b) == 0 => Self::is_computed(a),
            e => registers(e) > 0,
        }
    }
}
