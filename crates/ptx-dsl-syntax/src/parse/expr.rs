//! Parses constants and constant expressions (PTX ISA 4.5), by precedence climbing with C's precedences.

use super::{MAX_OPERATORS, Parser, Res, all_digits, errors};
use crate::ast::{Expr, Word};
use crate::span::Span;
use crate::token::Tok;

/// Binary operators and their precedence, loosest first (PTX ISA 4.5.5).
pub(crate) fn precedence(op: &str) -> u8 {
    match op {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        _ => 10,
    }
}

/// Components of a vector register (PTX ISA 6.4.3).
fn is_component(name: &str) -> bool {
    matches!(name, "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a")
}

impl Parser<'_> {
    /// A constant expression on its own: dimensions, directive arguments, initialisers.
    pub(super) fn constant(&mut self) -> Res<Expr> {
        (self.operators, self.parentheses) = (0, 0);
        self.expr()
    }

    /// An expression that a `>` ends: `%r<2 * N>`.
    pub(super) fn sum(&mut self) -> Res<Expr> {
        (self.operators, self.parentheses) = (0, 0);
        self.down()?;
        let e = self.binary(precedence("+"));
        self.up();
        e
    }

    pub(super) fn expr(&mut self) -> Res<Expr> {
        self.down()?;
        let e = self.ternary();
        self.up();
        e
    }

    fn ternary(&mut self) -> Res<Expr> {
        let condition = self.binary(1)?;
        if !self.eat('?') {
            return Ok(condition);
        }
        let yes = self.expr()?;
        self.expect(':')?;
        let no = self.expr()?;
        self.count_operator()?;
        let span = condition.span().to(no.span());
        self.ternary_of(condition, yes, no, span)
    }

    /// The operand of a sign or a cast.
    fn signed(&mut self) -> Res<Expr> {
        self.down()?;
        let e = self.unary();
        self.up();
        e
    }

    fn count_operator(&mut self) -> Res<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            let span = self.here();
            return self.fail(errors::too_long(span));
        }
        Ok(())
    }

    /// The binary operator here, and its number of tokens.
    fn operator(&self) -> Option<(&'static str, usize)> {
        let Some(Tok::Punct(first)) = self.peek() else { return None };
        let second = match self.peek_at(1) {
            Some(Tok::Punct(c)) if self.glued_at(1) => *c,
            _ => ' ',
        };
        Some(match (first, second) {
            ('|', '|') => ("||", 2),
            ('&', '&') => ("&&", 2),
            ('=', '=') => ("==", 2),
            ('!', '=') => ("!=", 2),
            ('<', '=') => ("<=", 2),
            ('>', '=') => (">=", 2),
            ('<', '<') => ("<<", 2),
            ('>', '>') => (">>", 2),
            ('|', _) => ("|", 1),
            ('^', _) => ("^", 1),
            ('&', _) => ("&", 1),
            ('<', _) => ("<", 1),
            ('>', _) => (">", 1),
            ('+', _) => ("+", 1),
            ('-', _) => ("-", 1),
            ('*', _) => ("*", 1),
            ('/', _) => ("/", 1),
            ('%', _) => ("%", 1),
            _ => return None,
        })
    }

    fn binary(&mut self, loosest: u8) -> Res<Expr> {
        let left = self.unary()?;
        self.binary_from(left, loosest)
    }

    /// Continues after a parsed left side.
    pub(super) fn binary_from(&mut self, mut left: Expr, loosest: u8) -> Res<Expr> {
        while let Some((op, length)) = self.operator() {
            let strength = precedence(op);
            if strength < loosest {
                break;
            }
            self.count_operator()?;
            self.pos += length;
            let right = self.binary(strength + 1)?;
            let span = left.span().to(right.span());
            left = self.binary_of(op, left, right, span)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Res<Expr> {
        let e = self.plain_unary()?;
        self.converted(e)
    }

    fn plain_unary(&mut self) -> Res<Expr> {
        if self.at_layout_member() {
            return self.layout_member();
        }
        if let Some(constant) = self.constant_name() {
            return Ok(constant);
        }
        let start = self.here();
        match self.peek() {
            Some(Tok::Punct(op @ ('-' | '!' | '~' | '+'))) => {
                let op = *op;
                self.bump();
                if let Some(Tok::Number(n)) = self.peek()
                    && matches!(n.get(..2), Some("0f" | "0F"))
                {
                    let text = n.clone();
                    let span = start.to(self.here());
                    return self.fail(errors::signed_bits(span, op, &text));
                }
                let e = self.signed()?;
                let span = start.to(e.span());
                self.unary_of(op, e, span)
            }
            Some(Tok::Punct('(')) if self.is_at(1, '.') && self.word_at(2).is_some() && self.is_at(3, ')') => {
                self.bump();
                let ty = self.dot_word()?;
                self.bump();
                if ty.text != ".s64" && ty.text != ".u64" {
                    return self.fail(errors::expected(
                        ty.span,
                        "`.s64` or `.u64` in a cast",
                        &format!("`{}`", ty.text),
                    ));
                }
                let e = self.signed()?;
                let span = start.to(e.span());
                self.cast_of(ty, e, span)
            }
            Some(Tok::Punct('(')) => {
                self.bump();
                self.parentheses += 1;
                let e = self.expr()?;
                self.expect(')')?;
                self.parentheses -= 1;
                Ok(e)
            }
            // `.5`
            Some(Tok::Punct('.')) if self.glued_at(1) && matches!(self.peek_at(1), Some(Tok::Number(_))) => {
                self.number()
            }
            Some(Tok::Number(text)) => {
                if self.initialiser && self.is_at(1, '(') {
                    let mask = Word { text: text.clone(), span: start };
                    self.integer(text, start)?;
                    self.bump();
                    return self.call(mask);
                }
                self.number()
            }
            Some(Tok::Word(_)) if self.at_descriptor() => self.descriptor(),
            Some(Tok::Word(_)) if self.at_function() => {
                let name = self.name("a function")?;
                self.call(name)
            }
            // Constants alone stand in parentheses, says ptxas.
            Some(Tok::Word(name)) if self.parentheses > 0 && !self.with_registers && name != "WARP_SZ" => {
                self.unexpected("a constant")
            }
            Some(Tok::Word(_)) => {
                let name = self.name("a name")?;
                if self.initialiser && self.is('(') {
                    return self.call(name);
                }
                self.member(name)
            }
            _ => self.unexpected("an operand"),
        }
    }

    /// `name` or `name.x`
    pub(super) fn member(&mut self, name: Word) -> Res<Expr> {
        if self.is('[') && self.glued_at(0) && !self.initialiser {
            let span = self.here();
            return self.fail(errors::array_index(span, &name.text, None));
        }
        // `%tid .x` is one, too.
        let component = self.glued_at(1) && matches!(self.word_at(1), Some(m) if is_component(m));
        if !(self.is('.') && (self.glued_at(0) || component)) {
            return Ok(Expr::Name(name, None));
        }
        match self.word_at(1) {
            Some(m) if is_component(m) => {
                self.bump();
                let member = self.name("a component")?;
                Ok(Expr::Name(name, Some(member)))
            }
            Some(m) => {
                let span = self.there();
                self.fail(errors::bad_member(span, m))
            }
            None => {
                self.bump();
                self.unexpected("a component such as `.x`")
            }
        }
    }

    /// `generic(x)`, `0xFF(x)`
    fn call(&mut self, function: Word) -> Res<Expr> {
        self.down()?;
        let mut args = Vec::new();
        let close = self.arguments(&mut args);
        self.up();
        let span = function.span.to(close?);
        Ok(Expr::Call(function, args, span))
    }

    fn arguments(&mut self, out: &mut Vec<Expr>) -> Res<Span> {
        self.expect('(')?;
        out.push(self.expr()?);
        while self.eat(',') {
            out.push(self.expr()?);
        }
        self.expect(')')
    }

    fn number(&mut self) -> Res<Expr> {
        let span = self.here();
        let text = match self.peek() {
            Some(Tok::Number(t)) => t.as_str(),
            _ => "",
        };
        let decimal = all_digits(text);
        if decimal && self.decimal_point() || has_exponent(text) {
            return self.decimal_float(span);
        }
        self.bump();
        let (prefix, want) = match text.as_bytes() {
            [b'0', b'f' | b'F', ..] => ("0f", 8),
            [b'0', b'd' | b'D', ..] => ("0d", 16),
            _ => ("", 0),
        };
        if want != 0 {
            let Some(bits) = hexadecimal(&text[2..], want) else {
                let why = format!("`{prefix}` takes exactly {want} hexadecimal digits");
                return self.fail(errors::bad_number(span, text, &why));
            };
            let text = Some(text.to_owned());
            let single = want == 8;
            return Ok(if single {
                Expr::F32 { bits: bits as u32, text, span }
            } else {
                Expr::F64 { bits, text, span }
            });
        }
        let (value, unsigned) = self.integer(text, span)?;
        let decimal = !text.starts_with('0') || matches!(text, "0" | "0U");
        Ok(Expr::Int { value, unsigned, text: (!decimal).then(|| text.to_string()), span })
    }

    /// Does a decimal point follow the number here? In `256.minnctapersm` the dot begins a directive.
    fn decimal_point(&self) -> bool {
        if matches!(self.peek(), Some(Tok::Punct('.'))) {
            return true;
        }
        self.is_at(1, '.') && self.glued_at(1) && (!(self.glued_at(2) && self.word_at(2).is_some()) || self.power(2))
    }

    /// Is the word there the exponent of `1.e5` or `1.e-5`?
    fn power(&self, at: usize) -> bool {
        let Some(word) = self.word_at(at) else { return false };
        if !self.glued_at(at) || !matches!(word.as_bytes(), [b'e' | b'E', ..]) {
            return false;
        }
        let digits = &word[1..];
        let number = |n| matches!(self.peek_at(n), Some(Tok::Number(t)) if all_digits(t));
        let signed = || {
            (self.is_at(at + 1, '+') || self.is_at(at + 1, '-'))
                && self.glued_at(at + 1)
                && self.glued_at(at + 2)
                && number(at + 2)
        };
        if digits.is_empty() { signed() } else { all_digits(digits) }
    }

    /// `1.5`, `2.`, `.5`, `1e5`, `1.5e-3`: joins the pieces of a decimal literal.
    fn decimal_float(&mut self, span: Span) -> Res<Expr> {
        let mut text = String::new();
        if let Some(Tok::Number(n)) = self.peek() {
            text.push_str(n);
            self.bump();
        }
        let fraction = !has_exponent(&text) && self.is('.');
        if fraction {
            text.push('.');
            self.bump();
            if let Some(Tok::Number(n)) = self.peek()
                && self.glued_at(0)
            {
                text.push_str(n);
                self.bump();
            } else if let Some(e) = self.word_at(0)
                && self.power(0)
            {
                text.push_str(e);
                self.bump();
            }
        }
        if text.ends_with(['e', 'E'])
            && self.glued_at(0)
            && self.glued_at(1)
            && let Some(Tok::Punct(sign @ ('+' | '-'))) = self.peek()
            && let Some(Tok::Number(n)) = self.peek_at(1)
        {
            text.push(*sign);
            text.push_str(n);
            self.pos += 2;
        }
        let span = span.to(self.before());
        let mut shape = true;
        for b in text.bytes() {
            shape &= b.is_ascii_digit() || b".eE+-".contains(&b);
        }
        match text.parse::<f64>() {
            Ok(v) if shape && v.is_infinite() => {
                self.fail(errors::bad_number(span, &text, "it is larger than any 64-bit floating-point number"))
            }
            Ok(v) if shape => {
                let bits = v.to_bits();
                let text = assembles(&text, v).then_some(text);
                Ok(Expr::F64 { bits, text, span })
            }
            _ => self.fail(errors::bad_number(span, &text, "a decimal literal is digits, a point and an exponent")),
        }
    }

    /// The value of an integer literal, and whether it is unsigned (PTX ISA 4.5.1).
    pub(super) fn integer(&mut self, text: &str, span: Span) -> Res<(u64, bool)> {
        let (digits, suffix) = match text.strip_suffix('U') {
            Some(d) => (d, true),
            None => (text, false),
        };
        let (digits, radix, kind) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16, "a hexadecimal"),
            [b'0', b'b' | b'B', ..] => (&digits[2..], 2, "a binary"),
            [b'0', _, ..] => (&digits[1..], 8, "an octal"),
            _ => (digits, 10, "a decimal"),
        };
        for c in digits.chars() {
            if !c.is_digit(radix) {
                let why = format!("`{c}` is not {kind} digit");
                return self.fail(errors::bad_number(span, text, &why));
            }
        }
        if digits.is_empty() {
            return self.fail(errors::bad_number(span, text, "it has no digits"));
        }
        match u64::from_str_radix(digits, radix) {
            Ok(value) => Ok((value, suffix || value > i64::MAX as u64)),
            Err(_) => self.fail(errors::number_too_large(span, text)),
        }
    }
}

/// The value of this many hexadecimal digits.
fn hexadecimal(digits: &str, count: usize) -> Option<u64> {
    // A sign is none, though the standard library takes one.
    if digits.len() != count || digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// Does ptxas take this decimal literal? One below the normal numbers is an overflow to it.
fn assembles(text: &str, value: f64) -> bool {
    let zero = || text.bytes().take_while(|b| !matches!(b, b'e' | b'E')).all(|b| matches!(b, b'0' | b'.'));
    value.is_normal() || value == 0.0 && zero()
}

/// Is it `1e5` or `1e`: decimal digits with an exponent?
fn has_exponent(text: &str) -> bool {
    let Some(at) = text.find(['e', 'E']) else { return false };
    at > 0 && all_digits(&text[..at]) && all_digits(&text[at + 1..])
}
