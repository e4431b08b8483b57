//! Constants of Rust in a module of `ptx!`: their declarations, and expressions with them. A literal is known here, and stands for
//! itself; of anything else rustc knows the value, and an expression with it is one [`Expr::Rust`].

mod errors;
mod literal;

use super::{Parser, Res, fold};
use crate::ast::{Expr, Function};
use crate::span::Span;
use crate::token::Tok;
pub(crate) use errors::unknown_here;
pub use errors::unknown_value;
pub(super) use errors::{float_parameter, shadows};
pub(super) use literal::fits;
use literal::{Literal, arithmetic, literal};
use ptx_dsl_isa::constant::{Const, ConstId, Constants, Count, Declaration, Kind, RustType};

/// The constants that are in scope, and what all of the module are.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// All of the module.
    pub constants: Constants,
    /// The last of a name counts.
    names: Vec<(String, Value)>,
}

impl Scope {
    /// How many names there are, for [`Scope::close`].
    pub(super) fn open(&self) -> usize {
        self.names.len()
    }

    /// A block ends, and the names of its constants.
    pub(super) fn close(&mut self, open: usize) {
        self.names.truncate(open);
    }

    /// Is there no constant?
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Is it a constant?
    pub(super) fn knows(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Hides the names from this one on, until they are given back.
    pub(super) fn hide(&mut self, from: usize) -> Hidden {
        Hidden(self.names.split_off(from.min(self.names.len())))
    }

    /// Gives back hidden names.
    pub(super) fn restore(&mut self, hidden: Hidden) {
        self.names.extend(hidden.0);
    }

    /// A name for the value of an expression of constants.
    pub(super) fn set_expression(&mut self, name: &str, e: &Expr) {
        let value = match (e, fold(e)) {
            (Expr::Rust(id, _), _) => Value::Rust(*id),
            (_, Some(value)) => Value::Known(value),
            _ => Value::Broken,
        };
        self.names.push((name.to_owned(), value));
    }

    /// A name for a constant that is called `declared`, whose value is unknown.
    pub(super) fn declare(&mut self, name: &str, declared: &str, ty: RustType, span: Span) {
        let declaration = Declaration { name: declared.to_owned(), ty, value: None, span };
        let id = self.constants.declare(declaration);
        self.names.push((name.to_owned(), Value::Rust(id)));
    }

    /// What the value of this name depends on, if only rustc knows it.
    pub(super) fn declarations(&self, name: &str) -> Option<Vec<&Declaration>> {
        match self.value(name)? {
            Value::Rust(id) => Some(self.constants.declarations_of(id)),
            Value::Known(_) | Value::Broken => None,
        }
    }

    /// The value of a loop variable.
    pub(super) fn set(&mut self, name: &str, value: i64) {
        self.names.push((name.to_owned(), Value::Known(Const::signed(value))));
    }
}

/// Names that are hidden.
pub(super) struct Hidden(Vec<(String, Value)>);

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
enum Value {
    Known(Const),
    Rust(ConstId),
    /// Its declaration was reported.
    Broken,
}

impl Parser<'_> {
    /// Does a declaration `const NAME: ...` begin here?
    pub(super) fn at_constant(&self) -> bool {
        self.word_at(0) == Some("const") && self.word_at(1).is_some() && (self.is_at(2, ':') || self.is_at(2, '='))
    }

    /// `const NAME: u32 = crate::NAME`, up to what ends it: a `;`, or in a header a `,` or `>`.
    pub(super) fn constant_declaration(&mut self, header: bool) -> Res<()> {
        let start = self.bump();
        let name = self.name("the name of a constant")?;
        let declared = self.constant_value(&name.text, start.to(name.span), name.span, header);
        if name.text.starts_with(['%', '$']) {
            return self.fail(errors::bad_name(name.span, &name.text));
        }
        if let Some(first) = self.declared_here(&name.text) {
            return self.fail(super::errors::twice(name.span, &format!("`{}`", name.text), first));
        }
        let value = match declared {
            Ok(value) => value,
            Err(_) => Value::Broken,
        };
        self.scope.names.push((name.text, value));
        if declared.is_err() {
            self.rust_expression(header);
        }
        Ok(())
    }

    /// Where a Rust constant of this name was declared that is still in scope.
    fn declared_here(&self, name: &str) -> Option<Span> {
        let (_, value) = self.scope.names.iter().find(|(known, _)| known == name)?;
        match value {
            Value::Rust(id) => Some(self.scope.constants.span(*id)),
            Value::Known(_) | Value::Broken => Some(self.here()),
        }
    }

    /// The type and the value of a declaration.
    fn constant_value(&mut self, name: &str, start: Span, span: Span, header: bool) -> Res<Value> {
        let ty = self.constant_type(name, start)?;
        if !self.eat('=') {
            return self.fail(errors::no_value(start.to(self.before()), name, ty.name()));
        }
        let first = self.here();
        if let Some(value) = self.rust_literal(ty, header) {
            return value.map(Value::Known);
        }
        if let Some(value) = self.rust_arithmetic(ty, header) {
            return Ok(Value::Known(value));
        }
        let from = self.pos;
        self.rust_expression(header);
        if self.pos == from {
            return self.unexpected("a value");
        }
        // joined tokens have the number of their first piece
        let last = self.tokens.get(self.pos).map_or(self.before().last, |end| end.id.saturating_sub(1));
        let value = Some(Span { first: first.first, last });
        let declaration = Declaration { name: name.to_owned(), ty, value, span };
        Ok(Value::Rust(self.scope.constants.declare(declaration)))
    }

    /// `: u32`
    fn constant_type(&mut self, name: &str, start: Span) -> Res<RustType> {
        if !self.eat(':') {
            return self.fail(errors::no_type(start, name));
        }
        let span = self.here();
        match self.word_at(0) {
            Some(word) => match RustType::from_name(word) {
                Some(ty) => {
                    self.bump();
                    Ok(ty)
                }
                None => self.fail(errors::bad_type(span, word)),
            },
            None => self.unexpected("a type such as `u32`"),
        }
    }

    /// Skips a Rust expression.
    fn rust_expression(&mut self, header: bool) {
        let (mut open, mut angles) = (0u32, 0u32);
        while let Some(tok) = self.peek() {
            let c = if let Tok::Punct(c) = tok { *c } else { ' ' };
            match c {
                ';' if open == 0 => return,
                ',' if header && open == 0 && angles == 0 => return,
                '>' if header && open == 0 && angles == 0 => return,
                '<' if self.pos > 0 && matches!(self.tokens[self.pos - 1].kind, Tok::Punct(':')) => angles += 1,
                '>' => angles = angles.saturating_sub(1),
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' if open == 0 => return,
                ')' | ']' | '}' => open -= 1,
                _ => {}
            }
            self.pos += 1;
        }
    }

    /// Arithmetic of integer literals that is the whole value: `4 * 1024`.
    fn rust_arithmetic(&mut self, ty: RustType, header: bool) -> Option<Const> {
        let (from, reported) = (self.pos, self.diags.len());
        let e = self.constant();
        let ended = match self.peek() {
            None => true,
            Some(Tok::Punct(';')) => true,
            Some(Tok::Punct(',' | '>')) => header,
            _ => false,
        };
        let value = e.ok().filter(|_| ended).and_then(|e| arithmetic(&e, ty));
        if value.is_none() {
            self.pos = from;
            self.diags.truncate(reported);
        }
        value
    }

    /// A literal of Rust that is the whole value.
    fn rust_literal(&mut self, ty: RustType, header: bool) -> Option<Res<Const>> {
        let from = self.pos;
        let start = self.here();
        let negative = self.eat('-');
        let mut text = String::new();
        while let Some(Tok::Number(part) | Tok::Word(part)) = self.peek()
            && (text.is_empty() || self.glued_at(0))
        {
            text.push_str(part);
            self.pos += 1;
            let exponent = text.ends_with(['e', 'E']) && text.starts_with(|c: char| c.is_ascii_digit());
            let point = self.is('.') && self.glued_at(0) && !text.contains('.');
            if point || exponent && (self.is('-') || self.is('+')) {
                text.push(match self.peek() {
                    Some(Tok::Punct(c)) => *c,
                    _ => ' ',
                });
                self.pos += 1;
            }
        }
        let end = match self.peek() {
            None => true,
            Some(Tok::Punct(';')) => true,
            Some(Tok::Punct(',' | '>')) => header,
            _ => false,
        };
        let value = if end { literal(&text, negative, ty) } else { Literal::None };
        match value {
            Literal::Value(value) => Some(Ok(value)),
            Literal::OutOfRange => {
                let span = start.to(self.before());
                Some(self.fail(errors::out_of_range(span, ty.name())))
            }
            Literal::None => {
                self.pos = from;
                None
            }
        }
    }

    /// `<const BM: u32, const STAGES: u32>` after the name of a kernel.
    pub(super) fn const_parameters(&mut self, function: &mut Function) -> Res<()> {
        let open = self.bump();
        loop {
            if self.word_at(0) != Some("const") {
                return self.unexpected("a parameter such as `const N: u32`");
            }
            let start = self.bump();
            let name = self.name("the name of a parameter")?;
            let ty = self.constant_type(&name.text, start.to(name.span))?;
            if ty.kind() != Kind::Int {
                return self.fail(errors::float_parameter(name.span, ty.name()));
            }
            if self.declared_here(&name.text).is_some() {
                return self.fail(errors::shadows(name.span, &name.text));
            }
            let declaration = Declaration { name: name.text.clone(), ty, value: None, span: name.span };
            let id = self.scope.constants.declare(declaration);
            self.scope.names.push((name.text, Value::Rust(id)));
            function.generics.push(id);
            if self.eat('>') {
                break;
            }
            self.expect(',')?;
            if self.eat('>') {
                break;
            }
        }
        if !function.entry {
            return self.fail(errors::generic_function(open.to(self.before())));
        }
        Ok(())
    }

    /// Is the declaration here a parameter of a kernel, without a value?
    pub(super) fn is_parameter(&self) -> bool {
        self.is_at(2, ':') && (self.is_at(4, ',') || self.is_at(4, '>'))
    }

    /// Reads a parameter of a kernel.
    pub(super) fn declare_parameter(&mut self) {
        let (name, ty, span) = (self.word_at(1), self.word_at(3).and_then(RustType::from_name), self.here());
        if let (Some(name), Some(ty)) = (name, ty) {
            let name = name.to_owned();
            self.scope.declare(&name, &name, ty, span);
        }
        self.pos += 4;
    }

    /// Is the word there a constant?
    pub(super) fn constant_at(&self, n: usize) -> bool {
        !self.scope.is_empty() && self.word_at(n).is_some_and(|word| self.scope.knows(word))
    }

    /// The constant here, as an expression.
    pub(super) fn constant_name(&mut self) -> Option<Expr> {
        if self.scope.is_empty() {
            return None;
        }
        let value = self.scope.value(self.word_at(0)?)?;
        let span = self.bump();
        Some(match value {
            Value::Known(Const::Int { value, unsigned: false }) if (value as i64) < 0 => {
                let value = value.wrapping_neg();
                Expr::Unary('-', Box::new(Expr::Int { value, unsigned: false, text: None, span }), span)
            }
            Value::Known(Const::Int { value, unsigned }) => Expr::Int { value, unsigned, text: None, span },
            Value::Known(Const::F32(bits)) => Expr::F32 { bits, text: None, span },
            Value::Known(Const::F64(value)) => Expr::F64 { bits: value.to_bits(), text: None, span },
            Value::Rust(id) => Expr::Rust(id, span),
            Value::Broken => Expr::Int { value: 1, unsigned: false, text: None, span },
        })
    }

    /// An expression in a directive of `ptx!` as its value, because ptxas takes plain numbers there.
    pub(super) fn evaluated(&self, e: Expr) -> Expr {
        match fold(&e) {
            Some(Const::Int { value, unsigned })
                if self.in_rust
                    && matches!(e, Expr::Unary(..) | Expr::Binary(..) | Expr::Ternary(..) | Expr::Cast(..))
                    && (unsigned || value.cast_signed() >= 0) =>
            {
                Expr::Int { value, unsigned: value.cast_signed() < 0, text: None, span: e.span() }
            }
            _ => e,
        }
    }

    /// Does a sum or a product begin here, in `ptx!`?
    fn at_sum(&self) -> bool {
        let operator = |n| matches!(self.peek_at(n), Some(Tok::Punct('+' | '-' | '*' | '/' | '%')));
        self.in_rust && (self.is('(') || self.is('-') || operator(1))
    }

    /// The constant or the sum here, where a plain number must stand: of a Rust constant the expression.
    pub(super) fn constant_count(&mut self) -> Option<Res<(Count, Span)>> {
        let e = if self.at_sum() {
            match self.sum() {
                Ok(e) => self.evaluated(e),
                Err(stop) => return Some(Err(stop)),
            }
        } else {
            self.constant_name()?
        };
        let span = e.span();
        Some(match e {
            Expr::Rust(id, _) if self.scope.constants.kind(id) == Kind::Int => Ok((Count::Rust(id), span)),
            Expr::Int { value, .. } => Ok((Count::Known(value), span)),
            _ => self.fail(errors::no_count(span)),
        })
    }

    /// A unary operator.
    pub(super) fn unary_of(&mut self, operator: char, e: Expr, span: Span) -> Res<Expr> {
        let Expr::Rust(id, _) = e else { return Ok(Expr::Unary(operator, Box::new(e), span)) };
        match self.scope.constants.unary(operator, id, span) {
            Some(id) => Ok(Expr::Rust(id, span)),
            None => self.fail(errors::no_operator(span, operator.encode_utf8(&mut [0; 4]))),
        }
    }

    /// A cast.
    pub(super) fn cast_of(&mut self, ty: crate::ast::Word, e: Expr, span: Span) -> Res<Expr> {
        let Expr::Rust(id, _) = e else { return Ok(Expr::Cast(ty, Box::new(e), span)) };
        match self.scope.constants.cast(ty.text == ".u64", id, span) {
            Some(id) => Ok(Expr::Rust(id, span)),
            None => self.fail(errors::no_operator(span, "a cast")),
        }
    }

    /// A binary operator. Offsets that are added to a name one after another are one constant.
    pub(super) fn binary_of(&mut self, operator: &'static str, a: Expr, b: Expr, span: Span) -> Res<Expr> {
        if !matches!((&a, &b), (Expr::Rust(..), _) | (_, Expr::Rust(..))) && !self.ends_in_constant(&a) {
            return Ok(Expr::Binary(operator, Box::new(a), Box::new(b), span));
        }
        if let (Some(x), Some(y)) = (self.as_constant(&a), self.as_constant(&b)) {
            return match self.scope.constants.binary(operator, x, y, span) {
                Some(id) => Ok(Expr::Rust(id, span)),
                None => self.fail(errors::no_operator(span, operator)),
            };
        }
        match (a, operator) {
            (Expr::Binary(inner @ ("+" | "-"), base, offset, at), "+" | "-")
                if !matches!((inner, &*base), ("-", Expr::Name(..)))
                    && let (Some(x), Some(y)) = (self.as_constant(&offset), self.as_constant(&b)) =>
            {
                let constants = &mut self.scope.constants;
                let x = if inner == "-" { constants.unary('-', x, at) } else { Some(x) };
                match x.and_then(|x| constants.binary(operator, x, y, span)) {
                    Some(id) => Ok(Expr::Binary("+", base, Box::new(Expr::Rust(id, span)), span)),
                    None => self.fail(errors::no_operator(span, operator)),
                }
            }
            (a, _) => Ok(Expr::Binary(operator, Box::new(a), Box::new(b), span)),
        }
    }

    /// Is it `name + TILE`?
    fn ends_in_constant(&self, e: &Expr) -> bool {
        matches!(e, Expr::Binary("+" | "-", _, offset, _) if matches!(**offset, Expr::Rust(..)))
    }

    /// `c ? a : b`
    pub(super) fn ternary_of(&mut self, c: Expr, a: Expr, b: Expr, span: Span) -> Res<Expr> {
        if [&c, &a, &b].iter().all(|e| !matches!(e, Expr::Rust(..))) {
            return Ok(Expr::Ternary(Box::new(c), Box::new(a), Box::new(b), span));
        }
        let parts = (self.as_constant(&c), self.as_constant(&a), self.as_constant(&b));
        let (Some(c), Some(a), Some(b)) = parts else { return self.fail(errors::no_operator(span, "? :")) };
        match self.scope.constants.choose(c, a, b, span) {
            Some(id) => Ok(Expr::Rust(id, span)),
            None => self.fail(errors::no_operator(span, "? :")),
        }
    }

    fn as_constant(&mut self, e: &Expr) -> Option<ConstId> {
        match e {
            Expr::Rust(id, _) => Some(*id),
            e => fold(e).map(|c| self.scope.constants.known(c, e.span())),
        }
    }
}
