//! Parses operands (PTX ISA 6).

use super::directive::text_of;
use super::{Parser, Res, all_digits, errors};
use crate::ast::{Operand, OperandKind, Word};
use crate::token::Tok;

/// `b0`, `h1`, `b3210`, `h10`: the part of a register that a video instruction selects (PTX ISA 9.7.18).
pub(super) fn is_selector(name: &str) -> bool {
    let (kind, digits) = name.split_at_checked(1).unwrap_or(("", ""));
    matches!(kind, "b" | "h") && (1..=4).contains(&digits.len()) && all_digits(digits)
}

impl Parser<'_> {
    /// An operand. With `call`, parentheses are a list of arguments.
    pub(super) fn operand(&mut self, call: bool) -> Res<Operand> {
        (self.operators, self.parentheses) = (0, 0);
        self.down()?;
        let operand = self.operand_inner(call);
        self.up();
        operand
    }

    /// An operand of an instruction. ptxas accepts `x[1]` only here, not inside of brackets.
    pub(super) fn outer_operand(&mut self, call: bool) -> Res<Operand> {
        if self.word_at(0).is_none() || !self.is_at(1, '[') || !self.glued_at(1) {
            return self.operand(call);
        }
        let name = self.name("an array")?;
        self.bump();
        let index = self.constant()?;
        let close = self.expect(']')?;
        let span = name.span.to(close);
        if self.is('[') {
            return self.fail(errors::array_index(span.to(self.here()), &name.text, None));
        }
        Ok(Operand { kind: OperandKind::Index(name, index), span })
    }

    fn operand_inner(&mut self, call: bool) -> Res<Operand> {
        let start = self.here();
        let first = match self.peek() {
            Some(Tok::Punct('{')) => {
                if self.is_at(1, '}') {
                    self.pos += 2;
                    let span = start.to(self.before());
                    return self.fail(errors::empty_vector(span));
                }
                OperandKind::Vector(self.list('}', "`,` or `}`")?)
            }
            Some(Tok::Punct('[')) => {
                let around = std::mem::replace(&mut self.with_registers, self.in_rust);
                let list = self.list(']', "`,` or `]`");
                self.with_registers = around;
                OperandKind::Address(list?)
            }
            Some(Tok::Punct('(')) if call => {
                if self.is_at(1, ')') {
                    self.pos += 2;
                    OperandKind::List(Vec::new())
                } else {
                    OperandKind::List(self.list(')', "`,` or `)`")?)
                }
            }
            Some(Tok::Punct('(')) if self.word_at(1).is_some() && self.is_at(2, ',') => {
                let from = self.pos + 1;
                self.list(')', "`,` or `)`")?;
                let elements = text_of(&self.tokens[from..self.pos - 1]);
                return self.fail(errors::parentheses(start.to(self.before()), &elements));
            }
            Some(Tok::Punct('!')) if self.word_at(1).is_some() && !self.constant_at(1) => {
                self.bump();
                OperandKind::Not(self.name("a predicate")?)
            }
            Some(Tok::Punct('-')) if self.negated_register() => {
                self.bump();
                let start = self.here();
                let kind = self.named()?;
                OperandKind::Neg(Box::new(Operand { kind, span: start.to(self.before()) }))
            }
            Some(Tok::Word(_)) => self.named()?,
            _ => self.expression()?,
        };
        let operand = Operand { kind: first, span: start.to(self.before()) };
        // `p|q` and `{a, b}|p`; after anything else a `|` was taken as the operator.
        let pairs = matches!(
            &operand.kind,
            OperandKind::Sink | OperandKind::Vector(_) | OperandKind::Expr(crate::ast::Expr::Name(_, None))
        );
        if pairs && self.is('|') {
            self.bump();
            let start = self.here();
            let name = self.name("a predicate")?;
            let kind = if name.text == "_" { OperandKind::Sink } else { OperandKind::Expr(self.member(name)?) };
            let second = Operand { kind, span: start.to(self.before()) };
            let span = operand.span.to(second.span);
            return Ok(Operand { kind: OperandKind::Pair(Box::new(operand), Box::new(second)), span });
        }
        Ok(operand)
    }

    fn selector_at(&self, n: usize) -> bool {
        matches!(self.word_at(n), Some(word) if is_selector(word))
    }

    /// `-%r1` or `-%r1.h0`, with nothing after it; `-WARP_SZ` is a constant.
    fn negated_register(&self) -> bool {
        let ends = |n: usize| self.is_at(n, ',') || self.is_at(n, ';');
        let selector = self.is_at(2, '.') && self.selector_at(3) && ends(4);
        !matches!(self.word_at(1), None | Some("WARP_SZ")) && !self.constant_at(1) && (ends(2) || selector)
    }

    /// An operand that begins with a name: a register, a selector, a pair, a sum.
    fn named(&mut self) -> Res<OperandKind> {
        if self.word_at(0) == Some("_") {
            self.bump();
            return Ok(OperandKind::Sink);
        }
        let joined = self.glued_at(1) || self.glued_at(2);
        let selector = self.is_at(1, '.') && joined && self.selector_at(2);
        if selector {
            let register = self.name("a register")?;
            self.bump();
            let part: Word = self.name("a selector")?;
            return Ok(OperandKind::Select(register, part));
        }
        let pair = !self.constant_at(0)
            && self.is_at(1, '|')
            && !(self.is_at(2, '|') && self.glued_at(2))
            && self.word_at(2).is_some();
        if pair {
            let name = self.name("a register")?;
            return Ok(OperandKind::Expr(crate::ast::Expr::Name(name, None)));
        }
        self.expression()
    }

    /// An expression. In an address it may be computed, or be a parameter that is loaded.
    fn expression(&mut self) -> Res<OperandKind> {
        let e = self.expr()?;
        let mut base = &e;
        while let crate::ast::Expr::Binary(_, left, ..) = base {
            base = left;
        }
        let variable = matches!(base, crate::ast::Expr::Name(name, _) if !name.text.starts_with('%'));
        self.has_forms |= self.with_registers && (variable || Self::is_computed(&e));
        Ok(OperandKind::Expr(e))
    }

    /// `open operand, operand close`
    fn list(&mut self, close: char, expected: &str) -> Res<Vec<Operand>> {
        let open_char = if let Some(Tok::Punct(c)) = self.peek() { *c } else { '(' };
        let open = self.bump();
        let mut list = Vec::new();
        loop {
            list.push(self.operand(false)?);
            if self.eat(',') {
                continue;
            }
            if self.eat(close) {
                return Ok(list);
            }
            if self.is(';') || self.is('}') || self.peek().is_none() {
                return self.fail(errors::unclosed(open, open_char));
            }
            return self.unexpected(expected);
        }
    }
}
